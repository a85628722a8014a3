//! What a new account is proved by from its first moment on: a password, or a passkey that was made before the account was
//! (`identity.md` 1.2).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::passkeys::{CHALLENGE_MS, INSERT};
use super::sessions::Method;
use super::webauthn::{self, Fault, NewKey, Party};
use super::{SERVER, passwords};
use crate::digest::sha256_hex;
use crate::error::{Problem, Reason, Result};
use crate::identity::Identity;
use crate::on_connection;
use crate::store::Connection;

const KIND: &str = "passkey_first";
const ASK: &str = "INSERT INTO sign_in_attempts (digest, kind, person, data, expires_at) VALUES ($1, $2, $3, '', $4)";
const ANSWER: &str =
    "DELETE FROM sign_in_attempts WHERE digest = $1 AND kind = $2 AND expires_at > $3 RETURNING person";

/// What proves the person of an account that is about to be made.
pub enum FirstProof {
    /// The hash of a password.
    Password(String),
    /// A passkey.
    Passkey(FirstPasskey),
}

/// A passkey made for an account that is about to be made, checked.
pub struct FirstPasskey {
    /// The id the account has to have: the authenticator keeps it with the key.
    person: String,
    id: String,
    name: String,
    public_key: String,
    counter: i64,
}

impl FirstProof {
    /// How the person then signs in.
    pub const fn method(&self) -> Method {
        match self {
            Self::Password(_) => Method::Password,
            Self::Passkey(_) => Method::Passkey,
        }
    }

    /// The id the account has to have, where that is settled already.
    pub fn person(&self) -> Option<&str> {
        match self {
            Self::Password(_) => None,
            Self::Passkey(passkey) => Some(&passkey.person),
        }
    }

    /// Keeps it for a new person, inside a commit.
    ///
    /// # Errors
    /// 409 for a passkey that is there already.
    pub async fn keep(&self, connection: &mut Connection, person: &str, now_ms: i64) -> Result<()> {
        let passkey = match self {
            Self::Password(phc) => return passwords::put(connection, person, phc, now_ms).await,
            Self::Passkey(passkey) => passkey,
        };
        let rows = on_connection!(connection, c => sqlx::query(INSERT)
            .bind(&passkey.id).bind(person).bind(&passkey.name).bind(&passkey.public_key).bind(passkey.counter)
            .bind(now_ms).execute(c).await.map(|done| done.rows_affected()))?;
        if rows == 1 { Ok(()) } else { Err(Problem::new(Reason::Conflict, "This passkey is somebody's already.")) }
    }
}

impl Identity {
    /// A challenge for the passkey of an account still to be made, and the id that account will have.
    pub async fn first_passkey_challenge(&self) -> Result<(String, String)> {
        let challenge = URL_SAFE_NO_PAD.encode(self.ids.bytes::<32>());
        let (digest, ends) = (sha256_hex(&challenge), self.clock.now_ms() + CHALLENGE_MS);
        let person = self.ids.person();
        let kept = person.clone();
        let work: crate::store::Work<()> = Box::new(move |connection| {
            Box::pin(async move {
                on_connection!(connection, c => sqlx::query(ASK)
                    .bind(&digest).bind(KIND).bind(&kept).bind(ends).execute(c).await.map(|_| ()))?;
                Ok(())
            })
        });
        self.ledger.store().housekeeping(SERVER, "a challenge is nothing to tell", work).await?;
        Ok((challenge, person))
    }

    /// Checks a passkey that was made for such a challenge, which is spent.
    ///
    /// # Errors
    /// 422 at `/passkey`.
    pub async fn first_passkey(&self, party: &Party, new: &NewKey) -> Result<FirstProof> {
        let refused = |_: Fault| Problem::invalid("/passkey", "was not made for this page just now: try again");
        let name = crate::identity::people::name(&new.name).ok_or_else(|| refused(Fault::Malformed))?;
        let challenge = webauthn::challenge(party, &new.client_data, "webauthn.create").map_err(refused)?;
        let (digest, now) = (sha256_hex(&challenge), self.clock.now_ms());
        let work: crate::store::Work<Option<(String,)>> = Box::new(move |connection| {
            Box::pin(async move {
                Ok(on_connection!(connection, c => sqlx::query_as(ANSWER)
                    .bind(&digest).bind(KIND).bind(now).fetch_optional(c).await)?)
            })
        });
        let asked = self.ledger.store().housekeeping(SERVER, "a challenge is nothing to tell", work).await?;
        let (person,) = asked.ok_or_else(|| refused(Fault::Elsewhere))?;
        let key = webauthn::new_key(party, new).map_err(refused)?;
        Ok(FirstProof::Passkey(FirstPasskey {
            person,
            id: new.id.clone(),
            name,
            public_key: format!("{}:{}", key.algorithm, key.public_key),
            counter: key.counter,
        }))
    }
}
