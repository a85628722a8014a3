//! An account by an invitation: made together with the membership, or not at all.

use std::sync::Arc;

use futures_util::future::join_all;
use playmaker::error::Problem;
use playmaker::identity::invitations::sending::{Draft, Sent};
use playmaker::identity::sign_in::accounts::Account;
use playmaker::identity::{Playbooks, Role};
use playmaker::ledger::{Origin, Via};

use crate::sign_in::tab::{PASSWORD, Tab};
use crate::support::app::TestApp;

const GRACE: &str = "grace@acme.test";

async fn invites_grace(server: &TestApp) -> Sent {
    let draft = Draft { email: GRACE.into(), role: Role::Member, playbooks: Playbooks::All };
    server.app.identity.invite_as_operator("acme", draft).await.unwrap()
}

async fn has_an_account(server: &TestApp) -> bool {
    server.app.identity.person_of_email(GRACE).await.unwrap().is_some()
}

#[tokio::test]
async fn an_org_that_takes_nobody_leaves_no_account_behind() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let code = invites_grace(&server).await.code;
    server.app.identity.delete_org_as_operator("acme").await.unwrap();
    let tab = Tab::of(&server);
    let fields = [("invitation", code.expose()), ("name", "Grace"), ("password", PASSWORD)];
    let refused = tab.send("/sign-up", &fields).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("being deleted"));
    assert!(!has_an_account(&server).await);
    assert_eq!(tab.signs_in(GRACE, PASSWORD).await.status, 403);
}

#[tokio::test]
async fn an_invitation_taken_back_at_the_last_moment_leaves_no_account_behind() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let first = invites_grace(&server).await.invitation;
    let second = invites_grace(&server).await.invitation;
    let origin = Arc::new(Origin::of(Via::Studio));
    let account = || Account { name: "Grace".into(), email: GRACE.into(), phc: None };
    let identity = &server.app.identity;
    let refused: Problem = identity.sign_up_invited(account(), first, origin.clone()).await.unwrap_err();
    assert_eq!(refused.status(), 404, "the newer one stands in its place");
    assert!(!has_an_account(&server).await);
    let grace = identity.sign_up_invited(account(), second, origin).await.unwrap();
    assert_eq!(identity.membership("acme", &grace.id).await.unwrap().unwrap().role, Role::Member);
    let joined = server.audit("acme").await.pop().unwrap();
    assert_eq!((joined.kind.as_str(), joined.actor.id), ("member_joined", grace.caller_id()));
}

#[tokio::test]
async fn one_code_makes_one_account_however_often_it_is_sent_at_once() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let code = invites_grace(&server).await.code;
    let tabs: Vec<Tab> = (0..4).map(|_| Tab::of(&server)).collect();
    let fields = [("invitation", code.expose()), ("name", "Grace"), ("password", PASSWORD)];
    let answers = join_all(tabs.iter().map(|tab| tab.send("/sign-up", &fields))).await;
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses[0], 303, "{statuses:?}");
    assert!(statuses[1..].iter().all(|status| matches!(status, 404 | 409 | 422)), "{statuses:?}");
}
