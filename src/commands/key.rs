//! `playmaker key create`: makes a key and the entry of `api_keys` that lets it in.

use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use playmaker::clock;
use playmaker::config::{self, ApiKey, Environment};
use playmaker::digest::hex;
use playmaker::identity::keys;
use playmaker::ids::{Ids, SystemEntropy};

use super::{Outcome, note, say};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Makes a key: prints it, this once, and the entry that lets it in.
    Create(Create),
}

#[derive(Args)]
pub(super) struct Create {
    /// The org it acts in.
    #[arg(long)]
    org: String,
    /// The caller's id, 1 to 32 of a-z 0-9 -; one is made when left out.
    #[arg(long)]
    id: Option<String>,
    /// What it may do, such as org:read,playbook:read; all four permissions when left out.
    #[arg(long, value_delimiter = ',')]
    permissions: Vec<String>,
    /// The ids of the playbooks it reaches, or *; * when left out.
    #[arg(long, value_delimiter = ',', default_value = "*")]
    playbooks: Vec<String>,
    /// When it stops working, such as 2027-01-31T00:00:00Z; never when left out.
    #[arg(long)]
    expires_at: Option<String>,
}

/// Runs a command about keys.
pub(super) fn run(command: Command) -> Outcome {
    let Command::Create(asked) = command;
    let made = keys::generate(&Ids::new(Arc::new(SystemEntropy)));
    let entry = checked(&asked, &made.sha256)?;
    note("The key, shown this once, and its entry: an item of API_KEYS, or of api_keys in the file.");
    say(made.text.expose())?;
    say(&keys::entry_json(&entry).to_string())
}

/// The entry, read as the server will read it: what it would refuse is refused here, in the same words.
fn checked(asked: &Create, sha256: &[u8; 32]) -> Result<ApiKey, String> {
    let digest = hex(sha256);
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
    if let Some(end) = &asked.expires_at {
        entry["expires_at"] = Value::from(end.as_str());
    }
    let environment = Environment::from([("API_KEYS".to_owned(), json!([entry]).to_string())]);
    let settings = config::load(&environment, |_: &Path| Err(std::io::ErrorKind::NotFound.into()))
        .map_err(|refusal| format!("expected {}", refusal.expected()))?;
    let key = settings.api_keys.and_then(|keys| keys.into_iter().next()).ok_or("no entry was made")?;
    match key.expires_at_ms {
        // The server takes an entry that has ended; a new key that opens nothing is a slip.
        Some(end) if end <= clock::Clock::now_ms(&clock::SystemClock) => {
            Err("expected --expires-at to be still to come".into())
        }
        _ => Ok(key),
    }
}
