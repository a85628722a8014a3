//! From a request's headers to its checked caller (`http-api.md` 2, `identity.md` 4).

use std::sync::Arc;

use http::header::{AUTHORIZATION, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::cookies::Cookie;
use super::csrf;
use super::problems::nothing;
use super::{Sender, through};
use crate::app::App;
use crate::error::{Challenge, Problem, Reason};
use crate::identity::sign_in::sessions;
use crate::identity::{By, Caller, Permissions, Resource};
use crate::ledger::Via;
use crate::operations::{Context, admission};

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
    if let Some(caller) = app.identity.configured_key_caller(text).await? {
        return Ok(caller);
    }
    let closed = app.limits.before_look_up(sender.address, text).err();
    match closed {
        // A token proves itself by its signature before anything is looked up; a kept key is only found by looking.
        Some(problem) if !is_signed(text) => Err(problem),
        closed => match (bearer_caller(app, text, resource).await, closed) {
            (Err(problem), None) if problem.reason() == Reason::Unauthenticated => {
                app.limits.failed(sender.address);
                Err(problem)
            }
            (Err(problem), Some(closed)) if problem.reason() == Reason::Unauthenticated => Err(closed),
            (Ok(caller), _) => {
                app.limits.good(text);
                Ok(caller)
            }
            (Err(problem), _) => Err(problem),
        },
    }
}

/// Whether a credential has the form of a signed token (RFC 7515, section 3.1).
fn is_signed(text: &str) -> bool {
    text.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// The caller a bearer credential proves that has to be looked up: a key of the database, or an access token that reaches
/// `resource`. Every cause of a refusal has one answer; the cause is in the log.
async fn bearer_caller(app: &App, text: &str, resource: &Resource) -> Result<Arc<Caller>, Problem> {
    let caller = match app.identity.stored_key_caller(text).await? {
        _ if app.access.is_closed() => None,
        None => app.identity.token_caller(text, resource).await?,
        found => found,
    };
    caller.ok_or_else(|| {
        Problem::new(Reason::Unauthenticated, "The credential is not valid here. Send one that is.")
            .challenge(Some(Challenge::InvalidToken))
    })
}

/// A browser's session, as pages and `/v1` need it.
#[derive(Debug, Clone)]
pub struct Session {
    /// Whose it is, `user_…`.
    pub person: String,
    /// When they last proved who they are, in milliseconds since the epoch.
    pub auth_time_ms: i64,
    /// What names the session: the digest of its id.
    pub digest: String,
    /// The token its commands carry in `x-playmaker-csrf`.
    pub csrf: String,
    /// Everything that is kept of it.
    pub kept: sessions::Session,
}

/// The session of the browser that sent `headers`, where people sign in and one did.
///
/// A cookie that is no good counts as any failed credential. Where an address had too many, one that was not good before is
/// not looked up: its browser is taken for one without, so that somebody with an old cookie can still sign in.
pub async fn studio_session(app: &App, headers: &HeaderMap, sender: &Sender) -> Result<Option<Session>, Problem> {
    if !app.access.signs_in() {
        return Ok(None);
    }
    let Some(id) = Cookie::Session.read(app, headers) else { return Ok(None) };
    if app.limits.before_look_up(sender.address, id).is_err() {
        return Ok(None);
    }
    let Some(kept) = app.identity.session(id).await? else {
        app.limits.failed(sender.address);
        sender.set_spent();
        return Ok(None);
    };
    app.limits.good(id);
    Ok(Some(Session {
        csrf: csrf::token(app, &kept.digest, "")?,
        person: kept.person.clone(),
        auth_time_ms: kept.auth_time_ms,
        digest: kept.digest.clone(),
        kept,
    }))
}

/// The caller of a route of `/v1`: a bearer, and where none is sent the person of the session, in the org of the route.
pub(super) async fn api_caller(
    app: &App,
    parts: &Parts,
    org: Option<&str>,
    sender: &Sender,
) -> Result<Arc<Caller>, Problem> {
    if !parts.headers.contains_key(AUTHORIZATION)
        && let Some(session) = studio_session(app, &parts.headers, sender).await?
    {
        sender.set_known();
        if is_command(&parts.method) {
            from_own_page(app, &parts.headers)?;
            let given = given_csrf(&parts.headers);
            if !csrf::fits(app, &session.digest, "", given)? {
                return Err(foreign());
            }
        }
        let caller = person_in(app, &session, org).await?;
        app.limits.admit(&caller)?;
        return Ok(caller);
    }
    authenticate(app, &parts.headers, &Resource::Api, sender).await
}

/// The person of a session as they act in `org` at one of Studio's pages, within their limits.
///
/// # Errors
/// 404 for who does not belong to the org, as for one that is not there.
pub(super) async fn acting_in(app: &Arc<App>, session: &Session, org: &str, parts: &Parts) -> Result<Context, Problem> {
    let caller = person_in(app, session, Some(org)).await?;
    if caller.org != org {
        return Err(nothing());
    }
    app.limits.admit(&caller)?;
    Ok(admission::context(app.clone(), through(&caller, Via::Studio, &parts.headers, &parts.extensions), false))
}

/// The person of a session in `org`; where the route names none, in the org they used last, or in the one the session is
/// for. Who does not belong to the org acts in none, and is refused as any caller of another org.
async fn person_in(app: &App, session: &Session, org: Option<&str>) -> Result<Arc<Caller>, Problem> {
    let org = match (org, &session.kept.org) {
        (Some(org), _) => Some(org.to_owned()).filter(|org| session.kept.is_for(org)),
        (None, Some(only)) => Some(only.clone()),
        (None, None) => app.identity.memberships_of(&session.person).await?.into_iter().next().map(|one| one.org),
    };
    let at = Some(session.auth_time_ms);
    if let Some(org) = org
        && let Some(caller) = app.identity.acting(&session.person, &org, Permissions::EVERY, at, By::Session).await?
    {
        return Ok(caller);
    }
    app.identity.acting_nowhere(&session.person, at).await?.ok_or_else(not_signed_in)
}

/// Who stands before an approval page, and the token of what they do there.
pub(super) struct AtLink {
    /// The person.
    pub(super) caller: Arc<Caller>,
    /// The token that commands about the link carry.
    pub(super) csrf: String,
    session: String,
}

impl AtLink {
    /// Counts that the page is read (`connections.md` 17).
    pub(super) fn reads(&self, app: &App) -> Result<(), Problem> {
        app.limits.read_link(&self.session)
    }

    /// Refuses a command that does not carry the token of its session and link.
    pub(super) fn check(&self, app: &App, link: &str, given: &str) -> Result<(), Problem> {
        if csrf::fits(app, &self.session, link, given)? {
            return Ok(());
        }
        let words = "The page is no longer current. Open the link again and repeat what you did.";
        Err(Problem::new(Reason::Forbidden, words))
    }
}

/// The person at an approval page; a command must come from our own page and carry the token of its link
/// (`connections.md` 9.2).
pub(super) async fn at_link(app: &App, parts: &Parts, link: &str, sender: &Sender) -> Result<AtLink, Problem> {
    let at = opening(app, &parts.headers, link, sender).await?;
    if is_command(&parts.method) {
        same_origin(app, &parts.headers)?;
        at.check(app, link, given_csrf(&parts.headers))?;
    } else {
        at.reads(app)?;
    }
    Ok(at)
}

/// The person whose browser opens a link. A bearer credential is refused, so that no agent approves what it added.
pub(super) async fn opening(app: &App, headers: &HeaderMap, link: &str, sender: &Sender) -> Result<AtLink, Problem> {
    let org = async { Ok(app.connections.org_of_link(link).await?.unwrap_or_default()) };
    person_at(app, headers, (link, org), sender).await
}

/// The person whose browser comes back from a provider, in the org of their trip, where that is known, as at a link. Their
/// page cannot know the link, so a command carries the token of the session itself or of the link (`connections.md` 9.3
/// names none for `finish`).
pub(super) async fn coming_back(
    app: &App,
    headers: &HeaderMap,
    org: Option<&str>,
    sender: &Sender,
) -> Result<AtLink, Problem> {
    let org = async { Ok(org.unwrap_or_default().to_owned()) };
    person_at(app, headers, ("", org), sender).await
}

async fn person_at(
    app: &App,
    headers: &HeaderMap,
    (link, org): (&str, impl Future<Output = Result<String, Problem>>),
    sender: &Sender,
) -> Result<AtLink, Problem> {
    if headers.contains_key(AUTHORIZATION) {
        let problem = Problem::forbidden("Only a person approves a connection, on the page the link opens.");
        return Err(problem.challenge(None));
    }
    if let Some(caller) = app.access.local_caller() {
        let session = csrf::LOCAL.to_owned();
        return Ok(AtLink { caller, csrf: csrf::token(app, &session, link)?, session });
    }
    let session = studio_session(app, headers, sender).await?.ok_or_else(not_signed_in)?;
    sender.set_known();
    let org = org.await?;
    let mut caller = person_in(app, &session, Some(&org)).await?;
    if caller.org != org {
        // They do not belong to the org of the link (any more): what a link says of itself is decided with its rows.
        caller = Arc::new(Caller { org, ..(*caller).clone() });
    }
    Ok(AtLink { caller, csrf: csrf::token(app, &session.digest, link)?, session: session.digest })
}

const fn is_command(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

fn given_csrf(headers: &HeaderMap) -> &str {
    headers.get("x-playmaker-csrf").and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn not_signed_in() -> Problem {
    Problem::new(Reason::Unauthenticated, "Sign in to Studio to open this.").challenge(Some(Challenge::Missing))
}

/// 403 for a command that comes from no page of ours.
pub(super) fn foreign() -> Problem {
    Problem::new(Reason::OriginNotAllowed, "This is taken from Studio's own page alone.")
}

/// A command that a session's cookie came with must come from a page of this server: by its origin, or, where a browser
/// sends none, by what it says of the page. Where it sends both, both must say so.
pub(super) fn from_own_page(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let same_site = headers.get("sec-fetch-site").map(|site| site == "same-origin");
    let own = match headers.get(ORIGIN) {
        Some(origin) => origin.to_str().is_ok_and(|origin| app.is_own_origin(origin)) && same_site.unwrap_or(true),
        None => same_site.unwrap_or(false),
    };
    if own { Ok(()) } else { Err(foreign()) }
}

/// A command of a page that decides about others must come from a page of this server, with its origin.
pub fn same_origin(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(ORIGIN) { from_own_page(app, headers) } else { Err(foreign()) }
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
