//! The consent page: who is asked, what is remembered, what a form must bring (`identity.md` 7.3; security case 38).

use playmaker::identity::Role;
use serde_json::json;

use super::{BACK, P, Scene, claims, query, text};
use crate::sign_in::tab::{PASSWORD, Tab};
use crate::support::app::TestApp;
use crate::support::people::Answer;
use crate::support::visitor::Visitor;

const MINUTE: i64 = 60_000;

/// The value of a hidden field.
fn hidden(page: &Answer, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let after = page.text.split_once(&start).unwrap_or_else(|| panic!("{name}: {}", page.text)).1;
    after.split('"').next().unwrap().to_owned()
}

/// A parameter an answer sends back to the client.
fn back(answer: &Answer, name: &str) -> String {
    let location = answer.header("location");
    assert!(location.starts_with(&format!("{BACK}?")), "{} {location} {}", answer.status, answer.text);
    let url = url::Url::parse(location).unwrap();
    url.query_pairs().find(|(given, _)| given == name).map(|(_, value)| value.into_owned()).unwrap_or_default()
}

impl Scene {
    async fn visitor(&self, name: &str, role: Role) -> Visitor {
        self.server.person(name, &format!("{name}@acme.test"), "acme", role).await
    }
}

async fn ask(person: &Visitor, client: &str, more: &[(&str, &str)]) -> Answer {
    person.get(&format!("/oauth/authorize?{}", query(client, more))).await
}

async fn decide(person: &Visitor, page: &Answer, more: &[(&str, &str)]) -> Answer {
    let (request, token) = (hidden(page, "request"), hidden(page, "token"));
    let mut pairs = vec![("request", request.as_str()), ("token", token.as_str())];
    pairs.extend(more);
    super::form(person, "/oauth/consent", &pairs).await
}

const ALLOW: &[(&str, &str)] =
    &[("org", "acme"), ("scope", "org:write"), ("scope", "playbook:write"), ("decision", "allow")];

#[tokio::test]
async fn a_person_is_asked_and_what_they_left_ticked_is_granted() {
    let scene = Scene::new().await;
    let bob = scene.visitor("bob", Role::Member).await;
    let client = scene.public_client().await;
    let page = ask(&bob, &client, &[("state", "s1"), ("scope", "org:admin org:write playbook:write")]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    for shown in ["Editor", "unverified name", "app.example", "bob@acme.test", "/tools/mcp", "Connected apps"] {
        assert!(page.text.contains(shown), "{shown}");
    }
    assert!(!page.text.contains("org:admin"), "no MCP endpoint takes it");
    let policy = page.header("content-security-policy");
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self' https://app.example"));
    assert_eq!((page.header("x-frame-options"), page.header("cache-control")), ("DENY", "no-store"));
    let answer = decide(&bob, &page, &[("org", "acme"), ("scope", "playbook:write"), ("decision", "allow")]).await;
    assert_eq!((answer.status, back(&answer, "state").as_str(), back(&answer, "iss").as_str()), (303, "s1", P));
    assert!(answer.header("set-cookie").contains("playmaker-request=;"), "{}", answer.header("set-cookie"));
    let tokens = scene.exchange(&client, &back(&answer, "code")).await.done(200);
    assert_eq!(tokens["scope"], "org:read playbook:read playbook:write");
    let said = claims(&text(&tokens, "access_token"));
    assert_eq!((text(&said, "sub"), text(&said, "org")), (bob.id.clone(), "acme".to_owned()));
    assert_eq!(scene.audited("acme").await.last().map(String::as_str), Some("consent_given"));
    let again = decide(&bob, &page, ALLOW).await;
    assert_eq!((again.status, again.header("location")), (400, ""), "a page is answered once");
}

#[tokio::test]
async fn whoever_denies_sends_the_client_away() {
    let scene = Scene::new().await;
    let bob = scene.visitor("bob", Role::Member).await;
    let client = scene.public_client().await;
    let page = ask(&bob, &client, &[("state", "s1")]).await;
    let answer = decide(&bob, &page, &[("decision", "deny")]).await;
    assert_eq!((answer.status, back(&answer, "error").as_str()), (303, "access_denied"));
    assert_eq!((back(&answer, "state").as_str(), back(&answer, "iss").as_str()), ("s1", P));
    assert_eq!(scene.audited("acme").await.last().map(String::as_str), Some("consent_denied"));
    assert_eq!(decide(&bob, &page, ALLOW).await.status, 400);
}

/// Security case 38: a form from elsewhere, of another session, or of an old page allows nothing.
#[tokio::test]
async fn only_the_page_itself_can_allow() {
    let scene = Scene::new().await;
    let (bob, eve) = (scene.visitor("bob", Role::Member).await, scene.visitor("eve", Role::Member).await);
    let client = scene.public_client().await;
    let page = ask(&bob, &client, &[]).await;
    assert_eq!(decide(&eve, &page, ALLOW).await.status, 403, "another session");
    let anyone = scene.server.anyone();
    let pairs =
        [("request", hidden(&page, "request")), ("token", hidden(&page, "token")), ("decision", "allow".into())];
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let elsewhere = anyone.clone().with("cookie", &bob.cookie).with("origin", "https://evil.example");
    super::form(&elsewhere, "/oauth/consent", &pairs).await.refused(403, "origin_not_allowed");
    let silent = anyone.clone().with("cookie", &bob.cookie);
    assert_eq!(super::form(&silent, "/oauth/consent", &pairs).await.status, 403, "no origin");
    let nobody = anyone.with("origin", P);
    assert_eq!(super::form(&nobody, "/oauth/consent", &pairs).await.status, 401, "no session");
    for (name, value) in [("request", "req_other"), ("token", "1.AAAA"), ("token", ""), ("decision", "")] {
        let mut changed = pairs.clone();
        changed.retain(|(given, _)| *given != name);
        changed.push((name, value));
        let status = super::form(&bob, "/oauth/consent", &changed).await.status;
        assert_eq!(status, if name == "decision" { 400 } else { 403 }, "{name}={value}");
    }
    scene.server.clock.advance_ms(10 * MINUTE + 1);
    assert_eq!(decide(&bob, &page, ALLOW).await.status, 403, "an old page");
    let fresh = ask(&bob, &client, &[]).await;
    assert_eq!(decide(&bob, &fresh, ALLOW).await.status, 303);
}

/// Security case 38.
#[tokio::test]
async fn a_consent_is_remembered_for_clients_somebody_answers_for_and_for_no_other() {
    let desk = json!([{ "id": "desk", "name": "Desk", "redirect_uris": [BACK, "http://127.0.0.1/cb"] }]).to_string();
    let scene = Scene::with(&[("OAUTH_CLIENTS", &desk)]).await;
    let bob = scene.visitor("bob", Role::Member).await;
    let read = ("scope", "org:read");
    let quiet = ask(&bob, "desk", &[read, ("prompt", "none")]).await;
    assert_eq!((quiet.status, back(&quiet, "error").as_str()), (302, "consent_required"));
    decide(&bob, &ask(&bob, "desk", &[read]).await, ALLOW).await;
    let again = ask(&bob, "desk", &[read]).await;
    assert_eq!(again.status, 302);
    scene.exchange("desk", &back(&again, "code")).await.done(200);
    assert!(back(&ask(&bob, "desk", &[read, ("prompt", "none")]).await, "code").starts_with("pmc_"));
    for more in [
        vec![read, ("prompt", "consent")],
        vec![("scope", "org:write")],
        vec![read, ("resource", "https://pm.example/v1")],
        vec![read, ("redirect_uri", "http://127.0.0.1:4000/cb")],
    ] {
        assert_eq!(ask(&bob, "desk", &more).await.status, 200, "{more:?}");
    }
    let eve = scene.visitor("eve", Role::Member).await;
    assert_eq!(ask(&eve, "desk", &[read]).await.status, 200, "another person");
    scene.server.clock.advance_ms(11 * 60 * MINUTE);
    let client = scene.public_client().await;
    decide(&bob, &ask(&bob, &client, &[read]).await, ALLOW).await;
    assert_eq!(ask(&bob, &client, &[read]).await.status, 200, "nobody answers for who registered itself");
}

#[tokio::test]
async fn a_consent_is_forgotten_after_thirty_days_and_with_its_grant() {
    let desk = json!([{ "id": "desk", "redirect_uris": [BACK] }]).to_string();
    let scene = Scene::with(&[("OAUTH_CLIENTS", &desk)]).await;
    let bob = scene.visitor("bob", Role::Member).await;
    let answer = decide(&bob, &ask(&bob, "desk", &[]).await, ALLOW).await;
    let tokens = scene.exchange("desk", &back(&answer, "code")).await.done(200);
    assert_eq!(ask(&bob, "desk", &[]).await.status, 302);
    scene.form("/oauth/revoke", &[("client_id", "desk"), ("token", &text(&tokens, "refresh_token"))]).await;
    assert_eq!(ask(&bob, "desk", &[]).await.status, 200, "it was withdrawn");
    decide(&bob, &ask(&bob, "desk", &[]).await, ALLOW).await;
    scene.server.clock.advance_ms(30 * 24 * 60 * MINUTE);
    let person = scene.server.app.identity.person(&bob.id).await.unwrap().unwrap();
    let bob = scene.server.signs_in(&person).await;
    assert_eq!(ask(&bob, "desk", &[]).await.status, 200);
}

#[tokio::test]
async fn who_belongs_to_several_orgs_chooses_one() {
    let scene = Scene::new().await;
    let bob = scene.visitor("bob", Role::Member).await;
    super::join(&scene.server, &bob.id, "north", Role::Viewer).await;
    let client = scene.public_client().await;
    let page = ask(&bob, &client, &[]).await;
    assert_eq!(page.text.matches("type=\"radio\"").count(), 2);
    assert_eq!(
        page.text.matches("type=\"radio\" name=\"org\" value=\"acme\" checked").count(),
        0,
        "none for a new client"
    );
    assert_eq!(decide(&bob, &page, &[("decision", "allow")]).await.status, 400);
    assert_eq!(decide(&bob, &page, &[("org", "other"), ("decision", "allow")]).await.status, 400);
    let writes = [("org", "north"), ("scope", "org:write"), ("decision", "allow")];
    let answer = decide(&bob, &page, &writes).await;
    let tokens = scene.exchange(&client, &back(&answer, "code")).await.done(200);
    assert_eq!(claims(&text(&tokens, "access_token"))["org"], "north");
    assert_eq!(tokens["scope"], "org:read playbook:read", "a viewer there");
    let again = ask(&bob, &client, &[]).await;
    assert!(again.text.contains("value=\"north\" checked"), "the one last used");
    let fixed = ask(&bob, &client, &[("resource", "https://pm.example/orgs/acme/mcp")]).await;
    assert!(!fixed.text.contains("type=\"radio\"") && fixed.text.contains("name=\"org\" value=\"acme\""));
}

#[tokio::test]
async fn who_is_no_member_is_told_so() {
    let scene = Scene::new().await;
    let bob = scene.visitor("bob", Role::Member).await;
    let client = scene.public_client().await;
    let page = ask(&bob, &client, &[("resource", "https://pm.example/orgs/other/mcp")]).await;
    assert_eq!(page.status, 403);
    assert!(page.text.contains("not a member"));
    assert_eq!(decide(&bob, &page, &[("org", "other"), ("decision", "allow")]).await.status, 400);
    let answer = decide(&bob, &page, &[("decision", "deny")]).await;
    assert_eq!(back(&answer, "error"), "access_denied");
}

#[tokio::test]
async fn a_viewer_is_not_shown_what_the_role_lacks() {
    let scene = Scene::new().await;
    let eve = scene.visitor("eve", Role::Viewer).await;
    let client = scene.public_client().await;
    let page = ask(&eve, &client, &[("resource", "https://pm.example/v1"), ("scope", "org:admin org:write")]).await;
    assert!(
        page.text.contains("value=\"org:read\"")
            && !page.text.contains("org:write")
            && !page.text.contains("org:admin")
    );
}

#[tokio::test]
async fn after_sign_in_the_request_goes_on() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let away = scene.server.anyone().get(&format!("/oauth/authorize?{}", query(&client, &[("state", "s1")]))).await;
    assert_eq!(away.header("location"), "/sign-in");
    let cookies = away.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap());
    let cookie = cookies.into_iter().find(|cookie| cookie.contains("playmaker-request=")).unwrap();
    let request = cookie.split(';').next().unwrap();
    let bob = scene.visitor("bob", Role::Member).await;
    let both = scene.server.anyone().with("cookie", &format!("{}; {request}", bob.cookie));
    let page = both.get("/oauth/authorize").await;
    assert_eq!(page.status, 200, "{}", page.text);
    let answer = decide(&bob, &page, ALLOW).await;
    assert_eq!(back(&answer, "state"), "s1");
    assert_eq!(both.get("/oauth/authorize").await.status, 400, "it was answered");
}

/// Foreign words on the page are text, whatever they look like. Security case 38.
#[tokio::test]
async fn a_name_is_text() {
    let scene = Scene::new().await;
    let bob = scene.visitor("bob", Role::Member).await;
    let made = scene.registered(json!({ "client_name": "<script>alert(1)</script>Claude\u{202E}" })).await;
    let page = ask(&bob, &text(&made, "client_id"), &[]).await;
    assert!(!page.text.contains("<script>alert") && !page.text.contains('\u{202E}'));
    assert!(page.text.contains("unverified name"));
}

/// "Not you? Switch" comes back to the same request as somebody else, and nothing in the form says where to go: security
/// case 37.
#[tokio::test]
async fn somebody_else_takes_the_request_over_after_signing_in() {
    let (server, tab) = TestApp::set_up_by_ada(&[("SIGN_UP", "open")]).await;
    let grace = [("name", "Grace"), ("email", "grace@acme.test"), ("password", PASSWORD)];
    Tab::of(&server).send("/sign-up", &grace).await;
    let registered = json!({ "client_name": "Editor", "redirect_uris": [BACK], "token_endpoint_auth_method": "none" });
    let client = text(&server.anyone().post("/oauth/register", &registered).await.json(), "client_id");
    let hint = [("login_hint", "grace@acme.test"), ("state", "s1")];
    let page = tab.get(&format!("/oauth/authorize?{}", query(&client, &hint))).await;
    assert!(page.text.contains("ada@acme.test") && page.text.contains("not you? switch"), "{}", page.text);
    let request = tab.cookie("playmaker-request").unwrap();
    let csrf = hidden(&page, "csrf");
    assert_eq!(tab.send("/sign-out", &[("csrf", "guessed"), ("switch", "yes")]).await.status, 403);
    let out = tab.send("/sign-out", &[("csrf", &csrf), ("switch", "yes"), ("to", "https://evil.test")]).await;
    assert_eq!((out.status, out.header("location"), tab.cookie("playmaker")), (303, "/sign-in", None));
    let form = tab.get("/sign-in").await.text;
    assert!(form.contains("value=\"grace@acme.test\""), "the hint stands in the box: {form}");
    let entered = tab.signs_in("grace@acme.test", PASSWORD).await;
    assert_eq!((entered.status, entered.header("location")), (303, "/oauth/authorize"));
    let page = tab.get("/oauth/authorize").await;
    assert!(page.text.contains("grace@acme.test") && page.text.contains("You belong to no org yet"), "{}", page.text);
    assert_eq!(tab.cookie("playmaker-request"), Some(request), "the same request");
    let (request, token) = (hidden(&page, "request"), hidden(&page, "token"));
    let left = tab.send("/oauth/consent", &[("request", &request), ("token", &token), ("decision", "deny")]).await;
    assert_eq!(back(&left, "state"), "s1");
    // Without a request that waits, it is a sign-out as any other; and somebody may sign in as another from there too.
    let other = Tab::of(&server);
    other.signs_in("ada@acme.test", PASSWORD).await;
    assert_eq!(other.command("/", "/sign-out", &[("switch", "yes")]).await.header("location"), "/");
    other.signs_in("ada@acme.test", PASSWORD).await;
    let again = other.get("/sign-in").await.text;
    assert!(again.contains("Show that it is still you") && again.contains("href=\"/sign-in?other\""), "{again}");
    assert!(other.get("/sign-in?other").await.text.contains("name=\"email\" type=\"email\" value=\"\""));
}
