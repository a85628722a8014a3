//! The shape of the program, held over its source: which room may use which, who may name which library, whose tables are
//! whose, and how long a file may be. A break says which edge it would need.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::services::project;

/// Rooms and the rooms they may use, beside `clock`, `error`, `ids` and `json`, which everything may.
///
/// Top to bottom as they are entered: `commands → server → app → {http, mcp, studio} → operations → the middle → ledger →
/// store`. `app` and `operations` know each other: the list is part of the program, and an operation runs in it.
const EDGES: [(&str, &[&str]); 21] = [
    (
        "commands",
        &[
            "config",
            "connections",
            "demo",
            "identity",
            "ledger",
            "lifecycle",
            "operations",
            "secrets",
            "server",
            "store",
        ],
    ),
    ("demo", &["app", "config", "lifecycle", "server"]),
    ("server", &["app", "config", "connections", "egress", "http", "lifecycle", "telemetry"]),
    (
        "app",
        &[
            "config",
            "connections",
            "egress",
            "identity",
            "ledger",
            "lifecycle",
            "limits",
            "mcp",
            "operations",
            "playbooks",
            "secrets",
            "store",
            "telemetry",
            "tool_servers",
        ],
    ),
    ("http", &["app", "config", "guides", "identity", "ledger", "limits", "mcp", "operations", "playbooks", "studio"]),
    ("mcp", &["app", "guides", "identity", "operations", "playbooks"]),
    ("studio", &[]),
    (
        "operations",
        &[
            "app",
            "config",
            "connections",
            "egress",
            "guides",
            "identity",
            "ledger",
            "playbooks",
            "store",
            "tool_servers",
        ],
    ),
    ("guides", &[]),
    ("tool_servers", &["config", "connections", "egress", "ledger", "lifecycle", "playbooks", "store"]),
    ("connections", &["config", "egress", "ledger", "lifecycle", "playbooks", "secrets", "store", "telemetry"]),
    ("playbooks", &["identity", "ledger", "store"]),
    ("identity", &["config", "egress", "ledger", "lifecycle", "secrets", "store"]),
    ("limits", &["config", "identity"]),
    ("secrets", &["config", "store"]),
    ("ledger", &["store"]),
    ("store", &[]),
    ("egress", &[]),
    // What looks like a credential, and which headers nobody sets, is one list each.
    ("config", &["connections", "egress"]),
    ("lifecycle", &[]),
    ("telemetry", &["config"]),
];
/// At the bottom: anybody may use them, and they use nobody.
const GROUND: [&str; 6] = ["clock", "digest", "error", "ids", "json", "well_known"];

/// Libraries and the rooms that may name them.
const LIBRARIES: [(&str, &[&str]); 12] = [
    // The demo's parts desk stands for somebody else's service.
    ("axum", &["http", "mcp", "studio", "demo"]),
    ("askama", &["studio"]),
    ("sqlx", &["store", "ledger", "playbooks", "connections", "secrets", "tool_servers", "identity", "error"]),
    ("reqwest", &["egress"]),
    ("rustls", &["egress"]),
    ("hyper", &["http", "mcp", "egress"]),
    ("hyper_util", &["http"]),
    ("clap", &["commands"]),
    ("jsonwebtoken", &["connections", "identity"]),
    ("http_auth", &["connections"]),
    ("oauth2", &["identity"]),
    ("rmcp", &[]),
];

/// Tables and the one room whose they are.
const TABLES: [(&str, &str); 34] = [
    ("events", "ledger"),
    ("ledger_locks", "ledger"),
    ("playbooks", "playbooks"),
    ("connections", "connections"),
    ("connection_links", "connections"),
    ("connection_clients", "connections"),
    ("connection_attempts", "connections"),
    ("connection_renewals", "connections"),
    ("connection_revocations", "connections"),
    ("secrets", "secrets"),
    ("sealed_records", "secrets"),
    ("tool_calls", "tool_servers"),
    ("oauth_clients", "identity"),
    ("oauth_assertions", "identity"),
    ("oauth_requests", "identity"),
    ("oauth_signing_keys", "identity"),
    ("oauth_codes", "identity"),
    ("oauth_consents", "identity"),
    ("oauth_grants", "identity"),
    ("oauth_families", "identity"),
    ("oauth_refresh_tokens", "identity"),
    ("oauth_revocations", "identity"),
    ("orgs", "identity"),
    ("people", "identity"),
    ("identities", "identity"),
    ("memberships", "identity"),
    ("invitations", "identity"),
    ("sessions", "identity"),
    ("passwords", "identity"),
    ("one_time_codes", "identity"),
    ("sign_in_counters", "identity"),
    ("passkeys", "identity"),
    ("sign_in_attempts", "identity"),
    ("api_keys", "identity"),
];

/// The most lines of a file, without its tests.
const LONGEST: usize = 400;

/// A file of the program without its comments and its tests.
struct Source {
    path: PathBuf,
    room: String,
    code: String,
    lines: usize,
}

fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    collect(&project("src"), &mut sources);
    assert!(sources.len() > 100);
    sources
}

fn collect(folder: &Path, sources: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_tests = path.file_stem().is_some_and(|name| name == "tests");
        if is_tests {
            continue;
        }
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|end| end == "rs") {
            sources.push(Source::of(&path));
        }
    }
}

impl Source {
    fn of(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code: Vec<&str> = own.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let inside = path.strip_prefix(project("src")).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
        let room = match first.trim_end_matches(".rs") {
            "main" => "commands",
            room => room,
        };
        Self { path: inside.to_owned(), room: room.to_owned(), code: code.join("\n"), lines: own.lines().count() }
    }

    /// The rooms it uses, each by any path from the top of the program.
    fn uses(&self) -> BTreeSet<String> {
        let paths = self.code.match_indices("::").filter_map(|(at, _)| {
            let (before, after) = (&self.code[..at], &self.code[at + 2..]);
            let top = before.rsplit(|c: char| !(c.is_alphanumeric() || "_$".contains(c))).next()?;
            ["crate", "playmaker"].contains(&top).then_some(after)
        });
        let word =
            |text: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default().to_owned();
        let names = paths.flat_map(|after| match after.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default().split(',').map(|name| word(name.trim())).collect(),
            None => vec![word(after)],
        });
        // The store's two macros stand at the top of the program.
        let room = |name: String| match name.as_str() {
            "on_pool" | "on_connection" => "store".to_owned(),
            _ => name,
        };
        names.map(room).filter(|name| !name.is_empty() && *name != self.room).collect()
    }

    /// Whether it says `word`, as a word of its own, before `after`.
    fn says(&self, word: &str, after: &str) -> bool {
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let phrase = format!("{word}{after}");
        self.code.match_indices(&phrase).any(|(at, _)| {
            let (before, rest) = (self.code[..at].chars().next_back(), self.code[at + phrase.len()..].chars().next());
            !inside(before) && (!after.is_empty() || !inside(rest))
        })
    }
}

/// Fails with everything that is wrong, a line each.
fn none(broken: Vec<String>) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn each_room_uses_only_those_below_it() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|source| source.room != "lib") {
        let room = source.room.as_str();
        let allowed = EDGES.iter().find(|(name, _)| *name == room).map(|(_, rooms)| *rooms);
        if allowed.is_none() && !GROUND.contains(&room) {
            broken.push(format!("{}: {room} has no line in the table of rooms", source.path.display()));
        }
        for used in source.uses() {
            let fits = allowed.is_some_and(|rooms| rooms.contains(&used.as_str()) || GROUND.contains(&used.as_str()));
            let both_ground = GROUND.contains(&room) && GROUND.contains(&used.as_str());
            if !fits && !both_ground {
                broken.push(format!("{}: would need the edge {room} → {used}", source.path.display()));
            }
        }
    }
    none(broken);
}

#[test]
fn no_edge_of_the_table_is_for_nothing() {
    let used: BTreeSet<(String, String)> = sources()
        .iter()
        .flat_map(|source| source.uses().into_iter().map(|used| (source.room.clone(), used)).collect::<Vec<_>>())
        .collect();
    let edges = EDGES.iter().flat_map(|(room, rooms)| rooms.iter().map(move |other| (*room, *other)));
    let idle = edges.filter(|(room, other)| !used.contains(&((*room).to_owned(), (*other).to_owned())));
    none(idle.map(|(room, other)| format!("nothing uses the edge {room} → {other}")).collect());
}

#[test]
fn a_library_is_named_only_where_it_belongs() {
    let mut broken = Vec::new();
    for source in sources() {
        for (library, rooms) in LIBRARIES {
            if source.says(library, "::") && !rooms.contains(&source.room.as_str()) {
                let path = source.path.display();
                broken.push(format!("{path}: {} names {library}, which is for {rooms:?}", source.room));
            }
        }
    }
    none(broken);
}

#[test]
fn a_table_is_touched_only_by_the_room_whose_it_is() {
    let mut broken = Vec::new();
    let mut seen = BTreeSet::new();
    for source in sources() {
        for (table, owner) in TABLES {
            let touches = |verb: &&str| source.says(&format!("{verb} {table}"), "");
            if !["FROM", "INTO", "UPDATE", "JOIN", "TABLE"].iter().any(touches) {
                continue;
            }
            seen.insert(table);
            // The writer of the store takes an org's row of the heads: it is the org's lock.
            let is_lock = table == "ledger_locks" && source.room == "store";
            if source.room != owner && !is_lock {
                broken.push(format!("{}: {} touches {table}, which is of {owner}", source.path.display(), source.room));
            }
        }
    }
    none(broken);
    assert_eq!(seen.len(), TABLES.len(), "{seen:?}");
}

#[test]
fn no_file_is_too_long_to_be_read_at_once() {
    let long = sources().into_iter().filter(|source| source.lines > LONGEST);
    none(long.map(|source| format!("{}: {} lines, at most {LONGEST}", source.path.display(), source.lines)).collect());
}
