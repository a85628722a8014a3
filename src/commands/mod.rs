//! The commands of the program; `serve` is what runs when none is named.
//!
//! A command that fails says why in one line on stderr and ends with code 1. Start at [`run`].

mod serve;

use std::fmt::Display;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use playmaker::config::{self, Settings};

/// What a command ends with: nothing, or the one line that says why it could not.
type Outcome = Result<(), String>;

/// Playmaker: a runtime that AI agents connect to over MCP and HTTP.
#[derive(Parser)]
#[command(name = "playmaker", version, about, arg_required_else_help = false)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serves agents and people until it is stopped; this is what runs when no command is named.
    Serve,
}

/// Runs the command the arguments name.
pub(crate) fn run() -> ExitCode {
    let outcome = match Arguments::parse().command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            say_error(&line);
            ExitCode::FAILURE
        }
    }
}

/// The settings of this process.
fn settings(environment: &config::Environment) -> Result<Settings, String> {
    config::load(environment, |path| std::fs::read_to_string(path)).map_err(one_line)
}

/// `cause` on one line.
fn one_line(cause: impl Display) -> String {
    cause.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[expect(
    clippy::print_stderr,
    reason = "a command answers on stderr when there is no log, or it could not start"
)]
fn say_error(line: &str) {
    eprintln!("playmaker: {line}");
}
