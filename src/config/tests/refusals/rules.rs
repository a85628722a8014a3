use super::refused;

#[test]
fn lists_and_rules() {
    refused(&ROWS);
}

#[rustfmt::skip]
const ROWS: [super::Row; 22] = [
    ("allowed_origins: https://a.example",
        "line 1, column 18, key allowed_origins: expected a list"),
    ("allowed_origins: ['*']",
        "line 1, column 19, key allowed_origins.0: expected an origin such as https://app.example.com, without path and default port"),
    ("allowed_origins: ['https://a.example/']",
        "line 1, column 19, key allowed_origins.0: expected an origin such as https://app.example.com, without path and default port"),
    ("allowed_origins: ['https://a.example:443']",
        "line 1, column 19, key allowed_origins.0: expected an origin such as https://app.example.com, without path and default port"),
    ("allowed_origins: [null]",
        "line 1, column 19, key allowed_origins.0: expected text (a number or true, false has to be quoted)"),
    ("connections_add: everybody",
        "line 1, column 18, key connections_add: expected one of people, admins, nobody"),
    ("connections_add: 1",
        "line 1, column 18, key connections_add: expected one of people, admins, nobody"),
    ("connections_by_hand: 1",
        "line 1, column 22, key connections_by_hand: expected true or false"),
    ("connections_types: [http]",
        "line 1, column 21, key connections_types.0: expected one of mcp, openapi"),
    ("connections_types: [mcp, mcp]",
        "line 1, column 26, key connections_types.1: expected each once"),
    ("connections_kinds: [oauth]",
        "line 1, column 21, key connections_kinds.0: expected one of authorization, secret, client_credentials, reference"),
    ("connections_variables: ['*']",
        "line 1, column 25, key connections_variables.0: expected NAME, PREFIX_*, or one of these after an org and a colon"),
    ("connections_variables: ['north:']",
        "line 1, column 25, key connections_variables.0: expected NAME, PREFIX_*, or one of these after an org and a colon"),
    ("connections_variables: ['a b']",
        "line 1, column 25, key connections_variables.0: expected NAME, PREFIX_*, or one of these after an org and a colon"),
    ("connections_providers: [GitHub]",
        "line 1, column 25, key connections_providers.0: expected *, the name of a provider, or -name to leave one out"),
    ("connections_hosts: ['https://a.example']",
        "line 1, column 21, key connections_hosts.0: expected *, a host name in lower case, or *.example.com"),
    ("connections_hosts: ['*.']",
        "line 1, column 21, key connections_hosts.0: expected *, a host name in lower case, or *.example.com"),
    ("connections_private_hosts: [crm.internal]",
        "line 1, column 29, key connections_private_hosts.0: expected an origin such as https://app.example.com, without path and default port"),
    ("connections_max_per_org: 0",
        "line 1, column 26, key connections_max_per_org: expected a whole number from 1 to 10000"),
    ("connections_max_per_org: 10001",
        "line 1, column 26, key connections_max_per_org: expected a whole number from 1 to 10000"),
    ("connections_max_per_org: 1.5",
        "line 1, column 26, key connections_max_per_org: expected a whole number"),
    ("connections_providers_dir: ''",
        "line 1, column 28, key connections_providers_dir: expected the path of a folder"),
];
