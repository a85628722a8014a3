//! Studio's pages: loading what a page shows, and the forms of a browser without script.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, RawPathParams, Request, State};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use http::HeaderMap;
use http::header::{ACCEPT, SET_COOKIE};
use serde_json::{Map, Value, json};

use super::authentication::{AtLink, opening};
use super::cookies::Trip;
use super::entrance::RequestId;
use super::problems::nothing;
use super::{Sender, Session, body, org_routes, problems, returning, same_origin, sign_in_routes, studio_session};
use crate::app::App;
use crate::config::{CredentialKind, Permission};
use crate::error::{Problem, Reason, Result};
use crate::identity::Caller;
use crate::ledger::Via;
use crate::operations::links::{approve, cancel, give_credential, read_link, start};
use crate::operations::{Answer, Context, Entry, Operation, admission, noted};
use crate::studio::approval::{Asked, Asking, Away, Connected, Field, LinkView, Way, Wish};
use crate::studio::docs::{DocsView, Proof};
use crate::studio::home::{Access, ConnectionLine, HomeView};
use crate::studio::{self, Frame, FrameOrg, Host, HttpsLink, Text};

/// The pages and what they load.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(home).fallback(unknown))
        .route("/docs", get(docs).fallback(|| super::only("GET, HEAD")))
        .route("/favicon.ico", get(favicon).fallback(|| super::only("GET, HEAD")))
        .route("/static/{name}", get(asset).fallback(|| super::only("GET, HEAD")))
        .route(
            "/connect/return",
            get(returning::page).post(returning::form).fallback(|| super::only("GET, HEAD, POST")),
        )
        .route("/connect/{link}", get(link_page).fallback(|| super::only("GET, HEAD")))
        .route("/connect/{link}/{command}", get(back_to_link).post(form).fallback(|| super::only("GET, HEAD, POST")))
}

async fn unknown() -> Response {
    problems::response(&nothing())
}

/// How to connect, for anybody; it tells nothing that the metadata does not.
async fn docs(State(app): State<Arc<App>>) -> Response {
    let proof = match app.access.local_caller() {
        Some(_) => Proof::Nothing,
        None if app.access.signs_in() => Proof::SignIn,
        None => Proof::Key,
    };
    let permissions = Permission::EVERY.map(Permission::word).to_vec();
    studio::docs::docs(&DocsView { address: Text::new(app.public_address()), proof, permissions })
}

/// Where browsers look for an icon when what they show names none, such as JSON.
async fn favicon() -> Response {
    studio::see_other(studio::asset_url("mark.svg"))
}

async fn asset(Path(name): Path<String>) -> Response {
    studio::asset_response(&name).unwrap_or_else(|| problems::response(&Problem::not_found("There is no such file.")))
}

/// `GET /` for a browser; for anything else it is a path like any unknown one.
async fn home(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    let wants_html =
        headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|a| a.contains("text/html"));
    if !wants_html {
        return unknown().await;
    }
    let shown = async {
        let (frame, makes_org) = match studio_session(&app, &headers, &sender).await? {
            Some(session) => {
                (Some(frame(&app, &session, None).await?), org_routes::may_make(&app, &session.person).await?)
            }
            None => (None, false),
        };
        Ok::<_, Problem>(HomeView {
            address: Text::new(app.public_address()),
            access: access(&app, &frame).await?,
            frame,
            makes_org,
        })
    };
    match shown.await {
        Ok(view) => studio::home(&view),
        Err(problem) => studio::error_page(&noted(problem, &id.0)),
    }
}

async fn access(app: &Arc<App>, frame: &Option<Frame>) -> Result<Access> {
    Ok(match app.access.local_caller() {
        Some(caller) => Access::Local { developer: Text::new(caller.name()), connections: lines(app, &caller).await? },
        None if frame.is_some() => Access::SignedIn,
        None if app.access.signs_in() => {
            let empty = app.settings.identity.is_none() && !app.identity.has_people().await?;
            Access::SignIn { empty }
        }
        None if app.access.is_closed() => Access::Closed,
        None => Access::Keys,
    })
}

/// The bar around the pages of somebody who signed in; `org` is the one the page is about.
pub(super) async fn frame(app: &App, session: &Session, org: Option<&str>) -> Result<Frame> {
    let person = app.identity.person(&session.person).await?;
    let mut orgs = Vec::new();
    for membership in app.identity.memberships_of(&session.person).await? {
        if !session.kept.is_for(&membership.org) {
            continue;
        }
        let Some(found) = app.identity.org(&membership.org).await? else { continue };
        orgs.push(FrameOrg {
            id: Text::new(&found.id),
            name: Text::new(&found.name),
            role: membership.role.word(),
            pages: org_routes::pages(&found.id, membership.role),
        });
    }
    let person = Text::new(person.map(|person| person.name).unwrap_or_default());
    Ok(Frame { person, orgs, org: org.map(Text::new), csrf: session.csrf.clone() })
}

async fn lines(app: &Arc<App>, caller: &Caller) -> Result<Vec<ConnectionLine>> {
    let mut lines = Vec::new();
    for record in app.connections.living(&caller.org).await? {
        let because = app.connections.because(&record).await;
        lines.push(ConnectionLine {
            name: Text::new(&record.name),
            title: Text::new(&record.title),
            host: Host::of(record.entry.url.as_deref().unwrap_or_default()),
            status: Text::new(record.status.word()),
            because: because.as_ref().map(|(because, _)| Text::new(because.word())),
            detail: because.map(|(_, words)| Text::new(words)),
        });
    }
    Ok(lines)
}

/// The page a link opens; looking changes nothing.
async fn link_page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    Path(link): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Err(problem) = app.limits.before_link(sender.address) {
        return studio::error_page(&problem);
    }
    let shown = async {
        if !is_link(&link) || !(app.access.is_local() || app.access.signs_in()) {
            return Ok(LinkView::Unknown);
        }
        let at = opening(&app, &headers, &link, &sender).await?;
        at.reads(&app)?;
        view(&app, &at, &link).await
    };
    let view = shown.await;
    if matches!(view, Ok(LinkView::Unknown)) {
        app.limits.unknown_link(sender.address);
    }
    match view {
        Ok(view) => studio::connect(&view),
        Err(problem) if problem.reason() == Reason::Unauthenticated => {
            sign_in_routes::to_sign_in(&app, &format!("/connect/{link}"))
        }
        Err(problem) => studio::error_page(&noted(problem, &id.0)),
    }
}

/// What a link looks like; nothing else is looked up or put into an address.
fn is_link(text: &str) -> bool {
    text.strip_prefix("link_").is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// A refused form leaves its own address behind; loading that again shows the link.
async fn back_to_link(Path((link, _)): Path<(String, String)>) -> Response {
    if !is_link(&link) {
        return studio::connect(&LinkView::Unknown);
    }
    studio::see_other(&format!("/connect/{link}"))
}

/// A form of a browser without script: the same operation as its route under `/v1/links`, answered with a page.
async fn form(State(app): State<Arc<App>>, parameters: RawPathParams, request: Request) -> Response {
    let id = request.extensions().get::<RequestId>().map_or_else(|| Arc::from(""), |id| id.0.clone());
    let named = |name: &str| parameters.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value).to_owned();
    let (link, command) = (named("link"), named("command"));
    let sender = Sender::of(request.extensions());
    if let Err(problem) = app.limits.before_link(sender.address) {
        return studio::error_page(&problem);
    }
    if !is_link(&link) {
        app.limits.unknown_link(sender.address);
        return studio::connect(&LinkView::Unknown);
    }
    let (parts, sent) = request.into_parts();
    let at = match opening(&app, &parts.headers, &link, &sender).await {
        Ok(at) => at,
        Err(problem) if problem.reason() == Reason::Unauthenticated && app.access.signs_in() => {
            return sign_in_routes::to_sign_in(&app, &format!("/connect/{link}"));
        }
        Err(problem) => return studio::error_page(&noted(problem, &id)),
    };
    let done = async {
        same_origin(&app, &parts.headers)?;
        let fields = fields(&body::read_body(&app.limits.bodies, sent).await?);
        at.check(&app, &link, fields.get("csrf").and_then(Value::as_str).unwrap_or_default())?;
        let caller = super::through(&at.caller, Via::Studio, &parts.headers, &parts.extensions);
        let context = admission::context(app.clone(), caller, false);
        run(context, &link, &command, fields).await
    };
    let problem = match done.await {
        Ok(Answer { browser_keeps: Some(kept), output, .. }) => {
            let started: Value = serde_json::from_str(output.get()).unwrap_or_default();
            let mut response = studio::approval::leaving(started["authorize_url"].as_str().unwrap_or_default());
            let cookie = Trip::of(&app, &kept.of).set(&app, &kept.value, kept.for_s);
            response.headers_mut().extend(cookie.map(|line| (SET_COOKIE, line)));
            return response;
        }
        Ok(_) => return studio::see_other(&format!("/connect/{link}")),
        Err(problem) => noted(problem, &id),
    };
    if problem.reason() == Reason::NotFound {
        app.limits.unknown_link(sender.address);
    }
    match view(&app, &at, &link).await {
        Ok(LinkView::Ready(asking) | LinkView::ProviderError(asking)) => studio::connect_refused(&asking, &problem),
        Ok(LinkView::Started(away)) => studio::connect_refused(&away.asking, &problem),
        Ok(_) if problem.reason() == Reason::NotFound => studio::see_other(&format!("/connect/{link}")),
        _ => studio::error_page(&problem),
    }
}

/// The fields of a form: `value`, and `values.<name>` as members of `values`.
fn fields(bytes: &Bytes) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, text) in url::form_urlencoded::parse(bytes) {
        match name.strip_prefix("values.") {
            Some(inner) => {
                // A field called just `values` is no place for others; the schema then refuses it.
                if let Value::Object(values) = fields.entry("values").or_insert_with(|| json!({})) {
                    values.insert(inner.to_owned(), text.as_ref().into());
                }
            }
            None => {
                fields.insert(name.into_owned(), text.as_ref().into());
            }
        }
    }
    fields
}

async fn run(context: Context, link: &str, command: &str, mut fields: Map<String, Value>) -> Result<Answer> {
    fields.remove("csrf");
    if fields.insert("link".into(), link.into()).is_some() {
        return Err(Problem::invalid("/link", "is not a field of this form"));
    }
    let id = match command {
        "approve" => approve::Approve::DECLARATION.id,
        "credential" => give_credential::GiveCredential::DECLARATION.id,
        "start" => start::Start::DECLARATION.id,
        "cancel" => cancel::Cancel::DECLARATION.id,
        _ => return Err(nothing()),
    };
    let app = context.app.clone();
    let entry: Option<&Entry> = app.operations.iter().find(|entry| entry.declaration.id == id);
    let entry = entry.ok_or_else(|| Problem::internal("a page's operation is not in the list"))?;
    entry.run(context, Value::Object(fields)).await
}

/// What `read_link` answers, as the page shows it.
async fn view(app: &Arc<App>, at: &AtLink, link: &str) -> Result<LinkView> {
    let mut context = admission::context(app.clone(), at.caller.clone(), false);
    context.csrf = Some(at.csrf.clone());
    let read = read_link::ReadLink::run(context, read_link::Input { link: link.to_owned() }).await;
    let output = match read {
        Ok(output) => output,
        Err(problem) if problem.reason() == Reason::NotFound => return Ok(LinkView::Unknown),
        Err(problem) => return Err(problem),
    };
    let title = Text::new(output.connection.as_ref().map_or("", |shown| shown.title.as_str()));
    Ok(match output.state {
        "other_person" => {
            LinkView::OtherPerson { adder: Text::new(&output.adder), signed_in_as: Text::new(&output.signed_in_as) }
        }
        "connected" => LinkView::Connected(connected(&output)),
        "expired" => LinkView::Expired { title, refused: ended_early(app, &output) },
        "cancelled" => LinkView::Cancelled { title },
        "removed" => LinkView::Removed { title },
        "not_allowed" => LinkView::NotAllowed { link: link.to_owned(), csrf: output.csrf.unwrap_or_default(), title },
        "provider_error" => LinkView::ProviderError(Box::new(asking(app, link, output))),
        "started" => {
            let started_at = output.attempt.as_ref().and_then(|attempt| attempt.started_at.clone());
            let started_at_ms = started_at.as_deref().and_then(crate::clock::parse_iso).unwrap_or_default();
            LinkView::Started(Box::new(Away { started_at_ms, asking: asking(app, link, output) }))
        }
        _ => LinkView::Ready(Box::new(asking(app, link, output))),
    })
}

/// Whether a link ended before its ten minutes were over: then the credentials it refused ended it.
fn ended_early(app: &App, output: &read_link::Output) -> bool {
    let expires_at = output.expires_at.as_deref().and_then(crate::clock::parse_iso);
    expires_at.is_some_and(|expires_at| app.clock.now_ms() < expires_at)
}

fn connected(output: &read_link::Output) -> Connected {
    let shown = output.connection.as_ref();
    Connected {
        title: Text::new(shown.map_or("", |shown| shown.title.as_str())),
        name: Text::new(shown.map_or("", |shown| shown.name.as_str())),
        host: Host::of(shown.map_or("", |shown| shown.address.as_str())),
        org: Text::new(output.org.as_deref().unwrap_or_default()),
        account: shown.and_then(|shown| shown.account.as_deref()).map(Text::new),
        warning: None,
    }
}

fn asking(app: &App, link: &str, output: read_link::Output) -> Asking {
    let shown = output.connection.as_ref();
    let text = |of: fn(&read_link::Shown) -> &str| Text::new(shown.map_or("", of));
    let texts = |words: &[String]| words.iter().map(Text::new).collect::<Vec<_>>();
    let expires_at = output.expires_at.as_deref().and_then(crate::clock::parse_iso);
    Asking {
        link: link.to_owned(),
        adder: Text::new(&output.adder),
        org: Text::new(output.org.as_deref().unwrap_or_default()),
        connection: Asked {
            name: text(|shown| &shown.name),
            title: text(|shown| &shown.title),
            host: Host::of(shown.map_or("", |shown| shown.address.as_str())),
            playbooks: shown.and_then(|shown| shown.playbooks.as_deref()).map(texts).unwrap_or_default(),
            allowed: shown.and_then(|shown| shown.allowed.as_deref()).map(texts),
        },
        way: way(output.way.as_ref()),
        expires_at_ms: expires_at.unwrap_or_default(),
        now_ms: app.clock.now_ms(),
        last_error: output.attempt.and_then(|attempt| attempt.last_error).map(|error| Text::new(error.words)),
        csrf: output.csrf.unwrap_or_default(),
    }
}

fn way(way: Option<&read_link::ShownWay>) -> Way {
    let Some(way) = way else { return Way::Open };
    match way.kind {
        Some(CredentialKind::Secret) => Way::Secret {
            fields: way
                .fields
                .iter()
                .map(|field| match field.name.as_str() {
                    "value" => Field::only(field.title.as_str()),
                    name => Field::one_of(name, field.title.as_str(), field.secret),
                })
                .collect(),
            help: way.help.as_deref().and_then(HttpsLink::new),
        },
        Some(CredentialKind::Authorization) => Way::SignIn {
            wishes: way
                .scopes
                .iter()
                .map(|scope| Wish { words: Text::new(&scope.words), scope: Text::new(&scope.scope) })
                .collect(),
            help: way.help.as_deref().and_then(HttpsLink::new),
        },
        Some(CredentialKind::Reference) => {
            Way::Reference { variable: Text::new(way.variable.as_deref().unwrap_or_default()) }
        }
        _ => Way::Open,
    }
}
