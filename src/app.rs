//! Everything long-lived, built in one function.

pub mod upkeep;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::clock::SharedClock;
use crate::config::{Adders, Settings};
use crate::connections::catalogue::{Catalogue, read_folder};
use crate::connections::{self, Connections};
use crate::egress;
use crate::error::Result;
use crate::identity::audit::Refusals;
use crate::identity::oauth::{self, AuthorizationServer};
use crate::identity::sign_in::upstream::Upstreams;
use crate::identity::sign_in::{self, Mail};
use crate::identity::{Access, Identity, Issuing, tokens};
use crate::ids::Ids;
use crate::ledger::Ledger;
use crate::lifecycle::Lifecycle;
use crate::limits::Limits;
use crate::mcp::HEARTBEAT;
use crate::operations::Operations;
use crate::secrets::SecretsStore;
use crate::store::{DatabaseClock, Lock, Store};
use crate::telemetry::SecretRegistry;
use crate::tool_servers::{self, ToolServers};
use upkeep::Upkeep;

/// How long a call that comes again waits for its person (`connections.md` 3.6).
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The program: what every request reaches.
pub struct App {
    /// What the operator set.
    pub settings: Arc<Settings>,
    /// The present.
    pub clock: SharedClock,
    /// New ids.
    pub ids: Ids,
    /// Whether it stops.
    pub lifecycle: Lifecycle,
    /// Which ways in are open.
    pub access: Access,
    /// How much anybody may ask.
    pub limits: Arc<Limits>,
    /// Orgs, people and what proves a caller.
    pub identity: Arc<Identity>,
    /// Mail to people.
    pub mail: Mail,
    /// Everywhere people sign in besides here.
    pub upstreams: Upstreams,
    /// The built-in authorization server, where people sign in and no other issuer is set.
    pub oauth: Option<AuthorizationServer>,
    /// Refusals on their way to the audit.
    pub refusals: Arc<Refusals>,
    /// Work by the clock.
    pub upkeep: Upkeep,
    /// All that happened.
    pub ledger: Ledger,
    /// Credentials at rest.
    pub secrets: SecretsStore,
    /// What people connected, and could connect.
    pub connections: Connections,
    /// The one way out.
    pub egress: egress::Client,
    /// What playbooks may call.
    pub tool_servers: ToolServers,
    /// All a caller can do.
    pub operations: Operations,
    /// Where it listens.
    pub address: SocketAddr,
    /// How long a call that comes again waits for its person: [`PATIENCE`], unless a test sets less before it serves.
    pub patience: Duration,
    /// How long a stream stays silent before it carries a heartbeat: [`HEARTBEAT`], unless a test sets less before it serves.
    pub heartbeat: Duration,
    lock: Option<Lock>,
}

/// What the machine lends a server, so that a test can lend other things.
pub struct Surroundings {
    /// The present.
    pub clock: SharedClock,
    /// New ids.
    pub ids: Ids,
    /// The name of the account the server runs as.
    pub account: String,
    /// Where it listens, bound already.
    pub address: SocketAddr,
    /// In place of PostgreSQL's clock, which servers of one database share; for tests alone.
    pub shared_clock: Option<SharedClock>,
    /// How names become addresses.
    pub resolver: Arc<dyn egress::Resolver>,
    /// What the log takes out of every line.
    pub log_secrets: Arc<SecretRegistry>,
}

/// Why a server could not start, in one line.
#[derive(Debug)]
pub struct StartError(pub String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

impl App {
    /// Opens the database and the secrets store and builds everything; contacts no other server.
    pub async fn start(settings: Settings, surroundings: Surroundings) -> Result<Arc<Self>, StartError> {
        let Surroundings { clock, ids, account, address, shared_clock, resolver, log_secrets } = surroundings;
        let (lock, store) = open_store(&settings).await?;
        let ledger =
            Ledger::new(store.clone(), clock.clone(), ids.clone()).logging_audit(settings.administration.audit_log);
        let secrets = SecretsStore::open(&settings, store, ids.clone()).await.map_err(StartError)?;
        let settings = Arc::new(settings);
        let catalogue = catalogue(&settings)?;
        let (access, limits) = (Access::of(&settings, &account), Arc::new(Limits::of(&settings, clock.clone())));
        let egress = egress::Client::new(egress_policy(&settings, address, resolver)?)
            .map_err(|error| StartError(error.to_string()))?;
        let lifecycle = Lifecycle::default();
        let needs = connections::Needs {
            database_clock: DatabaseClock::of(ledger.store(), &clock, shared_clock),
            public_address: public_address(&settings, address),
            ledger: ledger.clone(),
            secrets: secrets.clone(),
            settings: settings.clone(),
            log_secrets,
            clock: clock.clone(),
            ids: ids.clone(),
            egress: egress.clone(),
            lifecycle: lifecycle.clone(),
        };
        let connections = Connections::new(needs.clone(), catalogue);
        let own_keys = tokens::OwnKeys::default();
        let issuing = issuing(&settings, &egress, &clock, &own_keys);
        let oauth = match &issuing {
            Some(issuing) if issuing.external.is_none() => {
                let revoked = issuing.revoked.clone();
                let parts = (ledger.clone(), secrets.clone(), clock.clone(), ids.clone());
                Some(authorization_server(&settings, &egress, &limits, own_keys, revoked, parts).await?)
            }
            _ => None,
        };
        let upstreams = upstreams(&settings, issuing.as_ref(), &egress, &clock);
        let configured = settings.api_keys.as_deref().unwrap_or_default();
        let identity = Arc::new(Identity::new(ledger.clone(), clock.clone(), ids.clone(), issuing, configured));
        identity.check_configured_keys().await.map_err(|problem| StartError(problem.detail().to_owned()))?;
        let refusals = Arc::new(Refusals::new(ledger.clone(), clock.clone()));
        let mail = Mail::of(settings.sign_in.mail.as_ref(), lifecycle.clone()).map_err(StartError)?;
        let tool_servers = ToolServers::new(tool_servers::Needs::of(needs, connections.clone()));
        let upkeep = Upkeep {
            settings: settings.clone(),
            clock: clock.clone(),
            ledger: ledger.clone(),
            identity: identity.clone(),
            refusals: refusals.clone(),
            connections: connections.clone(),
            tool_servers: tool_servers.clone(),
        };
        let app = Self {
            settings,
            clock,
            ids,
            lifecycle,
            access,
            limits,
            identity,
            mail,
            upstreams,
            oauth,
            refusals,
            upkeep,
            ledger,
            secrets,
            connections,
            egress,
            tool_servers,
            operations: Operations::all(),
            address,
            patience: PATIENCE,
            heartbeat: HEARTBEAT,
            lock,
        };
        app.start_work();
        app.start_signing_in().await?;
        Ok(Arc::new(app))
    }

    /// What goes on beside requests until the stop.
    fn start_work(&self) {
        self.oauth.iter().for_each(|oauth| oauth.start_sweep(&self.lifecycle));
        self.tool_servers.start_sweep();
        self.identity.start_key_fetch(&self.lifecycle);
        self.identity.start_key_sweep(&self.lifecycle);
        self.connections.start_sweep();
        self.upkeep.start(&self.lifecycle);
    }

    /// Where people sign in: forgets what has ended, and says how the first person is made while there is nobody.
    async fn start_signing_in(&self) -> Result<(), StartError> {
        if !self.access.signs_in() {
            return Ok(());
        }
        sign_in::start_sweep(self.identity.clone(), &self.lifecycle);
        if self.settings.identity.is_some() {
            return Ok(());
        }
        let told = self.identity.announce_set_up(&self.public_address()).await;
        told.map_err(|problem| StartError(problem.to_string()))
    }

    /// Whether a tool may change something outside: any tool server is configured, or people may add connections.
    pub fn tools_may_change(&self) -> bool {
        self.people_may_add() || !self.settings.tool_servers.is_empty()
    }

    /// Whether people may add connections here: somebody must be there to approve them, and the operator must let people.
    pub fn people_may_add(&self) -> bool {
        (self.access.is_local() || self.access.signs_in()) && self.settings.connections.add == Adders::People
    }

    /// Whether the server can serve: the database answers and the secrets' canary opens (decision D16).
    pub async fn ready(&self) -> Result<()> {
        self.ledger.store().ping().await?;
        self.secrets.check_canary().await
    }

    /// The address people and agents use, without a slash at its end.
    pub fn public_address(&self) -> String {
        public_address(&self.settings, self.address)
    }

    /// Who issues the access tokens taken here; nobody where nobody signs in.
    pub fn issuer(&self) -> Option<&str> {
        let external = self.settings.identity.as_ref().map(|external| external.issuer.as_str());
        external.or(self.settings.public_url.as_deref())
    }

    /// Whether `origin` is that of this server's own pages.
    pub fn is_own_origin(&self, origin: &str) -> bool {
        if let Some(public_url) = &self.settings.public_url {
            return origin == public_url;
        }
        let port = self.address.port();
        ["localhost", "127.0.0.1", "[::1]"].iter().any(|host| origin == format!("http://{host}:{port}"))
            || (port == 80 && ["http://localhost", "http://127.0.0.1", "http://[::1]"].contains(&origin))
    }

    /// Whether a browser's page of `origin` may call.
    pub fn origin_allowed(&self, origin: &str) -> bool {
        self.is_own_origin(origin) || self.settings.listener.allowed_origins.iter().any(|allowed| allowed == origin)
    }

    /// Stops taking work, waits for what is in hand and closes the database.
    pub async fn close(&self) {
        self.lifecycle.stop();
        self.lifecycle.drained().await;
        self.refusals.tell(true).await;
        self.tool_servers.close().await;
        if let Err(problem) = self.identity.write_key_uses().await {
            tracing::warn!(%problem, "when keys were last used could not be written");
        }
        self.ledger.store().close().await;
        if let Some(lock) = &self.lock {
            lock.give_back();
        }
        self.lifecycle.end();
    }
}

/// The database, and the lock of a file that one server alone may have open.
async fn open_store(settings: &Settings) -> Result<(Option<Lock>, Store), StartError> {
    // Here and not with the store, which `playmaker secrets rekey` opens beside a server.
    let url = settings.database.url.expose();
    let lock = Lock::take(url).await.map_err(|error| StartError(error.to_string()))?;
    let store = Store::open(url).await.map_err(|error| StartError(error.to_string()))?;
    Ok((lock, store))
}

fn public_address(settings: &Settings, address: SocketAddr) -> String {
    settings.public_url.clone().unwrap_or_else(|| format!("http://localhost:{}", address.port()))
}

/// The built-in authorization server, with its first key; whoever checks tokens is handed its keys in `own_keys`.
async fn authorization_server(
    settings: &Settings,
    egress: &egress::Client,
    limits: &Arc<Limits>,
    own_keys: tokens::OwnKeys,
    revoked: oauth::Revocations,
    (ledger, secrets, clock, ids): (Ledger, SecretsStore, SharedClock, Ids),
) -> Result<AuthorizationServer, StartError> {
    let rules = &settings.authorization;
    let (limits, guarded) = (limits.clone(), oauth::documents::guarded(egress.clone()));
    let needs = oauth::Needs {
        issuer: settings.public_url.clone().unwrap_or_default(),
        access_token_ttl_ms: rules.access_token_ttl_ms,
        registers: rules.registers,
        clients: oauth::configured::clients(&rules.clients).map_err(StartError)?,
        ledger,
        secrets,
        fetch: Arc::new(move |url, most| match limits.document_fetch() {
            Ok(()) => guarded(url, most),
            Err(_) => Box::pin(async { Err(oauth::documents::Fault::passing("too many documents just now")) }),
        }),
        on_keys: Box::new(move |set| own_keys.replace(tokens::KeySet::read(set).unwrap_or_default())),
        revoked,
        clock,
        ids,
    };
    AuthorizationServer::open(needs).await.map_err(|error| StartError(error.to_string()))
}

/// What checks the access tokens of people, where they sign in.
fn issuing(
    settings: &Settings,
    egress: &egress::Client,
    clock: &SharedClock,
    own_keys: &tokens::OwnKeys,
) -> Option<Issuing> {
    let public_url = settings.public_url.clone()?;
    let (rules, keys) = match &settings.identity {
        None => (tokens::Rules::own(&public_url), tokens::Keys::Own(own_keys.clone())),
        Some(external) => {
            let published = tokens::Published::new(external, egress.clone(), clock.clone());
            (tokens::Rules::external(external), tokens::Keys::Published(published))
        }
    };
    let checker = tokens::Checker::new(rules, keys, clock.clone());
    Some(Issuing { checker, public_url, external: settings.identity.clone(), revoked: oauth::Revocations::default() })
}

/// Where else people sign in; the keys of an issuer outside are those its access tokens are checked with.
fn upstreams(
    settings: &Settings,
    issuing: Option<&Issuing>,
    egress: &egress::Client,
    clock: &SharedClock,
) -> Upstreams {
    let published = issuing.and_then(|issuing| issuing.checker.published());
    Upstreams::of(settings, published, egress, clock)
}

fn catalogue(settings: &Settings) -> Result<Catalogue, StartError> {
    let files = match &settings.connections.providers_dir {
        Some(folder) => read_folder(folder).map_err(|fault| StartError(fault.to_string()))?,
        None => Vec::new(),
    };
    Catalogue::with(&files).map_err(|fault| StartError(fault.to_string()))
}

fn egress_policy(
    settings: &Settings,
    address: SocketAddr,
    resolver: Arc<dyn egress::Resolver>,
) -> Result<egress::Policy, StartError> {
    let rules = &settings.connections;
    let hosts = egress::HostRules::parse(&rules.hosts.join(","))
        .map_err(|item| StartError(format!("CONNECTIONS_HOSTS: {item} is no host")))?;
    Ok(egress::Policy {
        local_mode: settings.access() == crate::config::Access::Local,
        private_origins: rules.private_hosts.iter().filter_map(|text| egress::Policy::origin(text)).collect(),
        hosts,
        own_addresses: vec![address],
        extra_ca_pem: settings.outbound.extra_ca_certs.as_ref().map(|ca| ca.pem.clone().into_bytes()),
        resolver,
        proxy: settings
            .outbound
            .proxy_url()
            .map(|url| egress::ProxySettings { url, no_proxy: settings.outbound.no_proxy.clone() }),
    })
}
