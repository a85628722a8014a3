//! `/settings/profile`: the person's name and email, and the end of their account.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::HeaderMap;

use super::{Visit, refused};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::cookies::Cookie;
use crate::http::origin::origin;
use crate::http::sign_in_routes::{Fields, is_here, nothing, set};
use crate::http::{RequestId, Sender};
use crate::identity::people;
use crate::ledger::Via;
use crate::operations::noted;
use crate::studio::settings::{Section, SettingsView, settings, settings_refused};
use crate::studio::{self, Input, Response, Text, Told};

pub(super) const AT: &str = "/settings/profile";
/// Where the form of the email goes.
pub(super) const EMAIL_AT: &str = "/settings/profile/email";
/// Where the form that ends the account goes.
const DELETE_AT: &str = "/settings/profile/delete";

/// `GET /settings/profile`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    match Visit::of(&app, &headers, &sender).await {
        Ok(visit) => settings(&view(&app, &visit)),
        Err(problem) => refused(&app, AT, problem, &id.0),
    }
}

/// `POST /settings/profile`: another name.
pub(super) async fn name(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (mut visit, fields, _) = match Visit::command(&app, request).await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, AT, problem, &id.0),
    };
    let done = async {
        let name =
            people::name(fields.get("name")).ok_or_else(|| Problem::invalid("/name", "must be 1 to 100 characters"))?;
        app.identity.rename_person(&visit.person, &name).await?;
        Ok::<_, Problem>(name)
    };
    match done.await {
        Ok(name) => {
            visit.frame.person = Text::new(&name);
            visit.person.name = name;
            let mut view = view(&app, &visit);
            view.done = Some("Your name is changed.");
            settings(&view)
        }
        Err(problem) => refused_at(view(&app, &visit), AT, &noted(problem, &id.0)),
    }
}

/// `POST /settings/profile/delete`: ends the account for good. It needs a fresh sign-in and the email typed out.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let extensions = request.extensions().clone();
    let (visit, fields, headers) = match Visit::command(&app, request).await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, AT, problem, &id.0),
    };
    match ended(&app, &visit, &fields, &headers, &extensions).await {
        Ok(()) => {
            let mut response = studio::told(&Told {
                title: "Your account is deleted",
                tone: "good",
                words: Text::new("Your name and email are forgotten, and you are signed out everywhere."),
                ways: &[("/", "Go to the first page")],
            });
            set(&mut response, Cookie::Session.clear(&app));
            set(&mut response, Cookie::Device.clear(&app));
            response
        }
        Err(problem) if problem.kind_word() == Some("sign_in_again") => refused(&app, AT, problem, &id.0),
        Err(problem) => refused_at(view(&app, &visit), DELETE_AT, &noted(problem, &id.0)),
    }
}

async fn ended(
    app: &App,
    visit: &Visit,
    fields: &Fields,
    headers: &HeaderMap,
    extensions: &http::Extensions,
) -> Result<()> {
    if !is_here(app) {
        return Err(nothing());
    }
    visit.recent(app)?;
    if visit.person.email.is_none() || people::email(fields.get("confirm")) != visit.person.email {
        return Err(Problem::invalid("/confirm", "must be your email, to show that you mean it"));
    }
    let caller = app.identity.acting_nowhere(&visit.person.id, Some(visit.session.auth_time_ms)).await?;
    let caller = caller.ok_or_else(nothing)?;
    app.identity.delete_account(&caller.through(origin(Via::Studio, headers, extensions))).await
}

/// The page with what was refused in one of its forms.
pub(super) fn refused_at(mut view: SettingsView, action: &str, problem: &Problem) -> Response {
    let refused = |section: Section| if section.action == action { section.refused(problem) } else { section };
    view.sections = view.sections.into_iter().map(refused).collect();
    settings_refused(&view, problem)
}

pub(super) fn view(app: &App, visit: &Visit) -> SettingsView {
    let mut sections = vec![Section {
        title: "Profile",
        words: None,
        action: AT,
        inputs: vec![Input::new("name", "Your name", "text", "name").given(&visit.person.name)],
        submit: "Save",
        fault: None,
    }];
    if is_here(app) {
        sections.push(email(app, visit));
        sections.push(Section {
            title: "Delete your account",
            words: Some(Text::new(
                "You leave every org, and your own keys and applications stop working. Your name and email are forgotten; \
                 what you made stays. This cannot be taken back.",
            )),
            action: DELETE_AT,
            inputs: vec![Input::new("confirm", "Type your email to confirm", "email", "off")],
            submit: "Delete my account",
            fault: None,
        });
    }
    SettingsView { frame: visit.frame.clone(), at: AT, done: None, sections, list: None, add_passkey: false }
}

fn email(app: &App, visit: &Visit) -> Section {
    let now = visit.person.email.as_deref().unwrap_or("none");
    let confirmed = visit.person.email_verified_at_ms.is_some();
    let mut section =
        Section { title: "Email", words: None, action: EMAIL_AT, inputs: Vec::new(), submit: "", fault: None };
    if !app.mail.is_on() {
        section.words = Some(Text::new(format!(
            "Your email is {now}. This server sends no mail: whoever runs it makes you a link to change it, with: \
             playmaker person email --email {now} --to …"
        )));
        return section;
    }
    let input = Input::new("email", if confirmed { "New email" } else { "Email" }, "email", "email");
    (section.words, section.submit) = if confirmed {
        let words = format!("Your email is {now}. We send a link to the new address, and tell the old one.");
        (Some(Text::new(words)), "Change email")
    } else {
        let words = format!("Your email is {now}, not confirmed yet. We send a link that confirms it.");
        (Some(Text::new(words)), "Send the link")
    };
    section.inputs = vec![if confirmed { input } else { input.given(now) }];
    section
}
