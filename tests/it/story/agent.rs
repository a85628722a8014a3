//! An agent that uses one of the official clients as a model would: it calls tools and reads what they answer.

use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::peers::{Official, Peer, Target};

/// The playbook the stories happen in.
pub const PLAYBOOK: &str = "moorings";

/// An agent connected to `/mcp`.
pub struct Agent {
    client: Official,
    peer: Peer,
}

impl Agent {
    /// Connects.
    pub async fn connect(client: Official, app: &TestApp) -> Self {
        let peer = client.connect(&Target::at(app.url("/mcp"))).await.unwrap_or_else(|error| panic!("{error:?}"));
        Self { client, peer }
    }

    /// The same with the quickest client and a playbook to work in.
    pub async fn at_work(app: &TestApp) -> Self {
        let mut agent = Self::connect(Official::Rmcp, app).await;
        agent.done("create_playbook", json!({ "playbook": PLAYBOOK, "name": "Moorings" })).await;
        agent
    }

    /// The names of the tools on offer.
    pub async fn tools(&mut self) -> Vec<String> {
        let tools = self.peer.tools().await.unwrap_or_else(|error| panic!("{:?}: {error:?}", self.client));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The words and the output of a call that works.
    pub async fn told(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        (text(&result, 0), result["structuredContent"].clone())
    }

    /// The output of a call that works.
    pub async fn done(&mut self, tool: &str, arguments: Value) -> Value {
        self.told(tool, arguments).await.1
    }

    /// The words and the problem document of a call that is refused.
    pub async fn refused(&mut self, tool: &str, arguments: Value) -> (String, Value) {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let problem = serde_json::from_str(&text(&result, 1)).unwrap_or_else(|error| panic!("{error}: {result}"));
        (text(&result, 0), problem)
    }

    /// One live call of a tool in [`PLAYBOOK`].
    pub async fn execute(&mut self, server: &str, tool: &str, arguments: Value) -> Value {
        self.done("execute", execution(server, tool, arguments)).await
    }

    /// Why a live call is refused.
    pub async fn not_executed(&mut self, server: &str, tool: &str, arguments: Value) -> (String, Value) {
        self.refused("execute", execution(server, tool, arguments)).await
    }

    /// Adds a connection; its id and the link for the person.
    pub async fn add(&mut self, connection: Value) -> (String, String) {
        let added = self.done("add_connection", connection).await;
        assert_eq!(added["because"], "connection_pending", "{added}");
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{added}")).to_owned();
        (text(&added["id"]), text(&added["connect"]["url"]))
    }

    /// The events of [`PLAYBOOK`], oldest first.
    pub async fn history(&mut self) -> Vec<Value> {
        let page =
            self.done("list_playbook_events", json!({ "playbook": PLAYBOOK, "order": "asc", "limit": 100 })).await;
        page["events"].as_array().unwrap().clone()
    }

    /// Says goodbye.
    pub async fn close(self) {
        self.peer.close().await.unwrap();
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let called = self.peer.call(tool, arguments).await;
        called.unwrap_or_else(|error| panic!("{:?} calls {tool}: {error:?}", self.client))
    }
}

fn execution(server: &str, tool: &str, arguments: Value) -> Value {
    json!({ "playbook": PLAYBOOK, "server": server, "tool": tool, "arguments": arguments })
}

fn text(result: &Value, index: usize) -> String {
    result["content"][index]["text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}
