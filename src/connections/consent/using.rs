//! An access token in a request.

use zeroize::Zeroizing;

use super::super::catalogue::{Kind, Put, ValueIn};
use super::super::{Connections, Placed, Record};

impl Connections {
    /// An access token as it is written into a request: `Authorization: Bearer`, unless the provider's way says otherwise.
    pub fn bearer(&self, record: &Record, kind: Kind, access_token: &Zeroizing<String>) -> Placed {
        let usual = || Put { name: "authorization".into(), place: ValueIn::Header, scheme: Some("Bearer".into()) };
        let put = self.way_of(record, kind).and_then(|(_, way)| way.r#use.clone()).unwrap_or_else(usual);
        self.written(put.place, put.name, put.scheme.as_deref(), access_token.clone())
    }
}
