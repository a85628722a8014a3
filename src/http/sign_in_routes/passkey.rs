//! Signing in with a passkey: a challenge, and what the authenticator made of it. Both are JSON, sent by the page's script.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use http::HeaderMap;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{browser, destination, is_here, let_in};
use crate::app::App;
use crate::error::{Problem, Result};
use crate::http::authentication::from_own_page;
use crate::http::problems::nothing;
use crate::http::{RequestId, Sender, body, problems, studio_session};
use crate::identity::sign_in::passkeys::{CHALLENGE_MS, Passkey};
use crate::identity::sign_in::throttle::{ADDRESS, Subject};
use crate::identity::sign_in::webauthn::{ALGORITHMS, Assertion, Party};
use crate::operations::noted;
use crate::studio::Response;

/// Whether passkeys are taken here, and who asks for them.
pub(crate) fn party(app: &App) -> Result<Party> {
    let on = is_here(app) && app.settings.sign_in.methods.passkey;
    let party = app.settings.public_url.as_deref().and_then(Party::of);
    party.filter(|_| on).ok_or_else(nothing)
}

/// Reads a body that a script of ours sent.
pub(crate) async fn read<T: DeserializeOwned>(app: &App, sent: axum::body::Body) -> Result<T> {
    let bytes = body::read_body(&app.limits.bodies, sent).await?;
    serde_json::from_slice(&bytes).map_err(|_| Problem::invalid("", "is not what this takes"))
}

/// An answer to a script of ours: what it asked for, or the refusal.
pub(crate) fn answered(value: Result<Value>, id: &RequestId) -> Response {
    match value {
        Ok(value) => answer(&value),
        Err(problem) => problems::response(&noted(problem, &id.0)),
    }
}

/// Who asks for passkeys here, for a challenge that anybody may have; they are counted by address.
pub(super) async fn party_for_anybody(app: &App, headers: &HeaderMap, sender: &Sender) -> Result<Party> {
    let party = party(app)?;
    from_own_page(app, headers)?;
    let address = browser(headers, sender).address;
    app.identity.count_in(vec![(Subject::of("passkey", &address), ADDRESS)]).await?;
    Ok(party)
}

fn answer(value: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")], value.to_string()).into_response()
}

/// What an authenticator needs to make a passkey for `user`, who has those of `known` already.
pub(crate) fn creation(party: &Party, challenge: &str, user: &Value, known: &[Passkey]) -> Value {
    let kinds = ALGORITHMS.map(|algorithm| json!({ "type": "public-key", "alg": algorithm }));
    let known: Vec<Value> = known.iter().map(|key| json!({ "type": "public-key", "id": key.id })).collect();
    json!({
        "challenge": challenge,
        "rp": { "id": party.id, "name": "Playmaker" },
        "user": user,
        "pubKeyCredParams": kinds,
        "attestation": "none",
        "authenticatorSelection":
            { "residentKey": "required", "requireResidentKey": true, "userVerification": "required" },
        "excludeCredentials": known,
        "timeout": CHALLENGE_MS,
    })
}

/// `POST /sign-in/passkey/challenge`.
pub(super) async fn challenge(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    let asked = async {
        let party = party_for_anybody(&app, &headers, &sender).await?;
        let challenge = app.identity.passkey_challenge(None).await?;
        Ok(json!({
            "challenge": challenge, "rpId": party.id, "userVerification": "required", "timeout": CHALLENGE_MS,
        }))
    };
    answered(asked.await, &id)
}

/// `POST /sign-in/passkey`.
pub(super) async fn done(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let entered = async {
        let party = party(&app)?;
        from_own_page(&app, &parts.headers)?;
        let assertion: Assertion = read(&app, sent).await?;
        let before = studio_session(&app, &parts.headers, &sender).await?.map(|session| session.kept);
        let browser = browser(&parts.headers, &sender);
        app.identity.sign_in_with_passkey(&party, &assertion, &browser, before.as_ref()).await
    };
    match entered.await {
        Ok((person, opened)) => {
            sender.set_known();
            let mut response = answer(&json!({ "to": destination(&app, &parts.headers) }));
            let_in(&app, &parts.headers, &person, &opened, &mut response);
            response
        }
        Err(problem) => problems::response(&noted(problem, &id.0)),
    }
}
