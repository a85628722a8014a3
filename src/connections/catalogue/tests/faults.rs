//! What is refused in a file, and where the refusal says it is.

use super::super::*;
use super::{SHOP, catalogue, fault, files};

/// What is replaced, by what, the text that stands at the place told, and the words told.
const FAULTS: &[(&str, &str, &str, &str)] = &[
    ("name: shop\n", "name: shop\nname: two\n", "name: two", "the field name is there twice"),
    ("title: Shop\n", "titel: Shop\n", "titel", "unknown field"),
    ("title: Shop\n", "title: &a Shop\n", "", "anchors and aliases"),
    ("title: Shop\n", "title: *a\n", "*a", ""),
    ("title: Shop\n", "title: !!str Shop\n", "", "tags are not allowed"),
    ("title: Shop\n", "title: Shop\n<<: { docs: x }\n", "<<", "merge keys"),
    ("title: Shop\n", "title: \"a\\u202eb\"\n", "\"a\\u202e", "expected plain text"),
    ("title: Shop\n", "title: Shop\ndocs: javascript:alert(1)\n", "javascript", "expected an https address"),
    ("title: Shop\n", "title: Shop\ndocs: http://a.b\n", "http:", "expected an https address"),
    ("title: Shop\n", "title: Shop\nicon: ../x.png\n", "../x", "expected the name of a .png"),
    ("title: Shop\n", "title: Shop\nreplaces: true\n", "true", "there is no built-in provider"),
    ("name: shop\n", "name: store\n", "store", "expected shop, as the file is named"),
    ("'^[a-z0-9-]{2,63}$'", "'[a-z'", "'[a-z'", "expected a pattern anchored"),
    ("'^[a-z0-9-]{2,63}$'", "'^[a-z$'", "'^[a-z$'", "expected a pattern of the linear-time kind"),
    ("'^[a-z0-9-]{2,63}$'", "'^(?=a).$'", "'^(?=a).$'", "expected a pattern of the linear-time kind"),
    ("'^[a-z0-9-]{2,63}$'", "'^(\\w{500}){500}$'", "'^(\\w", "the pattern is too large"),
    ("example: blue-door", "example: Blue.Door", "Blue.Door", "must be 1 to 63"),
    ("example: blue-door", "example: b", "b }", "does not match"),
    ("https://{shop}.example.com", "data:{shop}", "'data:", "expected an https address"),
    ("https://{shop}.example.com", "https://a.{shop}", "'https://a.", "{shop} must be a whole label"),
    ("https://{shop}.example.com", "https://x{shop}.a.com", "'https://x", "{shop} must be a whole label"),
    ("https://{shop}.example.com", "https://{shop}@a.com", "'https://{", "expected an address with a host"),
    ("https://{shop}.example.com", "https://a.com/{shop}", "'https://a.", "{shop} must be a whole label"),
    ("https://{shop}.example.com", "https://a.com", "shop, title", "{shop} stands in no address"),
    ("{ref}'", "{other}'", "'https://{", "{other} is not among the placeholders"),
    ("{ref}'", "{ref'", "'https://{", "expected {name}"),
    ("type: mcp,", "type: ftp,", "ftp", "unknown variant"),
    ("type: mcp,", "type: mcp, toolkit: notion,", "notion", "an MCP server has no toolkit"),
    ("type: mcp,", "type: openapi,", "{ type", "expected exactly one of toolkit and document"),
    ("type: mcp,", "type: openapi, toolkit: none,", "none", "there is no toolkit none"),
    ("type: mcp,", "type: mcp, headers: { Cookie: a },", "a }", "this header may not be set"),
    ("type: mcp,", "type: mcp, hosts: ['https://a.b'],", "['https", "only a server with a document"),
    (
        "in: header }\n",
        "in: header }\n  - { kind: secret, title: B, name: X-B, in: header }\n",
        "secret, title: B",
        "a way of the kind secret is there twice",
    ),
    ("name: X-Shop-Key, ", "", "{ kind", "expected name and in"),
    ("name: X-Shop-Key, ", "name: Host, ", "Host", "this header may not carry a credential"),
    ("in: header }\n", "in: query, scheme: Bearer }\n", "Bearer", "only a header has a scheme"),
    ("in: header }\n", "in: header, token_url: 'https://a.b' }\n", "'https://a.b'", "a way of the kind secret has no"),
    ("kind: secret", "kind: authorization", "X-Shop-Key", "a way of the kind authorization has no name"),
    ("kind: secret", "kind: password", "password", "unknown variant"),
];

/// Security case 62.
#[test]
fn faults_of_a_file_are_told_with_line_and_column() {
    for (from, to, at, words) in FAULTS {
        assert!(SHOP.contains(from), "{from}");
        let text = SHOP.replacen(from, to, 1);
        let Err(fault) = Catalogue::with(&files(&text)) else {
            panic!("taken: {to}");
        };
        let line = text.lines().nth(fault.line - 1).unwrap_or_default();
        let found: String = line.chars().skip(fault.column - 1).collect();
        assert!(found.starts_with(at) && fault.detail.contains(words), "{to}: {fault}, at {found}");
        assert!(fault.to_string().starts_with(&format!("shop.yaml:{}:{}: ", fault.line, fault.column)));
    }
}

/// Security case 62.
#[test]
fn a_file_too_deep_too_large_or_an_alias_bomb_is_refused() {
    let deep = SHOP.replace("title: Shop\n", &format!("title: {}x{}\n", "[".repeat(20), "]".repeat(20)));
    assert!(fault(&deep).contains("more than 16 levels"));
    let large = format!("{SHOP}# {}\n", "x".repeat(64 * 1024));
    assert!(fault(&large).contains("larger than 64 KiB"));
    let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n";
    assert_eq!(fault(bomb), "shop.yaml:1:7: anchors and aliases are not allowed; write the value out");
    assert!(fault("").starts_with("shop.yaml:1:"));
    assert!(fault(&format!("{SHOP}---\nname: two\n")).starts_with("shop.yaml:1"));
}

/// A way by which people sign in, with every field of the kind.
const SIGN_IN: &str = "
  - kind: authorization
    title: Sign in
    values: [{ name: client_id }, { name: client_secret, secret: true }]
    authorize_url: https://{shop}.example.com/authorize
    token_url: https://{shop}.example.com/token
    revocation_url: https://{shop}.example.com/revoke
    issuer: https://{shop}.example.com
    client_auth: client_secret_post
    request_body: json
    pkce: none
    resource: server
    authorize_params: { access_type: offline, include_granted_scopes: 'false' }
    token_params: { a: b }
    refresh_params: { a: b }
    scopes: { required: [orders], default: [profile, orders], separator: comma, parameter: user_scope }
    token: { access_token: /authed/access_token, answer: auto, default_lifetime: 3600, error_in_200: true }
    refresh: { rotates: never, margin: 120, idle_days: 60, terminal: [invalid_grant], transient: [busy] }
    use: { name: X-Token, in: header, scheme: Token }
    revoke: { method: delete, token: access, ends: grant }
";

#[test]
fn a_sign_in_is_offered_where_a_provider_can_send_people_back_and_the_file_says_where_it_is() {
    let text = format!("{SHOP}{}", SIGN_IN.trim_start_matches('\n'));
    let catalogue = catalogue(&text);
    let provider = catalogue.get("shop").unwrap();
    let way = provider.way(Kind::Authorization).unwrap();
    assert_eq!((way.pkce, way.request_body), (Pkce::None, RequestBody::Json));
    assert_eq!(way.scopes.as_ref().unwrap().separator, Separator::Comma);
    assert!(way.refresh.as_ref().unwrap().supported);
    let rules = |returns| Rules {
        kinds: vec![Kind::Authorization, Kind::ClientCredentials, Kind::Secret],
        providers: Shown::parse("*"),
        variables: false,
        returns,
    };
    for (returns, set, expected) in [(true, true, true), (false, true, false), (true, false, false)] {
        let rules = rules(returns);
        let offered: Vec<bool> = provider.ways(&|_| set, &rules).map(|(_, offered)| offered).collect();
        assert_eq!(offered, [true, expected], "{returns} {set}");
    }
    assert_eq!(provider.missing_variables(way, &|_| false).len(), 2);

    let faults = [
        ("    token_url: https://{shop}.example.com/token\n", "", "expected authorize_url and token_url"),
        ("    issuer:", "    discovery: true\n    issuer:", "with discovery"),
        ("required: [orders]", "required: [stock]", "stock is required"),
        ("    values: [{ name: client_id }, { name: client_secret, secret: true }]\n", "", "expected client_id"),
        ("access_token: /authed", "access_token: authed", "expected a JSON Pointer"),
        ("{shop}.example.com/token", "evil.com/{shop}", "{shop} must be a whole label"),
        ("    pkce: none\n", "    registration: auto\n", "only a way with discovery"),
        ("scopes: {", "scope: a\n    scopes: {", "has no scope"),
    ];
    for (from, to, words) in faults {
        assert!(text.contains(from), "{from}");
        let told = fault(&text.replacen(from, to, 1));
        assert!(told.contains(words), "{to}: {told}");
    }
}

#[test]
fn two_values_are_joined_only_when_the_file_says_where_to() {
    let two = "fields: [{ name: user, title: User }, { name: key, title: Key, secret: true }]";
    let joined = SHOP.replace(
        "name: X-Shop-Key, in: header",
        &format!("name: Authorization, in: header, scheme: Basic, encode: basic, {two}"),
    );
    let found = catalogue(&joined);
    let way = found.get("shop").unwrap().way(Kind::Secret).unwrap();
    assert_eq!((way.fields.len(), way.encode), (2, Some(Encode::Basic)));
    catalogue(&SHOP.replace("name: X-Shop-Key, in: header", &format!("in: query, {two}")));
    for (way, words) in [
        (format!("name: A, in: query, {two}"), "under its own name"),
        (format!("encode: basic, {two}"), "where the joined value goes"),
        ("name: A, in: header, encode: basic, fields: [{ name: a, title: A }]".to_owned(), "exactly two fields"),
    ] {
        let told = fault(&SHOP.replace("name: X-Shop-Key, in: header", &way));
        assert!(told.contains(words), "{told}");
    }
}
