//! How long the check of a caller takes, in an org of ten and in one with ten thousand keys and a thousand people.
//!
//! In the process itself: over a network the check is lost in the rest of a request.

use std::io::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use playmaker::app::{App, Surroundings};
use playmaker::clock::ManualClock;
use playmaker::config::{self, Environment};
use playmaker::egress::SystemResolver;
use playmaker::identity::Resource;
use playmaker::identity::oauth::access_token::Subject;
use playmaker::identity::oauth::scopes::Scopes;
use playmaker::ids::{Ids, SystemEntropy};
use playmaker::telemetry::SecretRegistry;

use crate::crowd::Crowd;

/// Checks of each kind.
const CHECKS: usize = 2_000;
/// Older than any row that is still believed, in milliseconds.
const TOO_OLD_MS: i64 = 5_000;
/// Where people sign in to what is measured.
const PUBLIC_URL: &str = "http://localhost:5555";
/// The sealing key of what is measured: 32 bytes of 7.
const SECRETS_KEY: &str = "first:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";

/// The medians of checks, in microseconds.
pub struct Checked {
    /// The database.
    pub name: &'static str,
    /// Keys of the org.
    pub keys: usize,
    /// People of the org.
    pub people: usize,
    /// Of a key.
    pub key: Times,
    /// Of an access token of the built-in server.
    pub token: Times,
}

/// Medians, in microseconds.
pub struct Times {
    /// With the rows read a moment ago.
    pub recent_us: f64,
    /// With the rows read from the database.
    pub read_us: f64,
}

/// Measures on the database at `url`, in orgs of their own.
pub async fn checks(name: &'static str, url: &str) -> Result<Vec<Checked>> {
    let clock = Arc::new(ManualClock::at(1_790_847_000_000));
    let app = started(url, clock.clone()).await?;
    let mut found = Vec::new();
    for (org, keys, people) in [("few", 10, 10), ("many", 10_000, 1_000)] {
        let crowd = Crowd::gather(&app, org, keys, people).await?;
        found.push(Checked {
            name,
            keys: crowd.keys,
            people: crowd.people,
            key: keys_checked(&app, &clock, &crowd).await?,
            token: tokens_checked(&app, &clock, &crowd).await?,
        });
    }
    app.ledger.store().close().await;
    Ok(found)
}

async fn started(url: &str, clock: Arc<ManualClock>) -> Result<Arc<App>> {
    let set = [("DATABASE_URL", url), ("PUBLIC_URL", PUBLIC_URL), ("SECRETS_KEYS", SECRETS_KEY)];
    let environment: Environment = set.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
    let settings = config::load(&environment, |path| std::fs::read_to_string(path))
        .map_err(|refusal| Error::other(refusal.to_string()))?;
    let surroundings = Surroundings {
        clock,
        ids: Ids::new(Arc::new(SystemEntropy)),
        account: "bench".to_owned(),
        address: SocketAddr::from((Ipv4Addr::LOCALHOST, 5555)),
        resolver: Arc::new(SystemResolver),
        log_secrets: SecretRegistry::new(),
    };
    App::start(settings, surroundings).await.map_err(|error| Error::other(error.0))
}

async fn keys_checked(app: &App, clock: &ManualClock, crowd: &Crowd) -> Result<Times> {
    let (mut read, mut recent) = (Vec::with_capacity(CHECKS), Vec::with_capacity(CHECKS));
    for round in 0..CHECKS {
        clock.advance_ms(TOO_OLD_MS);
        let text = &crowd.texts[round % crowd.texts.len()];
        for times in [&mut read, &mut recent] {
            let began = Instant::now();
            let caller = app.identity.stored_key_caller(text.expose()).await.map_err(Error::other)?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
            caller.ok_or_else(|| Error::other("a key is not known"))?;
        }
    }
    Ok(Times { recent_us: crate::middle(recent), read_us: crate::middle(read) })
}

async fn tokens_checked(app: &App, clock: &ManualClock, crowd: &Crowd) -> Result<Times> {
    let (mut read, mut recent) = (Vec::with_capacity(CHECKS), Vec::with_capacity(CHECKS));
    for round in 0..CHECKS {
        clock.advance_ms(TOO_OLD_MS);
        let person = &crowd.members[round % crowd.members.len()];
        // Each check is of a token nobody saw before, so that none is of one remembered.
        for times in [&mut read, &mut recent] {
            let token = issued(app, crowd.org, person)?;
            let began = Instant::now();
            let caller = app.identity.token_caller(&token, &Resource::Own).await.map_err(Error::other)?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
            caller.ok_or_else(|| Error::other("a token proves nobody"))?;
        }
    }
    Ok(Times { recent_us: crate::middle(recent), read_us: crate::middle(read) })
}

fn issued(app: &App, org: &str, person: &str) -> Result<String> {
    let server = app.oauth.as_ref().ok_or_else(|| Error::other("nobody issues tokens"))?;
    let subject = Subject {
        org: org.to_owned(),
        grant: "grant_bench".to_owned(),
        person: person.to_owned(),
        client: "client_bench".to_owned(),
        resources: vec![format!("{PUBLIC_URL}/mcp")],
        scopes: Scopes::ALL,
        auth_time_ms: app.clock.now_ms(),
    };
    server.issue(&subject).map_err(Error::other)
}
