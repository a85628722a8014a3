//! Whether a connection can be used, worked out at every read and every use (`connections.md` 2.1), and its credential.

use zeroize::Zeroizing;

use super::catalogue::ValueIn;
use super::record::{Because, Credential, Record, Status};
use super::secrets::Trouble;
use super::{Connections, Placed};
use crate::config::CredentialKind;
use crate::egress::{self, Provenance};

/// The field of the secrets store that holds a given value.
pub(super) const VALUE: &str = "value";

impl Connections {
    /// Why the connection cannot be used, first match first, with words; `None` when it can.
    pub async fn because(&self, egress: &egress::Client, record: &Record) -> Option<(Because, String)> {
        match self.credential(egress, record).await {
            Ok(_) => None,
            Err(because) => Some((because, self.words(record, because))),
        }
    }

    /// The credential for a request, or why there is none; `Ok(None)` for a connection without one.
    pub async fn credential(&self, egress: &egress::Client, record: &Record) -> Result<Option<Placed>, Because> {
        if record.status == Status::Pending {
            return Err(Because::Pending);
        }
        self.allowed(egress, record)?;
        let Some(credential) = &record.credential else { return Ok(None) };
        let bare = match credential.kind {
            CredentialKind::Reference => {
                let variable = credential.variable.as_deref().unwrap_or_default();
                let value = self.settings.reference(&record.org, variable).ok_or(Because::Broken)?;
                Zeroizing::new(value.expose().to_owned())
            }
            CredentialKind::Secret => self.given(record).await?,
            CredentialKind::Authorization | CredentialKind::ClientCredentials => return Err(Because::Broken),
        };
        placed(credential, bare).map(Some).ok_or(Because::Broken)
    }

    async fn given(&self, record: &Record) -> Result<Zeroizing<String>, Because> {
        let mut fields = self.secrets.get(&record.org, &record.id, record.credential_version).await.map_err(
            |trouble| match trouble {
                Trouble::Gone | Trouble::Unreadable => Because::Broken,
                Trouble::Unavailable => Because::Unavailable,
            },
        )?;
        fields.remove(VALUE).ok_or(Because::Broken)
    }

    /// The operator's rules of today, also for connections of yesterday.
    pub(super) fn allowed(&self, egress: &egress::Client, record: &Record) -> Result<(), Because> {
        let rules = &self.settings.connections;
        let kind = record.credential.as_ref().is_none_or(|credential| rules.kinds.contains(&credential.kind));
        let source = match &record.provider {
            Some(provider) => rules.offers(provider) && self.catalogue.get(provider).is_some(),
            None => rules.by_hand && rules.types.contains(&record.kind),
        };
        let address =
            record.entry.url.as_deref().is_none_or(|url| egress.check_address(url, Provenance::Person).is_ok());
        if kind && source && address { Ok(()) } else { Err(Because::NotAllowed) }
    }

    fn words(&self, record: &Record, because: Because) -> String {
        let title = &record.title;
        match because {
            Because::Pending => {
                format!(
                    "Nobody has approved the {title} connection. The person opens its link, or it is removed and added again."
                )
            }
            Because::Broken => format!(
                "The credential of the {title} connection is gone or no longer taken. Remove it with remove_connection and \
                 add it again."
            ),
            Because::NotAllowed => {
                format!("Whoever runs the server no longer allows the {title} connection.")
            }
            Because::Unavailable => format!("The credential of the {title} connection cannot be read just now."),
        }
    }
}

/// Writes a value the way the server wants it.
pub(super) fn placed(credential: &Credential, bare: Zeroizing<String>) -> Option<Placed> {
    let place = credential.place?;
    let written = match (&credential.scheme, place) {
        (Some(scheme), ValueIn::Header) => Zeroizing::new(format!("{scheme} {}", bare.as_str())),
        _ => bare.clone(),
    };
    Some(Placed { place, name: credential.name.clone()?, written, bare })
}

impl Placed {
    /// A value for a request that is made before a connection stands, to see whether it is taken.
    pub fn trial(credential: &Credential, value: &str) -> Option<Self> {
        placed(credential, Zeroizing::new(value.to_owned()))
    }
}
