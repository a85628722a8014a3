//! The end of an account: stopped by the operator, ended by its person.

use playmaker::identity::Role;
use serde_json::json;

use super::people::{Somebody, acme, org, told};

#[tokio::test]
async fn a_stopped_account_acts_nowhere_until_it_is_allowed_again() {
    let (server, _) = acme().await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Member).await;
    let identity = &server.app.identity;
    assert!(identity.disable_person(&bob.id).await.unwrap() && !identity.disable_person(&bob.id).await.unwrap());
    assert!(bob.caller().await.is_none() && bob.clone().acting_in("").caller().await.is_none());
    assert!(identity.enable_person(&bob.id).await.unwrap() && !identity.enable_person(&bob.id).await.unwrap());
    assert!(bob.caller().await.is_some());
    let told = server.audit("").await.into_iter().map(|row| row.kind);
    let told: Vec<String> = told.filter(|kind| kind.starts_with("person_")).collect();
    assert_eq!(told, ["person_disabled", "person_enabled"]);
}

#[tokio::test]
async fn who_ends_the_account_leaves_every_org_and_a_tombstone() {
    let (server, ada) = acme().await;
    org(&server, "other").await;
    let bob = Somebody::new(&server, "bob").await.joins("acme", Role::Member).await.joins("other", Role::Owner).await;
    let identity = &server.app.identity;
    let refused = identity.delete_account(&bob.caller().await.unwrap()).await.unwrap_err();
    assert_eq!(told(&refused), (409, "conflict", Some("last_owner")));
    assert!(bob.caller().await.is_some(), "nothing changed");

    Somebody::new(&server, "carol").await.joins("other", Role::Owner).await;
    identity.delete_account(&bob.caller().await.unwrap()).await.unwrap();
    assert!(bob.caller().await.is_none());
    let left = identity.person(&bob.id).await.unwrap().unwrap();
    assert_eq!((left.name.as_str(), left.email, left.id), ("deleted person", None, bob.id.clone()));
    assert!(identity.person_of_email(&bob.email).await.unwrap().is_none());
    assert_eq!(ada.reads_audit(json!({})).await[0]["action"], "member_left");
    // The address is free again.
    Somebody::new(&server, "bob").await;
}
