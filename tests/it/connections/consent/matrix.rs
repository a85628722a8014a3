//! Who may end a trip at which link: of every person and every state of a link, one pair connects.

use playmaker::identity::Role;
use serde_json::json;

use super::Scene;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Person {
    Right,
    Other,
    Nobody,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Link {
    Pending,
    Used,
    Expired,
    Superseded,
    Cancelled,
}

/// Security cases 22 and 32, and the matrix of the issue.
#[tokio::test]
async fn one_person_at_one_state_of_a_link_connects() {
    for link in [Link::Pending, Link::Used, Link::Expired, Link::Superseded, Link::Cancelled] {
        for person in [Person::Right, Person::Other, Person::Nobody] {
            let scene = Scene::signing_in().await;
            let trip = scene.leaves().await;
            let path = scene.simulator.allows(&trip.address);
            match link {
                Link::Pending => {}
                Link::Used => drop(scene.back(&trip, &path).await.done(200)),
                Link::Expired => scene.server.clock.advance_ms(10 * 60_000),
                Link::Superseded => drop(scene.leaves().await),
                Link::Cancelled => drop(scene.command("cancel").await.done(200)),
            }
            let (before, asked) = (scene.audit().await, scene.simulator.requests().len());
            let session = match person {
                Person::Right => scene.session.clone(),
                Person::Other => {
                    scene.server.person("Grace", "grace@acme.test", "acme", Role::Owner).await.cookie.clone()
                }
                Person::Nobody => String::new(),
            };
            let csrf = scene.csrf_of(&session).await;
            let answer = scene.returns(&session, &trip.cookie, &csrf, &path).await;
            let at = format!("{person:?} at a link {link:?}: {}", answer.text);
            let connects = (person, link) == (Person::Right, Link::Pending);
            let expected = match person {
                _ if connects => 200,
                Person::Nobody => 401,
                _ => 400,
            };
            assert_eq!(answer.status, expected, "{at}");
            let after = scene.audit().await;
            let new: Vec<&str> = after[before.len()..].iter().map(String::as_str).collect();
            let told: &[&str] = match (person, link) {
                (Person::Right, Link::Pending) => &["connection_connected"],
                // The trip is spent by whoever comes back first, and its time being over is told once.
                (Person::Other, Link::Pending) => &["connection_attempt_failed"],
                (Person::Right | Person::Other, Link::Expired) => &["connection_attempt_failed"],
                _ => &[],
            };
            assert_eq!(new, told, "{at}");
            if !connects {
                assert_eq!(scene.simulator.requests().len(), asked, "{at}");
            }
            let status = &scene.standing().await["status"];
            let stands = match link {
                Link::Used => "connected",
                Link::Cancelled => "removed",
                _ if connects => "connected",
                _ => "pending",
            };
            assert_eq!(*status, json!(stands), "{at}");
        }
    }
}

#[tokio::test]
async fn a_bearer_credential_and_a_foreign_page_start_and_finish_nothing() {
    let scene = Scene::local().await;
    let csrf = scene.read().await["csrf"].as_str().unwrap().to_owned();
    for path in [format!("/v1/links/{}/start", scene.link), "/v1/links/finish".to_owned()] {
        let body = if path.ends_with("finish") { json!({ "state": "x" }) } else { json!({}) };
        let page = || scene.server.anyone().with("x-playmaker-csrf", &csrf);
        let bearer = scene.browser("", "").with("authorization", "Bearer anything-at-all-here");
        bearer.with("x-playmaker-csrf", &csrf).post(&path, &body).await.refused(403, "forbidden");
        page().post(&path, &body).await.refused(403, "origin_not_allowed");
        let foreign = page().with("origin", "https://evil.example.test");
        foreign.post(&path, &body).await.refused(403, "origin_not_allowed");
        scene.browser("", "").post(&path, &body).await.refused(403, "forbidden");
    }
    assert_eq!(scene.audit().await, ["connection_added"]);
    scene.command("approve").await.refused(409, "conflict");
}
