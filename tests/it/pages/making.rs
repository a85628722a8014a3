//! Another org, as `ORG_CREATION` allows.

use playmaker::identity::Role;

use super::{joins, leads_to, sends, shows};
use crate::sign_in::tab::Tab;
use crate::support::app::TestApp;

const AT: &str = "/orgs/new";

#[tokio::test]
async fn who_owns_an_org_makes_another() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    shows(&ada.get("/").await, 200, &["href=\"/orgs/new\"", "href=\"/acme/members\"", "href=\"/acme/settings\""]);
    shows(&ada.get(AT).await, 200, &["Make an org"]);
    leads_to(&sends(&ada, AT, &[("id", "north-wing"), ("name", "North Wing")]).await, "/north-wing/members");
    shows(&ada.get("/north-wing/members").await, 200, &["North Wing", "Ada Lovelace (you)", "owner"]);
    for (id, status) in [("north-wing", 409), ("settings", 422), ("No", 422)] {
        let refused = sends(&ada, AT, &[("id", id), ("name", "Other")]).await;
        shows(&refused, status, &[&format!("value=\"{id}\""), "value=\"Other\""]);
    }
    let (_, bobs) = joins(&server, "Bob", Role::Admin).await;
    shows(&bobs.get(AT).await, 403, &["You may not make another org here"]);
    assert_eq!(sends(&bobs, AT, &[("id", "bobs-own"), ("name", "Bobs")]).await.status, 403);
    assert!(!bobs.get("/").await.text.contains("/orgs/new"));
    leads_to(&Tab::of(&server).get(AT).await, "/sign-in");
}

#[tokio::test]
async fn the_operator_lets_anybody_or_nobody_make_one() {
    let (server, _) = TestApp::set_up_by_ada(&[("ORG_CREATION", "anyone")]).await;
    let (_, carols) = joins(&server, "Carol", Role::Viewer).await;
    leads_to(&sends(&carols, AT, &[("id", "carols"), ("name", "Carols")]).await, "/carols/members");
    let (_nobody, ada) = TestApp::set_up_by_ada(&[("ORG_CREATION", "nobody")]).await;
    assert_eq!(ada.get(AT).await.status, 403);
    assert!(!ada.get("/").await.text.contains("/orgs/new"));
}
