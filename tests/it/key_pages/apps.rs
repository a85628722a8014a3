//! `/settings/apps`: what a person let applications do, in every org of theirs.

use playmaker::identity::Role;
use playmaker::identity::oauth::authorize;
use playmaker::identity::oauth::consent::{Consenter, Decision};
use playmaker::identity::oauth::parameters::Parameters;
use serde_json::json;

use super::{opens, sends, words};
use crate::oauth::{BACK, VERIFIER, form, query};
use crate::support::app::TestApp;
use crate::support::people::Caller;
use crate::support::visitor::Visitor;

/// A client that registered itself under this name.
async fn registered(server: &TestApp, name: &str) -> String {
    let body = json!({ "redirect_uris": [BACK, "http://127.0.0.1/cb"], "client_name": name });
    let answer = server.anyone().post("/oauth/register", &body).await;
    answer.json()["client_id"].as_str().unwrap().to_owned()
}

/// Lets a client act for somebody in an org; its access token.
async fn allows(server: &TestApp, visitor: &Visitor, org: &str, client: &str) -> String {
    let oauth = server.app.oauth.as_ref().unwrap();
    let found = oauth.client(client).await.unwrap().unwrap();
    let query = query(client, &[]);
    let parameters = Parameters::of(query.as_bytes());
    let address = authorize::return_address(&parameters, &found).unwrap();
    let asked = authorize::read(&parameters, &found, address, &server.app.public_address()).unwrap();
    let decision = Decision { org: org.to_owned(), scopes: asked.scopes };
    let consenter = Consenter {
        person: visitor.id.clone(),
        name: "Ada".into(),
        session: "a session".into(),
        auth_time_ms: server.app.clock.now_ms(),
    };
    let waiting = oauth.create_request(asked).await.unwrap();
    let code = oauth.allow(&waiting, &found, &consenter, &decision).await.unwrap().unwrap();
    let fields = [
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", &code),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ];
    let tokens = form(&server.anyone(), "/oauth/token", &fields).await.done(200);
    tokens["access_token"].as_str().unwrap().to_owned()
}

/// Two applications that somebody let act for them, in an org each.
pub async fn two_applications(server: &TestApp, visitor: &Visitor, one: &str, other: &str) {
    for (org, name) in [(one, "Editor"), (other, "Weekly report of the north warehouse")] {
        allows(server, visitor, org, &registered(server, name).await).await;
    }
}

async fn let_in(server: &TestApp, token: &str) -> bool {
    Caller::new(server.url(""), Some(token)).ask("/mcp", "server/discover", json!({})).await.status == 200
}

#[tokio::test]
async fn each_application_is_told_with_what_it_may_do_and_withdrawn_by_a_button() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Owner).await;
    server.person("Ada", "ada@acme.test", "north", Role::Viewer).await;
    let bob = server.person("Bob", "bob@acme.test", "acme", Role::Member).await;
    assert!(words(&opens(&ada, "/settings/apps").await).contains("You have let no application act for you."));

    let (editor, other) = (registered(&server, "<b>Editor").await, registered(&server, "Other").await);
    let token = allows(&server, &ada, "acme", &editor).await;
    allows(&server, &ada, "north", &other).await;
    allows(&server, &bob, "acme", &registered(&server, "Bob’s own").await).await;
    assert!(let_in(&server, &token).await);

    let html = opens(&ada, "/settings/apps").await;
    let read = words(&html);
    for told in [
        "unverified name",
        "app.example",
        "In the org acme",
        "In the org north",
        "The org’s playbooks, connections and tools, for agents",
        "Create, change and retire playbooks; add and remove connections",
        "2026-10-01 09:30 UTC",
    ] {
        assert!(read.contains(told), "{told}: {read}");
    }
    assert!(!html.contains("<b>Editor") && !read.contains("Bob"), "{read}");

    let id = html.split("name=\"id\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let done = sends(&ada, "/settings/apps/withdraw", &[("org", "acme"), ("id", id)]).await;
    assert_eq!(done.status, 200, "{}", done.text);
    let read = words(&done.text);
    assert!(read.contains("can no longer act for you") && !read.contains("In the org acme"), "{read}");
    assert!(!let_in(&server, &token).await);
    let kinds: Vec<String> = server.audit("acme").await.into_iter().map(|row| row.kind).collect();
    assert_eq!(kinds.last().map(String::as_str), Some("grant_revoked"));
}

/// Security case 37: nobody withdraws what is another's, and no page elsewhere sends the form.
#[tokio::test]
async fn what_another_person_let_act_is_not_theirs_to_withdraw() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let bob = server.person("Bob", "bob@acme.test", "acme", Role::Member).await;
    let token = allows(&server, &ada, "acme", &registered(&server, "Editor").await).await;
    let grants = ada.get("/v1/orgs/acme/grants").await.done(200);
    let id = grants["grants"][0]["id"].as_str().unwrap();
    let fields = [("org", "acme"), ("id", id)];
    assert_eq!(sends(&bob, "/settings/apps/withdraw", &fields).await.status, 404);
    assert_eq!(form(&ada, "/settings/apps/withdraw", &fields).await.status, 403, "without the token of the page");
    let elsewhere = sends(&ada, "/settings/apps/withdraw", &[("org", "south"), ("id", id)]).await;
    assert_eq!(elsewhere.status, 404);
    assert!(let_in(&server, &token).await);
}

#[tokio::test]
async fn who_is_not_signed_in_signs_in_first() {
    let server = TestApp::signing_in().await;
    for path in ["/settings/apps", "/settings/keys", "/settings/accounts", "/settings/keys/acme/new"] {
        let answer = server.anyone().get(path).await;
        assert_eq!((answer.status, answer.header("location")), (303, "/sign-in"), "{path}");
    }
    let ada = server.person("Ada", "ada@acme.test", "acme", Role::Member).await;
    let read = words(&opens(&ada, "/settings/accounts").await);
    assert!(read.contains("You have connected no account of your own."), "{read}");
}
