//! The tokens of a connection at each call.

use zeroize::Zeroizing;

use super::super::catalogue::{Kind, Put, ValueIn};
use super::super::oauth::Tokens;
use super::super::standing::Fault;
use super::super::{Because, Connections, Placed, Record};
use crate::secrets::Trouble;

impl Connections {
    /// The tokens to call with now.
    pub(in crate::connections) async fn tokens_of(&self, record: &Record) -> Result<Tokens, Fault> {
        let fields = self.secrets.get(&record.org, &record.id, record.credential_version).await;
        let fields = fields.map_err(|trouble| match trouble {
            Trouble::Gone | Trouble::Unreadable => Fault::new(Because::Broken, "secret_missing"),
            Trouble::Unavailable => Fault::new(Because::Unavailable, "store"),
        })?;
        let tokens = Tokens::of(fields).ok_or(Fault::new(Because::Broken, "not_tokens"))?;
        let now = self.clock.now_ms();
        if tokens.grant.expires_at_ms.is_some_and(|end| end <= now) {
            return Err(Fault::new(Because::Broken, "ended"));
        }
        Ok(tokens)
    }

    /// An access token as it is written into a request: `Authorization: Bearer`, unless the provider's way says otherwise.
    pub fn bearer(&self, record: &Record, kind: Kind, access_token: &Zeroizing<String>) -> Placed {
        let usual = || Put { name: "authorization".into(), place: ValueIn::Header, scheme: Some("Bearer".into()) };
        let put = self.way_of(record, kind).and_then(|(_, way)| way.r#use.clone()).unwrap_or_else(usual);
        self.written(put.place, put.name, put.scheme.as_deref(), access_token.clone())
    }
}
