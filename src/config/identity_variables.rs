//! `IDENTITY_*` as it is written, and their checks.

use std::collections::BTreeMap;

use serde::Deserialize;
use url::Url;

use super::document::{self, Place};
use super::identity::{Algorithm, ClaimNames, Issuer, IssuerClient, Members, ROLES, TokenType};
use super::refusal::{Origin, Refusal};
use super::secret::Secret;
use super::{Environment, Permission, names, sign_in_providers};

/// Every variable that means something only beside `IDENTITY_ISSUER`. Others that begin alike are not ours: some hosts
/// set `IDENTITY_ENDPOINT` and `IDENTITY_HEADER` for their own purpose.
const OF_AN_ISSUER: [&str; 19] = [
    "IDENTITY_JWKS_URL",
    "IDENTITY_AUDIENCES",
    "IDENTITY_ALGORITHMS",
    "IDENTITY_TOKEN_TYPE",
    "IDENTITY_CLAIM_ORG",
    "IDENTITY_CLAIM_PERSON",
    "IDENTITY_CLAIM_NAME",
    "IDENTITY_CLAIM_EMAIL",
    "IDENTITY_CLAIM_ROLE",
    "IDENTITY_CLAIM_SCOPE",
    "IDENTITY_ROLE_MAP",
    "IDENTITY_DEFAULT_ROLE",
    "IDENTITY_SCOPE_MAP",
    "IDENTITY_SCOPES_FROM_ROLE",
    "IDENTITY_MEMBERS",
    "IDENTITY_DEFAULT_ORG",
    "IDENTITY_FIRST_OWNER",
    "IDENTITY_CLIENT_ID",
    "IDENTITY_CLIENT_SECRET",
];

/// The longest name of a claim, audience or client id, in bytes.
const LONGEST: usize = 255;

fn get<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.get(name).map(String::as_str)
}

/// The issuer outside this server, where one is set.
pub(super) fn read(environment: &Environment) -> Result<Option<Issuer>, Refusal> {
    let Some(issuer) = get(environment, "IDENTITY_ISSUER") else {
        return match OF_AN_ISSUER.into_iter().find(|name| environment.contains_key(*name)) {
            None => Ok(None),
            Some(name) => Err(Refusal::variable(name, "IDENTITY_ISSUER to be set beside it")),
        };
    };
    if !sign_in_providers::is_issuer(issuer) {
        return Err(Refusal::variable("IDENTITY_ISSUER", "an https address without query; http on loopback alone"));
    }
    if !environment.contains_key("PUBLIC_URL") {
        return Err(Refusal::variable("IDENTITY_ISSUER", "PUBLIC_URL to be set beside it: it turns sign-in on"));
    }
    Ok(Some(Issuer {
        issuer: issuer.to_owned(),
        jwks_url: jwks_url(environment)?,
        audiences: audiences(environment)?,
        algorithms: algorithms(environment)?,
        token_type: token_type(environment)?,
        claims: claims(environment)?,
        role_map: map(environment, "IDENTITY_ROLE_MAP", ROLES.map(|role| (role, role)))?,
        default_role: default_role(environment)?,
        scope_map: map(environment, "IDENTITY_SCOPE_MAP", Permission::EVERY.map(|one| (one.word(), one)))?,
        scopes_from_role: flag(environment, "IDENTITY_SCOPES_FROM_ROLE")?,
        members: members(environment)?,
        default_org: default_org(environment)?,
        first_owner: text(environment, "IDENTITY_FIRST_OWNER", "the email or the subject of a person")?,
        client: client(environment)?,
    }))
}

fn jwks_url(environment: &Environment) -> Result<Option<Url>, Refusal> {
    let Some(text) = get(environment, "IDENTITY_JWKS_URL") else {
        return Ok(None);
    };
    match names::secure_address(text) {
        Some(url) => Ok(Some(url)),
        None => Err(Refusal::variable("IDENTITY_JWKS_URL", "an https address; http on loopback alone")),
    }
}

/// The items of a list between commas.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

fn refuse_item(name: &str, index: usize, expected: &str) -> Refusal {
    Refusal::new(Origin::Variable(name.to_owned()), Place::default(), vec![index.to_string()], expected)
}

fn audiences(environment: &Environment) -> Result<Vec<String>, Refusal> {
    let Some(list) = get(environment, "IDENTITY_AUDIENCES") else {
        return Ok(Vec::new());
    };
    let check = |(index, item): (usize, &str)| match is_plain(item) {
        true => Ok(item.to_owned()),
        false => Err(refuse_item("IDENTITY_AUDIENCES", index, "an audience of 1 to 255 printable characters")),
    };
    items(list).enumerate().map(check).collect()
}

fn algorithms(environment: &Environment) -> Result<Vec<Algorithm>, Refusal> {
    let Some(list) = get(environment, "IDENTITY_ALGORITHMS") else {
        return Ok(Algorithm::USUAL.to_vec());
    };
    let mut algorithms = Vec::new();
    for (index, item) in items(list).enumerate() {
        let Some(algorithm) = Algorithm::of(item) else {
            let expected = format!("one of {}", Algorithm::ALL.map(Algorithm::word).join(", "));
            return Err(refuse_item("IDENTITY_ALGORITHMS", index, &expected));
        };
        if algorithms.contains(&algorithm) {
            return Err(refuse_item("IDENTITY_ALGORITHMS", index, "each once"));
        }
        algorithms.push(algorithm);
    }
    Ok(algorithms)
}

fn token_type(environment: &Environment) -> Result<TokenType, Refusal> {
    match get(environment, "IDENTITY_TOKEN_TYPE") {
        None | Some("auto") => Ok(TokenType::Auto),
        Some("at+jwt") => Ok(TokenType::AtJwt),
        Some(_) => Err(Refusal::variable("IDENTITY_TOKEN_TYPE", "at+jwt or auto")),
    }
}

fn claims(environment: &Environment) -> Result<ClaimNames, Refusal> {
    let mut claims = ClaimNames::default();
    for (name, target) in [
        ("IDENTITY_CLAIM_ORG", &mut claims.org),
        ("IDENTITY_CLAIM_PERSON", &mut claims.person),
        ("IDENTITY_CLAIM_NAME", &mut claims.name),
        ("IDENTITY_CLAIM_EMAIL", &mut claims.email),
        ("IDENTITY_CLAIM_ROLE", &mut claims.role),
        ("IDENTITY_CLAIM_SCOPE", &mut claims.scope),
    ] {
        let Some(text) = get(environment, name) else { continue };
        if !is_claim(text) {
            return Err(Refusal::variable(name, "the name of a claim, or a JSON Pointer such as /realm_access/roles"));
        }
        *target = vec![text.to_owned()];
    }
    Ok(claims)
}

/// A name, or with a slash first a JSON Pointer, whose `~` are all part of `~0` or `~1` (RFC 6901, section 3).
fn is_claim(text: &str) -> bool {
    let escapes_fit = || text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    is_plain(text) && (!text.starts_with('/') || escapes_fit())
}

fn is_plain(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && !text.chars().any(char::is_control) && text.trim() == text
}

/// A JSON object from the issuer's words to one of `ours`, each with its word.
fn map<T: Copy>(
    environment: &Environment,
    name: &str,
    ours: impl IntoIterator<Item = (&'static str, T)>,
) -> Result<Option<BTreeMap<String, T>>, Refusal> {
    let Some(text) = get(environment, name) else {
        return Ok(None);
    };
    let refuse = |place, path, expected: String| Refusal::new(Origin::Variable(name.to_owned()), place, path, expected);
    let node =
        document::json(text).map_err(|malformed| refuse(malformed.place, Vec::new(), malformed.expected.to_owned()))?;
    let written = BTreeMap::<String, String>::deserialize(&node)
        .map_err(|fault| refuse(Place::default(), fault.path, fault.expected))?;
    let ours: Vec<(&str, T)> = ours.into_iter().collect();
    let mut map = BTreeMap::new();
    for (theirs, word) in written {
        let Some((_, meant)) = ours.iter().find(|(known, _)| *known == word) else {
            let words: Vec<&str> = ours.iter().map(|(known, _)| *known).collect();
            return Err(refuse(Place::default(), vec![theirs], format!("one of {}", words.join(", "))));
        };
        map.insert(theirs, *meant);
    }
    Ok(Some(map))
}

fn default_role(environment: &Environment) -> Result<Option<&'static str>, Refusal> {
    match get(environment, "IDENTITY_DEFAULT_ROLE") {
        None => Ok(Some("member")),
        Some("none") => Ok(None),
        Some(word) => match ROLES.into_iter().find(|role| *role == word) {
            Some(role) => Ok(Some(role)),
            None => Err(Refusal::variable("IDENTITY_DEFAULT_ROLE", format!("one of {}, or none", ROLES.join(", ")))),
        },
    }
}

fn flag(environment: &Environment, name: &str) -> Result<bool, Refusal> {
    match get(environment, name) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Refusal::variable(name, "true or false")),
    }
}

fn members(environment: &Environment) -> Result<Members, Refusal> {
    match get(environment, "IDENTITY_MEMBERS") {
        None | Some("claims") => Ok(Members::Claims),
        Some("invited") => Ok(Members::Invited),
        Some(_) => Err(Refusal::variable("IDENTITY_MEMBERS", "claims or invited")),
    }
}

fn default_org(environment: &Environment) -> Result<Option<String>, Refusal> {
    match get(environment, "IDENTITY_DEFAULT_ORG") {
        Some(org) if !names::is_org(org) => Err(Refusal::variable("IDENTITY_DEFAULT_ORG", names::ORG)),
        org => Ok(org.map(str::to_owned)),
    }
}

fn text(environment: &Environment, name: &str, expected: &str) -> Result<Option<String>, Refusal> {
    match get(environment, name) {
        Some(text) if !is_plain(text) => Err(Refusal::variable(name, expected)),
        text => Ok(text.map(str::to_owned)),
    }
}

fn client(environment: &Environment) -> Result<Option<IssuerClient>, Refusal> {
    let id = text(environment, "IDENTITY_CLIENT_ID", "the id of Studio's client at the issuer")?;
    let secret = get(environment, "IDENTITY_CLIENT_SECRET");
    match (id, secret) {
        (None, Some(_)) => Err(Refusal::variable("IDENTITY_CLIENT_SECRET", "IDENTITY_CLIENT_ID to be set beside it")),
        (_, Some("")) => Err(Refusal::variable("IDENTITY_CLIENT_SECRET", "the secret of Studio's client")),
        (id, secret) => Ok(id.map(|id| IssuerClient { id, secret: secret.map(Secret::new) })),
    }
}
