//! The endpoints programs call: token, revocation, introspection.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};

use super::answers::{form, json_answer, refused};
use crate::app::App;
use crate::error::Problem;
use crate::http::entrance::RequestId;
use crate::http::oauth_routes::server;
use crate::http::{Sender, authenticate, problems};
use crate::identity::oauth::client_named;
use crate::identity::oauth::refusal::{Refusal, Result};
use crate::identity::{Permission, Resource, Who};
use crate::operations::noted;

/// What an API key begins with.
const KEY_PREFIX: &str = "pmk_";

/// `POST /oauth/token`.
pub(in crate::http) async fn token(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let sender = Sender::of(request.extensions());
    let (parts, body) = request.into_parts();
    let answered = async {
        let parameters = form(&app, &parts.headers, body).await?;
        let authorization = authorization(&parts.headers)?;
        let named = client_named(authorization, &parameters).unwrap_or_default();
        app.limits.token(&named, sender.address)?;
        server(&app)?.token(authorization, &parameters).await
    };
    match answered.await {
        Ok(answer) => {
            sender.set_known();
            json_answer(StatusCode::OK, answer.to_string())
        }
        Err(refusal) => refused(refusal, &id.0),
    }
}

/// `POST /oauth/revoke` (RFC 7009).
pub(in crate::http) async fn revoke(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let sender = Sender::of(request.extensions());
    let (parts, body) = request.into_parts();
    let answered = async {
        let parameters = form(&app, &parts.headers, body).await?;
        // Whoever holds a key may end it: that is no affair of any client's (`identity.md` 3.4).
        let key = parameters.only("token").filter(|token| token.starts_with(KEY_PREFIX));
        let authorization = authorization(&parts.headers)?;
        let named = client_named(authorization, &parameters).filter(|_| key.is_none()).unwrap_or_default();
        app.limits.token(&named, sender.address)?;
        if let Some(key) = key {
            return Ok(app.identity.revoke_key_of_text(key).await?);
        }
        server(&app)?.revoke(authorization, &parameters).await
    };
    match answered.await {
        Ok(known) => {
            // An unknown token is no credential, and neither is the name of a client: who guesses is counted.
            if known {
                sender.set_known();
            }
            json_answer(StatusCode::OK, String::from("{}"))
        }
        Err(refusal) => refused(refusal, &id.0),
    }
}

/// `POST /oauth/introspect` (RFC 7662): for keys of the token's own org alone.
pub(in crate::http) async fn introspect(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let caller = match authenticate(&app, &parts.headers, &Resource::Api, &Sender::of(&parts.extensions)).await {
        Ok(caller) => caller,
        Err(problem) => return problems::response(&problem),
    };
    if !matches!(caller.who, Who::Key { .. }) {
        let problem = Problem::forbidden("Only a key may ask about tokens.").challenge(None);
        return problems::response(&problem);
    }
    if !caller.may(Permission::OrgRead) {
        return problems::response(&Problem::forbidden("Asking about tokens needs org:read."));
    }
    let parameters = match form(&app, &parts.headers, body).await {
        Ok(parameters) => parameters,
        Err(refusal) => return refused(refusal, &id.0),
    };
    let Some(token) = parameters.only("token") else {
        return refused(Refusal::request("token is missing, or came twice"), &id.0);
    };
    let answered = async { server(&app)?.introspect(&caller.org, caller.actor(), token).await };
    match answered.await {
        Ok(shown) => json_answer(StatusCode::OK, shown.to_string()),
        Err(problem) => problems::response(&noted(problem, &id.0)),
    }
}

/// The one `Authorization` header there may be.
fn authorization(headers: &HeaderMap) -> Result<Option<&str>> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Refusal::client()),
        (Some(_), Some(_)) => Err(Refusal::request("Send at most one Authorization header")),
    }
}
