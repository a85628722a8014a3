use super::refused;

#[test]
fn a_file_that_is_not_a_file_of_settings() {
    refused(&ROWS);
}

#[rustfmt::skip]
const ROWS: [super::Row; 13] = [
    ("tool_servers: [",
        "line 1, column 15: expected well-formed YAML, one document"),
    ("- 1",
        "line 1, column 1: expected a map of settings"),
    ("just text",
        "line 1, column 1: expected a map of settings"),
    ("api_keys: []\napi_keys: []",
        "line 2, column 1: expected each key once"),
    ("a: 1\n---\nb: 2",
        "line 3, column 1: expected well-formed YAML, one document"),
    ("api_keys: []\ndatabase_url: postgres://u:pw@h/d",
        "line 2, column 1, key database_url: expected no such key: it holds a password, so set the variable DATABASE_URL"),
    ("port: 5555",
        "line 1, column 1, key port: expected no such key: the file holds lists and maps, so set the variable PORT"),
    ("provider_x_client_secret: abc",
        "line 1, column 1, key provider_x_client_secret: expected no such key: the file holds lists and maps, so set the variable PROVIDER_X_CLIENT_SECRET"),
    ("toolservers: {}",
        "line 1, column 1, key toolservers: expected one of allowed_origins, api_keys, connections_add, connections_by_hand, connections_hosts, connections_kinds, connections_max_per_org, connections_private_hosts, connections_providers, connections_providers_dir, connections_types, connections_variables, oauth_clients, sign_in_providers, tool_servers"),
    ("? [a, b]\n: 1",
        "line 1, column 3: expected well-formed YAML, one document"),
    ("allowed_models: []",
        "line 1, column 1, key allowed_models: expected one of allowed_origins, api_keys, connections_add, connections_by_hand, connections_hosts, connections_kinds, connections_max_per_org, connections_private_hosts, connections_providers, connections_providers_dir, connections_types, connections_variables, oauth_clients, sign_in_providers, tool_servers"),
    ("api_keys: *nowhere",
        "line 1, column 11: expected well-formed YAML, one document"),
    ("line\u{7}: 1",
        "line 1, column 1: expected well-formed YAML, one document"),
];
