use super::refusal;
#[test]
fn probe() {
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("tool_servers: [")));
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("- 1")));
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("just text")));
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("api_keys: []\napi_keys: []"))
    );
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("a: 1\n---\nb: 2")));
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("api_keys: []\ndatabase_url: postgres://u:pw@h/d")
        )
    );
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("port: 5555")));
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("provider_x_client_secret: abc"))
    );
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("toolservers: {}")));
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("? [a, b]\n: 1")));
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("allowed_models: []"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("api_keys: *nowhere"))
    );
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("line\u{7}: 1")));
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("tool_servers:")));
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("tool_servers: []")));
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  Desk: { org: north, url: 'https://a.example' }")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  openai: { org: north, url: 'https://a.example' }")
        )
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("tool_servers:\n  desk: 1"))
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    url: https://a.example")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    command: /opt/files\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    args: [a]\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    headers: { A: b }\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk: { org: 'no/rth', url: 'https://a.example' }")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    colour: red\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    type: http\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    provider: Git Hub\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    playbooks: [a]\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    playbooks: [support, support]\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    playbooks:\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    allowed: []\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    allowed: ['*']\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    allowed: [add_note, add_note]\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    record_content: maybe\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    record_content: yes\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    request_id: ''\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    document: https://a.example/openapi.json\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    auth: { issuer: 'https://a.example', client_id: x }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: desk\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: ftp://desk.example.test/\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: https://a.example/#part\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { Host: a }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { Mcp-Session-Id: a }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { 'a b': c }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: b, a: c }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: 1 }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: \"b\\nc\" }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { 'A-B': c }\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { A: true }\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    command: ' '\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    type: openapi\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    document_source: '{}'\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    command: /opt/files\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    env: {}\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: { path: a }\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: { file: '' }\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document_source: ''\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    hosts: ['https://a.example/path']\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    hosts: [a.example]\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    include: []\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    exclude: ['a*']\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    rename: { a: c, b: c }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    hints: { a: { readOnly: true } }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    refresh: PT1M\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    refresh: P31D\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    refresh: daily\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    server_variables: { region: 1 }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: '${OTHER}' }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: '${KEY' }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { A: '${OTHER}' }\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: https://${KEY}.example/\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    command: ${KEY}\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    args: [a, '--key=${KEY}']\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    server_variables: { region: '${KEY}' }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("tool_servers:\n  desk:\n    org: north\n    url: https://user:pw@desk.example.test/mcp\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    url: https://:pw@desk.example.test/\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    args: ['https://user:pw@desk.example.test/']\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { Authorization: 'Bearer 8f3k2j4h5g6d7s8a' }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: '${KEY:-ghp_0123456789abcdefghij}' }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    args: ['--key=ghp_0123456789abcdefghij']\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { KEY: sk-0123456789abcdefghij }\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp?key=ghp_0123456789abcdefghij\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    url: https://ghp_0123456789abcdefghij@desk.example.test/mcp\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { A: \"-----BEGIN PRIVATE KEY-----\" }\n"
            )
        )
    );
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("api_keys: {}")));
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("api_keys:")));
    println!("@@{}", refusal(&[("KEY", "value-of-a-key")], Some("api_keys: [1]")));
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("api_keys:\n  - id: ci\n"))
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("api_keys:\n  - id: ci\n    org: north\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: C I\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: -north\n    sha256: abababababababababababababababababababababababababababababababab\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("api_keys:\n  - id: ci\n    org: north\n    sha256: pmk_secret\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("api_keys:\n  - id: ci\n    org: north\n    key: pmk_secret\n")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    permissions: []\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    permissions: [org:admin]\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    permissions: [org:read, org:read]\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    playbooks: all\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    playbooks: []\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    playbooks: [A]\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    playbooks: 1\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    expires_at: tomorrow\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    expires_at: 2026-10-01T09:30:00\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    usage_limit: 0\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    usage_limit: -1\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    usage_limit: many\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    usage_period: day\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n    usage_limit: 1\n    usage_period: week\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some(
                "api_keys:\n  - id: ci\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n  - id: cd\n    org: north\n    sha256: abababababababababababababababababababababababababababababababab\n"
            )
        )
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("allowed_origins: https://a.example"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("allowed_origins: ['*']"))
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("allowed_origins: ['https://a.example/']")
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("allowed_origins: ['https://a.example:443']")
        )
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("allowed_origins: [null]"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_add: everybody"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_add: 1"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_by_hand: 1"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_types: [http]"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_types: [mcp, mcp]"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_kinds: [oauth]"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_variables: ['*']"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_variables: ['north:']"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_variables: ['a b']"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_providers: [GitHub]"))
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("connections_hosts: ['https://a.example']")
        )
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_hosts: ['*.']"))
    );
    println!(
        "@@{}",
        refusal(
            &[("KEY", "value-of-a-key")],
            Some("connections_private_hosts: [crm.internal]")
        )
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_max_per_org: 0"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_max_per_org: 10001"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_max_per_org: 1.5"))
    );
    println!(
        "@@{}",
        refusal(&[("KEY", "value-of-a-key")], Some("connections_providers_dir: ''"))
    );
    println!(
        "@@{}",
        refusal(&[("PUBLIC_URL", "https://playmaker.example.com")], None)
    );
    println!("@@{}", refusal(&[("PUBLIC_URL", "")], None));
    println!("@@{}", refusal(&[("PORT", "70000")], None));
    println!("@@{}", refusal(&[("PORT", "")], None));
    println!("@@{}", refusal(&[("HOST", "")], None));
    println!("@@{}", refusal(&[("HOST", "a b")], None));
    println!("@@{}", refusal(&[("METRICS_ADDR", "9464")], None));
    println!("@@{}", refusal(&[("LOG_FORMAT", "text")], None));
    println!("@@{}", refusal(&[("RUST_LOG", "a=b=c")], None));
    println!("@@{}", refusal(&[("DATABASE_URL", "mysql://u:pw@h/d")], None));
    println!("@@{}", refusal(&[("DATABASE_URL", "")], None));
    println!("@@{}", refusal(&[("DATABASE_URL", "sqlite:")], None));
    println!("@@{}", refusal(&[("SECRETS_STORE", "aws")], None));
    println!("@@{}", refusal(&[("SECRETS_STORE", "vault")], None));
    println!("@@{}", refusal(&[("SECRETS_PREFIX", "a b")], None));
    println!("@@{}", refusal(&[("SECRETS_KEYS", "")], None));
    println!(
        "@@{}",
        refusal(
            &[("SECRETS_KEYS", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")],
            None
        )
    );
    println!(
        "@@{}",
        refusal(
            &[("SECRETS_KEYS", "A:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")],
            None
        )
    );
    println!("@@{}", refusal(&[("SECRETS_KEYS", "a:AAAA")], None));
    println!(
        "@@{}",
        refusal(
            &[(
                "SECRETS_KEYS",
                "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            )],
            None
        )
    );
    println!("@@{}", refusal(&[("HTTPS_PROXY", "proxy:3128")], None));
    println!("@@{}", refusal(&[("HTTPS_PROXY", "socks5://u:pw@proxy")], None));
    println!("@@{}", refusal(&[("EXTRA_CA_CERTS", "nowhere.pem")], None));
    println!("@@{}", refusal(&[("API_KEYS", "")], None));
    println!("@@{}", refusal(&[("API_KEYS", "[{]")], None));
    println!("@@{}", refusal(&[("API_KEYS", "{}")], None));
    println!("@@{}", refusal(&[("API_KEYS", "[{\"id\":\"a\",\"id\":\"b\"}]")], None));
    println!(
        "@@{}",
        refusal(
            &[(
                "API_KEYS",
                "[{\"id\":\"ci\",\"org\":\"north\",\"sha256\":\"pmk_secret\"}]"
            )],
            None
        )
    );
    println!(
        "@@{}",
        refusal(
            &[(
                "TOOL_SERVERS",
                "{\"desk\":{\"org\":\"north\",\"url\":\"https://a.example/\",\"headers\":{\"A/B\":\"c\"}}}"
            )],
            None
        )
    );
    println!(
        "@@{}",
        refusal(
            &[(
                "TOOL_SERVERS",
                "{\"desk\":{\"org\":\"north\",\"url\":\"https://u:pw@a.example/\"}}"
            )],
            None
        )
    );
    println!(
        "@@{}",
        refusal(&[("ALLOWED_ORIGINS", "https://a.example,https://b.example/")], None)
    );
    println!("@@{}", refusal(&[("ALLOWED_ORIGINS", "[1]")], None));
    println!("@@{}", refusal(&[("CONNECTIONS_BY_HAND", "yes")], None));
    println!("@@{}", refusal(&[("CONNECTIONS_MAX_PER_ORG", "many")], None));
    println!("@@{}", refusal(&[("CONNECTIONS_MAX_PER_ORG", "0")], None));
    println!("@@{}", refusal(&[("CONNECTIONS_TYPES", "mcp,http")], None));
    println!("@@{}", refusal(&[("CONNECTIONS_VARIABLES", "CRM*")], None));
}
