//! The quirks of the clients there are, each from its registration to its token (`identity.md` 11).

use serde_json::{Value, json};

use super::{Scene, VERIFIER, claims, text};

/// A client: what it registers, where it then returns to, what it asks beside that, and for what its token is.
struct Known {
    name: &'static str,
    registers: Value,
    returns_to: &'static str,
    asks: &'static [(&'static str, &'static str)],
    audience: Value,
}

fn known() -> Vec<Known> {
    let general = json!(["https://pm.example/mcp", "https://pm.example/tools/mcp"]);
    vec![
        Known {
            name: "VS Code",
            registers: json!({
                "client_name": "Visual Studio Code",
                "redirect_uris": ["http://127.0.0.1/", "http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
                "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
                "token_endpoint_auth_method": "none",
            }),
            returns_to: "http://127.0.0.1:51234/",
            asks: &[("resource", "https://pm.example/mcp")],
            audience: json!("https://pm.example/mcp"),
        },
        Known {
            name: "Claude Code",
            registers: json!({
                "client_name": "Claude Code", "redirect_uris": ["http://localhost:54212/callback"],
                "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
                "token_endpoint_auth_method": "none",
            }),
            returns_to: "http://localhost:61111/callback",
            asks: &[("resource", "https://pm.example/tools/mcp/")],
            audience: json!("https://pm.example/tools/mcp"),
        },
        Known {
            name: "Claude on the web",
            registers: json!({
                "client_name": "Claude", "token_endpoint_auth_method": "none",
                "redirect_uris": ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
            }),
            returns_to: "https://claude.com/api/mcp/auth_callback",
            asks: &[("scope", ""), ("resource", "https://pm.example/orgs/acme/mcp")],
            audience: json!("https://pm.example/orgs/acme/mcp"),
        },
        Known {
            name: "ChatGPT",
            registers: json!({
                "redirect_uris": ["https://chatgpt.com/connector/oauth/abc", "https://chatgpt.com/connector_platform_oauth_redirect"],
            }),
            returns_to: "https://chatgpt.com/connector/oauth/abc",
            asks: &[("scope", "openid offline_access playbook:read"), ("resource", "https://pm.example/tools/mcp")],
            audience: json!("https://pm.example/tools/mcp"),
        },
        Known {
            name: "Cursor",
            registers: json!({
                "redirect_uris": ["cursor://anysphere.cursor-mcp/oauth/callback", "https://www.cursor.com/agents/mcp/oauth/callback"],
            }),
            returns_to: "cursor://anysphere.cursor-mcp/oauth/callback",
            asks: &[("resource", "https://pm.example/mcp")],
            audience: json!("https://pm.example/mcp"),
        },
        Known {
            name: "Codex",
            registers: json!({ "client_name": "Codex", "redirect_uris": ["http://127.0.0.1:1455/callback"] }),
            returns_to: "http://127.0.0.1:40000/callback",
            asks: &[],
            audience: general,
        },
    ]
}

#[tokio::test]
async fn each_of_them_gets_its_token() {
    let scene = Scene::new().await;
    for client in known() {
        let made = scene.server.anyone().post("/oauth/register", &client.registers).await;
        let id = text(&made.done(201), "client_id");
        let mut asks = vec![("redirect_uri", client.returns_to)];
        asks.extend(client.asks);
        let code = scene.code(&id, &asks).await;
        let answer = scene
            .token(&[
                ("grant_type", "authorization_code"),
                ("client_id", &id),
                ("code", &code),
                ("redirect_uri", client.returns_to),
                ("code_verifier", VERIFIER),
            ])
            .await;
        assert_eq!(answer.status, 200, "{}: {}", client.name, answer.text);
        let tokens = answer.json();
        assert_eq!(claims(&text(&tokens, "access_token"))["aud"], client.audience, "{}", client.name);
        assert!(tokens["expires_in"].is_number() && tokens["refresh_token"].is_string(), "{}", client.name);
        assert!(!text(&tokens, "scope").is_empty());
    }
}
