//! A whole server inside the test: on a free port of loopback, over a database of its own, at a time the test sets.
//!
//! `TestApp::local()` is what a developer starts; [`TestApp::with_keys`] a server of keys; [`TestApp::signing_in`] one that
//! people sign in to, as [`TestApp::person`] lets them; [`TestApp::with`] any other.
//! [`TestApp::beside`] starts another server on the same database.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use playmaker::app::{App, PATIENCE, StartError, Surroundings};
use playmaker::clock::{Clock, ManualClock};
use playmaker::config::{self, Environment};
use playmaker::digest::sha256_hex;
use playmaker::egress::SystemResolver;
use playmaker::http;
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::ledger::{Book, Row};
use playmaker::telemetry::SecretRegistry;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::database::Database;
use super::people::Caller;

/// When every test begins: 2026-10-01T09:30:00Z.
pub const BEGINNING_MS: i64 = 1_790_847_000_000;
/// The name of the account the server runs as.
pub const ACCOUNT: &str = "ada";
/// The sealing key of a test's server: 32 bytes of 7.
pub const FIRST_KEY: &str = "first:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
/// Another one: 32 bytes of 9.
pub const SECOND_KEY: &str = "second:CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=";

/// Stands for the server's own origin in `PUBLIC_URL`, which is known once its port is.
pub const OWN_ORIGIN: &str = "the server's own";

/// A running server and what the test holds of it.
pub struct TestApp {
    /// The program behind it.
    pub app: Arc<App>,
    /// Its present.
    pub clock: Arc<ManualClock>,
    environment: Environment,
    database: Arc<Database>,
}

impl TestApp {
    /// What a developer starts: nothing set, every request the developer's.
    pub async fn local() -> Self {
        Self::with(&[]).await
    }

    /// A server of keys alone, for these callers.
    pub async fn with_keys(keys: &[Key]) -> Self {
        let entries: Vec<Value> = keys.iter().map(Key::entry).collect();
        Self::with(&[("API_KEYS", &json!(entries).to_string())]).await
    }

    /// A server that people sign in to, at its own origin.
    pub async fn signing_in() -> Self {
        Self::signing_in_with(&[]).await
    }

    /// The same with further settings.
    pub async fn signing_in_with(settings: &[(&str, &str)]) -> Self {
        Self::with(&[&[("PUBLIC_URL", OWN_ORIGIN)], settings].concat()).await
    }

    /// A server reachable from outside that nothing lets anybody into.
    pub async fn closed() -> Self {
        Self::with(&[("HOST", "0.0.0.0")]).await
    }

    /// A server with these settings.
    pub async fn with(settings: &[(&str, &str)]) -> Self {
        Self::on(Database::fresh().await, settings, BEGINNING_MS).await
    }

    /// A server with these settings on a database that is there, at a time of its own.
    pub async fn on(database: Database, settings: &[(&str, &str)], now_ms: i64) -> Self {
        let database = Arc::new(database);
        let mut environment = Environment::from([
            ("DATABASE_URL".to_owned(), database.url().to_owned()),
            ("SECRETS_KEYS".to_owned(), FIRST_KEY.to_owned()),
        ]);
        environment.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let clock = Arc::new(ManualClock::at(now_ms));
        Beginning { environment, database, shared: clock.clone(), clock, patience: Duration::ZERO }.start().await
    }

    /// Another server on the same database, at the same time, with these settings changed.
    pub async fn beside(&self, settings: &[(&str, &str)]) -> Self {
        self.to_be_beside(settings).start().await
    }

    /// The same, not started yet, for wherever it is to run.
    pub fn to_be_beside(&self, settings: &[(&str, &str)]) -> Beginning {
        let mut environment = self.environment.clone();
        environment.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let (clock, shared) = (self.clock.clone(), self.clock.clone());
        Beginning { environment, database: self.database.clone(), clock, shared, patience: Duration::ZERO }
    }

    /// Another server on the same database whose own clock is wrong by so much.
    pub async fn beside_at(&self, wrong_ms: i64) -> Self {
        let clock = Arc::new(ManualClock::at(self.clock.now_ms() + wrong_ms));
        Beginning { clock, ..self.to_be_beside(&[]) }.start().await
    }

    /// Another server on the same database, where a call that comes again waits for its person.
    pub async fn patient(&self) -> Self {
        Beginning { patience: PATIENCE, ..self.to_be_beside(&[]) }.start().await
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.app.address
    }

    /// The address of a path here.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    /// The origin of its own pages.
    pub fn origin(&self) -> String {
        format!("http://localhost:{}", self.address().port())
    }

    /// Its database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Somebody without a credential; in local mode that is the developer's own agent.
    pub fn anyone(&self) -> Caller {
        Caller::new(self.url(""), None)
    }

    /// The holder of a key.
    pub fn holder(&self, key: &Key) -> Caller {
        Caller::new(self.url(""), Some(key.text))
    }

    /// The last row of an action in the audit of an org, with its facts.
    pub async fn last_of(&self, org: &str, kind: &str) -> serde_json::Value {
        let rows = self.audit(org).await;
        rows.into_iter().rfind(|row| row.kind == kind).unwrap_or_else(|| panic!("no {kind}")).data
    }

    /// The actions of the audit of an org, in order, each with the thing it is about.
    pub async fn audit(&self, org: &str) -> Vec<Row> {
        self.app.ledger.book(org, Book::Audit).await.unwrap()
    }

    /// The words of the audit about one connection, in order.
    pub async fn audit_of(&self, org: &str, connection: &str) -> Vec<String> {
        let stream = format!("connections/{connection}");
        self.audit(org).await.into_iter().filter(|row| row.stream == stream).map(|row| row.kind).collect()
    }
}

/// A server about to start.
pub struct Beginning {
    environment: Environment,
    database: Arc<Database>,
    clock: Arc<ManualClock>,
    /// The clock of the database, where it has one.
    shared: Arc<ManualClock>,
    patience: Duration,
}

impl Beginning {
    /// Starts it.
    pub async fn start(self) -> TestApp {
        self.try_to_start().await.unwrap()
    }

    /// Starts it unless something is in the way, such as another server on the same file.
    pub async fn try_to_start(mut self) -> Result<TestApp, StartError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        if let Some(url) = self.environment.get_mut("PUBLIC_URL").filter(|url| *url == OWN_ORIGIN) {
            *url = format!("http://localhost:{}", listener.local_addr().unwrap().port());
        }
        let settings = config::load(&self.environment, |path| std::fs::read_to_string(path))
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        let surroundings = Surroundings {
            clock: self.clock.clone(),
            ids: Ids::new(Arc::new(SystemEntropy)),
            account: ACCOUNT.to_owned(),
            address: listener.local_addr().unwrap(),
            shared_clock: Some(self.shared.clone()),
            resolver: Arc::new(SystemResolver),
            log_secrets: SecretRegistry::new(),
        };
        let mut app = App::start(settings, surroundings).await?;
        Arc::get_mut(&mut app).expect("nobody else holds it yet").patience = self.patience;
        tokio::spawn(http::serve(app.clone(), listener));
        let Self { environment, database, clock, .. } = self;
        Ok(TestApp { app, clock, environment, database })
    }
}

/// A key and what it may do.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its id.
    pub id: &'static str,
    /// The key itself.
    pub text: &'static str,
    /// The org it acts in.
    pub org: &'static str,
    /// What it may do.
    pub permissions: &'static [&'static str],
    /// Where; everywhere when `None`.
    pub playbooks: Option<&'static [&'static str]>,
}

/// May do everything in the org `north`.
pub const FULL: Key = Key {
    id: "build-bot",
    text: "a-key-that-may-do-everything",
    org: "north",
    permissions: &["org:read", "org:write", "playbook:read", "playbook:write"],
    playbooks: None,
};
/// May read everything in the org `north`.
pub const READER: Key =
    Key { id: "reader", text: "a-key-that-may-only-read-all", permissions: &["org:read", "playbook:read"], ..FULL };
/// May do everything in two playbooks of `north`.
pub const LIMITED: Key =
    Key { id: "limited", text: "a-key-for-two-playbooks-only", playbooks: Some(&["support", "billing"]), ..FULL };
/// May read inside one playbook of `north`, and nothing of the org.
pub const INSIDE: Key = Key {
    id: "inside",
    text: "a-key-that-reads-in-a-playbook",
    permissions: &["playbook:read"],
    playbooks: Some(&["support"]),
    ..FULL
};
/// May do everything in the org `south`.
pub const ELSEWHERE: Key = Key { id: "elsewhere", text: "a-key-of-quite-another-org-1", org: "south", ..FULL };

impl Key {
    /// Its entry of `API_KEYS`.
    pub fn entry(&self) -> Value {
        let playbooks = self.playbooks.map_or(json!("*"), |ids| json!(ids));
        json!({
            "id": self.id,
            "org": self.org,
            "permissions": self.permissions,
            "playbooks": playbooks,
            "sha256": sha256_hex(self.text),
        })
    }
}
