//! Documents the program can print about itself: the OpenAPI document, the schema of the file of settings, its defaults.

use clap::Subcommand;

use playmaker::config;
use playmaker::operations::Operations;

use super::{Outcome, one_line, say};

#[derive(Subcommand)]
pub(super) enum Config {
    /// Prints the JSON Schema of the file, for editors.
    Schema,
    /// Prints a commented file with every key.
    Example,
}

/// Prints the OpenAPI document, the same that `/openapi.json` answers.
pub(super) fn openapi() -> Outcome {
    say(&Operations::all().openapi())
}

/// Runs a command about settings.
pub(super) fn config(command: &Config) -> Outcome {
    match command {
        Config::Schema => say(&serde_json::to_string_pretty(&config::schema()).map_err(one_line)?),
        Config::Example => say(config::DEFAULT_FILE.trim_end()),
    }
}
