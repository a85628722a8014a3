//! `playmaker key`: makes keys, for the configuration or in the database, and lists and ends those of the database.

mod create;
mod stored;

use clap::Subcommand;

use super::Outcome;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Makes a key: prints it, this once, and the entry that lets it in; with --store, keeps it in the database.
    Create(create::Create),
    /// Lists the keys of an org in the database.
    List(stored::List),
    /// Ends a key of the database for good: servers refuse it within five seconds.
    Revoke(stored::Revoke),
}

/// Runs a command about keys.
pub(super) fn run(command: Command) -> Outcome {
    match command {
        Command::Create(asked) => create::run(&asked),
        Command::List(asked) => stored::list(&asked),
        Command::Revoke(asked) => stored::revoke(&asked),
    }
}
