//! The pages in a real browser: with and without script, with a passkey, at a desk and on a telephone.

use playmaker::identity::Role;
use playmaker::identity::invitations::sending::Draft;
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use super::tab::PASSWORD;
use crate::support::app::TestApp;
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::eventually;
use crate::support::post::Post;

async fn fills(browser: &Browser, fields: &[(&str, &str)]) {
    for (name, value) in fields {
        let field = browser.driver().query(By::Name(*name)).first().await.unwrap();
        field.clear().await.unwrap();
        field.send_keys(*value).await.unwrap();
    }
}

async fn presses(browser: &Browser, selector: &str) {
    browser.driver().query(By::Css(selector)).first().await.expect("a button").click().await.unwrap();
}

async fn reads(browser: &Browser, words: &str) {
    let found = eventually(words, async || {
        let text = browser.driver().find(By::Css("body")).await.ok()?.text().await.ok()?;
        text.contains(words).then_some(text)
    });
    found.await;
}

async fn cdp(browser: &Browser, command: &str, parameters: Value) -> Value {
    browser.driver().cdp().send_raw(command, parameters).await.unwrap()
}

/// Ada makes the first account, without script.
async fn set_up(browser: &Browser, server: &TestApp) {
    let code = server.app.identity.set_up_code(true).await.unwrap().unwrap();
    browser.visit(&format!("{}/setup", server.origin())).await;
    let fields = [("name", "Ada Lovelace"), ("email", "ada@acme.test"), ("org", "acme"), ("org_name", "Acme")];
    fills(browser, &[("code", code.as_str()), ("password", PASSWORD)]).await;
    fills(browser, &fields).await;
    presses(browser, "main button.primary").await;
    reads(browser, "Your orgs").await;
}

#[tokio::test]
async fn everything_but_passkeys_works_without_script() {
    let server = TestApp::signing_in().await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    browser.without_script().await;
    set_up(&browser, &server).await;
    browser.visit(&format!("{}/settings/profile", server.origin())).await;
    fills(&browser, &[("name", "Ada King")]).await;
    presses(&browser, "main button.primary").await;
    reads(&browser, "Your name is changed.").await;
    for menu in browser.driver().find_all(By::Css(".menu summary")).await.unwrap().into_iter().skip(1) {
        menu.click().await.unwrap();
    }
    presses(&browser, ".menu button").await;
    reads(&browser, "Agents of yours send you here too").await;
    browser.visit(&format!("{}/settings/sessions", server.origin())).await;
    fills(&browser, &[("email", "ada@acme.test")]).await;
    presses(&browser, "main button.primary").await;
    fills(&browser, &[("password", PASSWORD)]).await;
    presses(&browser, "main button.primary").await;
    reads(&browser, "Where you are signed in").await;
    browser.close().await;
}

#[tokio::test]
async fn a_passkey_is_added_and_signs_in_alone() {
    let server = TestApp::signing_in().await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    set_up(&browser, &server).await;
    authenticator(&browser).await;
    browser.visit(&format!("{}/settings/security", server.origin())).await;
    presses(&browser, "[data-add-passkey]").await;
    reads(&browser, "not used yet").await;
    browser.picture("settings-security-desktop").await;
    browser.driver().delete_all_cookies().await.unwrap();
    browser.visit(&format!("{}/settings/security", server.origin())).await;
    presses(&browser, "[data-passkey]").await;
    reads(&browser, "last used").await;
    let kinds: Vec<String> = server.audit("").await.into_iter().map(|row| row.kind).collect();
    assert!(kinds.ends_with(&["passkey_added".to_owned(), "sign_in".to_owned()]), "{kinds:?}");
    assert_eq!(server.audit("").await.last().unwrap().data["method"], "passkey");
    presses(&browser, "form[action$=remove] button").await;
    reads(&browser, "None yet").await;
    assert!(browser.complaints().await.is_empty());
    browser.close().await;
}

async fn authenticator(browser: &Browser) {
    cdp(browser, "WebAuthn.enable", json!({})).await;
    let options = json!({
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
        "isUserVerified": true, "automaticPresenceSimulation": true,
    });
    cdp(browser, "WebAuthn.addVirtualAuthenticator", json!({ "options": options })).await;
}

/// Nobody needs a password: the first person and whoever is invited begin with a passkey.
#[tokio::test]
async fn an_account_begins_with_a_passkey() {
    let server = TestApp::signing_in_with(&[("SIGN_IN_METHODS", "passkey")]).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    authenticator(&browser).await;
    let code = server.app.identity.set_up_code(true).await.unwrap().unwrap();
    browser.visit(&format!("{}/setup", server.origin())).await;
    let fields = [("name", "Ada Lovelace"), ("email", "ada@acme.test"), ("org", "acme"), ("org_name", "Acme")];
    fills(&browser, &[("code", code.as_str())]).await;
    fills(&browser, &fields).await;
    browser.picture("setup-passkey-desktop").await;
    presses(&browser, "[data-first-passkey]").await;
    reads(&browser, "Your orgs").await;
    let row = server.audit("").await.pop().unwrap();
    assert_eq!((row.kind.as_str(), &row.data["method"]), ("sign_in", &json!("passkey")));
    browser.driver().delete_all_cookies().await.unwrap();
    browser.visit(&format!("{}/settings/security", server.origin())).await;
    presses(&browser, "[data-passkey]").await;
    reads(&browser, "This device").await;

    let draft =
        Draft { email: "grace@acme.test".into(), role: Role::Member, playbooks: playmaker::identity::Playbooks::All };
    let code = server.app.identity.invite_as_operator("acme", draft).await.unwrap().code;
    browser.driver().delete_all_cookies().await.unwrap();
    browser.visit(&format!("{}/sign-up#{}", server.origin(), code.expose())).await;
    // What the page would refuse is not asked of the authenticator.
    presses(&browser, "[data-first-passkey]").await;
    fills(&browser, &[("name", "Grace Hopper")]).await;
    presses(&browser, "[data-first-passkey]").await;
    reads(&browser, "Grace Hopper").await;
    let grace = server.app.identity.person_of_email("grace@acme.test").await.unwrap().unwrap();
    assert_eq!(server.app.identity.passkeys_of(&grace.id).await.unwrap().len(), 1);
    assert!(browser.complaints().await.is_empty());
    browser.close().await;
}

#[tokio::test]
async fn a_link_of_a_reset_fills_its_code_in_and_leaves_the_address_bar() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let ada = server.app.identity.person_of_email("ada@acme.test").await.unwrap().unwrap();
    let code = server.app.identity.reset_code(&ada).await.unwrap();
    let browser = Browser::open(Screen::Phone, Scheme::Dark).await;
    browser.visit(&format!("{}/reset#{code}", server.origin())).await;
    let address = browser.driver().current_url().await.unwrap();
    assert!(!address.as_str().contains(&code), "{address}");
    fills(&browser, &[("password", "seven herons over the weir")]).await;
    presses(&browser, "main button.primary").await;
    reads(&browser, "Your password is set").await;
    browser.close().await;
}

#[tokio::test]
async fn the_pages_are_seen_in_each_size_and_scheme() {
    let post = Post::open().await;
    let server = TestApp::signing_in_with(&post.settings(&[("SIGN_UP", "open")])).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    browser.visit(&format!("{}/setup", server.origin())).await;
    browser.picture("setup-desktop-light").await;
    browser.resize(Screen::Phone).await;
    browser.prefer(Scheme::Dark).await;
    browser.picture("setup-phone-dark").await;
    set_up(&browser, &server).await;
    for (name, path) in [
        ("home", "/"),
        ("profile", "/settings/profile"),
        ("sessions", "/settings/sessions"),
        ("again", "/sign-in"),
        ("reset", "/reset"),
        ("sign-up", "/sign-up"),
        ("email", "/settings/profile/email"),
    ] {
        browser.visit(&format!("{}{path}", server.origin())).await;
        if name == "home" {
            presses(&browser, ".menu summary").await;
        }
        for (screen, size) in [(Screen::Phone, "phone"), (Screen::Desktop, "desktop")] {
            browser.resize(screen).await;
            for (scheme, shade) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
                browser.prefer(scheme).await;
                browser.picture(&format!("signin-{name}-{size}-{shade}")).await;
            }
        }
        let wide = "return document.documentElement.scrollWidth > innerWidth";
        browser.resize(Screen::Phone).await;
        let wide = browser.driver().execute(wide, Vec::new()).await.unwrap().json().clone();
        assert_eq!(wide, json!(false), "{path} is not wider than a telephone");
    }
    browser.driver().delete_all_cookies().await.unwrap();
    browser.visit(&format!("{}/sign-in", server.origin())).await;
    fills(&browser, &[("email", "ada@acme.test")]).await;
    presses(&browser, "main button.primary").await;
    fills(&browser, &[("password", "not her password")]).await;
    presses(&browser, "main button.primary").await;
    reads(&browser, "The email or the password is not right.").await;
    browser.picture("signin-refused-phone").await;
    browser.close().await;
}
