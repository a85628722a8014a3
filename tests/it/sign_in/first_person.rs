//! The first person: a code of the log, once (`identity.md` 1.2).

use serde_json::json;

use super::tab::{PASSWORD, Tab, form, set_up};
use crate::support::app::TestApp;
use crate::support::people::Answer;

#[tokio::test]
async fn the_code_makes_person_org_and_owner_once() {
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    let me = tab.get("/v1/orgs/acme/playbooks").await;
    assert_eq!(me.done(200)["playbooks"], json!([]));
    let kinds = |rows: Vec<playmaker::ledger::Row>| rows.into_iter().map(|row| row.kind).collect::<Vec<_>>();
    assert!(kinds(server.audit("").await).ends_with(&["setup".to_owned(), "sign_in".to_owned()]));
    assert_eq!(kinds(server.audit("acme").await), ["org_created", "member_joined"]);
    // For good: with the page, any code and no code.
    for other in [Tab::of(&server).get("/setup").await, Tab::of(&server).send("/setup", &set_up("x")).await] {
        assert_eq!(other.status, 404);
    }
    assert!(server.app.identity.set_up_code(true).await.is_err());
    let kept = server.database().everything().await;
    assert!(!kept.contains(PASSWORD) && kept.contains("$argon2id$v=19$m=19456,t=2,p=1$"));
}

#[tokio::test]
async fn what_does_not_fit_is_told_beside_its_field_and_spends_nothing() {
    let server = TestApp::signing_in().await;
    let code = server.app.identity.set_up_code(true).await.unwrap().unwrap();
    let tab = Tab::of(&server);
    let mut fields = set_up(&code);
    for (name, value) in [("email", "ada"), ("password", "short"), ("org", "settings")] {
        fields.retain(|(given, _)| *given != name);
        fields.push((name, value));
    }
    let refused = tab.send("/setup", &fields).await;
    assert_eq!(refused.status, 422);
    for words in ["must be an email", "is too short", "none of this server", "value=\"Ada Lovelace\""] {
        assert!(refused.text.contains(words), "{words}: {}", refused.text);
    }
    assert!(!refused.text.contains("value=\"short\""), "a password is not sent back");
    assert_eq!(tab.send("/setup", &set_up(&code.to_lowercase().replace('-', " "))).await.status, 303);
}

#[tokio::test]
async fn guesses_are_counted_and_ten_wrong_ones_void_the_code() {
    let server = TestApp::signing_in().await;
    let code = server.app.identity.set_up_code(true).await.unwrap().unwrap();
    let tab = Tab::of(&server);
    for _ in 0..5 {
        assert_eq!(tab.send("/setup", &set_up("AAAAA-AAAAA-AAAAA")).await.status, 422);
    }
    let waits = tab.send("/setup", &set_up(&code)).await;
    assert_eq!((waits.status, waits.header("retry-after")), (429, "60"), "the right one has to wait too");
    server.clock.advance_ms(60_000);
    for _ in 0..5 {
        assert_eq!(tab.send("/setup", &set_up("AAAAA-AAAAA-AAAAA")).await.status, 422);
    }
    server.clock.advance_ms(60_000);
    assert_eq!(tab.send("/setup", &set_up(&code)).await.status, 422, "void");
    let code = server.app.identity.set_up_code(true).await.unwrap().unwrap();
    server.clock.advance_ms(3_600_000);
    assert_eq!(tab.send("/setup", &set_up(&code)).await.status, 422, "an hour is over");
}

#[tokio::test]
async fn of_many_that_try_at_once_one_owns() {
    let server = TestApp::signing_in().await;
    let code = server.app.identity.set_up_code(true).await.unwrap().unwrap();
    let (one, other) = (Tab::of(&server), Tab::of(&server));
    let fields = set_up(&code);
    let (one, other) = tokio::join!(one.send("/setup", &fields), other.send("/setup", &fields));
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert!(statuses == [303, 404] || statuses == [303, 422], "{statuses:?}");
    assert_eq!(server.app.identity.every_person().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_foreign_page_sets_nothing_up() {
    let server = TestApp::signing_in().await;
    let code = server.app.identity.set_up_code(true).await.unwrap().unwrap();
    for (name, value) in [("origin", "https://evil.test"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
        let request = server.anyone().with(name, value).request("POST", "/setup");
        let answer = Answer::of(form(request, &set_up(&code))).await;
        assert_eq!(answer.status, 403, "{name}: {value}");
    }
    assert!(!server.app.identity.has_people().await.unwrap());
}

#[tokio::test]
async fn without_sign_in_there_is_no_page_of_it() {
    let server = TestApp::local().await;
    for path in ["/setup", "/sign-in", "/sign-up", "/forgot", "/reset", "/settings/profile"] {
        assert_eq!(Tab::of(&server).get(path).await.status, 404, "{path}");
    }
}
