//! The pages as a person meets them: with and without scripts, on a phone and at a desk, by day and by night.
//!
//! Each test leaves pictures in `target/pictures/`.

use serde_json::json;

use super::agent::Agent;
use super::harbour::{Harbour, KEY};
use super::page::Person;
use crate::support::app::{ACCOUNT, TestApp};
use crate::support::browser::{Browser, Scheme, Screen};
use crate::support::eventually;
use crate::support::keyboard::{enters, goes_to, types};

const LOOKS: [(&str, Screen, Scheme); 4] = [
    ("phone-light", Screen::Phone, Scheme::Light),
    ("phone-dark", Screen::Phone, Scheme::Dark),
    ("desktop-light", Screen::Desktop, Scheme::Light),
    ("desktop-dark", Screen::Desktop, Scheme::Dark),
];

/// A server that offers the harbour desk, an agent at work there, and the desk.
async fn begun() -> (Harbour, TestApp, Agent) {
    let harbour = Harbour::open().await;
    let offered = harbour.offered();
    let app = TestApp::with(&offered.each_ref().map(|(name, value)| (*name, value.as_str()))).await;
    let agent = Agent::at_work(&app).await;
    (harbour, app, agent)
}

/// Answers, once colours have stopped changing, whether the page is no wider than the screen.
const SETTLED: &str = "const done = arguments[0]; \
    Promise.all(document.getAnimations().map((each) => each.finished)) \
        .then(() => done(document.documentElement.scrollWidth <= innerWidth))";

/// Takes a picture of what a browser shows, in each look.
async fn pictures(browser: &Browser, name: &str) {
    for (look, screen, scheme) in LOOKS {
        browser.resize(screen).await;
        browser.prefer(scheme).await;
        let fits = browser.driver().execute_async(SETTLED, Vec::new()).await.unwrap();
        assert_eq!(fits.json(), true, "{name} is wider than the {look} screen");
        browser.picture(&format!("{name}-{look}")).await;
    }
    browser.resize(Screen::Desktop).await;
    browser.prefer(Scheme::Light).await;
}

#[tokio::test]
async fn a_key_is_given_by_the_keyboard_alone() {
    let (_harbour, _app, mut agent) = begun().await;
    let (_, link) = agent.add(json!({ "provider": "harbour-desk" })).await;
    let person = Person::follows(&link).await;
    let label = person.text("form label").await.unwrap();
    goes_to(person.browser(), &label).await;
    types(person.browser(), "no-such-key").await;
    enters(person.browser()).await;
    assert_eq!(person.reads_fault().await, "Harbour desk does not take this credential");
    goes_to(person.browser(), &label).await;
    types(person.browser(), KEY).await;
    goes_to(person.browser(), "Save and connect").await;
    enters(person.browser()).await;
    person.sees("connected").await;
    person.leaves().await;
}

#[tokio::test]
async fn a_key_is_asked_for_refused_and_taken() {
    let (harbour, app, mut agent) = begun().await;
    let (id, link) = agent.add(json!({ "provider": "harbour-desk" })).await;
    let person = Person::follows(&link).await;
    pictures(person.browser(), "approval-asks").await;
    let page = person.page().await;
    let host = harbour.url("").replace("http://", "");
    for words in [&host, "Every tool Harbour desk offers", "Every playbook of the org local", " minutes left"] {
        assert!(page.contains(words), "{words}: {page}");
    }

    person.gives("no-such-key").await;
    person.reads_fault().await;
    pictures(person.browser(), "approval-refuses").await;
    let field = person.browser().driver().active_element().await.unwrap();
    assert_eq!(field.attr("type").await.unwrap().as_deref(), Some("password"), "the field has the focus");
    assert_eq!(field.prop("value").await.unwrap().as_deref(), Some(""), "the wrong key is gone from the page");

    person.gives(KEY).await;
    person.sees("connected").await;
    pictures(person.browser(), "approval-connected").await;
    let page = person.page().await;
    assert!(page.contains("it can use harbour-desk now"), "{page}");
    let connection = app.anyone().get(&format!("/v1/orgs/local/connections/{id}")).await.done(200);
    assert_eq!((&connection["status"], &connection["account"]), (&json!("connected"), &json!("North pier")));

    // Whoever comes back to the link sees how it ended.
    person.browser().visit(&link).await;
    person.sees("connected").await;
    let audit = app.audit_of("local", &id).await;
    assert_eq!(audit, ["connection_added", "connection_attempt_failed", "connection_connected"]);
    person.leaves().await;
}

#[tokio::test]
async fn everything_works_without_scripts() {
    let (_harbour, app, mut agent) = begun().await;
    let (id, link) = agent.add(json!({ "provider": "harbour-desk" })).await;
    let person = Person::without_script(&link).await;
    person.gives("no-such-key").await;
    assert_eq!(person.reads_fault().await, "Harbour desk does not take this credential");
    assert!(
        person.browser().driver().title().await.unwrap().starts_with("Not connected yet"),
        "the title says it first"
    );
    person.browser().picture("approval-refuses-without-script").await;
    person.gives(KEY).await;
    person.sees("connected").await;
    assert_eq!(person.heading().await, "Harbour desk is connected as North pier");
    agent.done("remove_connection", json!({ "id": id })).await;
    person.browser().visit(&link).await;
    person.sees("removed").await;

    let (id, link) = agent.add(json!({ "provider": "harbour-desk" })).await;
    person.browser().visit(&link).await;
    person.presses("button[form=cancel]").await;
    person.sees("cancelled").await;
    let connection = app.anyone().get(&format!("/v1/orgs/local/connections/{id}")).await.done(200);
    assert_eq!(connection["status"], "removed");
    person.leaves().await;
}

#[tokio::test]
async fn a_person_may_refuse() {
    let (harbour, app, mut agent) = begun().await;
    let (id, link) = agent.add(json!({ "provider": "harbour-desk" })).await;
    let person = Person::with(Screen::Phone, Scheme::Dark, &link).await;
    person.presses("button[form=cancel]").await;
    person.sees("cancelled").await;
    assert_eq!(person.heading().await, "Cancelled: nothing is connected");
    pictures(person.browser(), "approval-cancelled").await;
    let (words, problem) = agent.not_executed("harbour-desk", "list_berths", json!({})).await;
    assert_eq!(problem["because"], "tool_server_not_configured", "{words}");
    assert!(harbour.seen().is_empty(), "the desk was never asked");
    assert_eq!(app.audit_of("local", &id).await, ["connection_added", "connection_cancelled"]);
    person.leaves().await;
}

#[tokio::test]
async fn a_link_ends_after_ten_minutes() {
    let (_harbour, app, mut agent) = begun().await;
    let (_, link) = agent.add(json!({ "provider": "harbour-desk" })).await;
    let person = Person::follows(&link).await;
    app.clock.advance_ms(10 * 60 * 1000);
    // The field was filled in time, and sent too late.
    person.gives(KEY).await;
    person.sees("expired").await;
    pictures(person.browser(), "approval-expired").await;
    person.browser().visit(&app.url("/connect/no-such-link")).await;
    person.sees("unknown").await;
    pictures(person.browser(), "approval-unknown").await;
    let complaints = person.browser().complaints().await;
    assert!(complaints.iter().all(|line| line.contains("status of 404")), "{complaints:?}");
    person.leaves().await;
}

#[tokio::test]
async fn a_link_ends_after_ten_refused_keys() {
    let (harbour, _app, mut agent) = begun().await;
    let (_, link) = agent.add(json!({ "provider": "harbour-desk" })).await;
    let person = Person::without_script(&link).await;
    for number in 1..10 {
        person.gives(&format!("guess-{number}")).await;
        assert_eq!(person.reads_fault().await, "Harbour desk does not take this credential");
    }
    person.gives("guess-10").await;
    // A new visit could overtake the form that is on its way: it comes once the tenth key was tried.
    let mut tried = 0;
    eventually("the tenth try", async || {
        tried += harbour.seen().len();
        (tried >= 10).then_some(())
    })
    .await;
    person.comes_back_until(&link, "expired").await;
    assert_eq!(person.heading().await, "No more tries with this link");
    person.browser().picture("approval-no-more-tries").await;
    assert_eq!(tried + harbour.seen().len(), 10);
}

#[tokio::test]
async fn the_first_page_lists_connections() {
    let (harbour, app, mut agent) = begun().await;
    let (_, link) = agent.add(json!({ "provider": "harbour-desk" })).await;
    let person = Person::follows(&link).await;
    person.gives(KEY).await;
    person.sees("connected").await;
    let document = harbour.url("/document");
    agent.add(json!({ "name": "pilots", "type": "openapi", "entry": { "document": document } })).await;

    person.browser().visit(&app.url("/")).await;
    let page = person.page().await;
    for words in ["Harbour desk", "Connected", "pilots", "Waits for approval", &format!("acts as {ACCOUNT}")] {
        assert!(page.contains(words), "{words}: {page}");
    }
    pictures(person.browser(), "home-connections").await;
    person.leaves().await;
}
