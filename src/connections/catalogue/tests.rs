//! The catalogue through its public surface: what comes with the program, what is refused, how addresses are filled.

use serde_json::{Map, Value, json};

use super::*;

const SHOP: &str = "\
name: shop
title: Shop
description: Orders and stock.
placeholders:
  - { name: shop, title: Shop, description: Name of the shop, in: host_label, pattern: '^[a-z0-9-]{2,63}$', example: blue-door }
  - { name: team, title: Team, description: Its team, in: path, pattern: '^.{1,40}$', default: main }
  - { name: ref, title: Project, description: Its project, in: query, options: [one, two&x=1] }
server: { type: mcp, url: 'https://{shop}.example.com/teams/{team}/mcp?project={ref}' }
ways:
  - { kind: secret, title: Key, name: X-Shop-Key, in: header }
";

fn files(text: &str) -> Vec<File> {
    vec![File {
        name: "shop.yaml".into(),
        text: text.into(),
    }]
}

fn catalogue(text: &str) -> Catalogue {
    Catalogue::with(&files(text)).unwrap_or_else(|fault| panic!("{fault}"))
}

fn fault(text: &str) -> String {
    match Catalogue::with(&files(text)) {
        Ok(_) => panic!("taken:\n{text}"),
        Err(fault) => fault.to_string(),
    }
}

fn filled(given: &Value) -> Result<String, Vec<String>> {
    let catalogue = catalogue(SHOP);
    let given: Map<String, Value> = given.as_object().cloned().unwrap_or_default();
    catalogue
        .resolve(catalogue.get("shop").unwrap(), &given)
        .map(|resolved| resolved.url)
        .map_err(|issues| issues.into_iter().map(|issue| issue.pointer).collect())
}

#[test]
fn every_file_that_comes_with_the_program_is_listed_and_loads() {
    let catalogue = Catalogue::built_in().unwrap_or_else(|fault| panic!("{fault}"));
    let folder = |name: &str| -> Vec<String> {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/connections")
            .join(name);
        let mut names: Vec<String> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".yaml"))
            .collect();
        names.sort();
        names
    };
    let named = |names: &mut dyn Iterator<Item = &String>| -> Vec<String> {
        names
            .map(|name| format!("{}.yaml", name.trim_end_matches(".yaml")))
            .collect()
    };
    assert_eq!(named(&mut catalogue.providers.keys()), folder("providers"));
    assert_eq!(named(&mut catalogue.toolkits.keys()), folder("toolkits"));
    assert_eq!(named(&mut catalogue.documents.keys()), folder("documents"));
}

#[test]
fn every_provider_resolves_with_its_examples_and_has_a_way_without_sign_in() {
    let catalogue = Catalogue::built_in().unwrap();
    let rules = Rules {
        kinds: vec![Kind::Secret],
        providers: Shown::parse("*"),
        variables: false,
    };
    for provider in catalogue.all() {
        let examples: Map<String, Value> = provider
            .placeholders
            .iter()
            .filter_map(|placeholder| Some((placeholder.name.clone(), json!(placeholder.example.clone()?))))
            .collect();
        let resolved = catalogue.resolve(provider, &examples).unwrap();
        assert_eq!(
            resolved.source.is_some(),
            resolved.r#type == Type::Openapi,
            "{}",
            provider.name
        );
        let way = provider.preferred_way(&|_| false, &rules).unwrap();
        assert_eq!(way.kind, Kind::Secret, "{}", provider.name);
        assert!(way.put().is_some() && provider.verify.is_some(), "{}", provider.name);
    }
}

#[test]
fn the_toolkits_name_their_tools_and_the_place_of_each_argument() {
    for (toolkit, text) in embedded::TOOLKITS {
        let document: Value = serde_saphyr::from_str(text).unwrap();
        assert_eq!(document["name"], json!(toolkit));
        let tools = document["tools"].as_array().unwrap();
        let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        for tool in tools {
            let name = tool["name"].as_str().unwrap();
            let path = tool["path"].as_str().unwrap();
            assert!(name.starts_with(&format!("{}_", toolkit.replace('-', "_"))) && name.len() <= 64);
            assert!(tool["description"].as_str().unwrap().chars().count() <= 200, "{name}");
            let arguments = tool["arguments"]["properties"].as_object().unwrap();
            for required in tool["arguments"]["required"].as_array().into_iter().flatten() {
                assert!(arguments.contains_key(required.as_str().unwrap()), "{name} {required}");
            }
            for (argument, schema) in arguments {
                let place = schema["x-in"].as_str().unwrap();
                assert!(
                    ["path", "query", "header", "body"].contains(&place),
                    "{name} {argument}"
                );
                assert_eq!(
                    place == "path",
                    path.contains(&format!("{{{argument}}}")),
                    "{name} {argument}"
                );
            }
            assert_eq!(
                path.matches('{').count(),
                arguments.values().filter(|schema| schema["x-in"] == "path").count()
            );
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

#[test]
fn featured_providers_come_first_and_the_others_by_title() {
    let catalogue = catalogue(&SHOP.replace("title: Shop\ndesc", "title: Aardvark\ndesc"));
    let names: Vec<&str> = catalogue.all().iter().map(|found| found.name.as_str()).collect();
    assert_eq!(names, ["notion", "shop", "calendly", "huggingface"]);
    assert!(catalogue.get("Notion").is_none());
}

#[test]
fn providers_are_found_by_words_and_by_their_beginnings() {
    let catalogue = Catalogue::built_in().unwrap();
    let found = |terms: &str| -> Vec<String> { catalogue.find(terms).iter().map(|found| found.name.clone()).collect() };
    assert_eq!(found("Notion")[0], "notion");
    assert_eq!(found("cale"), ["calendly"]);
    assert_eq!(found("a knowledge base, please"), ["notion"]);
    assert_eq!(found("model")[0], "huggingface");
    assert_eq!(found("zzz"), Vec::<String>::new());
    assert_eq!(found("").len(), catalogue.all().len());
}

#[test]
fn faults_of_a_file_are_told_with_line_and_column() {
    let cases = [
        (
            "name: shop\n",
            "name: shop\nname: shop\n",
            "shop.yaml:2:1: the field name is there twice",
        ),
        ("title: Shop\n", "titel: Shop\n", "shop.yaml:2:1: "),
        (
            "title: Shop\n",
            "title: &a Shop\n",
            "shop.yaml:2:11: anchors and aliases",
        ),
        ("title: Shop\n", "title: *a\n", "shop.yaml:2:8: "),
        (
            "title: Shop\n",
            "title: !!str Shop\n",
            "shop.yaml:2:14: tags are not allowed",
        ),
        (
            "title: Shop\n",
            "title: Shop\n<<: { docs: x }\n",
            "shop.yaml:3:1: merge keys",
        ),
        (
            "title: Shop\n",
            "title: \"a\\u202eb\"\n",
            "shop.yaml:2:8: expected plain text",
        ),
        (
            "title: Shop\n",
            "title: Shop\ndocs: javascript:alert(1)\n",
            "shop.yaml:3:7: expected an https address",
        ),
        (
            "title: Shop\n",
            "title: Shop\ndocs: http://example.com\n",
            "shop.yaml:3:7: expected an https address",
        ),
        (
            "title: Shop\n",
            "title: Shop\nicon: ../x.png\n",
            "shop.yaml:3:7: expected the name of a .png",
        ),
        (
            "title: Shop\n",
            "title: Shop\nreplaces: true\n",
            "shop.yaml:3:11: there is no built-in provider",
        ),
        (
            "name: shop\n",
            "name: store\n",
            "shop.yaml:1:7: expected shop, as the file is named",
        ),
        (
            "'^[a-z0-9-]{2,63}$'",
            "'[a-z'",
            "shop.yaml:5:101: expected a pattern anchored",
        ),
        (
            "'^[a-z0-9-]{2,63}$'",
            "'^(?=a).$'",
            "shop.yaml:5:101: expected a pattern of the linear-time kind",
        ),
        (
            "example: blue-door",
            "example: Blue.Door",
            "shop.yaml:5:131: must be 1 to 63",
        ),
        ("example: blue-door", "example: b", "shop.yaml:5:131: does not match"),
        (
            "https://{shop}.example.com",
            "data:{shop}",
            "shop.yaml:8:28: expected an https address",
        ),
        (
            "https://{shop}.example.com",
            "https://a.{shop}",
            "shop.yaml:8:28: {shop} must be a whole label",
        ),
        (
            "https://{shop}.example.com",
            "https://x{shop}.example.com",
            "shop.yaml:8:28: {shop} must be a whole label",
        ),
        (
            "https://{shop}.example.com",
            "https://{shop}@example.com",
            "shop.yaml:8:28: expected an address with a host",
        ),
        (
            "https://{shop}.example.com",
            "https://example.com/{shop}",
            "shop.yaml:8:28: {shop} must be a whole label",
        ),
        (
            "https://{shop}.example.com",
            "https://example.com",
            "shop.yaml:5:13: {shop} stands in no address",
        ),
        (
            "{ref}'",
            "{other}'",
            "shop.yaml:8:28: {other} is not among the placeholders",
        ),
        ("type: mcp,", "type: ftp,", "shop.yaml:8:17: "),
        (
            "type: mcp,",
            "type: mcp, toolkit: notion,",
            "shop.yaml:8:31: an MCP server has no toolkit",
        ),
        (
            "type: mcp,",
            "type: openapi, toolkit: none,",
            "shop.yaml:8:35: there is no toolkit none",
        ),
        (
            "type: mcp,",
            "type: mcp, headers: { Cookie: a },",
            "shop.yaml:8:41: this header may not be set",
        ),
        (
            "in: header }\n",
            "in: header }\n  - { kind: secret, title: B, name: X-B, in: header }\n",
            "shop.yaml:11:13: a way of the kind secret is there twice",
        ),
        ("name: X-Shop-Key, ", "", "shop.yaml:10:5: expected name and in"),
        (
            "name: X-Shop-Key, ",
            "name: Host, ",
            "shop.yaml:10:38: this header may not carry a credential",
        ),
        (
            "in: header }\n",
            "in: query, scheme: Bearer }\n",
            "shop.yaml:10:69: only a header has a scheme",
        ),
        (
            "in: header }\n",
            "in: header, token_url: 'https://a.b' }\n",
            "shop.yaml:10:73: a way of the kind secret has no",
        ),
        (
            "kind: secret",
            "kind: authorization",
            "shop.yaml:10:46: a way of the kind authorization has no name",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(SHOP.contains(from), "{from}");
        let told = fault(&SHOP.replacen(from, to, 1));
        assert!(told.starts_with(expected), "{to}: expected {expected}, told {told}");
    }
}

#[test]
fn a_file_too_deep_too_large_or_an_alias_bomb_is_refused() {
    let deep = SHOP.replace(
        "title: Shop\n",
        &format!("title: {}x{}\n", "[".repeat(20), "]".repeat(20)),
    );
    assert!(fault(&deep).contains("more than 16 levels"));
    let large = format!("{SHOP}# {}\n", "x".repeat(64 * 1024));
    assert!(fault(&large).contains("larger than 64 KiB"));
    let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n";
    assert_eq!(
        fault(bomb),
        "shop.yaml:1:7: anchors and aliases are not allowed; write the value out"
    );
    assert!(fault("").starts_with("shop.yaml:1:"));
    assert!(fault(&format!("{SHOP}---\nname: two\n")).starts_with("shop.yaml:1"));
}

#[test]
fn a_built_in_name_is_taken_only_with_replaces() {
    let mine = SHOP.replace("name: shop\n", "name: notion\n");
    let file = |text: &str| {
        vec![File {
            name: "notion.yaml".into(),
            text: text.into(),
        }]
    };
    let told = Catalogue::with(&file(&mine)).unwrap_err().to_string();
    assert!(
        told.starts_with("notion.yaml:1:7: a built-in provider has this name"),
        "{told}"
    );
    let replacing = mine.replace("title: Shop\n", "title: Ours\nreplaces: true\n");
    let catalogue = Catalogue::with(&file(&replacing)).unwrap();
    assert_eq!(catalogue.get("notion").unwrap().title, "Ours");
    let mut twice = file(&replacing);
    twice.extend(file(&replacing));
    assert!(Catalogue::with(&twice).unwrap_err().detail.contains("twice"));
}

#[test]
fn an_operators_document_lies_beside_its_provider() {
    let api = SHOP.replace("type: mcp,", "type: openapi, document: { file: shop.json },");
    assert!(fault(&api).contains("there is no document shop.json"));
    let mut both = files(&api);
    both.push(File {
        name: "shop.json".into(),
        text: "{}".into(),
    });
    let catalogue = Catalogue::with(&both).unwrap();
    let given = json!({ "shop": "blue", "ref": "one" });
    let resolved = catalogue
        .resolve(catalogue.get("shop").unwrap(), given.as_object().unwrap())
        .unwrap();
    assert!(matches!(resolved.source, Some(Source::Document { text }) if &*text == "{}"));
}

#[test]
fn values_are_encoded_for_their_place() {
    assert_eq!(
        filled(&json!({ "shop": "blue-door", "team": "a b/c?d#e%2f", "ref": "two&x=1" })),
        Ok("https://blue-door.example.com/teams/a%20b%2Fc%3Fd%23e%252f/mcp?project=two%26x%3D1".into())
    );
    assert_eq!(
        filled(&json!({ "shop": "blue", "ref": "one" })),
        Ok("https://blue.example.com/teams/main/mcp?project=one".into())
    );
}

#[test]
fn no_value_moves_the_address_to_another_host() {
    let label = "a".repeat(64);
    let tricks = [
        "evil.com/#",
        "@evil.com",
        "a.b",
        "%2f",
        label.as_str(),
        "",
        "-a",
        "a-",
        "A",
        "a\nb",
        "a:80",
        "ä",
        "[::1]",
        "a\\b",
    ];
    for trick in tricks {
        assert_eq!(
            filled(&json!({ "shop": trick, "ref": "one" })),
            Err(vec!["/placeholders/shop".into()]),
            "{trick:?}"
        );
    }
    for trick in ["..", ".", "", "a\u{0}b"] {
        assert_eq!(
            filled(&json!({ "shop": "blue", "team": trick, "ref": "one" })),
            Err(vec!["/placeholders/team".into()]),
            "{trick:?}"
        );
    }
}

#[test]
fn a_host_placeholder_takes_a_host_alone() {
    let text = SHOP
        .replace(
            "in: host_label, pattern: '^[a-z0-9-]{2,63}$', example: blue-door",
            "in: host",
        )
        .replace("https://{shop}.example.com", "https://{shop}");
    let catalogue = catalogue(&text);
    let url = |shop: &str| {
        let given = json!({ "shop": shop, "ref": "one" });
        let provider = catalogue.get("shop").unwrap();
        catalogue
            .resolve(provider, given.as_object().unwrap())
            .map(|resolved| resolved.url)
            .ok()
    };
    assert_eq!(
        url("git.example.org").as_deref(),
        Some("https://git.example.org/teams/main/mcp?project=one")
    );
    for trick in [
        "a.b/c", "a.b:80", "u@a.b", "a..b", ".a", "a.", "0x7f.1", "1.2", "A.b", "a.b?c", "a.b#c",
    ] {
        assert_eq!(url(trick), None, "{trick}");
    }
}

#[test]
fn missing_unknown_and_odd_placeholders_are_each_told_and_never_repeated() {
    assert_eq!(
        filled(&json!({ "team": 4, "a/b~": "hunter2" })),
        Err(vec![
            "/placeholders/a~1b~0".into(),
            "/placeholders/shop".into(),
            "/placeholders/team".into(),
            "/placeholders/ref".into(),
        ])
    );
    let catalogue = catalogue(SHOP);
    let given = json!({ "shop": "hunter2.x", "ref": "hunter2" });
    let issues = catalogue
        .resolve(catalogue.get("shop").unwrap(), given.as_object().unwrap())
        .unwrap_err();
    assert!(
        issues.iter().all(|issue| !issue.detail.contains("hunter2")),
        "{issues:?}"
    );
}

#[test]
fn a_way_is_offered_when_the_operator_set_and_allowed_all_it_needs() {
    let with_value = SHOP.replace(
        "in: header }",
        "in: header, values: [{ name: app_id }, { name: extra, optional: true }] }",
    );
    let catalogue = catalogue(&with_value);
    let provider = catalogue.get("shop").unwrap();
    let rules = |kinds: &[Kind], providers: &str| Rules {
        kinds: kinds.to_vec(),
        providers: Shown::parse(providers),
        variables: true,
    };
    let offered = |set: &str, rules: &Rules| provider.ways(&|name| name == set, rules).all(|(_, offered)| offered);
    let all = rules(&[Kind::Secret], "*");
    assert!(offered("PROVIDER_SHOP_APP_ID", &all));
    assert!(!offered("PROVIDER_SHOP_EXTRA", &all));
    assert!(!offered("PROVIDER_SHOP_APP_ID", &rules(&[Kind::Reference], "*")));
    assert!(!offered("PROVIDER_SHOP_APP_ID", &rules(&[Kind::Secret], "*,-shop")));
    assert!(!offered("PROVIDER_SHOP_APP_ID", &rules(&[Kind::Secret], "notion")));
    assert!(offered("PROVIDER_SHOP_APP_ID", &rules(&[Kind::Secret], "-notion")));
    assert_eq!(
        variable("google-sheets", "client_id"),
        "PROVIDER_GOOGLE_SHEETS_CLIENT_ID"
    );
}

#[test]
fn a_verifying_and_an_identifying_answer_are_read() {
    let text = format!(
        "{SHOP}verify: {{ method: GET, url: 'https://{{shop}}.example.com/me', where: {{ pointer: /ok, value: true }} }}\n\
         identity: {{ method: GET, url: 'https://{{shop}}.example.com/me', label: [/email, /name], id: /id }}\n"
    );
    let catalogue = catalogue(&text);
    let given = json!({ "shop": "blue", "ref": "one" });
    let resolved = catalogue
        .resolve(catalogue.get("shop").unwrap(), given.as_object().unwrap())
        .unwrap();
    let verify = resolved.verify.unwrap();
    assert_eq!(verify.url, "https://blue.example.com/me");
    assert!(verify.is_ok(204) && !verify.is_ok(404) && verify.is_refused(401) && !verify.is_refused(403));
    assert!(verify.holds(&json!({ "ok": true })) && !verify.holds(&json!({ "ok": false })));
    let read = resolved.identity.unwrap().read(&json!({ "name": "Ada", "id": 7 }));
    assert_eq!(read, (Some("Ada".into()), Some("7".into())));
}

proptest::proptest! {
    #[test]
    fn whatever_is_filled_in_the_host_stays_the_templates(shop in ".{0,70}", team in ".{0,40}") {
        if let Ok(url) = filled(&json!({ "shop": shop, "team": team, "ref": "one" })) {
            let url = url::Url::parse(&url).unwrap();
            proptest::prop_assert_eq!(url.scheme(), "https");
            proptest::prop_assert_eq!(url.host_str(), Some(format!("{shop}.example.com").as_str()));
            proptest::prop_assert!(url.port().is_none() && url.username().is_empty() && url.fragment().is_none());
            proptest::prop_assert_eq!(url.path_segments().map(Iterator::count), Some(3));
            proptest::prop_assert_eq!(url.query(), Some("project=one"));
        }
    }

    #[test]
    fn no_text_at_all_is_a_panic(text in "(?s).{0,300}") {
        let _ = Catalogue::with(&files(&text));
    }
}
