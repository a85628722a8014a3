//! What a connection is guarded by: its stored record against what a request says, the place its credential is sealed for,
//! and that a call is made of nothing but the connection.

use playmaker::identity::Role;
use playmaker::ledger::Changed;
use playmaker::on_connection;
use serde_json::{Value, json};

use super::{Page, open, secret};
use crate::support::app::{FULL, TestApp};
use crate::support::people::Answer;
use crate::support::upstream::Upstream;

const KEY: &str = "the-key-of-the-desk";

/// Security case 20: what is approved stands in the record; nothing beside it is taken from the link or from a body.
#[tokio::test]
async fn an_edited_link_or_body_changes_nothing() {
    let server = TestApp::local().await;
    let (upstream, elsewhere) = (Upstream::behind(KEY).await, Upstream::open().await);
    let other = Page::of(&server, &open(&elsewhere)).await;
    let mut body = secret(&upstream);
    body["name"] = "till".into();
    let page = Page::of(&server, &body).await;
    for command in ["approve", "credential", "cancel"] {
        for (field, value) in [
            ("connection", json!(other.connection)),
            ("org", json!("south")),
            ("provider", json!("harbour-desk")),
            ("scopes", json!(["org:write"])),
            ("url", json!(elsewhere.url())),
            ("redirect_uri", json!("https://evil.example/")),
            ("return_to", json!("//evil.example")),
            ("person", json!("person:user_0123456789ABCDEFGHIJKL")),
            ("playbooks", json!(["support"])),
        ] {
            let mut edited = if command == "credential" { json!({ "value": KEY }) } else { json!({}) };
            edited[field] = value.clone();
            let refused = page.command(command, &edited).await;
            assert_eq!(refused.invalid_at(), [format!("/{field}")], "{command}");
            // The same from the form of a page without script, and in the address.
            let csrf = page.csrf().await;
            let mut form = vec![("csrf", csrf.as_str()), (field, value.as_str().unwrap_or("x"))];
            if command == "credential" {
                form.push(("value", KEY));
            }
            let text = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
            let request = page.browser.request("POST", &format!("/connect/{}/{command}", page.link));
            let request = request.header("content-type", "application/x-www-form-urlencoded").body(text);
            assert_eq!(Answer::of(request).await.status, 422, "{command} {field}");
        }
    }
    // A link that differs in one character is a link that never was.
    let mut letters: Vec<char> = page.link.chars().collect();
    let last = letters.len() - 1;
    letters[last] = if letters[last] == 'a' { 'b' } else { 'a' };
    let edited = format!("/v1/links/{}", letters.into_iter().collect::<String>());
    page.browser.get(&edited).await.refused(404, "not_found");
    assert_eq!((upstream.requests(), elsewhere.requests()), (0, 0), "nothing went out");
    assert_eq!((page.state().await.as_str(), other.state().await.as_str()), ("ready", "ready"));
    let connected = page.give(KEY).await.done(200);
    assert_eq!((&connected["id"], &connected["name"]), (&json!(page.connection), &json!("till")));
    assert_eq!(elsewhere.requests(), 0);
}

/// Security case 13: a credential moved to another connection, or cut, does not open. That connection is broken, the others
/// go on, and a server with another key does not start.
#[tokio::test]
async fn what_was_changed_in_the_database_breaks_one_connection_alone() {
    const MOVE: &str = "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE record = $1) WHERE record = $2";
    const CUT: &str =
        "UPDATE secrets SET sealed = substr(sealed, 1, length(sealed) - 4) WHERE record = $2 OR record = $1";
    let server = TestApp::local().await;
    let upstream = Upstream::behind(KEY).await;
    let agent = server.anyone();
    agent.post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    let mut ids = Vec::new();
    for name in ["whole", "moved", "cut"] {
        let mut body = secret(&upstream);
        body["name"] = name.into();
        let page = Page::of(&server, &body).await;
        page.give(KEY).await.done(200);
        ids.push(page.connection);
    }
    for (sql, one, other) in [(MOVE, ids[0].clone(), ids[1].clone()), (CUT, ids[2].clone(), ids[2].clone())] {
        let work: playmaker::ledger::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(sql).bind(one).bind(other).execute(c).await.map(|_| ()))?;
                Ok(Changed::nothing(()))
            })
        });
        server.app.ledger.commit("local", work).await.unwrap();
    }
    let call = async |name: &str| {
        let path = format!("/v1/orgs/local/playbooks/support/tool-servers/{name}/tools/look_up/execute");
        agent.post(&path, &json!({ "arguments": { "word": "oak" } })).await
    };
    let before = upstream.requests();
    for name in ["moved", "cut"] {
        let refused = call(name).await;
        let problem: Value = refused.json();
        assert_eq!((refused.status, &problem["because"]), (503, &json!("connection_broken")), "{name}: {problem}");
    }
    assert_eq!(upstream.requests(), before, "nothing is sent without the credential");
    assert_eq!(call("whole").await.json()["outcome"], "result");

    server.app.close().await;
    let folder = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_playmaker"));
    command.arg("serve").env_clear().current_dir(folder.path()).env("PORT", "0").env("RUST_LOG", "off");
    let other = "first:CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=";
    command.env("DATABASE_URL", server.database().url()).env("SECRETS_KEYS", other).kill_on_drop(true);
    let refused = command.output().await.unwrap();
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!((refused.status.code(), told.lines().count()), (Some(1), 1), "{told}");
    assert!(told.contains("first") && !told.contains("CQkJ"), "it names the key by its id alone: {told}");
}

/// Security case 39: whatever the caller sent, a tool server sees the connection's credential alone.
#[tokio::test]
async fn nothing_of_the_callers_request_is_passed_on() {
    const CANARY: &str = "canary-5hW2nR8x";
    let upstream = Upstream::behind(KEY).await;
    let private = upstream.url().rsplit_once('/').unwrap().0.to_owned();
    let keys = json!([FULL.entry()]).to_string();
    let settings = [("CONNECTIONS_PRIVATE_HOSTS", private.as_str()), ("API_KEYS", keys.as_str())];
    let server = TestApp::signing_in_with(&settings).await;
    let ada = server.person("Ada", "ada@north.test", "north", Role::Owner).await;
    ada.post("/v1/orgs/north/playbooks", &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    let added = ada.post("/v1/orgs/north/connections", &secret(&upstream)).await.done(201);
    let link = added["connect"]["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let csrf = ada.get(&format!("/v1/links/{link}")).await.done(200)["csrf"].as_str().unwrap().to_owned();
    let page = server.anyone().with("cookie", &ada.cookie).with("origin", &server.origin());
    let page = page.with("x-playmaker-csrf", &csrf);
    page.post(&format!("/v1/links/{link}/credential"), &json!({ "value": KEY })).await.done(200);

    let canary = |name: &str| format!("{CANARY}-{name}");
    let mut key = server.holder(&FULL);
    let names = [
        "proxy-authorization",
        "proxy-connection",
        "mcp-session-id",
        "mcp-param-word",
        "last-event-id",
        "x-api-key",
        "x-forwarded-for",
        "x-forwarded-host",
        "forwarded",
        "via",
        "referer",
        "user-agent",
        "x-real-ip",
        "baggage",
    ];
    for name in names {
        key = key.with(name, &canary(name));
    }
    key = key.with("cookie", &format!("{}; other={}", ada.cookie, canary("cookie")));
    let own = server.anyone().with("cookie", &format!("{}; other={}", ada.cookie, canary("cookie")));
    let own = own.with("origin", &server.origin()).with("x-playmaker-csrf", &ada.csrf);
    let own = own.with("proxy-authorization", &canary("proxy")).with("user-agent", &canary("agent"));
    let execute = "/v1/orgs/north/playbooks/support/tool-servers/desk/tools/look_up/execute";
    let arguments = json!({ "arguments": { "word": "oak" } });
    // In pieces, and to another host's name.
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter([Ok::<_, std::io::Error>(arguments.to_string())]));
    let request =
        key.request("POST", execute).header("content-type", "application/json").header("host", canary("host"));
    assert_eq!(Answer::of(request.body(body)).await.done(200)["outcome"], "result");
    assert_eq!(own.post(execute, &arguments).await.done(200)["outcome"], "result");
    let inside = "/orgs/north/playbooks/support/mcp";
    let called = json!({ "server": "desk", "tool": "look_up", "arguments": { "word": "oak" } });
    assert_eq!(key.call(inside, "execute", &called).await.done()["outcome"], "result");

    let received = upstream.received();
    assert_eq!(upstream.calls(), 3);
    let session = ada.cookie.split_once('=').unwrap().1;
    for request in &received {
        for secret in [CANARY, FULL.text, session, &ada.csrf, &csrf, &link, "transfer-encoding", "proxy-", "\"cookie\""]
        {
            assert!(!request.contains(secret), "{secret} in {request}");
        }
        assert_eq!(request.matches(KEY).count(), 1, "{request}");
    }
}

/// Security case 68: nothing is ever asked of a client by a state, so one that comes is made up; whatever it is, one text,
/// and nothing is added.
#[tokio::test]
async fn a_request_state_is_never_believed() {
    let server = TestApp::local().await;
    let upstream = Upstream::open().await;
    let agent = server.anyone();
    let call = async |tool: &str, arguments: &Value, state: &str| {
        let params = json!({ "name": tool, "arguments": arguments, "requestState": state, "inputResponses": {} });
        agent.result("/mcp", "tools/call", params).await.unwrap_err()
    };
    let first = call("add_connection", &open(&upstream), "s").await;
    assert_eq!(first["code"], -32602, "{first}");
    for state in ["", "eyJhbGciOiJub25lIn0.e30.", "../../etc", &"x".repeat(4_096)] {
        assert_eq!(call("add_connection", &open(&upstream), state).await, first);
        assert_eq!(call("list_playbooks", &json!({}), state).await, first);
    }
    let listed = agent.get("/v1/orgs/local/connections?include_removed=true").await.done(200);
    assert_eq!(listed["connections"], json!([]));
    assert_eq!(upstream.requests(), 0);
}
