//! The pages in a real browser: a key made, rotated and revoked with the keyboard alone, and how they look.

use playmaker::identity::Role;
use playmaker::identity::keys::checksum_ok;
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use super::{key_on, sends, works};
use crate::support::app::{FULL, TestApp};
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::eventually;
use crate::support::visitor::Visitor;

/// Gives the browser somebody's session.
async fn enters(browser: &Browser, server: &TestApp, visitor: &Visitor) {
    browser.visit(&format!("{}/sign-in", server.origin())).await;
    let (name, value) = visitor.cookie.split_once('=').unwrap();
    browser.driver().add_cookie(Cookie::new(name, value)).await.unwrap();
}

async fn reads(browser: &Browser, words: &str) -> String {
    let found = eventually(words, async || {
        let text = browser.driver().find(By::Css("body")).await.ok()?.text().await.ok()?;
        text.contains(words).then_some(text)
    });
    found.await
}

async fn types(browser: &Browser, keys: impl Into<TypingData>) {
    browser.driver().action_chain().send_keys(keys).perform().await.unwrap();
}

/// Moves on with Tab until what has the focus is told by `words`: its own, its label's, or its name.
async fn tabs_to(browser: &Browser, words: &str) {
    let told = "const e = document.activeElement; \
        return [e.innerText, e.name, ...[...(e.labels ?? [])].map(l => l.innerText)].filter(Boolean).join(' | ')";
    for _ in 0..80 {
        types(browser, Key::Tab).await;
        let focused: String = browser.driver().execute(told, Vec::new()).await.unwrap().convert().unwrap();
        if focused.contains(words) {
            return;
        }
    }
    panic!("Tab never comes to {words}");
}

#[tokio::test]
async fn a_key_is_made_rotated_and_revoked_with_the_keyboard_alone() {
    let server = TestApp::signing_in().await;
    let ada = server.person("Ada Lovelace", "ada@acme.test", "acme", Role::Owner).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    enters(&browser, &server, &ada).await;
    browser.visit(&format!("{}/acme/keys", server.origin())).await;
    tabs_to(&browser, "Make a key").await;
    types(&browser, Key::Enter).await;
    reads(&browser, "Whose key is it?").await;
    tabs_to(&browser, "Name").await;
    types(&browser, "nightly").await;
    tabs_to(&browser, "The org’s").await;
    tabs_to(&browser, "look for tools").await;
    types(&browser, " ").await;
    tabs_to(&browser, "Most calls of tools").await;
    types(&browser, "500").await;
    types(&browser, Key::Enter).await;
    reads(&browser, "The key nightly").await;
    let first = key_on(&browser.driver().source().await.unwrap());
    assert!(checksum_ok(&first) && works(&server, &first).await);
    let focused = "return document.activeElement.innerText";
    let focused: String = browser.driver().execute(focused, Vec::new()).await.unwrap().convert().unwrap();
    assert_eq!(focused, "The key nightly", "a reader begins with what is new");
    tabs_to(&browser, "Copy").await;
    tabs_to(&browser, "Go to the keys").await;
    types(&browser, Key::Enter).await;
    reads(&browser, "0 of 500 this month").await;

    tabs_to(&browser, "Rotate").await;
    types(&browser, Key::Enter).await;
    reads(&browser, "for one more day").await;
    tabs_to(&browser, "Give it a new text").await;
    types(&browser, Key::Enter).await;
    reads(&browser, "Its text from before works until").await;
    let second = key_on(&browser.driver().source().await.unwrap());
    assert!(works(&server, &first).await && works(&server, &second).await && first != second);

    browser.visit(&format!("{}/acme/keys", server.origin())).await;
    tabs_to(&browser, "Revoke").await;
    types(&browser, Key::Enter).await;
    reads(&browser, "Revoke nightly?").await;
    tabs_to(&browser, "Revoke the key").await;
    types(&browser, Key::Enter).await;
    reads(&browser, "The key is revoked and no longer works.").await;
    assert!(!works(&server, &first).await && !works(&server, &second).await);

    browser.visit(&format!("{}/acme/audit", server.origin())).await;
    reads(&browser, "Ada Lovelace revoked the key nightly").await;
    tabs_to(&browser, "Details").await;
    types(&browser, Key::Enter).await;
    reads(&browser, "key_revoked").await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.close().await;
}

/// Looks at a page in each size and scheme; on a telephone it is not wider than that.
async fn pictures(browser: &Browser, name: &str) {
    for (screen, size) in [(Screen::Phone, "phone"), (Screen::Desktop, "desktop")] {
        browser.resize(screen).await;
        for (scheme, shade) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
            browser.prefer(scheme).await;
            browser.picture(&format!("keys-{name}-{size}-{shade}")).await;
        }
        let wide = "return document.documentElement.scrollWidth > innerWidth";
        let wide = browser.driver().execute(wide, Vec::new()).await.unwrap().json().clone();
        assert_eq!(wide, json!(false), "{name} fits a {size}");
    }
}

#[tokio::test]
async fn the_pages_are_seen_in_each_size_and_scheme() {
    let server = TestApp::signing_in_with(&[("API_KEYS", &json!([FULL.entry()]).to_string())]).await;
    let ada = server.person("Ada Lovelace", "ada@north.test", "north", Role::Owner).await;
    server.person("Ada Lovelace", "ada@north.test", "south", Role::Viewer).await;
    super::apps::two_applications(&server, &ada, "north", "south").await;
    for (name, whose) in [("nightly", "org"), ("weekly", "mine"), ("gone", "mine")] {
        let all = ["org:read", "org:write", "playbook:read", "playbook:write"].map(|one| ("permissions", one));
        let fields = [&[("name", name), ("whose", whose), ("playbooks", "support, billing")][..], &all].concat();
        assert_eq!(sends(&ada, "/north/keys/new", &fields).await.status, 200);
    }
    let keys = ada.get("/v1/orgs/north/keys").await.done(200);
    let id = |name: &str| {
        let key = keys["keys"].as_array().unwrap().iter().find(|key| key["name"] == name);
        key.map(|key: &Value| key["id"].as_str().unwrap().to_owned()).unwrap()
    };
    sends(&ada, &format!("/north/keys/{}/revoke", id("gone")), &[]).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    enters(&browser, &server, &ada).await;
    for (name, path) in [
        ("apps", "/settings/apps".to_owned()),
        ("own", "/settings/keys".to_owned()),
        ("accounts", "/settings/accounts".to_owned()),
        ("org", "/north/keys".to_owned()),
        ("new", "/north/keys/new".to_owned()),
        ("rotate", format!("/north/keys/{}/rotate", id("nightly"))),
        ("change", format!("/north/keys/{}/change", id("nightly"))),
        ("revoke", format!("/north/keys/{}/revoke", id("nightly"))),
        ("audit", "/north/audit".to_owned()),
    ] {
        browser.visit(&format!("{}{path}", server.origin())).await;
        if name == "audit" {
            browser.driver().find(By::Css("details:not(.menu) > summary")).await.unwrap().click().await.unwrap();
        }
        pictures(&browser, name).await;
    }
    browser.visit(&format!("{}/north/keys/new", server.origin())).await;
    browser.driver().find(By::Css("[name=name]")).await.unwrap().send_keys("Not A Name").await.unwrap();
    browser.driver().find(By::Css("main button.primary")).await.unwrap().click().await.unwrap();
    reads(&browser, "Use 1 to 32 small letters").await;
    pictures(&browser, "refused").await;
    browser.visit(&format!("{}/north/keys/{}/rotate", server.origin(), id("nightly"))).await;
    browser.driver().find(By::Css("main button.primary")).await.unwrap().click().await.unwrap();
    reads(&browser, "The key nightly").await;
    pictures(&browser, "once").await;
    browser.close().await;
}
