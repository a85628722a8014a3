//! Settings as an operator meets them: what is so by default, what is taken, and each line that stops the start.

mod given;
mod identity;
mod refusals;
mod sign_in_providers;

use std::io;
use std::path::Path;

use super::{Environment, Settings, load};

/// Loads variables, with `file` as the file `playmaker.yaml` when there is one.
fn loaded(variables: &[(&str, &str)], file: Option<&str>) -> Result<Settings, String> {
    let mut environment: Environment =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    if file.is_some() {
        environment.insert("CONFIG_FILE".to_owned(), "playmaker.yaml".to_owned());
    }
    let read_file = |path: &Path| match (path.to_str(), file) {
        (Some("playmaker.yaml"), Some(text)) => Ok(text.to_owned()),
        (Some("ca.pem"), _) => Ok("-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n".to_owned()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    load(&environment, read_file).map_err(|refusal| refusal.to_string())
}

/// The settings of a file alone.
fn of_file(text: &str) -> Settings {
    match loaded(
        &[("DESK_KEY", "desk-secret-1"), ("FILES_KEY", "files-secret-1"), ("ACME_CLIENT_SECRET", "acme-secret-1")],
        Some(text),
    ) {
        Ok(settings) => settings,
        Err(line) => panic!("refused: {line}"),
    }
}

/// The settings of variables alone.
fn of_variables(variables: &[(&str, &str)]) -> Settings {
    match loaded(variables, None) {
        Ok(settings) => settings,
        Err(line) => panic!("refused: {line}"),
    }
}

/// The line that stops the start.
fn refusal(variables: &[(&str, &str)], file: Option<&str>) -> String {
    match loaded(variables, file) {
        Ok(_) => "taken".to_owned(),
        Err(line) => line,
    }
}
