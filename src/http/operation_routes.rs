//! The routes of operations: one input object from path, query and body, the checks in their order, the answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawPathParams, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value};

use super::authentication::{api_caller, at_link};
use super::body::{check_media_type, read_body};
use super::cookies::Trip;
use super::entrance::RequestId;
use super::{Sender, method_not_allowed, problems, returning, through};
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::guides;
use crate::identity::Caller;
use crate::json::{self, Fault};
use crate::ledger::Via;
use crate::operations::{Answer, Context, Entry, Lines, Method, Scope, admission, noted};

/// The deepest an input may nest.
const DEEPEST: usize = crate::mcp::MAX_DEPTH;

/// A route for each operation.
pub(super) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let mut paths: BTreeMap<String, Vec<(usize, Method)>> = BTreeMap::new();
    for (index, entry) in app.operations.iter().enumerate() {
        paths.entry(entry.declaration.route()).or_default().push((index, entry.declaration.method));
    }
    let mut router = Router::new();
    for (path, methods) in paths {
        let mut allow: Vec<&str> = methods.iter().map(|(_, method)| method.word()).collect();
        if allow.contains(&"GET") {
            allow.push("HEAD");
        }
        let allow: &'static str = allow.join(", ").leak();
        let mut route: MethodRouter<Arc<App>> = MethodRouter::new();
        for (index, method) in methods {
            let handler = move |State(app): State<Arc<App>>, parameters: RawPathParams, request: Request| async move {
                serve(&app, index, &parameters, request).await
            };
            route = route.on(filter(method), handler);
        }
        route = route.fallback(move || async move { problems::response(&method_not_allowed(allow)) });
        router = router.route(&path, route);
    }
    router
}

const fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Delete => MethodFilter::DELETE,
    }
}

async fn serve(app: &Arc<App>, index: usize, parameters: &RawPathParams, request: Request) -> Response {
    let id = request.extensions().get::<RequestId>().map_or_else(|| Arc::from(""), |id| id.0.clone());
    let Some(entry) = app.operations.iter().nth(index) else {
        return problems::response(&Problem::internal("an operation left the list"));
    };
    let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).map(str::to_owned);
    let sender = Sender::of(request.extensions());
    let (answered, cookie) = match entry.declaration.scope {
        Scope::Link if named(parameters, "link").is_none() => {
            returning::answer(app, entry, parameters, request, &sender).await
        }
        Scope::Link => (of_link(app, entry, parameters, request, &sender).await, None),
        _ => (answer(app, entry, parameters, request, &sender).await, None),
    };
    let kept = answered.as_ref().ok().and_then(|answer| answer.browser_keeps.as_ref());
    let kept = kept.and_then(|kept| Trip::of(app, &kept.of).set(app, &kept.value, kept.for_s));
    let mut response = match answered.map_err(|problem| problem.scopes(&admission::scopes(entry))) {
        Ok(Answer { markdown: Some(text), .. }) if guides::prefers_markdown(accept.as_deref()) => markdown(text),
        Ok(Answer { lines: Some(lines), .. }) => streamed(lines),
        Ok(answer) => success(entry, answer),
        Err(problem) => problems::response(&noted(problem, &id)),
    };
    response.headers_mut().extend(kept.or(cookie).map(|line| (SET_COOKIE, line)));
    response
}

/// The operation of a link; unknown ones are counted, so that nobody guesses on.
async fn of_link(
    app: &Arc<App>,
    entry: &Entry,
    parameters: &RawPathParams,
    request: Request,
    sender: &Sender,
) -> Result<Answer> {
    app.limits.before_link(sender.address)?;
    let answered = answer(app, entry, parameters, request, sender).await;
    if answered.as_ref().is_err_and(|problem| problem.reason() == Reason::NotFound) {
        app.limits.unknown_link(sender.address);
    }
    answered
}

async fn answer(
    app: &Arc<App>,
    entry: &Entry,
    parameters: &RawPathParams,
    request: Request,
    sender: &Sender,
) -> Result<Answer> {
    let (parts, body) = request.into_parts();
    let (caller, csrf) = caller(app, entry, parameters, &parts, sender).await?;
    let mut context = admission::context(app.clone(), caller.clone(), false);
    context.csrf = csrf;
    let done = admitted(app, entry, parameters, &parts, body, context).await;
    done.inspect_err(|problem| app.refusals.note(&caller, entry.declaration.id, problem))
}

/// Who sends the request: the person at the page of a link, with the token of what they do there; else whoever the
/// credential or the session proves.
async fn caller(
    app: &Arc<App>,
    entry: &Entry,
    parameters: &RawPathParams,
    parts: &Parts,
    sender: &Sender,
) -> Result<(Arc<Caller>, Option<String>)> {
    let (caller, csrf) = if entry.declaration.scope == Scope::Link {
        let at = at_link(app, parts, named(parameters, "link").unwrap_or_default(), sender).await?;
        (at.caller, Some(at.csrf))
    } else {
        let caller = api_caller(app, parts, named(parameters, "org"), sender).await;
        (caller.map_err(|problem| admission::asking(entry, problem))?, None)
    };
    let via = if entry.declaration.scope == Scope::Link || caller.is_in_browser() { Via::Studio } else { Via::Http };
    Ok((through(&caller, via, &parts.headers, &parts.extensions), csrf))
}

pub(super) async fn admitted(
    app: &Arc<App>,
    entry: &Entry,
    parameters: &RawPathParams,
    parts: &Parts,
    body: axum::body::Body,
    mut context: Context,
) -> Result<Answer> {
    let mut path: Map<String, Value> =
        parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned().into())).collect();
    if let Some(org) = path.remove("org") {
        admission::org(&context.caller, org.as_str().unwrap_or_default())?;
    }
    admission::permission(entry, &context.caller)?;
    admission::pace(app, entry, &context.caller)?;
    if entry.declaration.scope == Scope::Playbook {
        let playbook = path.remove("playbook").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
        admission::playbook(entry, &mut context, &playbook).await?;
    }
    admission::path_playbook(&context, &path)?;
    let mut input = path;
    let given = if entry.declaration.method == Method::Get {
        query(entry, parts.uri.query())?
    } else {
        if parts.uri.query().is_some() {
            return Err(Problem::new(
                Reason::BadRequest,
                "A command takes no query string; its fields go in the body.",
            ));
        }
        command_body(app, entry, &parts.headers, body).await?
    };
    for (field, value) in given {
        if input.contains_key(&field) {
            return Err(Problem::new(
                Reason::BadRequest,
                format!("The field {field} is given twice, in the path and beside it."),
            ));
        }
        input.insert(field, value);
    }
    idempotency_key(entry, &parts.headers, &mut input)?;
    admission::org_playbook(entry, &context, &input)?;
    entry.run(context, Value::Object(input)).await
}

fn named<'a>(parameters: &'a RawPathParams, name: &str) -> Option<&'a str> {
    parameters.iter().find(|(given, _)| *given == name).map(|(_, value)| value)
}

/// The fields of a query string: texts, but for what the schema declares as boolean or number.
fn query(entry: &Entry, query: Option<&str>) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (name, text) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let value = match entry.input.field_type(&name) {
            Some("boolean") => text.parse::<bool>().map_or_else(|_| text.as_ref().into(), Value::from),
            Some("integer") => text.parse::<i64>().map_or_else(|_| text.as_ref().into(), Value::from),
            _ => text.as_ref().into(),
        };
        if fields.insert(name.clone().into_owned(), value).is_some() {
            return Err(Problem::new(
                Reason::BadRequest,
                format!("The field {name} is given twice in the query string."),
            ));
        }
    }
    Ok(fields)
}

async fn command_body(
    app: &App,
    entry: &Entry,
    headers: &http::HeaderMap,
    body: axum::body::Body,
) -> Result<Map<String, Value>> {
    if entry.declaration.method == Method::Delete {
        let bytes = read_body(&app.limits.bodies, body).await?;
        return if bytes.is_empty() {
            Ok(Map::new())
        } else {
            Err(Problem::new(Reason::BadRequest, "This takes no body."))
        };
    }
    let length_is_zero = headers.get(http::header::CONTENT_LENGTH).is_some_and(|length| length == "0");
    let has_body = !length_is_zero
        && (headers.contains_key(http::header::CONTENT_LENGTH)
            || headers.contains_key(http::header::TRANSFER_ENCODING));
    if !has_body && !headers.contains_key(CONTENT_TYPE) {
        return Ok(Map::new());
    }
    check_media_type(headers)?;
    let bytes = read_body(&app.limits.bodies, body).await?;
    let not_an_object = || Problem::new(Reason::BadRequest, "The body must be one JSON object in UTF-8.");
    let text = std::str::from_utf8(&bytes).map_err(|_| not_an_object())?;
    // A member given twice counts in the body itself, where each is a field.
    let parsed = json::read(text, DEEPEST, |path: &[&str]| path.is_empty()).map_err(|fault| match fault {
        Fault::Depth => Problem::invalid("", "is nested too deeply to be read"),
        Fault::Syntax => not_an_object(),
    })?;
    match (parsed.value, parsed.repeated) {
        (_, Some(field)) => {
            let field: String = field.chars().take(64).collect();
            Err(Problem::new(Reason::BadRequest, format!("The field {field} is given twice in the body.")))
        }
        (Value::Object(fields), None) => Ok(fields),
        _ => Err(not_an_object()),
    }
}

/// `Idempotency-Key` is the header form of an `idempotency_key` field, where the operation has one.
fn idempotency_key(entry: &Entry, headers: &http::HeaderMap, input: &mut Map<String, Value>) -> Result<()> {
    const FIELD: &str = "idempotency_key";
    let Some(value) = headers.get("idempotency-key") else { return Ok(()) };
    if entry.input.field_type(FIELD).is_none() {
        return Ok(());
    }
    let text = value
        .to_str()
        .map_err(|_| Problem::invalid("/idempotency_key", "must be 1 to 128 visible ASCII characters"))?;
    if input.insert(FIELD.into(), text.into()).is_some() {
        return Err(Problem::new(
            Reason::BadRequest,
            "The idempotency key is given twice, as a header and in the body.",
        ));
    }
    Ok(())
}

fn markdown(text: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/markdown; charset=utf-8")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, text).into_response()
}

/// Lines as they come; one that fails cuts the answer short, which its reader sees by the missing end.
fn streamed(lines: Lines) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/jsonl")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, axum::body::Body::from_stream(lines)).into_response()
}

fn success(entry: &Entry, answer: Answer) -> Response {
    let status = StatusCode::from_u16(entry.declaration.success).unwrap_or(StatusCode::OK);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let text: Box<str> = answer.output.into();
    (status, headers, String::from(text)).into_response()
}
