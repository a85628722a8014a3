use super::super::{Algorithm, ClaimNames, Environment, Members, Permission, Settings, TokenType};
use super::{of_variables, refusal};

const ISSUER: (&str, &str) = ("IDENTITY_ISSUER", "https://id.example.com/t1");
const PUBLIC: (&str, &str) = ("PUBLIC_URL", "https://pm.example");

fn beside_issuer(variables: &[(&str, &str)]) -> Settings {
    of_variables(&[&[ISSUER, PUBLIC], variables].concat())
}

#[test]
fn an_issuer_alone_has_working_defaults() {
    let identity = beside_issuer(&[]).identity.unwrap();
    assert_eq!(identity.issuer, "https://id.example.com/t1");
    assert_eq!(identity.algorithms, Algorithm::USUAL);
    assert_eq!((identity.token_type, identity.members), (TokenType::Auto, Members::Claims));
    assert_eq!(identity.claims, ClaimNames::default());
    assert_eq!(identity.claims.org, ["org_id", "org", "tenant_id"]);
    assert_eq!((identity.default_role, identity.default_org), (Some("member"), None));
    assert!(identity.role_map.is_none() && identity.scope_map.is_none() && !identity.scopes_from_role);
    assert!(identity.audiences.is_empty() && identity.jwks_url.is_none() && identity.client.is_none());
    assert!(identity.first_owner.is_none());
}

#[test]
fn everything_of_an_issuer_can_be_set() {
    let identity = beside_issuer(&[
        ("IDENTITY_JWKS_URL", "https://keys.example.com/jwks"),
        ("IDENTITY_AUDIENCES", "api://playmaker, https://api.example.com"),
        ("IDENTITY_ALGORITHMS", "RS256,EdDSA"),
        ("IDENTITY_TOKEN_TYPE", "at+jwt"),
        ("IDENTITY_CLAIM_ORG", "/acme~1org/id"),
        ("IDENTITY_CLAIM_PERSON", "oid"),
        ("IDENTITY_CLAIM_NAME", "nick"),
        ("IDENTITY_CLAIM_EMAIL", "mail"),
        ("IDENTITY_CLAIM_ROLE", "https://example.com/roles"),
        ("IDENTITY_CLAIM_SCOPE", "perms"),
        ("IDENTITY_ROLE_MAP", r#"{"org:admin":"admin","basic_member":"member"}"#),
        ("IDENTITY_DEFAULT_ROLE", "none"),
        ("IDENTITY_SCOPE_MAP", r#"{"pm.read":"org:read"}"#),
        ("IDENTITY_SCOPES_FROM_ROLE", "true"),
        ("IDENTITY_MEMBERS", "invited"),
        ("IDENTITY_DEFAULT_ORG", "Acme"),
        ("IDENTITY_FIRST_OWNER", "ada@acme.test"),
        ("IDENTITY_CLIENT_ID", "studio"),
        ("IDENTITY_CLIENT_SECRET", "studio-secret-1"),
    ])
    .identity
    .unwrap();
    assert_eq!(identity.jwks_url.unwrap().as_str(), "https://keys.example.com/jwks");
    assert_eq!(identity.audiences, ["api://playmaker", "https://api.example.com"]);
    assert_eq!(identity.algorithms, [Algorithm::Rs256, Algorithm::EdDsa]);
    assert_eq!((identity.token_type, identity.members), (TokenType::AtJwt, Members::Invited));
    assert_eq!(
        (identity.claims.org.as_slice(), identity.claims.person.as_slice()),
        (&["/acme~1org/id".into()][..], &["oid".into()][..])
    );
    assert_eq!(identity.role_map.unwrap()["org:admin"], "admin");
    assert_eq!(identity.scope_map.unwrap()["pm.read"], Permission::OrgRead);
    assert!(identity.scopes_from_role && identity.default_role.is_none());
    assert_eq!(
        (identity.default_org.as_deref(), identity.first_owner.as_deref()),
        (Some("Acme"), Some("ada@acme.test"))
    );
    let client = identity.client.unwrap();
    assert_eq!((client.id.as_str(), client.secret.unwrap().expose()), ("studio", "studio-secret-1"));
}

#[test]
fn a_setting_of_an_issuer_without_one_stops_the_start() {
    for name in [
        "IDENTITY_JWKS_URL",
        "IDENTITY_AUDIENCES",
        "IDENTITY_ALGORITHMS",
        "IDENTITY_TOKEN_TYPE",
        "IDENTITY_CLAIM_ORG",
        "IDENTITY_ROLE_MAP",
        "IDENTITY_DEFAULT_ORG",
        "IDENTITY_MEMBERS",
        "IDENTITY_CLIENT_SECRET",
        "IDENTITY_FIRST_OWNER",
    ] {
        let told = refusal(&[PUBLIC, (name, "x")], None);
        assert_eq!(told, format!("variable {name}: expected IDENTITY_ISSUER to be set beside it"));
    }
    // Variables of the host that only begin alike are none of ours.
    assert_eq!(refusal(&[PUBLIC, ("IDENTITY_ENDPOINT", "x"), ("IDENTITY_HEADER", "x")], None), "taken");
    assert_eq!(
        refusal(&[ISSUER], None),
        "variable IDENTITY_ISSUER: expected PUBLIC_URL to be set beside it: it turns sign-in on"
    );
}

#[test]
fn settings_of_an_issuer_that_are_not_right() {
    for (name, value, line) in ROWS {
        let environment: Environment = [PUBLIC, ISSUER, (*name, *value)]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let told = match super::load(&environment, |_| Err(std::io::ErrorKind::NotFound.into())) {
            Ok(_) => "taken".to_owned(),
            Err(refusal) => refusal.to_string(),
        };
        assert_eq!(told, format!("variable {name}{line}"), "{name}={value}");
        assert!(value.is_empty() || !told.contains("hush"), "{told}");
    }
}

#[test]
fn a_file_that_names_the_issuer_is_told_where_it_belongs() {
    let told = refusal(&[], Some("identity_issuer: https://id.example.com\n"));
    assert!(told.ends_with("set the variable IDENTITY_ISSUER"), "{told}");
}

/// A bad variable, its value, and what follows its name in the line it is refused with.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &str)] = &[
    ("IDENTITY_ISSUER", "", ": expected an https address without query; http on loopback alone"),
    ("IDENTITY_ISSUER", "http://id.example.com", ": expected an https address without query; http on loopback alone"),
    ("IDENTITY_ISSUER", "https://id.example.com/?t=1", ": expected an https address without query; http on loopback alone"),
    ("IDENTITY_ISSUER", "https://u:hush@id.example.com", ": expected an https address without query; http on loopback alone"),
    ("IDENTITY_JWKS_URL", "http://10.0.0.1/jwks", ": expected an https address; http on loopback alone"),
    ("IDENTITY_AUDIENCES", "a,,b", ", at /1: expected an audience of 1 to 255 printable characters"),
    ("IDENTITY_ALGORITHMS", "RS256,none",
        ", at /1: expected one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA"),
    ("IDENTITY_ALGORITHMS", "HS256",
        ", at /0: expected one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA"),
    ("IDENTITY_ALGORITHMS", "ES256,ES256", ", at /1: expected each once"),
    ("IDENTITY_TOKEN_TYPE", "any", ": expected at+jwt or auto"),
    ("IDENTITY_CLAIM_ORG", "", ": expected the name of a claim, or a JSON Pointer such as /realm_access/roles"),
    ("IDENTITY_CLAIM_ROLE", "/a~2b", ": expected the name of a claim, or a JSON Pointer such as /realm_access/roles"),
    ("IDENTITY_ROLE_MAP", "{", ", line 1, column 1: expected JSON"),
    ("IDENTITY_ROLE_MAP", "[]", ": expected a map"),
    ("IDENTITY_ROLE_MAP", "{\"a\":1}", ", at /a: expected text (a number or true, false has to be quoted)"),
    ("IDENTITY_ROLE_MAP", "{\"a/b\":\"boss\"}", ", at /a~1b: expected one of viewer, member, admin, owner"),
    ("IDENTITY_SCOPE_MAP", "{\"a\":\"offline_access\"}",
        ", at /a: expected one of org:read, org:write, playbook:read, playbook:write, org:admin"),
    ("IDENTITY_DEFAULT_ROLE", "boss", ": expected one of viewer, member, admin, owner, or none"),
    ("IDENTITY_SCOPES_FROM_ROLE", "yes", ": expected true or false"),
    ("IDENTITY_MEMBERS", "all", ": expected claims or invited"),
    ("IDENTITY_DEFAULT_ORG", "a b", ": expected an org id: 1 to 64 letters, digits, _ or -, first a letter or a digit"),
    ("IDENTITY_CLIENT_ID", "", ": expected the id of Studio's client at the issuer"),
    ("IDENTITY_CLIENT_SECRET", "hush", ": expected IDENTITY_CLIENT_ID to be set beside it"),
];
