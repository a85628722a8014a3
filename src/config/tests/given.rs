use std::time::Duration;

use super::super::{
    Access, Adders, CredentialKind, DEFAULT_FILE, DatabaseKind, Document, LogFormat, Permission, Playbooks, ServerType,
    Target, UsagePeriod, schema,
};
use super::{of_file, of_variables};

#[test]
fn everything_has_a_default() {
    let settings = of_variables(&[]);
    assert_eq!((settings.listener.host.as_str(), settings.listener.port), ("127.0.0.1", 5555));
    assert!(settings.listener.allowed_origins.is_empty());
    assert_eq!(settings.database.url.expose(), "sqlite:data/playmaker.db");
    assert_eq!(settings.database.kind, DatabaseKind::Sqlite);
    assert_eq!((settings.log_format, settings.log_filter.as_str()), (LogFormat::Json, "info"));
    assert_eq!(settings.api_keys, None);
    assert!(settings.tool_servers.is_empty());
    assert_eq!(settings.secrets.prefix, "playmaker");
    assert!(settings.secrets.keys.is_empty());
    assert!(settings.outbound.https_proxy.is_none() && settings.outbound.no_proxy.is_empty());
    let rules = settings.connections;
    assert_eq!((rules.add, rules.by_hand, rules.max_per_org), (Adders::People, true, 200));
    assert_eq!(rules.types, [ServerType::Mcp, ServerType::Openapi]);
    assert_eq!(rules.kinds.len(), 4);
    assert!(rules.offers("github") && rules.allows_host("api.example.com"));
    assert!(!rules.may_reference("north", "CRM_KEY") && rules.providers_dir.is_none());
}

#[test]
fn who_may_call() {
    let access = |variables: &[(&str, &str)]| of_variables(variables).access();
    for host in ["localhost", "127.0.0.1", "::1"] {
        assert_eq!(access(&[("HOST", host)]), Access::Local);
        assert_eq!(access(&[("HOST", host), ("API_KEYS", "[]")]), Access::Keys);
    }
    for host in ["0.0.0.0", "::", "127.0.0.2", "server.example.com"] {
        assert_eq!(access(&[("HOST", host)]), Access::Closed);
        assert_eq!(access(&[("HOST", host), ("API_KEYS", "[]")]), Access::Keys);
    }
}

#[test]
fn the_default_file_changes_nothing_and_its_examples_are_taken() {
    let quiet = of_file(DEFAULT_FILE);
    assert!(quiet.sources.from_file.is_empty() && quiet.access() == Access::Local);

    let examples: Vec<&str> = DEFAULT_FILE.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let settings = of_file(&examples.join("\n"));
    let mut keys = settings.sources.from_file.clone();
    keys.sort();
    assert_eq!(keys, super::super::given::file_keys().collect::<Vec<_>>(), "an example of every key");

    let desk = &settings.tool_servers["desk"];
    let Target::Remote(remote) = &desk.target else { panic!("a remote server") };
    assert_eq!(remote.url.as_str(), "https://desk.example.test/mcp");
    assert_eq!(remote.headers["authorization"].expose(), "Bearer desk-secret-1");
    assert_eq!(desk.secrets[0].expose(), "desk-secret-1");
    assert_eq!(desk.allowed.as_deref().unwrap(), ["find_tickets", "add_note"]);
    let files = &settings.tool_servers["files"];
    let Target::Process(process) = &files.target else { panic!("a process") };
    assert_eq!((process.command.as_str(), process.args[0].as_str()), ("/opt/tools/files-server", "--read-only"));
    assert_eq!(process.env["PATH"].expose(), "/usr/bin");
    assert!(!files.record_content && files.playbooks.is_none() && files.shown_type() == "mcp");
    let Target::OpenApi(weather) = &settings.tool_servers["weather"].target else { panic!("an API") };
    assert!(matches!(&weather.document, Document::Address(url) if url.path() == "/openapi.json"));
    assert_eq!(weather.refresh, Duration::from_hours(24));
    assert_eq!(weather.hints["get_forecast"].read_only_hint, Some(true));

    let key = &settings.api_keys.as_ref().unwrap()[0];
    assert_eq!((key.id.as_str(), key.sha256[0], key.playbooks.clone()), ("ci", 0x9f, Playbooks::All));
    assert!(!settings.connections.offers("gmail") && settings.connections.offers("github"));
    assert!(settings.connections.is_private_origin("https://crm.internal:8443"));
}

#[test]
fn a_variable_replaces_the_files_key_whole() {
    let file = "allowed_origins: ['https://a.example.com']\napi_keys: []\n";
    let settings = super::loaded(&[("ALLOWED_ORIGINS", "https://b.example.com, http://localhost:3000")], Some(file));
    let settings = settings.unwrap_or_else(|line| panic!("refused: {line}"));
    assert_eq!(settings.listener.allowed_origins, ["https://b.example.com", "http://localhost:3000"]);
    assert_eq!(settings.sources.from_file, ["allowed_origins", "api_keys"]);
    assert_eq!(settings.sources.replaced, ["allowed_origins"]);
    assert_eq!(settings.sources.file.unwrap().to_str(), Some("playmaker.yaml"));
}

#[test]
fn tool_servers_in_the_environment_take_references_as_the_file_does() {
    let written = r#"{"api":{"type":"openapi","org":"north","document":{"file":"api.json"},"url":"http://10.0.0.7/v1",
        "headers":{"X-Key":"${KEY}","X-Team":"${TEAM:-blue}$$"},"refresh":"P2D","exclude":["drop"],"rename":{"a":"b"}}}"#;
    let settings = of_variables(&[("TOOL_SERVERS", written), ("KEY", "value-of-the-key")]);
    let Target::OpenApi(api) = &settings.tool_servers["api"].target else { panic!("an API") };
    assert_eq!(api.headers["x-key"].expose(), "value-of-the-key");
    assert_eq!(api.headers["x-team"].expose(), "blue$");
    assert_eq!(api.refresh, Duration::from_hours(48));
    assert_eq!(api.document, Document::File("api.json".into()));
}

#[test]
fn keys_have_their_defaults_and_their_limits() {
    let digest = "ab".repeat(32);
    let written = format!(
        r#"[{{"id":"a","org":"north","sha256":"{digest}","expires_at":"2026-10-01T09:30:00Z","usage_limit":5}},
            {{"id":"a","org":"south","sha256":"{}","playbooks":["support"],"usage_limit":5,"usage_period":"day"}}]"#,
        "cd".repeat(32)
    );
    let keys = of_variables(&[("API_KEYS", &written)]).api_keys.unwrap();
    assert_eq!(keys[0].permissions, Permission::ALL);
    assert_eq!((keys[0].playbooks.clone(), keys[0].expires_at_ms), (Playbooks::All, Some(1_790_847_000_000)));
    assert_eq!(keys[0].usage_limit.unwrap().period, UsagePeriod::Total);
    assert_eq!(keys[1].playbooks, Playbooks::Only(vec!["support".into()]));
    assert_eq!(keys[1].usage_limit.unwrap().period, UsagePeriod::Day);
}

#[test]
fn rules_of_connections() {
    let settings = of_variables(&[
        ("CONNECTIONS_ADD", "nobody"),
        ("CONNECTIONS_BY_HAND", "false"),
        ("CONNECTIONS_KINDS", "secret, reference"),
        ("CONNECTIONS_PROVIDERS", "github,gmail,-gmail"),
        ("CONNECTIONS_HOSTS", "api.example.com,*.example.org"),
        ("CONNECTIONS_VARIABLES", r#"["north:CRM_*","SHARED_KEY","PROVIDER_*","DATABASE_URL"]"#),
        ("CRM_KEY", "crm-secret"),
        ("SHARED_KEY", "shared-secret"),
        ("OTHER_KEY", "other-secret"),
        ("PROVIDER_GOOGLE_SHEETS_CLIENT_ID", "client"),
        ("DATABASE_URL", "sqlite:data/other.db"),
    ]);
    let rules = &settings.connections;
    assert_eq!((rules.add, rules.by_hand), (Adders::Nobody, false));
    assert_eq!(rules.kinds, [CredentialKind::Secret, CredentialKind::Reference]);
    assert!(rules.offers("github") && !rules.offers("gmail") && !rules.offers("notion"));
    assert!(rules.allows_host("API.example.com") && rules.allows_host("a.b.example.org"));
    assert!(!rules.allows_host("example.org") && !rules.allows_host("badexample.org"));
    let value = |org, name| settings.reference(org, name).map(|secret| secret.expose());
    assert_eq!(value("north", "CRM_KEY"), Some("crm-secret"));
    assert_eq!(value("south", "CRM_KEY"), None);
    assert_eq!(value("south", "SHARED_KEY"), Some("shared-secret"));
    for own in ["OTHER_KEY", "PROVIDER_GOOGLE_SHEETS_CLIENT_ID", "DATABASE_URL"] {
        assert_eq!(value("north", own), None, "{own}");
    }
    let client = settings.provider_values.value("google-sheets", "client_id");
    assert_eq!(client.map(|secret| secret.expose()), Some("client"));
    assert!(settings.provider_values.value("google-sheets", "client_secret").is_none());
}

#[test]
fn the_ways_out_and_the_keys_of_the_secrets_store() {
    let keys = "new:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,old:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let settings = of_variables(&[
        ("DATABASE_URL", "postgres://playmaker:pw@db.internal/playmaker?sslmode=verify-full"),
        ("SECRETS_KEYS", keys),
        ("HTTPS_PROXY", "http://user:pw@proxy.internal:3128"),
        ("NO_PROXY", "localhost,.Internal"),
        ("EXTRA_CA_CERTS", "ca.pem"),
        ("LOG_FORMAT", "pretty"),
        ("PORT", "0"),
    ]);
    assert_eq!(settings.database.kind, DatabaseKind::Postgres);
    assert_eq!((settings.secrets.keys[0].id.as_str(), settings.secrets.keys[1].key.expose()[31]), ("new", 1));
    assert_eq!(settings.outbound.proxy_url().unwrap().port(), Some(3128));
    assert_eq!(settings.outbound.no_proxy, ["localhost", ".internal"]);
    assert!(settings.outbound.extra_ca_certs.unwrap().pem.starts_with("-----BEGIN"));
    assert_eq!((settings.log_format, settings.listener.port), (LogFormat::Pretty, 0));
}

#[test]
fn the_schema_has_every_key_of_the_file_and_no_other() {
    let schema = schema();
    let mut keys: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, super::super::given::file_keys().collect::<Vec<_>>());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let examples: Vec<&str> = DEFAULT_FILE.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let file: serde_json::Value = serde_saphyr::from_str(&examples.join("\n")).unwrap();
    let faults: Vec<String> = validator.iter_errors(&file).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert!(!validator.is_valid(&serde_json::json!({ "port": 1 })));
}
