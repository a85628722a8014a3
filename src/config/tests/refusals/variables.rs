use super::super::refusal;

#[test]
fn variables() {
    for (name, value, line) in ROWS {
        let told = refusal(&[(name, value)], None);
        assert_eq!(told, format!("variable {name}{line}"), "{name}={value}");
    }
}

#[test]
fn what_several_settings_make_together() {
    assert_eq!(
        refusal(&[("CONFIG_FILE", "nowhere.yaml")], None),
        "variable CONFIG_FILE: expected the path of a readable file"
    );
    assert_eq!(
        refusal(&[("DATABASE_URL", "postgres://u:pw@db.internal/playmaker")], None),
        "variable SECRETS_KEYS: expected one key or more, id:base64: with PostgreSQL several servers share them, so no \
         key file is made"
    );
}

/// A bad variable, its value, and what follows its name in the line it is refused with.
#[rustfmt::skip]
const ROWS: [(&str, &str, &str); 45] = [
    ("PUBLIC_URL", "",
        ": expected an origin such as https://playmaker.example, or http:// with a loopback host; no path, user or query"),
    ("PUBLIC_URL", "http://playmaker.example.com",
        ": expected an origin such as https://playmaker.example, or http:// with a loopback host; no path, user or query"),
    ("PUBLIC_URL", "https://playmaker.example.com/pm",
        ": expected an origin such as https://playmaker.example, or http:// with a loopback host; no path, user or query"),
    ("PUBLIC_URL", "https://user@playmaker.example.com",
        ": expected an origin such as https://playmaker.example, or http:// with a loopback host; no path, user or query"),
    ("PUBLIC_URL", "https://Playmaker.example.com",
        ": expected an origin such as https://playmaker.example, or http:// with a loopback host; no path, user or query"),
    ("PUBLIC_URL", "https://playmaker.example.com?x",
        ": expected an origin such as https://playmaker.example, or http:// with a loopback host; no path, user or query"),
    ("PORT", "70000",
        ": expected a whole number from 0 to 65535"),
    ("PORT", "",
        ": expected a whole number from 0 to 65535"),
    ("HOST", "",
        ": expected an address such as 0.0.0.0 or ::, or a host name"),
    ("HOST", "a b",
        ": expected an address such as 0.0.0.0 or ::, or a host name"),
    ("METRICS_ADDR", "127.0.0.1:9464",
        ": expected it not to be set: metrics are not in this build yet"),
    ("ORG_CREATION", "members",
        ": expected anyone, owners or nobody"),
    ("AUDIT_LOG", "yes",
        ": expected true or false"),
    ("AUDIT_RETENTION", "89d",
        ": expected days, from 90d to 3653d"),
    ("AUDIT_RETENTION", "a year",
        ": expected days, from 90d to 3653d"),
    ("LOG_FORMAT", "text",
        ": expected json or pretty"),
    ("RUST_LOG", "a=b=c",
        ": expected a filter such as info or playmaker=debug,info"),
    ("DATABASE_URL", "mysql://u:pw@h/d",
        ": expected sqlite: and the path of a file, or an address postgres://user@host/database"),
    ("DATABASE_URL", "",
        ": expected sqlite: and the path of a file, or an address postgres://user@host/database"),
    ("DATABASE_URL", "sqlite:",
        ": expected sqlite: and the path of a file, or an address postgres://user@host/database"),
    ("SECRETS_STORE", "aws",
        ": expected local: the store aws is not in this build yet"),
    ("SECRETS_STORE", "vault",
        ": expected local"),
    ("SECRETS_PREFIX", "a b",
        ": expected 1 to 64 letters, digits or / _ + = . @ -"),
    ("SECRETS_KEYS", "",
        ", at /0: expected an id, a colon, and 32 bytes in base64"),
    ("SECRETS_KEYS", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ", at /0: expected an id, a colon, and 32 bytes in base64"),
    ("SECRETS_KEYS", "A:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ", at /0: expected an id of 1 to 32 of a-z 0-9 - before the colon"),
    ("SECRETS_KEYS", "a:AAAA",
        ", at /0: expected 32 bytes in base64 after the colon"),
    ("SECRETS_KEYS", "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ", at /1: expected an id no other key has"),
    ("HTTPS_PROXY", "proxy:3128",
        ": expected the http or https address of a proxy"),
    ("HTTPS_PROXY", "socks5://u:pw@proxy",
        ": expected the http or https address of a proxy"),
    ("EXTRA_CA_CERTS", "nowhere.pem",
        ": expected the path of a readable file of PEM certificates"),
    ("API_KEYS", "",
        ", line 1, column 1: expected JSON"),
    ("API_KEYS", "[{]",
        ", line 1, column 3: expected JSON"),
    ("API_KEYS", "{}",
        ": expected a list"),
    ("API_KEYS", "[{\"id\":\"a\",\"id\":\"b\"}]",
        ", line 1, column 15: expected each key once"),
    ("API_KEYS", "[{\"id\":\"ci\",\"org\":\"north\",\"sha256\":\"pmk_secret\"}]",
        ", at /0/sha256: expected the SHA-256 of the key as 64 lower-case hex digits"),
    ("TOOL_SERVERS", "{\"desk\":{\"org\":\"north\",\"url\":\"https://a.example/\",\"headers\":{\"A/B\":\"c\"}}}",
        ", at /desk/headers/A~1B: expected the name of a header that is neither MCP's nor the message's own"),
    ("TOOL_SERVERS", "{\"desk\":{\"org\":\"north\",\"url\":\"https://u:pw@a.example/\"}}",
        ", at /desk/url: expected an address without a password"),
    ("ALLOWED_ORIGINS", "https://a.example,https://b.example/",
        ", at /1: expected an origin such as https://app.example.com, without path and default port"),
    ("ALLOWED_ORIGINS", "[1]",
        ", at /0: expected text (a number or true, false has to be quoted)"),
    ("CONNECTIONS_BY_HAND", "yes",
        ": expected true or false"),
    ("CONNECTIONS_MAX_PER_ORG", "many",
        ": expected a whole number"),
    ("CONNECTIONS_MAX_PER_ORG", "0",
        ": expected a whole number from 1 to 10000"),
    ("CONNECTIONS_TYPES", "mcp,http",
        ", at /1: expected one of mcp, openapi"),
    ("CONNECTIONS_VARIABLES", "CRM*",
        ", at /0: expected NAME, PREFIX_*, or one of these after an org and a colon"),
];
