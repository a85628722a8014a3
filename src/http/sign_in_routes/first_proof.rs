//! What somebody chooses to be known by on the page that makes their account: a password, or a passkey that the page's
//! script has an authenticator make and puts into the form.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use serde_json::json;

use super::Fields;
use super::passkey::{answered, creation, party, party_for_anybody};
use crate::app::App;
use crate::error::{Issue, Result};
use crate::http::{RequestId, Sender};
use crate::identity::sign_in::first_proof::FirstProof;
use crate::identity::sign_in::passwords::Password;
use crate::identity::sign_in::webauthn::NewKey;
use crate::studio::{Input, Response};

/// What was chosen, before it is looked at closely.
pub(super) enum Chosen {
    Password(Password),
    Passkey(Box<NewKey>),
}

impl Chosen {
    /// Reads the choice of a form; `email` is what the account is to have, where that is known.
    pub(super) fn of(app: &App, fields: &Fields, email: &str) -> std::result::Result<Self, Issue> {
        if fields.get("passkey").is_empty() {
            if !app.settings.sign_in.methods.password {
                return Err(Issue::new("/passkey", "needs a passkey: nobody signs in with a password here"));
            }
            let password = Password::chosen(fields.get("password"), email);
            return password.map(Self::Password).map_err(|words| Issue::new("/password", words));
        }
        let new = serde_json::from_str(fields.get("passkey")).ok().filter(|_| party(app).is_ok());
        new.map(|new| Self::Passkey(Box::new(new)))
            .ok_or_else(|| Issue::new("/passkey", "was not made for this page just now: try again"))
    }

    /// Checks it: the account may be made with it then.
    pub(super) async fn proof(self, app: &App) -> Result<FirstProof> {
        match self {
            Self::Password(password) => app.identity.hashed(password).await.map(FirstProof::Password),
            Self::Passkey(new) => app.identity.first_passkey(&party(app)?, &new).await,
        }
    }
}

/// The field of the password, where passwords are taken.
pub(super) fn input(app: &App) -> Option<Input> {
    let input = Input::new("password", "Password", "password", "new-password").hint("At least 10 characters.");
    app.settings.sign_in.methods.password.then_some(input)
}

/// `POST /sign-up/passkey`: what an authenticator needs to make the passkey of an account that is not there yet.
pub(super) async fn challenge(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    let asked = async {
        let party = party_for_anybody(&app, &headers, &sender).await?;
        let (challenge, person) = app.identity.first_passkey_challenge().await?;
        // Names and email stand in the page, which puts them beside the id.
        Ok(creation(&party, &challenge, &json!({ "id": URL_SAFE_NO_PAD.encode(person) }), &[]))
    };
    answered(asked.await, &id)
}
