//! What was given under each key, by the file or by the environment in its place.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::decode::Fault;
use super::document::{self, Malformed, Node, Shape};
use super::refusal::{Origin, Refusal};
use super::{Environment, Sources};

/// How the environment writes what stands under a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// JSON.
    Json,
    /// Items between commas, or a JSON list.
    Items,
    /// `true` or `false`.
    Flag,
    /// A number.
    Whole,
    /// The text as it is.
    Word,
}

/// Every key of the file; its variable is the same in capitals.
const KEYS: [(&str, Form); 15] = [
    ("allowed_origins", Form::Items),
    ("api_keys", Form::Json),
    ("connections_add", Form::Word),
    ("connections_by_hand", Form::Flag),
    ("connections_hosts", Form::Items),
    ("connections_kinds", Form::Items),
    ("connections_max_per_org", Form::Whole),
    ("connections_private_hosts", Form::Items),
    ("connections_providers", Form::Items),
    ("connections_providers_dir", Form::Word),
    ("connections_types", Form::Items),
    ("connections_variables", Form::Items),
    ("oauth_clients", Form::Json),
    ("sign_in_providers", Form::Json),
    ("tool_servers", Form::Json),
];

/// Settings that stand in the environment alone, so that a file that names one is told where it belongs.
const ENVIRONMENT_ALONE: [&str; 28] = [
    "port",
    "host",
    "config_file",
    "public_url",
    "oauth_registration",
    "access_token_ttl",
    "metrics_addr",
    "log_format",
    "rust_log",
    "secrets_store",
    "secrets_keys",
    "secrets_prefix",
    "https_proxy",
    "no_proxy",
    "extra_ca_certs",
    "org_creation",
    "audit_retention",
    "audit_log",
    "key_max_age",
    "rate_caller",
    "rate_anonymous",
    "rate_execute",
    "streams_caller",
    "trusted_proxies",
    "sign_up",
    "sign_in_methods",
    "smtp_url",
    "mail_from",
];

/// The keys of the file, for the check of the schema.
pub(super) fn file_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(key, _)| *key)
}

/// One key and what stands under it.
pub(super) struct Given {
    key: &'static str,
    /// What was written.
    pub(super) node: Node,
    origin: Origin,
}

impl Given {
    /// Reads it as a `T`.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        T::deserialize(&self.node).map_err(|fault| self.refuse(fault))
    }

    /// The refusal of what lies at the fault's path.
    pub(super) fn refuse(&self, fault: Fault) -> Refusal {
        let mut place = self.node.place;
        let mut node = &self.node;
        for (depth, segment) in fault.path.iter().enumerate() {
            let Some((key_place, inner)) = node.member(segment) else {
                break;
            };
            let last = depth + 1 == fault.path.len();
            place = if last && fault.key { key_place } else { inner.place };
            node = inner;
        }
        let mut path = fault.path;
        if matches!(self.origin, Origin::File(_)) {
            path.insert(0, self.key.to_owned());
        }
        Refusal::new(self.origin.clone(), place, path, fault.expected)
    }
}

/// Everything given under the keys of the file.
pub(super) struct Sheet {
    given: BTreeMap<&'static str, Given>,
    /// Where it came from.
    pub(super) sources: Sources,
}

impl Sheet {
    /// Joins the file, where there is one, and the environment.
    pub(super) fn join(file: Option<(&Path, &str)>, environment: &Environment) -> Result<Self, Refusal> {
        let mut sheet = Self { given: BTreeMap::new(), sources: Sources::default() };
        if let Some((path, text)) = file {
            sheet.sources.file = Some(path.to_owned());
            sheet.read_file(path, text)?;
        }
        for (key, form) in KEYS {
            let name = key.to_ascii_uppercase();
            let Some(text) = environment.get(&name) else {
                continue;
            };
            let node = node_of(form, text).map_err(|malformed| {
                let origin = Origin::Variable(name.clone());
                Refusal::new(origin, malformed.place, Vec::new(), malformed.expected)
            })?;
            let given = Given { key, node, origin: Origin::Variable(name) };
            if sheet.given.insert(key, given).is_some() {
                sheet.sources.replaced.push(key.to_owned());
            }
        }
        Ok(sheet)
    }

    /// What stands under `key`.
    pub(super) fn take(&mut self, key: &str) -> Option<Given> {
        self.given.remove(key)
    }

    fn read_file(&mut self, path: &Path, text: &str) -> Result<(), Refusal> {
        let origin = Origin::File(path.to_owned());
        let refuse = |place, path: Vec<String>, expected: String| Refusal::new(origin.clone(), place, path, expected);
        let root = document::yaml(text)
            .map_err(|malformed| refuse(malformed.place, Vec::new(), malformed.expected.to_owned()))?;
        let members = match root.shape {
            Shape::Null => Vec::new(),
            Shape::Map(members) => members,
            _ => return Err(refuse(root.place, Vec::new(), "a map of settings".to_owned())),
        };
        for (name, node) in members {
            let Some((key, _)) = KEYS.iter().find(|(key, _)| *key == name.text) else {
                let expected = expected_key(&name.text);
                return Err(refuse(name.place, vec![name.text], expected));
            };
            self.sources.from_file.push((*key).to_owned());
            let given = Given { key, node, origin: origin.clone() };
            self.given.insert(key, given);
        }
        Ok(())
    }
}

fn expected_key(key: &str) -> String {
    if key == "database_url" {
        return "no such key: it holds a password, so set the variable DATABASE_URL".to_owned();
    }
    if ENVIRONMENT_ALONE.contains(&key) || key.starts_with("provider_") || key.starts_with("identity_") {
        return format!("no such key: the file holds lists and maps, so set the variable {}", key.to_ascii_uppercase());
    }
    format!("one of {}", file_keys().collect::<Vec<_>>().join(", "))
}

fn node_of(form: Form, text: &str) -> Result<Node, Malformed> {
    let malformed = |expected| Malformed { place: document::Place::default(), expected };
    let shape = match form {
        Form::Json => return document::json(text),
        Form::Items if text.trim_start().starts_with('[') => return document::json(text),
        Form::Items => Shape::List(
            text.split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| Node::placeless(Shape::Text(item.to_owned())))
                .collect(),
        ),
        Form::Flag => match text {
            "true" => Shape::Flag(true),
            "false" => Shape::Flag(false),
            _ => return Err(malformed("true or false")),
        },
        Form::Whole => Shape::Whole(text.parse().map_err(|_| malformed("a whole number"))?),
        Form::Word => Shape::Text(text.to_owned()),
    };
    Ok(Node::placeless(shape))
}
