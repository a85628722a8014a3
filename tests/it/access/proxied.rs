//! Behind a reverse proxy on another host name: nginx, as an operator sets it up (`identity.md` 4, 7.1 and 12).

use std::net::{IpAddr, Ipv4Addr};

use playmaker::identity::Role;
use serde_json::{Value, json};

use crate::oauth::P;
use crate::oauth::metadata::DOCUMENT;
use crate::support::app::{FULL, READER, TestApp};
use crate::support::people::{Answer, Caller};
use crate::support::services::{Service, free_port, proxy};
use crate::support::upstream::Upstream;

/// Each resource of the sheet's table: its path, the scopes it supports, and what its name ends with.
const RESOURCES: [(&str, &[&str], &str); 6] = [
    ("", &["org:read", "org:write", "playbook:read", "playbook:write", "org:admin"], ""),
    ("/mcp", &["org:read", "org:write", "playbook:read", "playbook:write"], ""),
    ("/orgs/north/mcp", &["org:read", "org:write"], " (org north)"),
    ("/orgs/north/playbooks/support/mcp", &["playbook:read", "playbook:write"], " (playbook support)"),
    ("/tools/mcp", &["playbook:read", "playbook:write"], " tools"),
    ("/v1", &["org:read", "org:write", "playbook:read", "playbook:write", "org:admin"], ""),
];

/// Each endpoint, the resource it belongs to, and the `scope` of its challenge.
const ENDPOINTS: [(&str, &str, &str); 5] = [
    ("/mcp", "/mcp", "org:read org:write playbook:read playbook:write"),
    ("/orgs/north/mcp", "/orgs/north/mcp", "org:read org:write"),
    ("/orgs/north/playbooks/support/mcp", "/orgs/north/playbooks/support/mcp", "playbook:read playbook:write"),
    ("/v1/orgs/north/playbooks", "/v1", "org:read org:write playbook:read playbook:write"),
    ("/v1/orgs/north/members", "/v1", "org:admin"),
];

/// What clients send who want the server to believe in another place.
const FORGED: [&[(&str, &str)]; 4] = [
    &[],
    &[("host", "evil.example")],
    &[("x-forwarded-host", "evil.example"), ("x-forwarded-proto", "http"), ("x-forwarded-port", "81")],
    &[("forwarded", "for=192.0.2.9;host=evil.example;proto=http"), ("x-original-host", "evil.example")],
];

/// The document of a resource, to the byte.
fn metadata(path: &str, scopes: &[&str], name: &str) -> String {
    let scopes = serde_json::to_string(scopes).unwrap();
    format!(
        "{{\"resource\":\"{P}{path}\",\"authorization_servers\":[\"{P}\"],\"scopes_supported\":{scopes},\
         \"bearer_methods_supported\":[\"header\"],\"resource_name\":\"Playmaker{name}\",\
         \"resource_documentation\":\"{P}/docs\"}}"
    )
}

async fn get(through: &Service, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Caller::new(through.url(""), None).request(method, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    Answer::of(request).await
}

/// Security cases 44 and 79.
#[tokio::test]
async fn through_a_proxy_each_document_and_challenge_is_that_of_the_sheet() {
    let keys = json!([READER.entry()]).to_string();
    for trusted in ["", "127.0.0.0/8"] {
        let settings =
            [("PUBLIC_URL", P), ("API_KEYS", &keys), ("TRUSTED_PROXIES", trusted), ("RATE_ANONYMOUS", "1000/1000")];
        let server = TestApp::with(&settings).await;
        let nginx = proxy(free_port(), server.address()).await;
        for forged in FORGED {
            for (path, scopes, name) in RESOURCES {
                let answer = get(&nginx, "GET", &format!("/.well-known/oauth-protected-resource{path}"), forged).await;
                assert_eq!((answer.status, answer.text), (200, metadata(path, scopes, name)), "{forged:?}");
                assert_eq!(answer.headers["content-type"], "application/json");
                assert_eq!(answer.headers["cache-control"], "public, max-age=300");
                assert_eq!(answer.headers["strict-transport-security"], "max-age=31536000");
                let of_server = format!("/.well-known/oauth-authorization-server{path}");
                let path_of_server =
                    if path.is_empty() { "/.well-known/oauth-authorization-server" } else { &of_server };
                assert_eq!(get(&nginx, "GET", path_of_server, forged).await.text, DOCUMENT, "{path} {forged:?}");
            }
            for (endpoint, resource, scope) in ENDPOINTS {
                let method = if resource == "/v1" { "GET" } else { "POST" };
                let at = format!("resource_metadata=\"{P}/.well-known/oauth-protected-resource{resource}\"");
                let bare = get(&nginx, method, endpoint, forged).await;
                bare.refused(401, "unauthenticated");
                assert_eq!(bare.header("www-authenticate"), format!("Bearer {at}, scope=\"{scope}\""), "{endpoint}");
                let bad = [forged, &[("authorization", "Bearer a.b.c")]].concat();
                let invalid =
                    "Bearer error=\"invalid_token\", error_description=\"The access token is not valid here\"";
                let bad = get(&nginx, method, endpoint, &bad).await;
                assert_eq!(bad.header("www-authenticate"), format!("{invalid}, {at}, scope=\"{scope}\""));
                let malformed = [forged, &[("authorization", "Basic abc")]].concat();
                let request = "Bearer error=\"invalid_request\", \
                     error_description=\"Send exactly one Authorization: Bearer header\"";
                let malformed = get(&nginx, method, endpoint, &malformed).await;
                assert_eq!(
                    (malformed.status, malformed.header("www-authenticate")),
                    (400, &*format!("{request}, {at}"))
                );
            }
            let key = format!("Bearer {}", READER.text);
            let lacking = [forged, &[("authorization", &key), ("content-type", "application/json")]].concat();
            let lacking = get(&nginx, "POST", "/v1/orgs/north/playbooks", &lacking).await;
            assert_eq!(
                lacking.header("www-authenticate"),
                format!(
                    "Bearer error=\"insufficient_scope\", scope=\"org:write\", error_description=\"Needs org:write\", \
                     resource_metadata=\"{P}/.well-known/oauth-protected-resource/v1\""
                ),
                "{}",
                lacking.text
            );
        }
    }
}

/// A client of an address of its own on loopback.
fn client_at(last: u8) -> reqwest::Client {
    #[expect(clippy::disallowed_methods, reason = "a test's own requests, not the program's")]
    let builder = reqwest::Client::builder();
    builder.no_proxy().local_address(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))).build().unwrap()
}

/// Security case 44: whose address it is, only a trusted proxy tells; what the client wrote before it counts for nothing.
#[tokio::test]
async fn the_clients_address_is_the_word_of_a_trusted_proxy() {
    let keys = json!([FULL.entry()]).to_string();
    for (trusted, told_apart) in [("127.0.0.1", true), ("", false), ("10.0.0.0/8", false)] {
        let settings = [("API_KEYS", keys.as_str()), ("RATE_ANONYMOUS", "1/3"), ("TRUSTED_PROXIES", trusted)];
        let server = TestApp::with(&settings).await;
        let nginx = proxy(free_port(), server.address()).await;
        let asks = async |last: u8, forged: &str| {
            let request = client_at(last).get(nginx.url("/openapi.json")).header("x-forwarded-for", forged);
            Answer::of(request).await.status
        };
        for number in 0..3 {
            assert_eq!(asks(2, &format!("192.0.2.{number}")).await, 200);
        }
        assert_eq!(asks(2, "192.0.2.9").await, 429, "{trusted}: a new name does not help");
        let other = if told_apart { 200 } else { 429 };
        assert_eq!(asks(3, "127.0.0.2").await, other, "{trusted}");
    }
}

/// What the server sends before a call has ended arrives before it has ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_not_kept_back() {
    let upstream = Upstream::open().await;
    let tool_servers = json!({ "desk": { "url": upstream.url(), "org": "north" } }).to_string();
    let keys = json!([FULL.entry()]).to_string();
    let server = TestApp::with(&[("PUBLIC_URL", P), ("API_KEYS", &keys), ("TOOL_SERVERS", &tool_servers)]).await;
    let body = json!({ "playbook": "support", "name": "Support" });
    server.holder(&FULL).post("/v1/orgs/north/playbooks", &body).await.done(201);
    let nginx = proxy(free_port(), server.address()).await;
    upstream.hold();
    let params = json!({
        "name": "execute", "arguments": { "server": "desk", "tool": "look_up", "arguments": { "word": "oak" } },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "a test", "version": "1" },
        },
    });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = Caller::new(nginx.url(""), Some(FULL.text))
        .request("POST", "/orgs/north/playbooks/support/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "execute");
    let mut stream = request.body(message.to_string()).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let first = stream.chunk().await.unwrap().expect("something comes while the call goes on");
    assert!(first.starts_with(b":"), "a heartbeat: {first:?}");
    upstream.release();
    let mut rest = Vec::new();
    while let Some(chunk) = stream.chunk().await.unwrap() {
        rest.extend_from_slice(&chunk);
    }
    let rest = String::from_utf8(rest).unwrap();
    let data = rest.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_else(|| panic!("{rest}"));
    let answer: Value = serde_json::from_str(data).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["outcome"], "result", "{answer}");
}

/// Pages, cookies and forms work through it too: a client sends its person to the proxy's address, who signs in and allows.
#[tokio::test]
async fn a_person_signs_in_through_it() {
    use crate::oauth::official::{allow, types_password};
    use crate::support::browser::{Browser, Scheme, Screen};
    use crate::support::signing_in::SignsIn;

    let port = free_port();
    let public = format!("http://localhost:{port}");
    let server = TestApp::with(&[("PUBLIC_URL", &public), ("TRUSTED_PROXIES", "127.0.0.1")]).await;
    server.with_password("Ada Lovelace", "ada@acme.test", "acme", Role::Member).await;
    let nginx = proxy(port, server.address()).await;
    let browser = Browser::open(Screen::Desktop, Scheme::Light).await;
    let visiting = SignsIn::TypescriptClient.begin(&format!("{public}/mcp")).await;
    assert!(visiting.address.starts_with(&public), "{}", visiting.address);
    browser.visit(&visiting.address).await;
    types_password(&browser, "ada@acme.test").await;
    allow(&browser, &[]).await;
    let peer = visiting.signed_in().await.unwrap_or_else(|failure| panic!("{failure:?} {}", nginx.output()));
    assert!(peer.greeting()["instructions"].as_str().unwrap().contains("Ada Lovelace"));
    // What the client's own page lacks is not ours.
    let complaints: Vec<String> =
        browser.complaints().await.into_iter().filter(|line| line.starts_with(&public)).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    peer.close().await.unwrap();
    browser.close().await;
}
