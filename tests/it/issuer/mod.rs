//! An issuer outside that nobody here wrote, `oidc-provider`, signs people in: with resource indicators (RFC 8707), and as
//! an issuer that puts one audience of its own into every token.

use playmaker::clock::{Clock, SystemClock};
use serde_json::json;
use thirtyfour::prelude::*;

use crate::support::app::{OWN_ORIGIN, TestApp};
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::database::Database;
use crate::support::services::{Service, issuer};
use crate::support::signing_in::{SignsIn, Visiting};

/// The server under test, at the real time: the issuer's tokens are of now.
async fn server(issuer: &Service, more: &[(&str, &str)]) -> TestApp {
    let address = issuer.origin();
    let settings = [&[("PUBLIC_URL", OWN_ORIGIN), ("IDENTITY_ISSUER", address.as_str())], more].concat();
    TestApp::on(Database::fresh().await, &settings, SystemClock.now_ms()).await
}

/// Signs in at the issuer's own pages under any name, and consents there.
async fn goes_there(browser: &Browser, visiting: &Visiting, name: &str) {
    let page = browser.driver();
    browser.visit(&visiting.address).await;
    if let Ok(field) = page.find(By::Css("input[name=login]")).await {
        field.send_keys(name).await.unwrap();
        page.find(By::Css("input[name=password]")).await.unwrap().send_keys("any").await.unwrap();
        page.find(By::Css("button[type=submit]")).await.unwrap().click().await.unwrap();
    }
    if let Ok(go_on) = page.find(By::Css("button[type=submit]")).await {
        go_on.click().await.unwrap();
    }
}

#[tokio::test]
async fn a_person_of_an_issuer_outside_acts_in_the_org_and_the_role_it_says() {
    for audiences in ["resources", "fixed"] {
        let issuer = issuer(audiences).await;
        let further = [("IDENTITY_AUDIENCES", "https://api.playmaker.test")];
        let server = server(&issuer, if audiences == "fixed" { &further } else { &[] }).await;
        let metadata = server.anyone().get("/.well-known/oauth-protected-resource/mcp").await.json();
        assert_eq!(metadata["authorization_servers"], json!([issuer.origin()]));
        for path in ["/oauth/authorize", "/.well-known/oauth-authorization-server", "/oauth/jwks"] {
            server.anyone().get(path).await.refused(404, "not_found");
        }
        for (client, name, makes) in [(SignsIn::TypescriptClient, "ada", true), (SignsIn::Python, "viewer", false)] {
            let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
            let visiting = client.begin(&format!("{}/mcp", server.origin())).await;
            assert!(visiting.address.starts_with(&issuer.origin()), "{}", visiting.address);
            goes_there(&browser, &visiting, name).await;
            let mut peer =
                visiting.signed_in().await.unwrap_or_else(|failure| panic!("{audiences} {name}: {failure:?}"));
            let told = peer.greeting()["instructions"].as_str().unwrap_or_default().to_owned();
            assert!(told.starts_with(&format!("This connection acts as Person {name} (person:user_")), "{told}");
            assert!(told.contains("in the org north."), "{told}");
            let tools = peer.tools().await.unwrap();
            assert_eq!(tools.iter().any(|tool| tool["name"] == "create_playbook"), makes, "{audiences} {name}");
            let listed = peer.call("list_playbooks", json!({})).await.unwrap();
            assert_eq!(listed["structuredContent"]["playbooks"], json!([]));
            peer.close().await.unwrap();
            browser.close().await;
        }
        let audit: Vec<String> = server.audit("north").await.into_iter().map(|row| row.kind).collect();
        assert_eq!(audit.iter().filter(|kind| *kind == "member_joined").count(), 2, "{audit:?}");
    }
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
