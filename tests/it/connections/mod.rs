//! Connections: what an agent may ask for, what a person approves, and what is told of it (`connections.md`).

mod adding;
mod asking;
mod audit;
mod consent;
mod discovery;
mod guarded;
mod leaks;
mod links;
mod secrecy;

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::people::{Answer, Caller};
use crate::support::upstream::Upstream;

const CONNECTIONS: &str = "/v1/orgs/local/connections";

/// A server without a credential, by hand.
fn open(upstream: &Upstream) -> Value {
    json!({ "name": "desk", "type": "mcp", "entry": { "url": upstream.url() } })
}

/// A server whose bearer credential the person gives on the page.
fn secret(upstream: &Upstream) -> Value {
    let mut body = open(upstream);
    body["credential"] = json!({ "kind": "secret", "name": "Authorization", "in": "header", "scheme": "Bearer" });
    body
}

/// An approval page, opened in the person's browser.
struct Page {
    browser: Caller,
    link: String,
    connection: String,
}

impl Page {
    /// Adds a connection as an agent and opens the link of the answer.
    async fn of(server: &TestApp, body: &Value) -> Self {
        let added = server.anyone().post(CONNECTIONS, body).await.done(201);
        Self::opened(server, &added)
    }

    fn opened(server: &TestApp, added: &Value) -> Self {
        let url = added["connect"]["url"].as_str().unwrap();
        let link = url.strip_prefix(&format!("{}/connect/", server.origin())).unwrap().to_owned();
        let browser = server.anyone().with("origin", &server.origin()).with("sec-fetch-site", "same-origin");
        Self { browser, link, connection: added["id"].as_str().unwrap().to_owned() }
    }

    async fn read(&self) -> Answer {
        self.browser.get(&format!("/v1/links/{}", self.link)).await
    }

    async fn state(&self) -> String {
        self.read().await.done(200)["state"].as_str().unwrap().to_owned()
    }

    async fn csrf(&self) -> String {
        self.read().await.json()["csrf"].as_str().unwrap_or_default().to_owned()
    }

    async fn command(&self, command: &str, body: &Value) -> Answer {
        let csrf = self.csrf().await;
        let browser = self.browser.clone().with("x-playmaker-csrf", &csrf);
        browser.post(&format!("/v1/links/{}/{command}", self.link), body).await
    }

    async fn approve(&self) -> Answer {
        self.command("approve", &json!({})).await
    }

    async fn give(&self, value: &str) -> Answer {
        self.command("credential", &json!({ "value": value })).await
    }

    async fn cancel(&self) -> Answer {
        self.command("cancel", &json!({})).await
    }
}
