//! A whole program over a database of its own, with one playbook.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};

use super::stand_in::{SECRET, StandIn};
use crate::app::{App, Surroundings};
use crate::clock::ManualClock;
use crate::egress::SystemResolver;
use crate::error::{Problem, Result};
use crate::identity::Caller;
use crate::ids::{Ids, SystemEntropy};
use crate::ledger::{Filter, Order, Row};
use crate::on_connection;
use crate::operations::{Scope, admission};
use crate::playbooks;
use crate::store::Work;

pub(super) struct House {
    pub(super) app: Arc<App>,
    pub(super) clock: Arc<ManualClock>,
    pub(super) upstream: StandIn,
    pub(super) caller: Arc<Caller>,
    _folder: tempfile::TempDir,
}

impl House {
    /// The servers `crm` (MCP), `notes` (HTTP API), `quiet` (content not kept) and `closed` (for another playbook).
    pub(super) async fn build() -> Self {
        let upstream = StandIn::start().await;
        let mcp = |more: Value| {
            let mut entry = json!({
                "org": "local", "url": format!("{}/mcp", upstream.base), "headers": { "X-Key": "${KEY}" }
            });
            entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            entry
        };
        let servers = json!({
            "crm": mcp(json!({})),
            "quiet": mcp(json!({ "record_content": false, "allowed": ["find_contact", "gone"] })),
            "closed": mcp(json!({ "playbooks": ["another"] })),
            "notes": {
                "type": "openapi", "org": "local", "document": format!("{}/openapi.json", upstream.base),
                "headers": { "X-Key": "${KEY}" }
            },
        });
        Self::with(upstream, &servers.to_string()).await
    }

    pub(super) async fn with(upstream: StandIn, servers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = format!("sqlite:{}/house.db", folder.path().display());
        let environment: BTreeMap<String, String> = [
            ("DATABASE_URL", database.as_str()),
            ("SECRETS_KEYS", "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
            ("TOOL_SERVERS", servers),
            ("KEY", SECRET),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
        let settings = crate::config::load(&environment, |_| Err(std::io::ErrorKind::NotFound.into()))
            .map_err(|refusal| refusal.to_string())
            .unwrap();
        let clock = Arc::new(ManualClock::at(1_790_000_000_000));
        let surroundings = Surroundings {
            clock: clock.clone(),
            ids: Ids::new(Arc::new(SystemEntropy)),
            account: "ada".into(),
            address: SocketAddr::from(([127, 0, 0, 1], 1)),
            shared_clock: None,
            resolver: Arc::new(SystemResolver),
            log_secrets: crate::telemetry::SecretRegistry::new(),
        };
        let app = App::start(settings, surroundings).await.unwrap();
        let caller = Arc::new(Caller::local("ada"));
        let made =
            playbooks::create(&app.ledger, &caller, 1_790_000_000_000, "sales".into(), "Sales".into(), String::new());
        made.await.unwrap();
        Self { app, clock, upstream, caller, _folder: folder }
    }

    /// Runs an operation, in the playbook where it is one of playbooks.
    pub(super) async fn run(&self, id: &str, input: Value) -> Result<Value> {
        self.run_as(self.caller.clone(), id, input).await.map(|(output, _)| output)
    }

    /// The same with its words.
    pub(super) async fn run_as(&self, caller: Arc<Caller>, id: &str, input: Value) -> Result<(Value, String)> {
        let entry = self.app.operations.iter().find(|entry| entry.declaration.id == id).unwrap();
        admission::permission(entry, &caller)?;
        let mut context = admission::context(self.app.clone(), caller, false);
        if entry.declaration.scope == Scope::Playbook {
            admission::playbook(entry, &mut context, "sales").await?;
        }
        admission::org_playbook(entry, &context, input.as_object().unwrap())?;
        let answer = entry.run(context, input).await?;
        Ok((serde_json::from_str(answer.output.get()).unwrap(), answer.summary))
    }

    pub(super) async fn execute(&self, server: &str, tool: &str, arguments: Value) -> Result<Value> {
        self.run("execute", json!({ "server": server, "tool": tool, "arguments": arguments })).await
    }

    /// Calls under an idempotency key.
    pub(super) async fn keyed(&self, tool: &str, key: &str, arguments: Value) -> Result<Value> {
        let input = json!({ "server": "crm", "tool": tool, "arguments": arguments, "idempotency_key": key });
        self.run("execute", input).await
    }

    /// Changes the tables behind the program's back.
    pub(super) async fn change(&self, statement: &'static str) {
        let work: Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(statement).execute(c).await.map(|_| ()))?;
                Ok(())
            })
        });
        self.app.ledger.store().housekeeping("local", "a test's own", work).await.unwrap();
    }

    /// The playbook's history, oldest first.
    pub(super) async fn history(&self) -> Vec<Row> {
        self.app.ledger.history("local", "sales", &Filter::default(), Order::Asc, None, 100).await.unwrap().rows
    }
}

/// What a refusal is known by.
pub(super) fn refused(
    result: Result<Value>,
) -> (&'static str, Option<&'static str>, Option<&'static str>, Option<u32>) {
    let problem: Problem = result.unwrap_err();
    (problem.reason().word(), problem.kind_word(), problem.because_word(), problem.retry_after_s())
}
