//! `/settings/profile`: the person's name; their email stands beside it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use http::HeaderMap;

use super::{Visit, refused};
use crate::app::App;
use crate::error::Problem;
use crate::http::{RequestId, Sender};
use crate::identity::people;
use crate::operations::noted;
use crate::studio::parts::{Part, Section, Weight};
use crate::studio::settings::settings;
use crate::studio::{Input, Response, TabbedView, Text, tabbed, tabbed_refused};

const AT: &str = "/settings/profile";

/// `GET /settings/profile`.
pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    match Visit::of(&app, &headers, &sender).await {
        Ok(visit) => tabbed(&view(&visit)),
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
            let mut view = view(&visit);
            view.done = Some(Text::new("Your name is changed."));
            tabbed(&view)
        }
        Err(problem) => {
            let problem = noted(problem, &id.0);
            tabbed_refused(&view(&visit).refused(AT, &problem), &problem)
        }
    }
}

fn view(visit: &Visit) -> TabbedView {
    let email = visit.person.email.as_deref().unwrap_or("none");
    let section = Section::new("Profile", AT, "Save")
        .words(format!("Your email is {email}."))
        .input(Input::new("name", "Your name", "text", "name").given(&visit.person.name))
        .weight(Weight::Primary);
    settings(visit.frame.clone(), AT, vec![Part::Form(section)])
}
