//! The official client against the endpoint, in both eras.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;

use super::Probe;
use crate::http::serve_mcp;
use crate::limits::Bodies;
use crate::mcp::Stopping;

async fn listen() -> String {
    let endpoint = |request: axum::extract::Request| async move {
        serve_mcp(Probe::default(), request, &Bodies::default(), &Stopping::new(), Duration::from_secs(5)).await
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(axum::serve(listener, axum::Router::new().fallback(endpoint)).into_future());
    format!("http://{address}/mcp")
}

async fn converse(lifecycle: ClientLifecycleMode) {
    let transport = StreamableHttpClientTransport::from_uri(listen().await);
    let client = ().serve_with_lifecycle(transport, lifecycle).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools[0].name, "echo");
    let arguments = json!({ "a": 1 }).as_object().cloned().unwrap();
    let call = CallToolRequestParams::new("echo").with_arguments(arguments);
    let result = client.call_tool(call).await.unwrap();
    assert_eq!(result.structured_content, Some(json!({ "a": 1 })));
    client.call_tool(CallToolRequestParams::new("nothing")).await.unwrap_err();
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn the_official_client_converses_after_a_handshake() {
    converse(ClientLifecycleMode::Initialize).await;
}

#[tokio::test]
async fn the_official_client_converses_after_discovery() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    converse(ClientLifecycleMode::Discover { preferred_versions }).await;
}
