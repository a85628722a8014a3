//! `POST /oauth/register` (RFC 7591).

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use http::StatusCode;

use super::answers::{json_answer, refused};
use crate::app::App;
use crate::error::{Problem, Reason};
use crate::http::entrance::RequestId;
use crate::http::oauth_routes::server;
use crate::http::{Sender, body, problems};
use crate::identity::oauth::refusal::{Code, Refusal, Result};
use crate::identity::oauth::registration::Registration;

/// Registers a client.
pub(in crate::http) async fn register(
    State(app): State<Arc<App>>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    if app.oauth.as_ref().is_some_and(|server| !server.registers()) {
        let words = "Clients do not register themselves here. Use a client id metadata document, or ask whoever runs the server.";
        return problems::response(&Problem::new(Reason::Forbidden, words));
    }
    if let Err(problem) = app.limits.registration(Sender::of(request.extensions()).address) {
        return problems::response(&problem);
    }
    match registered(&app, request).await {
        Ok(answer) => json_answer(StatusCode::CREATED, answer),
        Err(refusal) => refused(refusal, &id.0),
    }
}

async fn registered(app: &App, request: Request) -> Result<String> {
    const WORDS: &str = "Send one JSON object of at most 16 KiB as application/json";
    let refused = || Refusal::new(Code::InvalidClientMetadata, WORDS);
    let (parts, sent) = request.into_parts();
    body::check_media_type(&parts.headers).map_err(|_| refused())?;
    let bytes = body::read_body(&app.limits.bodies, sent).await.map_err(|_| refused())?;
    let registration = Registration::read(&bytes)?;
    let made = server(app)?.register_client(&registration).await?;
    Ok(made.answer(&registration, app.clock.now_ms())?.to_string())
}
