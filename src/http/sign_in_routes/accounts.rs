//! `/sign-up`, `/forgot` and `/reset`: an account and another password.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};

use super::first_proof::{self, Chosen};
use super::{Fields, after_sign_in, browser, is_here};
use crate::app::App;
use crate::config::SignUp;
use crate::error::{Issue, Problem, Result};
use crate::http::origin::origin;
use crate::http::problems::nothing;
use crate::http::{RequestId, Sender};
use crate::identity::invitations::Invitation;
use crate::identity::sign_in::accounts::Account;
use crate::identity::sign_in::passwords::Password;
use crate::identity::{Person, people};
use crate::ledger::Via;
use crate::operations::invitations::proof;
use crate::operations::noted;
use crate::studio::{self, FormView, Input, Response, Text, Told};

/// Whether strangers may make an account without an invitation.
fn is_open(app: &App) -> bool {
    app.settings.sign_in.sign_up == SignUp::Open
}

/// `GET /sign-up`. The code of an invitation stands in the fragment, as that of a reset does.
pub(super) async fn sign_up_page(State(app): State<Arc<App>>) -> Response {
    if is_here(&app) { studio::form(&sign_up_view(&app, None)) } else { studio::error_page(&nothing()) }
}

/// `POST /sign-up`.
pub(super) async fn sign_up(
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
    let made = async {
        let browser = browser(&parts.headers, &sender);
        app.identity.count_sign_up(&browser.address).await?;
        let invitation = invitation(&app, &fields).await?;
        let (name, email, chosen) = new_account(&app, &fields, invitation.as_ref())?;
        let account = Account { name, email, proof: chosen.proof(&app).await? };
        let method = account.proof.method();
        let person = match invitation {
            Some(invitation) => {
                let origin = Arc::new(origin(Via::Studio, &parts.headers, &parts.extensions));
                app.identity.sign_up_invited(account, invitation, proof(&app), origin).await?
            }
            None => came_by_themselves(&app, account).await?,
        };
        let opened = app.identity.sign_in(&person, method, false, &browser, None).await?;
        Ok::<_, Problem>(after_sign_in(&app, &parts.headers, &person, &opened))
    };
    match made.await {
        Ok(response) => response,
        Err(problem) => studio::form_refused(sign_up_view(&app, Some(&fields)), &noted(problem, &id.0)),
    }
}

/// An account of somebody whom nobody invited; where mail is sent, one asks them to confirm their email.
async fn came_by_themselves(app: &App, account: Account) -> Result<Person> {
    let person = app.identity.sign_up(account).await?;
    if let (true, Some(email)) = (app.mail.is_on(), &person.email) {
        let code = app.identity.email_code(&person, email).await?;
        app.mail.confirm_email(&app.public_address(), &person, email, &code);
    }
    Ok(person)
}

/// The invitation somebody came with. Where accounts are for the invited alone, there must be one.
async fn invitation(app: &App, fields: &Fields) -> Result<Option<Invitation>> {
    let code = fields.code("invitation");
    if code.is_empty() && is_open(app) {
        return Ok(None);
    }
    let found = app.identity.invitation_of_code(code).await?;
    found.map(Some).ok_or_else(|| Problem::invalid("/invitation", "is no good, or no longer: ask for a new one"))
}

/// Name, email and proof of a new account; who was invited has the email they were invited by.
fn new_account(app: &App, fields: &Fields, invitation: Option<&Invitation>) -> Result<(String, String, Chosen)> {
    let name = people::name(fields.get("name"));
    let email = match invitation {
        Some(invitation) => Some(invitation.email.clone()),
        None => people::email(fields.get("email")),
    };
    let chosen = Chosen::of(app, fields, email.as_deref().unwrap_or_default());
    match (name, email, chosen) {
        (Some(name), Some(email), Ok(chosen)) => Ok((name, email, chosen)),
        (name, email, chosen) => {
            let mut issues = Vec::new();
            if name.is_none() {
                issues.push(Issue::new("/name", "must be 1 to 100 characters"));
            }
            if email.is_none() {
                issues.push(Issue::new("/email", "must be an email such as ada@acme.example"));
            }
            issues.extend(chosen.err());
            Err(Problem::invalid_all(issues))
        }
    }
}

fn sign_up_view(app: &App, given: Option<&Fields>) -> FormView {
    let value = |name: &str| given.map_or("", |fields| fields.get(name)).to_owned();
    let code = Input::new("invitation", "Invitation", "text", "off")
        .hint("The code behind the # of the link you got.")
        .given(&value("invitation"));
    let mut inputs = vec![if is_open(app) { code.optional() } else { code }];
    inputs.push(Input::new("name", "Your name", "text", "name").given(&value("name")));
    if is_open(app) {
        let email = Input::new("email", "Email", "email", "username").given(&value("email"));
        inputs.push(email.hint("With an invitation, it is the one you were invited by.").optional());
    }
    inputs.extend(first_proof::input(app));
    FormView {
        title: "Make an account",
        action: "/sign-up",
        inputs,
        submit: "Make account",
        ways: vec![("/sign-in", "Sign in instead")],
        code_field: Some("invitation"),
        first_passkey: app.settings.sign_in.methods.passkey,
        providers: super::upstream::links(app),
        ..FormView::default()
    }
}

/// `GET /forgot`.
pub(super) async fn forgot_page(State(app): State<Arc<App>>) -> Response {
    if !is_here(&app) {
        return studio::error_page(&nothing());
    }
    if app.settings.sign_in.mail.is_none() {
        return studio::told(&Told {
            title: "Ask whoever runs this server",
            tone: "info",
            words: Text::new(
                "This server sends no mail. Whoever runs it makes you a link with: playmaker person reset --email …",
            ),
            ways: &[("/sign-in", "Sign in")],
        });
    }
    studio::form(&forgot_view(""))
}

/// `POST /forgot`: one answer, whether the email has an account or not.
pub(super) async fn forgot(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let fields = async {
        if !is_here(&app) || app.settings.sign_in.mail.is_none() {
            return Err(nothing());
        }
        Fields::read(&app, &parts.headers, sent).await
    };
    let fields = match fields.await {
        Ok(fields) => fields,
        Err(problem) => return studio::error_page(&noted(problem, &id.0)),
    };
    let asked = async {
        let email = people::email(fields.get("email"))
            .ok_or_else(|| Problem::invalid("/email", "must be an email such as ada@acme.example"))?;
        let browser = browser(&parts.headers, &sender);
        if let Some((person, code)) = app.identity.ask_for_reset(&email, &browser.address).await? {
            app.mail.reset(&app.public_address(), &person, &code);
        }
        Ok::<_, Problem>(())
    };
    match asked.await {
        Ok(()) => studio::told(&Told {
            title: "Look into your mail",
            tone: "good",
            words: Text::new(
                "If this email has an account here, a link to set a new password is on its way. It works for 30 minutes.",
            ),
            ways: &[("/sign-in", "Sign in")],
        }),
        Err(problem) => studio::form_refused(forgot_view(fields.get("email")), &noted(problem, &id.0)),
    }
}

fn forgot_view(given: &str) -> FormView {
    FormView {
        title: "Set a new password",
        lead: Some(Text::new("We send a link to your email.")),
        action: "/forgot",
        inputs: vec![Input::new("email", "Email", "email", "username").given(given)],
        submit: "Send the link",
        ways: vec![("/sign-in", "Sign in instead")],
        ..FormView::default()
    }
}

/// `GET /reset`: the code stands in the fragment, which no server sees; the page's script takes it over, or a person does.
pub(super) async fn reset_page(State(app): State<Arc<App>>) -> Response {
    if is_here(&app) { studio::form(&reset_view("", false)) } else { studio::error_page(&nothing()) }
}

/// `POST /reset`.
pub(super) async fn reset(
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
    match set_password(&app, &fields, &browser(&parts.headers, &sender).address).await {
        Ok(ended) => studio::told(&Told {
            title: "Your password is set",
            tone: "good",
            words: Text::new(ended),
            ways: &[("/sign-in", "Sign in")],
        }),
        Err(problem) => {
            studio::form_refused(reset_view(fields.get("code"), fields.ticked("withdraw")), &noted(problem, &id.0))
        }
    }
}

/// Sets the password; the words for what ended with it.
async fn set_password(app: &App, fields: &Fields, address: &str) -> Result<String> {
    let gone = || Problem::invalid("/code", "no longer works: ask for a new link");
    let code = fields.code("code");
    app.identity.count_code(address).await?;
    let person = app.identity.person_of_reset(code).await?.ok_or_else(gone)?;
    let password = Password::chosen(fields.get("password"), person.email.as_deref().unwrap_or_default())
        .map_err(|words| Problem::invalid("/password", words))?;
    let phc = app.identity.hashed(password).await?;
    let withdraw = fields.ticked("withdraw");
    let done = app.identity.reset_password(code, phc, withdraw).await;
    let (person, passkeys) = done.map_err(|problem| if problem.status() == 404 { gone() } else { problem })?;
    let mut ended = "Every browser that was signed in as you has been signed out".to_owned();
    ended.push_str(if withdraw { ", and your applications and personal keys no longer work." } else { "." });
    if passkeys > 0 {
        ended.push_str(" The account's passkeys were taken away: add yours again, under Settings, Security.");
    }
    app.mail.password_was_set(&app.public_address(), &person, withdraw, passkeys > 0);
    Ok(ended)
}

fn reset_view(code: &str, withdraw: bool) -> FormView {
    let words = "Also withdraw my applications, personal keys and passkeys: somebody may have had my account";
    let ask = Input::new("withdraw", words, "checkbox", "off").optional();
    FormView {
        title: "Set a new password",
        action: "/reset",
        inputs: vec![
            Input::new("code", "Code", "text", "off").hint("It stands behind the # of the link you got.").given(code),
            Input::new("password", "New password", "password", "new-password").hint("At least 10 characters."),
            if withdraw { ask.given("yes") } else { ask },
        ],
        submit: "Set password",
        code_field: Some("code"),
        ..FormView::default()
    }
}
