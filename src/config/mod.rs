//! Settings: the environment, a YAML file, and defaults compiled in; read once, at start, and checked whole.
//!
//! Start reading at [`Settings`]; then [`load`], which makes one or refuses with one line that names the place and never
//! the value. Only [`environment`] looks at the process's variables.

mod administration;
mod api_keys;
mod api_keys_file;
mod connections;
mod connections_file;
mod decode;
mod document;
mod given;
mod identity;
mod identity_variables;
mod limits;
mod listener;
mod load;
mod names;
mod oauth_clients;
mod outbound;
mod permission;
mod references;
mod refusal;
mod schema;
mod secret;
mod secrets_store;
mod sign_in;
mod sign_in_providers;
mod tool_servers;
mod tool_servers_check;
mod tool_servers_file;
mod tool_servers_openapi;
mod variables;
mod written_out;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use administration::{Administration, OrgCreation};
pub use api_keys::{ApiKey, Playbooks, UsageLimit, UsagePeriod};
pub use connections::{Adders, ConnectionRules, CredentialKind, ProviderValues, ServerType, VariableRule};
pub use identity::{Algorithm, ClaimNames, Issuer, IssuerClient, Members, ROLES, TokenType};
pub use limits::{Rate, RequestLimits};
pub use listener::{Access, LOOPBACK_HOSTS, Listener};
pub use load::{environment, load};
pub(crate) use names::secure_address;
pub use names::{MODEL_PROVIDERS, is_key_id, is_org, is_playbook};
pub use oauth_clients::{AuthorizationRules, ClientMethod, OauthClient};
pub use outbound::{ExtraCa, Outbound};
pub use permission::Permission;
pub use refusal::Refusal;
pub use schema::{DEFAULT_FILE, schema};
pub use secret::{Secret, SecretKey};
pub use secrets_store::{EncryptionKey, SecretsStore};
pub use sign_in::{Mail, Methods, SignIn, SignUp};
pub use sign_in_providers::{ISSUER, Newcomers, SignInProvider};
pub use tool_servers::{Document, Hints, OpenApi, Process, Remote, Target, ToolServer};
pub use variables::{DEFAULT_DATABASE, DEFAULT_HOST, DEFAULT_LOG_FILTER, DEFAULT_PORT};

/// The variables of a process, or of a test.
pub type Environment = BTreeMap<String, String>;

/// Everything an operator can set, checked.
#[derive(Clone)]
pub struct Settings {
    /// Where the server listens, and browser origins.
    pub listener: Listener,
    /// The origin people and agents use, such as `https://playmaker.example`; set, people sign in.
    pub public_url: Option<String>,
    /// The issuer that signs people in; `None`: this server does it itself where [`Self::public_url`] is set.
    pub identity: Option<Issuer>,
    /// How people sign in to Studio, where they do.
    pub sign_in: SignIn,
    /// The database.
    pub database: Database,
    /// How lines of the log look.
    pub log_format: LogFormat,
    /// What the log shows, such as `playmaker=debug,info`.
    pub log_filter: String,
    /// The keys that may call; `None` when nothing was said, which is not the same as no key.
    pub api_keys: Option<Vec<ApiKey>>,
    /// How long a key that people make may work at most, in milliseconds; some end is then set on each.
    pub key_max_age_ms: Option<i64>,
    /// The operator's tool servers, by name.
    pub tool_servers: BTreeMap<String, ToolServer>,
    /// Rules of connections.
    pub connections: ConnectionRules,
    /// Values of providers.
    pub provider_values: ProviderValues,
    /// Variables that a connection's `reference` may name under some rule, and no other.
    pub variables: BTreeMap<String, Secret>,
    /// Where credentials are kept.
    pub secrets: SecretsStore,
    /// How the built-in authorization server behaves.
    pub authorization: AuthorizationRules,
    /// How requests leave.
    pub outbound: Outbound,
    /// How orgs come to be and what is told of them.
    pub administration: Administration,
    /// How much anybody may ask.
    pub limits: RequestLimits,
    /// Where the settings came from, for the log of the start.
    pub sources: Sources,
}

impl Settings {
    /// Who may call.
    pub fn access(&self) -> Access {
        match (&self.public_url, &self.api_keys, self.listener.is_loopback()) {
            (Some(_), _, _) => Access::SignIn,
            (None, Some(_), _) => Access::Keys,
            (None, None, true) => Access::Local,
            (None, None, false) => Access::Closed,
        }
    }

    /// The value of a variable that a `reference` of `org` names; `None` when no rule lets it, or it is not set.
    pub fn reference(&self, org: &str, variable: &str) -> Option<&Secret> {
        let allowed = self.connections.may_reference(org, variable);
        self.variables.get(variable).filter(|_| allowed)
    }
}

/// The database's address.
#[derive(Clone)]
pub struct Database {
    /// The address, which may hold a password.
    pub url: Secret,
    /// What speaks there.
    pub kind: DatabaseKind,
}

/// The databases there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// One file, one server.
    Sqlite,
    /// Several servers, one database.
    Postgres,
}

/// How lines of the log look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// Lines for a person.
    Pretty,
}

/// Which keys the file gave, and which of them the environment replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// The file, where one was read.
    pub file: Option<PathBuf>,
    /// Keys the file holds.
    pub from_file: Vec<String>,
    /// Keys of the file that a variable replaced.
    pub replaced: Vec<String>,
}
