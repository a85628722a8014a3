//! Clients nobody here wrote sign a person in, with a real browser, and act in the right org with what was granted.

use std::collections::BTreeSet;

use playmaker::identity::Role;
use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::app::TestApp;
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::eventually;
use crate::support::keyboard::{chooses, enters, goes_to, goes_to_field, types};
use crate::support::signing_in::SignsIn;
use crate::support::visitor::{PASSWORD, Visitor};

/// Puts a session's cookie into a browser, as signing in there would.
pub async fn signs_in(browser: &Browser, server: &TestApp, visitor: &Visitor) {
    browser.visit(&format!("{}/health", server.origin())).await;
    let (name, value) = visitor.cookie.split_once('=').unwrap();
    let mut cookie = Cookie::new(name, value);
    cookie.set_path("/");
    browser.driver().add_cookie(cookie).await.unwrap();
}

/// The same by the keyboard alone.
async fn types_password_at_the_keyboard(browser: &Browser, email: &str) {
    for (label, value) in [("Email", email), ("Password", PASSWORD)] {
        eventually(label, async || {
            let field = By::Css(format!("input[name={}]:not([type=hidden])", label.to_lowercase()));
            browser.driver().find(field).await.ok()?.is_displayed().await.ok()?.then_some(())
        })
        .await;
        goes_to(browser, label).await;
        types(browser, value).await;
        enters(browser).await;
    }
    eventually("the question", async || browser.driver().find(By::Css("button[value=allow]")).await.ok()).await;
}

/// Signs in at our own page as a person does: the email first, then the password.
pub async fn types_password(browser: &Browser, email: &str) {
    let page = browser.driver();
    for (field, value) in [("email", email), ("password", PASSWORD)] {
        let found = eventually(field, async || {
            let found = page.find(By::Css(format!("input[name={field}]:not([type=hidden])"))).await.ok()?;
            found.is_displayed().await.ok()?.then_some(found)
        });
        found.await.send_keys(value).await.unwrap();
        page.find(By::Css("main button.primary")).await.unwrap().click().await.unwrap();
    }
    eventually("the consent page", async || page.find(By::Css("button[value=allow]")).await.ok()).await;
}

/// Leaves only the scopes that are wanted, and allows.
pub async fn allow(browser: &Browser, unwanted: &[&str]) {
    let page = browser.driver();
    for scope in unwanted {
        page.find(By::Css(format!("input[value='{scope}']"))).await.unwrap().click().await.unwrap();
    }
    page.find(By::Css("button[value=allow]")).await.unwrap().click().await.unwrap();
}

/// Each time nobody is signed in yet: the person types their password on our page, by the keyboard alone, chooses one of
/// their two orgs, and allows less than is asked.
#[tokio::test]
async fn every_official_client_signs_a_person_in() {
    let server = TestApp::signing_in().await;
    let ada = server.with_password("Ada Lovelace", "ada@acme.test", "acme", Role::Admin).await;
    server.person("Ada Lovelace", "ada@acme.test", "north", Role::Owner).await;
    let body = json!({ "playbook": "support", "name": "Support" });
    ada.post("/v1/orgs/acme/playbooks", &body).await.done(201);
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    for client in SignsIn::EVERY {
        browser.driver().cdp().send_raw("Network.clearBrowserCookies", json!({})).await.unwrap();
        let visiting = client.begin(&format!("{}/mcp", server.origin())).await;
        assert!(visiting.address.starts_with(&server.origin()), "{client:?}: {}", visiting.address);
        browser.visit(&visiting.address).await;
        types_password_at_the_keyboard(&browser, "ada@acme.test").await;
        chooses(&browser, "org", "acme").await;
        for right in ["org:write", "playbook:write"] {
            goes_to_field(&browser, &format!("input[value='{right}']")).await;
            types(&browser, " ").await;
        }
        goes_to(&browser, "Allow").await;
        enters(&browser).await;
        let mut peer = visiting.signed_in().await.unwrap_or_else(|failure| panic!("{client:?}: {failure:?}"));
        let told = peer.greeting()["instructions"].as_str().unwrap_or_default().to_owned();
        let acts_as = format!("This connection acts as Ada Lovelace (person:{}) in the org acme.", ada.id);
        assert!(told.starts_with(&acts_as), "{client:?}: {told}");
        let tools: BTreeSet<String> =
            peer.tools().await.unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        assert!(tools.contains("list_playbooks") && !tools.contains("create_playbook"), "{client:?}: {tools:?}");
        let listed = peer.call("list_playbooks", json!({})).await.unwrap();
        assert_eq!(listed["structuredContent"]["playbooks"][0]["id"], "support", "{client:?}: {listed}");
        let refused = peer.call("create_playbook", json!({ "playbook": "more", "name": "More" })).await.unwrap_err();
        assert!(refused.message.contains("Unknown tool"), "{client:?}: {refused:?}");
        peer.close().await.unwrap();
    }
    browser.close().await;
}

#[tokio::test]
async fn each_endpoint_is_signed_in_to_by_itself() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada Lovelace", "ada@acme.test", "acme", Role::Owner).await;
    server.person("Ada Lovelace", "ada@acme.test", "north", Role::Viewer).await;
    let body = json!({ "playbook": "support", "name": "Support" });
    ada.post("/v1/orgs/acme/playbooks", &body).await.done(201);
    let browser = Browser::open(Screen::Phone, Scheme::Dark).await;
    signs_in(&browser, &server, &ada).await;
    for path in ["/orgs/acme/mcp", "/orgs/acme/playbooks/support/mcp"] {
        let visiting = SignsIn::TypescriptClient.begin(&format!("{}{path}", server.origin())).await;
        browser.visit(&visiting.address).await;
        browser.picture("consent-phone-dark").await;
        // The org is the path's: nothing to choose.
        assert!(browser.driver().find_all(By::Css("input[type=radio]")).await.unwrap().is_empty());
        allow(&browser, &[]).await;
        let mut peer = visiting.signed_in().await.unwrap();
        assert!(!peer.tools().await.unwrap().is_empty(), "{path}");
        peer.close().await.unwrap();
    }
    let visiting = SignsIn::TypescriptClient.begin(&format!("{}/mcp", server.origin())).await;
    browser.resize(Screen::Desktop).await;
    browser.prefer(Scheme::Light).await;
    browser.visit(&visiting.address).await;
    browser.picture("consent-orgs-desktop-light").await;
    browser.driver().find(By::Css("input[value=north]")).await.unwrap().click().await.unwrap();
    allow(&browser, &[]).await;
    let mut peer = visiting.signed_in().await.unwrap();
    assert!(peer.greeting()["instructions"].as_str().unwrap().contains("in the org north."));
    let tools = peer.tools().await.unwrap();
    assert!(!tools.iter().any(|tool| tool["name"] == "create_playbook"), "a viewer of north makes none");
    peer.close().await.unwrap();
    browser.close().await;
}

/// Nobody is signed in yet: the client's address leads to our own page, and from there to the question and back.
#[tokio::test]
async fn a_person_signs_in_on_the_way() {
    let server = TestApp::signing_in().await;
    server.with_password("Ada Lovelace", "ada@acme.test", "acme", Role::Member).await;
    let browser = Browser::open(Screen::Phone, Scheme::Light).await;
    let visiting = SignsIn::Python.begin(&format!("{}/mcp", server.origin())).await;
    browser.visit(&visiting.address).await;
    let address = browser.driver().current_url().await.unwrap();
    assert_eq!((address.path(), address.query()), ("/sign-in", None), "nothing of the request stands in it");
    types_password(&browser, "ada@acme.test").await;
    allow(&browser, &["playbook:write"]).await;
    let mut peer = visiting.signed_in().await.unwrap_or_else(|failure| panic!("{failure:?}"));
    assert!(peer.greeting()["instructions"].as_str().unwrap().contains("Ada Lovelace"));
    let tools = peer.tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "create_playbook"), "{tools:?}");
    assert!(!tools.iter().any(|tool| tool["name"] == "execute"), "{tools:?}");
    peer.close().await.unwrap();
    browser.close().await;
}
