//! A person looks after their account: name, password, sessions; and a password that was forgotten (`identity.md` 8.4).

use serde_json::json;

use super::tab::{PASSWORD, Tab};
use crate::support::app::TestApp;
use crate::support::people::Caller;
use crate::support::post::Post;

const ADA: &str = "ada@acme.test";
const NEXT: &str = "seven herons over the weir";

#[tokio::test]
async fn a_link_sets_a_password_once_and_signs_everybody_out() {
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    let identity = &server.app.identity;
    let ada = identity.person_of_email(ADA).await.unwrap().unwrap();
    let earlier = identity.reset_code(&ada).await.unwrap();
    let code = identity.reset_code(&ada).await.unwrap();
    let elsewhere = Tab::of(&server);
    let sets = async |code: &str| elsewhere.send("/reset", &[("code", code), ("password", NEXT)]).await;
    assert_eq!(sets(&earlier).await.status, 422, "the last one counts");
    let weak = elsewhere.send("/reset", &[("code", &code), ("password", "short")]).await;
    assert_eq!(weak.status, 422);
    let link = format!("http://localhost/reset#{code}");
    assert_eq!(sets(&link).await.status, 200, "also as the whole link");
    assert_eq!(sets(&code).await.status, 422, "once");
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 401, "every session ended");
    assert_eq!(tab.signs_in(ADA, PASSWORD).await.status, 403);
    assert_eq!(tab.signs_in(ADA, NEXT).await.status, 303);
    let late = identity.reset_code(&ada).await.unwrap();
    server.clock.advance_ms(30 * 60_000);
    assert_eq!(sets(&late).await.status, 422);
    assert!(server.audit("").await.iter().any(|row| row.kind == "password_reset"));
}

/// Whoever fears that somebody else had their account ends everything that acts for it with the same form.
#[tokio::test]
async fn a_reset_withdraws_applications_and_personal_keys_where_that_is_asked() {
    let mut post = Post::open().await;
    let (server, tab) = TestApp::set_up_by_ada(&post.settings(&[])).await;
    let identity = &server.app.identity;
    let ada = identity.person_of_email(ADA).await.unwrap().unwrap();
    let visitor = server.visitor(&ada.id, &tab.cookie("playmaker").unwrap()).await;
    let key = async |name: &str, personal: bool| {
        let asked = json!({ "name": name, "permissions": ["org:read"], "personal": personal });
        let made = visitor.post("/v1/orgs/acme/keys", &asked).await.done(201);
        server.anyone().with("authorization", &format!("Bearer {}", made["key"].as_str().unwrap()))
    };
    let (own, of_the_org) = (key("own", true).await, key("org", false).await);
    let opens = async |key: &Caller| key.get("/v1/me").await.status;
    let elsewhere = Tab::of(&server);
    assert!(elsewhere.get("/reset").await.text.contains("withdraw my applications"));
    let sets = async |more: &[(&str, &str)]| {
        let code = identity.reset_code(&ada).await.unwrap();
        let fields = [&[("code", code.as_str()), ("password", NEXT)], more].concat();
        elsewhere.send("/reset", &fields).await
    };
    let kept = sets(&[]).await;
    assert!(kept.status == 200 && !post.next().await.contains("withdrawn"), "{}", kept.text);
    assert_eq!((opens(&own).await, opens(&of_the_org).await), (200, 200));
    let withdrawn = sets(&[("withdraw", "yes")]).await;
    assert!(withdrawn.text.contains("personal keys no longer work"), "{}", withdrawn.text);
    assert_eq!((opens(&own).await, opens(&of_the_org).await), (401, 200));
    assert!(post.next().await.contains("keys were withdrawn"));
    let told = server.audit("").await.pop().unwrap();
    assert_eq!(
        (told.kind.as_str(), &told.data["keys"], &told.data["grants"]),
        ("password_reset", &json!(1), &json!(0))
    );
    let ended = server.audit("acme").await.pop().unwrap();
    assert_eq!((ended.kind.as_str(), &ended.data["cause"]), ("key_revoked", &json!("password_reset")));
}

#[tokio::test]
async fn without_mail_the_page_says_who_makes_the_link() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let page = Tab::of(&server).get("/forgot").await;
    assert!(page.text.contains("playmaker person reset"), "{}", page.text);
    assert_eq!(Tab::of(&server).send("/forgot", &[("email", ADA)]).await.status, 404);
}

#[tokio::test]
async fn another_password_gives_the_session_a_new_id_and_ends_the_others() {
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    let other = Tab::of(&server);
    other.signs_in(ADA, PASSWORD).await;
    let before = tab.cookie("playmaker").unwrap();
    let change = async |current: &str, next: &str| {
        let fields = [("current", current), ("password", next)];
        tab.command("/settings/security", "/settings/security/password", &fields).await
    };
    let wrong = change("not her password", NEXT).await;
    assert!(wrong.status == 422 && wrong.text.contains("is not right"), "{}", wrong.text);
    assert_eq!(change(PASSWORD, "short").await.status, 422);
    assert_eq!(change(PASSWORD, NEXT).await.status, 200);
    assert_ne!(tab.cookie("playmaker").unwrap(), before);
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 200);
    assert_eq!(other.get("/v1/orgs/acme/playbooks").await.status, 401);
    assert_eq!(other.signs_in(ADA, NEXT).await.status, 303);
}

#[tokio::test]
async fn sessions_are_listed_and_each_can_be_ended_by_its_own_person() {
    let (server, tab) = TestApp::set_up_by_ada(&[("SIGN_UP", "open")]).await;
    let other = Tab::of(&server);
    other.signs_in(ADA, PASSWORD).await;
    let page = tab.get("/settings/sessions").await.text;
    assert_eq!(page.matches("Sign out<span").count(), 1, "the one in use has no button");
    let id = super::tab::after(&page, "name=\"id\" value=\"").to_owned();
    // Somebody else's session is not theirs to end.
    let grace = Tab::of(&server);
    grace.send("/sign-up", &[("name", "Grace"), ("email", "grace@acme.test"), ("password", PASSWORD)]).await;
    grace.command("/settings/sessions", "/settings/sessions/end", &[("id", &id)]).await;
    assert_eq!(other.get("/v1/orgs/acme/playbooks").await.status, 200);
    tab.command("/settings/sessions", "/settings/sessions/end", &[("id", &id)]).await;
    assert_eq!(other.get("/v1/orgs/acme/playbooks").await.status, 401);
    other.signs_in(ADA, PASSWORD).await;
    tab.command("/settings/sessions", "/settings/sessions/end-others", &[]).await;
    assert_eq!(other.get("/v1/orgs/acme/playbooks").await.status, 401);
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 200);
}

#[tokio::test]
async fn a_name_is_changed_and_stands_at_once() {
    let (_server, tab) = TestApp::set_up_by_ada(&[]).await;
    let saved = tab.command("/settings/profile", "/settings/profile", &[("name", "Ada King <b>")]).await;
    assert!(saved.status == 200 && saved.text.contains("Ada King &#60;b&#62;"), "{}", saved.text);
    assert!(tab.get("/").await.text.contains("Ada King &#60;b&#62;"));
    assert_eq!(tab.command("/settings/profile", "/settings/profile", &[("name", " ")]).await.status, 422);
    assert_eq!(tab.send("/settings/profile", &[("name", "Eve")]).await.status, 403, "without the token");
}
