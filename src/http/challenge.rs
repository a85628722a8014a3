//! `WWW-Authenticate` on the wire (RFC 6750, section 3; RFC 9728, section 5.1): one place writes it, since it names the
//! resource of the path and a [`Problem`](crate::error::Problem) knows none.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, Response};

use crate::app::App;
use crate::error::Challenge;
use crate::identity::Resource;
use crate::identity::resource::words;

/// A challenge on its way to the header: what it is for, and the scopes that would do.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    /// What it is for.
    pub challenge: Challenge,
    /// The scopes needed; none where the whole set of the endpoint is meant.
    pub scopes: Vec<&'static str>,
}

/// Writes the challenge an answer carries, for the resource at `path`.
pub(super) fn write<B>(app: &App, path: &str, response: &mut Response<B>) {
    let Some(Pending { challenge, scopes }) = response.extensions_mut().remove::<Pending>() else { return };
    let text = match &app.settings.public_url {
        None => short(challenge).to_owned(),
        Some(public_url) => {
            let resource = Resource::at(path).unwrap_or(Resource::Server);
            let scopes = if scopes.is_empty() { words(resource.asked()) } else { scopes };
            full(challenge, &scopes, &resource.metadata_url(public_url))
        }
    };
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
}

/// Where nobody signs in there is no metadata to name.
const fn short(challenge: Challenge) -> &'static str {
    match challenge {
        Challenge::Missing => "Bearer",
        Challenge::InvalidRequest => "Bearer error=\"invalid_request\"",
        Challenge::InvalidToken => "Bearer error=\"invalid_token\"",
        Challenge::InsufficientScope => "Bearer error=\"insufficient_scope\"",
    }
}

/// The forms of `identity.md` 4.2 to 4.4, member by member in their order.
fn full(challenge: Challenge, scopes: &[&str], metadata: &str) -> String {
    let scope = scopes.join(" ");
    match challenge {
        Challenge::Missing => format!("Bearer resource_metadata=\"{metadata}\", scope=\"{scope}\""),
        Challenge::InvalidRequest => format!(
            "Bearer error=\"invalid_request\", error_description=\"Send exactly one Authorization: Bearer header\", \
             resource_metadata=\"{metadata}\""
        ),
        Challenge::InvalidToken => format!(
            "Bearer error=\"invalid_token\", error_description=\"The access token is not valid here\", \
             resource_metadata=\"{metadata}\", scope=\"{scope}\""
        ),
        Challenge::InsufficientScope => format!(
            "Bearer error=\"insufficient_scope\", scope=\"{scope}\", error_description=\"Needs {}\", \
             resource_metadata=\"{metadata}\"",
            spoken(scopes)
        ),
    }
}

/// A list as it is spoken: `a`, `a and b`, `a, b and c`.
fn spoken(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = "https://pm.example/.well-known/oauth-protected-resource/v1";

    #[test]
    fn each_form_is_that_of_the_sheet() {
        assert_eq!(
            full(Challenge::Missing, &["playbook:read", "playbook:write"], METADATA),
            format!("Bearer resource_metadata=\"{METADATA}\", scope=\"playbook:read playbook:write\"")
        );
        assert_eq!(
            full(Challenge::InsufficientScope, &["org:read", "playbook:write"], METADATA),
            format!(
                "Bearer error=\"insufficient_scope\", scope=\"org:read playbook:write\", \
                 error_description=\"Needs org:read and playbook:write\", resource_metadata=\"{METADATA}\""
            )
        );
        assert!(!full(Challenge::InvalidRequest, &["org:read"], METADATA).contains("scope="));
        assert_eq!(spoken(&["a", "b", "c"]), "a, b and c");
    }
}
