use super::refused;

#[test]
fn references_and_credentials_written_out() {
    refused(&ROWS);
}

#[rustfmt::skip]
const ROWS: [super::Row; 22] = [
    ("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: '${OTHER}' }\n",
        "line 5, column 19, key tool_servers.desk.headers.A: expected the variable OTHER to be set"),
    ("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: '${KEY' }\n",
        "line 5, column 19, key tool_servers.desk.headers.A: expected references as ${NAME} or ${NAME:-text}, and $$ for a dollar sign"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { A: '${OTHER}' }\n",
        "line 5, column 15, key tool_servers.desk.env.A: expected the variable OTHER to be set"),
    ("tool_servers:\n  desk:\n    org: north\n    url: https://${KEY}.example/\n",
        "line 4, column 10, key tool_servers.desk.url: expected no reference here: ${NAME} stands in headers and env alone"),
    ("tool_servers:\n  desk:\n    org: north\n    command: ${KEY}\n",
        "line 4, column 14, key tool_servers.desk.command: expected no reference here: ${NAME} stands in headers and env alone"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    args: [a, '--key=${KEY}']\n",
        "line 5, column 15, key tool_servers.desk.args.1: expected no reference here: ${NAME} stands in headers and env alone"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    server_variables: { region: '${KEY}' }\n",
        "line 6, column 33, key tool_servers.desk.server_variables.region: expected no reference here: ${NAME} stands in headers and env alone"),
    ("tool_servers:\n  desk:\n    org: north\n    url: https://user:pw@desk.example.test/mcp\n",
        "line 4, column 10, key tool_servers.desk.url: expected an address without a password"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    url: https://:pw@desk.example.test/\n",
        "line 6, column 10, key tool_servers.desk.url: expected an address without a password"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    args: ['https://user:pw@desk.example.test/']\n",
        "line 5, column 12, key tool_servers.desk.args.0: expected an address without a password"),
    ("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { Authorization: 'Bearer 8f3k2j4h5g6d7s8a' }\n",
        "line 5, column 31, key tool_servers.desk.headers.Authorization: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: '${KEY:-ghp_0123456789abcdefghij}' }\n",
        "line 5, column 19, key tool_servers.desk.headers.A: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    args: ['--key=ghp_0123456789abcdefghij']\n",
        "line 5, column 12, key tool_servers.desk.args.0: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { KEY: sk-0123456789abcdefghij }\n",
        "line 5, column 17, key tool_servers.desk.env.KEY: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp?key=ghp_0123456789abcdefghij\n",
        "line 4, column 10, key tool_servers.desk.url: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    url: https://ghp_0123456789abcdefghij@desk.example.test/mcp\n",
        "line 4, column 10, key tool_servers.desk.url: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { A: \"-----BEGIN PRIVATE KEY-----\" }\n",
        "line 5, column 15, key tool_servers.desk.env.A: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    url: https://desk.example.test/mcp\n    headers: { A: 0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R }\n",
        "line 5, column 19, key tool_servers.desk.headers.A: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    args: [--key, 'token=0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R']\n",
        "line 5, column 19, key tool_servers.desk.args.1: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    args: ['postgres://user:pw@db.internal/crm']\n",
        "line 5, column 12, key tool_servers.desk.args.0: expected an address without a password"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    server_variables: { region: ghp_0123456789abcdefghij }\n",
        "line 6, column 33, key tool_servers.desk.server_variables.region: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
    ("tool_servers:\n  desk:\n    org: north\n    command: /opt/files\n    env: { URL: 'https://a.example/0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R' }\n",
        "line 5, column 17, key tool_servers.desk.env.URL: expected no credential here: put it into a variable and write ${NAME} in headers or env"),
];
