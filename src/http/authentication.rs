//! From a request's headers to its checked caller (`http-api.md` 2, `identity.md` 4).

use std::sync::Arc;

use http::HeaderMap;
use http::header::{AUTHORIZATION, ORIGIN};
use http::request::Parts;

use super::Sender;
use crate::app::App;
use crate::error::{Challenge, Problem, Reason};
use crate::identity::{Caller, Resource};

/// The longest credential looked at, in bytes.
const LONGEST: usize = 8 * 1024;

/// The caller of a request at `resource`, within its limits. In local mode a credential that is sent all the same must be
/// good.
pub async fn authenticate(
    app: &App,
    headers: &HeaderMap,
    resource: &Resource,
    sender: &Sender,
) -> Result<Arc<Caller>, Problem> {
    let caller = identify(app, headers, resource, sender).await?;
    sender.set_known();
    app.limits.admit(&caller)?;
    Ok(caller)
}

async fn identify(
    app: &App,
    headers: &HeaderMap,
    resource: &Resource,
    sender: &Sender,
) -> Result<Arc<Caller>, Problem> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return app.access.local_caller().ok_or_else(|| {
            let words = if app.access.signs_in() {
                "This needs a credential: sign in, or send a key as Authorization: Bearer."
            } else {
                "This needs a credential: send a key as Authorization: Bearer."
            };
            Problem::new(Reason::Unauthenticated, words).challenge(Some(Challenge::Missing))
        });
    };
    if values.next().is_some() {
        return Err(malformed());
    }
    let text = value.to_str().ok().and_then(bearer).ok_or_else(malformed)?;
    if let Some(caller) = app.access.key_caller(text, app.clock.now_ms()) {
        return Ok(caller);
    }
    app.limits.before_look_up(sender.address, text)?;
    let caller = bearer_caller(app, text, resource).await;
    match &caller {
        Ok(_) => app.limits.good(text),
        Err(problem) if problem.reason() == Reason::Unauthenticated => app.limits.failed(sender.address),
        Err(_) => {}
    }
    caller
}

/// The caller a bearer credential proves that has to be looked up: an access token that reaches `resource`. Every cause
/// of a refusal has one answer; the cause is in the log.
async fn bearer_caller(app: &App, text: &str, resource: &Resource) -> Result<Arc<Caller>, Problem> {
    let caller = app.identity.token_caller(text, resource).await?;
    caller.ok_or_else(|| {
        Problem::new(Reason::Unauthenticated, "The credential is not valid here. Send one that is.")
            .challenge(Some(Challenge::InvalidToken))
    })
}

/// The person at Studio's page; a command must come from our own page and carry the token of its link
/// (`connections.md` 9.2).
pub(super) fn session(app: &App, parts: &Parts, link: Option<&str>) -> Result<Arc<Caller>, Problem> {
    let caller = person(app, parts)?;
    if !matches!(parts.method, http::Method::GET | http::Method::HEAD) {
        same_origin(app, &parts.headers)?;
        let given = parts.headers.get("x-playmaker-csrf").and_then(|value| value.to_str().ok()).unwrap_or_default();
        app.check_csrf(link.unwrap_or_default(), given)?;
    }
    Ok(caller)
}

/// The person whose browser it is. A bearer credential is refused, so that no agent approves what it added.
pub(super) fn person(app: &App, parts: &Parts) -> Result<Arc<Caller>, Problem> {
    if parts.headers.contains_key(AUTHORIZATION) {
        let problem = Problem::forbidden("Only a person approves a connection, on the page the link opens.");
        return Err(problem.challenge(None));
    }
    app.access.local_caller().ok_or_else(|| {
        Problem::new(Reason::Unauthenticated, "Sign in to Studio to open this link.")
            .challenge(Some(Challenge::Missing))
    })
}

/// A command of a page must come from a page of this server.
pub fn same_origin(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let own =
        headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()).is_some_and(|origin| app.is_own_origin(origin));
    let site = headers.get("sec-fetch-site").is_none_or(|site| site == "same-origin");
    if own && site {
        return Ok(());
    }
    Err(Problem::new(Reason::OriginNotAllowed, "This is taken from Studio's own page alone."))
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
        for bad in ["Bearer", "Bearer ", "Bearer  a", "Bearer a b", "Bearer a, Bearer b", "Basic a", "Bearer\ta", "abc"]
        {
            assert_eq!(bearer(bad), None, "{bad}");
        }
    }
}
