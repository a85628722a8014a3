//! What a call finds as its tokens near their end, and what each answer of the issuer means (`connections.md` 10; security
//! cases 90, 93 to 97 and 99).

use serde_json::{Value, json};

use super::Scene;
use crate::support::agent::Called;
use crate::support::eventually;
use crate::support::simulator::{Answers, Fault, Proof, Reuse, Rotation};

pub(super) const MINUTE: i64 = 60_000;
pub(super) const HOUR: i64 = 60 * MINUTE;
pub(super) const INSIDE: &str = "/orgs/local/playbooks/support/mcp";

impl Scene {
    /// A connection whose person has been at the provider, and a playbook that may use it.
    pub(super) async fn connected(change: impl FnOnce(&mut Value)) -> Self {
        let scene = Self::of(change).await;
        scene.connects().await;
        scene
    }

    pub(super) async fn connects(&self) {
        let trip = self.leaves().await;
        let path = self.simulator.allows(&trip.address);
        self.back(&trip, &path).await.done(200);
        let body = json!({ "playbook": "support", "name": "Support" });
        self.server.anyone().post("/v1/orgs/local/playbooks", &body).await.done(201);
    }

    pub(super) async fn calls(&self) -> Called {
        let arguments = json!({ "server": "sim", "tool": "list_notes", "arguments": {} });
        self.server.anyone().call(INSIDE, "execute", &arguments).await
    }

    /// A call that works.
    pub(super) async fn works(&self) {
        let answer = self.calls().await.done();
        assert_eq!(answer["outcome"], "result", "{answer}");
    }

    /// A call that is refused for this; nothing of the provider's own is told.
    pub(super) async fn is_refused(&self, because: &str) -> Value {
        let problem = self.calls().await.refused("unavailable");
        assert_eq!((&problem["kind"], &problem["because"]), (&json!("tool_not_offered"), &json!(because)), "{problem}");
        problem
    }

    /// How often tokens were asked for since the code was redeemed.
    pub(super) fn renewals(&self) -> usize {
        self.simulator.token_requests().len() - 1
    }

    pub(super) async fn refresh(&self) -> Value {
        self.standing().await["refresh"].clone()
    }

    /// Waits until the attempt under way has ended with this word.
    pub(super) async fn becomes(&self, word: &str) {
        eventually(word, async || (self.refresh().await == word).then_some(())).await;
    }

    /// The rows about the connection since it was connected.
    pub(super) async fn rows(&self) -> Vec<String> {
        let rows = self.audit().await;
        let connected = rows.iter().position(|kind| kind == "connection_connected").unwrap();
        rows[connected + 1..].to_vec()
    }

    pub(super) fn meets(&self, faults: impl IntoIterator<Item = Fault>) {
        self.simulator.set(|quirks| quirks.faults.extend(faults));
    }
}

#[tokio::test]
async fn tokens_are_renewed_before_their_end_without_anybody_waiting() {
    let scene = Scene::connected(|_| {}).await;
    scene.works().await;
    assert_eq!((scene.renewals(), scene.refresh().await), (0, json!("fresh")));
    scene.server.clock.advance_ms(59 * MINUTE);
    scene.works().await;
    eventually("the renewal", async || (scene.renewals() == 1).then_some(())).await;
    eventually("another end", async || {
        (scene.standing().await["expires_at"] == "2026-10-01T11:29:00.000Z").then_some(())
    })
    .await;
    scene.works().await;
    assert_eq!((scene.renewals(), scene.rows().await), (1, Vec::new()), "a renewal that works is told nobody");
}

#[tokio::test]
async fn a_call_after_the_end_waits_for_new_tokens() {
    let scene = Scene::connected(|_| {}).await;
    for round in 1..=3 {
        scene.server.clock.advance_ms(2 * HOUR);
        scene.works().await;
        assert_eq!(scene.renewals(), round);
    }
    let sent = scene.simulator.token_requests();
    assert_eq!(sent.last().unwrap().member("grant_type"), "refresh_token");
    assert!(sent.last().unwrap().authorization.starts_with("Basic "));
}

#[tokio::test]
async fn a_reader_asks_the_issuer_nothing() {
    let scene = Scene::connected(|_| {}).await;
    scene.server.clock.advance_ms(2 * HOUR);
    let standing = scene.standing().await;
    assert_eq!((&standing["because"], &standing["refresh"]), (&Value::Null, &json!("fresh")));
    scene.server.anyone().get("/v1/orgs/local/connections").await.done(200);
    assert_eq!(scene.renewals(), 0);
}

#[tokio::test]
async fn each_way_of_proving_the_client_is_kept_and_an_old_refresh_token_goes_on() {
    for (proof, word) in
        [(Proof::Post, "client_secret_post"), (Proof::None, "none"), (Proof::Basic, "client_secret_basic")]
    {
        let scene = Scene::of(|file| file["ways"][0]["client_auth"] = word.into()).await;
        scene.simulator.set(|quirks| {
            quirks.proof = proof;
            quirks.rotation = Rotation::Never;
            quirks.answers = Answers::Form;
        });
        scene.connects().await;
        for round in 1..=2 {
            scene.server.clock.advance_ms(2 * HOUR);
            scene.works().await;
            assert_eq!(scene.renewals(), round, "{word}");
        }
    }
}

/// Security case 93: what may pass leaves the tokens in use while they last, and is told once.
#[tokio::test]
async fn what_may_pass_is_tried_again_and_told_once() {
    for fault in [
        Fault::Status(500),
        Fault::Status(502),
        Fault::Html,
        Fault::Huge,
        Fault::Refuse("slow_down"),
        Fault::Status(418),
    ] {
        let scene = Scene::connected(|_| {}).await;
        scene.meets([fault.clone(), fault.clone()]);
        scene.server.clock.advance_ms(59 * MINUTE);
        scene.works().await;
        scene.becomes("failing").await;
        assert_eq!(
            (scene.standing().await["because"].clone(), scene.rows().await),
            (Value::Null, vec!["connection_refresh_failing".into()]),
            "{fault:?}"
        );
        scene.works().await;
        assert_eq!(scene.renewals(), 1, "not before its time");
        // The tokens end while it fails.
        scene.server.clock.advance_ms(2 * MINUTE);
        scene.is_refused("connection_unavailable").await;
        assert_eq!(scene.renewals(), 2);
        scene.server.clock.advance_ms(2 * MINUTE);
        scene.works().await;
        assert_eq!(
            scene.rows().await,
            ["connection_refresh_failing", "connection_unavailable", "connection_recovered"],
            "{fault:?}"
        );
        assert_eq!(scene.refresh().await, "fresh");
    }
}

#[tokio::test]
async fn retry_after_is_obeyed() {
    let scene = Scene::connected(|_| {}).await;
    scene.meets([Fault::Later(429, 120)]);
    scene.server.clock.advance_ms(2 * HOUR);
    scene.is_refused("connection_unavailable").await;
    scene.server.clock.advance_ms(119_000);
    scene.is_refused("connection_unavailable").await;
    assert_eq!(scene.renewals(), 1);
    scene.server.clock.advance_ms(1_000);
    scene.works().await;
    let facts = scene.server.last_of("local", "connection_refresh_failing").await;
    assert_eq!(facts, json!({ "code": "http_429", "next_attempt_at": "2026-10-01T11:32:00.000Z" }));
}

/// Security case 94: the consent is over, nothing more is asked, and that is told once with its cause.
#[tokio::test]
async fn a_consent_that_is_over_breaks_the_connection_at_once() {
    for (fault, cause) in [
        (Fault::Refuse("invalid_grant"), "consent_ended"),
        (Fault::Refuse("unauthorized_client"), "client"),
        (Fault::Refuse("unsupported_grant_type"), "client"),
        (Fault::RefuseIn200("token_revoked"), "consent_ended"),
    ] {
        let scene = Scene::connected(|file| {
            file["ways"][0]["token"] = json!({ "error_in_200": true });
            file["ways"][0]["refresh"] = json!({ "terminal": ["token_revoked"] });
        })
        .await;
        scene.meets([fault.clone()]);
        scene.server.clock.advance_ms(2 * HOUR);
        let problem = scene.is_refused("connection_broken").await;
        assert!(problem["detail"].as_str().unwrap().contains("no longer taken"), "{problem}");
        for _ in 0..3 {
            scene.server.clock.advance_ms(2 * HOUR);
            scene.is_refused("connection_broken").await;
        }
        assert_eq!((scene.renewals(), scene.refresh().await), (1, json!("needs_reconnect")), "{fault:?}");
        assert_eq!(scene.rows().await, ["connection_broken"]);
        assert_eq!(scene.last_row().await.1, json!({ "cause": cause }), "{fault:?}");
    }
}

#[tokio::test]
async fn a_client_that_is_unknown_three_times_breaks_it_and_a_new_one_is_tried_by_itself() {
    let scene = Scene::connected(|_| {}).await;
    scene.simulator.set(|quirks| quirks.proof = Proof::Post);
    scene.server.clock.advance_ms(2 * HOUR);
    for round in 1..=3 {
        let because = if round == 3 { "connection_broken" } else { "connection_unavailable" };
        scene.is_refused(because).await;
        assert_eq!(scene.renewals(), round);
        scene.server.clock.advance_ms(59_000);
        scene.is_refused(because).await;
        assert_eq!(scene.renewals(), round, "a minute apart");
        scene.server.clock.advance_ms(1_000);
    }
    assert_eq!(scene.last_row().await.1, json!({ "cause": "client" }));
    scene.simulator.set(|quirks| quirks.proof = Proof::Basic);
    scene.is_refused("connection_broken").await;
    assert_eq!(scene.renewals(), 3, "the same client is not tried");
}

/// What was taken and not answered whole is found out at the next attempt: the connection is lost, and nothing loops.
#[tokio::test]
async fn an_answer_that_was_lost_costs_one_reconnect_where_old_tokens_end_the_family() {
    for (reuse, ends) in [(Reuse::EndsFamily { grace_ms: 0 }, true), (Reuse::EndsFamily { grace_ms: HOUR }, false)] {
        let scene = Scene::connected(|_| {}).await;
        scene.simulator.set(|quirks| quirks.reuse = reuse);
        scene.meets([Fault::Cut]);
        scene.server.clock.advance_ms(2 * HOUR);
        scene.is_refused("connection_unavailable").await;
        scene.server.clock.advance_ms(2_000);
        if ends {
            scene.is_refused("connection_broken").await;
            assert_eq!(scene.last_row().await, ("connection_broken".into(), json!({ "cause": "lost" })));
        } else {
            scene.works().await;
        }
        scene.server.clock.advance_ms(2_000);
        assert_eq!(scene.renewals(), 2, "{reuse:?}");
    }
}

/// Security case 97.
#[tokio::test]
async fn scopes_that_go_and_come_are_told_and_calls_go_on() {
    let scene = Scene::connected(|_| {}).await;
    for (granted, lost, gained, missing) in [
        (vec!["notes.write"], json!(["notes.read"]), json!([]), json!(["notes.read"])),
        (vec!["notes.read", "notes.write"], json!([]), json!(["notes.read"]), json!([])),
    ] {
        scene.simulator.set(|quirks| quirks.granted = Some(granted.iter().map(|&scope| scope.to_owned()).collect()));
        scene.server.clock.advance_ms(2 * HOUR);
        scene.works().await;
        let row = scene.last_row().await;
        assert_eq!(row, ("connection_scopes_changed".into(), json!({ "lost": lost, "gained": gained })));
        let standing = scene.standing().await;
        assert_eq!((&standing["because"], &standing["scopes"]["missing"]), (&Value::Null, &missing));
    }
}

/// A server that takes tokens no more although they last gets new ones, once, and the call is sent again.
#[tokio::test]
async fn a_refused_token_is_renewed_and_the_call_sent_again() {
    let scene = Scene::connected(|_| {}).await;
    scene.works().await;
    scene.simulator.ends_access_tokens();
    scene.works().await;
    assert_eq!(scene.renewals(), 1);
    scene.works().await;
    assert_eq!((scene.renewals(), scene.rows().await), (1, Vec::new()));
}

/// Security case 99.
#[tokio::test]
async fn a_server_that_goes_on_refusing_breaks_the_connection_at_the_third_time() {
    let scene = Scene::connected(|_| {}).await;
    scene.works().await;
    scene.simulator.set(|quirks| quirks.api_status = 401);
    for round in 1..=3 {
        let problem = scene.calls().await.refused("unavailable");
        if round < 3 {
            assert_eq!(problem["because"], "key_refused", "{problem}");
        }
        assert_eq!(scene.renewals(), round, "one more for each");
        scene.calls().await.refused("unavailable");
        assert_eq!(scene.renewals(), round, "at most one a minute");
        scene.server.clock.advance_ms(61_000);
    }
    scene.is_refused("connection_broken").await;
    assert_eq!(scene.last_row().await, ("connection_broken".into(), json!({ "cause": "refused" })));
}

#[tokio::test]
async fn tokens_without_a_refresh_token_end() {
    let scene = Scene::of(|_| {}).await;
    scene.simulator.set(|quirks| quirks.refreshes = false);
    scene.connects().await;
    assert_eq!(scene.refresh().await, Value::Null);
    scene.works().await;
    scene.server.clock.advance_ms(2 * HOUR);
    scene.is_refused("connection_broken").await;
    assert_eq!(scene.last_row().await, ("connection_broken".into(), json!({ "cause": "ended" })));
    assert_eq!(scene.renewals(), 0);
}

#[tokio::test]
async fn what_is_due_and_in_use_is_renewed_by_the_clock() {
    let scene = Scene::connected(|_| {}).await;
    let sweep = async || scene.server.app.connections.sweep_renewals().await.unwrap();
    assert_eq!(sweep().await, 0);
    scene.server.clock.advance_ms(58 * MINUTE);
    assert_eq!(sweep().await, 1);
    eventually("the renewal", async || (scene.renewals() == 1).then_some(())).await;
    eventually("the new end", async || (sweep().await == 0).then_some(())).await;
    scene.server.clock.advance_ms(8 * 24 * HOUR);
    assert_eq!((sweep().await, scene.renewals()), (0, 1), "nobody used it for a week");
}

/// Security case 90: what names the account is asked when a person connects; a renewal does not hang on it.
#[tokio::test]
async fn a_renewal_does_not_ask_whose_account_it_is() {
    let scene = Scene::connected(|_| {}).await;
    let asked = || scene.simulator.requests().iter().filter(|request| request.path == "/userinfo").count();
    let before = asked();
    scene.server.clock.advance_ms(2 * HOUR);
    scene.works().await;
    assert_eq!(asked(), before);
}
