//! Input B: a server given by hand (`connections.md` 3.3).

use std::collections::BTreeMap;

use serde_json::Map;

use super::super::Entry;
use super::super::catalogue::headers::{is_reserved, is_token};
use super::super::credential_look::LookPlace;
use super::{Asked, AskedEntry, Check, Draft};
use crate::config::ServerType;
use crate::egress::{self, Provenance};

impl Check<'_> {
    pub(super) fn by_hand(&mut self, asked: Asked) -> Option<Draft> {
        let rules = &self.connections.settings.connections;
        // Neither names what is to be connected: nothing else is missed before that is known.
        if asked.kind.is_none() {
            self.fault("/provider", "or a server of its own by name, type and entry is required");
        }
        if asked.placeholders.is_some() {
            self.fault("/placeholders", "are a provider's; a server given by hand has none");
        }
        match asked.kind {
            None => self.fault("/type", "is required and missing"),
            Some(_) if !rules.by_hand => self.fault(
                "/type",
                "whoever runs the server does not let servers be given by hand; search lists providers",
            ),
            Some(kind) if !rules.types.contains(&kind) => {
                self.fault("/type", "whoever runs the server does not allow this type")
            }
            Some(_) => {}
        }
        if asked.name.is_none() && asked.kind.is_some() {
            self.fault("/name", "is required and missing");
        }
        self.name(asked.name.as_deref());
        let kind = asked.kind.unwrap_or(ServerType::Mcp);
        let entry = asked.entry.unwrap_or_default();
        let kept = self.kept(&entry);
        if asked.kind.is_some() || entry.url.is_some() {
            self.addresses(kind, &entry);
        }
        self.headers(entry.headers.as_ref());
        let credential = asked.credential.as_ref().and_then(|credential| self.credential(credential));
        let name = asked.name?;
        Some(Draft {
            title: name.clone(),
            name,
            kind,
            provider: None,
            entry: Entry {
                url: entry.url,
                document: entry.document,
                headers: entry.headers.unwrap_or_default(),
                ..kept
            },
            placeholders: Map::new(),
            credential,
            document_source: entry.document_source,
        })
    }

    fn addresses(&mut self, kind: ServerType, entry: &AskedEntry) {
        let has_document = entry.document.is_some() || entry.document_source.is_some();
        match (kind, &entry.url) {
            (ServerType::Mcp, None) => self.fault("/entry/url", "is required and missing"),
            (_, Some(url)) => self.address("/entry/url", url),
            (ServerType::Openapi, None) => {}
        }
        if kind == ServerType::Mcp && has_document {
            self.fault("/entry/document", "belongs to the type openapi");
        }
        if kind == ServerType::Openapi && entry.document.is_some() == entry.document_source.is_some() {
            self.fault("/entry/document", "either document or document_source is required, and not both");
        }
        if let Some(document) = &entry.document {
            self.address("/entry/document", document);
        }
        if let Some(source) = &entry.document_source {
            if source.len() > 512 * 1024 {
                self.fault("/entry/document_source", "must be at most 512 KiB");
            }
            self.text("/entry/document_source", source, LookPlace::Text);
        }
    }

    fn address(&mut self, pointer: &str, address: &str) {
        self.text(pointer, address, LookPlace::Address);
        if self.issues.iter().any(|issue| issue.pointer == pointer) {
            return;
        }
        if self.egress.check_address(address, Provenance::Person).is_err() {
            self.fault(pointer, egress::Failure::NOT_ALLOWED);
        }
    }

    fn headers(&mut self, headers: Option<&BTreeMap<String, String>>) {
        for (name, value) in headers.into_iter().flatten() {
            let pointer = format!("/entry/headers/{}", name.replace('~', "~0").replace('/', "~1"));
            if !is_token(name, 64) || is_reserved(name) {
                self.fault(pointer, "is not a header an entry may set");
            } else if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) || value.len() > 1_024 {
                self.fault(pointer, "must be at most 1,024 visible ASCII characters");
            } else {
                self.text(&pointer, value, LookPlace::HeaderValue);
            }
        }
    }
}
