//! What a trip must not leave behind in clear: codes, states, verifiers, tokens, and the client's secret.

use serde_json::json;

use super::Scene;
use crate::support::logs;
use crate::support::provider::query;
use crate::support::simulator::SECRET;

#[tokio::test]
async fn what_a_trip_needed_is_nowhere_in_clear() {
    logs::keep();
    let scene = Scene::local().await;
    let agent = scene.server.anyone();
    agent.post("/v1/orgs/local/playbooks", &json!({ "playbook": "support", "name": "Support" })).await.done(201);
    // One trip that fails late, and one that ends well.
    let mut secrets = vec![SECRET.to_owned()];
    let mut shown = Vec::new();
    for granted in [Some(vec!["notes.write".to_owned()]), None] {
        scene.simulator.set(|quirks| quirks.granted = granted);
        let trip = scene.leaves().await;
        let path = scene.simulator.allows(&trip.address);
        let back = query(&format!("http://any{path}"));
        secrets.extend([back["state"].clone(), back["code"].clone()]);
        secrets.push(trip.cookie.split_once('=').unwrap().1.to_owned());
        let kept = scene.server.database().everything().await;
        secrets.iter().for_each(|secret| assert!(!kept.contains(secret.as_str()), "{secret} is kept in clear"));
        shown.push(scene.back(&trip, &path).await.text);
        shown.push(scene.browser("", "").get(&format!("/connect/{}", scene.link)).await.text);
        secrets.push(scene.simulator.token_requests().last().unwrap().member("code_verifier").to_owned());
    }
    assert!(secrets.iter().all(|secret| secret.len() >= 20), "{secrets:?}");
    secrets.extend(scene.simulator.given());
    let arguments = json!({ "server": "sim", "tool": "list_notes", "arguments": {} });
    let called = agent.call("/orgs/local/playbooks/support/mcp", "execute", &arguments).await;
    assert!(called.value.to_string().contains("Notes of ada@sim.example"), "{}", called.value);
    shown.push(format!("{} {}", called.words, called.value));
    shown.push(agent.get(&scene.connections()).await.text);
    let rows = scene.server.app.ledger.after("local", 0, 1_000).await.unwrap();
    let places = [
        ("an answer", shown.join("\n")),
        ("the ledger", format!("{rows:?}")),
        ("the database", scene.server.database().everything().await),
    ];
    for secret in &secrets {
        for (place, text) in &places {
            assert!(!text.contains(secret.as_str()), "{secret} is in {place}");
        }
    }
    // The test's own requests are logged by their library, whose lines are not the program's.
    let log = logs::text();
    let own = log.lines().filter(|line| line.contains("playmaker") && !line.contains("it::"));
    for line in own {
        for secret in &secrets {
            assert!(!line.contains(secret.as_str()), "{secret} is in the log: {line}");
        }
    }
}
