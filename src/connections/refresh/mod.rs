//! Renewing tokens: never twice at once on all servers together, and never a token lost (`connections.md` 10).
//!
//! A server that wants to renew takes a claim on the connection's row, asks the issuer once, keeps what came in the secrets
//! store under the next version, and only then makes that version the connection's. Whoever comes meanwhile waits for the
//! row to move. Start with [`Connections::tokens_for_use`]; [`renewal`] has the states, [`exchange`] the winner's way,
//! [`keep`] what happens when the store does not take the tokens, [`publish`] the compare-and-swap.

mod classify;
mod exchange;
mod forced;
mod keep;
mod publish;
mod renewal;
mod row;
mod sweep;
#[cfg(test)]
mod tests;
mod timing;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

use super::oauth::Tokens;
use super::record::{Because, Record};
use super::standing::Fault;
use super::{Connections, Kind};
use crate::config::CredentialKind;
use crate::ids::Ids;
use crate::on_pool;
use crate::store::Connection;
use exchange::Prepared;
use renewal::{Claim, FAILING, NEEDS_RECONNECT, Renewal, Wanted};

pub(super) use renewal::{FRESH, REFRESHING};
pub(super) use row::forget;

/// How long a call waits for new tokens.
const WAIT: Duration = Duration::from_secs(40);
/// How long a server that does not renew waits before it looks at the row again: at first, and at most.
const POLL: (Duration, Duration) = (Duration::from_millis(50), Duration::from_millis(500));
/// How many exchanges with one issuer a server has under way.
const AT_ONCE: usize = 10;

const WAITED_FOR: &str = "SELECT c.credential_version, c.status, r.state, r.deadline FROM connections c \
     JOIN connection_renewals r ON r.org = c.org AND r.connection = c.id WHERE c.org = $1 AND c.id = $2";

/// What of renewing lives in this server alone.
pub(super) struct Renewals {
    /// This server, in claims.
    owner: String,
    /// What is under way here, so that calls of one server share it; true once it is over.
    under_way: Mutex<HashMap<(String, String), watch::Receiver<bool>>>,
    /// Places for exchanges, by the host of the issuer.
    places: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Renewals {
    /// Nothing is under way; `ids` name this server.
    pub(super) fn new(ids: &Ids) -> Self {
        Self { owner: ids.base62("server_", 22), under_way: Mutex::default(), places: Mutex::default() }
    }

    fn place(&self, host: &str) -> Arc<Semaphore> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.entry(host.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE))).clone()
    }
}

/// What a server that waits looks at: version and status of the connection, state and end of the claim.
type Seen = (i64, String, String, Option<i64>);

/// A row about to be written for tokens that are new.
pub(super) struct Begun(Renewal);

/// Writes it, inside the write that makes the tokens the connection's.
pub(super) async fn begin(connection: &mut Connection, org: &str, id: &str, begun: &Begun) -> crate::error::Result<()> {
    row::write(connection, org, id, &begun.0).await
}

/// Tokens with the version they are of.
pub(super) struct Held {
    pub(super) tokens: Tokens,
    pub(super) version: i64,
}

/// The kind of way that a credential's tokens come from.
pub(super) fn kind_of(record: &Record) -> Kind {
    match record.credential.as_ref().map(|credential| credential.kind) {
        Some(CredentialKind::ClientCredentials) => Kind::ClientCredentials,
        _ => Kind::Authorization,
    }
}

impl Connections {
    /// The tokens for a request: those kept while they last, new ones once they have ended.
    pub(super) async fn tokens_for_use(&self, record: &Record) -> Result<Held, Fault> {
        let tokens = self.kept_tokens(record).await?;
        self.note_use(record);
        let held = Held { tokens, version: record.credential_version };
        let Some(end) = held.tokens.grant.expires_at_ms else { return Ok(held) };
        let now = self.database_clock.now_ms().await.map_err(|_| Fault::new(Because::Unavailable, "store"))?;
        if !self.is_renewable(record, &held.tokens) {
            return if now < end { Ok(held) } else { Err(Fault::new(Because::Broken, "ended")) };
        }
        let due = record.renewal.as_ref().and_then(|renewal| renewal.due_at).unwrap_or(end);
        if now < due.min(end) {
            return Ok(held);
        }
        let under_way = self.begin_renewal(record, false);
        if now < end {
            return Ok(held);
        }
        self.renewed(record, under_way).await
    }

    /// The same without asking anybody: what a reader is told.
    pub(super) async fn tokens_stand(&self, record: &Record) -> Result<(), Fault> {
        let tokens = self.kept_tokens(record).await?;
        let Some(end) = tokens.grant.expires_at_ms else { return Ok(()) };
        let now = self.database_clock.now_ms().await.map_err(|_| Fault::new(Because::Unavailable, "store"))?;
        if now < end {
            return Ok(());
        }
        if !self.is_renewable(record, &tokens) {
            return Err(Fault::new(Because::Broken, "ended"));
        }
        let is_failing = record.renewal.as_ref().is_some_and(|renewal| renewal.state == FAILING);
        if is_failing { Err(Fault::new(Because::Unavailable, "provider")) } else { Ok(()) }
    }

    /// The tokens of the version in use; refused where the consent is over.
    pub(super) async fn kept_tokens(&self, record: &Record) -> Result<Tokens, Fault> {
        if let Some(renewal) = record.renewal.as_ref().filter(|renewal| renewal.state == NEEDS_RECONNECT) {
            return Err(Fault::new(Because::Broken, known(renewal.cause.as_deref())));
        }
        Tokens::of(self.fields_of(record).await?).ok_or(Fault::new(Because::Broken, "not_tokens"))
    }

    /// How the renewals of tokens begin that are about to be a connection's; `None` for tokens that are not renewed.
    pub(super) async fn renewal_of(&self, record: &Record, tokens: &Tokens) -> crate::error::Result<Option<Begun>> {
        if !self.is_renewable(record, tokens) {
            return Ok(None);
        }
        let source = self.source(record, kind_of(record), tokens.grant.found.as_ref()).await?;
        let (due_at, lapses_at) = publish::times(tokens, &source, &self.ids);
        Ok(Some(Begun(Renewal::of_new(self.database_clock.now_ms().await?, due_at, lapses_at))))
    }

    fn is_renewable(&self, record: &Record, tokens: &Tokens) -> bool {
        match kind_of(record) {
            Kind::ClientCredentials => true,
            kind => {
                let supported = self.way_of(record, kind).and_then(|(_, way)| way.refresh.as_ref());
                tokens.refresh_token.is_some() && supported.is_none_or(|refresh| refresh.supported)
            }
        }
    }

    /// Waits for a renewal that is under way, at most [`WAIT`], and gives what it brought.
    async fn renewed(&self, record: &Record, mut under_way: watch::Receiver<bool>) -> Result<Held, Fault> {
        let unavailable = |cause| Fault::new(Because::Unavailable, cause);
        let in_time = timeout(WAIT, under_way.wait_for(|over| *over)).await.is_ok();
        let record = self.find(&record.org, &record.id).await.ok().flatten().ok_or(unavailable("store"))?;
        if record.status != super::Status::Connected {
            return Err(Fault::new(Because::Broken, "removed"));
        }
        let tokens = self.kept_tokens(&record).await?;
        let now = self.database_clock.now_ms().await.map_err(|_| unavailable("store"))?;
        if !in_time || tokens.grant.expires_at_ms.is_some_and(|end| end <= now) {
            return Err(unavailable("provider"));
        }
        Ok(Held { tokens, version: record.credential_version })
    }

    /// Begins a renewal, or joins the one this server has under way for the connection.
    pub(super) fn begin_renewal(&self, record: &Record, forced: bool) -> watch::Receiver<bool> {
        let key = (record.org.clone(), record.id.clone());
        let mut under_way = self.renewals.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        // One whose sender is gone ended without a word: nobody waits for it.
        if let Some(found) = under_way.get(&key).filter(|found| found.has_changed().is_ok()) {
            return found.clone();
        }
        let (over, receiver) = watch::channel(false);
        under_way.insert(key.clone(), receiver.clone());
        drop(under_way);
        let (this, record) = (self.clone(), record.clone());
        self.lifecycle.spawn(async move {
            this.renew(&record, forced).await;
            this.renewals.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            over.send_replace(true);
        });
        receiver
    }

    /// Renews, or waits until another server has.
    async fn renew(&self, record: &Record, forced: bool) {
        let prepared = match self.prepare(record).await {
            Ok(prepared) => prepared,
            Err(words) => {
                tracing::warn!(connection.id = %record.id, "tokens cannot be renewed: {words}");
                return;
            }
        };
        let places = self.renewals.place(prepared.host());
        let began = Instant::now();
        while began.elapsed() < WAIT && !self.lifecycle.is_stopping() {
            let Ok(place) = places.acquire().await else { return };
            match self.claim(record, &prepared, forced).await {
                Ok(Some(Claim::Won { epoch, unclear, .. })) => {
                    return self.renew_with(record, prepared, epoch, unclear).await;
                }
                Ok(Some(Claim::Held)) => {
                    // Whoever waits for another server asks nobody.
                    drop(place);
                    if !self.is_free_again(record, began).await {
                        return;
                    }
                }
                Ok(Some(Claim::NotDue) | None) => return,
                Err(problem) => {
                    tracing::warn!(%problem, connection.id = %record.id, "a claim to renew tokens failed");
                    return;
                }
            }
        }
    }

    /// Waits while another server renews; true when its claim lapsed, so that it may be taken.
    async fn is_free_again(&self, record: &Record, began: Instant) -> bool {
        let mut pause = POLL.0;
        while began.elapsed() < WAIT && !self.lifecycle.is_stopping() {
            sleep(pause).await;
            pause = (pause * 2).min(POLL.1);
            let found: std::result::Result<Option<Seen>, _> = on_pool!(self.ledger.store(), pool => sqlx::query_as(WAITED_FOR)
                    .bind(&record.org).bind(&record.id).fetch_optional(pool).await);
            let (Ok(Some((version, status, state, deadline))), Ok(now)) = (found, self.database_clock.now_ms().await)
            else {
                continue;
            };
            if version != record.credential_version || status != "connected" || state != REFRESHING {
                return false;
            }
            if deadline.is_none_or(|deadline| deadline <= now) {
                return true;
            }
        }
        false
    }

    /// What would be claimed for.
    fn wanted(&self, record: &Record, prepared: &Prepared, forced: bool) -> crate::error::Result<Wanted> {
        Ok(Wanted {
            owner: self.renewals.owner.clone(),
            version: record.credential_version,
            forced,
            client_digest: self.keyed_digest("client", &prepared.source.endpoint.client.text())?,
        })
    }
}

/// The cause kept in a row, as one of those the audit knows.
fn known(cause: Option<&str>) -> &'static str {
    const CAUSES: [&str; 5] = ["consent_ended", "client", "lost", "refused", "ended"];
    CAUSES.into_iter().find(|known| Some(*known) == cause).unwrap_or("consent_ended")
}
