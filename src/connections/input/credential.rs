//! The credential object, as an agent may describe it (`connections.md` 4).

use super::super::Credential;
use super::super::catalogue::ValueIn;
use super::super::catalogue::headers::{is_reserved, is_token};
use super::super::credential_look::LookPlace;
use super::{AskedCredential, Check};
use crate::config::CredentialKind;

impl Check<'_> {
    /// A credential described by hand (`connections.md` 4).
    pub(super) fn credential(&mut self, asked: &AskedCredential) -> Option<Credential> {
        let rules = &self.connections.settings.connections;
        if asked.kind == CredentialKind::Authorization {
            self.fault("/credential/kind", "authorization is a provider's way; a server given by hand has none");
            return None;
        }
        if asked.kind == CredentialKind::ClientCredentials || !rules.kinds.contains(&asked.kind) {
            self.fault("/credential/kind", "is not offered here");
            return None;
        }
        let reference = asked.kind == CredentialKind::Reference;
        let in_header = asked.place.is_none_or(|place| place == ValueIn::Header);
        for (field, given) in fields(asked) {
            let (needed, taken) = match field {
                "name" | "in" => (true, true),
                "variable" => (reference, reference),
                "scheme" => (false, in_header),
                _ => (false, false),
            };
            match (given, needed, taken) {
                (true, _, false) => self.fault(format!("/credential/{field}"), "is not taken by this kind"),
                (false, true, _) => self.fault(format!("/credential/{field}"), "is required and missing"),
                _ => {}
            }
        }
        self.credential_texts(asked);
        Some(Credential {
            kind: asked.kind,
            variable: asked.variable.clone(),
            name: asked.name.clone(),
            place: asked.place,
            scheme: asked.scheme.clone(),
        })
    }

    fn credential_texts(&mut self, asked: &AskedCredential) {
        if let Some(name) = &asked.name {
            self.text("/credential/name", name, LookPlace::Text);
            let header = asked.place == Some(ValueIn::Header);
            let reserved = header && is_reserved(name) && !name.eq_ignore_ascii_case("authorization");
            if !is_token(name, 64) || reserved {
                self.fault("/credential/name", "is not a name a credential may go under");
            }
        }
        if let Some(scheme) = &asked.scheme {
            self.text("/credential/scheme", scheme, LookPlace::Text);
        }
        if let Some(scheme) = &asked.scheme
            && !is_token(scheme, 32)
        {
            self.fault("/credential/scheme", "must be one word of at most 32 characters");
        }
        if let Some(variable) = asked.variable.as_ref().filter(|_| asked.kind == CredentialKind::Reference) {
            let form = (1..=128).contains(&variable.len())
                && variable.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
                && !variable.starts_with(|c: char| c.is_ascii_digit());
            if !form || self.connections.settings.reference(self.org, variable).is_none() {
                self.fault("/credential/variable", "is not configured");
            }
        }
    }
}

pub(super) fn fields(asked: &AskedCredential) -> [(&'static str, bool); 7] {
    [
        ("variable", asked.variable.is_some()),
        ("name", asked.name.is_some()),
        ("in", asked.place.is_some()),
        ("scheme", asked.scheme.is_some()),
        ("issuer", asked.issuer.is_some()),
        ("client_id", asked.client_id.is_some()),
        ("scope", asked.scope.is_some()),
    ]
}
