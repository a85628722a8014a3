//! The authorization server's signing key: its successor is published a day before it signs, and stays after it (`identity.md`
//! 7.6). Clients use their tokens and refresh them all the while.

use std::process::Stdio;
use std::sync::Arc;

use playmaker::clock::{Clock, SystemClock};
use playmaker::identity::Role;
use serde_json::json;
use tokio::process::Command;
use tokio::sync::Mutex;

use super::{Load, Request, callers_of, holder, succeeded};
use crate::oauth::{P, Scene, form, part, person, text};
use crate::support::app::{FIRST_KEY, TestApp};
use crate::support::database::{Database, on_postgres};
use crate::support::people::Caller;

const MINUTE_MS: i64 = 60_000;
const PLAYBOOKS: &str = "/v1/orgs/acme/playbooks";
const SETTINGS: [(&str, &str); 3] =
    [("PUBLIC_URL", P), ("RATE_CALLER", "1000000/1000000"), ("ACCESS_TOKEN_TTL", "60m")];

/// A client with the tokens of a grant of its own; it refreshes once a round.
struct Client {
    id: String,
    access: String,
    refresh: String,
    round: u64,
    turn: usize,
    /// Whether it refreshes where its token is no longer taken, as clients do.
    forgives: bool,
}

impl Client {
    async fn of(scene: &Scene, turn: usize, forgives: bool) -> Self {
        let id = scene.public_client().await;
        let tokens = scene.tokens(&id, &[("resource", "https://pm.example/v1")]).await;
        let (access, refresh) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
        Self { id, access, refresh, round: 0, turn, forgives }
    }

    async fn refresh(&mut self, server: &Caller) -> Result<(), String> {
        let pairs = [("grant_type", "refresh_token"), ("client_id", &self.id), ("refresh_token", &self.refresh)];
        let answer = form(server, "/oauth/token", &pairs).await;
        succeeded(&answer).map_err(|failure| format!("refreshing: {failure}"))?;
        let tokens = answer.json();
        (self.access, self.refresh) = (text(&tokens, "access_token"), text(&tokens, "refresh_token"));
        Ok(())
    }

    async fn ask(&mut self, servers: &[Caller], round: u64) -> Result<(), String> {
        self.turn += 1;
        // A token of one server is used on the other.
        let (one, other) = (&servers[self.turn % servers.len()], &servers[(self.turn + 1) % servers.len()]);
        if round != self.round {
            self.refresh(one).await?;
            self.round = round;
        }
        let mut answer = holder(other, &self.access).get(PLAYBOOKS).await;
        if self.forgives && answer.status == 401 && answer.header("www-authenticate").contains("invalid_token") {
            self.refresh(one).await?;
            answer = holder(other, &self.access).get(PLAYBOOKS).await;
        }
        succeeded(&answer)
    }
}

/// Everything of one authorization server, or of two on one database.
struct Servers {
    scene: Scene,
    beside: Option<TestApp>,
    clients: Vec<Arc<Mutex<Client>>>,
}

impl Servers {
    async fn start(forgives: bool) -> Self {
        // At the time it is, since that is also the time of the operator's command.
        let server = TestApp::on(Database::fresh().await, &SETTINGS, SystemClock.now_ms()).await;
        let ada = person(&server, "ada", "acme", Role::Owner).await;
        let scene = Scene { server, ada };
        let beside = if on_postgres() { Some(scene.server.beside(&[]).await) } else { None };
        let mut clients = Vec::new();
        for number in 0..super::CALLERS {
            clients.push(Arc::new(Mutex::new(Client::of(&scene, number, forgives).await)));
        }
        Self { scene, beside, clients }
    }

    fn load(&self) -> Load {
        let servers: Vec<&TestApp> = [Some(&self.scene.server), self.beside.as_ref()].into_iter().flatten().collect();
        let servers = callers_of(&servers);
        Load::begin(|number| -> Request {
            let (client, servers) = (self.clients[number].clone(), servers.clone());
            Box::new(move |round| {
                let (client, servers) = (client.clone(), servers.clone());
                Box::pin(async move { client.lock().await.ask(&servers, round).await })
            })
        })
    }

    /// `playmaker identity rotate-key`, beside the servers; the id of the new key.
    async fn rotate(&self, more: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_playmaker"));
        command.args(["identity", "rotate-key"]).args(more).env_clear().current_dir(folder.path());
        command.env("DATABASE_URL", self.scene.server.database().url()).env("SECRETS_KEYS", FIRST_KEY);
        let output = command.stdin(Stdio::null()).output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// What each server does once a minute.
    async fn read_keys(&self) {
        for server in [Some(&self.scene.server), self.beside.as_ref()].into_iter().flatten() {
            server.app.oauth.as_ref().unwrap().refresh_signing_keys().await.unwrap();
        }
    }

    async fn published(&self) -> Vec<String> {
        let keys = self.scene.server.anyone().get("/oauth/jwks").await.json();
        keys["keys"].as_array().unwrap().iter().map(|key| text(key, "kid")).collect()
    }

    /// The keys the clients' tokens are signed with.
    async fn in_use(&self) -> Vec<String> {
        let mut kids = Vec::new();
        for client in &self.clients {
            kids.push(text(&part(&client.lock().await.access, 0), "kid"));
        }
        kids.sort();
        kids.dedup();
        kids
    }
}

/// From the day before the new key signs until the old one is no longer published.
#[tokio::test(flavor = "multi_thread")]
async fn the_signing_key_is_rotated_under_load() {
    let servers = Servers::start(false).await;
    let old = servers.in_use().await;
    let load = servers.load();
    load.round().await;
    let new = servers.rotate(&[]).await;
    // One server has read of it, the other not yet.
    servers.scene.oauth().refresh_signing_keys().await.unwrap();
    load.round().await;
    let mut seen = Vec::new();
    for _ in 0..34 {
        servers.read_keys().await;
        servers.scene.server.clock.advance_ms(46 * MINUTE_MS);
        load.round().await;
        seen.push((servers.in_use().await, servers.published().await.len()));
    }
    assert!(load.end().await >= 36 * super::CALLERS);
    assert_eq!(seen[30], (old, 2), "23 h 46 min: it is published and does not sign");
    assert_eq!(seen[31], (vec![new.clone()], 2), "24 h 32 min: it signs, and the other one still counts");
    assert_eq!(seen[33], (vec![new], 1), "and no more");
}

/// After a leak no token of the old key is taken any more; who refreshes goes on without a person, and a client that does
/// so when it is told fails at nothing.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_leak_a_refresh_is_all_it_takes() {
    let servers = Servers::start(true).await;
    let stolen = servers.clients[0].lock().await.access.clone();
    let load = servers.load();
    load.round().await;
    let new = servers.rotate(&["--now"]).await;
    load.round().await;
    servers.read_keys().await;
    load.round().await;
    load.end().await;
    assert_eq!((servers.in_use().await, servers.published().await), (vec![new.clone()], vec![new]));
    let refused = Caller::new(servers.scene.server.url(""), Some(&stolen)).get(PLAYBOOKS).await;
    refused.refused(401, "unauthenticated");
    assert!(refused.header("www-authenticate").contains("error=\"invalid_token\""));
    let known = json!(servers.scene.audited("").await);
    assert!(known.to_string().contains("signing_key_rotated"), "{known}");
}
