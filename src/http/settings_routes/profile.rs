//! `/settings/profile`: the person's name and email, and the end of their account.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::HeaderMap;
use http::request::Parts;

use super::{Visit, refused};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::cookies::Cookie;
use crate::http::origin::origin;
use crate::http::pages::is_sign_in_again;
use crate::http::problems::nothing;
use crate::http::sign_in_routes::{Fields, is_here, set};
use crate::http::{RequestId, Sender};
use crate::identity::people;
use crate::ledger::Via;
use crate::operations::noted;
use crate::studio::parts::{Facts, Part, Section, Weight};
use crate::studio::settings::settings;
use crate::studio::{self, Input, Response, TabbedView, Text, Told, tabbed, tabbed_refused};

/// Where the page is, and where the form of the name goes.
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
        Ok(visit) => tabbed(&view(&app, &visit)),
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
            view.done = Some(Text::new("Your name is changed."));
            tabbed(&view)
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
    let (visit, fields, parts) = match Visit::command(&app, request).await {
        Ok(sent) => sent,
        Err(problem) => return refused(&app, AT, problem, &id.0),
    };
    match ended(&app, &visit, &fields, &parts).await {
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
        Err(problem) if is_sign_in_again(&problem) => refused(&app, AT, problem, &id.0),
        Err(problem) => refused_at(view(&app, &visit), DELETE_AT, &noted(problem, &id.0)),
    }
}

async fn ended(app: &App, visit: &Visit, fields: &Fields, parts: &Parts) -> Result<()> {
    if !is_here(app) {
        return Err(nothing());
    }
    visit.recent(app)?;
    if visit.person.email.is_none() || people::email(fields.get("confirm")) != visit.person.email {
        return Err(Problem::invalid("/confirm", "must be your email, to show that you mean it"));
    }
    let caller = app.identity.acting_nowhere(&visit.person.id, Some(visit.session.auth_time_ms)).await?;
    let caller = caller.ok_or_else(nothing)?;
    app.identity.delete_account(&caller.through(origin(Via::Studio, &parts.headers, &parts.extensions))).await
}

/// The page with what was refused in one of its forms.
pub(super) fn refused_at(view: TabbedView, action: &str, problem: &Problem) -> Response {
    tabbed_refused(&view.refused(action, problem), problem)
}

/// The page.
pub(super) fn view(app: &App, visit: &Visit) -> TabbedView {
    let name = Input::new("name", "Your name", "text", "name").given(&visit.person.name);
    let mut parts = vec![Part::Form(Section::new("Profile", AT, "Save").input(name).weight(Weight::Primary))];
    if is_here(app) {
        let words = "You leave every org, and your own keys and applications stop working. Your name and email are \
                     forgotten; what you made stays. This cannot be taken back.";
        let confirm = Input::new("confirm", "Type your email to confirm", "email", "off");
        let delete = Section::new("Delete your account", DELETE_AT, "Delete my account").words(words).input(confirm);
        parts.extend([email(app, visit), Part::Form(delete.weight(Weight::Ends))]);
    }
    settings(visit.frame.clone(), AT, parts)
}

fn email(app: &App, visit: &Visit) -> Part {
    let now = visit.person.email.as_deref().unwrap_or("none");
    if !app.mail.is_on() {
        let how = format!(
            "This server sends no mail. Whoever runs it makes you a link with: playmaker person email --email {now} --to …"
        );
        let facts = vec![("Your email", Text::new(now)), ("To change it", Text::new(how))];
        return Part::Facts(Facts { title: Text::new("Email"), facts });
    }
    Part::Form(if visit.person.email_verified_at_ms.is_some() {
        Section::new("Email", EMAIL_AT, "Change email")
            .words(format!("Your email is {now}. We send a link to the new address, and tell the old one."))
            .input(Input::new("email", "New email", "email", "email"))
    } else {
        Section::new("Email", EMAIL_AT, "Send the link")
            .words(format!("Your email is {now}, not confirmed yet. We send a link that confirms it."))
            .input(Input::new("email", "Email", "email", "email").given(now))
    })
}
