//! Every page there is, looked at by axe in a real browser: at the width of a telephone and of a laptop, light and dark.
//! A serious or critical fault fails the test.
//!
//! A new page is a line in [`OF_A_MEMBER`] or [`OF_ANYBODY`].

mod approval;

use playmaker::identity::Role;
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::oauth::official::signs_in;
use crate::support::app::{FULL, TestApp};
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::services::project;

/// Pages of somebody who signed in, an owner of the org `acme`.
const OF_A_MEMBER: &[&str] = &[
    "/",
    "/sign-in",
    "/settings/profile",
    "/settings/security",
    "/settings/sessions",
    "/settings/apps",
    "/settings/keys",
    "/settings/keys/acme/new",
    "/settings/accounts",
    "/acme/members",
    "/acme/keys",
    "/acme/keys/new",
    "/acme/audit",
    "/acme/settings",
    "/nowhere/members",
    "/orgs/new",
    "/invitations",
];
/// Pages of whoever has not.
const OF_ANYBODY: &[&str] = &[
    "/",
    "/docs",
    "/sign-in",
    "/sign-up",
    "/forgot",
    "/reset",
    "/invitations",
    "/settings/profile/email",
    "/oauth/authorize?client_id=nobody",
];

/// Looks at the page that is open, in every size and scheme; each fault as a line.
pub async fn faults(browser: &Browser, name: &str) -> Vec<String> {
    // A colour that is still changing is none of the page's; no change takes as long as a second.
    const RUN: &str = "const done = arguments[arguments.length - 1];\
        const moving = () => document.getAnimations().filter(one => one instanceof CSSTransition);\
        const until = Date.now() + 1000;\
        const look = () => moving().length > 0 && Date.now() < until ? setTimeout(look, 30) :\
            axe.run(document, { resultTypes: ['violations'] }).then(found => done(found.violations),\
                wrong => done([{ id: String(wrong), impact: 'critical', nodes: [] }]));\
        setTimeout(look, 60);";
    let driver = browser.driver();
    let axe = std::fs::read_to_string(project("infra/npm/node_modules/axe-core/axe.min.js"));
    driver.execute(axe.expect("run infra/test once, it installs axe"), Vec::new()).await.unwrap();
    let mut faults = Vec::new();
    for screen in [Screen::Phone, Screen::Desktop] {
        browser.resize(screen).await;
        for scheme in [Scheme::Light, Scheme::Dark] {
            browser.prefer(scheme).await;
            let found = driver.execute_async(RUN, Vec::new()).await;
            let found = found.unwrap_or_else(|error| panic!("{name}: {error}")).json().clone();
            for fault in found.as_array().unwrap() {
                if ["serious", "critical"].contains(&fault["impact"].as_str().unwrap_or_default()) {
                    let nodes: Vec<&Value> =
                        fault["nodes"].as_array().unwrap().iter().map(|node| &node["html"]).collect();
                    faults.push(format!("{name}, {screen:?}, {scheme:?}: {} at {}", fault["id"], json!(nodes)));
                }
            }
        }
    }
    faults
}

/// The same of an address.
pub async fn faults_at(browser: &Browser, address: &str) -> Vec<String> {
    browser.visit(address).await;
    faults(browser, address).await
}

#[tokio::test]
async fn pages_of_people() {
    let server = TestApp::signing_in().await;
    let browser = Browser::open(Screen::Phone, Scheme::Light).await;
    let mut found = Vec::new();
    for path in ["/", "/setup"] {
        found.extend(faults_at(&browser, &format!("{}{path}", server.origin())).await);
    }
    let ada = server.with_password("Ada Lovelace", "ada@acme.test", "acme", Role::Owner).await;
    server.person("Ada Lovelace", "ada@acme.test", "north", Role::Viewer).await;
    for path in OF_ANYBODY {
        found.extend(faults_at(&browser, &format!("{}{path}", server.origin())).await);
    }
    // The second step of signing in, and its refusal.
    browser.visit(&format!("{}/sign-in", server.origin())).await;
    let page = browser.driver();
    for (field, value, step) in [("email", "ada@acme.test", "the password"), ("password", "not hers", "refused")] {
        page.find(By::Css(format!("input[name={field}]:not([type=hidden])")))
            .await
            .unwrap()
            .send_keys(value)
            .await
            .unwrap();
        page.find(By::Css("main button.primary")).await.unwrap().click().await.unwrap();
        found.extend(faults(&browser, step).await);
    }
    signs_in(&browser, &server, &ada).await;
    for path in OF_A_MEMBER {
        found.extend(faults_at(&browser, &format!("{}{path}", server.origin())).await);
    }
    let consent = asks(&server, "").await;
    found.extend(faults_at(&browser, &consent).await);
    let of_a_stranger = asks(&server, "/orgs/south").await;
    found.extend(faults_at(&browser, &of_a_stranger).await);
    browser.close().await;
    assert!(found.is_empty(), "{found:#?}");
}

/// Where a client sends its person, for the MCP endpoint under `place`.
async fn asks(server: &TestApp, place: &str) -> String {
    let body = json!({ "client_name": "Editor", "redirect_uris": ["http://127.0.0.1/cb"] });
    let client = server.anyone().post("/oauth/register", &body).await.json();
    let resource = format!("{}{place}/mcp", server.origin());
    let asked = [("redirect_uri", "http://127.0.0.1:4000/cb"), ("resource", &resource)];
    format!(
        "{}/oauth/authorize?{}",
        server.origin(),
        crate::oauth::query(client["client_id"].as_str().unwrap(), &asked)
    )
}

#[tokio::test]
async fn first_pages_where_nobody_signs_in() {
    let browser = Browser::open(Screen::Phone, Scheme::Light).await;
    let mut found = Vec::new();
    for server in [TestApp::local().await, TestApp::with_keys(&[FULL]).await, TestApp::closed().await] {
        found.extend(faults_at(&browser, &server.url("/")).await);
    }
    browser.close().await;
    assert!(found.is_empty(), "{found:#?}");
}
