//! The ledger: everything that happens, as one dense sequence of events an org, in the transaction of what it changes.
//!
//! Write with [`Ledger::commit`]: the work changes state tables and hands over the events that say so; both stand or
//! neither. Positions of an org have no gaps and become visible in order, so a reader that keeps the last position it saw
//! misses nothing. An event is in one [`Book`]: a playbook's history, the org's registry or its audit.

mod append;
pub mod audit;
mod audit_log;
mod kept;
mod origin;
pub mod public_types;
mod read;
pub mod summaries;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;

pub use append::also;
pub use audit::{AuditFilter, AuditRow};
pub use origin::{Origin, Via, for_request};
pub use read::{Filter, Order, Page, Row};

use crate::clock::SharedClock;
use crate::error::Result;
use crate::ids::Ids;
use crate::store::{Connection, Decision, Store};

/// Which reader an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Book {
    /// A playbook's history: `list_playbook_events`, `get_event`.
    History,
    /// The org's registry: playbooks made, changed and retired.
    Registry,
    /// The org's audit: connections, keys, members (`connections.md` 18).
    Audit,
}

impl Book {
    /// The word kept in the database.
    pub const fn word(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Registry => "registry",
            Self::Audit => "audit",
        }
    }
}

/// Who did it, as each event and each record shows it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Actor {
    /// `person`, `local`, `key`, `playbook`, `operator` or `system`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The caller id, such as `local` or a key's id.
    pub id: String,
    /// A name for people to read.
    pub name: String,
    /// How its request came; kept by the audit alone, and shown by nothing else.
    #[serde(skip)]
    pub origin: Option<Arc<Origin>>,
}

impl Actor {
    /// An actor of that kind, id and name.
    pub fn new(kind: impl Into<String>, id: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), id: id.into(), name: name.into(), origin: None }
    }

    /// The server itself.
    pub fn system() -> Self {
        Self::new("system", "system", "Playmaker").from(Arc::new(Origin::of(Via::Server)))
    }

    /// Whoever runs the server, by a command.
    pub fn operator() -> Self {
        Self::new("operator", "operator", "Operator").from(Arc::new(Origin::of(Via::Command)))
    }

    /// The same actor, through a request.
    #[must_use]
    pub fn from(self, origin: Arc<Origin>) -> Self {
        Self { origin: Some(origin), ..self }
    }
}

/// An event about to be recorded.
#[derive(Debug, Clone)]
pub struct Event {
    /// Which book it is written in.
    pub book: Book,
    /// Its playbook, where it has one.
    pub playbook: Option<String>,
    /// The thing it is about, such as `connections/conn_…`; positions in it count from 1.
    pub stream: String,
    /// Its public type, such as `tool_execute_started`.
    pub kind: &'static str,
    /// Who did it.
    pub actor: Actor,
    /// Its id, where the caller has one already.
    pub id: Option<String>,
    /// The event that directly led to it.
    pub causation: Option<String>,
    /// What its whole tree is known by.
    pub correlation: Option<String>,
    /// The fact.
    pub data: Value,
    /// What the thing it is about is called now, for the audit.
    pub target_name: Option<String>,
}

impl Event {
    /// The same event, about something of this name.
    #[must_use]
    pub fn about(self, name: impl Into<String>) -> Self {
        Self { target_name: Some(name.into()), ..self }
    }

    /// An event of the org's audit about `stream`.
    pub fn audit(stream: impl Into<String>, kind: &'static str, actor: Actor, data: Value) -> Self {
        Self::new(Book::Audit, None, stream.into(), kind, actor, data)
    }

    /// An event of the org's registry of playbooks.
    pub fn registry(playbook: &str, kind: &'static str, actor: Actor, data: Value) -> Self {
        Self::new(Book::Registry, Some(playbook.to_owned()), format!("playbooks/{playbook}"), kind, actor, data)
    }

    /// An event of a playbook's history.
    pub fn history(playbook: &str, stream: impl Into<String>, kind: &'static str, actor: Actor, data: Value) -> Self {
        Self::new(Book::History, Some(playbook.to_owned()), stream.into(), kind, actor, data)
    }

    /// Tells the request in hand as its origin, where it has none, or the same without the request's id.
    fn in_hand(&mut self) {
        if let Some(request) = origin::in_hand()
            && self.actor.origin.as_ref().is_none_or(|own| own.via == request.via && own.request_id.is_none())
        {
            self.actor.origin = Some(request);
        }
    }

    fn new(
        book: Book,
        playbook: Option<String>,
        stream: String,
        kind: &'static str,
        actor: Actor,
        data: Value,
    ) -> Self {
        Self {
            book,
            playbook,
            stream,
            kind,
            actor,
            id: None,
            causation: None,
            correlation: None,
            data,
            target_name: None,
        }
    }
}

/// What a piece of work changed: a value for its caller and the events that say what happened.
///
/// No events means that nothing changed.
pub struct Changed<T> {
    /// For the caller.
    pub value: T,
    /// For the ledger.
    pub events: Vec<Event>,
    /// Where the end of the commit decides whether any of it happened; with what is told where not.
    pub decided: Option<(Decision, Result<T>)>,
}

impl<T> Changed<T> {
    /// Nothing happened; `value` is as it stands.
    pub fn nothing(value: T) -> Self {
        Self::of(value, [])
    }

    /// One thing happened.
    pub fn by(value: T, event: Event) -> Self {
        Self::of(value, [event])
    }

    /// These things happened, in this order; none may be among them.
    pub fn of(value: T, events: impl IntoIterator<Item = Event>) -> Self {
        Self { value, events: events.into_iter().collect(), decided: None }
    }

    /// One thing happens where the statement of `decision` changes a row; else nothing does, and `otherwise` is told.
    pub fn decided(decision: Decision, value: T, event: Event, otherwise: Result<T>) -> Self {
        Self { value, events: vec![event], decided: Some((decision, otherwise)) }
    }
}

/// What a commit holds for whoever asked for it.
struct Committed<T> {
    value: T,
    decided: Option<(Decision, Result<T>)>,
    lines: Vec<audit_log::Line>,
    /// Readings that end with the commit, once this is dropped.
    _outdated: kept::Outdated,
}

impl<T> Committed<T> {
    fn told(self) -> Result<T> {
        match self.decided {
            Some((decision, otherwise)) if !decision.stands() => otherwise,
            _ => {
                self.lines.iter().for_each(audit_log::Line::write);
                Ok(self.value)
            }
        }
    }
}

/// Work inside a ledger commit. It may run statements and nothing else.
pub type Work<T> = Box<dyn for<'c> FnOnce(&'c mut Connection) -> BoxFuture<'c, Result<Changed<T>>> + Send>;

/// The way to everything that happened. Cheap to clone.
#[derive(Clone)]
pub struct Ledger {
    store: Store,
    clock: SharedClock,
    ids: Ids,
    kept: kept::Kept,
    audit_log: bool,
}

impl Ledger {
    /// The ledger kept in `store`.
    pub fn new(store: Store, clock: SharedClock, ids: Ids) -> Self {
        Self { store, clock, ids, kept: kept::Kept::default(), audit_log: false }
    }

    /// The same ledger, where each row of the audit is also a line of the log.
    #[must_use]
    pub fn logging_audit(self, audit_log: bool) -> Self {
        Self { audit_log, ..self }
    }

    /// The database below.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Commits `work` of `org` and its events together, durably; commits of many callers share one.
    pub async fn commit<T: Send + 'static>(&self, org: &str, work: Work<T>) -> Result<T> {
        let (org_name, clock, ids) = (Arc::<str>::from(org), self.clock.clone(), self.ids.clone());
        let (kept, audit_log) = (self.kept.clone(), self.audit_log);
        let request = origin::in_hand();
        let write: crate::store::Work<Committed<T>> = Box::new(move |connection| {
            Box::pin(origin::within(request, async move {
                let Changed { value, mut events, decided } = work(connection).await?;
                events.iter_mut().for_each(Event::in_hand);
                let now = clock.now_ms();
                let lines = if audit_log { audit_log::lines(&org_name, &mut events, &ids, now) } else { Vec::new() };
                let _outdated = kept.outdated_by(&org_name, &events);
                if !events.is_empty() {
                    append::append(connection, &org_name, now, &ids, events).await?;
                }
                Ok(Committed { value, decided, lines, _outdated })
            }))
        });
        if !audit_log {
            return self.store.write(org, write).await?.told();
        }
        // What was begun is finished also for a caller that left, and so is its line.
        let (store, org) = (self.store.clone(), org.to_owned());
        let written = tokio::spawn(async move { store.write(&org, write).await?.told() });
        written.await.map_err(crate::error::Problem::internal)?
    }

    /// What `read` finds in tables that only events of `book` change. On SQLite it is read once and kept under `name`
    /// until the book's next event; on a database that servers share it is read each time.
    pub async fn kept<T: Send + Sync + 'static>(
        &self,
        org: &str,
        book: Book,
        name: &str,
        read: impl Future<Output = Result<T>>,
    ) -> Result<Arc<T>> {
        if self.store.is_shared() {
            return read.await.map(Arc::new);
        }
        let edition = match self.kept.find(org, book, name) {
            Ok(reading) => return Ok(reading),
            Err(edition) => edition,
        };
        let reading = Arc::new(read.await?);
        self.kept.put(org, book, name, &edition, reading.clone());
        Ok(reading)
    }
}
