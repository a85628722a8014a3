//! `/settings/profile/email`: another email, or the proof of the one there is, by a link that goes to the address itself.
//! Whoever follows the link need not be signed in: the code shows that the mail was read, and it was asked for by the person.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};

use super::profile::{AT, EMAIL_AT, refused_at, view};
use super::{Visit, refused};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::pages::is_sign_in_again;
use crate::http::problems::nothing;
use crate::http::sign_in_routes::{Fields, browser, is_here};
use crate::http::{RequestId, Sender};
use crate::identity::invitations::masked;
use crate::identity::people;
use crate::operations::noted;
use crate::studio::{self, FormView, Input, Response, Text, Told, tabbed};

/// Where the form of the link goes.
const CONFIRM_AT: &str = "/settings/profile/email/confirm";

/// `POST /settings/profile/email`: asks for the link. It needs a fresh sign-in, since whoever has the email has the account.
pub(super) async fn ask(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let sender = Sender::of(request.extensions());
    let (visit, fields, parts) = match Visit::command(&app, request).await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, AT, problem, &id.0),
    };
    match asked(&app, &visit, &fields, &browser(&parts.headers, &sender).address).await {
        Ok(()) => {
            let mut view = view(&app, &visit);
            let words = "A link is on its way to that address. Your email changes once you follow it, within a day.";
            view.done = Some(Text::new(words));
            tabbed(&view)
        }
        Err(problem) if is_sign_in_again(&problem) => refused(&app, AT, problem, &id.0),
        Err(problem) => refused_at(view(&app, &visit), EMAIL_AT, &noted(problem, &id.0)),
    }
}

async fn asked(app: &App, visit: &Visit, fields: &Fields, address: &str) -> Result<()> {
    if !is_here(app) || !app.mail.is_on() {
        return Err(nothing());
    }
    visit.recent(app)?;
    let email = people::email(fields.get("email"))
        .ok_or_else(|| Problem::invalid("/email", "must be an email such as ada@acme.example"))?;
    let person = &visit.person;
    let is_own = person.email.as_deref() == Some(&email);
    if is_own && person.email_verified_at_ms.is_some() {
        return Err(Problem::invalid("/email", "is your email already"));
    }
    let here = app.public_address();
    // The page says the same for an address that is somebody else's: only that somebody learns it.
    match app.identity.ask_for_email(person, &email, address).await? {
        Some(code) => app.mail.confirm_email(&here, person, &email, &code),
        None => app.mail.email_is_taken(&here, &email),
    }
    if !is_own {
        app.mail.email_asked(&here, person, &masked(&email));
    }
    Ok(())
}

/// `GET /settings/profile/email`: the page of the link. The code stands in the fragment, which no server sees.
pub(super) async fn page(State(app): State<Arc<App>>) -> Response {
    if is_here(&app) { studio::form(&form("")) } else { studio::error_page(&nothing()) }
}

/// `POST /settings/profile/email/confirm`.
pub(super) async fn confirm(
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
    match confirmed(&app, &fields, &browser(&parts.headers, &sender).address).await {
        Ok(email) => studio::told(&Told {
            title: "Your email is confirmed",
            tone: "good",
            words: Text::new(format!("Your account has the email {email} now. Sign in with it from now on.")),
            ways: &[("/settings/profile", "Go to your profile")],
        }),
        Err(problem) => studio::form_refused(form(fields.get("code")), &noted(problem, &id.0)),
    }
}

async fn confirmed(app: &App, fields: &Fields, address: &str) -> Result<String> {
    let code = fields.code("code");
    app.identity.count_code(address).await?;
    let done = app.identity.confirm_email(code).await.map_err(|problem| match problem.status() {
        404 => Problem::invalid("/code", "no longer works: ask for a new link in your settings"),
        _ => problem,
    })?;
    let email = done.after.email.unwrap_or_default();
    if done.before.email.as_deref() != Some(&email) {
        app.mail.email_was_changed(&app.public_address(), &done.before, &masked(&email));
    }
    Ok(email)
}

fn form(code: &str) -> FormView {
    FormView {
        title: "Confirm your email",
        lead: Some(Text::new("Your account takes the address that this link was sent to.")),
        action: CONFIRM_AT,
        inputs: vec![
            Input::new("code", "Code", "text", "off").hint("It stands behind the # of the link you got.").given(code),
        ],
        submit: "Confirm",
        code_field: Some("code"),
        ..FormView::default()
    }
}
