//! Whose account it is: by issuer and subject; an email alone opens none.

use playmaker::identity::invitations::sending::Draft;
use playmaker::identity::{Playbooks, Role};
use serde_json::json;

use super::super::tab::{PASSWORD, Tab};
use super::{AWAY, Scene, claims};
use crate::support::people::Answer;

const ADA: &str = "ada@acme.test";
const LINK: &str = "/sign-in/upstream/acme/link";

fn goes_to(answer: &Answer) -> &str {
    assert_eq!(answer.status, 303, "{}", answer.text);
    answer.header("location")
}

impl Scene {
    /// Ada signs in with her password once, so that the provider signs her in too.
    pub(super) async fn linked(&self) {
        let tab = Tab::of(&self.server);
        assert_eq!(goes_to(&self.signs_in(&tab, claims("ada")).await), LINK);
        assert_eq!(tab.get(LINK).await.status, 200);
        assert_eq!(goes_to(&tab.signs_in(ADA, PASSWORD).await), LINK);
        assert_eq!(goes_to(&tab.get(LINK).await), "/");
    }
}

#[tokio::test]
async fn an_account_of_that_email_is_signed_in_to_once_by_its_own_means() {
    let scene = Scene::new().await;
    let tab = Tab::of(&scene.server);
    // They wanted to see their settings.
    assert_eq!(goes_to(&tab.get("/settings/profile").await), "/sign-in");
    assert!(tab.get("/sign-in").await.text.contains("Continue with Acme"));
    assert_eq!(goes_to(&scene.signs_in(&tab, claims("ada")).await), LINK);
    assert!(tab.cookie("playmaker").is_none(), "an email alone signs nobody in");
    let page = tab.get(LINK).await;
    assert!(page.status == 200 && page.text.contains("has an account here already"), "{}", page.text);
    assert!(page.text.contains(ADA) && !page.text.contains("Continue with Acme"), "{}", page.text);
    assert_eq!(tab.signs_in(ADA, "not her password").await.status, 403);
    assert_eq!(goes_to(&tab.signs_in(ADA, PASSWORD).await), LINK);
    assert_eq!(goes_to(&tab.get(LINK).await), "/settings/profile");
    assert_eq!(scene.last().await.kind, "identity_linked");
    assert_eq!(tab.get(LINK).await.status, 400, "once");

    let another = Tab::of(&scene.server);
    let entered = scene.signs_in(&another, json!({ "sub": "ada" })).await;
    assert_eq!(goes_to(&entered), "/");
    let row = scene.last().await;
    assert_eq!(
        (row.kind.as_str(), &row.data["method"], &row.data["provider"]),
        ("sign_in", &json!("upstream"), &json!("acme"))
    );
    let me = another.get("/v1/me").await.done(200);
    assert_eq!((&me["name"], &me["org"]), (&json!("Ada Lovelace"), &json!("acme")));
    let ada = scene.server.app.identity.person_of_email(ADA).await.unwrap().unwrap();
    let sessions = scene.server.app.identity.sessions_of(&ada.id).await.unwrap();
    assert!(sessions.iter().any(|session| session.auth_methods == "upstream"), "{sessions:?}");
}

#[tokio::test]
async fn nobody_elses_sign_in_links_an_account() {
    let scene = Scene::new().await;
    scene.server.person("Grace", "grace@acme.test", "acme", Role::Member).await;
    let grace = scene.server.app.identity.person_of_email("grace@acme.test").await.unwrap().unwrap();
    let tab = Tab::of(&scene.server);
    scene.signs_in(&tab, claims("ada")).await;
    let session = scene.server.signs_in(&grace).await.cookie;
    tab.plant("playmaker", session.split_once('=').unwrap().1);
    let page = tab.get(LINK).await;
    assert!(page.status == 200 && page.text.contains("Sign in to your account once"), "{}", page.text);
    // Nor does another browser, nor a session from before, nor one after a quarter of an hour.
    assert_eq!(Tab::of(&scene.server).get(LINK).await.status, 400);
    let before = Tab::of(&scene.server);
    before.signs_in(ADA, PASSWORD).await;
    scene.server.clock.advance_ms(1);
    assert_eq!(goes_to(&scene.signs_in(&before, claims("ada")).await), LINK);
    assert_eq!(before.get(LINK).await.status, 200);
    scene.server.clock.advance_ms(15 * 60 * 1_000);
    assert_eq!(tab.get(LINK).await.status, 400);
    assert!(scene.audit().await.iter().all(|row| row.kind != "identity_linked"));
}

#[tokio::test]
async fn who_was_invited_to_a_verified_email_joins() {
    let scene = Scene::new().await;
    let draft = |email: &str| Draft { email: email.into(), role: Role::Member, playbooks: Playbooks::All };
    let identity = &scene.server.app.identity;
    identity.invite_as_operator("acme", draft("grace@acme.test")).await.unwrap();
    let page = Tab::of(&scene.server).get("/sign-up").await;
    assert!(page.text.contains("Continue with Acme"), "{}", page.text);
    let tab = Tab::of(&scene.server);
    let mut unverified = claims("grace");
    unverified["email_verified"] = json!("true");
    assert_eq!(scene.signs_in(&tab, unverified).await.status, 403, "a text is no yes");
    assert_eq!(goes_to(&scene.signs_in(&tab, claims("grace")).await), "/");
    let me = tab.get("/v1/me").await.done(200);
    assert_eq!((&me["name"], &me["org"], &me["role"]), (&json!("grace"), &json!("acme"), &json!("member")));
    let kinds: Vec<String> = scene.audit().await.into_iter().map(|row| row.kind).collect();
    assert!(kinds.ends_with(&["identity_linked".to_owned(), "sign_in".to_owned()]), "{kinds:?}");
    assert_eq!(scene.server.audit("acme").await.last().unwrap().kind, "member_joined");
    // Once in, the email may change at the provider: it was never what opened the account.
    let again = Tab::of(&scene.server);
    assert_eq!(goes_to(&scene.signs_in(&again, json!({ "sub": "grace", "email": "eve@acme.test" })).await), "/");
    // An invitation that was taken back lets nobody in.
    let sent = identity.invite_as_operator("acme", draft("bob@acme.test")).await.unwrap();
    scene.server.clock.advance_ms(playmaker::identity::invitations::LIFE_MS);
    assert_eq!(sent.invitation.email, "bob@acme.test");
    assert_eq!(scene.signs_in(&Tab::of(&scene.server), claims("bob")).await.status, 403);
}

#[tokio::test]
async fn a_domain_of_the_entry_needs_no_invitation() {
    let entry = json!({ "allowed_domains": ["acme.test"], "org": "acme", "role": "viewer" });
    let scene = Scene::with(entry).await;
    let tab = Tab::of(&scene.server);
    assert_eq!(goes_to(&scene.signs_in(&tab, claims("grace")).await), "/");
    let me = tab.get("/v1/me").await.done(200);
    assert_eq!((&me["org"], &me["role"]), (&json!("acme"), &json!("viewer")));
    assert_eq!(scene.server.audit("acme").await.last().unwrap().data["by"], "domain");
    for email in ["grace@acme.test.evil.example", "grace@sub.acme.test", "grace@evil.example"] {
        let stranger = json!({ "sub": email, "email": email, "email_verified": true });
        let answer = scene.signs_in(&Tab::of(&scene.server), stranger).await;
        assert!(answer.status == 403 && answer.text.contains("not invited"), "{email}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_account_that_is_stopped_stays_so() {
    let scene = Scene::new().await;
    scene.linked().await;
    let identity = &scene.server.app.identity;
    let ada = identity.person_of_email(ADA).await.unwrap().unwrap();
    identity.disable_person(&ada.id).await.unwrap();
    scene.server.clock.advance_ms(5_000);
    let answer = scene.signs_in(&Tab::of(&scene.server), claims("ada")).await;
    assert!(answer.status == 403 && answer.text.contains("stopped"), "{}", answer.text);
    assert_eq!(scene.last().await.data["reason"], "account_stopped");
    assert_eq!(Tab::of(&scene.server).get(&format!("{AWAY}/x")).await.status, 404);
}
