//! What a person allows or denies a client (`identity.md` 7.3), and for how long that is remembered.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use zeroize::Zeroizing;

use super::authorize::Asked;
use super::client::Client;
use super::codes::{self, Allowed};
use super::requests::{self, Waiting};
use super::scopes::Scopes;
use super::{AuthorizationServer, SERVER, actor_of, clients, redirect_uri};
use crate::digest::sha256_hex;
use crate::error::{Problem, Reason, Result};
use crate::ledger::{Changed, Event};
use crate::store::Connection;
use crate::{on_connection, on_pool};

/// How long a consent is remembered, in milliseconds.
pub const REMEMBERED_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// How long a shown page can be answered.
pub const PAGE_MS: i64 = 10 * 60 * 1_000;

/// What the key of form tokens is derived for.
const PURPOSE: &str = "consent";

const REMEMBERED: &str = "SELECT org, scopes FROM oauth_consents WHERE person = $1 AND client = $2 AND redirect_uri = $3 \
     AND resources = $4 AND given_at > $5 ORDER BY given_at DESC, org";
const REMEMBER: &str = "INSERT INTO oauth_consents (org, person, client, redirect_uri, resources, scopes, given_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (org, person, client, redirect_uri, resources) \
     DO UPDATE SET scopes = excluded.scopes, given_at = excluded.given_at";

/// The person in front of the page.
#[derive(Debug, Clone)]
pub struct Consenter {
    /// Their id, `user_…`.
    pub person: String,
    /// Their name.
    pub name: String,
    /// The digest of their session's id.
    pub session: String,
    /// When they signed in, in milliseconds.
    pub auth_time_ms: i64,
}

/// An org the person can choose, with what their role there allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The org.
    pub org: String,
    /// Its name.
    pub name: String,
    /// What the person may do there.
    pub rights: Scopes,
}

/// What the person decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The org.
    pub org: String,
    /// What is granted: never more than asked for, nor than the role allows.
    pub scopes: Scopes,
}

/// What is granted of `asked` where the person left `ticked` ticked: the reads in any case.
pub fn granted(asked: Scopes, rights: Scopes, ticked: Scopes) -> Scopes {
    asked.and(rights).and(ticked.or(asked.reads())).closure().and(rights)
}

impl AuthorizationServer {
    /// The token of the consent form: bound to the session, the request and the moment the page was shown.
    pub fn consent_token(&self, session: &str, request: &str) -> Result<String> {
        let (key, shown_at) = (self.0.secrets.derive(PURPOSE)?, self.now());
        let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_slice());
        let tag = hmac::sign(&key, form_of(session, request, shown_at).as_bytes());
        Ok(format!("{shown_at}.{}", URL_SAFE_NO_PAD.encode(tag)))
    }

    /// Refuses a form that is not of this session and request, or whose page was shown more than ten minutes ago.
    pub fn check_consent_token(&self, session: &str, request: &str, given: &str) -> Result<()> {
        let refused =
            || Problem::new(Reason::Forbidden, "The page is no longer current. Begin again in your application.");
        let (shown_at, tag) = given.split_once('.').ok_or_else(refused)?;
        let shown_at: i64 = shown_at.parse().map_err(|_| refused())?;
        let tag = URL_SAFE_NO_PAD.decode(tag).map_err(|_| refused())?;
        let text = form_of(session, request, shown_at);
        // A page that was shown before a change of the store's keys is good after it.
        let made = |key: &[u8]| hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes(), &tag).is_ok();
        let same = self.0.secrets.derive_all(PURPOSE)?.iter().any(|key| made(key.as_slice()));
        let timely = (0..=PAGE_MS).contains(&self.now().saturating_sub(shown_at));
        if same && timely { Ok(()) } else { Err(refused()) }
    }

    /// The decision that stands for `asked`, where the person made one that covers it and need not be asked again:
    /// in one of `places`, the latest first.
    pub async fn remembered(
        &self,
        person: &str,
        client: &Client,
        asked: &Asked,
        places: &[Place],
    ) -> Result<Option<Decision>> {
        if !client.may_be_remembered(&asked.redirect_uri) {
            return Ok(None);
        }
        let resources = serde_json::to_string(&asked.resources)?;
        let rows: Vec<(String, String)> = on_pool!(self.0.ledger.store(), pool => sqlx::query_as(REMEMBERED)
            .bind(person).bind(&client.id).bind(&asked.redirect_uri).bind(&resources).bind(self.now() - REMEMBERED_MS)
            .fetch_all(pool).await)?;
        Ok(rows.into_iter().find_map(|(org, scopes)| {
            let place = places.iter().find(|place| place.org == org)?;
            let wanted = asked.scopes.and(place.rights);
            wanted.within(Scopes::known(&scopes)).then_some(Decision { org, scopes: wanted })
        }))
    }

    /// The person allows: the request is over, a code stands for it. `None` where somebody answered it before.
    pub async fn allow(
        &self,
        waiting: &Waiting,
        client: &Client,
        person: &Consenter,
        decision: &Decision,
    ) -> Result<Option<Zeroizing<String>>> {
        let actor = actor_of(&person.person, &person.name);
        let facts = json!({
            "client_id": client.id,
            "client_name": client.name,
            "returns_to": redirect_uri::policy_source(&waiting.asked.redirect_uri),
            "resources": waiting.asked.resources,
            "scopes": decision.scopes,
        });
        let event = Event::audit(stream(&client.id), "consent_given", actor, facts);
        self.answer(waiting, client, person, decision, Some(event)).await
    }

    /// A code without asking, since what was decided before covers it.
    pub async fn allow_again(
        &self,
        waiting: &Waiting,
        client: &Client,
        person: &Consenter,
        decision: &Decision,
    ) -> Result<Option<Zeroizing<String>>> {
        self.answer(waiting, client, person, decision, None).await
    }

    async fn answer(
        &self,
        waiting: &Waiting,
        client: &Client,
        person: &Consenter,
        decision: &Decision,
        event: Option<Event>,
    ) -> Result<Option<Zeroizing<String>>> {
        let code = Zeroizing::new(self.0.ids.base62("pmc_", 43));
        let remember = event.is_some() && client.may_be_remembered(&waiting.asked.redirect_uri);
        let allowed = Allowed {
            org: decision.org.clone(),
            person: person.person.clone(),
            scopes: decision.scopes,
            auth_time_ms: person.auth_time_ms,
        };
        let (waiting, made, now) = (waiting.clone(), code.clone(), self.now());
        let kept = self
            .0
            .ledger
            .commit(
                &decision.org,
                Box::new(move |connection| {
                    Box::pin(async move {
                        if !requests::finish(connection, &waiting.id, now).await? {
                            return Ok(Changed::nothing(false));
                        }
                        codes::insert(connection, &made, &waiting.asked, &allowed, now).await?;
                        clients::used(connection, &waiting.asked.client, now).await?;
                        if remember {
                            keep(connection, &waiting.asked, &allowed, now).await?;
                        }
                        Ok(Changed::of(true, event))
                    })
                }),
            )
            .await?;
        Ok(kept.then_some(code))
    }

    /// The person denies, or may not: the request is over. `org` is where they would have allowed it, where that is
    /// known. Whether it was still open.
    pub async fn deny(
        &self,
        waiting: &Waiting,
        client: &Client,
        person: &Consenter,
        org: Option<&str>,
    ) -> Result<bool> {
        let facts = json!({ "client_id": client.id, "client_name": client.name, "resources": waiting.asked.resources });
        let event = Event::audit(stream(&client.id), "consent_denied", actor_of(&person.person, &person.name), facts);
        let (id, now) = (waiting.id.clone(), self.now());
        self.0
            .ledger
            .commit(
                org.unwrap_or(SERVER),
                Box::new(move |connection| {
                    Box::pin(async move {
                        let open = requests::finish(connection, &id, now).await?;
                        Ok(Changed::of(open, open.then_some(event)))
                    })
                }),
            )
            .await
    }
}

fn form_of(session: &str, request: &str, shown_at: i64) -> String {
    format!("{session}\n{}\n{shown_at}", sha256_hex(request))
}

fn stream(client: &str) -> String {
    format!("clients/{client}")
}

async fn keep(connection: &mut Connection, asked: &Asked, allowed: &Allowed, now: i64) -> Result<()> {
    let resources = serde_json::to_string(&asked.resources)?;
    on_connection!(connection, c => sqlx::query(REMEMBER)
        .bind(&allowed.org).bind(&allowed.person).bind(&asked.client).bind(&asked.redirect_uri).bind(&resources)
        .bind(allowed.scopes.to_string()).bind(now).execute(c).await.map(|_| ()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_takes_writes_out_and_never_reads() {
        let asked = Scopes::known("org:read org:write playbook:read playbook:write org:admin");
        let of = |rights: &str, ticked: &str| granted(asked, Scopes::known(rights), Scopes::known(ticked)).to_string();
        let all = asked.to_string();
        assert_eq!(of(&all, &all), all);
        assert_eq!(of(&all, ""), "org:read playbook:read");
        assert_eq!(of(&all, "playbook:write"), "org:read playbook:read playbook:write");
        assert_eq!(of("org:read playbook:read", &all), "org:read playbook:read", "the role lacks the rest");
        assert_eq!(
            granted(Scopes::known("org:read"), asked, asked).to_string(),
            "org:read",
            "never more than asked for"
        );
    }
}
