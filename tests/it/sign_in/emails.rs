//! Another email, by a link to the address itself; and the proof of the one an account was made with (`identity.md` 8.4).

use playmaker::identity::Role;
use playmaker::identity::invitations::sending::Draft;

use super::operator::runs;
use super::tab::{PASSWORD, Tab};
use crate::support::app::TestApp;
use crate::support::post::{Post, code};

const ADA: &str = "ada@acme.test";
const NEW: &str = "ada@north.test";
const ASK: &str = "/settings/profile/email";
const CONFIRM: &str = "/settings/profile/email/confirm";

async fn asks(tab: &Tab, email: &str) -> crate::support::people::Answer {
    tab.command("/settings/profile", ASK, &[("email", email)]).await
}

#[tokio::test]
async fn the_new_address_confirms_and_the_old_one_is_told() {
    let mut post = Post::open().await;
    let (server, tab) = TestApp::set_up_by_ada(&post.settings(&[])).await;
    let identity = &server.app.identity;
    let ada = identity.person_of_email(ADA).await.unwrap().unwrap();
    let forgotten = identity.reset_code(&ada).await.unwrap();
    let asked = asks(&tab, "Ada@North.test").await;
    assert!(asked.status == 200 && asked.text.contains("on its way"), "{}", asked.text);
    let mails = post.take(2).await;
    assert_eq!(mails.iter().map(|(to, _)| to.as_str()).collect::<Vec<_>>(), [ADA, NEW]);
    assert!(mails[0].1.contains("a•••@north.test") && !mails[0].1.contains("ada@north.test"), "{}", mails[0].1);
    let code = code(&mails[1].1);
    assert!(identity.person_of_email(NEW).await.unwrap().is_none(), "nothing has changed yet");
    // Wherever the mail is read: nobody need be signed in there.
    let elsewhere = Tab::of(&server);
    assert_eq!(elsewhere.send(CONFIRM, &[("code", "guessed")]).await.status, 422);
    let link = format!("http://localhost/settings/profile/email#{code}");
    let done = elsewhere.send(CONFIRM, &[("code", &link)]).await;
    assert!(done.status == 200 && done.text.contains(NEW), "{}", done.text);
    assert_eq!(elsewhere.send(CONFIRM, &[("code", &code)]).await.status, 422, "once");
    let told = post.next().await;
    assert!(told.contains(&format!("To: {ADA}")) && told.contains("a•••@north.test"), "{told}");
    assert!(tab.get("/settings/profile").await.text.contains(NEW), "the session goes on");
    assert_eq!(Tab::of(&server).signs_in(ADA, PASSWORD).await.status, 403);
    assert_eq!(Tab::of(&server).signs_in(NEW, PASSWORD).await.status, 303);
    let late = Tab::of(&server).send("/reset", &[("code", &forgotten), ("password", PASSWORD)]).await;
    assert_eq!(late.status, 422, "a link that went to the old address is worth nothing");
    let row = server.audit("").await.into_iter().find(|row| row.kind == "email_changed").unwrap();
    assert_eq!(row.data, serde_json::json!({ "before": "a•••@acme.test", "after": "a•••@north.test" }));
    assert!(post.is_empty());
}

#[tokio::test]
async fn an_address_of_somebody_else_is_not_told_on_the_page() {
    let mut post = Post::open().await;
    let (server, tab) = TestApp::set_up_by_ada(&post.settings(&[])).await;
    server.person("Bo", "bo@acme.test", "acme", Role::Viewer).await;
    let (free, taken) = (asks(&tab, NEW).await, asks(&tab, "bo@acme.test").await);
    let shown = |text: &str| text.split_once("role=\"status\"").unwrap().1.split("</div>").next().unwrap().to_owned();
    assert_eq!(shown(&free.text), shown(&taken.text));
    let mails = post.take(4).await;
    let to_bo = mails.iter().find(|(to, _)| to == "bo@acme.test").unwrap();
    assert!(to_bo.1.contains("has an account") && !to_bo.1.contains('#'), "{}", to_bo.1);
    // Nor does a code help once the address has become somebody else's.
    let code = code(&mails.iter().find(|(to, _)| to == NEW).unwrap().1);
    server.person("Eve", NEW, "acme", Role::Viewer).await;
    assert_eq!(Tab::of(&server).send(CONFIRM, &[("code", &code)]).await.status, 422);
    for bad in ["ada", ADA] {
        assert_eq!(asks(&tab, bad).await.status, 422, "{bad}");
    }
}

#[tokio::test]
async fn it_is_asked_for_after_a_fresh_sign_in_and_so_often_in_an_hour() {
    let mut post = Post::open().await;
    let (server, tab) = TestApp::set_up_by_ada(&post.settings(&[])).await;
    assert_eq!(tab.send(ASK, &[("email", NEW)]).await.status, 403, "without the token");
    server.clock.advance_ms(10 * 60_000 + 1);
    let again = asks(&tab, NEW).await;
    assert_eq!((again.status, again.header("location")), (303, "/sign-in"));
    tab.signs_in(ADA, PASSWORD).await;
    for _ in 0..5 {
        assert_eq!(asks(&tab, NEW).await.status, 200);
    }
    assert_eq!(asks(&tab, NEW).await.status, 429);
    let last = post.take(10).await.pop().unwrap();
    server.clock.advance_ms(24 * 60 * 60_000);
    assert_eq!(Tab::of(&server).send(CONFIRM, &[("code", &code(&last.1))]).await.status, 422, "a day is over");
}

#[tokio::test]
async fn without_mail_the_operator_makes_the_link() {
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    assert!(tab.get("/settings/profile").await.text.contains("playmaker person email"));
    assert_eq!(asks(&tab, NEW).await.status, 404);
    let link = runs(&server, &["person", "email", "--email", ADA, "--to", NEW]).await.unwrap();
    assert_eq!(Tab::of(&server).send(CONFIRM, &[("code", &link)]).await.status, 200);
    assert!(server.app.identity.person_of_email(NEW).await.unwrap().is_some());
    server.person("Bo", "bo@acme.test", "acme", Role::Viewer).await;
    assert!(runs(&server, &["person", "email", "--email", NEW, "--to", "bo@acme.test"]).await.is_err());
}

/// An account that nobody invited is of an address nobody has proved: it joins no org by it until a mail did.
#[tokio::test]
async fn who_came_uninvited_confirms_their_email_before_an_invitation_counts() {
    let mut post = Post::open().await;
    let (server, ada) = TestApp::set_up_by_ada(&post.settings(&[("SIGN_UP", "open")])).await;
    let tab = Tab::of(&server);
    let grace = [("name", "Grace"), ("email", "grace@acme.test"), ("password", PASSWORD)];
    assert_eq!(tab.send("/sign-up", &grace).await.status, 303);
    let first = code(&post.next().await);
    assert!(tab.get("/settings/profile").await.text.contains("not confirmed yet"));
    // Made before mail was sent, so that its code went through other hands.
    let identity = &server.app.identity;
    let who = identity.person_of_email(ADA).await.unwrap().unwrap();
    let granted = playmaker::identity::Permissions::EVERY;
    let now = Some(identity.now_ms());
    let caller = identity.acting(&who.id, "acme", granted, now, playmaker::identity::By::Session).await.unwrap();
    let draft =
        Draft { email: "grace@acme.test".into(), role: Role::Member, playbooks: playmaker::identity::Playbooks::All };
    let sent = identity.invite(&caller.unwrap(), draft, false).await.unwrap();
    let body = serde_json::json!({ "code": sent.code.expose() });
    let session = tab.cookie("playmaker").unwrap();
    let person = identity.person_of_email("grace@acme.test").await.unwrap().unwrap();
    let visitor = server.visitor(&person.id, &session).await;
    visitor.post("/v1/invitations/accept", &body).await.refused(403, "forbidden");
    assert_eq!(tab.command("/settings/profile", ASK, &[("email", "grace@acme.test")]).await.status, 200);
    let second = code(&post.next().await);
    assert_eq!(tab.send(CONFIRM, &[("code", &first)]).await.status, 422, "the last one counts");
    assert_eq!(tab.send(CONFIRM, &[("code", &second)]).await.status, 200);
    visitor.post("/v1/invitations/accept", &body).await.done(200);
    assert!(server.audit("").await.iter().any(|row| row.kind == "email_verified"));
    assert_eq!(ada.get("/v1/orgs/acme/members").await.done(200)["members"].as_array().unwrap().len(), 2);
    assert!(post.is_empty(), "who keeps their email is told nothing");
}

#[tokio::test]
async fn an_invitation_goes_out_by_mail_and_its_code_proves_the_address() {
    let mut post = Post::open().await;
    let server = TestApp::signing_in_with(&post.settings(&[])).await;
    let ada = server.person("Ada", ADA, "acme", Role::Owner).await;
    let asked = serde_json::json!({ "email": "grace@acme.test", "role": "member" });
    let invited = ada.post("/v1/orgs/acme/invitations", &asked).await.done(201);
    assert!(invited.get("link").is_none(), "{invited}");
    let mail = post.next().await;
    for words in ["To: grace@acme.test", "Ada invites you to the org acme", "/invitations#"] {
        assert!(mail.contains(words), "{words}: {mail}");
    }
    let tab = Tab::of(&server);
    let link = format!("{}/invitations#{}", server.origin(), code(&mail));
    let fields = [("invitation", link.as_str()), ("name", "Grace"), ("password", PASSWORD)];
    assert_eq!(tab.send("/sign-up", &fields).await.status, 303);
    let grace = server.app.identity.person_of_email("grace@acme.test").await.unwrap().unwrap();
    assert!(grace.email_verified_at_ms.is_some());
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 200);
}
