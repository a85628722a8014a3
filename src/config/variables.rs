//! The settings that stand in the environment alone: listener, database, log, secrets, and the ways out.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use super::outbound::{ExtraCa, Outbound};
use super::refusal::{Origin, Refusal};
use super::secret::{Secret, SecretKey};
use super::secrets_store::{EncryptionKey, SecretsStore};
use super::{Database, DatabaseKind, Environment, LogFormat, names};

/// The port where nothing else is said (decision D4).
pub const DEFAULT_PORT: u16 = 5555;
/// The interface where nothing else is said.
pub const DEFAULT_HOST: &str = "127.0.0.1";
/// The database where nothing else is said (decision D5).
pub const DEFAULT_DATABASE: &str = "sqlite:data/playmaker.db";
/// What the log shows where nothing else is said.
pub const DEFAULT_LOG_FILTER: &str = "info";

/// The shortest and the longest `KEY_MAX_AGE`, in milliseconds: an hour and ten years.
const KEY_AGE_LEAST_MS: i64 = 60 * 60 * 1_000;
const KEY_AGE_MOST_MS: i64 = 3_650 * 24 * KEY_AGE_LEAST_MS;

fn get<'a>(environment: &'a Environment, name: &str) -> Option<&'a str> {
    environment.get(name).map(String::as_str)
}

/// The origin people and agents use, without a slash at its end; it turns sign-in on (decision D7).
pub(super) fn public_url(environment: &Environment) -> Result<Option<String>, Refusal> {
    let Some(text) = get(environment, "PUBLIC_URL") else { return Ok(None) };
    let refuse = || {
        Refusal::variable(
            "PUBLIC_URL",
            "an origin such as https://playmaker.example, or http:// with a loopback host; no path, user or query",
        )
    };
    let url = Url::parse(text).map_err(|_| refuse())?;
    let loopback = url
        .host_str()
        .is_some_and(|host| super::LOOPBACK_HOSTS.contains(&host.trim_start_matches('[').trim_end_matches(']')));
    // What is written is what metadata, challenges and audiences say, so it must be the origin itself.
    let origin = url.origin().ascii_serialization();
    let fits = match url.scheme() {
        "https" => true,
        "http" => loopback,
        _ => false,
    };
    if fits && text.strip_suffix('/').unwrap_or(text) == origin { Ok(Some(origin)) } else { Err(refuse()) }
}

pub(super) fn port(environment: &Environment) -> Result<u16, Refusal> {
    match get(environment, "PORT") {
        None => Ok(DEFAULT_PORT),
        Some(text) => text.parse().map_err(|_| Refusal::variable("PORT", "a whole number from 0 to 65535")),
    }
}

pub(super) fn host(environment: &Environment) -> Result<String, Refusal> {
    let host = get(environment, "HOST").unwrap_or(DEFAULT_HOST);
    if host.parse::<std::net::IpAddr>().is_err() && !names::is_host(host) {
        return Err(Refusal::variable("HOST", "an address such as 0.0.0.0 or ::, or a host name"));
    }
    Ok(host.to_owned())
}

/// How long a key that people make may work at most, in milliseconds.
pub(super) fn key_max_age_ms(environment: &Environment) -> Result<Option<i64>, Refusal> {
    let Some(text) = get(environment, "KEY_MAX_AGE") else { return Ok(None) };
    let days_of_24_hours = jiff::SpanRelativeTo::days_are_24_hours();
    let length = text.parse::<jiff::Span>().ok().and_then(|span| span.to_duration(days_of_24_hours).ok());
    match length.and_then(|length| i64::try_from(length.as_millis()).ok()) {
        Some(ms @ KEY_AGE_LEAST_MS..=KEY_AGE_MOST_MS) => Ok(Some(ms)),
        _ => Err(Refusal::variable("KEY_MAX_AGE", "a duration from PT1H to P3650D, such as P90D")),
    }
}

/// A listener that the operator counts on and that is not there would be worse than a refusal.
pub(super) fn no_metrics_yet(environment: &Environment) -> Result<(), Refusal> {
    match get(environment, "METRICS_ADDR") {
        None => Ok(()),
        Some(_) => Err(Refusal::variable("METRICS_ADDR", "it not to be set: metrics are not in this build yet")),
    }
}

pub(super) fn log_format(environment: &Environment) -> Result<LogFormat, Refusal> {
    match get(environment, "LOG_FORMAT") {
        None | Some("json") => Ok(LogFormat::Json),
        Some("pretty") => Ok(LogFormat::Pretty),
        Some(_) => Err(Refusal::variable("LOG_FORMAT", "json or pretty")),
    }
}

pub(super) fn log_filter(environment: &Environment) -> Result<String, Refusal> {
    let text = get(environment, "RUST_LOG").filter(|text| !text.is_empty()).unwrap_or(DEFAULT_LOG_FILTER);
    match tracing_subscriber::EnvFilter::builder().parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err(Refusal::variable("RUST_LOG", "a filter such as info or playmaker=debug,info")),
    }
}

pub(super) fn database(environment: &Environment) -> Result<Database, Refusal> {
    let text = get(environment, "DATABASE_URL").unwrap_or(DEFAULT_DATABASE);
    let kind = match text.split_once(':') {
        Some(("sqlite", rest)) if !rest.is_empty() => DatabaseKind::Sqlite,
        Some(("postgres" | "postgresql", _)) if Url::parse(text).is_ok_and(|url| url.has_host()) => {
            DatabaseKind::Postgres
        }
        _ => {
            return Err(Refusal::variable(
                "DATABASE_URL",
                "sqlite: and the path of a file, or an address postgres://user@host/database",
            ));
        }
    };
    Ok(Database { url: Secret::new(text), kind })
}

pub(super) fn secrets(environment: &Environment, database: &Database) -> Result<SecretsStore, Refusal> {
    match get(environment, "SECRETS_STORE") {
        None | Some("local") => {}
        Some("aws") => {
            return Err(Refusal::variable("SECRETS_STORE", "local: the store aws is not in this build yet"));
        }
        Some(_) => return Err(Refusal::variable("SECRETS_STORE", "local")),
    }
    let prefix = get(environment, "SECRETS_PREFIX").unwrap_or("playmaker");
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '=' | '.' | '@' | '-');
    if !(1..=64).contains(&prefix.len()) || !prefix.chars().all(fits) {
        return Err(Refusal::variable("SECRETS_PREFIX", "1 to 64 letters, digits or / _ + = . @ -"));
    }
    let keys = get(environment, "SECRETS_KEYS").map(encryption_keys).transpose()?.unwrap_or_default();
    if keys.is_empty() && database.kind == DatabaseKind::Postgres {
        return Err(Refusal::variable(
            "SECRETS_KEYS",
            "one key or more, id:base64: with PostgreSQL several servers share them, so no key file is made",
        ));
    }
    Ok(SecretsStore { keys, prefix: prefix.to_owned() })
}

fn encryption_keys(text: &str) -> Result<Vec<EncryptionKey>, Refusal> {
    let refuse = |index: usize, expected: &str| {
        let origin = Origin::Variable("SECRETS_KEYS".to_owned());
        Refusal::new(origin, Default::default(), vec![index.to_string()], expected)
    };
    let mut keys: Vec<EncryptionKey> = Vec::new();
    for (index, item) in text.split(',').map(str::trim).enumerate() {
        let (id, encoded) =
            item.split_once(':').ok_or_else(|| refuse(index, "an id, a colon, and 32 bytes in base64"))?;
        if !names::is_key_id(id) {
            return Err(refuse(index, "an id of 1 to 32 of a-z 0-9 - before the colon"));
        }
        if keys.iter().any(|key| key.id == id) {
            return Err(refuse(index, "an id no other key has"));
        }
        let decoded = STANDARD.decode(encoded).map(zeroize::Zeroizing::new).ok();
        let key = decoded
            .and_then(|bytes| <[u8; 32]>::try_from(bytes.as_slice()).ok())
            .ok_or_else(|| refuse(index, "32 bytes in base64 after the colon"))?;
        keys.push(EncryptionKey { id: id.to_owned(), key: SecretKey::new(key) });
    }
    Ok(keys)
}

pub(super) fn outbound(
    environment: &Environment,
    read_file: &impl Fn(&Path) -> io::Result<String>,
) -> Result<Outbound, Refusal> {
    let https_proxy = get(environment, "HTTPS_PROXY").filter(|text| !text.is_empty());
    if let Some(text) = https_proxy {
        let fits = Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if !fits {
            return Err(Refusal::variable("HTTPS_PROXY", "the http or https address of a proxy"));
        }
    }
    let no_proxy: Vec<String> = get(environment, "NO_PROXY")
        .unwrap_or_default()
        .split(',')
        .map(|item| item.trim().to_ascii_lowercase())
        .filter(|item| !item.is_empty())
        .collect();
    Ok(Outbound {
        https_proxy: https_proxy.map(Secret::new),
        no_proxy,
        extra_ca_certs: extra_ca_certs(environment, read_file)?,
    })
}

fn extra_ca_certs(
    environment: &Environment,
    read_file: &impl Fn(&Path) -> io::Result<String>,
) -> Result<Option<ExtraCa>, Refusal> {
    let Some(path) = get(environment, "EXTRA_CA_CERTS") else {
        return Ok(None);
    };
    let path = PathBuf::from(path);
    let refuse = || Refusal::variable("EXTRA_CA_CERTS", "the path of a readable file of PEM certificates");
    let pem = read_file(&path).map_err(|_| refuse())?;
    if !pem.contains("-----BEGIN CERTIFICATE-----") {
        return Err(refuse());
    }
    Ok(Some(ExtraCa { path, pem }))
}
