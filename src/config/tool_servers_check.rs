//! Makes [`ToolServer`]s of what was written under `tool_servers`; contacts no server and starts no process.

use std::collections::BTreeMap;

use super::api_keys_file::playbook_ids;
use super::decode::Fault;
use super::given::Given;
use super::refusal::Refusal;
use super::secret::Secret;
use super::tool_servers::{Process, Remote, Target, ToolServer};
use super::tool_servers_file::{TypeWritten, Written};
use super::tool_servers_openapi::{OF_OPENAPI, open_api};
use super::{Environment, names, references, written_out};

/// Headers that belong to the message or to MCP itself, not to an entry.
const OUR_HEADERS: [&str; 10] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "content-type",
];

/// Reads and checks every entry.
pub(super) fn read(given: &Given, environment: &Environment) -> Result<BTreeMap<String, ToolServer>, Refusal> {
    let names: BTreeMap<String, serde::de::IgnoredAny> = given.read()?;
    for name in names.keys() {
        let refuse = |expected| given.refuse(Fault::at_key(&[name], expected));
        if !names::is_server(name) {
            return Err(refuse(names::SERVER));
        }
        if names::MODEL_PROVIDERS.contains(&name.as_str()) {
            return Err(refuse("a name no model provider has"));
        }
        if let Some((_, entry)) = given.node.member(name) {
            let refuse = |fault: Fault| given.refuse(fault.below(name.clone()));
            if entry.member("auth").is_some() {
                let words = "no auth: client credentials for tool servers are not in this build yet";
                return Err(refuse(Fault::at_key(&["auth"], words)));
            }
            written_out::check(entry).map_err(refuse)?;
        }
    }
    let written: BTreeMap<String, Written> = given.read()?;
    written
        .into_iter()
        .map(|(name, entry)| match server(entry, environment) {
            Ok(server) => Ok((name, server)),
            Err(fault) => Err(given.refuse(fault.below(name))),
        })
        .collect()
}

fn server(mut entry: Written, environment: &Environment) -> Result<ToolServer, Fault> {
    if !names::is_org(&entry.org) {
        return Err(Fault::at(&["org"], names::ORG));
    }
    if entry.provider.as_ref().is_some_and(|name| !names::is_server(name)) {
        return Err(Fault::at(&["provider"], names::SERVER));
    }
    if let Some(ids) = &entry.playbooks {
        playbook_ids(ids)?;
    }
    if let Some(tools) = &entry.allowed {
        if tools.is_empty() {
            return Err(Fault::at(&["allowed"], "one tool or more; all are allowed when it is left out"));
        }
        tool_names("allowed", tools)?;
    }
    if let Some(key) = &entry.request_id
        && !(1..=128).contains(&key.len())
    {
        return Err(Fault::at(&["request_id"], "the name of a header or metadata key, 1 to 128 characters"));
    }
    let mut secrets = Vec::new();
    let headers = headers(entry.headers.take().unwrap_or_default(), environment, &mut secrets)?;
    let env = variables(entry.env.take(), environment, &mut secrets)?;
    let common = (entry.org.clone(), entry.provider.clone(), entry.playbooks.clone(), entry.allowed.clone());
    let (record_content, request_id) = (entry.record_content.unwrap_or(true), entry.request_id.clone());
    let target = target(entry, headers, env)?;
    let (org, provider, playbooks, allowed) = common;
    Ok(ToolServer { org, provider, playbooks, allowed, record_content, request_id, target, secrets })
}

fn target(
    entry: Written,
    headers: BTreeMap<String, Secret>,
    env: Option<BTreeMap<String, Secret>>,
) -> Result<Target, Fault> {
    if entry.r#type == Some(TypeWritten::Openapi) {
        let of_process = [("command", entry.command.is_some()), ("args", entry.args.is_some()), ("env", env.is_some())];
        none_of(&of_process, "no such key in an entry of type openapi")?;
        return open_api(entry, headers).map(|api| Target::OpenApi(Box::new(api)));
    }
    none_of(&OF_OPENAPI.map(|(key, written)| (key, written(&entry))), "type openapi beside it")?;
    match (entry.url, entry.command) {
        (Some(url), None) => {
            none_of(&[("args", entry.args.is_some()), ("env", env.is_some())], "a command beside it, and no url")?;
            let url = address("url", &url)?;
            Ok(Target::Remote(Remote { url, headers }))
        }
        (None, Some(command)) => {
            if !headers.is_empty() {
                return Err(Fault::at_key(&["headers"], "a url beside it, and no command"));
            }
            if command.trim().is_empty() || command.contains('\0') {
                return Err(Fault::at(&["command"], "an installed program"));
            }
            Ok(Target::Process(Process { command, args: entry.args.unwrap_or_default(), env: env.unwrap_or_default() }))
        }
        _ => Err(Fault::new("either url or command, and not both")),
    }
}

/// Refuses the first key that was written and may not be.
pub(super) fn none_of(keys: &[(&str, bool)], expected: &str) -> Result<(), Fault> {
    match keys.iter().find(|(_, written)| *written) {
        Some((key, _)) => Err(Fault::at_key(&[key], expected)),
        None => Ok(()),
    }
}

/// An address the operator may write: http or https, any host, no fragment.
pub(super) fn address(field: &str, text: &str) -> Result<url::Url, Fault> {
    url::Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.fragment().is_none())
        .ok_or_else(|| Fault::at(&[field], "an http or https address without a fragment"))
}

/// Checks a list of tool names: each well formed, none twice.
pub(super) fn tool_names(field: &str, tools: &[String]) -> Result<(), Fault> {
    for (index, tool) in tools.iter().enumerate() {
        let at = |expected| Fault::at(&[field, &index.to_string()], expected);
        if !names::is_tool(tool) {
            return Err(at(names::TOOL));
        }
        if tools[..index].contains(tool) {
            return Err(at("each tool once"));
        }
    }
    Ok(())
}

fn headers(
    written: BTreeMap<String, String>,
    environment: &Environment,
    secrets: &mut Vec<Secret>,
) -> Result<BTreeMap<String, Secret>, Fault> {
    let mut headers = BTreeMap::new();
    for (name, text) in written {
        let low = name.to_ascii_lowercase();
        let ours = OUR_HEADERS.contains(&low.as_str()) || low.starts_with("mcp-") || low.starts_with("proxy-");
        if ours || http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            let expected = "the name of a header that is neither MCP's nor the message's own";
            return Err(Fault::at_key(&["headers", &name], expected));
        }
        let value = resolve(&["headers", &name], &text, environment, secrets)?;
        if http::HeaderValue::from_str(value.expose()).is_err() {
            return Err(Fault::at(&["headers", &name], "text without line breaks"));
        }
        if headers.insert(low, value).is_some() {
            return Err(Fault::at_key(&["headers", &name], "each header once, whatever its case"));
        }
    }
    Ok(headers)
}

fn variables(
    written: Option<BTreeMap<String, String>>,
    environment: &Environment,
    secrets: &mut Vec<Secret>,
) -> Result<Option<BTreeMap<String, Secret>>, Fault> {
    let Some(written) = written else {
        return Ok(None);
    };
    let mut variables = BTreeMap::new();
    for (name, text) in written {
        if !names::is_variable(&name) {
            let expected = "the name of a variable: letters, digits and _";
            return Err(Fault::at_key(&["env", &name], expected));
        }
        let value = resolve(&["env", &name], &text, environment, secrets)?;
        if value.expose().contains('\0') {
            return Err(Fault::at(&["env", &name], "text without a null character"));
        }
        variables.insert(name, value);
    }
    Ok(Some(variables))
}

fn resolve(path: &[&str], text: &str, environment: &Environment, secrets: &mut Vec<Secret>) -> Result<Secret, Fault> {
    let resolved = references::resolve(text, environment).map_err(|expected| Fault::at(path, expected))?;
    secrets.extend(resolved.brought);
    Ok(resolved.text)
}
