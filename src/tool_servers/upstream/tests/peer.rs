//! A server built with the official kit, in both eras.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;

use super::stand_in::upstream;
use super::{arguments, context, patient};
use crate::tool_servers::upstream::Because;

#[derive(Clone)]
struct Weather;

impl ServerHandler for Weather {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({
            "type": "object",
            "properties": { "city": { "type": "string", "x-mcp-header": "City" } },
        });
        let tool = Tool::new("weather", "Tells the weather.", schema.as_object().cloned().unwrap());
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "weather" {
            return Err(ErrorData::invalid_params("no such tool", None));
        }
        let city = request.arguments.unwrap_or_default()["city"].clone();
        Ok(CallToolResult::success(vec![ContentBlock::text(format!("Rain in {city}."))]).into())
    }
}

async fn serve(config: StreamableHttpServerConfig) -> String {
    let service = StreamableHttpService::new(|| Ok(Weather), LocalSessionManager::default().into(), config);
    let router = axum::Router::new().fallback_service(service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

#[tokio::test]
async fn a_server_of_the_official_kit_is_listed_and_called() {
    let address = serve(StreamableHttpServerConfig::default()).await;
    let upstream = upstream(&address, patient());
    let listing = upstream.list().await.unwrap();
    let [weather] = listing.tools.as_slice() else {
        panic!("one tool is listed: {listing:?}");
    };
    let city = arguments(json!({ "city": "Zürich" }));
    let called = upstream.call(weather, &city, &context()).await.unwrap();
    assert_eq!(called.text, "Rain in \"Zürich\".");
    let mut other = weather.clone();
    other.name = "climate".into();
    let called = upstream.call(&other, &city, &context()).await.unwrap();
    assert!(called.is_error && called.text.contains("no such tool"), "{}", called.text);
}

#[tokio::test]
async fn a_server_whose_marks_changed_is_failing_and_its_list_is_old() {
    let address = serve(StreamableHttpServerConfig::default()).await;
    let upstream = upstream(&address, patient());
    let mut weather = upstream.list().await.unwrap().tools.remove(0);
    weather.header_marks.clear();
    let before = upstream.list_changes();
    let city = arguments(json!({ "city": "Bern" }));
    // The kit checks the marks only where it knows the tool's schema; either way the call must not hang or break.
    match upstream.call(&weather, &city, &context()).await {
        Ok(called) => assert!(called.text.contains("Bern")),
        Err(trouble) => {
            assert_eq!(trouble.because, Because::Failing);
            assert!(upstream.list_changes() > before);
        }
    }
}
