//! A request that is still being answered when its key is taken away.

use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use playmaker::identity::Role;
use playmaker::mcp::{self, Agent, Stopping};
use playmaker::operations::Endpoint;
use serde_json::{Value, json};

use super::{House, text};
use crate::support::upstream::Upstream;

const HEARTBEAT: &[u8] = b": heartbeat\n\n";

#[tokio::test]
async fn it_ends_with_the_next_heartbeat() {
    let upstream = Upstream::open().await;
    let servers = json!({ "desk": { "url": upstream.url(), "org": "north" } }).to_string();
    let house = House::with(&[("TOOL_SERVERS", &servers)]).await;
    let admin = house.member(Role::Admin).await;
    let input = json!({ "name": "nightly", "permissions": ["org:write", "playbook:write"] });
    let made = admin.does("create_key", input).await.unwrap();
    let playbook = json!({ "playbook": "support", "name": "Support" });
    house.holds(text(&made)).post("/v1/orgs/north/playbooks", &playbook).await.done(201);
    upstream.hold();

    let app = house.app().clone();
    let caller = app.identity.stored_key_caller(text(&made)).await.unwrap().unwrap();
    let agent = Agent { app, caller, endpoint: Endpoint::Own, playbook: None, request_id: "one".into() };
    let (parts, ()) = Request::builder().method("POST").uri("/mcp").body(()).unwrap().into_parts();
    let arguments = json!({ "playbook": "support", "server": "desk", "tool": "look_up" });
    let params = json!({ "name": "execute", "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params }).to_string();
    let often = Duration::from_millis(20);
    let mut stream = mcp::serve(agent, &parts, body.into(), &Stopping::new(), often).await.into_body();
    let mut next = async || stream.frame().await.map(|frame| frame.unwrap().into_data().unwrap());
    for _ in 0..3 {
        assert_eq!(next().await.unwrap(), HEARTBEAT);
    }
    admin.does("revoke_key", json!({ "id": made["id"] })).await.unwrap();
    let last = loop {
        match next().await.unwrap() {
            beat if beat == HEARTBEAT => {}
            last => break String::from_utf8(last.to_vec()).unwrap(),
        }
    };
    let told: Value = serde_json::from_str(last.lines().find_map(|line| line.strip_prefix("data: ")).unwrap()).unwrap();
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(7), &json!(-32603)), "{told}");
    assert_eq!(told["error"]["data"]["reason"], "unauthenticated");
    assert!(next().await.is_none(), "and that is its end");
    upstream.release();
}
