//! Back from a provider: `POST /v1/links/finish`, and `/connect/return`, the one address providers send people to
//! (`connections.md` 9.3).
//!
//! The address a browser comes back to holds a code and a state. Its page takes them out of the address at once and hands
//! them to `finish`: by script, or by a button where there is none.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{RawPathParams, RawQuery, Request, State};
use axum::response::Response;
use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::authentication::{AtLink, coming_back};
use super::cookies::Trip;
use super::entrance::RequestId;
use super::operation_routes::admitted;
use super::{Sender, body, same_origin, through};
use crate::app::App;
use crate::digest::sha256_hex;
use crate::error::{Problem, Reason, Result};
use crate::ledger::Via;
use crate::operations::links::finish::Finish;
use crate::operations::{Answer, Entry, Operation, admission, noted};
use crate::studio;
use crate::studio::approval::{Returned, returned as returned_page};

/// The parameters of an answer that are looked at (RFC 6749, section 4.1.2; RFC 9207).
const LOOKED_AT: [&str; 4] = ["state", "code", "iss", "error"];

/// What names the trip, in whatever else a body holds.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    state: Zeroizing<String>,
}

/// `finish` over its route, with the cookie that goes with it, whatever became of it.
pub(super) async fn answer(
    app: &Arc<App>,
    entry: &Entry,
    parameters: &RawPathParams,
    request: Request,
    sender: &Sender,
) -> (Result<Answer>, Option<HeaderValue>) {
    if let Err(problem) = app.limits.before_link(sender.address) {
        return (Err(problem), None);
    }
    let (parts, sent) = request.into_parts();
    let read = async {
        // Who is nobody here is told so before a body is read.
        coming_back(app, &parts.headers, None, sender).await?;
        same_origin(app, &parts.headers)?;
        body::read_body(&app.limits.bodies, sent).await
    };
    let bytes = match read.await {
        Ok(bytes) => bytes,
        Err(problem) => return (Err(problem), None),
    };
    let named: Named = serde_json::from_slice(&bytes).unwrap_or_default();
    let trip = Trip::of(app, &sha256_hex(named.state.as_bytes()));
    let given = parts.headers.get("x-playmaker-csrf").and_then(|given| given.to_str().ok()).unwrap_or_default();
    let done = async {
        let at = at_return(app, &parts.headers, &named.state, given, sender).await?;
        let mut context = admission::context(app.clone(), at.caller.clone(), false);
        context.caller = through(&at.caller, Via::Studio, &parts.headers, &parts.extensions);
        context.held = trip.read(&parts.headers).map(|held| Zeroizing::new(held.to_owned()));
        let caller = context.caller.clone();
        let done = admitted(app, entry, parameters, &parts, Body::from(bytes), context).await;
        done.inspect_err(|problem| app.refusals.note(&caller, entry.declaration.id, problem))
    };
    let done = done.await;
    let cookie = if named.state.is_empty() { None } else { trip.clear(app) };
    (done, cookie)
}

/// The person who brings a state back, with a token of their own page.
async fn at_return(app: &App, headers: &HeaderMap, state: &str, given: &str, sender: &Sender) -> Result<AtLink> {
    let began = app.connections.way_back(state).await?;
    if began.is_none() {
        app.limits.unknown_link(sender.address);
    }
    let at = coming_back(app, headers, began.as_ref(), sender).await?;
    let link = began.as_ref().and_then(|began| began.link.as_deref());
    match link {
        Some(link) if at.check(app, link, given).is_ok() => {}
        _ => at.check(app, "", given)?,
    }
    Ok(at)
}

/// `GET /connect/return`: has no effect by itself.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let fields = returned(query.unwrap_or_default().as_bytes());
    let problem = match coming_back(&app, &headers, None, &sender).await {
        Ok(at) if fields.iter().any(|(name, _)| *name == "state") => {
            return returned_page(&Returned { fields, csrf: at.csrf });
        }
        Ok(_) => {
            Problem::new(Reason::BadRequest, "What came back names no sign-in. Open the link of your agent again.")
        }
        Err(problem) if problem.reason() == Reason::Unauthenticated && app.access.signs_in() => {
            let words = "You are signed out here by now. Sign in, then open the link of your agent and start again.";
            Problem::new(Reason::Unauthenticated, words)
        }
        Err(problem) => problem,
    };
    studio::error_page(&noted(problem, &id.0))
}

/// `POST /connect/return`: the button of a browser without script.
pub(super) async fn form(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let mut state = Zeroizing::new(String::new());
    let done = async {
        app.limits.before_link(sender.address)?;
        coming_back(&app, &parts.headers, None, &sender).await?;
        same_origin(&app, &parts.headers)?;
        let bytes = body::read_body(&app.limits.bodies, sent).await?;
        let csrf = one(&bytes, "csrf").unwrap_or_default();
        let fields = returned(&bytes);
        state = Zeroizing::new(one(&bytes, "state").unwrap_or_default());
        let at = at_return(&app, &parts.headers, &state, &csrf, &sender).await?;
        let caller = through(&at.caller, Via::Studio, &parts.headers, &parts.extensions);
        let mut context = admission::context(app.clone(), caller.clone(), false);
        let trip = Trip::of(&app, &sha256_hex(state.as_bytes()));
        context.held = trip.read(&parts.headers).map(|held| Zeroizing::new(held.to_owned()));
        let entry = app.operations.iter().find(|entry| entry.declaration.id == Finish::DECLARATION.id);
        let entry = entry.ok_or_else(|| Problem::internal("a page's operation is not in the list"))?;
        let input: Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let done = entry.run(context, Value::Object(input)).await;
        done.inspect_err(|problem| app.refusals.note(&caller, entry.declaration.id, problem))
    };
    let answered = done.await;
    let mut response = match answered {
        Ok(answer) => {
            let output: Value = serde_json::from_str(answer.output.get()).unwrap_or_default();
            to_link(&output["link"])
        }
        // The page of the link tells what went wrong, in the words of its last attempt.
        Err(problem) => match problem.member("link") {
            Some(link) => to_link(link),
            None => studio::error_page(&noted(problem, &id.0)),
        },
    };
    if !state.is_empty() {
        let trip = Trip::of(&app, &sha256_hex(state.as_bytes()));
        response.headers_mut().extend(trip.clear(&app).map(|line| (SET_COOKIE, line)));
    }
    response
}

fn to_link(link: &Value) -> Response {
    studio::see_other(&format!("/connect/{}", link.as_str().unwrap_or_default()))
}

/// What came back; a parameter that is there twice counts as none, since two readers could take either.
fn returned(parameters: &[u8]) -> Vec<(&'static str, String)> {
    LOOKED_AT.into_iter().filter_map(|name| Some((name, one(parameters, name)?))).collect()
}

fn one(parameters: &[u8], name: &str) -> Option<String> {
    let mut found = url::form_urlencoded::parse(parameters).filter(|(given, _)| given == name);
    let first = found.next().map(|(_, value)| value.into_owned());
    first.filter(|_| found.next().is_none())
}
