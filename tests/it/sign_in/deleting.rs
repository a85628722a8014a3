//! A person ends their account (`identity.md` 1.4).

use playmaker::identity::Role;

use super::tab::{PASSWORD, Tab};
use crate::support::app::TestApp;

const DELETE: &str = "/settings/profile/delete";

#[tokio::test]
async fn who_deletes_their_account_is_forgotten_and_signed_out() {
    let (server, ada) = TestApp::set_up_by_ada(&[("SIGN_UP", "open")]).await;
    let deletes = async |tab: &Tab, typed: &str| tab.command("/settings/profile", DELETE, &[("confirm", typed)]).await;
    let alone = deletes(&ada, "ada@acme.test").await;
    assert!(alone.status == 409 && alone.text.contains("only owner of the org acme"), "{}", alone.text);
    server.person("Bo", "bo@acme.test", "acme", Role::Owner).await;
    let wrong = deletes(&ada, "bo@acme.test").await;
    assert!(wrong.status == 422 && wrong.text.contains("to show that you mean it"), "{}", wrong.text);
    assert_eq!(ada.send(DELETE, &[("confirm", "ada@acme.test")]).await.status, 403, "without the token");
    let other = Tab::of(&server);
    other.signs_in("ada@acme.test", PASSWORD).await;

    let done = deletes(&ada, "Ada@acme.test").await;
    assert!(done.status == 200 && done.text.contains("Your account is deleted"), "{}", done.text);
    assert_eq!(ada.cookie("playmaker"), None);
    assert_eq!(other.get("/v1/orgs/acme/playbooks").await.status, 401);
    assert_eq!(Tab::of(&server).signs_in("ada@acme.test", PASSWORD).await.status, 403);
    let identity = &server.app.identity;
    assert!(identity.person_of_email("ada@acme.test").await.unwrap().is_none());
    let gone = server.audit("").await.into_iter().find(|row| row.kind == "person_deleted").unwrap();
    assert_eq!(gone.actor.name, "deleted person");
    assert!(server.audit("acme").await.iter().any(|row| row.kind == "member_left"));
    assert_eq!(Tab::of(&server).get("/setup").await.status, 404, "the first person was there once");
    // The address is free again, for an account that is another one.
    let fields = [("name", "Ada"), ("email", "ada@acme.test"), ("password", PASSWORD)];
    let again = Tab::of(&server);
    assert_eq!(again.send("/sign-up", &fields).await.status, 303);
    assert_eq!(again.get("/v1/orgs/acme/playbooks").await.status, 403);
}

#[tokio::test]
async fn it_takes_a_fresh_sign_in() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    server.person("Bo", "bo@acme.test", "acme", Role::Owner).await;
    server.clock.advance_ms(10 * 60_000 + 1);
    let sent = ada.command("/settings/profile", DELETE, &[("confirm", "ada@acme.test")]).await;
    assert_eq!((sent.status, sent.header("location")), (303, "/sign-in"));
    assert!(server.app.identity.person_of_email("ada@acme.test").await.unwrap().is_some());
}
