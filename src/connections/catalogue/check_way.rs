//! What a way of a provider file must be: the fields of its kind, all it needs and none of another's.

use std::collections::BTreeSet;

use super::address::is_name;
use super::check::Check;
use super::headers;
use super::oauth::Registration;
use super::way::{Encode, Kind, Put, ValueIn, Way};
use super::yaml::Fault;

const AUTHORIZATION: &[Kind] = &[Kind::Authorization];
const TOKENS: &[Kind] = &[Kind::Authorization, Kind::ClientCredentials];
const CLIENT: &[Kind] = &[Kind::ClientCredentials];
const SECRET: &[Kind] = &[Kind::Secret];
const VALUE: &[Kind] = &[Kind::Secret, Kind::Reference];

/// Which kinds have a field; `kind`, `title`, `help` and `values` belong to all.
const FIELDS: [(&str, &[Kind]); 24] = [
    ("name", VALUE),
    ("in", VALUE),
    ("scheme", VALUE),
    ("format", VALUE),
    ("fields", SECRET),
    ("encode", SECRET),
    ("issuer", TOKENS),
    ("scope", CLIENT),
    ("authorize_url", AUTHORIZATION),
    ("token_url", TOKENS),
    ("revocation_url", TOKENS),
    ("scopes", AUTHORIZATION),
    ("pkce", AUTHORIZATION),
    ("authorize_params", AUTHORIZATION),
    ("token_params", TOKENS),
    ("refresh_params", AUTHORIZATION),
    ("client_auth", TOKENS),
    ("request_body", TOKENS),
    ("resource", TOKENS),
    ("token", TOKENS),
    ("refresh", AUTHORIZATION),
    ("use", TOKENS),
    ("revoke", TOKENS),
    ("discovery", AUTHORIZATION),
];

/// Checks every way of the file.
pub(super) fn run(check: &Check<'_>) -> Result<(), Fault> {
    let ways = &check.provider.ways;
    if ways.is_empty() {
        return check.refuse("/ways", "expected at least one way");
    }
    let mut kinds = BTreeSet::new();
    for (index, way) in ways.iter().enumerate() {
        let at = format!("/ways/{index}");
        if !kinds.insert(way.kind.word()) {
            return check
                .refuse(&format!("{at}/kind"), format!("a way of the kind {} is there twice", way.kind.word()));
        }
        one(check, &at, way)?;
    }
    Ok(())
}

/// Addresses of a way that may hold placeholders, by field.
pub(super) fn addresses(way: &Way) -> Vec<(&'static str, &str)> {
    [
        ("authorize_url", way.authorize_url.as_deref()),
        ("token_url", way.token_url.as_deref()),
        ("revocation_url", way.revocation_url.as_deref()),
    ]
    .into_iter()
    .filter_map(|(field, text)| text.map(|text| (field, text)))
    .collect()
}

fn one(check: &Check<'_>, at: &str, way: &Way) -> Result<(), Fault> {
    check.text(&format!("{at}/title"), &way.title, 60)?;
    if let Some(help) = &way.help {
        check.shown_address(&format!("{at}/help"), help)?;
    }
    for (field, kinds) in FIELDS {
        let pointer = format!("{at}/{field}");
        if check.places.has(&pointer) && !kinds.contains(&way.kind) {
            return check.refuse(&pointer, format!("a way of the kind {} has no {field}", way.kind.word()));
        }
    }
    if check.places.has(&format!("{at}/registration")) && !way.discovery {
        return check.refuse(&format!("{at}/registration"), "only a way with discovery has a registration");
    }
    operator_values(check, at, way)?;
    for (field, text) in addresses(way) {
        check.address(&format!("{at}/{field}"), text)?;
    }
    if let Some(issuer) = &way.issuer {
        check.address(&format!("{at}/issuer"), issuer)?;
    }
    match way.kind {
        Kind::Secret if !way.fields.is_empty() => several(check, at, way)?,
        Kind::Secret | Kind::Reference => match way.put() {
            Some(put) => carrier(check, at, &put)?,
            None => return check.refuse(at, "expected name and in: where the value goes"),
        },
        Kind::Authorization => authorization(check, at, way)?,
        Kind::ClientCredentials if way.issuer.is_none() && way.token_url.is_none() => {
            return check.refuse(at, "expected issuer or token_url");
        }
        Kind::ClientCredentials => {}
    }
    if let Some(format) = &way.format {
        check.pattern(&format!("{at}/format"), format)?;
    }
    if let Some(put) = &way.r#use {
        carrier(check, &format!("{at}/use"), put)?;
    }
    token_answer(check, at, way)
}

fn operator_values(check: &Check<'_>, at: &str, way: &Way) -> Result<(), Fault> {
    let mut names = BTreeSet::new();
    for (index, value) in way.values.iter().enumerate() {
        let pointer = format!("{at}/values/{index}/name");
        if !is_name(&value.name) {
            return check.refuse(&pointer, "expected 1 to 32 of a-z, 0-9 and _, first a letter");
        }
        if !names.insert(&value.name) {
            return check.refuse(&pointer, "a value of this name is there twice");
        }
    }
    Ok(())
}

fn several(check: &Check<'_>, at: &str, way: &Way) -> Result<(), Fault> {
    let mut names = BTreeSet::new();
    for (index, field) in way.fields.iter().enumerate() {
        let at = format!("{at}/fields/{index}");
        if !headers::is_token(&field.name, 64) || !names.insert(&field.name) {
            return check.refuse(&format!("{at}/name"), "expected a name of its own, of 1 to 64 characters");
        }
        check.text(&format!("{at}/title"), &field.title, 60)?;
        if let Some(pattern) = &field.pattern {
            check.pattern(&format!("{at}/pattern"), pattern)?;
        }
        if way.encode.is_none() {
            let Some(place) = way.place else {
                return check.refuse(&at, "expected in beside the fields: where the values go");
            };
            let put = Put { name: field.name.clone(), place, scheme: None };
            carrier(check, &at, &put)?;
        }
    }
    match (way.encode, way.put()) {
        (None, _) if way.name.is_some() => {
            check.refuse(&format!("{at}/name"), "each field goes under its own name, so the way has none")
        }
        (None, _) => Ok(()),
        (Some(Encode::Basic), _) if way.fields.len() != 2 => {
            check.refuse(&format!("{at}/encode"), "basic joins exactly two fields")
        }
        (Some(Encode::Basic), Some(put)) => carrier(check, at, &put),
        (Some(Encode::Basic), None) => check.refuse(at, "expected name and in: where the joined value goes"),
    }
}

fn carrier(check: &Check<'_>, at: &str, put: &Put) -> Result<(), Fault> {
    let name = format!("{at}/name");
    if !headers::is_token(&put.name, 64) {
        return check.refuse(&name, "expected the name of a header, a query parameter or a cookie");
    }
    let header = put.place == ValueIn::Header;
    if header && headers::is_reserved(&put.name) && !put.name.eq_ignore_ascii_case("authorization") {
        return check.refuse(&name, "this header may not carry a credential");
    }
    match &put.scheme {
        Some(_) if !header => check.refuse(&format!("{at}/scheme"), "only a header has a scheme"),
        Some(scheme) if !headers::is_token(scheme, 32) => {
            check.refuse(&format!("{at}/scheme"), "expected a word such as Bearer")
        }
        _ => Ok(()),
    }
}

fn authorization(check: &Check<'_>, at: &str, way: &Way) -> Result<(), Fault> {
    let named = way.authorize_url.is_some() || way.token_url.is_some();
    if way.discovery {
        if named || way.issuer.is_some() {
            return check.refuse(at, "with discovery, the server names its issuer and addresses, not the file");
        }
    } else if way.authorize_url.is_none() || way.token_url.is_none() {
        return check.refuse(at, "expected authorize_url and token_url, or discovery: true");
    }
    let has_client = way.values.iter().any(|value| value.name == "client_id");
    if way.registration == Registration::Static && !has_client {
        return check.refuse(at, "expected client_id among the values, or another registration");
    }
    if let Some(scopes) = &way.scopes
        && let Some(missing) = scopes.required.iter().find(|scope| !scopes.default.contains(scope))
    {
        return check.refuse(
            &format!("{at}/scopes/required"),
            format!("{missing} is required, so it must be among the default ones"),
        );
    }
    match way.resource.as_deref() {
        None | Some("server" | "omit") => Ok(()),
        Some(address) => check.address(&format!("{at}/resource"), address),
    }
}

fn token_answer(check: &Check<'_>, at: &str, way: &Way) -> Result<(), Fault> {
    let Some(token) = &way.token else {
        return Ok(());
    };
    let pointers = [
        ("access_token", &token.access_token),
        ("refresh_token", &token.refresh_token),
        ("expires_in", &token.expires_in),
        ("expires_at", &token.expires_at),
        ("scope", &token.scope),
        ("token_type", &token.token_type),
        ("error", &token.error),
        ("error_description", &token.error_description),
    ];
    for (field, pointer) in pointers {
        if let Some(pointer) = pointer {
            check.pointer(&format!("{at}/token/{field}"), pointer)?;
        }
    }
    Ok(())
}
