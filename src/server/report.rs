//! What the log says at the start, and what it may never say (`configuration.md` 10).

use url::Url;

use crate::app::App;
use crate::config::{Access, Environment, Settings};
use crate::connections::catalogue::variable;
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
    let mail = settings.sign_in.mail.as_ref().map(|mail| &mail.url);
    for address in proxy.into_iter().chain(mail).chain([&settings.database.url]) {
        if let Some(password) = Url::parse(address.expose()).ok().as_ref().and_then(Url::password) {
            registry.register(password);
            registry.register(&percent_encoding::percent_decode_str(password).decode_utf8_lossy());
        }
    }
}

/// Says what the server started with.
pub(super) fn started(app: &App) {
    let settings = &app.settings;
    sources(settings);
    tracing::info!(database = database(settings), "the ledger is open");
    providers(app);
    rules(settings);
    limits(settings);
    match settings.access() {
        Access::Local => tracing::warn!(
            account = app.access.local_caller().map(|caller| caller.name().to_owned()),
            "local mode: every request of this machine is trusted. Never put the server behind a tunnel or a public proxy"
        ),
        Access::SignIn => tracing::info!(
            public_url = settings.public_url,
            keys = settings.api_keys.as_ref().map_or(0, Vec::len),
            "people sign in"
        ),
        Access::Keys => tracing::info!(keys = settings.api_keys.as_ref().map_or(0, Vec::len), "callers need a key"),
        Access::Closed => tracing::warn!(
            "nobody may call: other machines can reach the server and API_KEYS is not set, so every request is refused"
        ),
    }
    tracing::info!(address = %app.address, "listening");
}

/// The providers people may connect; those the operator set up in part, with the variables that are missing.
fn providers(app: &App) {
    let connections = &app.connections;
    let rules = connections.way_rules();
    let is_set = |variable: &str| connections.is_set(variable);
    let mut offered = Vec::new();
    for provider in connections.catalogue().all() {
        if provider.ways(&is_set, &rules).any(|(_, offered)| offered) {
            offered.push(provider.name.as_str());
        }
        for way in &provider.ways {
            let missing = provider.missing_variables(way, &is_set);
            let begun = way.values.iter().any(|value| is_set(&variable(&provider.name, &value.name)));
            if begun && !missing.is_empty() {
                let (provider, kind, missing) = (&provider.name, way.kind.word(), missing.join(", "));
                tracing::warn!(provider, way = kind, missing, "a provider is set up in part: this way is not offered");
            }
        }
    }
    tracing::info!(count = offered.len(), names = offered.join(", "), "providers offered");
}

/// How much anybody may ask.
fn limits(settings: &Settings) {
    let limits = &settings.limits;
    let proxies: Vec<String> = limits.trusted_proxies.iter().map(ToString::to_string).collect();
    if settings.access() == Access::Local {
        tracing::info!(streams = limits.streams, "limits in force: local mode has no others");
        return;
    }
    tracing::info!(
        caller = %limits.caller,
        anonymous = %limits.anonymous,
        execute = %limits.execute,
        streams = limits.streams,
        trusted_proxies = proxies.join(", "),
        "limits in force"
    );
}

/// The operator's rules and tool servers.
fn rules(settings: &Settings) {
    let rules = &settings.connections;
    tracing::info!(
        add = ?rules.add,
        by_hand = rules.by_hand,
        kinds = ?rules.kinds,
        hosts = rules.hosts.join(", "),
        private_hosts = rules.private_hosts.join(", "),
        max_per_org = rules.max_per_org,
        "rules of connections"
    );
    if !settings.tool_servers.is_empty() {
        let names: Vec<&str> = settings.tool_servers.keys().map(String::as_str).collect();
        tracing::info!(count = names.len(), names = names.join(", "), "tool servers configured");
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load;

    fn settings(environment: &Environment) -> Settings {
        let loaded = load(environment, |_| Err(std::io::ErrorKind::NotFound.into()));
        loaded.map_err(|refusal| refusal.to_string()).unwrap()
    }

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn no_secret_of_the_settings_can_be_logged() {
        let environment = environment(&[
            ("DATABASE_URL", "postgres://mira:open%20sesame@db.example.test/ledger"),
            ("SECRETS_KEYS", "new:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="),
            ("HTTPS_PROXY", "http://mira:proxypassword@proxy.example.test:8080"),
            ("PROVIDER_NOTION_CLIENT_SECRET", "secret-of-a-client"),
            ("CONNECTIONS_VARIABLES", "CRM_*"),
            ("CRM_KEY", "key-of-the-crm"),
            (
                "TOOL_SERVERS",
                r#"{"desk":{"url":"https://desk.example.test","org":"north","headers":{"X-Key":"${DESK_KEY}"}}}"#,
            ),
            ("DESK_KEY", "key-of-the-desk"),
        ]);
        let registry = SecretRegistry::new();
        secrets(&settings(&environment), &environment, &registry);
        for secret in [
            "open%20sesame",
            "open sesame",
            "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
            "proxypassword",
            "secret-of-a-client",
            "key-of-the-crm",
            "key-of-the-desk",
        ] {
            assert_eq!(registry.scrub(secret), crate::telemetry::SCRUBBED, "{secret}");
        }
    }

    #[test]
    fn the_database_is_told_without_user_and_password() {
        let told = |url: &str| {
            let keys = ("SECRETS_KEYS", "new:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=");
            database(&settings(&environment(&[("DATABASE_URL", url), keys])))
        };
        assert_eq!(
            told("postgres://mira:password@db.example.test/ledger?sslmode=disable"),
            "ledger on db.example.test:5432"
        );
        assert_eq!(told("sqlite:/srv/playmaker.db?mode=rwc"), "sqlite:/srv/playmaker.db");
    }
}
