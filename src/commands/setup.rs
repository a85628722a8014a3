//! `playmaker setup`: the first person without a browser, a new code for the set-up page, and the way back in for a server
//! whose owners are all gone.

use clap::{Args, Subcommand};

use playmaker::config;
use playmaker::identity::sign_in::set_up::FirstPerson;
use playmaker::identity::{orgs, people};

use super::person::{address, with_identity};
use super::{Outcome, note, one_line, say, settings};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    first: First,
}

#[derive(Subcommand)]
enum Command {
    /// Makes a new code for the set-up page; an earlier one no longer works.
    Code,
}

#[derive(Args)]
struct First {
    /// The id of the org, 3 to 48 of a-z 0-9 -.
    #[arg(long)]
    org: Option<String>,
    /// The name of the org; its id when left out.
    #[arg(long)]
    org_name: Option<String>,
    /// The email of its owner.
    #[arg(long)]
    email: Option<String>,
    /// The name of its owner.
    #[arg(long)]
    name: Option<String>,
    /// Works although there are people: makes the person of the email an owner of the org.
    #[arg(long)]
    recover: bool,
}

/// Runs the command.
pub(super) fn run(asked: Arguments) -> Outcome {
    let settings = settings(&config::environment())?;
    let address = address(&settings)?;
    if let Some(Command::Code) = asked.command {
        return with_identity(&settings, async |identity| {
            let code = identity.set_up_code(true).await.map_err(one_line)?.unwrap_or_default();
            note(&format!("Open {address}/setup and enter this code within 60 minutes."));
            say(&code)
        });
    }
    let recover = asked.first.recover;
    let first = checked(asked.first)?;
    with_identity(&settings, async |identity| {
        let code = identity.set_up_by_operator(first, recover).await.map_err(one_line)?;
        note("The link sets the password of the account, once, within 30 minutes.");
        say(&format!("{address}/reset#{code}"))
    })
}

fn checked(asked: First) -> Result<FirstPerson, String> {
    let needed = |given: Option<String>, what: &str| given.ok_or_else(|| format!("expected --{what}"));
    let org = needed(asked.org, "org")?;
    let known = asked.recover && config::is_org(&org);
    if !known && !orgs::is_new_id(&org) {
        return Err("expected --org to be 3 to 48 of a-z 0-9 - and none of the server's own words".into());
    }
    let email = people::email(&needed(asked.email, "email")?).ok_or("expected --email to be an email")?;
    let name = people::name(&needed(asked.name, "name")?).ok_or("expected --name to be 1 to 100 characters")?;
    let org_name = asked.org_name.unwrap_or_else(|| org.clone());
    let org_name = people::name(&org_name).ok_or("expected --org-name to be 1 to 100 characters")?;
    Ok(FirstPerson { name, email, org, org_name, proof: None })
}
