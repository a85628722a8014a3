//! The token a page's commands carry: bound to the session and to what the page is about, and made alike by every server
//! of the database. One made before a change of the secrets store's keys is still taken while the old key is in the ring.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::app::App;
use crate::error::Result;

/// What stands for the session in local mode, where there is none.
pub(super) const LOCAL: &str = "local";

/// The token for commands about `about` (a link; empty for the session's own) in `session`, the digest of its id.
pub(super) fn token(app: &App, session: &str, about: &str) -> Result<String> {
    let key = app.secrets.derive("csrf")?;
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_slice()), text(session, about).as_bytes());
    Ok(URL_SAFE_NO_PAD.encode(tag))
}

/// Whether `given` is the token for that.
pub(super) fn fits(app: &App, session: &str, about: &str, given: &str) -> Result<bool> {
    let Ok(tag) = URL_SAFE_NO_PAD.decode(given) else { return Ok(false) };
    let text = text(session, about);
    let made = |key: &[u8]| hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes(), &tag).is_ok();
    Ok(app.secrets.derive_all("csrf")?.iter().any(|key| made(key.as_slice())))
}

fn text(session: &str, about: &str) -> String {
    format!("{session}\n{about}")
}
