//! Reads the environment and the file, and makes [`Settings`] of them, or one [`Refusal`].

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::decode::Fault;
use super::given::Sheet;
use super::refusal::Refusal;
use super::secret::Secret;
use super::{Environment, Listener, ProviderValues, Settings};
use super::{
    administration, api_keys_file, connections_file, identity_variables, limits, names, oauth_clients, sign_in,
    tool_servers_check, variables,
};

/// The settings of `environment` and of the file it names, which `read_file` reads.
///
/// # Errors
///
/// The first setting that is not right: then the server does not start.
pub fn load(environment: &Environment, read_file: impl Fn(&Path) -> io::Result<String>) -> Result<Settings, Refusal> {
    let file = environment.get("CONFIG_FILE").map(|path| {
        let path = PathBuf::from(path);
        match read_file(&path) {
            Ok(text) => Ok((path, text)),
            Err(_) => Err(Refusal::variable("CONFIG_FILE", "the path of a readable file")),
        }
    });
    let file = file.transpose()?;
    let file = file.as_ref().map(|(path, text)| (path.as_path(), text.as_str()));
    let mut sheet = Sheet::join(file, environment)?;

    variables::no_metrics_yet(environment)?;
    let listener = Listener {
        host: variables::host(environment)?,
        port: variables::port(environment)?,
        allowed_origins: allowed_origins(&mut sheet)?,
    };
    let database = variables::database(environment)?;
    let api_keys = match sheet.take("api_keys") {
        Some(given) => Some(api_keys_file::read(&given)?),
        None => None,
    };
    let tool_servers = match sheet.take("tool_servers") {
        Some(given) => tool_servers_check::read(&given, environment)?,
        None => Default::default(),
    };
    let connections = connections_file::read(&mut sheet)?;
    let kept = |wanted: &dyn Fn(&str) -> bool| {
        environment
            .iter()
            .filter(|(name, value)| !value.is_empty() && wanted(name))
            .map(|(name, value)| (name.clone(), Secret::new(value.as_str())))
            .collect()
    };
    Ok(Settings {
        listener,
        public_url: variables::public_url(environment)?,
        identity: identity_variables::read(environment)?,
        sign_in: sign_in::read(&mut sheet, environment)?,
        secrets: variables::secrets(environment, &database)?,
        database,
        log_format: variables::log_format(environment)?,
        log_filter: variables::log_filter(environment)?,
        api_keys,
        key_max_age_ms: variables::key_max_age_ms(environment)?,
        tool_servers,
        provider_values: ProviderValues(kept(&|name| name.starts_with("PROVIDER_"))),
        variables: kept(&|name| connections.variables.iter().any(|rule| rule.covers(name))),
        connections,
        authorization: oauth_clients::rules(&mut sheet, environment)?,
        outbound: variables::outbound(environment, &read_file)?,
        administration: administration::read(environment)?,
        limits: limits::read(environment)?,
        sources: sheet.sources,
    })
}

fn allowed_origins(sheet: &mut Sheet) -> Result<Vec<String>, Refusal> {
    let Some(given) = sheet.take("allowed_origins") else {
        return Ok(Vec::new());
    };
    let origins = Vec::<String>::deserialize(&given.node).map_err(|fault| given.refuse(fault))?;
    match origins.iter().position(|origin| !names::is_origin(origin)) {
        Some(index) => Err(given.refuse(Fault::at(&[&index.to_string()], names::ORIGIN))),
        None => Ok(origins),
    }
}

/// The variables of this process; those that are not UTF-8 are left out. The only reader of them.
pub fn environment() -> Environment {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
