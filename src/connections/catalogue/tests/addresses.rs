//! Filling in placeholders.

use serde_json::json;

use super::super::*;
use super::{SHOP, catalogue, files, filled};

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

/// Security case 55.
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
        .replace("in: host_label, pattern: '^[a-z0-9-]{2,63}$', example: blue-door", "in: host")
        .replace("https://{shop}.example.com", "https://{shop}");
    let catalogue = catalogue(&text);
    let url = |shop: &str| {
        let given = json!({ "shop": shop, "ref": "one" });
        let provider = catalogue.get("shop").unwrap();
        catalogue.resolve(provider, given.as_object().unwrap()).map(|resolved| resolved.url).ok()
    };
    assert_eq!(url("git.example.org").as_deref(), Some("https://git.example.org/teams/main/mcp?project=one"));
    for trick in ["a.b/c", "a.b:80", "u@a.b", "a..b", ".a", "a.", "0x7f.1", "1.2", "A.b", "a.b?c", "a.b#c"] {
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
    let issues = catalogue.resolve(catalogue.get("shop").unwrap(), given.as_object().unwrap()).unwrap_err();
    assert!(issues.iter().all(|issue| !issue.detail.contains("hunter2")), "{issues:?}");
}

proptest::proptest! {
    // Each case reads the built-in files anew.
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_filled_in_the_host_stays_the_templates(shop in ".{0,70}", team in ".{0,40}") {
        if let Ok(url) = filled(&json!({ "shop": shop, "team": team, "ref": "one" })) {
            let url = url::Url::parse(&url).unwrap();
            proptest::prop_assert_eq!(url.scheme(), "https");
            let host = format!("{shop}.example.com");
            proptest::prop_assert_eq!(url.host_str(), Some(host.as_str()));
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
