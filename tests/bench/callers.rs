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
use crate::scene::SECRETS_KEY;

/// Checks of each kind in a turn.
const CHECKS: usize = 500;
/// How often the orgs take turns: what else the machine does, such as the database tidying up, meets both alike.
const TURNS: usize = 4;
/// Older than any row that is still believed, in milliseconds.
const TOO_OLD_MS: i64 = 5_000;
/// Where people sign in to what is measured.
const PUBLIC_URL: &str = "http://localhost:5555";

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
    let mut orgs = Vec::new();
    for (org, keys, people) in [("few", 10, 10), ("many", 10_000, 1_000)] {
        let crowd = Crowd::gather(&app, org, keys, people).await?;
        see_each(&app, &crowd).await?;
        orgs.push((crowd, Samples::default(), Samples::default()));
    }
    for _ in 0..TURNS {
        for (crowd, key, token) in &mut orgs {
            check_keys(&app, &clock, crowd, key).await?;
            check_tokens(&app, &clock, crowd, token).await?;
        }
    }
    app.ledger.store().close().await;
    let checked = orgs.into_iter().map(|(crowd, key, token)| Checked {
        name,
        keys: crowd.keys,
        people: crowd.people,
        key: key.medians(),
        token: token.medians(),
    });
    Ok(checked.collect())
}

/// Times of single checks, in microseconds.
#[derive(Default)]
struct Samples {
    recent: Vec<f64>,
    read: Vec<f64>,
}

impl Samples {
    fn medians(self) -> Times {
        Times { recent_us: crate::middle(self.recent), read_us: crate::middle(self.read) }
    }
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
        shared_clock: None,
        resolver: Arc::new(SystemResolver),
        log_secrets: SecretRegistry::new(),
    };
    App::start(settings, surroundings).await.map_err(|error| Error::other(error.0))
}

/// Everybody's first call of a day writes that they were seen, which is no part of the check.
async fn see_each(app: &App, crowd: &Crowd) -> Result<()> {
    for person in &crowd.members {
        let token = issued(app, crowd.org, person)?;
        app.identity.token_caller(&token, &Resource::Own).await.map_err(Error::other)?;
    }
    Ok(())
}

async fn check_keys(app: &App, clock: &ManualClock, crowd: &Crowd, samples: &mut Samples) -> Result<()> {
    for round in 0..CHECKS {
        clock.advance_ms(TOO_OLD_MS);
        let text = &crowd.texts[round % crowd.texts.len()];
        for times in [&mut samples.read, &mut samples.recent] {
            let began = Instant::now();
            let caller = app.identity.stored_key_caller(text.expose()).await.map_err(Error::other)?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
            caller.ok_or_else(|| Error::other("a key is not known"))?;
        }
    }
    Ok(())
}

async fn check_tokens(app: &App, clock: &ManualClock, crowd: &Crowd, samples: &mut Samples) -> Result<()> {
    for round in 0..CHECKS {
        clock.advance_ms(TOO_OLD_MS);
        let person = &crowd.members[round % crowd.members.len()];
        // Each check is of a token nobody saw before, so that none is of one remembered.
        for times in [&mut samples.read, &mut samples.recent] {
            let token = issued(app, crowd.org, person)?;
            let began = Instant::now();
            let caller = app.identity.token_caller(&token, &Resource::Own).await.map_err(Error::other)?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
            caller.ok_or_else(|| Error::other("a token proves nobody"))?;
        }
    }
    Ok(())
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
