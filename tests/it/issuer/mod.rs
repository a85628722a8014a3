//! An issuer outside that nobody here wrote, `oidc-provider`, signs people in: with resource indicators (RFC 8707), and as
//! an issuer that puts one audience of its own into every token.

use playmaker::clock::{Clock, SystemClock};
use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::app::{OWN_ORIGIN, TestApp};
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::database::Database;
use crate::support::eventually;
use crate::support::services::{Service, issuer};
use crate::support::signing_in::{SignsIn, Visiting};

/// The server under test, at the real time: the issuer's tokens are of now.
async fn server(issuer: &Service, more: &[(&str, &str)]) -> TestApp {
    let address = issuer.origin();
    let settings = [&[("PUBLIC_URL", OWN_ORIGIN), ("IDENTITY_ISSUER", address.as_str())], more].concat();
    TestApp::on(Database::fresh().await, &settings, SystemClock.now_ms()).await
}

/// Signs in at the issuer's own pages under any name, and consents there, until the client has its answer.
async fn goes_there(browser: &Browser, visiting: &Visiting, name: &str) {
    let page = browser.driver();
    browser.visit(&visiting.address).await;
    let issuer = visiting.address.split("/auth?").next().unwrap();
    // Between two looks the page may be another: what fails then is tried again there.
    eventually("the way back from the issuer", async || {
        if !page.current_url().await.ok()?.as_str().starts_with(issuer) {
            return Some(());
        }
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

#[tokio::test]
async fn a_person_of_an_issuer_outside_acts_in_the_org_and_the_role_it_says() {
    everybody_signs_in("resources").await;
}

/// The issuer puts one audience into every token, whatever a client asks for.
#[tokio::test]
async fn so_does_one_of_an_issuer_without_resource_indicators() {
    everybody_signs_in("fixed").await;
}

/// Each client with a person of its own, half of them viewers.
async fn everybody_signs_in(audiences: &str) {
    let issuer = issuer(audiences).await;
    let further = [("IDENTITY_AUDIENCES", "https://api.playmaker.test")];
    let server = server(&issuer, if audiences == "fixed" { &further } else { &[] }).await;
    let metadata = server.anyone().get("/.well-known/oauth-protected-resource/mcp").await.json();
    assert_eq!(metadata["authorization_servers"], json!([issuer.origin()]));
    for path in ["/oauth/authorize", "/.well-known/oauth-authorization-server", "/oauth/jwks"] {
        server.anyone().get(path).await.refused(404, "not_found");
    }
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    for (number, client) in SignsIn::EVERY.into_iter().enumerate() {
        let (name, makes) = if number % 2 == 0 { ("ada", true) } else { ("viewer", false) };
        // Nobody is signed in at the issuer.
        browser.driver().cdp().send_raw("Network.clearBrowserCookies", json!({})).await.unwrap();
        let visiting = client.begin(&format!("{}/mcp", server.origin())).await;
        assert!(visiting.address.starts_with(&issuer.origin()), "{}", visiting.address);
        goes_there(&browser, &visiting, name).await;
        let mut peer =
            visiting.signed_in().await.unwrap_or_else(|failure| panic!("{audiences} {client:?} {name}: {failure:?}"));
        let told = peer.greeting()["instructions"].as_str().unwrap_or_default().to_owned();
        assert!(told.starts_with(&format!("This connection acts as Person {name} (person:user_")), "{told}");
        assert!(told.contains("in the org north."), "{told}");
        let tools = peer.tools().await.unwrap();
        assert_eq!(tools.iter().any(|tool| tool["name"] == "create_playbook"), makes, "{audiences} {client:?} {name}");
        let listed = peer.call("list_playbooks", json!({})).await.unwrap();
        assert_eq!(listed["structuredContent"]["playbooks"], json!([]));
        peer.close().await.unwrap();
    }
    browser.close().await;
    let audit: Vec<String> = server.audit("north").await.into_iter().map(|row| row.kind).collect();
    assert_eq!(audit.iter().filter(|kind| *kind == "member_joined").count(), 2, "{audit:?}");
}

/// Security cases 2 to 4, for an issuer outside: a token of it for somebody else is none of ours.
#[tokio::test]
async fn a_fixed_audience_counts_only_where_the_operator_lists_it() {
    let issuer = issuer("fixed").await;
    let server = server(&issuer, &[]).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    let visiting = SignsIn::TypescriptClient.begin(&format!("{}/mcp", server.origin())).await;
    goes_there(&browser, &visiting, "ada").await;
    assert!(visiting.signed_in().await.is_err());
    assert!(server.audit("north").await.is_empty(), "nothing is done for a token that reaches nothing");
    browser.close().await;
}
