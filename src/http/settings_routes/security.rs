//! `/settings/security`: another password, and the list of passkeys.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::HeaderMap;

use super::{Visit, answered, minute, refused};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::pages::is_sign_in_again;
use crate::http::sign_in_routes::{Fields, browser, give_session};
use crate::http::{RequestId, Sender};
use crate::identity::sign_in::passkeys::{MOST, Passkey};
use crate::identity::sign_in::passwords::Password;
use crate::identity::sign_in::sessions::Opened;
use crate::operations::noted;
use crate::studio::parts::{Act, Line, List, Part, Section, Weight};
use crate::studio::settings::settings;
use crate::studio::{Input, Response, TabbedView, Text, tabbed, tabbed_refused};

const AT: &str = "/settings/security";
const PASSWORD: &str = "/settings/security/password";

/// `GET /settings/security`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    let shown = async {
        let visit = Visit::of(&app, &headers, &sender).await?;
        view(&app, &visit).await
    };
    answered(&app, shown.await, AT, &id.0)
}

/// `POST /settings/security/password`: whoever has a password shows that they know it; who has none has signed in within
/// ten minutes.
pub(super) async fn password(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let sender = Sender::of(request.extensions());
    let (mut visit, fields, parts) = match Visit::command(&app, request).await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, AT, problem, &id.0),
    };
    let changed = change(&app, &visit, &fields, &browser(&parts.headers, &sender).address).await;
    match changed {
        Ok(opened) => {
            // The page goes with the new session: the old one has ended.
            if let Ok(csrf) = crate::http::csrf::token(&app, &opened.session.digest, "") {
                visit.frame.csrf = csrf;
            }
            match view(&app, &visit).await {
                Ok(mut view) => {
                    let words = "Your password is changed, and every other browser is signed out.";
                    view.done = Some(Text::new(words));
                    let mut response = tabbed(&view);
                    give_session(&app, &mut response, &opened);
                    response
                }
                Err(problem) => refused(&app, AT, problem, &id.0),
            }
        }
        Err(problem) if is_sign_in_again(&problem) => refused(&app, AT, problem, &id.0),
        Err(problem) => {
            let problem = noted(problem, &id.0);
            match view(&app, &visit).await {
                Ok(view) => tabbed_refused(&view.refused(PASSWORD, &problem), &problem),
                Err(problem) => refused(&app, AT, problem, &id.0),
            }
        }
    }
}

async fn change(app: &App, visit: &Visit, fields: &Fields, address: &str) -> Result<Opened> {
    match app.identity.password_of(&visit.person.id).await? {
        Some(_) => {
            let email = visit.person.email.as_deref().unwrap_or_default();
            app.identity.check_password(&visit.person, email, Password::typed(fields.get("current")), address).await?;
        }
        None => visit.recent(app)?,
    }
    let email = visit.person.email.as_deref().unwrap_or_default();
    let password =
        Password::chosen(fields.get("password"), email).map_err(|words| Problem::invalid("/password", words))?;
    let phc = app.identity.hashed(password).await?;
    app.identity.change_password(&visit.person, phc, &visit.session.kept).await
}

async fn view(app: &App, visit: &Visit) -> Result<TabbedView> {
    let mut parts = Vec::new();
    let methods = app.settings.sign_in.methods;
    if methods.password {
        parts.push(Part::Form(change_password(app.identity.password_of(&visit.person.id).await?.is_some())));
    }
    if methods.passkey {
        let keys = app.identity.passkeys_of(&visit.person.id).await?;
        let room = keys.len() < MOST;
        parts.push(Part::List(passkeys(keys)));
        if room {
            parts.push(Part::NewPasskey);
        }
    }
    Ok(settings(visit.frame.clone(), AT, parts))
}

fn change_password(has_one: bool) -> Section {
    let new = Input::new("password", "New password", "password", "new-password").hint("At least 10 characters.");
    if !has_one {
        return Section::new("Set a password", PASSWORD, "Set password").input(new).weight(Weight::Primary);
    }
    Section::new("Change your password", PASSWORD, "Change password")
        .words("Every other browser that is signed in as you is signed out.")
        .input(Input::new("current", "Password now", "password", "current-password"))
        .input(new)
        .weight(Weight::Primary)
}

fn passkeys(keys: Vec<Passkey>) -> List {
    let lines = keys.into_iter().map(|key| Line {
        title: Text::new(&key.name),
        detail: Text::new(match key.last_used_at {
            Some(used) => format!("Added {}, last used {}", minute(key.created_at), minute(used)),
            None => format!("Added {}, not used yet", minute(key.created_at)),
        }),
        mark: None,
        acts: vec![Act::button("/settings/security/passkeys/remove", "Take away", key.id)],
        ..Line::default()
    });
    List {
        title: Text::new("Passkeys"),
        empty: "None yet. With a passkey your device signs you in, and there is no password to give away.",
        lines: lines.collect(),
        all: None,
        ..List::default()
    }
}
