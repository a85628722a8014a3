//! The pages of an org in a real browser: by the keyboard alone, without script, at a desk and on a telephone.

use std::collections::HashSet;

use playmaker::identity::Role;
use serde_json::json;
use thirtyfour::prelude::*;

use super::joins;
use crate::sign_in::tab::PASSWORD;
use crate::support::app::TestApp;
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::eventually;
use crate::support::keyboard::{enters, goes_to, types};

async fn reads(browser: &Browser, words: &str) {
    let found = eventually(words, async || {
        let text = browser.driver().find(By::Css("body")).await.ok()?.text().await.ok()?;
        text.contains(words).then_some(text)
    });
    found.await;
}

async fn signs_in(browser: &Browser, server: &TestApp, email: &str) {
    browser.visit(&format!("{}/sign-in", server.origin())).await;
    types(browser, email).await;
    enters(browser).await;
    reads(browser, "Keep me signed in").await;
    types(browser, PASSWORD).await;
    enters(browser).await;
    reads(browser, "Your orgs").await;
}

/// A person's own settings: the name, the password, an application, the way out.
#[tokio::test]
async fn settings_are_changed_by_the_keyboard_alone() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let browser = Browser::open(Screen::Phone, Scheme::Light).await;
    signs_in(&browser, &server, "ada@acme.test").await;
    browser.visit(&format!("{}/settings/profile", server.origin())).await;
    goes_to(&browser, "Your name").await;
    types(&browser, Key::Control + "a").await;
    types(&browser, "Ada King").await;
    enters(&browser).await;
    reads(&browser, "Ada King").await;
    for (page, words) in
        [("Security", "Password"), ("Sessions", "This browser"), ("Connected apps", "apps"), ("Keys", "key")]
    {
        goes_to(&browser, page).await;
        enters(&browser).await;
        reads(&browser, words).await;
    }
    goes_to(&browser, "Ada King").await;
    enters(&browser).await;
    goes_to(&browser, "Sign out").await;
    enters(&browser).await;
    reads(&browser, "Sign in").await;
    browser.close().await;
}

#[tokio::test]
async fn an_org_is_managed_and_joined_by_the_keyboard_alone() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    joins(&server, "Bob", Role::Member).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    signs_in(&browser, &server, "ada@acme.test").await;
    goes_to(&browser, "Members of Acme").await;
    enters(&browser).await;
    reads(&browser, "Invite somebody").await;
    goes_to(&browser, "Email").await;
    types(&browser, "grace@acme.test").await;
    goes_to(&browser, "Role").await;
    types(&browser, "V").await;
    goes_to(&browser, "Invite").await;
    enters(&browser).await;
    reads(&browser, "grace@acme.test is invited").await;
    browser.picture("org-invited-desktop-light").await;
    let link = browser.driver().find(By::Id("once")).await.unwrap().text().await.unwrap();
    goes_to(&browser, "Change Bob").await;
    enters(&browser).await;
    reads(&browser, "What they may do").await;
    goes_to(&browser, "Role").await;
    types(&browser, "A").await;
    goes_to(&browser, "Save").await;
    enters(&browser).await;
    reads(&browser, "Bob has the role admin now.").await;
    goes_to(&browser, "Remove").await;
    enters(&browser).await;
    reads(&browser, "Remove Bob?").await;
    browser.picture("org-remove-desktop-light").await;
    goes_to(&browser, "Remove").await;
    enters(&browser).await;
    reads(&browser, "Invite somebody").await;
    let text = browser.driver().find(By::Css("table")).await.unwrap().text().await.unwrap();
    assert!(!text.contains("Bob"), "{text}");

    browser.driver().delete_all_cookies().await.unwrap();
    browser.visit(&link).await;
    reads(&browser, "You are invited to Acme").await;
    let address = browser.driver().current_url().await.unwrap();
    assert!(address.fragment().is_none() && address.query().is_none(), "{address}");
    browser.picture("invitation-stranger-desktop-light").await;
    goes_to(&browser, "Make an account").await;
    enters(&browser).await;
    reads(&browser, "Your name").await;
    goes_to(&browser, "Your name").await;
    types(&browser, "Grace").await;
    goes_to(&browser, "Password").await;
    types(&browser, PASSWORD).await;
    enters(&browser).await;
    reads(&browser, "viewer").await;
    goes_to(&browser, "Settings of Acme").await;
    assert!(browser.complaints().await.is_empty());
    browser.close().await;
}

#[tokio::test]
async fn every_page_of_an_org_fits_and_names_each_thing_once() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (bob, _) = joins(&server, "Bartholomew Featherstonehaugh", Role::Member).await;
    joins(&server, "Carol", Role::Viewer).await;
    super::sends(&ada, "/acme/members/invite", &[("email", "grace@acme.test"), ("role", "viewer")]).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    signs_in(&browser, &server, "ada@acme.test").await;
    let member = format!("/acme/members/{}", bob.id);
    let remove = format!("{member}/remove");
    let pages = [
        ("home", "/"),
        ("members", "/acme/members"),
        ("nobody", "/acme/members?q=zzz"),
        ("member", member.as_str()),
        ("remove", remove.as_str()),
        ("settings", "/acme/settings"),
        ("leave", "/acme/settings/leave"),
        ("delete", "/acme/settings/delete"),
        ("new", "/orgs/new"),
        ("nowhere", "/nowhere/members"),
        ("invitations", "/invitations"),
    ];
    for (name, path) in pages {
        browser.visit(&format!("{}{path}", server.origin())).await;
        for (screen, size) in [(Screen::Phone, "phone"), (Screen::Desktop, "desktop")] {
            browser.resize(screen).await;
            for (scheme, shade) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
                browser.prefer(scheme).await;
                browser.picture(&format!("org-{name}-{size}-{shade}")).await;
            }
        }
        browser.resize(Screen::Phone).await;
        let script = "return [document.documentElement.scrollWidth <= innerWidth, \
            [...document.querySelectorAll('[id]')].map((one) => one.id), \
            [...document.querySelectorAll('input:not([type=hidden]), select')].filter((one) => !one.labels.length).length, \
            document.querySelectorAll('h1').length]";
        let seen = browser.driver().execute(script, Vec::new()).await.unwrap().json().clone();
        assert_eq!(seen[0], json!(true), "{path} is not wider than a telephone");
        let ids: Vec<&str> = seen[1].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!(ids.len(), ids.iter().collect::<HashSet<_>>().len(), "{path}: {ids:?}");
        assert_eq!(
            (&seen[2], &seen[3]),
            (&json!(0), &json!(1)),
            "{path}: each field has its label, the page a heading"
        );
    }
    server.app.identity.delete_org_as_operator("acme").await.unwrap();
    browser.visit(&format!("{}/acme/settings", server.origin())).await;
    browser.picture("org-deleting-phone-dark").await;
    browser.close().await;
}

#[tokio::test]
async fn an_invitation_is_taken_without_script() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    super::sends(&ada, "/acme/settings/leave", &[]).await;
    let eve = server.person("Eve", "eve@acme.test", "other", Role::Member).await;
    let made = super::sends(&ada, "/acme/members/invite", &[("email", "eve@acme.test"), ("role", "member")]).await.text;
    let code = made.split_once("/invitations#").unwrap().1.split('<').next().unwrap().to_owned();
    let browser = Browser::open(Screen::Phone, Scheme::Dark).await;
    browser.without_script().await;
    browser.visit(&format!("{}/invitations", server.origin())).await;
    let (name, value) = eve.cookie.split_once('=').unwrap();
    let cookie = json!({ "name": name, "value": value, "url": server.origin() });
    browser.driver().cdp().send_raw("Network.setCookie", cookie).await.unwrap();
    types(&browser, code.as_str()).await;
    enters(&browser).await;
    reads(&browser, "You are signed in as eve@acme.test").await;
    browser.picture("invitation-own-phone-dark").await;
    browser.driver().find(By::Css("main button.primary")).await.unwrap().click().await.unwrap();
    reads(&browser, "acme, member").await;
    browser.close().await;
}
