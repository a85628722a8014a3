//! `connections_*` as it is written, and its checks.

use std::path::PathBuf;

use serde::de::DeserializeOwned;

use super::connections::{ConnectionRules, VariableRule};
use super::decode::Fault;
use super::given::Sheet;
use super::names;
use super::refusal::Refusal;

/// Reads every rule that was given; the others keep their defaults.
pub(super) fn read(sheet: &mut Sheet) -> Result<ConnectionRules, Refusal> {
    let mut rules = ConnectionRules::default();
    set(sheet, "connections_add", &mut rules.add, |_| Ok(()))?;
    set(sheet, "connections_by_hand", &mut rules.by_hand, |_| Ok(()))?;
    set(sheet, "connections_types", &mut rules.types, |types| each_once(types))?;
    set(sheet, "connections_kinds", &mut rules.kinds, |kinds| each_once(kinds))?;
    set(sheet, "connections_max_per_org", &mut rules.max_per_org, |most| {
        let fits = (1..=10_000).contains(most);
        fits.then_some(()).ok_or_else(|| Fault::new("a whole number from 1 to 10000"))
    })?;
    set(sheet, "connections_providers", &mut rules.providers, |items| {
        let fits = |item: &str| item == "*" || names::is_server(item.strip_prefix('-').unwrap_or(item));
        every(items, fits, "*, the name of a provider, or -name to leave one out")
    })?;
    set(sheet, "connections_hosts", &mut rules.hosts, |items| {
        let fits = |item: &str| item == "*" || names::is_host(item.strip_prefix("*.").unwrap_or(item));
        every(items, fits, "*, a host name in lower case, or *.example.com")
    })?;
    set(sheet, "connections_private_hosts", &mut rules.private_hosts, |items| {
        every(items, names::is_origin, names::ORIGIN)
    })?;
    let mut folder = String::new();
    set(sheet, "connections_providers_dir", &mut folder, |folder| {
        let fits = !folder.trim().is_empty();
        fits.then_some(()).ok_or_else(|| Fault::new("the path of a folder"))
    })?;
    rules.providers_dir = (!folder.is_empty()).then(|| PathBuf::from(folder));
    let mut variables: Vec<String> = Vec::new();
    set(sheet, "connections_variables", &mut variables, |items| {
        every(items, |item| variable_rule(item).is_some(), "NAME, PREFIX_*, or one of these after an org and a colon")
    })?;
    rules.variables = variables.iter().filter_map(|item| variable_rule(item)).collect();
    Ok(rules)
}

/// Sets `target` when `key` was given, after a check of what was read.
fn set<T: DeserializeOwned>(
    sheet: &mut Sheet,
    key: &str,
    target: &mut T,
    check: impl Fn(&T) -> Result<(), Fault>,
) -> Result<(), Refusal> {
    if let Some(given) = sheet.take(key) {
        let value: T = given.read()?;
        check(&value).map_err(|fault| given.refuse(fault))?;
        *target = value;
    }
    Ok(())
}

fn every(items: &[String], fits: impl Fn(&str) -> bool, expected: &str) -> Result<(), Fault> {
    match items.iter().position(|item| !fits(item)) {
        Some(index) => Err(Fault::at(&[&index.to_string()], expected)),
        None => each_once(items),
    }
}

fn each_once<T: PartialEq>(items: &[T]) -> Result<(), Fault> {
    match (1..items.len()).find(|index| items[..*index].contains(&items[*index])) {
        Some(index) => Err(Fault::at(&[&index.to_string()], "each once")),
        None => Ok(()),
    }
}

/// `NAME`, `PREFIX_*`, `org:NAME` or `org:PREFIX_*`.
fn variable_rule(text: &str) -> Option<VariableRule> {
    let (org, name) = match text.split_once(':') {
        Some((org, name)) => (Some(org.to_owned()), name),
        None => (None, text),
    };
    let (name, prefix) = match name.strip_suffix("_*") {
        Some(_) => (name.trim_end_matches('*'), true),
        None => (name, false),
    };
    let fits = names::is_variable(name) && org.as_deref().is_none_or(names::is_org);
    fits.then(|| VariableRule { org, name: name.to_owned(), prefix })
}
