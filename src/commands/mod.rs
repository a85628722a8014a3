//! The commands of the program; `serve` is what runs when none is named.
//!
//! A command that fails says why in one line on stderr and ends with code 1. Start at [`run`].

mod audit;
mod client;
mod demo;
mod documents;
mod identity;
mod key;
mod org;
mod person;
mod providers;
mod secrets;
mod serve;
mod setup;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use playmaker::config::{self, Settings};

/// What a command ends with: nothing, or the one line that says why it could not.
type Outcome = Result<(), String>;

/// Playmaker: a runtime that AI agents connect to over MCP and HTTP.
#[derive(Parser)]
#[command(name = "playmaker", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serves agents and people until it is stopped; this is what runs when no command is named.
    Serve,
    /// Tries everything out on this machine, with a service of its own to connect. Keeps nothing.
    Demo,
    /// Makes orgs, lists them and deletes one.
    #[command(subcommand)]
    Org(org::Command),
    /// Prints what was done in an org.
    #[command(subcommand)]
    Audit(audit::Command),
    /// Makes keys that agents call with.
    #[command(subcommand)]
    Key(key::Command),
    /// Makes the first person, or another owner where all are gone.
    Setup(setup::Arguments),
    /// Looks after the accounts of people.
    #[command(subcommand)]
    Person(person::Command),
    /// Makes, lists and deletes clients of the built-in authorization server.
    #[command(subcommand)]
    Client(client::Command),
    /// Looks after what access tokens are signed with.
    #[command(subcommand)]
    Identity(identity::Command),
    /// Looks after the keys that seal credentials.
    #[command(subcommand)]
    Secrets(secrets::Command),
    /// Checks the services people may connect.
    #[command(subcommand)]
    Providers(providers::Command),
    /// Prints the OpenAPI document of the HTTP API.
    Openapi,
    /// Prints what the file of settings may hold.
    #[command(subcommand)]
    Config(documents::Config),
}

/// Runs the command the arguments name.
pub(crate) fn run() -> ExitCode {
    let outcome = match Arguments::parse().command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(),
        Command::Demo => demo::run(),
        Command::Org(command) => org::run(command),
        Command::Audit(command) => audit::run(command),
        Command::Key(command) => key::run(command),
        Command::Setup(asked) => setup::run(asked),
        Command::Person(command) => person::run(command),
        Command::Client(command) => client::run(command),
        Command::Identity(command) => identity::run(command),
        Command::Secrets(command) => secrets::run(command),
        Command::Providers(command) => providers::run(command),
        Command::Openapi => documents::openapi(),
        Command::Config(command) => documents::config(&command),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            note(&format!("playmaker: {line}"));
            ExitCode::FAILURE
        }
    }
}

/// The settings of this process.
fn settings(environment: &config::Environment) -> Result<Settings, String> {
    config::load(environment, |path| std::fs::read_to_string(path)).map_err(one_line)
}

fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Runtime::new().map_err(one_line)
}

/// `cause` on one line.
fn one_line(cause: impl Display) -> String {
    cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a command was asked for, on stdout. A reader that has gone is a failure, not a panic.
fn say(line: &str) -> Outcome {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(one_line)
}

/// What is beside it, on stderr, so that it is in nobody's way.
fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
