//! `playmaker providers check`: reads a folder of providers as a start would.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use playmaker::config;
use playmaker::connections::catalogue::{Catalogue, read_folder};

use super::{Outcome, one_line, say, settings};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Checks the providers of a folder, and those that come with the program.
    Check(Check),
}

#[derive(Args)]
pub(super) struct Check {
    /// The folder; CONNECTIONS_PROVIDERS_DIR when left out.
    folder: Option<PathBuf>,
}

/// Runs a command about providers.
pub(super) fn run(command: Command) -> Outcome {
    let Command::Check(asked) = command;
    let folder = match asked.folder {
        Some(folder) => Some(folder),
        None => settings(&config::environment())?.connections.providers_dir,
    };
    let built_in = Catalogue::built_in().map_err(one_line)?.all().len();
    let Some(folder) = folder else {
        return say(&format!("{built_in} providers come with the program; no folder is set"));
    };
    let all = with(&folder)?.all().len();
    say(&format!("{all} providers: {built_in} come with the program, the others from {}", folder.display()))
}

fn with(folder: &Path) -> Result<Catalogue, String> {
    let files = read_folder(folder).map_err(one_line)?;
    Catalogue::with(&files).map_err(one_line)
}
