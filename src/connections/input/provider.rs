//! Input A: a provider by its name (`connections.md` 3.2).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::catalogue::{Kind, Provider, Resolved, Type};
use super::super::credential_look::LookPlace;
use super::super::{Credential, Entry};
use super::credential::fields;
use super::{Asked, AskedCredential, Check, Draft, credential_kind, way_kind};
use crate::config::ServerType;
use crate::egress::{self, Provenance};

impl Check<'_> {
    pub(super) fn by_provider(&mut self, name: &str, asked: Asked) -> Option<Draft> {
        if asked.kind.is_some() {
            self.fault("/type", "is the provider's to say; leave it out");
        }
        let entry = asked.entry.unwrap_or_default();
        for (field, given) in [
            ("url", entry.url.is_some()),
            ("document", entry.document.is_some()),
            ("document_source", entry.document_source.is_some()),
            ("headers", entry.headers.is_some()),
        ] {
            if given {
                self.fault(format!("/entry/{field}"), "is the provider's to say; leave it out");
            }
        }
        let kept = self.kept(&entry);
        self.name(asked.name.as_deref());
        let placeholders = self.placeholders(asked.placeholders);
        let connections = self.connections;
        let Some(provider) = connections.catalogue.get(name) else {
            self.fault("/provider", "is not a provider here. search lists the providers a person may connect");
            return None;
        };
        if asked.name.is_none() {
            self.name(Some(&provider.name));
        }
        let way = self.way(provider, asked.credential.as_ref())?;
        let resolved = match connections.catalogue.resolve(provider, &placeholders) {
            Ok(resolved) => resolved,
            Err(issues) => {
                self.issues.extend(issues);
                return None;
            }
        };
        if self.egress.check_address(&resolved.url, Provenance::Person).is_err() {
            self.fault("/provider", egress::Failure::NOT_ALLOWED);
        }
        Some(Draft {
            name: asked.name.unwrap_or_else(|| provider.name.clone()),
            title: provider.title.clone(),
            kind: server_type(&resolved),
            provider: Some(provider.name.clone()),
            entry: Entry { url: Some(resolved.url), ..kept },
            placeholders: resolved.placeholders.into_iter().map(|(name, value)| (name, value.into())).collect(),
            credential: Some(way),
            document_source: None,
        })
    }

    /// The way of the provider that is taken: the one asked for, else the first offered.
    fn way(&mut self, provider: &Provider, asked: Option<&AskedCredential>) -> Option<Credential> {
        if let Some(asked) = asked {
            for (field, given) in fields(asked) {
                if given {
                    self.fault(format!("/credential/{field}"), "is the provider's to say; give the kind alone");
                }
            }
        }
        let rules = self.connections.way_rules();
        let is_set = |variable: &str| self.connections.is_set(variable);
        let ways: Vec<(Kind, bool)> =
            provider.ways(&is_set, &rules).map(|(way, offered)| (way.kind, offered)).collect();
        if !ways.iter().any(|(_, offered)| *offered) {
            let detail = format!("{} cannot be connected here yet; whoever runs the server sets it up", provider.title);
            self.fault("/provider", detail);
            return None;
        }
        let kind = match asked {
            Some(asked) => way_kind(asked.kind),
            None => ways.iter().find(|(_, offered)| *offered)?.0,
        };
        match ways.iter().find(|(found, _)| *found == kind) {
            None => {
                self.fault("/credential/kind", format!("is no way of connecting {}", provider.title));
                None
            }
            Some((_, false)) => {
                self.fault("/credential/kind", "is not offered here; whoever runs the server sets it up");
                None
            }
            Some((_, true)) => {
                let way = provider.way(kind)?;
                let put = way.put();
                Some(Credential {
                    kind: credential_kind(kind),
                    variable: None,
                    name: put.as_ref().map(|put| put.name.clone()),
                    place: put.as_ref().map(|put| put.place),
                    scheme: put.and_then(|put| put.scheme),
                })
            }
        }
    }

    fn placeholders(&mut self, given: Option<BTreeMap<String, String>>) -> Map<String, Value> {
        let given = given.unwrap_or_default();
        for (name, value) in &given {
            let pointer = format!("/placeholders/{}", name.replace('~', "~0").replace('/', "~1"));
            self.text(&pointer, value, LookPlace::Placeholder);
        }
        given.into_iter().map(|(name, value)| (name, value.into())).collect()
    }
}

fn server_type(resolved: &Resolved) -> ServerType {
    match resolved.r#type {
        Type::Mcp => ServerType::Mcp,
        Type::Openapi => ServerType::Openapi,
    }
}
