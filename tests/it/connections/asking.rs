//! A client that can open pages is asked to, and calls again once its person was there (`connections.md` 3.6).

use playmaker::connections::RequestState;
use playmaker::identity::Role;
use playmaker::identity::oauth::consent::Consenter;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CONNECTIONS, Page, open, secret};
use crate::oauth::{P, Scene, join, person, text};
use crate::support::app::{BEGINNING_MS, FIRST_KEY, SECOND_KEY, TestApp};
use crate::support::people::Caller;
use crate::support::upstream::Upstream;

const KEY: &str = "the-key-of-the-desk";

/// A client that opens pages, and its call of `add_connection`.
struct Client {
    caller: Caller,
    arguments: Value,
    endpoint: &'static str,
}

impl Client {
    fn of(caller: Caller, arguments: Value) -> Self {
        Self { caller, arguments, endpoint: "/mcp" }
    }

    async fn sends(&self, params: Value) -> Result<Value, Value> {
        let capabilities = json!({ "elicitation": { "url": {} } });
        let mut message = self.caller.ask_as(self.endpoint, "tools/call", params, capabilities).await.message();
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].take()),
        }
    }

    async fn adds(&self) -> Value {
        self.sends(json!({ "name": "add_connection", "arguments": self.arguments })).await.unwrap()
    }

    /// The same call with what it was given and what its person said.
    async fn again(&self, state: &Value, responses: Option<Value>) -> Result<Value, Value> {
        let mut params = json!({ "name": "add_connection", "arguments": self.arguments, "requestState": state });
        if let Some(responses) = responses {
            params["inputResponses"] = responses;
        }
        self.sends(params).await
    }

    async fn accepted(&self, state: &Value) -> Value {
        self.again(state, Some(json!({ "approve": { "action": "accept" } }))).await.unwrap()
    }
}

fn words(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn the_question_rides_along_with_the_whole_answer() {
    let (server, upstream) = (TestApp::local().await, Upstream::behind(KEY).await);
    let client = Client::of(server.anyone(), secret(&upstream));
    let result = client.adds().await;
    let url = result["structuredContent"]["connect"]["url"].as_str().unwrap();
    assert_eq!(result["resultType"], "input_required");
    let message = "Open the page to approve the desk connection for the org local. Sign in as ada. The page works for ten minutes.";
    assert_eq!(
        result["inputRequests"],
        json!({ "approve": {
            "method": "elicitation/create", "params": { "mode": "url", "url": url, "message": message },
        } })
    );
    assert_eq!(
        words(&result),
        format!(
            "The desk connection is added and waits for approval. Show the person this link, as a link and never as its \
             address: [Approve the connection]({url}). It works for ten minutes."
        )
    );
    let state = result["requestState"].as_str().unwrap();
    assert!(!state.contains("conn_") && !state.contains("link_"), "it says nothing");
    assert!(result.get("isError").is_none());
}

/// Whoever does not say in this very request that it can is asked nothing.
#[tokio::test]
async fn nobody_else_is_asked() {
    let (server, upstream) = (TestApp::local().await, Upstream::open().await);
    let caller = server.anyone();
    for (number, capabilities) in
        [json!({}), json!({ "elicitation": {} }), json!({ "elicitation": { "form": {} } }), json!({ "url": {} })]
            .into_iter()
            .enumerate()
    {
        let mut arguments = open(&upstream);
        arguments["name"] = format!("desk-{number}").into();
        let params = json!({ "name": "add_connection", "arguments": arguments });
        let answer = caller.ask_as("/mcp", "tools/call", params, capabilities).await.message();
        let result = &answer["result"];
        assert_eq!(result["resultType"], "complete", "{result}");
        assert!(result.get("inputRequests").is_none() && result.get("requestState").is_none());
        assert!(words(result).contains("[Approve the connection]("), "{result}");
    }
    for (number, revision) in ["2025-11-25", "2025-06-18", "2025-03-26"].into_iter().enumerate() {
        let mut arguments = open(&upstream);
        arguments["name"] = format!("old-{number}").into();
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "url": {} } } });
        let params = json!({ "name": "add_connection", "arguments": arguments, "_meta": meta, "requestState": "any" });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = caller
            .request("POST", "/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", revision);
        let answer = crate::support::people::Answer::of(request.body(message.to_string())).await.message();
        let result = &answer["result"];
        assert!(result.get("resultType").is_none() && result.get("inputRequests").is_none(), "{revision}: {result}");
        assert!(words(result).contains("[Approve the connection]("), "{revision}: {result}");
    }
}

/// Each row of the table of what is found when the call comes again.
#[tokio::test]
async fn the_call_again_finds_the_connection_as_it_stands() {
    let (server, upstream) = (TestApp::local().await, Upstream::behind(KEY).await);
    let client = Client::of(server.anyone(), secret(&upstream));
    let added = client.adds().await;
    let (state, connection) = (&added["requestState"], &added["structuredContent"]);
    let page = Page::opened(&server, connection);
    let waits = format!(
        "The desk connection still waits for approval: [Approve the connection]({}).",
        connection["connect"]["url"].as_str().unwrap()
    );
    for responses in [None, Some(json!({})), Some(json!({ "approve": { "action": "accept" } }))] {
        let found = client.again(state, responses).await.unwrap();
        assert_eq!((&found["resultType"], words(&found)), (&json!("complete"), waits.as_str()));
        assert_eq!(found["structuredContent"]["connect"], connection["connect"]);
        assert!(found.get("requestState").is_none() && found.get("inputRequests").is_none(), "no further round");
    }
    for action in ["decline", "cancel"] {
        let found = client.again(state, Some(json!({ "approve": { "action": action } }))).await.unwrap();
        assert_eq!(words(&found), format!("The person declined to open the page. {waits}"));
        assert_eq!(found["structuredContent"]["connect"], connection["connect"]);
    }
    page.give(KEY).await.done(200);
    let found = client.accepted(state).await;
    assert_eq!(words(&found), "The desk connection is connected. Nothing is left to open.");
    assert!(found["structuredContent"].get("connect").is_none());
    assert_eq!(found["structuredContent"]["status"], "connected");
    // What became of it since.
    server.app.close().await;
    let server = server.beside(&[("CONNECTIONS_BY_HAND", "false")]).await;
    let client = Client::of(server.anyone(), client.arguments.clone());
    let found = client.accepted(state).await;
    assert_eq!(words(&found), "Whoever runs the server no longer allows the desk connection.");
    assert_eq!(found["structuredContent"]["because"], "connection_not_allowed");
    server.anyone().delete(&format!("{CONNECTIONS}/{}", page.connection)).await.done(200);
    let found = client.accepted(state).await;
    assert_eq!(words(&found), "The connection was cancelled. Nothing is connected.");
    assert_eq!(
        (&found["structuredContent"]["status"], &found["structuredContent"]["connect"]),
        (&json!("removed"), &Value::Null)
    );
    let all = server.anyone().get(&format!("{CONNECTIONS}?include_removed=true")).await.done(200);
    assert_eq!(all["connections"].as_array().unwrap().len(), 1, "none was added again");
}

#[tokio::test]
async fn a_link_that_ended_is_not_shown_again() {
    let (server, upstream) = (TestApp::local().await, Upstream::open().await);
    let client = Client::of(server.anyone(), open(&upstream));
    let added = client.adds().await;
    server.clock.advance_ms(10 * 60 * 1_000);
    for action in ["accept", "decline"] {
        let found =
            client.again(&added["requestState"], Some(json!({ "approve": { "action": action } }))).await.unwrap();
        assert_eq!(
            words(&found),
            "The link has expired. Remove the connection with remove_connection and add it again."
        );
        assert!(found["structuredContent"].get("connect").is_none());
        assert_eq!(found["structuredContent"]["status"], "pending");
    }
}

/// A client that accepted is answered as soon as its person has approved, on whichever server that was.
#[tokio::test(flavor = "multi_thread")]
async fn the_answer_waits_for_the_person() {
    let (server, upstream) = (TestApp::local().await, Upstream::behind(KEY).await);
    server.app.close().await;
    let patient = server.patient().await;
    let client = Client::of(patient.anyone(), secret(&upstream));
    let added = client.adds().await;
    let page = Page::opened(&patient, &added["structuredContent"]);
    let state = added["requestState"].clone();
    let waiting = tokio::spawn(async move { client.accepted(&state).await });
    page.give(KEY).await.done(200);
    let found = waiting.await.unwrap();
    assert_eq!(words(&found), "The desk connection is connected. Nothing is left to open.");
}

/// An agent of a person in an org, with every right at `/mcp`.
async fn agent_of(scene: &Scene, person: &Consenter, org: &str) -> Caller {
    let client = scene.public_client().await;
    let resource = format!("{P}/mcp");
    let asked = [("resource", resource.as_str()), ("scope", "org:read org:write playbook:read playbook:write")];
    let code = scene.code_of(person, org, &client, &asked).await;
    let tokens = scene.exchange(&client, &code).await.done(200);
    Caller::new(scene.server.url(""), Some(&text(&tokens, "access_token")))
}

#[tokio::test]
async fn a_state_is_good_for_one_caller_one_call_and_a_day() {
    let scene = Scene::new().await;
    let server = &scene.server;
    let mut arguments = json!({ "name": "desk", "type": "mcp", "entry": { "url": "https://desk.example/mcp" } });
    let (one, other) =
        (person(server, "bea", "north", Role::Owner).await, person(server, "bob", "north", Role::Owner).await);
    join(server, &one.person, "south", Role::Owner).await;
    let ada = agent_of(&scene, &one, "north").await;
    let bob = agent_of(&scene, &other, "north").await;
    let south = agent_of(&scene, &one, "south").await;
    let client = Client::of(ada.clone(), arguments.clone());
    let state = client.adds().await["requestState"].clone();
    let given = state.as_str().unwrap();
    let mut tampered = given.to_owned();
    tampered.replace_range(20..21, if &given[20..21] == "A" { "B" } else { "A" });
    let refused = async |client: &Client, state: &str| {
        let error = client.again(&json!(state), None).await.unwrap_err();
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32602), &json!("The request state is not valid here. Make the call anew."))
        );
    };
    for broken in ["", "x", &given[..given.len() - 4], &tampered, &"A".repeat(5_000), "ä"] {
        refused(&client, broken).await;
    }
    refused(&Client::of(bob, arguments.clone()), given).await;
    refused(&Client::of(south, arguments.clone()), given).await;
    arguments["entry"]["record_content"] = false.into();
    refused(&Client::of(ada.clone(), arguments), given).await;
    // A tool that asks nothing gave no state.
    let params = json!({ "name": "list_playbooks", "arguments": {}, "requestState": given });
    assert_eq!(client.sends(params).await.unwrap_err()["code"], -32602);
    assert!(client.again(&state, None).await.is_ok(), "it is still good for who has it");
    server.clock.advance_ms(24 * 60 * 60 * 1_000);
    let later = agent_of(&scene, &one, "north").await;
    refused(&Client::of(later, client.arguments.clone()), given).await;
}

#[tokio::test]
async fn without_a_state_it_is_another_call() {
    let (server, upstream) = (TestApp::local().await, Upstream::open().await);
    let client = Client::of(server.anyone(), open(&upstream));
    client.adds().await;
    let second = client.adds().await;
    assert_eq!(second["isError"], true);
    let problem: Value = serde_json::from_str(second["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&problem["reason"], &problem["kind"]), (&json!("conflict"), &json!("taken")));
    assert_eq!(second["resultType"], "complete", "a refusal asks nothing");
}

/// States outlive a change of the store's keys while the old one is still there, and no longer.
#[tokio::test]
async fn any_living_key_opens_a_state() {
    let (server, upstream) = (TestApp::local().await, Upstream::open().await);
    let client = Client::of(server.anyone(), open(&upstream));
    let state = client.adds().await["requestState"].clone();
    server.app.close().await;
    let both = server.beside(&[("SECRETS_KEYS", &format!("{SECOND_KEY},{FIRST_KEY}"))]).await;
    assert!(Client::of(both.anyone(), client.arguments.clone()).again(&state, None).await.is_ok());
    let sealed = RequestState {
        org: "local".into(),
        principal: "local".into(),
        connection: "conn_0".into(),
        link: "link_0".into(),
        method: "m".into(),
        arguments: "a".into(),
        ends_at: BEGINNING_MS,
    };
    let first = both.app.connections.seal_state(&sealed).unwrap();
    assert_eq!(both.app.connections.open_state(&first).unwrap(), Some(sealed.clone()));
    assert_ne!(first, both.app.connections.seal_state(&sealed).unwrap(), "no two are alike");
    both.app.secrets.rekey(false).await.unwrap();
    both.app.close().await;
    let second = server.beside(&[("SECRETS_KEYS", SECOND_KEY)]).await;
    assert!(Client::of(second.anyone(), client.arguments.clone()).again(&state, None).await.is_err());
    assert!(second.app.connections.open_state(&first).unwrap().is_some(), "the new key sealed this one");
}

/// Whatever a stranger sends as a state is none.
#[tokio::test]
async fn nothing_made_up_opens() {
    let server = TestApp::local().await;
    let connections = &server.app.connections;
    proptest!(ProptestConfig::with_cases(500), |(text in "[A-Za-z0-9_-]{0,300}|\\PC{0,60}")| {
        prop_assert!(connections.open_state(&text).unwrap().is_none());
    });
}
