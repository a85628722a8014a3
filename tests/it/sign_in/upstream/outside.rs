//! People of an issuer outside at Studio: its word says who they are, where they belong and as what (`identity.md` 6.2).

use playmaker::identity::invitations::sending::Draft;
use playmaker::identity::{Playbooks, Role};
use serde_json::{Value, json};

use super::super::tab::Tab;
use super::{Scene, claims};
use crate::support::app::{OWN_ORIGIN, TestApp};

const AWAY: &str = "/sign-in/upstream/issuer";

fn of_org(name: &str, org: &str, role: &str) -> Value {
    let mut said = claims(name);
    (said["org_id"], said["org_role"]) = (json!(org), json!(role));
    said
}

#[tokio::test]
async fn without_a_client_there_studio_says_that_sign_in_is_not_set_up() {
    let settings = [("PUBLIC_URL", OWN_ORIGIN), ("IDENTITY_ISSUER", "https://id.example.com")];
    let server = TestApp::with(&settings).await;
    let tab = Tab::of(&server);
    assert!(tab.get("/sign-in").await.text.contains("is not set up"));
    assert_eq!(tab.get(AWAY).await.status, 404);
}

#[tokio::test]
async fn a_session_is_for_the_org_the_issuer_names() {
    let scene = Scene::outside(&[]).await;
    let tab = Tab::of(&scene.server);
    let page = tab.get("/sign-in").await.text;
    assert!(page.contains("Continue with localhost") && !page.contains("<form"), "{page}");
    for path in ["/sign-up", "/forgot", "/setup"] {
        assert_eq!(tab.get(path).await.status, 404, "{path}");
    }
    assert_eq!(scene.signs_in_at(&tab, AWAY, of_org("ada", "north", "admin")).await.status, 303);
    let me = tab.get("/v1/me").await.done(200);
    assert_eq!((&me["name"], &me["org"], &me["role"]), (&json!("ada"), &json!("north"), &json!("admin")));
    let kinds: Vec<String> = scene.audit().await.into_iter().map(|row| row.kind).collect();
    assert_eq!(kinds, ["identity_linked", "sign_in"]);
    // Of two orgs the session is for one; the other needs a sign-in of its own.
    let south = Tab::of(&scene.server);
    scene.signs_in_at(&south, AWAY, of_org("ada", "south", "viewer")).await;
    assert_eq!(south.get("/v1/me").await.done(200)["org"], "south");
    assert_eq!(south.get("/v1/orgs/south/playbooks").await.status, 200);
    for (tab, other) in [(&south, "north"), (&tab, "south")] {
        tab.get(&format!("/v1/orgs/{other}/playbooks")).await.refused(403, "forbidden");
        assert!(!tab.get("/").await.text.contains(&format!(">{other}<")));
    }
    assert_eq!(tab.get("/v1/orgs/north/members").await.status, 200);
}

#[tokio::test]
async fn who_has_no_place_is_not_signed_in() {
    let scene = Scene::outside(&[("IDENTITY_DEFAULT_ROLE", "none")]).await;
    for said in [of_org("ada", "north", "chief"), of_org("ada", "a b", "member"), claims("ada")] {
        let tab = Tab::of(&scene.server);
        let answer = scene.signs_in_at(&tab, AWAY, said.clone()).await;
        assert!(answer.status == 403 && answer.text.contains("not invited"), "{said}: {}", answer.text);
        assert_eq!(scene.last().await.data["reason"], "not_invited");
    }
    let mut nowhere = of_org("ada", "north", "member");
    nowhere.as_object_mut().unwrap().shift_remove("org_id");
    assert_eq!(scene.signs_in_at(&Tab::of(&scene.server), AWAY, nowhere).await.status, 403);
}

#[tokio::test]
async fn the_first_owner_is_whom_the_operator_names() {
    let scene = Scene::outside(&[("IDENTITY_FIRST_OWNER", "ada@acme.test")]).await;
    let (ada, bob) = (Tab::of(&scene.server), Tab::of(&scene.server));
    scene.signs_in_at(&bob, AWAY, of_org("bob", "north", "viewer")).await;
    scene.signs_in_at(&ada, AWAY, of_org("ada", "north", "viewer")).await;
    assert_eq!(ada.get("/v1/me").await.done(200)["role"], "owner");
    assert_eq!(bob.get("/v1/me").await.done(200)["role"], "viewer");
}

#[tokio::test]
async fn by_invitation_the_role_is_that_of_the_membership_here() {
    let scene = Scene::outside(&[("IDENTITY_MEMBERS", "invited")]).await;
    scene.server.person("Owner", "owner@acme.test", "acme", Role::Owner).await;
    let draft = Draft { email: "grace@acme.test".into(), role: Role::Member, playbooks: Playbooks::All };
    scene.server.app.identity.invite_as_operator("acme", draft).await.unwrap();
    // Whoever is not invited yet may open an invitation, and nothing else.
    let eve = Tab::of(&scene.server);
    assert_eq!(scene.signs_in_at(&eve, AWAY, of_org("eve", "acme", "owner")).await.status, 303);
    eve.get("/v1/orgs/acme/playbooks").await.refused(403, "forbidden");
    let grace = Tab::of(&scene.server);
    assert_eq!(scene.signs_in_at(&grace, AWAY, of_org("grace", "other", "owner")).await.status, 303);
    let me = grace.get("/v1/me").await.done(200);
    assert_eq!((&me["org"], &me["role"]), (&json!("acme"), &json!("member")));
}
