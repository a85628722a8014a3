//! What a client holds between the call that adds a connection and the same call again: sealed, so that it says nothing and
//! cannot be made up, and bound to whoever it was given to (`connections.md` 3.6).

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::Connections;
use crate::error::{Problem, Result};

/// What the key is derived for.
const LABEL: &str = "request-state";
/// What every state begins with under its seal, so that another form is never taken for this one.
const FORM: &[u8] = b"playmaker request state 1";
/// The longest state that is looked at, in characters; ours are far shorter.
const MAX: usize = 4_096;

/// What is sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestState {
    /// The org of the connection.
    pub org: String,
    /// The caller id it was given to.
    pub principal: String,
    /// The connection.
    pub connection: String,
    /// The link that approves it.
    pub link: String,
    /// The tool that was called.
    pub method: String,
    /// SHA-256 of the arguments, in hexadecimal.
    pub arguments: String,
    /// When it ends, in milliseconds since the epoch.
    pub ends_at: i64,
}

impl Connections {
    /// Seals a state under the present key of the secrets store.
    ///
    /// # Errors
    /// When the store gives no key.
    pub fn seal_state(&self, state: &RequestState) -> Result<String> {
        let key = cipher(&*self.secrets.derive(LABEL)?)?;
        let nonce: [u8; NONCE_LEN] = self.ids.bytes();
        let mut sealed = serde_json::to_vec(state)?;
        let nonce_used = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(nonce_used, Aad::from(FORM), &mut sealed).map_err(|_| refused())?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &sealed].concat()))
    }

    /// Opens a state that any key of the store sealed; `None` for whatever else a client sends.
    ///
    /// # Errors
    /// When the store gives no keys.
    pub fn open_state(&self, text: &str) -> Result<Option<RequestState>> {
        let Some(bytes) = (text.len() <= MAX).then(|| URL_SAFE_NO_PAD.decode(text).ok()).flatten() else {
            return Ok(None);
        };
        let Some((nonce, sealed)) = bytes.split_first_chunk::<NONCE_LEN>() else { return Ok(None) };
        for key in self.secrets.derive_all(LABEL)? {
            let mut sealed = sealed.to_vec();
            let nonce = Nonce::assume_unique_for_key(*nonce);
            if let Ok(opened) = cipher(&key)?.open_in_place(nonce, Aad::from(FORM), &mut sealed) {
                return Ok(serde_json::from_slice(opened).ok());
            }
        }
        Ok(None)
    }
}

fn cipher(key: &[u8; 32]) -> Result<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM, key).map(LessSafeKey::new).map_err(|_| refused())
}

fn refused() -> Problem {
    Problem::internal("the cipher refused a request state")
}
