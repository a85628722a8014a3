//! The signing keys: made and read in the database, private parts from the secrets store, held in memory between.

use std::sync::{Arc, PoisonError, RwLock};

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jsonwebtoken::{DecodingKey, EncodingKey};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::signing::{self, AHEAD_MS, Times};
use super::{AuthorizationServer, SERVER};
use crate::digest::sha256;
use crate::error::{Problem, Result};
use crate::ledger::{Actor, Changed, Event};
use crate::secrets::{Fields, SecretsStore};
use crate::store::Connection;
use crate::{on_connection, on_pool};

const ALL: &str =
    "SELECT kid, public_key, created_at, signs_from, revoked_at FROM oauth_signing_keys ORDER BY signs_from, kid";
const INSERT: &str = "INSERT INTO oauth_signing_keys (kid, public_key, created_at, signs_from) VALUES ($1, $2, $3, $4)";
const REVOKE: &str = "UPDATE oauth_signing_keys SET revoked_at = $1 WHERE revoked_at IS NULL AND kid <> $2";
const FORGET: &str = "DELETE FROM oauth_signing_keys WHERE kid = $1";
/// The field of the private part in the secrets store.
const PRIVATE: &str = "private";
/// How long after its end a key's row is kept, so that the audit's word about it can still be looked up.
const KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// A published key.
#[derive(Clone)]
pub struct PublicKey {
    /// Its id: the thumbprint of RFC 7638.
    pub kid: String,
    /// Itself as a JWK (RFC 7517).
    pub jwk: Value,
    /// What checks signatures with it.
    pub key: Arc<DecodingKey>,
}

/// The keys as they were read last.
#[derive(Default)]
pub(super) struct Held(RwLock<Arc<Vec<Kept>>>);

#[derive(Clone)]
struct Kept {
    public: PublicKey,
    times: Times,
    private: Option<Arc<EncodingKey>>,
}

#[derive(sqlx::FromRow)]
struct Row {
    kid: String,
    public_key: String,
    created_at: i64,
    signs_from: i64,
    revoked_at: Option<i64>,
}

impl Row {
    const fn times(&self) -> Times {
        Times { created_at: self.created_at, signs_from: self.signs_from, revoked_at: self.revoked_at }
    }
}

/// How a next key begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotation {
    /// When one is due, and only then.
    Due,
    /// In a day, whatever is due.
    Asked,
    /// At once, and every other key is taken back: one has leaked.
    Leaked,
}

impl Held {
    fn get(&self) -> Arc<Vec<Kept>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, keys: Vec<Kept>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }
}

impl AuthorizationServer {
    /// The published keys, as they were read last; at most a minute old.
    pub fn public_key_set(&self) -> Vec<PublicKey> {
        let (kept, now) = (self.0.keys.get(), self.now());
        let times: Vec<Times> = kept.iter().map(|key| key.times).collect();
        let published = kept.iter().enumerate().filter(|(at, _)| signing::is_published(&times, *at, now));
        published.map(|(_, key)| key.public.clone()).collect()
    }

    /// The published key of an id.
    pub fn public_key(&self, kid: &str) -> Option<PublicKey> {
        self.public_key_set().into_iter().find(|key| key.kid == kid)
    }

    /// The key that signs now, and its id.
    pub(super) fn signing_key(&self) -> Result<(String, Arc<EncodingKey>)> {
        let kept = self.0.keys.get();
        let times: Vec<Times> = kept.iter().map(|key| key.times).collect();
        let chosen = signing::signing(&times, self.now()).map(|at| &kept[at]);
        chosen
            .and_then(|key| Some((key.public.kid.clone(), key.private.clone()?)))
            .ok_or_else(|| Problem::unavailable("There is no key to sign tokens with just now."))
    }

    /// Reads the keys anew, and makes one where one is due.
    pub async fn refresh_signing_keys(&self) -> Result<()> {
        let rows = self.key_rows().await?;
        let times: Vec<Times> = rows.iter().map(Row::times).collect();
        if signing::is_due(&times, self.now()) {
            self.rotate_signing_key(Rotation::Due, Actor::system()).await?;
            return Ok(());
        }
        self.hold(rows).await
    }

    /// Makes the next key, with the event that says so; `None` where none was due after all.
    pub async fn rotate_signing_key(&self, rotation: Rotation, actor: Actor) -> Result<Option<String>> {
        let (kid, public, private) = generate()?;
        let fields = Fields::from([(PRIVATE.to_owned(), private)]);
        let sealed = self.0.secrets.seal(SERVER, &kid, 1, &fields)?;
        let (now, made) = (self.now(), kid);
        let kid = self
            .0
            .ledger
            .commit(
                SERVER,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let rows = on_connection!(connection, c => sqlx::query_as::<_, Row>(ALL).fetch_all(c).await)?;
                        let times: Vec<Times> = rows.iter().map(Row::times).collect();
                        // Another server may have been quicker.
                        if rotation == Rotation::Due && !signing::is_due(&times, now) {
                            return Ok(Changed::nothing(None));
                        }
                        let first = times.iter().all(|key| key.revoked_at.is_some());
                        let signs_from = if first || rotation == Rotation::Leaked { now } else { now + AHEAD_MS };
                        insert(connection, &made, &public, now, signs_from).await?;
                        SecretsStore::put(connection, &sealed).await?;
                        if rotation == Rotation::Leaked {
                            on_connection!(connection, c => sqlx::query(REVOKE).bind(now).bind(&made)
                                .execute(c).await.map(|_| ()))?;
                        }
                        let facts = json!({
                            "kid": made,
                            "signs_from": crate::clock::iso(signs_from),
                            "others_revoked": rotation == Rotation::Leaked,
                        });
                        let event = Event::audit(format!("signing_keys/{made}"), "signing_key_rotated", actor, facts);
                        Ok(Changed::by(Some(made), event))
                    })
                }),
            )
            .await?;
        let rows = self.key_rows().await?;
        self.hold(rows).await?;
        Ok(kid)
    }

    /// Forgets keys whose tokens all ended long ago, private parts included.
    pub(super) async fn forget_signing_keys(&self) -> Result<()> {
        let (rows, now) = (self.key_rows().await?, self.now());
        let times: Vec<Times> = rows.iter().map(Row::times).collect();
        for (at, row) in rows.iter().enumerate() {
            let ended = match row.revoked_at {
                Some(revoked_at) => revoked_at + KEPT_MS < now,
                None => !signing::is_published(&times, at, now - KEPT_MS),
            };
            if ended {
                let kid = row.kid.clone();
                let why = "that a key signs no more was told when the next one was made";
                let work: crate::store::Work<()> = Box::new(move |connection| {
                    Box::pin(async move {
                        SecretsStore::delete(connection, SERVER, &kid).await?;
                        on_connection!(connection, c => sqlx::query(FORGET).bind(&kid).execute(c).await.map(|_| ()))?;
                        Ok(())
                    })
                });
                self.0.ledger.store().housekeeping(SERVER, why, work).await?;
            }
        }
        Ok(())
    }

    async fn key_rows(&self) -> Result<Vec<Row>> {
        Ok(on_pool!(self.0.ledger.store(), pool => sqlx::query_as::<_, Row>(ALL).fetch_all(pool).await)?)
    }

    /// Holds these rows, each with its private part; one whose private part cannot be read still checks signatures.
    async fn hold(&self, rows: Vec<Row>) -> Result<()> {
        let before = self.0.keys.get();
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            let known = before.iter().find(|key| key.public.kid == row.kid);
            kept.push(match known {
                Some(key) if key.private.is_some() => Kept { times: row.times(), ..key.clone() },
                _ => Kept {
                    times: row.times(),
                    private: self.private_part(&row.kid).await,
                    public: public_key(row.kid, &row.public_key)?,
                },
            });
        }
        self.0.keys.set(kept);
        (self.0.on_keys)(&self.key_set());
        Ok(())
    }

    async fn private_part(&self, kid: &str) -> Option<Arc<EncodingKey>> {
        let fields = self.0.secrets.get(SERVER, kid, 1).await.ok()?;
        let der = Zeroizing::new(STANDARD.decode(fields.get(PRIVATE)?.as_bytes()).ok()?);
        Some(Arc::new(EncodingKey::from_ec_der(&der)))
    }
}

async fn insert(connection: &mut Connection, kid: &str, public: &Value, now: i64, signs_from: i64) -> Result<()> {
    on_connection!(connection, c => sqlx::query(INSERT)
        .bind(kid).bind(public.to_string()).bind(now).bind(signs_from).execute(c).await.map(|_| ()))?;
    Ok(())
}

fn public_key(kid: String, text: &str) -> Result<PublicKey> {
    let jwk: Value = serde_json::from_str(text)?;
    let part = |name: &str| jwk[name].as_str().unwrap_or_default();
    let key = DecodingKey::from_ec_components(part("x"), part("y")).map_err(Problem::internal)?;
    Ok(PublicKey { key: Arc::new(key), jwk, kid })
}

/// A new key on P-256: its id, its public part as a JWK, its private part as PKCS #8 in base64.
fn generate() -> Result<(String, Value, Zeroizing<String>)> {
    let failed = |_| Problem::internal("a signing key could not be made");
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map_err(failed)?;
    let point = pair.public_key().as_ref();
    // An uncompressed point: 4, then both coordinates (SEC 1, section 2.3.3).
    let [4, coordinates @ ..] = point else { return Err(Problem::internal("a public key of an unknown form")) };
    let (x, y) = coordinates.split_at(coordinates.len() / 2);
    let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
    // RFC 7638: the members that make the key, in order of their names.
    let kid = URL_SAFE_NO_PAD.encode(sha256(format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#)));
    let public = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y, "use": "sig", "alg": "ES256", "kid": kid });
    let private = pair.to_pkcs8v1().map_err(failed)?;
    Ok((kid, public, Zeroizing::new(STANDARD.encode(private.as_ref()))))
}
