//! What the claims of issuers mean here.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    ISSUER, NOW_MS, NOW_S, PUBLIC, Signer, external_payload, identity, key_set, own_payload, own_verdict, with,
};
use crate::identity::tokens::{Claims, Rules, check};
use crate::identity::{Permission, Permissions, Role};

/// The claims of a payload of the issuer outside with further variables, or why they are refused.
fn claims(payload: &Value, variables: &[(&str, &str)]) -> Result<Arc<Claims>, &'static str> {
    let signer = Signer::es256("k");
    let rules = Rules::external(&identity(ISSUER, variables));
    check(&signer.token(payload), &key_set(&[&signer]), &rules, NOW_MS).map_err(|refused| refused.cause())
}

/// The scopes of a token, closed.
fn scopes_of(claims: &Claims) -> Vec<&'static str> {
    claims.scopes.each().map(Permission::word).collect()
}

fn role_of(claims: &Claims) -> Option<&'static str> {
    claims.role.map(Role::word)
}

/// The payload of the issuer outside with these members.
fn saying(members: Value) -> Value {
    let mut payload = external_payload(ISSUER);
    for (name, value) in members.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

#[test]
fn a_token_of_ours_says_all_of_it() {
    let signer = Signer::es256("k");
    let claims = check(&signer.token(&own_payload()), &key_set(&[&signer]), &Rules::own(PUBLIC), NOW_MS).unwrap();
    assert_eq!(
        *claims,
        Claims {
            issuer: PUBLIC.into(),
            subject: "user_2ada".into(),
            audiences: vec!["https://pm.example/mcp".into()],
            scopes: Permissions::of(&[Permission::OrgRead, Permission::PlaybookWrite]),
            org: Some("acme".into()),
            client_id: Some("client_1".into()),
            grant: Some("grant_1".into()),
            token: Some("token_1".into()),
            auth_time_ms: Some((NOW_S - 100) * 1_000),
            issued_at_ms: Some((NOW_S - 10) * 1_000),
            expires_at_ms: (NOW_S + 890) * 1_000,
            name: None,
            email: None,
            email_verified: false,
            role: None,
        }
    );
}

#[test]
fn a_token_of_ours_without_one_of_its_claims_is_none_of_ours() {
    let signer = Signer::es256("k");
    let keys = key_set(&[&signer]);
    let verdict = |member: &str, value: Value| own_verdict(&signer.token(&with(own_payload(), member, value)), &keys);
    for member in ["gid", "jti", "client_id"] {
        assert_eq!(verdict(member, Value::Null), "without a claim that each of our tokens has", "{member}");
    }
    for org in [Value::Null, json!(""), json!("a b"), json!(1)] {
        assert_eq!(verdict("org", org), "names its org in another form than an org id");
    }
    assert_eq!(verdict("scope", Value::Null), "good", "it may do nothing, which is 403");
}

#[test]
fn the_usual_names_are_found_without_settings() {
    let said =
        claims(&saying(json!({ "name": "Ada Lovelace", "email": "ada@acme.test", "email_verified": true })), &[])
            .unwrap();
    assert_eq!((said.subject.as_str(), said.org.as_deref()), ("auth0|ada", Some("acme")));
    assert_eq!((said.name.as_deref(), said.email.as_deref()), (Some("Ada Lovelace"), Some("ada@acme.test")));
    assert!(said.email_verified);
    assert_eq!((role_of(&said), scopes_of(&said)), (Some("member"), vec!["org:read"]));
    assert_eq!((said.client_id.as_deref(), &said.grant, &said.token), (Some("client_1"), &None, &None));

    let by_name = |members: Value| claims(&with(saying(members), "org_id", Value::Null), &[]).unwrap();
    assert_eq!(by_name(json!({ "org": "b", "tenant_id": "c" })).org.as_deref(), Some("b"));
    assert_eq!(by_name(json!({ "org": null, "tenant_id": "c" })).org.as_deref(), Some("c"));
    assert_eq!(by_name(json!({})).org, None);
    assert_eq!(by_name(json!({ "preferred_username": "ada" })).name.as_deref(), Some("ada"));
    assert_eq!(by_name(json!({ "email": "ada@acme.test" })).name.as_deref(), Some("ada@acme.test"));
    assert_eq!(by_name(json!({ "name": " \n\t ", "preferred_username": "a\u{7}da" })).name.as_deref(), Some("ada"));
    assert_eq!(by_name(json!({ "name": "x".repeat(300) })).name.as_ref().unwrap().len(), 100);
}

#[test]
fn an_email_is_verified_where_the_issuer_says_true() {
    for (members, email, verified) in [
        (json!({ "email": "ada@acme.test" }), true, false),
        (json!({ "email": "ada@acme.test", "email_verified": "true" }), true, false),
        (json!({ "email": "ada@acme.test", "email_verified": true }), true, true),
        (json!({ "email": "no address", "email_verified": true }), false, false),
        (json!({ "email": "@", "email_verified": true }), false, false),
        (json!({ "email": ["ada@acme.test"], "email_verified": true }), false, false),
        (json!({ "email_verified": true }), false, false),
    ] {
        let said = claims(&saying(members.clone()), &[]).unwrap();
        assert_eq!((said.email.is_some(), said.email_verified), (email, verified), "{members}");
    }
}

#[test]
fn names_and_pointers_are_settings() {
    let payload = saying(json!({
        "https://example.com/claims": { "org": "north", "roles": ["viewer"], "perms": ["org:write"] },
        "oid": "ada-1", "nick": "Ada", "upn": "ada@north.test", "a/b": "x",
    }));
    let said = claims(
        &payload,
        &[
            ("IDENTITY_CLAIM_ORG", "/https:~1~1example.com~1claims/org"),
            ("IDENTITY_CLAIM_ROLE", "/https:~1~1example.com~1claims/roles"),
            ("IDENTITY_CLAIM_SCOPE", "/https:~1~1example.com~1claims/perms"),
            ("IDENTITY_CLAIM_PERSON", "oid"),
            ("IDENTITY_CLAIM_NAME", "nick"),
            ("IDENTITY_CLAIM_EMAIL", "upn"),
        ],
    )
    .unwrap();
    assert_eq!(
        (said.org.as_deref(), role_of(&said), scopes_of(&said)),
        (Some("north"), Some("viewer"), vec!["org:read", "org:write"])
    );
    assert_eq!(
        (said.subject.as_str(), said.name.as_deref(), said.email.as_deref()),
        ("ada-1", Some("Ada"), Some("ada@north.test"))
    );
}

#[test]
fn an_org_in_another_form_is_refused_and_none_is_the_default() {
    let default = [("IDENTITY_DEFAULT_ORG", "main")];
    assert_eq!(
        claims(&with(external_payload(ISSUER), "org_id", Value::Null), &default).unwrap().org.as_deref(),
        Some("main")
    );
    assert_eq!(claims(&external_payload(ISSUER), &default).unwrap().org.as_deref(), Some("acme"));
    for org in
        [json!(""), json!("a b"), json!({ "id": "acme" }), json!(["acme"]), json!("../acme"), json!("x".repeat(65))]
    {
        let refused = claims(&saying(json!({ "org_id": org })), &default);
        assert_eq!(refused.unwrap_err(), "names its org in another form than an org id", "{org}");
    }
}

#[test]
fn the_highest_role_wins() {
    let role = |value: Value, variables: &[(&str, &str)]| {
        claims(&saying(json!({ "role": value })), variables).map(|said| role_of(&said))
    };
    assert_eq!(role("admin".into(), &[]), Ok(Some("admin")));
    assert_eq!(role(json!(["viewer", "owner", "member"]), &[]), Ok(Some("owner")));
    assert_eq!(role(json!(["viewer", "billing"]), &[]), Ok(Some("viewer")), "an unknown one lifts nobody");
    assert_eq!(role(json!(["billing"]), &[]), Ok(Some("member")));
    assert_eq!(role(json!(7), &[]), Ok(Some("member")));
    let map = [("IDENTITY_ROLE_MAP", r#"{"org:admin":"admin","basic_member":"viewer"}"#)];
    assert_eq!(role(json!(["basic_member", "org:admin"]), &map), Ok(Some("admin")));
    assert_eq!(role("owner".into(), &map), Ok(Some("member")), "with a map, only the map's words count");
    let none = [("IDENTITY_DEFAULT_ROLE", "none")];
    assert_eq!(role("billing".into(), &none), Err("names no role that counts here"));
    assert_eq!(role("viewer".into(), &none), Ok(Some("viewer")));
    let invited = [("IDENTITY_MEMBERS", "invited"), ("IDENTITY_DEFAULT_ROLE", "none")];
    assert_eq!(role("owner".into(), &invited), Ok(None), "the membership's row has the role");
    let both = claims(&saying(json!({ "role": "owner", "org_role": "viewer" })), &[]).unwrap();
    assert_eq!(role_of(&both), Some("viewer"), "org_role goes first");
}

#[test]
fn scopes_are_a_text_or_a_list_and_unknown_ones_are_dropped() {
    let scopes = |members: Value, variables: &[(&str, &str)]| {
        let payload = with(external_payload(ISSUER), "scope", Value::Null);
        let mut payload = with(payload, "scp", json!(null));
        for (name, value) in members.as_object().unwrap() {
            payload[name] = value.clone();
        }
        scopes_of(&claims(&payload, variables).unwrap())
    };
    let all = ["org:read", "org:write", "playbook:read", "playbook:write", "org:admin"];
    assert_eq!(
        scopes(json!({ "scope": "openid  playbook:read org:read org:read" }), &[]),
        ["org:read", "playbook:read"]
    );
    assert_eq!(scopes(json!({ "scp": ["org:admin", 7, "x"] }), &[]), ["org:read", "org:admin"]);
    assert_eq!(scopes(json!({ "permissions": ["org:write"] }), &[]), ["org:read", "org:write"]);
    assert_eq!(
        scopes(json!({ "scope": "openid", "permissions": ["org:write"] }), &[]),
        [""; 0],
        "the first that is there"
    );
    assert_eq!(scopes(json!({ "scope": 7 }), &[]), [""; 0]);
    assert_eq!(scopes(json!({ "scope": "ORG:READ" }), &[]), [""; 0]);
    let map = [("IDENTITY_SCOPE_MAP", r#"{"pm.read":"org:read","pm.all":"playbook:write"}"#)];
    assert_eq!(
        scopes(json!({ "scope": "pm.all pm.read org:admin" }), &map),
        ["org:read", "playbook:read", "playbook:write"]
    );
    let from_role = [("IDENTITY_SCOPES_FROM_ROLE", "true")];
    assert_eq!(scopes(json!({ "scope": "openid" }), &from_role), all, "the role narrows them at every use");
    assert_eq!(scopes(json!({ "scope": "org:read" }), &from_role), ["org:read"], "a narrower token stays narrow");
}
