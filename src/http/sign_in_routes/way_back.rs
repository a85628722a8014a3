//! What a browser without a session carries: the path it wanted, and that somebody signed in with it before. Both are
//! signed, so that looking at a page writes nothing and nobody else can make one.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;

use crate::app::App;
use crate::digest::sha256_hex;
use crate::http::cookies::Cookie;
use crate::studio::{self, Response};

use super::set;

/// How long the way back is kept, in seconds.
const RETURN_S: i64 = 15 * 60;
/// How long a browser is known to an account, in seconds.
const DEVICE_S: i64 = 180 * 24 * 60 * 60;
/// The longest path that is kept, in bytes.
const LONGEST: usize = 1_024;

/// Sends a browser to sign in, and from there back to `path`, a path of our own.
pub(crate) fn to_sign_in(app: &App, path: &str) -> Response {
    let mut response = studio::see_other("/sign-in");
    set(&mut response, remember(app, path));
    response
}

/// The cookie that leads to `path`, a path of our own, after signing in.
pub(super) fn remember(app: &App, path: &str) -> Option<http::HeaderValue> {
    if is_own(path) { sealed(app, Cookie::Return, path, RETURN_S) } else { None }
}

/// A path of this server alone: never another host's, also not in a browser that takes `\` for `/`.
fn is_own(path: &str) -> bool {
    let mut bytes = path.bytes();
    path.len() <= LONGEST
        && bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// Where the browser wanted to go.
pub(super) fn read(app: &App, headers: &HeaderMap) -> Option<String> {
    open(app, Cookie::Return, headers).filter(|path| is_own(path))
}

/// The cookie that tells that this browser belongs to somebody of `email`; its name stays the same from sign-in to sign-in.
pub(super) fn device(app: &App, headers: &HeaderMap, email: &str) -> Option<http::HeaderValue> {
    let name = device_name(app, headers, email).unwrap_or_else(|| app.ids.base62("", 22));
    sealed(app, Cookie::Device, &format!("{name} {}", sha256_hex(email)), DEVICE_S)
}

/// The name of the browser, where somebody of `email` signed in with it before.
pub(super) fn device_name(app: &App, headers: &HeaderMap, email: &str) -> Option<String> {
    let text = open(app, Cookie::Device, headers)?;
    let (name, whose) = text.split_once(' ')?;
    (whose == sha256_hex(email)).then(|| name.to_owned())
}

fn label(cookie: Cookie) -> &'static str {
    if cookie == Cookie::Return { "cookie-return" } else { "cookie-device" }
}

fn sealed(app: &App, cookie: Cookie, text: &str, age_s: i64) -> Option<http::HeaderValue> {
    let body = format!("{}.{}", URL_SAFE_NO_PAD.encode(text), app.clock.now_ms() / 1_000 + age_s);
    let key = app.secrets.derive(label(cookie)).ok()?;
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_slice()), body.as_bytes());
    cookie.set(app, &format!("{body}.{}", URL_SAFE_NO_PAD.encode(tag)), Some(age_s))
}

fn open(app: &App, cookie: Cookie, headers: &HeaderMap) -> Option<String> {
    let value = cookie.read(app, headers)?;
    let (body, tag) = value.rsplit_once('.')?;
    let (text, end_s) = body.split_once('.')?;
    let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
    let made = |key: &[u8]| hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), body.as_bytes(), &tag).is_ok();
    let keys = app.secrets.derive_all(label(cookie)).ok()?;
    let living = end_s.parse::<i64>().is_ok_and(|end_s| app.clock.now_ms() / 1_000 < end_s);
    if !living || !keys.iter().any(|key| made(key.as_slice())) {
        return None;
    }
    String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::is_own;

    /// Security case 37.
    #[test]
    fn the_way_back_is_a_path_of_our_own() {
        for good in ["/", "/connect/link_1", "/oauth/authorize?client_id=https%3A%2F%2Fa.test"] {
            assert!(is_own(good), "{good}");
        }
        let long = format!("/{}", "a".repeat(1_024));
        for bad in
            ["", "//evil.test", "/\\evil.test", "/a\\b", "https://evil.test", "/a\nb", "/ä", "javascript:x", &long]
        {
            assert!(!is_own(bad), "{bad}");
        }
    }
}
