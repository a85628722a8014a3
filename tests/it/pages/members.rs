//! `/{org}/members`.

use playmaker::identity::Role;
use serde_json::json;

use super::{joins, leads_to, sends, shows, tab_of, time_passes};
use crate::sign_in::tab::{PASSWORD, Tab, after};
use crate::support::app::TestApp;

const AT: &str = "/acme/members";

#[tokio::test]
async fn who_manages_the_org_sees_who_belongs_to_it_and_finds_them() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    joins(&server, "Bob", Role::Member).await;
    joins(&server, "Carol", Role::Viewer).await;
    let page = ada.get(AT).await;
    shows(
        &page,
        200,
        &["Ada Lovelace (you)", "ada@acme.test", "password", "2026-10-01", "Bob", "Carol", "nothing yet"],
    );
    assert!(page.text.contains("aria-current=\"page\"") && page.text.contains("scope=\"col\""));
    let found = ada.get("/acme/members?q=BO&role=member").await;
    shows(&found, 200, &["bob@acme.test", "value=\"BO\"", "<option value=\"member\" selected>"]);
    assert!(!found.text.contains("carol@"));
    shows(&ada.get("/acme/members?q=nobody").await, 200, &["Nobody like that belongs to the org."]);
    shows(&ada.get("/acme/members?role=king").await, 422, &["That did not work"]);
}

#[tokio::test]
async fn a_long_list_goes_on() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    for number in 0..20 {
        server.clock.advance_ms(1);
        joins(&server, &format!("Guest{number:02}"), Role::Viewer).await;
    }
    let first = ada.get("/acme/members?q=guest").await;
    assert!(!first.text.contains("Show more"), "twenty stand on one page");
    server.clock.advance_ms(1);
    joins(&server, "Guest20", Role::Viewer).await;
    let first = ada.get("/acme/members?q=guest").await;
    let next = first.text.split("<a href=\"").find_map(|rest| rest.split_once('"').map(|(to, _)| to));
    let next = next.filter(|to| to.contains("cursor=")).or_else(|| {
        first.text.split("href=\"").map(|rest| rest.split('"').next().unwrap()).find(|to| to.contains("cursor="))
    });
    let next = next.expect("a way on").replace("&#38;", "&").replace("&amp;", "&");
    shows(&ada.get(&next).await, 200, &["guest20@acme.test"]);
    assert!(!ada.get(&next).await.text.contains("guest00@"));
}

#[tokio::test]
async fn a_member_gets_another_role_and_other_playbooks() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (bob, bobs) = joins(&server, "Bob", Role::Member).await;
    let at = format!("{AT}/{}", bob.id);
    shows(&ada.get(&at).await, 200, &["Bob", "<option value=\"member\" selected>", "<option value=\"owner\">"]);
    let done = sends(&ada, &at, &[("role", "viewer"), ("playbooks", "billing, support")]).await;
    shows(&done, 200, &["Bob has the role viewer now.", "value=\"billing support\""]);
    let row = server.audit("acme").await.pop().unwrap();
    assert_eq!(row.kind, "member_role_changed");
    assert_eq!(row.data["playbooks"]["after"], json!(["billing", "support"]));
    let told = ada.get("/v1/orgs/acme/audit?action=member_role_changed").await.text;
    assert!(told.contains("\"via\":\"studio\"") && told.contains("\"address\":\"127.0.0.1\""), "{told}");
    for (fields, words) in [
        ([("role", "admin"), ("playbooks", "billing")], "must be empty for an admin or an owner"),
        ([("role", "viewer"), ("playbooks", "no/such")], "has no&#x2f;such"),
    ] {
        let refused = sends(&ada, &at, &fields).await;
        assert_eq!(refused.status, 422);
        let words = words.split("&#x2f;").next().unwrap();
        assert!(refused.text.contains(words), "{}", refused.text);
    }
    let promoted = sends(&ada, &at, &[("role", "admin")]).await;
    shows(&promoted, 200, &["Bob has the role admin now."]);
    // Who may do more from now on signs in anew.
    leads_to(&bobs.get(AT).await, "/sign-in");
    let person = server.app.identity.person(&bob.id).await.unwrap().unwrap();
    let again = server.signs_in(&person).await;
    shows(&tab_of(&server, &again).get(AT).await, 200, &["Ada Lovelace"]);
}

#[tokio::test]
async fn a_change_needs_a_fresh_sign_in_which_leads_back() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (bob, _) = joins(&server, "Bob", Role::Member).await;
    let at = format!("{AT}/{}", bob.id);
    time_passes(&server);
    leads_to(&sends(&ada, &at, &[("role", "viewer")]).await, "/sign-in");
    leads_to(&ada.get(&at).await, "/sign-in");
    leads_to(&ada.signs_in("ada@acme.test", PASSWORD).await, &at);
    leads_to(&sends(&ada, &format!("{at}/remove"), &[]).await, AT);
    time_passes(&server);
    leads_to(&ada.get("/acme/settings/delete").await, "/sign-in");
    leads_to(&ada.signs_in("ada@acme.test", PASSWORD).await, "/acme/settings/delete");
}

#[tokio::test]
async fn who_is_removed_is_asked_about_once_more_and_then_gone() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (bob, bobs) = joins(&server, "Bob", Role::Member).await;
    let at = format!("{AT}/{}/remove", bob.id);
    shows(&ada.get(&at).await, 200, &["Remove Bob?", "Keep them"]);
    shows(&bobs.get("/acme/settings").await, 200, &["member"]);
    leads_to(&sends(&ada, &at, &[]).await, AT);
    assert!(!ada.get(AT).await.text.contains("bob@acme.test"));
    assert_eq!(server.audit("acme").await.pop().unwrap().kind, "member_removed");
    shows(&bobs.get("/acme/settings").await, 404, &["There is nothing at this address"]);
    shows(&ada.get(&at).await, 404, &["There is nothing at this address"]);
}

/// Security case 75.
#[tokio::test]
async fn an_admin_manages_no_owner() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let owner = server.app.identity.person_of_email("ada@acme.test").await.unwrap().unwrap();
    let (bob, bobs) = joins(&server, "Bob", Role::Admin).await;
    let at = format!("{AT}/{}", owner.id);
    let page = bobs.get(AT).await;
    assert!(!page.text.contains(&at), "no way to change an owner");
    assert!(!page.text.contains("value=\"owner\">Owner: "), "no invitation of an owner");
    for fields in [&[("role", "viewer")][..], &[]] {
        let path = if fields.is_empty() { format!("{at}/remove") } else { at.clone() };
        assert_eq!(sends(&bobs, &path, fields).await.status, 403);
    }
    let own = sends(&bobs, &format!("{AT}/{}", bob.id), &[("role", "owner")]).await;
    shows(&own, 403, &["Nobody raises their own role"]);
    let invited = sends(&bobs, "/acme/members/invite", &[("email", "eve@acme.test"), ("role", "owner")]).await;
    assert_eq!(invited.status, 403);
    assert!(server.app.identity.person(&owner.id).await.unwrap().is_some() && ada.get(AT).await.status == 200);
}

#[tokio::test]
async fn an_invitation_shows_its_link_once_and_is_taken_back() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let fields = [("email", " Bob@Acme.test "), ("role", "member"), ("playbooks", "billing")];
    let made = sends(&ada, "/acme/members/invite", &fields).await;
    shows(&made, 200, &["bob@acme.test is invited", "/invitations#", "data-copy=\"once\"", "playbooks: billing"]);
    assert_eq!(made.header("cache-control"), "no-store");
    let page = ada.get(AT).await;
    shows(&page, 200, &["bob@acme.test", "Take back"]);
    assert!(!page.text.contains("/invitations#"));
    for (email, words) in [("ada@acme.test", "is a member already."), ("nobody", "must be an email address")] {
        let refused = sends(&ada, "/acme/members/invite", &[("email", email), ("role", "viewer")]).await;
        assert!(matches!(refused.status, 409 | 422), "{}", refused.text);
        shows(&refused, refused.status, &[words, &format!("value=\"{email}\""), "<option value=\"viewer\" selected>"]);
        assert!(!refused.text.contains("change_role"));
    }
    let id = after(&page.text, "name=\"id\" value=\"").to_owned();
    leads_to(&sends(&ada, "/acme/members/revoke", &[("id", &id)]).await, AT);
    assert!(!ada.get(AT).await.text.contains("bob@acme.test"));
    assert_eq!(server.audit("acme").await.pop().unwrap().kind, "invitation_revoked");
}

#[tokio::test]
async fn who_does_not_manage_the_org_is_told_so_and_a_stranger_sees_nothing() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (carol, carols) = joins(&server, "Carol", Role::Viewer).await;
    shows(&carols.get(AT).await, 403, &["Your role in this org, viewer, does not let you see this."]);
    shows(&carols.get(&format!("{AT}/{}", carol.id)).await, 403, &["viewer"]);
    assert_eq!(
        sends(&carols, "/acme/members/invite", &[("email", "e@acme.test"), ("role", "viewer")]).await.status,
        403
    );
    let tabs = carols.get("/acme/settings").await.text;
    assert!(!tabs.contains("href=\"/acme/members\""), "no way where she may not go");

    let eve = server.person("Eve", "eve@other.test", "other", Role::Owner).await;
    let eves = tab_of(&server, &eve);
    for page in ["members", "settings", "members/user_0123456789012345678901", "settings/delete"] {
        let (foreign, unknown) =
            (eves.get(&format!("/acme/{page}")).await, eves.get(&format!("/nowhere/{page}")).await);
        shows(&foreign, 404, &["There is nothing at this address"]);
        assert_eq!(foreign.text, unknown.text, "an org of others is as one that is not there");
        leads_to(&Tab::of(&server).get(&format!("/acme/{page}")).await, "/sign-in");
    }
    assert_eq!(sends(&eves, "/acme/members/invite", &[("email", "e@o.test"), ("role", "owner")]).await.status, 404);
    shows(&ada.get(&format!("{AT}/{}", eve.id)).await, 404, &[]);
}

/// Security case 22.
#[tokio::test]
async fn a_form_that_is_not_of_our_own_page_changes_nothing() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    let (bob, bobs) = joins(&server, "Bob", Role::Admin).await;
    let member = format!("{AT}/{}", bob.id);
    let paths = [
        "/acme/members/invite",
        "/acme/members/revoke",
        member.as_str(),
        &format!("{member}/remove"),
        "/acme/settings",
        "/acme/settings/leave",
        "/acme/settings/delete",
        "/acme/settings/restore",
        "/orgs/new",
    ];
    // The first look of the day is noted.
    ada.get(AT).await;
    bobs.get(AT).await;
    let before = server.database().everything().await;
    for path in paths {
        let fields =
            [("email", "e@acme.test"), ("role", "viewer"), ("name", "X"), ("confirm", "acme"), ("id", "other")];
        assert_eq!(ada.send(path, &fields).await.status, 403, "{path} without the token");
        let theirs = [&[("csrf", bob.csrf.as_str())][..], &fields].concat();
        assert_eq!(ada.send(path, &theirs).await.status, 403, "{path} with another session's");
        let html = ada.get("/").await.text;
        let own = [&[("csrf", after(&html, "name=\"csrf\" value=\""))][..], &fields].concat();
        for (name, value) in [("origin", "https://evil.test"), ("origin", "null"), ("sec-fetch-site", "cross-site")] {
            let request = server.anyone().request("POST", path).header("cookie", ada.cookies()).header(name, value);
            let answer = crate::support::people::Answer::of(crate::sign_in::tab::form(request, &own)).await;
            assert_eq!(answer.status, 403, "{path} {name} {value}");
        }
    }
    assert_eq!(before, server.database().everything().await);
    assert_eq!(bobs.get(AT).await.status, 200);
}

/// Decision D52.
#[tokio::test]
async fn the_servers_own_words_are_no_orgs() {
    let (server, ada) = TestApp::set_up_by_ada(&[]).await;
    for word in playmaker::identity::orgs::RESERVED {
        for page in ["members", "settings/restore"] {
            let path = format!("/{word}/{page}");
            let known = ada.get(&path).await;
            assert!(matches!(known.status, 404 | 405), "{path}: {}", known.status);
        }
    }
    assert_eq!(Tab::of(&server).get("/mcp/members").await.status, 404, "nobody is asked to sign in there");
    assert_eq!(ada.get("/settings/profile").await.status, 200);
    let keys = TestApp::with_keys(&[crate::support::app::FULL]).await;
    assert_eq!(keys.anyone().get("/north/members").await.status, 404);
}
