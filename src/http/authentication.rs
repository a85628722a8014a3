//! From a request's headers to its checked caller (`http-api.md` 2, `identity.md` 4).

use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;

use crate::app::App;
use crate::error::{Challenge, Problem, Reason};
use crate::identity::Caller;

/// The longest credential looked at, in bytes.
const LONGEST: usize = 8 * 1024;

/// The caller of a request. In local mode a credential that is sent all the same must be good.
pub fn authenticate(app: &App, headers: &HeaderMap) -> Result<Arc<Caller>, Problem> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return app.access.local_caller().ok_or_else(|| {
            Problem::new(Reason::Unauthenticated, "This needs a credential: send a key as Authorization: Bearer.")
                .challenge(Some(Challenge::Missing))
        });
    };
    if values.next().is_some() {
        return Err(malformed());
    }
    let text = value.to_str().ok().and_then(bearer).ok_or_else(malformed)?;
    app.access.key_caller(text, app.clock.now_ms()).ok_or_else(|| {
        Problem::new(Reason::Unauthenticated, "The credential is not valid here. Send one that is.")
            .challenge(Some(Challenge::InvalidToken))
    })
}

fn malformed() -> Problem {
    Problem::new(Reason::BadRequest, "Send exactly one Authorization: Bearer header.")
        .challenge(Some(Challenge::InvalidRequest))
}

/// The credential of exactly one bearer header: the scheme without case, one space, RFC 6750's characters.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, credential) = value.split_once(' ')?;
    let well_formed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    (scheme.eq_ignore_ascii_case("bearer")
        && !credential.is_empty()
        && credential.len() <= LONGEST
        && credential.bytes().all(well_formed))
    .then_some(credential)
}

#[cfg(test)]
mod tests {
    use super::bearer;

    #[test]
    fn exactly_one_bearer_is_read() {
        assert_eq!(bearer("Bearer abc.def"), Some("abc.def"));
        assert_eq!(bearer("bEARER abc"), Some("abc"));
        for bad in ["Bearer", "Bearer ", "Bearer  a", "Bearer a b", "Bearer a, Bearer b", "Basic a", "Bearer\ta", "abc"] {
            assert_eq!(bearer(bad), None, "{bad}");
        }
    }
}
