//! `/invitations`: where the link of an invitation leads (`identity.md` 1.3). Its code stands in the fragment, which no
//! browser sends; the page's script posts it, or a person does. Looking changes nothing: accepting is a step of its own.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::{Extensions, HeaderMap};
use serde_json::json;

use super::pages::{minute, refused};
use super::problems::nothing;
use super::sign_in_routes::{Fields, checked, to_sign_in};
use super::{RequestId, Sender, Session, only, page_routes, studio_session, through};
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::identity::invitations::accepting::no_good;
use crate::identity::invitations::{self, Invitation};
use crate::identity::{Person, Playbooks};
use crate::ledger::Via;
use crate::operations::invitations::accept_invitation::AcceptInvitation;
use crate::operations::{admission, noted, perform};
use crate::studio::invitation::{InvitationView, Who, invitation};
use crate::studio::{self, FormView, Input, Response, Text};

const AT: &str = "/invitations";

/// The pages of an invitation.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(AT, get(page).post(look).fallback(|| only("GET, HEAD, POST")))
        .route("/invitations/sign-in", post(sign_in).fallback(|| only("POST")))
        .route("/invitations/accept", post(accept).fallback(|| only("POST")))
}

/// `GET /invitations`.
async fn page(State(app): State<Arc<App>>) -> Response {
    if app.access.signs_in() { studio::form(&view("")) } else { studio::error_page(&nothing()) }
}

/// `POST /invitations`: what the invitation of a code is.
async fn look(State(app): State<Arc<App>>, Extension(id): Extension<RequestId>, request: Request) -> Response {
    let sender = Sender::of(request.extensions());
    let (parts, sent) = request.into_parts();
    let fields = match read(&app, &parts.headers, sent, &sender).await {
        Ok(fields) => fields,
        Err(problem) => return studio::error_page(&noted(problem, &id.0)),
    };
    let code = fields.code("code");
    let found = async {
        let found = app.identity.invitation_of_code(code).await?;
        if found.is_none() {
            app.limits.unknown_link(sender.address);
        }
        shown(&app, &parts.headers, &sender, found.ok_or_else(no_good)?, code).await
    };
    match found.await {
        Ok(view) => invitation(&view),
        Err(problem) => studio::form_refused(view(""), &noted(problem, &id.0)),
    }
}

/// `POST /invitations/sign-in`: to the page of sign-in, and from there back to the invitation, its code in the fragment.
async fn sign_in(State(app): State<Arc<App>>, Extension(id): Extension<RequestId>, request: Request) -> Response {
    let sender = Sender::of(request.extensions());
    let (parts, sent) = request.into_parts();
    match read(&app, &parts.headers, sent, &sender).await {
        Ok(fields) => to_sign_in(&app, &back(fields.code("code"))),
        Err(problem) => studio::error_page(&noted(problem, &id.0)),
    }
}

/// `POST /invitations/accept`.
async fn accept(State(app): State<Arc<App>>, Extension(id): Extension<RequestId>, request: Request) -> Response {
    let sender = Sender::of(request.extensions());
    let (parts, sent) = request.into_parts();
    let session = match studio_session(&app, &parts.headers, &sender).await {
        Ok(Some(session)) => session,
        Ok(None) => {
            let fields = read(&app, &parts.headers, sent, &sender).await;
            let path = fields.map_or_else(|_| AT.to_owned(), |fields| back(fields.code("code")));
            let away = Problem::new(Reason::Unauthenticated, "Sign in to accept the invitation.");
            return refused(&app, &path, away, &id.0);
        }
        Err(problem) => return studio::error_page(&noted(problem, &id.0)),
    };
    let done = async {
        sender.set_known();
        let fields = checked(&app, &parts.headers, sent, &session).await?;
        join(&app, &session, fields.code("code"), &parts.headers, &parts.extensions).await
    };
    match done.await {
        Ok(()) => studio::see_other("/"),
        Err(problem) if problem.reason() == Reason::OriginNotAllowed => studio::error_page(&noted(problem, &id.0)),
        Err(problem) => studio::form_refused(view(""), &noted(problem, &id.0)),
    }
}

async fn read(app: &App, headers: &HeaderMap, sent: axum::body::Body, sender: &Sender) -> Result<Fields> {
    if !app.access.signs_in() {
        return Err(nothing());
    }
    app.limits.before_link(sender.address)?;
    Fields::read(app, headers, sent).await
}

async fn join(
    app: &Arc<App>,
    session: &Session,
    code: &str,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<()> {
    let at = Some(session.auth_time_ms);
    let caller = app.identity.acting_nowhere(&session.person, at).await?.ok_or_else(no_good)?;
    let caller = through(&caller, Via::Studio, headers, extensions);
    let context = admission::context(app.clone(), caller, false);
    perform::<AcceptInvitation>(context, json!({ "code": code })).await.map(|_| ())
}

/// The address that leads back to an invitation.
fn back(code: &str) -> String {
    if invitations::is_code(code) { format!("{AT}#{code}") } else { AT.to_owned() }
}

async fn shown(
    app: &App,
    headers: &HeaderMap,
    sender: &Sender,
    found: Invitation,
    code: &str,
) -> Result<InvitationView> {
    let session = studio_session(app, headers, sender).await?;
    let (frame, who) = match &session {
        Some(session) => {
            sender.set_known();
            let person = app.identity.person(&session.person).await?;
            (Some(page_routes::frame(app, session, None).await?), known(&found, person))
        }
        None => (None, Who::Stranger { makes_account: app.settings.identity.is_none() }),
    };
    let name = app.identity.org(&found.org).await?.map(|org| org.name);
    Ok(InvitationView {
        frame,
        org: Text::new(name.as_deref().unwrap_or(&found.org)),
        id: Text::new(&found.org),
        role: found.role.word(),
        playbooks: match &found.playbooks {
            Playbooks::All => None,
            Playbooks::Only(ids) => Some(Text::new(ids.join(", "))),
        },
        address: Text::new(invitations::masked(&found.email)),
        until: Text::new(minute(found.expires_at_ms)),
        code: code.to_owned(),
        who,
    })
}

fn known(found: &Invitation, person: Option<Person>) -> Who {
    let email = person.and_then(|person| person.email).unwrap_or_default();
    let shown = Text::new(&email);
    if email == found.email { Who::Invited { email: shown } } else { Who::SomebodyElse { email: shown } }
}

fn view(code: &str) -> FormView {
    FormView {
        title: "Take an invitation",
        action: AT,
        inputs: vec![
            Input::new("code", "Code", "text", "off").hint("It stands behind the # of the link you got.").given(code),
        ],
        submit: "Go on",
        code_field: Some("code"),
        code_goes: true,
        ..FormView::default()
    }
}
