//! `/settings/security`: another password, and the list of passkeys.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::HeaderMap;

use super::{Visit, minute, refused};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::sign_in_routes::{Fields, browser, give_session};
use crate::http::{RequestId, Sender};
use crate::identity::sign_in::passkeys::{MOST, Passkey};
use crate::identity::sign_in::passwords::Password;
use crate::identity::sign_in::sessions::Opened;
use crate::operations::noted;
use crate::studio::settings::{Line, List, Section, SettingsView, settings, settings_refused};
use crate::studio::{Input, Response, Text};

const AT: &str = "/settings/security";

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
    match shown.await {
        Ok(view) => settings(&view),
        Err(problem) => refused(&app, AT, problem, &id.0),
    }
}

/// `POST /settings/security/password`: whoever has a password shows that they know it; who has none has signed in within
/// ten minutes.
pub(super) async fn password(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let sender = Sender::of(request.extensions());
    let (mut visit, fields, headers) = match Visit::command(&app, request).await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, AT, problem, &id.0),
    };
    let changed = change(&app, &visit, &fields, &browser(&headers, &sender).address).await;
    match changed {
        Ok(opened) => {
            // The page goes with the new session: the old one has ended.
            if let Ok(csrf) = crate::http::csrf::token(&app, &opened.session.digest, "") {
                visit.frame.csrf = csrf;
            }
            match view(&app, &visit).await {
                Ok(mut view) => {
                    view.done = Some("Your password is changed, and every other browser is signed out.");
                    let mut response = settings(&view);
                    give_session(&app, &mut response, &opened);
                    response
                }
                Err(problem) => refused(&app, AT, problem, &id.0),
            }
        }
        Err(problem) if problem.kind_word() == Some("sign_in_again") => refused(&app, AT, problem, &id.0),
        Err(problem) => {
            let problem = noted(problem, &id.0);
            match view(&app, &visit).await {
                Ok(mut view) => {
                    view.sections = view.sections.into_iter().map(|section| section.refused(&problem)).collect();
                    settings_refused(&view, &problem)
                }
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

async fn view(app: &App, visit: &Visit) -> Result<SettingsView> {
    let mut inputs = Vec::new();
    let has_one = app.identity.password_of(&visit.person.id).await?.is_some();
    if has_one {
        inputs.push(Input::new("current", "Password now", "password", "current-password"));
    }
    inputs.push(Input::new("password", "New password", "password", "new-password").hint("At least 10 characters."));
    let section = Section {
        title: if has_one { "Change your password" } else { "Set a password" },
        words: has_one.then(|| Text::new("Every other browser that is signed in as you is signed out.")),
        action: "/settings/security/password",
        inputs,
        submit: if has_one { "Change password" } else { "Set password" },
        fault: None,
    };
    let methods = app.settings.sign_in.methods;
    let keys = app.identity.passkeys_of(&visit.person.id).await?;
    let add_passkey = methods.passkey && keys.len() < MOST;
    Ok(SettingsView {
        frame: visit.frame.clone(),
        at: AT,
        done: None,
        sections: if methods.password { vec![section] } else { Vec::new() },
        list: methods.passkey.then(|| passkeys(keys)),
        add_passkey,
    })
}

fn passkeys(keys: Vec<Passkey>) -> List {
    let lines = keys.into_iter().map(|key| Line {
        title: Text::new(&key.name),
        detail: Text::new(match key.last_used_at {
            Some(used) => format!("Added {}, last used {}", minute(key.created_at), minute(used)),
            None => format!("Added {}, not used yet", minute(key.created_at)),
        }),
        here: false,
        id: key.id,
    });
    List {
        title: "Passkeys",
        empty: "None yet. With a passkey your device signs you in, and there is no password to give away.",
        lines: lines.collect(),
        end: ("/settings/security/passkeys/remove", "Take away"),
        here: "",
        all: None,
    }
}
