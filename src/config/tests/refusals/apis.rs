use super::refused;

#[test]
fn entries_of_apis() {
    refused(&ROWS);
}

#[rustfmt::skip]
const ROWS: [super::Row; 17] = [
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n",
        "line 3, column 5, key tool_servers.desk: expected either document or document_source, and not both"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    document_source: '{}'\n",
        "line 3, column 5, key tool_servers.desk: expected either document or document_source, and not both"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    command: /opt/files\n",
        "line 6, column 5, key tool_servers.desk.command: expected no such key in an entry of type openapi"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    env: {}\n",
        "line 6, column 5, key tool_servers.desk.env: expected no such key in an entry of type openapi"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: { path: a }\n",
        "line 5, column 15, key tool_servers.desk.document: expected an address, or a map with the one key file"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: { file: '' }\n",
        "line 5, column 23, key tool_servers.desk.document.file: expected the path of a file"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document_source: ''\n",
        "line 5, column 22, key tool_servers.desk.document_source: expected the text of a document, at most 512 KiB"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    hosts: ['https://a.example/path']\n",
        "line 6, column 13, key tool_servers.desk.hosts.0: expected an origin such as https://app.example.com, without path and default port"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    hosts: [a.example]\n",
        "line 6, column 13, key tool_servers.desk.hosts.0: expected an origin such as https://app.example.com, without path and default port"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    include: []\n",
        "line 6, column 14, key tool_servers.desk.include: expected one operation or more; all are taken when it is left out"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    exclude: ['a*']\n",
        "line 6, column 15, key tool_servers.desk.exclude.0: expected the name of a tool: 1 to 128 letters, digits, _ - or . (no *)"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    rename: { a: c, b: c }\n",
        "line 6, column 24, key tool_servers.desk.rename.b: expected a name for the tool that no other is renamed to"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    hints: { a: { readOnly: true } }\n",
        "line 6, column 19, key tool_servers.desk.hints.a.readOnly: expected one of readOnlyHint, destructiveHint, idempotentHint"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    refresh: PT1M\n",
        "line 6, column 14, key tool_servers.desk.refresh: expected a duration from PT1H to P30D"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    refresh: P31D\n",
        "line 6, column 14, key tool_servers.desk.refresh: expected a duration from PT1H to P30D"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    refresh: daily\n",
        "line 6, column 14, key tool_servers.desk.refresh: expected a duration from PT1H to P30D"),
    ("tool_servers:\n  desk:\n    org: north\n    type: openapi\n    document: https://api.example.test/openapi.json\n    server_variables: { region: 1 }\n",
        "line 6, column 33, key tool_servers.desk.server_variables.region: expected text (a number or true, false has to be quoted)"),
];
