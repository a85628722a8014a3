//! The first steps of every request: its id, the stopping server, `Origin` and `Host`, CORS, headers of every answer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, HOST, ORIGIN, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::cookies::Cookie;
use super::problems::nothing;
use super::{Sender, challenge, framing, problems, unread};
use crate::app::App;
use crate::error::{Problem, Reason};
use crate::ledger::{self, Via};
use crate::operations::noted;

/// The id of a request, on its answer and in the log.
#[derive(Debug, Clone)]
pub struct RequestId(pub Arc<str>);

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const OPERATION_HEADERS: &str = "authorization, content-type, idempotency-key";
const MCP_HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, \
                           mcp-session-id, last-event-id";

/// Passes a request on, or refuses it before anything else looks at it (`http-api.md` 1.7, steps 1 to 3).
pub(super) async fn pass(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (mut request, reading) = unread::watched(request);
    let id: Arc<str> = app.ids.uuid(app.clock.now_ms()).to_string().into();
    let path = request.uri().path();
    // `/v1/orgs/{org}/playbooks/mcp` is a playbook of that id, not an endpoint.
    let mcp = path.trim_end_matches('/').ends_with("/mcp") && !path.starts_with("/v1/");
    let path = path.to_owned();
    let mut origin = None;
    let mut response = match readable(&request).and_then(|()| admit(&app, &request)) {
        _ if let Some(refusal) = framing::refusal(request.headers()) => refusal,
        Err(problem) => problems::response(&problem),
        Ok(allowed) => {
            origin = allowed;
            if let (true, Some(_)) = (is_preflight(&request), &origin) {
                preflight(mcp || is_public(&path))
            } else {
                let sender = Sender::new(&app, request.headers(), request.extensions());
                request.extensions_mut().insert(RequestId(id.clone()));
                request.extensions_mut().insert(sender.clone());
                let mut response = told(&app, &path, &sender, request, next, &id).await;
                if sender.is_spent() {
                    Cookie::Session.forget(&app, &mut response);
                }
                response
            }
        }
    };
    challenge::write(&app, &path, &mut response);
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(X_REQUEST_ID, value);
    }
    headers.entry(X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
    headers.entry(REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    if app.public_address().starts_with("https://") {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.append(VARY, HeaderValue::from_static("Origin"));
        let exposed = if mcp { "x-request-id, www-authenticate" } else { "x-request-id" };
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
    }
    reading.conclude(&mut response);
    response
}

/// Answers a request of a page or of a client with its origin told beside whatever is done for it. A caller of `/v1` and MCP
/// carries the origin itself.
async fn told(app: &App, path: &str, sender: &Sender, request: Request, next: Next, id: &str) -> Response {
    if is_for_callers(path) {
        return limited(app, sender, request, next, id).await;
    }
    let via = if path.starts_with("/oauth/") { Via::Oauth } else { Via::Studio };
    let origin = Arc::new(super::origin::origin(via, request.headers(), request.extensions()));
    ledger::for_request(origin, limited(app, sender, request, next, id)).await
}

/// Whether a path is of `/v1` or an MCP endpoint, where a bearer says who calls.
fn is_for_callers(path: &str) -> bool {
    path.starts_with("/v1/") || path.trim_end_matches('/').ends_with("/mcp")
}

/// Whether a request brings what its path takes for a credential and what may be looked at: a bearer, a client's own proof,
/// which may stand in the form, or a session. Anything else is as good as nothing.
fn brings_credential(app: &App, sender: &Sender, request: &Request) -> bool {
    let path = request.uri().path();
    let bearer = is_for_callers(path) || path == "/oauth/introspect";
    let session = || Cookie::Session.read(app, request.headers()).filter(|_| app.access.signs_in());
    matches!(path, "/oauth/token" | "/oauth/revoke")
        || (bearer && request.headers().contains_key(AUTHORIZATION))
        || session().is_some_and(|id| app.limits.before_look_up(sender.address, id).is_ok())
}

/// Counts requests without a good credential (`identity.md` 12): one that brings none is refused before anything is done,
/// one that brings something that nobody found good gets 429 in the place of its answer. Balancers ask how the server is
/// as often as they like.
async fn limited(app: &App, sender: &Sender, request: Request, next: Next, id: &str) -> Response {
    if matches!(request.uri().path(), "/health" | "/ready") {
        return guarded(next.run(request), id).await;
    }
    if !brings_credential(app, sender, &request) {
        return match app.limits.anonymous(sender.address) {
            Ok(()) => guarded(next.run(request), id).await,
            Err(problem) => problems::response(&problem),
        };
    }
    let response = guarded(next.run(request), id).await;
    if sender.is_known() || response.status() == StatusCode::TOO_MANY_REQUESTS {
        return response;
    }
    match app.limits.anonymous(sender.address) {
        Ok(()) => response,
        Err(problem) => problems::response(&problem),
    }
}

/// A panic is an incident like any other: logged, and told to the caller as one.
async fn guarded(answer: impl Future<Output = Response>, id: &str) -> Response {
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(response) => response,
        Err(_) => problems::response(&noted(Problem::internal("a handler panicked"), id)),
    }
}

/// The request's origin, where it has one and it is allowed.
fn admit(app: &App, request: &Request) -> Result<Option<HeaderValue>, Problem> {
    let headers = request.headers();
    if app.lifecycle.is_stopping() {
        return Err(Problem::unavailable("Playmaker is stopping. Send the request again shortly."));
    }
    // A target in absolute form names the host too (RFC 9112, section 3.2.2).
    let target_is_local = request.uri().authority().is_none_or(|authority| is_local(authority.as_str()));
    if app.access.is_local() && !(host_is_local(headers) && target_is_local) {
        return Err(Problem::new(
            Reason::OriginNotAllowed,
            "Without sign-in, Playmaker answers only requests to this machine's own names, such as localhost.",
        ));
    }
    let Some(origin) = headers.get(ORIGIN) else { return Ok(None) };
    if is_public(request.uri().path()) {
        return Ok(Some(HeaderValue::from_static("*")));
    }
    // A client's page may send its person here by a form (RFC 6749, section 3.1); no page may read the answer.
    if request.uri().path() == "/oauth/authorize" && !is_preflight(request) {
        return Ok(None);
    }
    if app.origin_allowed(origin.to_str().unwrap_or_default()) {
        return Ok(Some(origin.clone()));
    }
    Err(Problem::new(
        Reason::OriginNotAllowed,
        "A page of this origin may not call Playmaker. Whoever runs the server allows origins.",
    ))
}

/// Public facts and the endpoints browser clients sign in at: any page may call them, none with a cookie
/// (`identity.md` 4.1 and 7.1).
fn is_public(path: &str) -> bool {
    const ENDPOINTS: [&str; 5] =
        ["/oauth/client.json", "/oauth/jwks", "/oauth/token", "/oauth/register", "/oauth/revoke"];
    path.contains("/.well-known/oauth-") || ENDPOINTS.contains(&path)
}

/// A path that is no text leads nowhere.
fn readable(request: &Request) -> Result<(), Problem> {
    if percent_encoding::percent_decode_str(request.uri().path()).decode_utf8().is_err() {
        return Err(nothing());
    }
    Ok(())
}

/// Guards against inbound rebinding: in local mode only a loopback name may stand in `Host`.
fn host_is_local(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    host.to_str().is_ok_and(is_local)
}

fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inner, port)) if port.is_empty() || is_port(port.strip_prefix(':')) => return inner == "::1",
        Some(_) => return false,
        None => match host.split_once(':') {
            Some((name, port)) if is_port(Some(port)) => name,
            Some(_) => return false,
            None => host,
        },
    };
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1"
}

fn is_port(text: Option<&str>) -> bool {
    text.is_some_and(|port| port.parse::<u16>().is_ok())
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(mcp: bool) -> Response {
    let (methods, headers) =
        if mcp { ("POST, OPTIONS", MCP_HEADERS) } else { ("GET, HEAD, POST, PUT, DELETE", OPERATION_HEADERS) };
    let allow = [
        (ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(methods)),
        (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(headers)),
    ];
    (StatusCode::NO_CONTENT, allow).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_local_hosts() {
        let local = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_str(host).expect("a header"));
            host_is_local(&headers)
        };
        for good in ["localhost", "LOCALHOST:5555", "127.0.0.1:1", "[::1]", "[::1]:5555"] {
            assert!(local(good), "{good}");
        }
        for bad in
            ["", "example.test", "localhost.example.test", "127.0.0.2", "[::2]", "localhost:x", "[::1]x", "0.0.0.0"]
        {
            assert!(!local(bad), "{bad}");
        }
        assert!(!host_is_local(&HeaderMap::new()));
    }
}
