//! Whether a connection can be used, worked out at every read and every use (`connections.md` 2.1), and its credential.

use zeroize::Zeroizing;

use super::catalogue::ValueIn;
use super::record::{Because, Credential, Record, Status};
use super::refresh::kind_of;
use super::{Connections, Placed};
use crate::config::CredentialKind;
use crate::egress::Provenance;
use crate::secrets::{Fields, Trouble};

/// The field of the secrets store that holds a given value.
pub(super) const VALUE: &str = "value";

/// Why a connection cannot be used, with the cause or the rule that the audit names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) because: Because,
    pub(super) cause: &'static str,
}

impl Fault {
    pub(super) const fn new(because: Because, cause: &'static str) -> Self {
        Self { because, cause }
    }
}

impl Connections {
    /// Why the connection cannot be used, first match first, with words; `None` when it can.
    pub async fn because(&self, record: &Record) -> Option<(Because, String)> {
        let stands = self.stands(record).await;
        self.notice(record, stands.err()).await;
        stands.err().map(|fault| (fault.because, self.words(record, fault.because)))
    }

    /// Whether it can be used, as far as is known without asking anybody outside.
    async fn stands(&self, record: &Record) -> Result<(), Fault> {
        if record.status == Status::Connected && has_tokens(record) {
            self.rule(record)?;
            return self.tokens_stand(record).await;
        }
        self.look(record).await.map(drop)
    }

    /// The credential for a request, or why there is none; `Ok(None)` for a connection without one. A change of the
    /// standing since it was last looked at is told in the audit, once.
    pub async fn credential(&self, record: &Record) -> Result<Option<Placed>, Because> {
        let found = self.look(record).await;
        self.notice(record, found.as_ref().err().copied()).await;
        found.map_err(|fault| fault.because)
    }

    async fn look(&self, record: &Record) -> Result<Option<Placed>, Fault> {
        if record.status == Status::Pending {
            return Err(Fault::new(Because::Pending, "pending"));
        }
        self.rule(record)?;
        let Some(credential) = &record.credential else { return Ok(None) };
        let bare = match credential.kind {
            CredentialKind::Reference => {
                let variable = credential.variable.as_deref().unwrap_or_default();
                let value = self.settings.reference(&record.org, variable);
                let value = value.ok_or(Fault::new(Because::Broken, "variable_unset"))?;
                Zeroizing::new(value.expose().to_owned())
            }
            CredentialKind::Secret => self.given(record).await?,
            CredentialKind::Authorization | CredentialKind::ClientCredentials => {
                let held = self.tokens_for_use(record).await?;
                let placed = self.bearer(record, kind_of(record), &held.tokens.access_token);
                return Ok(Some(Placed { version: held.version, ..placed }));
            }
        };
        let placed = self.placed(credential, bare).ok_or(Fault::new(Because::Broken, "secret_missing"))?;
        Ok(Some(Placed { version: record.credential_version, ..placed }))
    }

    /// What the store keeps of the credential in use.
    pub(super) async fn fields_of(&self, record: &Record) -> Result<Fields, Fault> {
        let fields = self.secrets.get(&record.org, &record.id, record.credential_version).await;
        fields.map_err(|trouble| match trouble {
            Trouble::Gone | Trouble::Unreadable => Fault::new(Because::Broken, "secret_missing"),
            Trouble::Unavailable => Fault::new(Because::Unavailable, "store"),
        })
    }

    async fn given(&self, record: &Record) -> Result<Zeroizing<String>, Fault> {
        self.fields_of(record).await?.remove(VALUE).ok_or(Fault::new(Because::Broken, "secret_missing"))
    }

    /// The operator's rules of today, also for connections of yesterday.
    pub(super) fn rule(&self, record: &Record) -> Result<(), Fault> {
        let rules = &self.settings.connections;
        let refuse = |rule| Err(Fault::new(Because::NotAllowed, rule));
        if record.credential.as_ref().is_some_and(|credential| !rules.kinds.contains(&credential.kind)) {
            return refuse("kinds");
        }
        match &record.provider {
            Some(provider) if !rules.offers(provider) || self.catalogue.get(provider).is_none() => refuse("providers"),
            None if !rules.by_hand => refuse("by_hand"),
            None if !rules.types.contains(&record.kind) => refuse("types"),
            _ if record
                .entry
                .url
                .as_deref()
                .is_some_and(|url| self.egress.check_address(url, Provenance::Person).is_err()) =>
            {
                refuse("hosts")
            }
            _ => Ok(()),
        }
    }
}

/// Whether its credential is tokens, which end and are renewed.
fn has_tokens(record: &Record) -> bool {
    let kind = record.credential.as_ref().map(|credential| credential.kind);
    matches!(kind, Some(CredentialKind::Authorization | CredentialKind::ClientCredentials))
}

impl Connections {
    /// Why a connection cannot be used, in words for the caller.
    pub fn words(&self, record: &Record, because: Because) -> String {
        let title = &record.title;
        match because {
            Because::Pending => format!(
                "Nobody has approved the {title} connection. The person opens its link, or it is removed and added again."
            ),
            Because::Broken => format!(
                "The credential of the {title} connection is gone or no longer taken. Remove it with remove_connection \
                 and add it again."
            ),
            Because::NotAllowed => format!("Whoever runs the server no longer allows the {title} connection."),
            Because::Unavailable => format!("The credential of the {title} connection cannot be read just now."),
        }
    }

    /// A value for a request that is made before a connection stands, to see whether it is taken.
    pub fn trial(&self, credential: &Credential, value: &str) -> Option<Placed> {
        self.placed(credential, Zeroizing::new(value.to_owned()))
    }

    fn placed(&self, credential: &Credential, bare: Zeroizing<String>) -> Option<Placed> {
        Some(self.written(credential.place?, credential.name.clone()?, credential.scheme.as_deref(), bare))
    }

    /// Writes a value the way the server wants it; from here on the log knows it as a secret.
    pub(super) fn written(
        &self,
        place: ValueIn,
        name: String,
        scheme: Option<&str>,
        bare: Zeroizing<String>,
    ) -> Placed {
        self.log_secrets.register(&bare);
        let written = match (scheme, place) {
            (Some(scheme), ValueIn::Header) => Zeroizing::new(format!("{scheme} {}", bare.as_str())),
            _ => bare.clone(),
        };
        Placed { place, name, written, bare, version: 0 }
    }
}
