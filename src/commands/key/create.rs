//! `playmaker key create`: makes a key and the entry of `api_keys` that lets it in, or with `--store` the row that does.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};

use playmaker::clock::{self, Clock, SystemClock};
use playmaker::config::{self, ApiKey, Environment};
use playmaker::digest::hex;
use playmaker::identity::keys::{self, Draft, Manager};
use playmaker::ids::{Ids, SystemEntropy};

use super::stored;
use crate::commands::{Outcome, note, one_line, say};

/// How long a key of the database works when nothing is said, in days.
const STORED_DAYS: u32 = 90;

#[derive(Args)]
pub(in crate::commands) struct Create {
    /// The org it acts in.
    #[arg(long)]
    org: String,
    /// Its id, or with --store its name, 1 to 32 of a-z 0-9 -; one is made when left out.
    #[arg(long)]
    id: Option<String>,
    /// What it may do, such as org:read,playbook:read; all four permissions when left out. --store needs it.
    #[arg(long, value_delimiter = ',', required_if_eq("store", "true"))]
    permissions: Vec<String>,
    /// The ids of the playbooks it reaches, or *; * when left out.
    #[arg(long, value_delimiter = ',', default_value = "*")]
    playbooks: Vec<String>,
    /// When it stops working, such as 2027-01-31T00:00:00Z.
    #[arg(long, conflicts_with = "expires")]
    expires_at: Option<String>,
    /// How long it works, such as 90d or 12h, or never. When left out: never, with --store 90d.
    #[arg(long)]
    expires: Option<String>,
    /// How many calls of tools it has in a period, such as 1000/month, 50/day or 10000/total.
    #[arg(long)]
    limit: Option<String>,
    /// Keeps the key in the database, so that it works at once and can be revoked.
    #[arg(long)]
    store: bool,
}

/// Makes a key.
pub(super) fn run(asked: &Create) -> Outcome {
    let made = keys::generate(&Ids::new(Arc::new(SystemEntropy)));
    let entry = checked(asked, &made.sha256)?;
    if asked.store {
        return store(entry);
    }
    note("The key, shown this once, and its entry: an item of API_KEYS, or of api_keys in the file.");
    say(made.text.expose())?;
    say(&keys::entry_json(&entry).to_string())
}

/// Keeps a key like `entry` in the database.
fn store(entry: ApiKey) -> Outcome {
    stored::with_identity(async |identity, settings| {
        let now = identity.now_ms();
        if let Some(most) = settings.key_max_age_ms
            && entry.expires_at_ms.is_none_or(|end| end > now + most)
        {
            return Err("KEY_MAX_AGE: the key would work longer than that; give it an earlier end".into());
        }
        let draft = Draft {
            name: entry.id.clone(),
            permissions: entry.permissions.clone(),
            playbooks: entry.playbooks.clone(),
            person: None,
            expires_at_ms: entry.expires_at_ms,
            usage_limit: entry.usage_limit,
        };
        let made = identity.create_key(&entry.org, draft, Manager::operator()).await;
        let made = made.map_err(|problem| one_line(problem.detail()))?;
        note("The key, shown this once, and its id. It works already.");
        say(made.text.expose())?;
        say(&made.key.id)
    })
}

/// The entry, read as the server will read it: what it would refuse is refused here, in the same words.
fn checked(asked: &Create, sha256: &[u8; 32]) -> Result<ApiKey, String> {
    let (digest, now) = (hex(sha256), SystemClock.now_ms());
    let mut entry = json!({
        "id": asked.id.clone().unwrap_or_else(|| format!("key-{}", &digest[..8])),
        "org": asked.org,
        "playbooks": match asked.playbooks.as_slice() {
            [all] if all == "*" => json!("*"),
            ids => json!(ids),
        },
        "sha256": digest,
    });
    if !asked.permissions.is_empty() {
        entry["permissions"] = json!(asked.permissions);
    }
    if let Some(end) = end(asked, now)? {
        entry["expires_at"] = end;
    }
    if let Some(limit) = &asked.limit {
        let expected = "expected --limit to be a number and a period, such as 1000/month";
        let (calls, period) = limit.split_once('/').ok_or(expected)?;
        entry["usage_limit"] = calls.parse::<u32>().map_err(|_| expected)?.into();
        entry["usage_period"] = period.into();
    }
    let environment = Environment::from([("API_KEYS".to_owned(), json!([entry]).to_string())]);
    let settings = config::load(&environment, |_: &Path| Err(std::io::ErrorKind::NotFound.into()))
        .map_err(|refusal| format!("expected {}", refusal.expected()))?;
    let key = settings.api_keys.and_then(|keys| keys.into_iter().next()).ok_or("no entry was made")?;
    match key.expires_at_ms {
        // The server takes an entry that has ended; a new key that opens nothing is a slip.
        Some(end) if end <= now => Err("expected --expires-at to be still to come".into()),
        _ => Ok(key),
    }
}

/// When it is to end, as the entry writes it.
fn end(asked: &Create, now_ms: i64) -> Result<Option<Value>, String> {
    if let Some(at) = &asked.expires_at {
        return Ok(Some(at.as_str().into()));
    }
    let length = match asked.expires.as_deref() {
        Some("never") => return Ok(None),
        None if asked.store => format!("{STORED_DAYS}d"),
        None => return Ok(None),
        Some(length) => length.to_owned(),
    };
    let expected = "expected --expires to be a number of days or hours, such as 90d or 12h, or never";
    let number = |digits: &str| digits.parse::<u32>().ok().filter(|number| *number > 0 && *number < 100_000);
    let hours = match (length.strip_suffix('d'), length.strip_suffix('h')) {
        (Some(days), _) => number(days).map(|days| i64::from(days) * 24),
        (_, Some(hours)) => number(hours).map(i64::from),
        _ => None,
    };
    let end = now_ms + hours.ok_or(expected)? * 60 * 60 * 1_000;
    Ok(Some(clock::iso(end).into()))
}
