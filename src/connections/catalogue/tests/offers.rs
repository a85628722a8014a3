//! Which ways are offered, and the requests that prove a credential.

use serde_json::json;

use super::super::*;
use super::{SHOP, catalogue};

#[test]
fn a_way_is_offered_when_the_operator_set_and_allowed_all_it_needs() {
    let with_value =
        SHOP.replace("in: header }", "in: header, values: [{ name: app_id }, { name: extra, optional: true }] }");
    let catalogue = catalogue(&with_value);
    let provider = catalogue.get("shop").unwrap();
    let rules = |kinds: &[Kind], providers: &str| Rules {
        kinds: kinds.to_vec(),
        providers: Shown::parse(providers),
        variables: true,
        returns: true,
    };
    let offered = |set: &str, rules: &Rules| provider.ways(&|name| name == set, rules).all(|(_, offered)| offered);
    let all = rules(&[Kind::Secret], "*");
    assert!(offered("PROVIDER_SHOP_APP_ID", &all));
    assert!(!offered("PROVIDER_SHOP_EXTRA", &all));
    assert!(!offered("PROVIDER_SHOP_APP_ID", &rules(&[Kind::Reference], "*")));
    assert!(!offered("PROVIDER_SHOP_APP_ID", &rules(&[Kind::Secret], "*,-shop")));
    assert!(!offered("PROVIDER_SHOP_APP_ID", &rules(&[Kind::Secret], "notion")));
    assert!(offered("PROVIDER_SHOP_APP_ID", &rules(&[Kind::Secret], "-notion")));
    assert_eq!(variable("google-sheets", "client_id"), "PROVIDER_GOOGLE_SHEETS_CLIENT_ID");
}

#[test]
fn a_way_that_finds_its_client_by_itself_needs_nothing_of_the_operator() {
    let way = "  - { kind: authorization, title: Sign in, discovery: true, registration: auto }\n";
    let text = format!("{SHOP}{way}");
    let catalogue = catalogue(&text);
    let provider = catalogue.get("shop").unwrap();
    let rules =
        |returns| Rules { kinds: vec![Kind::Authorization], providers: Shown::parse("*"), variables: false, returns };
    for returns in [true, false] {
        let rules = rules(returns);
        let offered: Vec<bool> = provider.ways(&|_| false, &rules).map(|(_, offered)| offered).collect();
        assert_eq!(offered.last(), Some(&returns), "people must be able to come back");
    }
}

#[test]
fn a_verifying_and_an_identifying_answer_are_read() {
    let text = format!(
        "{SHOP}verify: {{ method: GET, url: 'https://{{shop}}.example.com/me', where: {{ pointer: /ok, value: true }} }}\n\
         identity: {{ method: GET, url: 'https://{{shop}}.example.com/me', label: [/email, /name], id: /id }}\n"
    );
    let catalogue = catalogue(&text);
    let given = json!({ "shop": "blue", "ref": "one" });
    let resolved = catalogue.resolve(catalogue.get("shop").unwrap(), given.as_object().unwrap()).unwrap();
    let verify = resolved.verify.unwrap();
    assert_eq!(verify.url, "https://blue.example.com/me");
    assert!(verify.is_ok(204) && !verify.is_ok(404) && verify.is_refused(401) && !verify.is_refused(403));
    assert!(verify.holds(&json!({ "ok": true })) && !verify.holds(&json!({ "ok": false })));
    let read = resolved.identity.unwrap().read(&json!({ "name": "Ada", "id": 7 }));
    assert_eq!(read, (Some("Ada".into()), Some("7".into())));
}
