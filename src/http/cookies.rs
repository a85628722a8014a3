//! The cookies of Studio (RFC 6265): how they are named, set and read (`identity.md` 8.3).

use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue};

use crate::app::App;

/// A cookie of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cookie {
    /// The session.
    Session,
    /// Where the browser goes once its person has signed in.
    Return,
    /// The authorization request that waits for its person.
    Request,
    /// That somebody signed in with this browser before.
    Device,
    /// What tells that a browser back from a provider is the one that left.
    Upstream,
    /// The account that waits for its person to sign in to it once.
    Link,
}

impl Cookie {
    const fn plain(self) -> &'static str {
        match self {
            Self::Session => "playmaker",
            Self::Return => "playmaker-return",
            Self::Request => "playmaker-request",
            Self::Device => "playmaker-device",
            Self::Upstream => "playmaker-upstream",
            Self::Link => "playmaker-link",
        }
    }

    /// Its name: with the prefix that binds it to this host and to https, but on loopback without TLS.
    fn name(self, app: &App) -> String {
        let prefix = if is_secure(app) { "__Host-" } else { "" };
        format!("{prefix}{}", self.plain())
    }

    /// What the browser sent.
    pub(super) fn read<'a>(self, app: &App, headers: &'a HeaderMap) -> Option<&'a str> {
        sent(headers, &self.name(app))
    }

    /// The header that sets it, for `age_s` seconds or until the browser closes.
    pub(super) fn set(self, app: &App, value: &str, age_s: Option<i64>) -> Option<HeaderValue> {
        line(app, &self.name(app), value, age_s)
    }

    /// Has the browser forget it, unless the answer sets it anew.
    pub(super) fn forget<B>(self, app: &App, response: &mut http::Response<B>) {
        let start = format!("{}=", self.name(app));
        let is_it = |line: &HeaderValue| line.as_bytes().starts_with(start.as_bytes());
        if !response.headers().get_all(SET_COOKIE).iter().any(is_it)
            && let Some(line) = self.clear(app)
        {
            response.headers_mut().append(SET_COOKIE, line);
        }
    }

    /// The header that takes it away.
    pub(super) fn clear(self, app: &App) -> Option<HeaderValue> {
        self.set(app, "", Some(0))
    }
}

/// The cookie of one trip to a provider of a connection: what tells that the browser back is the one that left
/// (`connections.md` 9.2).
pub(super) struct Trip(String);

impl Trip {
    /// The first characters of the state's digest that name it.
    const NAMED: usize = 8;

    /// Of the trip whose state has this digest, in hexadecimal.
    pub(super) fn of(app: &App, state_digest: &str) -> Self {
        let prefix = if is_secure(app) { "__Host-" } else { "" };
        let named = state_digest.get(..Self::NAMED).unwrap_or_default();
        Self(format!("{prefix}pm-attempt-{named}"))
    }

    /// What the browser sent.
    pub(super) fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        sent(headers, &self.0)
    }

    /// The header that sets it for `age_s` seconds.
    pub(super) fn set(&self, app: &App, value: &str, age_s: i64) -> Option<HeaderValue> {
        line(app, &self.0, value, Some(age_s))
    }

    /// The header that takes it away.
    pub(super) fn clear(&self, app: &App) -> Option<HeaderValue> {
        self.set(app, "", 0)
    }
}

/// The value of a cookie of a request.
fn sent<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(given, _)| *given == name)
        .map(|(_, value)| value)
}

/// The header that sets a cookie.
fn line(app: &App, name: &str, value: &str, age_s: Option<i64>) -> Option<HeaderValue> {
    let secure = if is_secure(app) { "; Secure" } else { "" };
    let age = age_s.map(|age| format!("; Max-Age={age}")).unwrap_or_default();
    let text = format!("{name}={value}{secure}; HttpOnly; SameSite=Lax; Path=/{age}");
    HeaderValue::from_str(&text).ok()
}

fn is_secure(app: &App) -> bool {
    app.public_address().starts_with("https://")
}
