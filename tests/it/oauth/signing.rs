//! Signing keys: rotation, publication, and what a leak changes (`identity.md` 7.6).

use playmaker::identity::oauth::access_token::Subject;
use playmaker::identity::oauth::signing_keys::Rotation;
use playmaker::ledger::Actor;

use super::{Scene, part, text};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

impl Scene {
    async fn kids(&self) -> Vec<String> {
        let keys = self.server.anyone().get("/oauth/jwks").await.json();
        keys["keys"].as_array().unwrap().iter().map(|key| text(key, "kid")).collect()
    }

    async fn signs_with(&self, client: &str) -> String {
        text(&part(&text(&self.tokens(client, &[]).await, "access_token"), 0), "kid")
    }
}

#[tokio::test]
async fn a_key_is_followed_after_ninety_days_by_one_published_the_day_before() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let first = scene.signs_with(&client).await;
    assert_eq!(scene.kids().await, std::slice::from_ref(&first));
    scene.server.clock.advance_ms(89 * DAY);
    scene.oauth().refresh_signing_keys().await.unwrap();
    let [one, second] = scene.kids().await.try_into().unwrap();
    assert_eq!(one, first);
    assert_eq!(scene.signs_with(&scene.public_client().await).await, first, "it is only published yet");
    scene.server.clock.advance_ms(DAY);
    scene.oauth().refresh_signing_keys().await.unwrap();
    assert_eq!(scene.signs_with(&scene.public_client().await).await, second);
    assert_eq!(scene.kids().await.len(), 2, "its last token has not ended");
    scene.server.clock.advance_ms(62 * MINUTE);
    assert_eq!(scene.kids().await, std::slice::from_ref(&second));
    assert_eq!(scene.audited("").await.iter().filter(|kind| *kind == "signing_key_rotated").count(), 2);
    scene.server.clock.advance_ms(8 * DAY);
    scene.oauth().sweep().await.unwrap();
    assert_eq!(scene.kids().await, [second]);
}

#[tokio::test]
async fn two_servers_make_one_key_and_know_it() {
    let scene = Scene::new().await;
    let other = scene.another().await;
    scene.server.clock.advance_ms(89 * DAY);
    let (one, two) = tokio::join!(scene.oauth().refresh_signing_keys(), other.refresh_signing_keys());
    one.and(two).unwrap();
    scene.oauth().refresh_signing_keys().await.unwrap();
    let kids = scene.kids().await;
    assert_eq!(kids.len(), 2);
    assert!(kids.iter().all(|kid| other.public_key(kid).is_some()));
}

#[tokio::test]
async fn a_leaked_key_is_taken_back_at_once() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let first = scene.signs_with(&client).await;
    let operator = Actor::operator();
    let made = scene.oauth().rotate_signing_key(Rotation::Leaked, operator).await.unwrap().unwrap();
    assert_eq!(scene.kids().await, std::slice::from_ref(&made));
    assert_eq!(scene.signs_with(&client).await, made);
    assert!(scene.oauth().public_key(&first).is_none());
    let row = scene.server.audit("").await.pop().map(|row| row.data.to_string()).unwrap_or_default();
    assert!(row.contains(&made) || scene.audited("").await.contains(&"signing_key_rotated".to_owned()));
}

#[tokio::test]
async fn keys_survive_a_restart_and_their_private_parts_are_sealed() {
    let scene = Scene::new().await;
    let client = scene.public_client().await;
    let first = scene.signs_with(&client).await;
    let again = scene.another().await;
    assert_eq!(again.public_key_set().len(), 1);
    let subject = Subject {
        org: "acme".into(),
        grant: "grant_1".into(),
        person: scene.ada.person.clone(),
        client: client.clone(),
        resources: vec![super::P.to_owned()],
        scopes: super::scopes("org:read"),
        auth_time_ms: 0,
    };
    assert_eq!(text(&part(&again.issue(&subject).unwrap(), 0), "kid"), first);
    let everything = scene.server.database().everything().await;
    // What every PKCS #8 text of a key on P-256 begins with.
    assert!(!everything.contains("MIGHAgEAMBMGByqGSM49"));
}
