//! What nobody's request does: refusals told, the audit's old rows forgotten, orgs whose time is over taken away.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::SharedClock;
use crate::config::Settings;
use crate::connections::Connections;
use crate::error::Result;
use crate::identity::Identity;
use crate::identity::audit::Refusals;
use crate::ledger::Ledger;
use crate::lifecycle::Lifecycle;
use crate::playbooks;
use crate::tool_servers::ToolServers;

/// How often it looks.
const EVERY: Duration = Duration::from_secs(30);
/// How often old rows of the audit are looked for, in milliseconds.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Work by the clock, over the rooms it concerns. Cheap to clone.
#[derive(Clone)]
pub struct Upkeep {
    pub(super) settings: Arc<Settings>,
    pub(super) clock: SharedClock,
    pub(super) ledger: Ledger,
    pub(super) identity: Arc<Identity>,
    pub(super) refusals: Arc<Refusals>,
    pub(super) connections: Connections,
    pub(super) tool_servers: ToolServers,
}

impl Upkeep {
    /// Looks now and every half minute until the stop.
    pub(super) fn start(&self, lifecycle: &Lifecycle) {
        let (upkeep, stop) = (self.clone(), lifecycle.token().clone());
        lifecycle.spawn(async move {
            let mut swept_at = i64::MIN;
            loop {
                let now = upkeep.clock.now_ms();
                if now.saturating_sub(swept_at) >= DAY_MS {
                    swept_at = now;
                    told("old rows of the audit could not be forgotten", upkeep.forget_old_audit().await);
                }
                upkeep.refusals.tell(false).await;
                told("orgs whose time is over could not be taken away", upkeep.erase_orgs().await);
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    () = stop.cancelled() => return,
                }
            }
        });
    }

    /// Forgets rows of the audit older than the operator keeps them.
    pub async fn forget_old_audit(&self) -> Result<()> {
        let before = self.clock.now_ms() - self.settings.administration.audit_retention_ms;
        let gone = self.ledger.forget_audit(before).await?;
        if gone > 0 {
            tracing::info!(count = gone, "rows of the audit reached their age and are forgotten");
        }
        Ok(())
    }

    /// Takes away the orgs whose seven days are over: credentials first, then everything but the audit (`identity.md` 1.4).
    /// Again is the same, so that a server that stops half-way is followed by the next one.
    pub async fn erase_orgs(&self) -> Result<()> {
        for org in self.identity.orgs_due().await? {
            self.connections.forget_credentials(&org).await?;
            if self.identity.mark_org_gone(&org).await? {
                tracing::info!(org.id = %org, "an org was deleted: its seven days are over");
            }
        }
        for org in self.identity.orgs_unfinished().await? {
            self.connections.forget_org(&org).await?;
            self.tool_servers.forget_org(&org).await?;
            playbooks::forget_org(&self.ledger, &org).await?;
            self.ledger.forget_org(&org).await?;
            self.identity.forget_org(&org).await?;
        }
        Ok(())
    }
}

fn told(what: &'static str, done: Result<()>) {
    if let Err(problem) = done {
        tracing::warn!(%problem, what);
    }
}
