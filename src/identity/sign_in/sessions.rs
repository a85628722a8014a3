//! Sessions of Studio: a random id in a cookie, of which the digest alone is kept (`identity.md` 8.3).
//!
//! A session ends by itself twelve hours after it was last used and fourteen days after it began; it gets a new id with
//! each proof of who somebody is.

mod stored;

use std::sync::Arc;

use serde_json::json;

pub use stored::{end, end_all, open};

use super::{SERVER, actor};
use crate::digest::sha256_hex;
use crate::error::Result;
use crate::identity::{Identity, Person};
use crate::ledger::{Actor, Changed, Event, Origin, Via};

/// How long a session lives without use, in milliseconds.
pub const IDLE_MS: i64 = 12 * 60 * 60 * 1_000;
/// How long it lives in all.
pub const LIFE_MS: i64 = 14 * 24 * 60 * 60 * 1_000;
/// The most sessions of a person; the oldest gives way.
pub const MOST: i64 = 50;
/// How often its last use is written down at most.
const SEEN_EVERY_MS: i64 = 60_000;
/// The characters of an id: 43 of base62 are 256 bits.
const ID_LENGTH: usize = 43;

/// A way to prove who one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A password.
    Password,
    /// A passkey.
    Passkey,
    /// A provider of identities.
    Upstream,
    /// A one-time link or code.
    Code,
}

impl Method {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Passkey => "passkey",
            Self::Upstream => "upstream",
            Self::Code => "code",
        }
    }
}

/// Where a request came from, as it is kept with a session and told in the audit.
#[derive(Debug, Clone, Default)]
pub struct Browser {
    /// Its `User-Agent`, at most 200 characters.
    pub user_agent: String,
    /// Its address.
    pub address: String,
}

impl Browser {
    /// Somebody who acts through it.
    pub(super) fn acting(&self, who: Actor) -> Actor {
        let address = self.address.parse().ok();
        let agent = Some(self.user_agent.as_str()).filter(|agent| !agent.is_empty());
        who.from(Arc::new(Origin::of_request(Via::Studio, "", address, agent)))
    }
}

/// A living session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The digest of its id: what names it here.
    pub digest: String,
    /// Whose it is, `user_…`.
    pub person: String,
    /// In milliseconds since the epoch.
    pub created_at_ms: i64,
    /// When it was last used, exact to a minute.
    pub last_seen_at_ms: i64,
    /// When it ends at the latest.
    pub expires_at_ms: i64,
    /// When the person last proved who they are.
    pub auth_time_ms: i64,
    /// How they did, such as `password`.
    pub auth_methods: String,
    /// Whether the browser keeps it after it was closed.
    pub remembered: bool,
    /// The browser's own name.
    pub user_agent: String,
    /// The address it began from.
    pub address: String,
    /// The provider its person signed in at; none where they did here.
    pub upstream: Option<String>,
    /// The one org it is for, where an issuer's word makes its person a member; none for every org of theirs.
    pub org: Option<String>,
}

impl Session {
    /// Whether its person acts in `org` with it, as far as the session goes.
    pub fn is_for(&self, org: &str) -> bool {
        self.org.as_ref().is_none_or(|only| only == org)
    }

    /// The browser it began in.
    pub fn browser(&self) -> Browser {
        Browser { user_agent: self.user_agent.clone(), address: self.address.clone() }
    }
}

/// The event of a sign-in.
pub(super) fn signed_in(person: &Person, method: Method, session: &Session) -> Event {
    let who = session.browser().acting(actor(person));
    let mut facts = json!({ "method": method.word() });
    if let Some(provider) = &session.upstream {
        facts["provider"] = provider.as_str().into();
    }
    Event::audit(format!("people/{}", person.id), "sign_in", who, facts)
}

/// A session that has just begun, with the id its browser gets.
pub struct Opened {
    /// The id; kept nowhere.
    pub id: String,
    /// The session.
    pub session: Session,
}

impl Identity {
    /// A new session of `person`, not yet written: [`open`] does, inside the commit of what opened it.
    pub fn new_session(&self, person: &str, method: Method, remembered: bool, browser: &Browser) -> Opened {
        let (id, now) = (self.ids.base62("", ID_LENGTH), self.clock.now_ms());
        let session = Session {
            digest: sha256_hex(&id),
            person: person.to_owned(),
            created_at_ms: now,
            last_seen_at_ms: now,
            expires_at_ms: now + LIFE_MS,
            auth_time_ms: now,
            auth_methods: method.word().to_owned(),
            remembered,
            user_agent: browser.user_agent.chars().take(200).collect(),
            address: browser.address.clone(),
            upstream: None,
            org: None,
        };
        Opened { id, session }
    }

    /// Opens a session of a person who has just proved who they are; `before` is the one it replaces.
    pub async fn sign_in(
        &self,
        person: &Person,
        method: Method,
        remembered: bool,
        browser: &Browser,
        before: Option<&Session>,
    ) -> Result<Opened> {
        let opened = self.new_session(&person.id, method, remembered, browser);
        let (id, session) = (opened.id.clone(), opened.session.clone());
        let before = before.cloned();
        let event = signed_in(person, method, &session);
        self.ledger
            .commit(
                SERVER,
                Box::new(move |connection| {
                    Box::pin(async move {
                        open(connection, &id, &session, before.as_ref()).await?;
                        Ok(Changed::by((), event))
                    })
                }),
            )
            .await?;
        Ok(opened)
    }

    /// The living session of a cookie's id; `None` alike for an unknown, an ended and a malformed one, and for that of
    /// somebody whose account cannot be used.
    pub async fn session(&self, id: &str) -> Result<Option<Session>> {
        if id.len() != ID_LENGTH || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Ok(None);
        }
        let (digest, now) = (sha256_hex(id), self.clock.now_ms());
        let Some(session) = stored::one(self.ledger.store(), &digest, now).await? else { return Ok(None) };
        if !self.person(&session.person).await?.is_some_and(|person| person.is_active()) {
            return Ok(None);
        }
        if now - session.last_seen_at_ms >= SEEN_EVERY_MS {
            self.used(digest, now).await?;
        }
        Ok(Some(session))
    }

    async fn used(&self, digest: String, now: i64) -> Result<()> {
        let why = "when a session was last used";
        self.ledger
            .store()
            .housekeeping(
                SERVER,
                why,
                Box::new(move |connection| Box::pin(async move { stored::seen(connection, &digest, now).await })),
            )
            .await
    }

    /// The living sessions of a person, the newest first.
    pub async fn sessions_of(&self, person: &str) -> Result<Vec<Session>> {
        stored::of_person(self.ledger.store(), person, self.clock.now_ms()).await
    }

    /// Ends a session by its own person's wish: `sign_out` where it is the one they use, else `session_revoked`.
    pub async fn end_session(&self, person: &Person, digest: &str, kind: &'static str) -> Result<bool> {
        let (id, digest) = (person.id.clone(), digest.to_owned());
        let event = Event::audit(format!("people/{}", person.id), kind, actor(person), json!({}));
        self.ledger
            .commit(
                SERVER,
                Box::new(move |connection| {
                    Box::pin(async move {
                        if !end(connection, &id, &digest).await? {
                            return Ok(Changed::nothing(false));
                        }
                        Ok(Changed::by(true, event))
                    })
                }),
            )
            .await
    }

    /// Ends every session of a person but `kept`.
    pub async fn end_other_sessions(&self, person: &Person, kept: Option<&str>) -> Result<u64> {
        let (id, kept, who) = (person.id.clone(), kept.map(str::to_owned), actor(person));
        self.ledger
            .commit(
                SERVER,
                Box::new(move |connection| {
                    Box::pin(async move {
                        let ended = end_all(connection, &id, kept.as_deref()).await?;
                        if ended == 0 {
                            return Ok(Changed::nothing(0));
                        }
                        let data = json!({ "sessions": ended });
                        Ok(Changed::by(ended, Event::audit(format!("people/{id}"), "session_revoked", who, data)))
                    })
                }),
            )
            .await
    }

    /// Forgets sessions that have ended.
    pub async fn sweep_sessions(&self) -> Result<u64> {
        let now = self.clock.now_ms();
        let why = "sessions that ended by themselves";
        self.ledger
            .store()
            .housekeeping(SERVER, why, Box::new(move |connection| Box::pin(stored::forget_ended(connection, now))))
            .await
    }
}
