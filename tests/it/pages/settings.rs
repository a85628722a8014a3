//! `/{org}/settings`.

use playmaker::identity::Role;
use playmaker::identity::orgs::DELETION_MS;

use super::{joins, leads_to, sends, shows};
use crate::support::app::TestApp;

const AT: &str = "/acme/settings";

#[tokio::test]
async fn an_owner_renames_the_org_and_others_read_it() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (_, bobs) = joins(&server, "Bob", Role::Admin).await;
    leads_to(&sends(&ada, AT, &[("name", "Acme Works")]).await, AT);
    shows(&ada.get(AT).await, 200, &["<h1>Acme Works</h1>", "value=\"Acme Works\"", "/acme/settings/delete"]);
    shows(&sends(&ada, AT, &[("name", " ")]).await, 422, &["must be 1 to 100 characters", "aria-invalid"]);
    let page = bobs.get(AT).await;
    shows(&page, 200, &["Acme Works", "admin", "/acme/settings/leave"]);
    assert!(!page.text.contains("name=\"name\"") && !page.text.contains("settings/delete"));
    assert_eq!(sends(&bobs, AT, &[("name", "Bobs")]).await.status, 403);
    assert_eq!(bobs.get("/acme/settings/delete").await.status, 403);
    assert_eq!(server.audit("acme").await.pop().unwrap().kind, "org_renamed");
}

#[tokio::test]
async fn an_org_is_deleted_by_its_id_and_kept_after_all() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (_, bobs) = joins(&server, "Bob", Role::Admin).await;
    shows(&ada.get("/acme/settings/delete").await, 200, &["Delete Acme?", "To be sure, type acme"]);
    let refused = sends(&ada, "/acme/settings/delete", &[("confirm", "Acme")]).await;
    shows(&refused, 422, &["must be the id of the org", "aria-invalid"]);
    leads_to(&sends(&ada, "/acme/settings/delete", &[("confirm", "acme")]).await, AT);
    for (tab, keeps) in [(&ada, true), (&bobs, false)] {
        let page = tab.get(AT).await;
        shows(&page, 200, &["This org is being deleted", "2026-10-08 09:30 UTC"]);
        assert_eq!(page.text.contains("Keep it"), keeps);
        assert!(!page.text.contains("settings/leave") && !page.text.contains("name=\"name\""));
        let members = tab.get("/acme/members").await;
        shows(&members, 200, &["This org is being deleted", "ada@acme.test"]);
        assert!(!members.text.contains("Invite somebody") && !members.text.contains(">Change<"));
    }
    assert_eq!(sends(&bobs, "/acme/settings/restore", &[]).await.status, 403);
    let late = sends(&ada, "/acme/members/invite", &[("email", "e@acme.test"), ("role", "viewer")]).await;
    assert_eq!(late.status, 409);
    leads_to(&sends(&ada, "/acme/settings/restore", &[]).await, AT);
    assert!(!ada.get(AT).await.text.contains("being deleted"));

    leads_to(&sends(&ada, "/acme/settings/delete", &[("confirm", "acme")]).await, AT);
    server.clock.advance_ms(DELETION_MS);
    ada.signs_in("ada@acme.test", crate::sign_in::tab::PASSWORD).await;
    assert_eq!(sends(&ada, "/acme/settings/restore", &[]).await.status, 409);
}

#[tokio::test]
async fn anybody_leaves_but_the_last_owner() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (_, carols) = joins(&server, "Carol", Role::Viewer).await;
    shows(&carols.get("/acme/settings/leave").await, 200, &["Leave Acme?", "Stay"]);
    leads_to(&sends(&carols, "/acme/settings/leave", &[]).await, "/");
    shows(&carols.get(AT).await, 404, &[]);
    shows(&carols.get("/").await, 200, &["You belong to no org yet"]);
    shows(&sends(&ada, "/acme/settings/leave", &[]).await, 409, &["the only owner", "Leave Acme?"]);
    assert_eq!(server.audit("acme").await.pop().unwrap().kind, "member_left");
}
