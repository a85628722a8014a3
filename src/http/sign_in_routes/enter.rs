//! `/sign-in` and `/sign-out`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, Request, State};
use http::HeaderMap;

use super::{Fields, after_sign_in, browser, is_here, set, upstream, way_back};
use crate::app::App;
use crate::config::SignUp;
use crate::error::{Problem, Result};
use crate::http::authentication::{Session, foreign};
use crate::http::cookies::Cookie;
use crate::http::problems::nothing;
use crate::http::{RequestId, Sender, csrf, studio_session};
use crate::identity::people;
use crate::identity::sign_in::accounts::Attempt;
use crate::identity::sign_in::passwords::Password;
use crate::operations::noted;
use crate::studio::{self, FormView, Input, Response, Text, Told};

/// What asks for the sign-in of somebody else than who is signed in.
const AS_OTHER: &str = "other";
/// Where the request of an application that waits goes on.
const REQUEST: &str = "/oauth/authorize";

/// `GET /sign-in`. Whoever signed in may do so again, to show that it is still them.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let outside = app.access.signs_in() && app.settings.identity.is_some();
    if outside && app.upstreams.is_empty() {
        return studio::told(&Told {
            title: "Sign-in to Studio is not set up",
            tone: "warn",
            words: Text::new("People of this server sign in elsewhere. Whoever runs it can let Studio take part."),
            ways: &[("/", "Go to the first page")],
        });
    }
    if !(outside || is_here(&app)) {
        return studio::error_page(&nothing());
    }
    let other = query.as_deref() == Some(AS_OTHER);
    match first_step(&app, &headers, &sender, other).await {
        Ok(view) => studio::form(&view),
        Err(problem) => studio::error_page(&noted(problem, &id.0)),
    }
}

async fn first_step(app: &App, headers: &HeaderMap, sender: &Sender, other: bool) -> Result<FormView> {
    let person = match studio_session(app, headers, sender).await? {
        Some(session) if !other => app.identity.person(&session.person).await?,
        _ => None,
    };
    if !takes_email(app) {
        return Ok(upstream::only_these(app, person.is_some()));
    }
    let Some(email) = person.and_then(|person| person.email) else {
        let hint = hint(app, headers).await?.unwrap_or_default();
        return Ok(email_view(app, &hint));
    };
    let mut view = password_view(app, &email, false);
    view.title = "Show that it is still you";
    Ok(view)
}

/// The email that the client whose request waits would have its person sign in with: a text in the box, nothing more.
async fn hint(app: &App, headers: &HeaderMap) -> Result<Option<String>> {
    let waits = way_back::read(app, headers).is_some_and(|path| path == REQUEST);
    let (Some(server), Some(id)) = (&app.oauth, Cookie::Request.read(app, headers).filter(|_| waits)) else {
        return Ok(None);
    };
    let hint = server.find_request(id).await?.and_then(|waiting| waiting.asked.login_hint);
    Ok(hint.and_then(|hint| people::email(&hint)))
}

/// `POST /sign-in`: the email alone leads to the password; both together sign in.
pub(super) async fn done(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let fields = match Fields::read_here(&app, &parts.headers, sent).await {
        Ok(fields) => fields,
        Err(problem) => return studio::error_page(&noted(problem, &id.0)),
    };
    let Some(email) = people::email(fields.get("email")) else {
        let problem = Problem::invalid("/email", "must be an email such as ada@acme.example");
        return studio::form_refused(email_view(&app, fields.get("email")), &problem);
    };
    if !fields.has("password") {
        return studio::form(&password_view(&app, &email, true));
    }
    match enter(&app, &parts.headers, &sender, &email, &fields).await {
        Ok(response) => response,
        Err(problem) => {
            let view = password_view(&app, &email, fields.ticked("remember"));
            studio::form_refused(view, &noted(problem, &id.0))
        }
    }
}

async fn enter(app: &App, headers: &HeaderMap, sender: &Sender, email: &str, fields: &Fields) -> Result<Response> {
    if !app.settings.sign_in.methods.password {
        return Err(Problem::forbidden("Nobody signs in with a password here.").challenge(None));
    }
    let before = studio_session(app, headers, sender).await?.map(|session| session.kept);
    let device = way_back::device_name(app, headers, email);
    let attempt = Attempt {
        email,
        password: Password::typed(fields.get("password")),
        browser: &browser(headers, sender),
        device: device.as_deref(),
        remembered: fields.ticked("remember"),
    };
    let (person, opened) = app.identity.sign_in_with_password(attempt, before.as_ref()).await?;
    sender.set_known();
    Ok(after_sign_in(app, headers, &person, &opened))
}

/// `POST /sign-out`. With `switch`, a browser in which an application waits for an answer comes back to that request once
/// somebody else has signed in: which one is known by its cookie, and nothing in the form says where to go.
pub(crate) async fn sign_out(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let sender = Sender::of(&parts.extensions);
    let done = async {
        let fields = Fields::read(&app, &parts.headers, sent).await?;
        let switch = fields.ticked("switch") && Cookie::Request.read(&app, &parts.headers).is_some();
        let Some(session) = studio_session(&app, &parts.headers, &sender).await? else { return Ok((switch, None)) };
        current(&app, &fields, &session)?;
        if let Some(person) = app.identity.person(&session.person).await? {
            app.identity.end_session(&person, &session.digest, "sign_out").await?;
        }
        Ok::<_, Problem>((switch, session.kept.upstream))
    };
    match done.await {
        Ok((switch, came_from)) => {
            let mut response = if switch {
                way_back::to_sign_in(&app, REQUEST)
            } else {
                let page = upstream::signed_out(&app, came_from.as_deref()).await;
                page.unwrap_or_else(|| studio::see_other("/"))
            };
            set(&mut response, Cookie::Session.clear(&app));
            response
        }
        Err(problem) => studio::error_page(&noted(problem, &id.0)),
    }
}

/// The fields of a form that a session's page sent, with its token.
pub(crate) async fn checked(
    app: &App,
    headers: &HeaderMap,
    sent: axum::body::Body,
    session: &Session,
) -> Result<Fields> {
    let fields = Fields::read(app, headers, sent).await?;
    current(app, &fields, session)?;
    Ok(fields)
}

/// Refuses a form without the token of its session.
fn current(app: &App, fields: &Fields, session: &Session) -> Result<()> {
    if csrf::fits(app, &session.digest, "", fields.get("csrf"))? { Ok(()) } else { Err(foreign()) }
}

/// Whether an email leads anywhere: to a password, or to a passkey.
fn takes_email(app: &App) -> bool {
    let methods = app.settings.sign_in.methods;
    methods.password || methods.passkey
}

fn email_view(app: &App, given: &str) -> FormView {
    let mut ways = Vec::new();
    if app.settings.sign_in.sign_up == SignUp::Open {
        ways.push(("/sign-up", "Make an account"));
    }
    FormView {
        title: "Sign in",
        action: "/sign-in",
        inputs: vec![Input::new("email", "Email", "email", "username webauthn").given(given)],
        submit: "Continue",
        ways,
        passkey: app.settings.sign_in.methods.passkey,
        providers: upstream::links(app),
        ..FormView::default()
    }
}

/// The form that asks for the password of an email.
pub(super) fn password_view(app: &App, email: &str, remembered: bool) -> FormView {
    let methods = app.settings.sign_in.methods;
    let mut inputs = Vec::new();
    if methods.password {
        inputs.push(Input::new("password", "Password", "password", "current-password"));
        let remember = Input::new("remember", "Keep me signed in on this computer", "checkbox", "off").optional();
        inputs.push(if remembered { remember.given("yes") } else { remember });
    }
    FormView {
        title: "Sign in",
        lead: Some(Text::new(email)),
        action: "/sign-in",
        hidden: vec![("email", email.to_owned())],
        inputs,
        submit: "Sign in",
        ways: vec![("/sign-in?other", "Use another email"), ("/forgot", "Forgot your password?")],
        passkey: methods.passkey,
        providers: upstream::links(app),
        ..FormView::default()
    }
}
