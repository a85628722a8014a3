//! The built-in authorization server's settings: `oauth_clients`, `OAUTH_REGISTRATION`, `ACCESS_TOKEN_TTL`
//! (`identity.md` 7.7 and 14).

use std::collections::HashSet;

use serde::Deserialize;

use super::Environment;
use super::decode::Fault;
use super::given::{Given, Sheet};
use super::refusal::Refusal;

/// How long an access token is good where nothing else is said, in milliseconds.
const DEFAULT_TTL_MS: i64 = 15 * 60 * 1_000;
/// The shortest and the longest.
const TTL_MS: (i64, i64) = (5 * 60 * 1_000, 60 * 60 * 1_000);

/// How the built-in authorization server behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationRules {
    /// The clients the operator wrote.
    pub clients: Vec<OauthClient>,
    /// Whether clients may register themselves.
    pub registers: bool,
    /// How long an access token is good, in milliseconds.
    pub access_token_ttl_ms: i64,
}

/// A client the operator wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthClient {
    /// Its id.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// Where it may return to; checked where the authorization server is built.
    pub redirect_uris: Vec<String>,
    /// How it proves itself.
    pub method: ClientMethod,
    /// The SHA-256 digest of its secret, as 64 lower-case hex digits; there where the method takes a secret.
    pub secret_sha256: Option<String>,
}

/// How a client of the settings proves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientMethod {
    /// Not at all.
    None,
    /// By a secret in `Authorization: Basic`.
    ClientSecretBasic,
    /// By a secret in the form.
    ClientSecretPost,
}

/// A client of the built-in authorization server.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with the fields of a client")]
#[schemars(rename = "OauthClient")]
pub(super) struct Written {
    /// Its id: 1 to 64 letters, digits or - _ .
    id: String,
    /// Its name for people, 1 to 100 characters; the id when left out.
    name: Option<String>,
    /// The addresses it may return to, 1 to 20.
    redirect_uris: Vec<String>,
    /// How it proves itself; none when left out.
    method: Option<ClientMethod>,
    /// SHA-256 of its secret, as 64 lower-case hex digits.
    sha256: Option<String>,
}

pub(super) fn rules(sheet: &mut Sheet, environment: &Environment) -> Result<AuthorizationRules, Refusal> {
    let clients = match sheet.take("oauth_clients") {
        Some(given) => clients(&given)?,
        None => Vec::new(),
    };
    let registers = match environment.get("OAUTH_REGISTRATION").map(String::as_str) {
        None | Some("on") => true,
        Some("off") => false,
        Some(_) => return Err(Refusal::variable("OAUTH_REGISTRATION", "on or off")),
    };
    let access_token_ttl_ms = match environment.get("ACCESS_TOKEN_TTL") {
        None => DEFAULT_TTL_MS,
        Some(text) => ttl(text).ok_or_else(|| Refusal::variable("ACCESS_TOKEN_TTL", "a duration from PT5M to PT1H"))?,
    };
    Ok(AuthorizationRules { clients, registers, access_token_ttl_ms })
}

fn ttl(text: &str) -> Option<i64> {
    let span = text.parse::<jiff::Span>().ok()?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).ok()?;
    let ms = i64::try_from(duration.as_millis()).ok()?;
    (TTL_MS.0..=TTL_MS.1).contains(&ms).then_some(ms)
}

fn clients(given: &Given) -> Result<Vec<OauthClient>, Refusal> {
    let written: Vec<Written> = given.read()?;
    let mut ids = HashSet::new();
    let mut clients = Vec::with_capacity(written.len());
    for (index, entry) in written.into_iter().enumerate() {
        let refuse = |fault: Fault| given.refuse(fault.below(index.to_string()));
        let client = check(entry).map_err(refuse)?;
        if !ids.insert(client.id.clone()) {
            return Err(refuse(Fault::at(&["id"], "an id no other client has")));
        }
        clients.push(client);
    }
    Ok(clients)
}

fn check(entry: Written) -> Result<OauthClient, Fault> {
    let formed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !(1..=64).contains(&entry.id.len()) || !entry.id.chars().all(formed) {
        return Err(Fault::at(&["id"], "1 to 64 letters, digits or - _ ."));
    }
    let name = entry.name.unwrap_or_else(|| entry.id.clone());
    if !(1..=100).contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return Err(Fault::at(&["name"], "1 to 100 characters"));
    }
    if !(1..=20).contains(&entry.redirect_uris.len()) {
        return Err(Fault::at(&["redirect_uris"], "1 to 20 addresses"));
    }
    let method = entry.method.unwrap_or(ClientMethod::None);
    let digest = |text: &String| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let fits = match (method, &entry.sha256) {
        (ClientMethod::None, None) => true,
        (ClientMethod::None, Some(_)) | (_, None) => false,
        (_, Some(text)) => digest(text),
    };
    if !fits {
        let words = "the SHA-256 of the secret as 64 lower-case hex digits, where the method takes a secret";
        return Err(Fault::at(&["sha256"], words));
    }
    Ok(OauthClient { id: entry.id, name, redirect_uris: entry.redirect_uris, method, secret_sha256: entry.sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(variables: &[(&str, &str)]) -> Result<AuthorizationRules, String> {
        let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let settings = super::super::load(&environment, |_| Err(std::io::ErrorKind::NotFound.into()));
        settings.map(|settings| settings.authorization).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn nothing_said_lets_clients_register_and_tokens_live_a_quarter_of_an_hour() {
        let rules = load(&[]).unwrap();
        assert_eq!((rules.registers, rules.access_token_ttl_ms, rules.clients.len()), (true, 900_000, 0));
        let rules = load(&[("OAUTH_REGISTRATION", "off"), ("ACCESS_TOKEN_TTL", "PT5M")]).unwrap();
        assert_eq!((rules.registers, rules.access_token_ttl_ms), (false, 300_000));
    }

    #[test]
    fn a_client_is_taken_with_its_digest() {
        let entry = format!(
            r#"[{{"id":"desk","redirect_uris":["https://desk.example/cb"],"method":"client_secret_basic","sha256":"{}"}}]"#,
            "a".repeat(64)
        );
        let rules = load(&[("OAUTH_CLIENTS", &entry)]).unwrap();
        assert_eq!(
            (rules.clients[0].name.as_str(), rules.clients[0].method),
            ("desk", ClientMethod::ClientSecretBasic)
        );
    }

    #[test]
    fn what_is_not_right_stops_the_start() {
        let clients = |entry: &str| load(&[("OAUTH_CLIENTS", &format!("[{entry}]"))]).unwrap_err();
        assert_eq!(
            load(&[("OAUTH_REGISTRATION", "no")]).unwrap_err(),
            "variable OAUTH_REGISTRATION: expected on or off"
        );
        for text in ["PT4M", "PT61M", "15", "P1M", ""] {
            let line = load(&[("ACCESS_TOKEN_TTL", text)]).unwrap_err();
            assert_eq!(line, "variable ACCESS_TOKEN_TTL: expected a duration from PT5M to PT1H");
        }
        let back = r#""redirect_uris":["https://a.example/"]"#;
        for (entry, place) in [
            (format!(r#"{{"id":"a b",{back}}}"#), "at /0/id"),
            (format!(r#"{{"id":"a","name":"",{back}}}"#), "at /0/name"),
            (r#"{"id":"a","redirect_uris":[]}"#.to_owned(), "at /0/redirect_uris"),
            (format!(r#"{{"id":"a","sha256":"{}",{back}}}"#, "a".repeat(64)), "at /0/sha256"),
            (format!(r#"{{"id":"a","method":"client_secret_post",{back}}}"#), "at /0/sha256"),
            (format!(r#"{{"id":"a","method":"private_key_jwt",{back}}}"#), "at /0/method"),
            (format!(r#"{{"id":"a",{back}}},{{"id":"a",{back}}}"#), "at /1/id"),
        ] {
            assert!(clients(&entry).contains(place), "{entry}: {}", clients(&entry));
        }
    }
}
