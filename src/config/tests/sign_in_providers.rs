//! `sign_in_providers` and `SIGN_IN_METHODS`.

use super::{loaded, of_variables, refusal};

const SECRET: (&str, &str) = ("ACME_SECRET", "a-secret-of-acme");

/// One provider with these fields besides the needed ones.
fn provider(more: &str) -> String {
    let needed = r#""name":"acme","issuer":"https://id.acme.example","client_id":"studio""#;
    format!("[{{{needed}{}{more}}}]", if more.is_empty() { "" } else { "," })
}

fn of_one(more: &str) -> super::super::SignInProvider {
    let settings = of_variables(&[("SIGN_IN_PROVIDERS", &provider(more)), SECRET]);
    settings.sign_in.providers.into_iter().next().unwrap()
}

#[test]
fn a_provider_needs_its_issuer_and_a_client_there() {
    let acme = of_one("");
    assert_eq!((acme.name.as_str(), acme.title.as_str()), ("acme", "acme"));
    assert_eq!((acme.issuer.as_str(), acme.client.id.as_str()), ("https://id.acme.example", "studio"));
    assert_eq!(acme.scopes, ["openid", "email", "profile"]);
    assert!(acme.client.secret.is_none() && acme.newcomers.is_none());
}

#[test]
fn everything_of_a_provider_can_be_set() {
    let acme = of_one(
        r#""title":"Acme GmbH","client_secret":"${ACME_SECRET}","scopes":"openid email",
        "allowed_domains":["acme.example","acme.test"],"org":"north","role":"viewer""#,
    );
    assert_eq!(acme.title, "Acme GmbH");
    assert_eq!(acme.client.secret.unwrap().expose(), "a-secret-of-acme");
    assert_eq!(acme.scopes, ["openid", "email"]);
    let newcomers = acme.newcomers.unwrap();
    assert_eq!((newcomers.org.as_str(), newcomers.role), ("north", "viewer"));
    assert_eq!(newcomers.domains, ["acme.example", "acme.test"]);
    assert_eq!(of_one(r#""scopes":["openid","groups"]"#).scopes, ["openid", "groups"]);
    assert_eq!(of_one(r#""allowed_domains":["acme.test"],"org":"north""#).newcomers.unwrap().role, "member");
}

#[test]
fn what_is_not_right_in_the_file_is_told_with_its_place() {
    let file = "sign_in_providers:\n  - name: acme\n    issuer: http://id.acme.example\n    client_id: studio\n";
    assert_eq!(
        refusal(&[], Some(file)),
        "playmaker.yaml, line 3, column 13, key sign_in_providers.0.issuer: expected an https address without query; \
         http on loopback alone"
    );
    let file = "sign_in_providers:\n  - name: acme\n    issuer: https://id.acme.example\n    client_id: studio\n    \
                client_secret: hunter2\n";
    let line = refusal(&[], Some(file));
    assert!(line.starts_with("playmaker.yaml, line 5, column 20, key sign_in_providers.0.client_secret: "), "{line}");
    assert!(!line.contains("hunter2"), "{line}");
}

#[test]
fn what_is_not_right_stops_the_start() {
    for (more, place) in [
        (r#""title":"""#, "at /0/title"),
        (r#""client_secret":"abc""#, "at /0/client_secret"),
        (r#""client_secret":"x${ACME_SECRET}""#, "at /0/client_secret"),
        (r#""client_secret":"${ACME_SECRET:-abc}""#, "at /0/client_secret"),
        (r#""client_secret":"${MISSING}""#, "at /0/client_secret: expected the variable MISSING to be set"),
        (r#""scopes":["email"]"#, "at /0/scopes"),
        (r#""scopes":"openid ö""#, "at /0/scopes"),
        (r#""scopes":7"#, "at /0/scopes"),
        (r#""allowed_domains":["Acme.example"],"org":"north""#, "at /0/allowed_domains/0"),
        (r#""allowed_domains":["com"],"org":"north""#, "at /0/allowed_domains/0"),
        (r#""allowed_domains":["acme.example"]"#, "a key org"),
        (r#""allowed_domains":["acme.example"],"org":"a b""#, "at /0/org"),
        (r#""allowed_domains":["acme.example"],"org":"north","role":"owner""#, "at /0/role"),
        (r#""org":"north""#, "at /0/org: expected allowed_domains beside it"),
        (r#""role":"member""#, "at /0/role: expected allowed_domains beside it"),
        (r#""secret":"x""#, "at /0/secret"),
    ] {
        let line = refusal(&[("SIGN_IN_PROVIDERS", &provider(more)), SECRET], None);
        assert!(line.starts_with("variable SIGN_IN_PROVIDERS") && line.contains(place), "{more}: {line}");
    }
    let entry = |name: &str, issuer: &str| format!(r#"{{"name":"{name}","issuer":"{issuer}","client_id":"studio"}}"#);
    let acme = entry("acme", "https://id.acme.example");
    for (list, place) in [
        (entry("issuer", "https://id.acme.example"), "at /0/name"),
        (entry("A b", "https://id.acme.example"), "at /0/name"),
        (entry("acme", "https://id.acme.example?a=b"), "at /0/issuer"),
        (format!("{acme},{}", entry("acme", "https://id.other.example")), "at /1/name"),
        (format!("{acme},{}", entry("other", "https://id.acme.example")), "at /1/issuer"),
    ] {
        let line = refusal(&[("SIGN_IN_PROVIDERS", &format!("[{list}]"))], None);
        assert!(line.contains(place), "{list}: {line}");
    }
}

#[test]
fn providers_and_an_issuer_outside_exclude_each_other() {
    let both = [
        ("PUBLIC_URL", "https://pm.example"),
        ("IDENTITY_ISSUER", "https://id.example.com"),
        ("SIGN_IN_PROVIDERS", &provider("")),
    ];
    let line = refusal(&both, None);
    assert_eq!(
        line,
        "variable SIGN_IN_PROVIDERS: expected no providers beside IDENTITY_ISSUER: people then sign in there alone"
    );
}

#[test]
fn the_ways_to_sign_in_are_those_that_are_set_up() {
    let ways = |variables: &[(&str, &str)]| {
        loaded(variables, None).map(|settings| {
            let methods = settings.sign_in.methods;
            (methods.password, methods.passkey, methods.upstream)
        })
    };
    let providers = provider("");
    let providers = ("SIGN_IN_PROVIDERS", providers.as_str());
    assert_eq!(ways(&[]), Ok((true, true, false)));
    assert_eq!(ways(&[providers]), Ok((true, true, true)));
    assert_eq!(ways(&[providers, ("SIGN_IN_METHODS", "upstream")]), Ok((false, false, true)));
    assert_eq!(ways(&[providers, ("SIGN_IN_METHODS", "password")]), Ok((true, false, false)));
    assert_eq!(ways(&[("SIGN_IN_METHODS", "passkey,upstream")]), Ok((false, true, false)));
    let outside = [("PUBLIC_URL", "https://pm.example"), ("IDENTITY_ISSUER", "https://id.example.com")];
    assert_eq!(ways(&outside), Ok((false, false, true)));
    assert!(ways(&[("SIGN_IN_METHODS", "upstream")]).unwrap_err().starts_with("variable SIGN_IN_METHODS"));
}
