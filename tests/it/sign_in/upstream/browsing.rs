//! The whole trip in a real browser, through `oidc-provider`: for a provider beside this server's own sign-in, and for the
//! issuer in its place. Then what needs a person: a link is approved, a client is let in.

use playmaker::clock::{Clock, SystemClock};
use playmaker::identity::Role;
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::support::app::{OWN_ORIGIN, TestApp};
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::database::Database;
use crate::support::eventually;
use crate::support::services::{Service, issuer};
use crate::support::signing_in::SignsIn;
use crate::support::upstream::Upstream;

const SECRET: &str = "a-secret-of-studio";

/// A server at the real time, since the issuer's tokens are of now; people may connect `desk`.
async fn server(settings: &[(&str, &str)], desk: &Upstream) -> TestApp {
    let origin = desk.url().rsplit_once('/').unwrap().0.to_owned();
    let common = [("PUBLIC_URL", OWN_ORIGIN), ("CONNECTIONS_PRIVATE_HOSTS", origin.as_str())];
    TestApp::on(Database::fresh().await, &[&common, settings].concat(), SystemClock.now_ms()).await
}

async fn reads(browser: &Browser, words: &str) {
    eventually(words, async || {
        let text = browser.driver().find(By::Css("body")).await.ok()?.text().await.ok()?;
        text.contains(words).then_some(())
    })
    .await;
}

/// Leaves our page for the issuer, signs in there under any name and consents, until back.
async fn goes_there(browser: &Browser, issuer: &Service, name: &str) {
    let page = browser.driver();
    page.find(By::Css(".providers a")).await.expect("a way to the provider").click().await.unwrap();
    let (origin, mut was_there) = (issuer.origin(), false);
    eventually("the way back from the issuer", async || {
        let here = page.current_url().await.ok()?;
        if !here.as_str().starts_with(&origin) {
            return (was_there || !here.path().starts_with("/sign-in")).then_some(());
        }
        was_there = true;
        if let Ok(field) = page.find(By::Css("input[name=login]")).await {
            field.clear().await.ok()?;
            field.send_keys(name).await.ok()?;
            page.find(By::Css("input[name=password]")).await.ok()?.send_keys("any").await.ok()?;
        }
        page.find(By::Css("button[type=submit]")).await.ok()?.click().await.ok()?;
        None
    })
    .await;
}

/// Somebody of this email adds a connection; where its link leads.
async fn adds_a_connection(server: &TestApp, email: &str, desk: &Upstream) -> String {
    let person = server.app.identity.person_of_email(email).await.unwrap().unwrap();
    let visitor = server.signs_in(&person).await;
    let body = json!({ "name": "desk", "type": "mcp", "entry": { "url": desk.url() } });
    let added = visitor.post("/v1/orgs/north/connections", &body).await.done(201);
    added["connect"]["url"].as_str().unwrap().to_owned()
}

/// Opens a link without a session, signs in on the way, and approves.
async fn approves(browser: &Browser, server: &TestApp, issuer: &Service, link: &str) {
    browser.visit(&format!("{}/health", server.origin())).await;
    browser.driver().delete_cookie("playmaker").await.unwrap();
    browser.visit(link).await;
    goes_there(browser, issuer, "ada").await;
    reads(browser, "Approve").await;
    let address = browser.driver().current_url().await.unwrap();
    assert_eq!(address.as_str(), link, "code and state are gone from the address bar");
    browser.driver().find(By::Css("button.primary")).await.unwrap().click().await.unwrap();
    reads(browser, "connected").await;
}

async fn picture_of_each(browser: &Browser, name: &str) {
    for (screen, size) in [(Screen::Phone, "phone"), (Screen::Desktop, "desktop")] {
        browser.resize(screen).await;
        for (scheme, shade) in [(Scheme::Light, "light"), (Scheme::Dark, "dark")] {
            browser.prefer(scheme).await;
            browser.picture(&format!("upstream-{name}-{size}-{shade}")).await;
        }
    }
    browser.resize(Screen::Phone).await;
    let wide = "return document.documentElement.scrollWidth > innerWidth";
    assert_eq!(browser.driver().execute(wide, Vec::new()).await.unwrap().json(), &json!(false), "{name}");
    browser.resize(Screen::Desktop).await;
    browser.prefer(Scheme::Light).await;
}

#[tokio::test]
async fn a_provider_beside_our_own_sign_in() {
    let (issuer, desk) = (issuer("resources").await, Upstream::open().await);
    let entry = json!([{
        "name": "acme", "title": "Acme", "issuer": issuer.origin(), "client_id": "studio-acme",
        "client_secret": "${ACME_SECRET}", "allowed_domains": ["north.test"], "org": "north",
    }]);
    let entry = entry.to_string();
    let server = server(&[("SIGN_IN_PROVIDERS", &entry), ("ACME_SECRET", SECRET)], &desk).await;
    server.person("Owner", "owner@acme.test", "north", Role::Owner).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    browser.visit(&format!("{}/sign-in", server.origin())).await;
    picture_of_each(&browser, "sign-in").await;
    goes_there(&browser, &issuer, "ada").await;
    reads(&browser, "You are signed in as Person ada").await;
    let row = server.audit("").await.pop().unwrap();
    assert_eq!((row.kind.as_str(), &row.data["provider"]), ("sign_in", &json!("acme")));
    // A fresh proof is asked for there, although the issuer still knows them.
    browser.visit(&format!("{}/sign-in", server.origin())).await;
    reads(&browser, "Show that it is still you").await;
    goes_there(&browser, &issuer, "ada").await;
    reads(&browser, "You are signed in as Person ada").await;

    let link = adds_a_connection(&server, "ada@north.test", &desk).await;
    approves(&browser, &server, &issuer, &link).await;

    browser.driver().delete_cookie("playmaker").await.unwrap();
    let visiting = SignsIn::TypescriptClient.begin(&format!("{}/mcp", server.origin())).await;
    browser.visit(&visiting.address).await;
    goes_there(&browser, &issuer, "ada").await;
    reads(&browser, "Person ada").await;
    browser.driver().find(By::Css("button[value=allow]")).await.unwrap().click().await.unwrap();
    let peer = visiting.signed_in().await.unwrap_or_else(|failure| panic!("{failure:?}"));
    let told = peer.greeting()["instructions"].as_str().unwrap_or_default().to_owned();
    assert!(told.starts_with("This connection acts as Person ada (person:user_") && told.contains("in the org north."));
    peer.close().await.unwrap();
    signs_out_there(&browser, &server, &issuer).await;
    browser.close().await;
}

/// Signs out here, and then there.
async fn signs_out_there(browser: &Browser, server: &TestApp, issuer: &Service) {
    browser.visit(&format!("{}/settings/profile", server.origin())).await;
    let menus = browser.driver().find_all(By::Css(".menu summary")).await.unwrap();
    menus.last().unwrap().click().await.unwrap();
    browser.driver().find(By::Css(".menu button")).await.unwrap().click().await.unwrap();
    reads(browser, "You are signed out").await;
    picture_of_each(browser, "signed-out").await;
    browser.driver().find(By::Css(".ways a")).await.unwrap().click().await.unwrap();
    eventually("the issuer's page for signing out", async || {
        browser.driver().current_url().await.ok()?.as_str().starts_with(&issuer.origin()).then_some(())
    })
    .await;
    reads(browser, "sign-out").await;
}

#[tokio::test]
async fn the_issuer_in_the_place_of_our_own_sign_in() {
    let (issuer, desk) = (issuer("resources").await, Upstream::open().await);
    let origin = issuer.origin();
    let settings = [
        ("IDENTITY_ISSUER", origin.as_str()),
        ("IDENTITY_CLIENT_ID", "studio-issuer"),
        ("IDENTITY_CLIENT_SECRET", SECRET),
    ];
    let server = server(&settings, &desk).await;
    let browser = Browser::open(Screen::Phone, Scheme::Dark).await;
    browser.without_script().await;
    browser.visit(&format!("{}/sign-in", server.origin())).await;
    picture_of_each(&browser, "issuer").await;
    goes_there(&browser, &issuer, "ada").await;
    reads(&browser, "You are signed in as Person ada").await;
    let kinds: Vec<String> = server.audit("").await.into_iter().map(|row| row.kind).collect();
    assert_eq!(kinds, ["identity_linked", "sign_in"]);
    let joined: Value = server.audit("north").await.pop().unwrap().data;
    assert_eq!(joined["role"], "admin");
    let link = adds_a_connection(&server, "ada@north.test", &desk).await;
    approves(&browser, &server, &issuer, &link).await;
    let own: Vec<String> =
        browser.complaints().await.into_iter().filter(|line| line.starts_with(&server.origin())).collect();
    assert!(own.is_empty(), "{own:?}");
    browser.visit(&format!("{}/oauth/consent", server.origin())).await;
    reads(&browser, "There is nothing").await;
    browser.close().await;
}
