//! An account that somebody else had a hand in is its person's alone again once they set a password (`identity.md` 8.4).

use playmaker::identity::Person;
use playmaker::identity::people::Status;
use playmaker::ledger::{Changed, Order, Work};
use playmaker::on_connection;
use serde_json::{Value, json};

use super::tab::{PASSWORD, Tab};
use crate::support::app::TestApp;
use crate::support::people::Answer;
use crate::support::post::{Post, code};

const ADA: &str = "ada@acme.test";
const EVIL: &str = "eve@evil.test";
const NEXT: &str = "seven herons over the weir";

/// Eve, signed in as Ada, asks for another email; the code that goes to Eve.
async fn asked(post: &mut Post, tab: &Tab) -> String {
    let asked = tab.command("/settings/profile", "/settings/profile/email", &[("email", EVIL)]).await;
    assert_eq!(asked.status, 200, "{}", asked.text);
    let mails = post.take(2).await;
    code(&mails.iter().find(|(to, _)| to == EVIL).unwrap().1)
}

async fn confirms(server: &TestApp, code: &str) -> Answer {
    Tab::of(server).send("/settings/profile/email/confirm", &[("code", code)]).await
}

async fn sets(server: &TestApp, person: &Person, password: &str) -> Answer {
    let code = server.app.identity.reset_code(person).await.unwrap();
    Tab::of(server).send("/reset", &[("code", &code), ("password", password)]).await
}

/// The mail that tells of the change advises to set a password: that has to help.
#[tokio::test]
async fn a_link_that_changes_the_email_ends_when_a_password_is_set_or_the_account_stopped() {
    let mut post = Post::open().await;
    let (server, tab) = TestApp::set_up_by_ada(&post.settings(&[])).await;
    let identity = &server.app.identity;
    let ada = identity.person_of_email(ADA).await.unwrap().unwrap();

    let first = asked(&mut post, &tab).await;
    assert_eq!(sets(&server, &ada, NEXT).await.status, 200);
    assert_eq!(confirms(&server, &first).await.status, 422, "after a reset");

    assert_eq!(tab.signs_in(ADA, NEXT).await.status, 303);
    post.next().await;
    let second = asked(&mut post, &tab).await;
    let reset = identity.reset_code(&ada).await.unwrap();
    let fields = [("current", NEXT), ("password", PASSWORD)];
    let changed = tab.command("/settings/security", "/settings/security/password", &fields).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(confirms(&server, &second).await.status, 422, "after a change");
    let late = Tab::of(&server).send("/reset", &[("code", &reset), ("password", NEXT)]).await;
    assert_eq!(late.status, 422, "nor does an older link set the password");

    let third = asked(&mut post, &tab).await;
    identity.set_person_status(&ada, Status::Disabled).await.unwrap();
    identity.set_person_status(&ada, Status::Active).await.unwrap();
    assert_eq!(confirms(&server, &third).await.status, 422, "after the operator stopped the account");
    assert_eq!(identity.person_of_email(ADA).await.unwrap().map(|found| found.id), Some(ada.id));
    assert!(identity.person_of_email(EVIL).await.unwrap().is_none());
}

async fn gives_passkey(server: &TestApp, person: &Person) {
    let (person, now) = (person.id.clone(), server.app.identity.now_ms());
    let work: Work<()> = Box::new(move |connection| {
        Box::pin(async move {
            let sql = "INSERT INTO passkeys (id, person, name, public_key, counter, created_at) \
                       VALUES ($1, $1, 'Laptop', '-7:AA', 0, $2)";
            on_connection!(connection, c => sqlx::query(sql).bind(&person).bind(now).execute(c).await.map(|_| ()))?;
            Ok(Changed::nothing(()))
        })
    });
    server.app.ledger.commit("", work).await.unwrap();
}

/// With a passkey of their own whoever had the account would be back at once.
#[tokio::test]
async fn passkeys_go_where_everything_is_withdrawn_or_nobody_had_proved_the_email() {
    let mut post = Post::open().await;
    let (server, _) = TestApp::set_up_by_ada(&post.settings(&[("SIGN_UP", "open")])).await;
    let identity = &server.app.identity;
    let ada = identity.person_of_email(ADA).await.unwrap().unwrap();
    gives_passkey(&server, &ada).await;
    let count = async |person: &Person| identity.passkeys_of(&person.id).await.unwrap().len();

    let forgot = sets(&server, &ada, NEXT).await;
    assert!(forgot.status == 200 && !forgot.text.contains("passkeys"), "{}", forgot.text);
    assert_eq!(count(&ada).await, 1, "who forgot a password keeps theirs");
    assert!(!post.next().await.contains("passkeys"));
    let code = identity.reset_code(&ada).await.unwrap();
    let fields = [("code", code.as_str()), ("password", NEXT), ("withdraw", "yes")];
    let withdrawn = Tab::of(&server).send("/reset", &fields).await;
    assert!(withdrawn.text.contains("passkeys were taken away"), "{}", withdrawn.text);
    assert!(post.next().await.contains("Its passkeys were taken away."));
    assert_eq!(count(&ada).await, 0);
    let row = server.audit("").await.pop().unwrap();
    assert_eq!((row.kind.as_str(), &row.data["passkeys"]), ("password_reset", &json!(1)));

    // Eve made an account of Grace's address before Grace did.
    let eve = Tab::of(&server);
    let fields = [("name", "Grace"), ("email", "grace@acme.test"), ("password", PASSWORD)];
    assert_eq!(eve.send("/sign-up", &fields).await.status, 303);
    let grace = identity.person_of_email("grace@acme.test").await.unwrap().unwrap();
    gives_passkey(&server, &grace).await;
    let taken = sets(&server, &grace, NEXT).await;
    assert!(taken.text.contains("passkeys were taken away"), "{}", taken.text);
    assert_eq!((count(&grace).await, eve.get("/settings/profile").await.status), (0, 303));
}

/// What a page does is told with the request it came by, not as an act of the server's own.
#[tokio::test]
async fn the_audit_tells_where_an_act_of_a_page_came_from() {
    let (server, tab) = TestApp::set_up_by_ada(&[]).await;
    let ada = server.app.identity.person_of_email(ADA).await.unwrap().unwrap();
    let reset = sets(&server, &ada, NEXT).await;
    let signed_in = tab.signs_in(ADA, NEXT).await;
    let fields = [("current", NEXT), ("password", PASSWORD)];
    let changed = tab.command("/settings/security", "/settings/security/password", &fields).await;
    let out = tab.command("/", "/sign-out", &[]).await;
    let rows = server.app.ledger.audit("", &Default::default(), Order::Desc, None, 4).await.unwrap();
    let told: Vec<(&str, Value)> =
        rows.iter().map(|row| (row.action.as_str(), serde_json::to_value(&row.origin).unwrap())).collect();
    let of = |answer: &Answer| json!({ "via": "studio", "request_id": answer.header("x-request-id"), "address": "127.0.0.1" });
    let expected = [
        ("sign_out", of(&out)),
        ("password_changed", of(&changed)),
        ("sign_in", of(&signed_in)),
        ("password_reset", of(&reset)),
    ];
    assert_eq!(told, expected);
    // The org's rows of the set-up too.
    let made = server.app.ledger.audit("acme", &Default::default(), Order::Desc, None, 2).await.unwrap();
    assert!(made.iter().all(|row| row.origin.as_ref().is_some_and(|origin| origin.address.is_some())), "{made:?}");
}
