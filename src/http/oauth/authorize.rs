//! `/oauth/authorize`: a client asks; the person is signed in, asked or not, and sent back (`identity.md` 7.2).

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;
use http::header::SET_COOKIE;
use http::request::Parts;

use super::answers::{form, leave, logged};
use super::consent::{barred_page, consent_page};
use super::person::{self, SignedIn};
use crate::app::App;
use crate::error::{Problem, Reason};
use crate::http::cookies::Cookie;
use crate::http::entrance::RequestId;
use crate::http::oauth_routes::server;
use crate::http::sign_in_routes::to_sign_in;
use crate::identity::oauth::authorize::{self, Astray, Prompt};
use crate::identity::oauth::client::Client;
use crate::identity::oauth::consent::Place;
use crate::identity::oauth::parameters::Parameters;
use crate::identity::oauth::refusal::{Code, Refusal};
use crate::identity::oauth::requests::{WAITS, Waiting};
use crate::operations::noted;
use crate::studio;

/// Where a browser comes back to after its person signed in; the request is found by its cookie.
const PATH: &str = "/oauth/authorize";

/// GET: a request in the query, or, without one, the request that waits in this browser.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let parameters = Parameters::of(request.uri().query().unwrap_or_default().as_bytes());
    let (parts, _) = request.into_parts();
    let answered = if parameters.is_empty() {
        resume(&app, &parts, &id.0).await
    } else {
        begin(&app, &parts, &parameters, &id.0).await
    };
    answered.unwrap_or_else(|problem| studio::error_page(&noted(problem, &id.0)))
}

/// POST: a request in a form.
pub(in crate::http) async fn post(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let answered = match form(&app, &parts.headers, body).await {
        Ok(parameters) => begin(&app, &parts, &parameters, &id.0).await,
        Err(refusal) => Err(Problem::new(Reason::BadRequest, refusal.words)),
    };
    answered.unwrap_or_else(|problem| studio::error_page(&noted(problem, &id.0)))
}

async fn begin(app: &Arc<App>, parts: &Parts, parameters: &Parameters, request_id: &str) -> Result<Response, Problem> {
    let server = server(app)?;
    let client_id = authorize::client_id(parameters).map_err(astray)?;
    let client = server.client(client_id).await?.ok_or_else(|| astray(Astray::Client))?;
    let redirect_uri = authorize::return_address(parameters, &client).map_err(astray)?;
    match authorize::read(parameters, &client, redirect_uri, server.issuer()) {
        Ok(asked) => {
            let waiting = server.create_request(asked).await?;
            go_on(app, parts, &client, waiting).await
        }
        Err(refusal) => {
            let address = authorize::refused(redirect_uri, authorize::state(parameters), &refusal, server.issuer());
            logged(refusal, request_id);
            Ok(leave(StatusCode::FOUND, &address))
        }
    }
}

async fn resume(app: &Arc<App>, parts: &Parts, request_id: &str) -> Result<Response, Problem> {
    let server = server(app)?;
    let waiting = match Cookie::Request.read(app, &parts.headers) {
        Some(id) => server.find_request(id).await?,
        None => None,
    };
    let mut waiting = waiting.ok_or_else(nothing_waits)?;
    // Always asked here: a browser that comes from the form of the sign-in follows no redirect to another host (CSP level
    // 3, `form-action`), so that what was allowed before could not be answered unseen.
    waiting.asked.prompt = Prompt::Consent;
    let client = client_of(app, &waiting).await?;
    tracing::debug!(request.id = request_id, client.id = %client.id, "an authorization goes on after sign-in");
    go_on(app, parts, &client, waiting).await
}

/// The client of a request that waits; it may have changed since it asked.
pub(super) async fn client_of(app: &App, waiting: &Waiting) -> Result<Client, Problem> {
    let client = server(app)?.client(&waiting.asked.client).await?;
    client.filter(|client| client.returns_to(&waiting.asked.redirect_uri)).ok_or_else(|| astray(Astray::Client))
}

async fn go_on(app: &Arc<App>, parts: &Parts, client: &Client, waiting: Waiting) -> Result<Response, Problem> {
    let server = server(app)?;
    let quiet = waiting.asked.prompt == Prompt::None;
    let unasked = || {
        let refusal = Refusal::new(Code::ConsentRequired, "The person has to be asked");
        Ok(leave(StatusCode::FOUND, &waiting.asked.refused(&refusal, server.issuer())))
    };
    let Some(person) = person::signed_in(app, parts).await? else {
        return if quiet { unasked() } else { Ok(remembering(app, to_sign_in(app, PATH), &waiting.id)) };
    };
    let places = places(&person, &waiting, server.issuer());
    if waiting.asked.prompt != Prompt::Consent
        && let Some(decision) = server.remembered(&person.who.person, client, &waiting.asked, &places).await?
    {
        let code = server.allow_again(&waiting, client, &person.who, &decision).await?.ok_or_else(nothing_waits)?;
        return Ok(leave(StatusCode::FOUND, &waiting.asked.answered(&code, server.issuer())));
    }
    if quiet {
        return unasked();
    }
    let page = if places.is_empty() {
        barred_page(app, client, &person, &waiting)?
    } else {
        consent_page(app, client, &person, &places, &waiting).await?
    };
    Ok(remembering(app, page, &waiting.id))
}

/// The orgs the person can allow it in: the one of the resource, or all of theirs.
pub(super) fn places(person: &SignedIn, waiting: &Waiting, public_url: &str) -> Vec<Place> {
    let fixed = waiting.asked.fixed_org(public_url);
    let fits = |place: &&Place| fixed.as_ref().is_none_or(|org| *org == place.org);
    person.places.iter().filter(fits).cloned().collect()
}

/// A fault before anybody may be sent anywhere: a page of ours, and nothing else (security case 36).
fn astray(why: Astray) -> Problem {
    let words = match why {
        Astray::Client => {
            "The application that sent you here is not known to this server, so you were not sent back to it. Connect it again."
        }
        Astray::Address => {
            "The application asked to return to an address it has not registered, so you were not sent there. Connect it again."
        }
    };
    Problem::new(Reason::BadRequest, words)
}

/// A page for whoever comes without a request, or too late.
pub(super) fn nothing_waits() -> Problem {
    Problem::new(
        Reason::BadRequest,
        "No application waits for an answer here: it was answered already, or more than a quarter of an hour ago. Begin again there.",
    )
}

/// The same answer, with the cookie by which the request is found again.
fn remembering(app: &App, mut response: Response, id: &str) -> Response {
    let age_s = i64::try_from(WAITS.as_secs()).unwrap_or_default();
    response.headers_mut().extend(Cookie::Request.set(app, id, Some(age_s)).map(|cookie| (SET_COOKIE, cookie)));
    response
}
