//! The pages people sign in on (`identity.md` 8.1), and where the browser goes before and after.
//!
//! [`to_sign_in`] sends a browser here, [`after_sign_in`] sends it on with its session. Every form comes from a page of our
//! own ([`from_own_page`]); what it does is done by [`crate::identity::sign_in`].

mod accounts;
mod enter;
mod first_proof;
pub(super) mod passkey;
mod set_up;
mod upstream;
mod way_back;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use http::header::{SET_COOKIE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Uri};
use zeroize::Zeroizing;

use super::authentication::from_own_page;
use super::cookies::Cookie;
use super::problems::nothing;
use super::{Sender, body, only};
use crate::app::App;
use crate::error::Result;
use crate::identity::Person;
use crate::identity::sign_in::sessions::{Browser, Opened};
use crate::studio::{self, Response};

pub(super) use enter::checked;
use enter::sign_out;
pub(super) use way_back::to_sign_in;

/// The pages of signing in.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/setup", get(set_up::page).post(set_up::done).fallback(|| only("GET, HEAD, POST")))
        .route("/sign-in", get(enter::page).post(enter::done).fallback(|| only("GET, HEAD, POST")))
        .route("/sign-in/passkey/challenge", post(passkey::challenge).fallback(|| only("POST")))
        .route("/sign-in/passkey", post(passkey::done).fallback(|| only("POST")))
        .route("/sign-in/upstream/{name}", get(upstream::leave).fallback(|| only("GET, HEAD")))
        .route("/sign-in/upstream/{name}/callback", get(upstream::come_back).fallback(|| only("GET, HEAD")))
        .route("/sign-in/upstream/{name}/link", get(upstream::link).fallback(|| only("GET, HEAD")))
        .route("/sign-out", post(sign_out).fallback(|| only("POST")))
        .route("/sign-up", get(accounts::sign_up_page).post(accounts::sign_up).fallback(|| only("GET, HEAD, POST")))
        .route("/sign-up/passkey", post(first_proof::challenge).fallback(|| only("POST")))
        .route("/forgot", get(accounts::forgot_page).post(accounts::forgot).fallback(|| only("GET, HEAD, POST")))
        .route("/reset", get(accounts::reset_page).post(accounts::reset).fallback(|| only("GET, HEAD, POST")))
}

/// Whether people sign in at pages of our own here.
pub(super) fn is_here(app: &App) -> bool {
    app.access.signs_in() && app.settings.identity.is_none()
}

/// The fields of a form; wiped when dropped, since one may be a password.
#[derive(Default)]
pub(super) struct Fields(BTreeMap<String, Vec<Zeroizing<String>>>);

impl Fields {
    /// Reads what a page of our own sent.
    pub(super) async fn read(app: &App, headers: &HeaderMap, sent: Body) -> Result<Self> {
        from_own_page(app, headers)?;
        let bytes = body::read_body(&app.limits.bodies, sent).await?;
        Ok(Self::parse(&bytes))
    }

    /// The fields of a form as it goes into an address or a body.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut fields: BTreeMap<String, Vec<Zeroizing<String>>> = BTreeMap::new();
        for (name, text) in url::form_urlencoded::parse(bytes) {
            fields.entry(name.into_owned()).or_default().push(Zeroizing::new(text.into_owned()));
        }
        Self(fields)
    }

    /// The fields of an address's query.
    pub(super) fn of_query(uri: &Uri) -> Self {
        Self::parse(uri.query().unwrap_or_default().as_bytes())
    }

    /// An address of this server that carries the fields, but for the token of the session they were sent with.
    pub(super) fn address(&self, path: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::for_suffix(format!("{path}?"), path.len() + 1);
        for (name, texts) in self.0.iter().filter(|(name, _)| *name != "csrf") {
            query.extend_pairs(texts.iter().map(|text| (name, text.as_str())));
        }
        query.finish()
    }

    /// An address of this server that asks the same for the page of a list at `cursor`.
    pub(super) fn turned(&self, path: &str, cursor: &str) -> String {
        let asked = |name: &String| !matches!(name.as_str(), "csrf" | "cursor" | "done");
        let kept = self.0.iter().filter(|(name, _)| asked(name)).map(|(name, texts)| (name.clone(), texts.clone()));
        let mut fields = Self(kept.collect());
        fields.0.insert("cursor".to_owned(), vec![Zeroizing::new(cursor.to_owned())]);
        fields.address(path)
    }

    /// The same for a page that is there only where this server itself signs people in.
    pub(super) async fn read_here(app: &App, headers: &HeaderMap, sent: Body) -> Result<Self> {
        if !is_here(app) {
            return Err(nothing());
        }
        Self::read(app, headers, sent).await
    }

    /// A field as it was sent; empty where it was not.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).and_then(|texts| texts.last()).map_or("", |text| text.as_str())
    }

    /// Everything that was sent for a field, such as the answers of several boxes.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.get(name).into_iter().flatten().map(|text| text.as_str())
    }

    /// A code, also where the whole link was given whose fragment it is.
    pub(super) fn code(&self, name: &str) -> &str {
        let code = self.get(name).trim();
        code.rsplit_once('#').map_or(code, |(_, code)| code)
    }

    /// Whether a field was sent.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether a box was ticked.
    pub(super) fn ticked(&self, name: &str) -> bool {
        self.get(name) == "yes"
    }
}

/// What a request tells of the browser it comes from.
pub(super) fn browser(headers: &HeaderMap, sender: &Sender) -> Browser {
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    Browser { user_agent: agent.chars().take(200).collect(), address: sender.address.to_string() }
}

/// Sends a browser on with its new session: to where it wanted to go before it had to sign in, else to the first page.
pub(super) fn after_sign_in(app: &App, headers: &HeaderMap, person: &Person, opened: &Opened) -> Response {
    let mut response = studio::see_other(&destination(app, headers));
    let_in(app, headers, person, opened, &mut response);
    response
}

/// Where a browser that has just signed in goes.
fn destination(app: &App, headers: &HeaderMap) -> String {
    way_back::read(app, headers).unwrap_or_else(|| "/".to_owned())
}

/// The cookies of a browser that has just signed in.
fn let_in(app: &App, headers: &HeaderMap, person: &Person, opened: &Opened, response: &mut Response) {
    set(response, Cookie::Return.clear(app));
    give_session(app, response, opened);
    if let Some(email) = &person.email {
        set(response, way_back::device(app, headers, email));
    }
}

/// Gives the browser the cookie of its new session.
pub(super) fn give_session(app: &App, response: &mut Response, opened: &Opened) {
    // Counts as good from its first request on, also from an address where others guess.
    app.limits.good(&opened.id);
    let left_s = (opened.session.expires_at_ms - app.clock.now_ms()) / 1_000;
    set(response, Cookie::Session.set(app, &opened.id, opened.session.remembered.then_some(left_s)));
}

/// Sets a cookie.
pub(super) fn set(response: &mut Response, cookie: Option<HeaderValue>) {
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
