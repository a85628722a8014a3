//! `playmaker person`: who has an account, stopping one, and links that set a password or an email where no mail is sent.

use std::sync::Arc;

use clap::{Args, Subcommand};

use playmaker::clock::{self, SystemClock};
use playmaker::config::{self, Settings};
use playmaker::identity::people::{self, Status};
use playmaker::identity::{Identity, Person};
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::ledger::Ledger;
use playmaker::store::Store;

use super::{Outcome, note, one_line, runtime, say, settings};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Lists everybody who has an account.
    List,
    /// Stops an account and signs it out everywhere.
    Disable(Whom),
    /// Lets a stopped account be used again.
    Enable(Whom),
    /// Prints a link that sets the person's password.
    Reset(Whom),
    /// Prints a link that gives the person another email, for whoever reads that address.
    Email(NewEmail),
}

#[derive(Args)]
pub(super) struct Whom {
    /// The person's email.
    #[arg(long)]
    email: String,
}

#[derive(Args)]
pub(super) struct NewEmail {
    #[command(flatten)]
    whom: Whom,
    /// The new email.
    #[arg(long)]
    to: String,
}

/// Runs a command about people.
pub(super) fn run(command: Command) -> Outcome {
    let settings = settings(&config::environment())?;
    let address = address(&settings)?;
    with_identity(&settings, async |identity| match command {
        Command::List => list(identity).await,
        Command::Disable(whom) => set(identity, &whom, Status::Disabled).await,
        Command::Enable(whom) => set(identity, &whom, Status::Active).await,
        Command::Reset(whom) => {
            let person = active(find(identity, &whom).await?)?;
            let code = identity.reset_code(&person).await.map_err(one_line)?;
            note("The link sets the password of the account, once, within 30 minutes.");
            say(&format!("{address}/reset#{code}"))
        }
        Command::Email(asked) => {
            let person = active(find(identity, &asked.whom).await?)?;
            let email = people::email(&asked.to).ok_or("expected --to to be an email")?;
            if identity.person_of_email(&email).await.map_err(one_line)?.is_some_and(|found| found.id != person.id) {
                return Err("somebody else has an account with the new email".into());
            }
            let code = identity.email_code(&person, &email).await.map_err(one_line)?;
            note("The link gives the account this email, once, within a day. Send it to the new address.");
            say(&format!("{address}/settings/profile/email#{code}"))
        }
    })
}

fn active(person: Person) -> Result<Person, String> {
    let stopped = || "this account is stopped; `playmaker person enable` lets it be used again".to_owned();
    if person.is_active() { Ok(person) } else { Err(stopped()) }
}

async fn list(identity: &Identity) -> Outcome {
    for person in identity.every_person().await.map_err(one_line)? {
        let email = person.email.as_deref().unwrap_or("-");
        let since = clock::iso(person.created_at_ms);
        say(&format!("{}\t{}\t{email}\t{since}\t{}", person.id, person.status.word(), person.name))?;
    }
    Ok(())
}

async fn set(identity: &Identity, whom: &Whom, status: Status) -> Outcome {
    let person = find(identity, whom).await?;
    identity.set_person_status(&person, status).await.map_err(one_line)?;
    say(&format!("{}\t{}", person.id, status.word()))
}

async fn find(identity: &Identity, whom: &Whom) -> Result<Person, String> {
    let email = people::email(&whom.email).ok_or("expected --email to be an email")?;
    let found = identity.person_of_email(&email).await.map_err(one_line)?;
    found.ok_or_else(|| "nobody has an account with this email".to_owned())
}

/// The address of the server's pages.
pub(super) fn address(settings: &Settings) -> Result<String, String> {
    settings.public_url.clone().ok_or_else(|| "PUBLIC_URL: expected the address people sign in at".to_owned())
}

/// Works on the people of the database, beside servers that may run.
pub(super) fn with_identity(settings: &Settings, work: impl AsyncFnOnce(&Identity) -> Outcome) -> Outcome {
    runtime()?.block_on(async {
        let store = Store::open(settings.database.url.expose()).await.map_err(one_line)?;
        let (clock, ids) = (Arc::new(SystemClock), Ids::new(Arc::new(SystemEntropy)));
        let ledger = Ledger::new(store.clone(), clock.clone(), ids.clone());
        let outcome = work(&Identity::new(ledger, clock, ids, None, &[])).await;
        store.close().await;
        outcome
    })
}
