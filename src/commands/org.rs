//! `playmaker org`: makes orgs, lists them and begins to delete one.

use std::sync::Arc;

use clap::{Args, Subcommand};

use playmaker::clock::{SystemClock, iso};
use playmaker::config::{self, Settings};
use playmaker::error::Problem;
use playmaker::identity::invitations::sending::Draft;
use playmaker::identity::{Identity, Playbooks, Role, people};
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::ledger::Ledger;
use playmaker::store::Store;

use super::{Outcome, note, one_line, runtime, say, settings};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Makes an org.
    Create(Create),
    /// Lists the orgs, a line each: id, status, when it goes, name.
    List,
    /// Begins to delete an org: for seven days an owner may restore it, then it is gone.
    Delete(Delete),
}

#[derive(Args)]
pub(super) struct Create {
    /// Its id for good, 3 to 48 of a-z 0-9 -.
    #[arg(long)]
    org: String,
    /// What people call it; the id when left out.
    #[arg(long)]
    name: Option<String>,
    /// The email of its owner; who has no account yet is invited, with a link that is printed.
    #[arg(long)]
    owner: Option<String>,
}

#[derive(Args)]
pub(super) struct Delete {
    /// The org.
    #[arg(long)]
    org: String,
    /// The org's id again, so that no slip deletes one.
    #[arg(long)]
    confirm: String,
}

/// Runs a command about orgs.
pub(super) fn run(command: Command) -> Outcome {
    let settings = settings(&config::environment())?;
    runtime()?.block_on(async {
        let (store, identity) = opened(&settings).await?;
        let done = match command {
            Command::Create(asked) => create(&identity, &settings, asked).await,
            Command::List => list(&identity).await,
            Command::Delete(asked) => delete(&identity, &asked).await,
        };
        store.close().await;
        done
    })
}

/// The database of these settings, and what of it a command changes; servers may run meanwhile.
async fn opened(settings: &Settings) -> Result<(Store, Identity), String> {
    let store = Store::open(settings.database.url.expose()).await.map_err(one_line)?;
    let (clock, ids) = (Arc::new(SystemClock), Ids::new(Arc::new(SystemEntropy)));
    let ledger = Ledger::new(store.clone(), clock.clone(), ids.clone());
    Ok((store, Identity::new(ledger, clock, ids, None, &[])))
}

async fn create(identity: &Identity, settings: &Settings, asked: Create) -> Outcome {
    let email = match &asked.owner {
        None => None,
        Some(text) => Some(people::email(text).ok_or("expected --owner to be an email address")?),
    };
    let known = match &email {
        Some(email) => identity.person_of_email(email).await.map_err(told)?,
        None => None,
    };
    let (name, owner) = (asked.name.as_deref().unwrap_or(&asked.org), known.map(|person| person.id));
    let invites = email.filter(|_| owner.is_none());
    let org = identity.make_org_as_operator(&asked.org, name, owner).await.map_err(told)?;
    say(&format!("The org {} is there.", org.id))?;
    let Some(email) = invites else { return Ok(()) };
    let draft = Draft { email, role: Role::Owner, playbooks: Playbooks::All };
    let sent = identity.invite_as_operator(&org.id, draft).await.map_err(told)?;
    note("Nobody has this email yet. The link, shown this once, makes its person the owner; it works for seven days:");
    let base = settings.public_url.as_deref().unwrap_or_default();
    say(&format!("{base}/invitations#{}", sent.code.expose()))
}

async fn list(identity: &Identity) -> Outcome {
    let mut last = String::new();
    loop {
        let orgs = identity.orgs(&last, 100).await.map_err(told)?;
        let Some(end) = orgs.last() else { return Ok(()) };
        last.clone_from(&end.id);
        for org in orgs {
            let until = org.deletes_at_ms.map_or_else(|| "-".to_owned(), iso);
            say(&format!("{}\t{}\t{until}\t{}", org.id, org.status.word(), org.name))?;
        }
    }
}

async fn delete(identity: &Identity, asked: &Delete) -> Outcome {
    if asked.confirm != asked.org {
        return Err("expected --confirm to be the id of the org".into());
    }
    let org = identity.delete_org_as_operator(&asked.org).await.map_err(told)?;
    let until = org.deletes_at_ms.map(iso).unwrap_or_default();
    say(&format!("The org {} is being deleted. Until {until} an owner may restore it.", org.id))
}

/// A refusal on one line; what is wrong inside is told too, since nobody but the operator reads it.
fn told(problem: Problem) -> String {
    match problem.private_source() {
        Some(source) => one_line(format!("{} ({source})", problem.detail())),
        None => one_line(problem.detail()),
    }
}
