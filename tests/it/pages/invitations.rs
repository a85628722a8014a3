//! `/invitations`: a code is looked at, and then taken by whoever it is for.

use playmaker::identity::Role;

use super::{joins, leads_to, sends, shows, tab_of};
use crate::sign_in::tab::{PASSWORD, Tab, after};
use crate::support::app::TestApp;

const AT: &str = "/invitations";

/// A server, its owner's browser, and the code of an invitation of `grace@acme.test`.
async fn invited() -> (TestApp, Tab, String) {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let fields = [("email", "grace@acme.test"), ("role", "viewer"), ("playbooks", "billing")];
    let made = sends(&ada, "/acme/members/invite", &fields).await.text;
    let code = made.split_once("/invitations#").unwrap().1.split('<').next().unwrap().to_owned();
    (server, ada, code)
}

#[tokio::test]
async fn the_page_asks_for_the_code_which_no_address_carries() {
    let (server, _, code) = invited().await;
    let stranger = Tab::of(&server);
    shows(&stranger.get(AT).await, 200, &["data-code=\"code\"", "data-goes", "name=\"code\""]);
    let page = stranger.send(AT, &[("code", &code)]).await;
    shows(&page, 200, &["Acme", "viewer", "billing", "g•••@acme.test", "Sign in", "/sign-up#", "2026-10-08"]);
    assert!(!page.text.contains("grace@acme.test"));
    // Whoever pastes the whole link is understood too.
    shows(&stranger.send(AT, &[("code", &format!("{}/invitations#{code}", server.origin()))]).await, 200, &["Acme"]);
    for bad in ["", "x", "0123456789012345678901234567"] {
        shows(&stranger.send(AT, &[("code", bad)]).await, 404, &["This invitation is not good"]);
    }
}

#[tokio::test]
async fn who_has_no_account_makes_one_with_the_code_and_has_joined() {
    let (server, _, code) = invited().await;
    let grace = Tab::of(&server);
    let page = grace.send(AT, &[("code", &code)]).await.text;
    assert_eq!(after(&page, "class=\"button\" href=\""), format!("/sign-up#{code}"));
    let fields = [("invitation", code.as_str()), ("name", "Grace"), ("password", PASSWORD)];
    leads_to(&grace.send("/sign-up", &fields).await, "/");
    shows(&grace.get("/acme/settings").await, 200, &["viewer"]);
    shows(&grace.send(AT, &[("code", &code)]).await, 404, &["This invitation is not good"]);
}

#[tokio::test]
async fn who_signs_in_first_comes_back_with_the_code_and_joins() {
    let (server, _, code) = invited().await;
    server.person("Grace", "grace@acme.test", "other", Role::Member).await;
    let identity = &server.app.identity;
    let person = identity.person_of_email("grace@acme.test").await.unwrap().unwrap();
    let grace = Tab::of(&server);
    let sent = grace.send("/invitations/sign-in", &[("code", &code)]).await;
    leads_to(&sent, "/sign-in");
    let reset = identity.reset_code(&person).await.unwrap();
    grace.send("/reset", &[("code", &reset), ("password", PASSWORD)]).await;
    leads_to(&grace.signs_in("grace@acme.test", PASSWORD).await, &format!("/invitations#{code}"));
    let page = grace.send(AT, &[("code", &code)]).await;
    shows(&page, 200, &["You are signed in as grace@acme.test", "Join the org"]);
    assert_eq!(grace.get("/acme/settings").await.status, 404, "looking changes nothing");
    leads_to(&sends(&grace, "/invitations/accept", &[("code", &code)]).await, "/");
    shows(&grace.get("/acme/settings").await, 200, &["viewer"]);
    let joined = server.audit("acme").await.pop().unwrap();
    assert_eq!(joined.kind, "member_joined");
    assert_eq!(sends(&grace, "/invitations/accept", &[("code", &code)]).await.status, 404, "once");
}

#[tokio::test]
async fn somebody_else_is_told_whose_it_is_in_part_and_nothing_changes() {
    let (server, _, code) = invited().await;
    let eve = server.person("Eve", "eve@other.test", "other", Role::Owner).await;
    let eves = tab_of(&server, &eve);
    let page = eves.send(AT, &[("code", &code)]).await;
    shows(&page, 200, &["This invitation is not for you", "g•••@acme.test", "eve@other.test"]);
    assert!(!page.text.contains("Join the org") && !page.text.contains("grace@"));
    let refused = sends(&eves, "/invitations/accept", &[("code", &code)]).await;
    shows(&refused, 403, &["g•••@acme.test"]);
    assert_eq!(eves.get("/acme/settings").await.status, 404);
    shows(&Tab::of(&server).send(AT, &[("code", &code)]).await, 200, &["Sign in as the person of that address"]);
}

/// Security case 22.
#[tokio::test]
async fn accepting_needs_the_token_of_the_session() {
    let (server, _, code) = invited().await;
    let grace = server.person("Grace", "grace@acme.test", "other", Role::Member).await;
    let tab = tab_of(&server, &grace);
    assert_eq!(tab.send("/invitations/accept", &[("code", &code)]).await.status, 403);
    let (bob, _) = joins(&server, "Bob", Role::Member).await;
    assert_eq!(tab.send("/invitations/accept", &[("code", &code), ("csrf", &bob.csrf)]).await.status, 403);
    leads_to(&Tab::of(&server).send("/invitations/accept", &[("code", &code)]).await, "/sign-in");
    assert_eq!(tab.get("/acme/settings").await.status, 404);
}

#[tokio::test]
async fn codes_are_not_guessed_on_and_on() {
    let (server, _, _) = invited().await;
    let stranger = Tab::of(&server);
    let mut last = 404;
    for _ in 0..200 {
        last = stranger.send(AT, &[("code", "0123456789012345678901234567")]).await.status;
        if last == 429 {
            break;
        }
    }
    assert_eq!(last, 429);
}
