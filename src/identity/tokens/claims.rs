//! What a token says of the person, the org and the client, in our words (`identity.md` 6.1, 7.4).

use serde_json::Value;

use super::check::{Times, instant, subject};
use super::refused::{Cause, Refused};
use super::rules::{Origin, Rules};
use crate::config::{ClaimNames, Issuer, Members, Permission, is_org};
use crate::identity::{Permissions, Role};

/// The longest name kept, in characters; a longer one is cut.
const MAX_NAME: usize = 100;

/// The longest email, in bytes (RFC 5321, section 4.5.3.1.3, without the angle brackets).
const MAX_EMAIL: usize = 254;

/// What a good token says. What of it holds here (roles, grants, orgs) is looked up at every use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Who issued it; with the subject, who the person is.
    pub issuer: String,
    /// The person at the issuer.
    pub subject: String,
    /// What it is for, as written; at least one.
    pub audiences: Vec<String>,
    /// The closure of those scopes it holds that are ours; unknown ones are dropped.
    pub scopes: Permissions,
    /// The org it names, of the form of an org id; else the operator's default for tokens that name none.
    pub org: Option<String>,
    /// The client it was issued to.
    pub client_id: Option<String>,
    /// The grant behind it (`gid`); tokens of this server alone have one.
    pub grant: Option<String>,
    /// Its own id (`jti`).
    pub token: Option<String>,
    /// When the person signed in, in milliseconds since the Unix epoch.
    pub auth_time_ms: Option<i64>,
    /// When it was issued, in milliseconds since the Unix epoch.
    pub issued_at_ms: Option<i64>,
    /// When it ends, in milliseconds since the Unix epoch.
    pub expires_at_ms: i64,
    /// The person's name, without control characters, at most 100 characters.
    pub name: Option<String>,
    /// The person's email, as written.
    pub email: Option<String>,
    /// Whether the issuer says that the email is the person's.
    pub email_verified: bool,
    /// The person's role in the org, where the claims make the membership.
    pub role: Option<Role>,
}

/// Reads the payload of a token whose signature is good.
pub(super) fn read(payload: &Value, rules: &Rules, audiences: Vec<String>, times: Times) -> Result<Claims, Refused> {
    let claims = Claims {
        issuer: rules.issuer.clone(),
        subject: String::new(),
        audiences,
        scopes: Permissions::NONE,
        org: None,
        client_id: text(payload, "client_id").or_else(|| text(payload, "azp")),
        grant: None,
        token: text(payload, "jti"),
        auth_time_ms: instant(payload, "auth_time")?,
        issued_at_ms: times.issued_at_ms,
        expires_at_ms: times.expires_at_ms,
        name: None,
        email: None,
        email_verified: false,
        role: None,
    };
    match &rules.origin {
        Origin::Own => own(payload, claims),
        Origin::External(issuer) => external(payload, issuer, claims),
        Origin::Provider => provider(payload, claims),
    }
}

/// Each of our tokens has all of these (`identity.md` 7.4): one without is not ours, whatever its signature.
fn own(payload: &Value, mut claims: Claims) -> Result<Claims, Refused> {
    claims.subject = subject(payload.get("sub"))?;
    claims.org = Some(text(payload, "org").filter(|org| is_org(org)).ok_or(Refused(Cause::Org))?);
    claims.grant = text(payload, "gid");
    let complete = [&claims.grant, &claims.token, &claims.client_id].into_iter().all(Option::is_some);
    if !complete {
        return Err(Refused(Cause::Incomplete));
    }
    claims.scopes = ours(&words(payload.get("scope")), Permission::of);
    Ok(claims)
}

/// A provider says who somebody is, and nothing of what they may do here.
fn provider(payload: &Value, mut claims: Claims) -> Result<Claims, Refused> {
    claims.subject = subject(payload.get("sub"))?;
    who(payload, &ClaimNames::default(), &mut claims);
    Ok(claims)
}

/// Name and email.
fn who(payload: &Value, names: &ClaimNames, claims: &mut Claims) {
    claims.email =
        find(payload, &names.email).and_then(Value::as_str).filter(|email| is_email(email)).map(str::to_owned);
    claims.email_verified = claims.email.is_some() && payload.get("email_verified") == Some(&Value::Bool(true));
    claims.name = names.name.iter().find_map(|name| shown(find(payload, std::slice::from_ref(name))?.as_str()?));
    claims.name = claims.name.take().or_else(|| claims.email.as_deref().and_then(shown));
}

fn external(payload: &Value, issuer: &Issuer, mut claims: Claims) -> Result<Claims, Refused> {
    let names = &issuer.claims;
    claims.subject = subject(find(payload, &names.person))?;
    claims.org = match find(payload, &names.org) {
        None => issuer.default_org.clone(),
        // An org in a form we do not read is not the same as none: the default could be somebody else's.
        Some(value) => Some(value.as_str().filter(|org| is_org(org)).ok_or(Refused(Cause::Org))?.to_owned()),
    };
    who(payload, names, &mut claims);
    claims.role = match issuer.members {
        Members::Invited => None,
        Members::Claims => Some(role(payload, issuer).ok_or(Refused(Cause::Role))?),
    };
    claims.scopes = ours(&words(find(payload, &names.scope)), |word| match &issuer.scope_map {
        Some(map) => map.get(word).copied(),
        None => Permission::of(word),
    });
    if claims.scopes.is_empty() && issuer.scopes_from_role {
        // The role narrows it at every use, so that everything here is what the role allows.
        claims.scopes = Permissions::EVERY;
    }
    Ok(claims)
}

/// The first of `names` that is there and not null; a name with a slash first is a JSON Pointer.
fn find<'p>(payload: &'p Value, names: &[String]) -> Option<&'p Value> {
    let value = |name: &String| match name.starts_with('/') {
        true => payload.pointer(name),
        false => payload.get(name),
    };
    names.iter().filter_map(value).find(|value| !value.is_null())
}

fn text(payload: &Value, name: &str) -> Option<String> {
    payload.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A list of words, or a text of words between spaces.
fn words(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => text.split(' ').filter(|word| !word.is_empty()).collect(),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The scopes of ours among `words`.
fn ours(words: &[&str], known: impl Fn(&str) -> Option<Permission>) -> Permissions {
    Permissions::of(&words.iter().filter_map(|word| known(word)).collect::<Vec<_>>())
}

/// The highest role among the token's; where it has none that we know, the operator's default.
fn role(payload: &Value, issuer: &Issuer) -> Option<Role> {
    let named: Vec<&str> = match find(payload, &issuer.claims.role) {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let known = |word: &str| match &issuer.role_map {
        Some(map) => map.get(word).copied().and_then(Role::of),
        None => Role::of(word),
    };
    named.into_iter().filter_map(known).max().or_else(|| issuer.default_role.and_then(Role::of))
}

fn shown(name: &str) -> Option<String> {
    let plain: String = name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
    let plain = plain.trim();
    (!plain.is_empty()).then(|| plain.to_owned())
}

fn is_email(text: &str) -> bool {
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    plain
        && text.len() <= MAX_EMAIL
        && text.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
}
