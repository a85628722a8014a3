//! What the log says at the start, and what it may never say.

use url::Url;

use crate::app::App;
use crate::config::{Access, Environment, Settings};
use crate::telemetry::SecretRegistry;

/// Hands every secret of the settings to the log's registry.
pub(super) fn secrets(settings: &Settings, environment: &Environment, registry: &SecretRegistry) {
    for secret in settings.tool_servers.values().flat_map(|server| &server.secrets).chain(settings.variables.values()) {
        registry.register(secret.expose());
    }
    for (name, value) in environment {
        if name.starts_with("PROVIDER_") {
            registry.register(value);
        }
    }
    let keys = environment.get("SECRETS_KEYS").map(String::as_str).unwrap_or_default();
    for (_, key) in keys.split(',').filter_map(|item| item.split_once(':')) {
        registry.register(key.trim());
    }
    let proxy = settings.outbound.https_proxy.as_ref();
    for address in proxy.into_iter().chain([&settings.database.url]) {
        if let Some(password) = Url::parse(address.expose()).ok().as_ref().and_then(Url::password) {
            registry.register(password);
            registry.register(&percent_encoding::percent_decode_str(password).decode_utf8_lossy());
        }
    }
}

/// Says what the server started with.
pub(super) fn started(app: &App, _environment: &Environment) {
    let settings = &app.settings;
    sources(settings);
    tracing::info!(database = database(settings), "the ledger is open");
    match settings.access() {
        Access::Local => tracing::warn!(
            account = app.access.local_caller().map(|caller| caller.name().to_owned()),
            "local mode: every request of this machine is trusted. Never put the server behind a tunnel or a public proxy"
        ),
        Access::Keys => tracing::info!(keys = settings.api_keys.as_ref().map_or(0, Vec::len), "callers need a key"),
        Access::Closed => tracing::warn!(
            "nobody may call: the server can be reached from other machines and no API_KEYS are set, so every request is refused"
        ),
    }
    tracing::info!(address = %app.address, "listening");
}

fn sources(settings: &Settings) {
    let sources = &settings.sources;
    if let Some(file) = &sources.file {
        tracing::info!(
            file = %file.display(),
            keys = sources.from_file.join(", "),
            replaced = sources.replaced.join(", "),
            "settings of a file; those replaced come from the environment"
        );
    }
}

/// Where the database is, never with a user or a password.
fn database(settings: &Settings) -> String {
    let url = settings.database.url.expose();
    match Url::parse(url) {
        Ok(parsed) if parsed.has_host() => {
            let (host, port) = (parsed.host_str().unwrap_or_default(), parsed.port().unwrap_or(5432));
            format!("{} on {host}:{port}", parsed.path().trim_start_matches('/'))
        }
        _ => url.split('?').next().unwrap_or_default().to_owned(),
    }
}
