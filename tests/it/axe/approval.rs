//! The page a link opens, in each of its states.

use serde_json::json;

use super::faults_at;
use crate::support::app::TestApp;
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::services::free_port;
use crate::support::upstream::Upstream;

#[tokio::test]
async fn the_page_of_a_link_in_each_state() {
    let server = TestApp::local().await;
    let (open, behind) = (Upstream::open().await, Upstream::behind("the-key").await);
    let nobody = format!("http://127.0.0.1:{}/mcp", free_port());
    let credential = json!({ "kind": "secret", "name": "Authorization", "in": "header", "scheme": "Bearer" });
    let browser = Browser::open(Screen::Phone, Scheme::Light).await;
    let mut found = Vec::new();
    for (name, url, credential, command) in [
        ("ready", open.url(), None, None),
        ("secret", behind.url(), Some(&credential), None),
        ("refused", behind.url(), Some(&credential), Some("credential")),
        ("unreachable", nobody, None, Some("approve")),
        ("connected", open.url(), None, Some("approve")),
        ("cancelled", open.url(), None, Some("cancel")),
    ] {
        let mut body = json!({ "name": name, "type": "mcp", "entry": { "url": url } });
        if let Some(credential) = credential {
            body["credential"] = credential.clone();
        }
        let added = server.anyone().post("/v1/orgs/local/connections", &body).await.done(201);
        let address = added["connect"]["url"].as_str().unwrap().to_owned();
        let link = address.rsplit('/').next().unwrap();
        if let Some(command) = command {
            let read = server.anyone().get(&format!("/v1/links/{link}")).await.json();
            let page = server.anyone().with("origin", &server.origin());
            let page = page.with("x-playmaker-csrf", read["csrf"].as_str().unwrap());
            let body = if command == "credential" { json!({ "value": "another-key" }) } else { json!({}) };
            page.post(&format!("/v1/links/{link}/{command}"), &body).await;
        }
        found.extend(faults_at(&browser, &address).await);
        if name == "cancelled" {
            server.clock.advance_ms(11 * 60_000);
            found.extend(faults_at(&browser, &address).await);
        }
    }
    let unknown = format!("{}/connect/link_{}", server.origin(), "0".repeat(32));
    found.extend(faults_at(&browser, &unknown).await);
    found.extend(faults_at(&browser, &format!("{}/", server.origin())).await);
    browser.close().await;
    assert!(found.is_empty(), "{found:#?}");
}
