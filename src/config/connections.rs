//! What the operator allows of connections (`CONNECTIONS_*`) and the values providers need (`PROVIDER_*`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::secret::Secret;

/// Who may add a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Adders {
    /// Everybody who is a person and may write in the org.
    People,
    /// People with `org:admin`.
    Admins,
    /// Nobody.
    Nobody,
}

/// The types a connection written by hand may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerType {
    /// A remote MCP server.
    Mcp,
    /// An HTTP API.
    Openapi,
}

/// The kinds of credential a connection may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// A person's consent at the provider.
    Authorization,
    /// A text the person gives on the page.
    Secret,
    /// Tokens of a registered client.
    ClientCredentials,
    /// A variable of the server.
    Reference,
}

/// Variables of the server a `reference` may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableRule {
    /// The one org it counts for; every org when `None`.
    pub org: Option<String>,
    /// The name, or what the name begins with when `prefix` is set.
    pub name: String,
    /// Whether `name` is only the beginning.
    pub prefix: bool,
}

/// The operator's rules (`connections.md` 14).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRules {
    /// Who may add one.
    pub add: Adders,
    /// Whether a server may be written by hand.
    pub by_hand: bool,
    /// Types allowed by hand.
    pub types: Vec<ServerType>,
    /// Kinds allowed.
    pub kinds: Vec<CredentialKind>,
    /// Variables a `reference` may name.
    pub variables: Vec<VariableRule>,
    /// Providers offered: names, `*`, and `-name` for one left out.
    pub providers: Vec<String>,
    /// Hosts a connection's addresses may have: exact names, `*.example.com`, or `*`.
    pub hosts: Vec<String>,
    /// Exact origins that may resolve to private addresses.
    pub private_hosts: Vec<String>,
    /// Connections an org may have.
    pub max_per_org: u32,
    /// A folder of further providers.
    pub providers_dir: Option<PathBuf>,
}

/// Values the operator set for providers, from the environment alone.
#[derive(Clone, Default)]
pub struct ProviderValues(pub(super) BTreeMap<String, Secret>);

/// What of the server's own variables no `reference` may name, whatever the rules say.
const NEVER: [&str; 34] = [
    "PORT",
    "HOST",
    "CONFIG_FILE",
    "PUBLIC_URL",
    "API_KEYS",
    "ALLOWED_ORIGINS",
    "DATABASE_URL",
    "METRICS_ADDR",
    "TYPESCRIPT_CHECKER",
    "SEARCH_MODEL",
    "LOG_FORMAT",
    "RUST_LOG",
    "DECLARED_MODELS",
    "ALLOWED_MODELS",
    "TOOL_SERVERS",
    "TOOLKITS_DIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "EXTRA_CA_CERTS",
    "SMTP_URL",
    "MAIL_FROM",
    "ORG_CREATION",
    "ORG_PLANS",
    "PLANS",
    "DEFAULT_PLAN",
    "TRAINERS",
    "ACCESS_TOKEN_TTL",
    "KEY_MAX_AGE",
    "STREAMS_CALLER",
    "TRUSTED_PROXIES",
    "PATH",
    "HOME",
];

/// Beginnings of further names no `reference` may have.
const NEVER_BEGINNING: [&str; 23] = [
    "PROVIDER_",
    "AWS_",
    "CONNECTIONS_",
    "SECRETS_",
    "IDENTITY_",
    "SIGN_",
    "OAUTH_",
    "RATE_",
    "AUDIT_",
    "MODEL_",
    "ANTHROPIC_",
    "OPENAI_",
    "GOOGLE_",
    "AZURE_",
    "REASONING_",
    "INTERACTION_",
    "WORKFLOW_",
    "COMPUTATION_",
    "RECALL_",
    "PREDICTION_",
    "PLAYMAKER_",
    "PG",
    "LD_",
];

impl VariableRule {
    /// Whether the rule lets a `reference` of `org` name `variable`.
    pub fn matches(&self, org: &str, variable: &str) -> bool {
        self.org.as_deref().is_none_or(|only| only == org) && self.covers(variable)
    }

    /// Whether the rule names `variable` for any org.
    pub(super) fn covers(&self, variable: &str) -> bool {
        let named = if self.prefix { variable.starts_with(&self.name) } else { variable == self.name };
        named && !is_own(variable)
    }
}

fn is_own(variable: &str) -> bool {
    NEVER.contains(&variable) || NEVER_BEGINNING.iter().any(|beginning| variable.starts_with(beginning))
}

impl Default for ConnectionRules {
    fn default() -> Self {
        let all = || vec!["*".to_owned()];
        Self {
            add: Adders::People,
            by_hand: true,
            types: vec![ServerType::Mcp, ServerType::Openapi],
            kinds: vec![
                CredentialKind::Authorization,
                CredentialKind::Secret,
                CredentialKind::ClientCredentials,
                CredentialKind::Reference,
            ],
            variables: Vec::new(),
            providers: all(),
            hosts: all(),
            private_hosts: Vec::new(),
            max_per_org: 200,
            providers_dir: None,
        }
    }
}

impl ConnectionRules {
    /// Whether a `reference` of `org` may name `variable`.
    pub fn may_reference(&self, org: &str, variable: &str) -> bool {
        self.variables.iter().any(|rule| rule.matches(org, variable))
    }

    /// Whether the provider `name` is offered; a name left out stays out wherever it stands.
    pub fn offers(&self, name: &str) -> bool {
        let named = |word: &str| self.providers.iter().any(|item| item == word);
        (named("*") || named(name)) && !self.providers.iter().any(|item| item.strip_prefix('-') == Some(name))
    }

    /// Whether a connection's address may have `host`; whether that host is a public one, egress judges.
    pub fn allows_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.hosts.iter().any(|item| match item.strip_prefix('*') {
            Some("") => true,
            Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            None => *item == host,
        })
    }

    /// Whether `origin` may resolve to a private address.
    pub fn is_private_origin(&self, origin: &str) -> bool {
        self.private_hosts.iter().any(|item| item == origin)
    }
}

impl ProviderValues {
    /// The variable that holds `value` of `provider`, such as `PROVIDER_GOOGLE_SHEETS_CLIENT_ID`.
    pub fn variable(provider: &str, value: &str) -> String {
        format!("PROVIDER_{provider}_{value}").to_ascii_uppercase().replace('-', "_")
    }

    /// Whether the variable of a value is set and not empty.
    pub fn is_set(&self, variable: &str) -> bool {
        self.0.contains_key(variable)
    }

    /// A value the operator set, where one is set and not empty.
    pub fn value(&self, provider: &str, value: &str) -> Option<&Secret> {
        self.0.get(&Self::variable(provider, value))
    }
}
