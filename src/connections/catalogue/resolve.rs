//! From a provider and what a person filled in to the server itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::address::{Template, fits};
use super::provider::{Identity, Placeholder, Provider, Request, Server, Type};
use super::{Catalogue, pattern};
use crate::error::Issue;

/// The most placeholders one call gives.
const MAX_PLACEHOLDERS: usize = 16;

/// The most characters of one value.
const MAX_VALUE: usize = 256;

/// A provider's server with every placeholder filled in.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Kind of the server.
    pub r#type: Type,
    /// Address of the MCP server, or base address of the HTTP API.
    pub url: String,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, String>,
    /// What describes an HTTP API; none for an MCP server.
    pub source: Option<Source>,
    /// The file's server, for what else it says: limits, operations taken and left, hints.
    pub server: Server,
    /// Request that proves a credential works.
    pub verify: Option<Request>,
    /// Request that names the account.
    pub identity: Option<Identity>,
    /// Every placeholder's value, defaults among them.
    pub placeholders: BTreeMap<String, String>,
}

/// What describes an HTTP API.
#[derive(Debug, Clone)]
pub enum Source {
    /// A toolkit.
    Toolkit {
        /// Its name.
        name: String,
        /// Its text.
        text: Arc<str>,
    },
    /// An OpenAPI document that came with the provider.
    Document {
        /// Its text, JSON or YAML.
        text: Arc<str>,
    },
    /// An OpenAPI document to be fetched.
    DocumentAt {
        /// Its address.
        url: String,
    },
}

impl Resolved {
    /// An address of the provider's file with the placeholders filled in; `None` where they do not fit together.
    pub fn fill(&self, text: &str) -> Option<String> {
        Template::parse(text, true).ok()?.fill(&self.placeholders)
    }
}

impl Catalogue {
    /// The server of a provider with `placeholders` filled in.
    ///
    /// # Errors
    /// Each fault at `/placeholders/<name>`: missing, unknown, not text, or a value that does not fit its place.
    pub fn resolve(&self, provider: &Provider, placeholders: &Map<String, Value>) -> Result<Resolved, Vec<Issue>> {
        let values = take_values(provider, placeholders)?;
        let fill = |text: &str| match Template::parse(text, true).ok().and_then(|found| found.fill(&values)) {
            Some(filled) => Ok(filled),
            None => Err(does_not_fit(&provider.placeholders)),
        };
        let server = &provider.server;
        let url = fill(&server.url)?;
        let mut verify = provider.verify.clone();
        if let Some(request) = &mut verify {
            request.url = fill(&request.url)?;
        }
        let mut identity = provider.identity.clone();
        if let Some(url) = identity.as_mut().and_then(|identity| identity.url.as_mut()) {
            *url = fill(url)?;
        }
        let source = match (&server.toolkit, &server.document) {
            (Some(name), _) => self.toolkit(name).map(|text| Source::Toolkit { name: name.clone(), text }),
            (None, Some(document)) => match (&document.url, &document.file) {
                (Some(url), _) => Some(Source::DocumentAt { url: fill(url)? }),
                (None, Some(file)) => self.document(file).map(|text| Source::Document { text }),
                (None, None) => None,
            },
            (None, None) => None,
        };
        Ok(Resolved {
            r#type: server.r#type,
            url,
            headers: server.headers.clone(),
            source,
            server: server.clone(),
            verify,
            identity,
            placeholders: values,
        })
    }
}

fn take_values(provider: &Provider, given: &Map<String, Value>) -> Result<BTreeMap<String, String>, Vec<Issue>> {
    let mut issues = Vec::new();
    if given.len() > MAX_PLACEHOLDERS {
        issues.push(Issue::new("/placeholders", "has at most 16 placeholders"));
    }
    let known = |name: &String| provider.placeholders.iter().any(|placeholder| placeholder.name == *name);
    for name in given.keys().filter(|name| !known(name)).take(MAX_PLACEHOLDERS) {
        issues.push(Issue::new(pointer(name), "is no placeholder of this provider"));
    }
    let mut values = BTreeMap::new();
    for placeholder in &provider.placeholders {
        match value_of(placeholder, given.get(&placeholder.name)) {
            Ok(value) => {
                values.insert(placeholder.name.clone(), value);
            }
            Err(detail) => issues.push(Issue::new(pointer(&placeholder.name), detail)),
        }
    }
    if issues.is_empty() { Ok(values) } else { Err(issues) }
}

/// The value a placeholder takes. The words never repeat what was given: it might be a secret by mistake.
fn value_of(placeholder: &Placeholder, given: Option<&Value>) -> Result<String, String> {
    let value = match (given, &placeholder.default) {
        (Some(Value::String(text)), _) => text.clone(),
        (Some(_), _) => return Err("must be text".into()),
        (None, Some(default)) => default.clone(),
        (None, None) => {
            return Err(format!("is missing: {}", placeholder.description));
        }
    };
    if value.chars().count() > MAX_VALUE {
        return Err("has at most 256 characters".into());
    }
    if !placeholder.options.is_empty() && !placeholder.options.contains(&value) {
        return Err(format!("must be one of {}", placeholder.options.join(", ")));
    }
    fits(&value, placeholder.place)?;
    match &placeholder.pattern {
        Some(text) if !pattern::matches(text, &value) => Err(match &placeholder.example {
            Some(example) => format!("must match {text}, as {example} does"),
            None => format!("must match {text}"),
        }),
        _ => Ok(value),
    }
}

fn does_not_fit(placeholders: &[Placeholder]) -> Vec<Issue> {
    placeholders
        .iter()
        .map(|placeholder| {
            Issue::new(pointer(&placeholder.name), "does not fit the provider's address, together with the others")
        })
        .collect()
}

fn pointer(name: &str) -> String {
    format!("/placeholders/{}", name.replace('~', "~0").replace('/', "~1"))
}
