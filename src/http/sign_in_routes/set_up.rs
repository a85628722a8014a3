//! `/setup`: the first person, made with the code of the log. Nothing once there is somebody.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};

use super::first_proof::{self, Chosen};
use super::{Fields, after_sign_in, browser, is_here};
use crate::app::App;
use crate::error::{Issue, Problem, Result};
use crate::http::problems::nothing;
use crate::http::{RequestId, Sender};
use crate::identity::sign_in::set_up::FirstPerson;
use crate::identity::{orgs, people};
use crate::operations::noted;
use crate::studio::{self, FormView, Input, Response, Text};

/// `GET /setup`.
pub(super) async fn page(State(app): State<Arc<App>>, Extension(id): Extension<RequestId>) -> Response {
    match is_open(&app).await {
        Ok(()) => studio::form(&view(&app, None)),
        Err(problem) => studio::error_page(&noted(problem, &id.0)),
    }
}

async fn is_open(app: &App) -> Result<()> {
    if !is_here(app) || app.identity.has_people().await? {
        return Err(nothing());
    }
    Ok(())
}

/// `POST /setup`.
pub(super) async fn done(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let fields = async {
        is_open(&app).await?;
        Fields::read(&app, &parts.headers, sent).await
    };
    let fields = match fields.await {
        Ok(fields) => fields,
        Err(problem) => return studio::error_page(&noted(problem, &id.0)),
    };
    let browser = browser(&parts.headers, &sender);
    let made = async {
        app.identity.try_set_up_code(fields.get("code"), &browser.address, &app.public_address()).await?;
        let (mut first, chosen) = checked(&app, &fields)?;
        let proof = chosen.proof(&app).await?;
        let method = proof.method();
        first.proof = Some(proof);
        let person = app.identity.set_up(fields.get("code"), first).await?;
        let opened = app.identity.sign_in(&person, method, false, &browser, None).await?;
        Ok::<_, Problem>((person, opened))
    };
    match made.await {
        Ok((person, opened)) => after_sign_in(&app, &parts.headers, &person, &opened),
        Err(problem) if problem.status() == 404 => studio::error_page(&problem),
        Err(problem) => studio::form_refused(view(&app, Some(&fields)), &noted(problem, &id.0)),
    }
}

fn checked(app: &App, fields: &Fields) -> Result<(FirstPerson, Chosen)> {
    let mut issues = Vec::new();
    let name = people::name(fields.get("name"));
    let email = people::email(fields.get("email"));
    let org_name = people::name(fields.get("org_name"));
    let org = fields.get("org").trim().to_owned();
    for (found, pointer, words) in [
        (name.is_some(), "/name", "must be 1 to 100 characters"),
        (email.is_some(), "/email", "must be an email such as ada@acme.example"),
        (org_name.is_some(), "/org_name", "must be 1 to 100 characters"),
        (orgs::is_new_id(&org), "/org", "must be 3 to 48 of a-z, 0-9 and -, and none of this server's own words"),
    ] {
        if !found {
            issues.push(Issue::new(pointer, words));
        }
    }
    let chosen = Chosen::of(app, fields, email.as_deref().unwrap_or_default());
    match (name, email, org_name, chosen) {
        (Some(name), Some(email), Some(org_name), Ok(chosen)) if issues.is_empty() => {
            Ok((FirstPerson { name, email, org, org_name, proof: None }, chosen))
        }
        (.., chosen) => {
            issues.extend(chosen.err());
            Err(Problem::invalid_all(issues))
        }
    }
}

fn view(app: &App, given: Option<&Fields>) -> FormView {
    let value = |name: &str| given.map_or("", |fields| fields.get(name)).to_owned();
    let mut inputs = vec![
        Input::new("code", "Code", "text", "one-time-code")
            .hint("It stands in the log of the server, like XXXXX-XXXXX-XXXXX.")
            .given(&value("code")),
        Input::new("name", "Your name", "text", "name").given(&value("name")),
        Input::new("email", "Email", "email", "username").given(&value("email")),
        Input::new("org_name", "Name of your org", "text", "organization").given(&value("org_name")),
        Input::new("org", "Its id", "text", "off")
            .hint("It stands in addresses, such as acme: 3 to 48 of a-z, 0-9 and -. It is for good.")
            .given(&value("org")),
    ];
    inputs.extend(first_proof::input(app));
    FormView {
        title: "Set up Playmaker",
        lead: Some(Text::new("You are the first one here: make your account and your org.")),
        action: "/setup",
        inputs,
        submit: "Make account and org",
        first_passkey: app.settings.sign_in.methods.passkey,
        ..FormView::default()
    }
}
