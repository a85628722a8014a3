//! Passkeys of `/settings/security`: added by the page's script, taken away by a form. Both need a fresh sign-in.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use serde_json::json;

use super::{Visit, refused};
use crate::app::App;
use crate::error::{Problem, Reason, Result};
use crate::http::authentication::{foreign, from_own_page};
use crate::http::sign_in_routes::passkey::{answered, creation, party, read};
use crate::http::{RequestId, Sender, csrf};
use crate::identity::sign_in::webauthn::NewKey;
use crate::studio::{self, Response};

const AT: &str = "/settings/security";

/// Whoever asks by the page's script, with the token of their session.
async fn visit(app: &App, headers: &HeaderMap, sender: &Sender) -> Result<Visit> {
    from_own_page(app, headers)?;
    let visit = Visit::of(app, headers, sender).await?;
    let given = headers.get("x-playmaker-csrf").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !csrf::fits(app, &visit.session.digest, "", given)? {
        return Err(foreign());
    }
    visit.recent(app)?;
    Ok(visit)
}

/// `POST /settings/security/passkeys/challenge`.
pub(super) async fn challenge(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    headers: HeaderMap,
) -> Response {
    let asked = async {
        let party = party(&app)?;
        let visit = visit(&app, &headers, &sender).await?;
        let person = &visit.person;
        let challenge = app.identity.passkey_challenge(Some(&person.id)).await?;
        let known = app.identity.passkeys_of(&person.id).await?;
        let user = json!({
            "id": URL_SAFE_NO_PAD.encode(&person.id),
            "name": person.email.as_deref().unwrap_or(&person.name),
            "displayName": person.name,
        });
        Ok(creation(&party, &challenge, &user, &known))
    };
    answered(asked.await, &id)
}

/// `POST /settings/security/passkeys`.
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    Extension(sender): Extension<Sender>,
    request: Request,
) -> Response {
    let (parts, sent) = request.into_parts();
    let added = async {
        let party = party(&app)?;
        let visit = visit(&app, &parts.headers, &sender).await?;
        let new: NewKey = read(&app, sent).await?;
        app.identity.add_passkey(&party, &visit.person, &new).await?;
        Ok(json!({ "to": AT }))
    };
    answered(added.await, &id)
}

/// `POST /settings/security/passkeys/remove`; the last way to sign in stays.
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let removed = async {
        let (visit, fields, _) = Visit::command(&app, request).await?;
        visit.recent(&app)?;
        let person = &visit.person;
        let only = app.identity.password_of(&person.id).await?.is_none()
            && app.identity.passkeys_of(&person.id).await?.len() < 2;
        if only {
            let words = "This is your only way to sign in. Set a password or add another passkey first.";
            return Err(Problem::new(Reason::Conflict, words));
        }
        app.identity.remove_passkey(person, fields.get("id")).await
    };
    match removed.await {
        Ok(_) => studio::see_other(AT),
        Err(problem) => refused(&app, AT, problem, &id.0),
    }
}
