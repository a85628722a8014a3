//! Signing in and out with a password, throttling, and the way back (`identity.md` 8.1 to 8.4).

use playmaker::identity::Role;
use playmaker::identity::invitations::sending::Draft;

use super::tab::{PASSWORD, Tab};
use crate::support::app::TestApp;
use crate::support::people::Answer;

const ADA: &str = "ada@acme.test";

#[tokio::test]
async fn the_email_comes_first_and_then_the_password() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let tab = Tab::of(&server);
    assert!(tab.get("/sign-in").await.text.contains("autocomplete=\"username webauthn\""));
    // Whether there is an account is not told.
    let known = tab.send("/sign-in", &[("email", ADA)]).await;
    let unknown = tab.send("/sign-in", &[("email", "eve@acme.test")]).await;
    assert_eq!((known.status, unknown.status), (200, 200));
    assert_eq!(known.text, unknown.text.replace("eve@acme.test", ADA));
    let wrong = tab.signs_in(ADA, "not her password").await;
    let nobody = tab.signs_in("eve@acme.test", "not her password").await;
    assert_eq!((wrong.status, nobody.status), (403, 403));
    assert_eq!(wrong.text, nobody.text.replace("eve@acme.test", ADA));
    let entered = tab.signs_in("ADA@acme.test", PASSWORD).await;
    assert_eq!((entered.status, entered.header("location")), (303, "/"));
    assert!(tab.get("/").await.text.contains("Ada Lovelace"));
    let rows = server.audit("").await;
    let kinds: Vec<&str> = rows.iter().rev().take(3).rev().map(|row| row.kind.as_str()).collect();
    assert_eq!(kinds, ["sign_in_failed", "sign_in_failed", "sign_in"]);
    assert!(
        !rows[rows.len() - 2].data.to_string().contains("eve@"),
        "an email of somebody unknown is kept as its digest"
    );
}

/// Security case 21.
#[tokio::test]
async fn the_cookie_is_new_at_each_sign_in_and_the_old_one_dies() {
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    let first = tab.cookie("playmaker").unwrap();
    let answer = tab.signs_in(ADA, PASSWORD).await;
    let set: Vec<&str> = answer.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    let session = set.iter().find(|line| line.starts_with("playmaker=")).unwrap();
    let second = tab.cookie("playmaker").unwrap();
    assert_eq!(*session, format!("playmaker={second}; HttpOnly; SameSite=Lax; Path=/; Max-Age=1209600"));
    assert_ne!(first, second);
    let old = Tab::of(&server);
    old.plant("playmaker", &first);
    assert_eq!(old.get("/v1/orgs/acme/playbooks").await.status, 401);
    // What somebody planted is not taken over.
    let planted = "a".repeat(43);
    let tab = Tab::of(&server);
    tab.plant("playmaker", &planted);
    tab.signs_in(ADA, PASSWORD).await;
    assert_ne!(tab.cookie("playmaker"), Some(planted));
    // Unless it is to be kept, it goes with the browser.
    let answer = tab.send("/sign-in", &[("email", ADA), ("password", PASSWORD)]).await;
    let line = answer.headers.get_all("set-cookie").iter().find(|line| line.as_bytes().starts_with(b"playmaker="));
    assert!(!line.unwrap().to_str().unwrap().contains("Max-Age"));
}

#[tokio::test]
async fn over_https_the_cookie_is_bound_to_the_host() {
    let server = TestApp::with(&[("PUBLIC_URL", "https://pm.example")]).await;
    let ada = server.person("Ada", ADA, "acme", Role::Owner).await;
    assert!(ada.cookie.starts_with("__Host-playmaker="));
    ada.get("/v1/orgs/acme/playbooks").await.done(200);
    let tab = Tab::of(&server);
    let answer = tab.get("/settings/profile").await;
    let line = answer.headers.get("set-cookie").unwrap().to_str().unwrap();
    assert!(
        line.starts_with("__Host-playmaker-return=") && line.contains("; Secure; HttpOnly; SameSite=Lax; Path=/"),
        "{line}"
    );
    // The name without the prefix is nothing here.
    let plain = server.anyone().with("cookie", &ada.cookie["__Host-".len()..]);
    plain.get("/v1/orgs/acme/playbooks").await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn five_failures_are_free_then_waits_double_and_success_forgets_them() {
    let (server, known) = TestApp::set_up_by_ada(&[]).await;
    let stranger = Tab::of(&server);
    for _ in 0..5 {
        assert_eq!(stranger.signs_in(ADA, "a guess of no use").await.status, 403);
    }
    for wait in ["2", "4"] {
        let waits = stranger.signs_in(ADA, PASSWORD).await;
        assert_eq!((waits.status, waits.header("retry-after")), (429, wait));
        server.clock.advance_ms(wait.parse::<i64>().unwrap() * 1_000);
        assert_eq!(stranger.signs_in(ADA, "a guess of no use").await.status, 403);
    }
    // No stranger locks Ada out of the browser she signed in with before.
    known.command("/", "/sign-out", &[]).await;
    assert_eq!(known.signs_in(ADA, PASSWORD).await.status, 303);
    server.clock.advance_ms(8_000);
    assert_eq!(stranger.signs_in(ADA, PASSWORD).await.status, 303);
    let another = Tab::of(&server);
    for _ in 0..5 {
        assert_eq!(another.signs_in(ADA, "a guess of no use").await.status, 403, "counted anew");
    }
}

#[tokio::test]
async fn an_address_has_thirty_tries_in_ten_minutes() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    for number in 0..30 {
        let somebody = format!("somebody-{number}@acme.test");
        assert_eq!(Tab::of(&server).signs_in(&somebody, "a guess of no use").await.status, 403);
    }
    let waits = Tab::of(&server).signs_in(ADA, PASSWORD).await;
    assert_eq!((waits.status, waits.header("retry-after")), (429, "600"));
    server.clock.advance_ms(600_000);
    assert_eq!(Tab::of(&server).signs_in(ADA, PASSWORD).await.status, 303);
}

/// Security case 22.
#[tokio::test]
async fn signing_out_takes_the_token_of_the_session() {
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    assert_eq!(tab.send("/sign-out", &[("csrf", "guessed")]).await.status, 403);
    assert_eq!(tab.get("/sign-out").await.status, 405);
    let page = tab.get("/").await.text;
    let token = super::tab::after(&page, "name=\"csrf\" value=\"");
    for site in ["cross-site", "same-site", "none"] {
        let browser = server.anyone().with("cookie", &tab.cookies()).with("origin", &server.app.public_address());
        let request = browser.with("sec-fetch-site", site).request("POST", "/sign-out");
        let across = Answer::of(super::tab::form(request, &[("csrf", token)])).await;
        assert_eq!(across.status, 403, "{site}: with the token, and yet no page of ours sends it");
    }
    let cookie = tab.cookie("playmaker").unwrap();
    let out = tab.command("/", "/sign-out", &[]).await;
    assert_eq!((out.status, out.header("location"), tab.cookie("playmaker")), (303, "/", None));
    tab.plant("playmaker", &cookie);
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 401);
    assert_eq!(server.audit("").await.last().unwrap().kind, "sign_out");
}

/// Security case 37.
#[tokio::test]
async fn after_signing_in_the_browser_goes_to_where_it_wanted_on_this_server_alone() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let tab = Tab::of(&server);
    let sent = tab.get("/settings/sessions").await;
    assert_eq!((sent.status, sent.header("location")), (303, "/sign-in"));
    let back = tab.signs_in(ADA, PASSWORD).await;
    assert_eq!((back.status, back.header("location")), (303, "/settings/sessions"), "{}", back.text);
    assert_eq!(tab.cookie("playmaker-return"), None, "once");
    for forged in ["L3NldHRpbmdz.99999999999.AAAA", "Ly9ldmlsLnRlc3Q", "https://evil.test", "//evil.test"] {
        let tab = Tab::of(&server);
        tab.plant("playmaker-return", forged);
        assert_eq!(tab.signs_in(ADA, PASSWORD).await.header("location"), "/", "{forged}");
    }
    let tab = Tab::of(&server);
    tab.get("/settings/sessions").await;
    server.clock.advance_ms(15 * 60_000);
    assert_eq!(tab.signs_in(ADA, PASSWORD).await.header("location"), "/", "a quarter of an hour is over");
}

#[tokio::test]
async fn a_disabled_account_is_out_at_once_and_can_come_back() {
    use playmaker::identity::people::Status;
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    let identity = &server.app.identity;
    let ada = identity.person_of_email(ADA).await.unwrap().unwrap();
    identity.set_person_status(&ada, Status::Disabled).await.unwrap();
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 401);
    assert_eq!(tab.signs_in(ADA, PASSWORD).await.status, 403);
    identity.set_person_status(&ada, Status::Active).await.unwrap();
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 401, "its sessions ended for good");
    assert_eq!(tab.signs_in(ADA, PASSWORD).await.status, 303);
}

#[tokio::test]
async fn strangers_make_an_account_only_where_that_is_open() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let grace = [("name", "Grace"), ("email", "grace@acme.test"), ("password", PASSWORD)];
    let refused = Tab::of(&server).send("/sign-up", &grace).await;
    assert!(refused.status == 422 && refused.text.contains("ask for a new one"), "{}", refused.text);
    let (server, _) = TestApp::set_up_by_ada(&[("SIGN_UP", "open")]).await;
    let tab = Tab::of(&server);
    assert_eq!(tab.send("/sign-up", &grace).await.status, 303);
    assert!(tab.get("/").await.text.contains("You belong to no org yet"));
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 403);
    assert_eq!(Tab::of(&server).send("/sign-up", &grace).await.status, 409);
}

#[tokio::test]
async fn who_was_invited_makes_an_account_of_that_email_and_joins() {
    let (server, _) = TestApp::set_up_by_ada(&[]).await;
    let draft =
        Draft { email: "grace@acme.test".into(), role: Role::Member, playbooks: playmaker::identity::Playbooks::All };
    let code = server.app.identity.invite_as_operator("acme", draft).await.unwrap().code;
    let tab = Tab::of(&server);
    let link = format!("http://localhost/invitations#{}", code.expose());
    // Whatever email is given, the account is of the one that was invited.
    let fields = [("invitation", &*link), ("name", "Grace"), ("email", "eve@acme.test"), ("password", PASSWORD)];
    assert_eq!(tab.send("/sign-up", &fields).await.status, 303);
    assert_eq!(tab.get("/v1/orgs/acme/playbooks").await.status, 200);
    assert!(server.app.identity.person_of_email("eve@acme.test").await.unwrap().is_none());
    let again = Tab::of(&server).send("/sign-up", &fields).await;
    assert_eq!(again.status, 422, "once");
    assert_eq!(Tab::of(&server).signs_in("grace@acme.test", PASSWORD).await.status, 303);
}

/// Security case 24.
#[tokio::test]
async fn no_page_can_be_framed() {
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    for path in ["/", "/setup", "/sign-in", "/sign-up", "/forgot", "/reset", "/settings/profile", "/settings/security"]
    {
        for answer in [tab.get(path).await, Tab::of(&server).get(path).await, tab.send(path, &[]).await] {
            if !answer.header("content-type").starts_with("text/html") {
                continue;
            }
            assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
            assert!(answer.header("content-security-policy").contains("frame-ancestors 'none'"), "{path}");
            assert_eq!(answer.header("cache-control"), "no-store");
            assert_eq!(answer.header("referrer-policy"), "no-referrer");
            assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        }
    }
}
