//! What a server says when it wants another credential (RFC 6750, section 3; RFC 9728, section 5.1).

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

use super::scopes;

/// The Bearer challenge of an answer; empty where there is none that can be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the server's metadata is, as it is written there.
    pub resource_metadata: Option<String>,
    /// The scopes it wants; none where it does not say.
    pub scopes: Option<Vec<String>>,
    /// Its error code.
    pub error: Option<String>,
}

impl Challenge {
    /// The first Bearer challenge of the headers.
    pub fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(WWW_AUTHENTICATE).into_iter().filter_map(|line| line.to_str().ok());
        lines.filter_map(Self::read).next().unwrap_or_default()
    }

    fn read(line: &str) -> Option<Self> {
        let challenges = http_auth::parse_challenges(line).ok()?;
        let bearer = challenges.iter().find(|challenge| challenge.scheme.eq_ignore_ascii_case("bearer"))?;
        // A parameter that is there twice says nothing (RFC 9110, section 11.2).
        let said = |name: &str| {
            let mut values = bearer.params.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
            match (values.next(), values.next()) {
                (Some((_, value)), None) => Some(value.to_unescaped()),
                _ => None,
            }
        };
        let wanted = said("scope").map(|text| scopes::of(text.split(' '))).filter(|wanted| !wanted.is_empty());
        Some(Self { resource_metadata: said("resource_metadata"), scopes: wanted, error: said("error") })
    }

    /// Whether the server takes the credential and wants it to reach further (RFC 6750, section 3.1).
    pub fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}
