//! Studio's pages, as a browser sees them: an org's people and settings, invitations, another org.

mod browsing;
mod invitations;
mod making;
mod members;
mod settings;
mod signing_up;

use playmaker::identity::Role;
use playmaker::operations::admission::RECENT_MS;

use crate::sign_in::tab::Tab;
use crate::support::app::TestApp;
use crate::support::people::Answer;
use crate::support::visitor::Visitor;

/// A browser in which somebody signed in.
fn tab_of(server: &TestApp, person: &Visitor) -> Tab {
    let tab = Tab::of(server);
    let (name, value) = person.cookie.split_once('=').unwrap();
    tab.plant(name, value);
    tab
}

/// Somebody of `acme` and the browser they signed in with; `name` is their first name.
async fn joins(server: &TestApp, name: &str, role: Role) -> (Visitor, Tab) {
    let email = format!("{}@acme.test", name.to_lowercase().replace(' ', "."));
    let person = server.person(name, &email, "acme", role).await;
    let tab = tab_of(server, &person);
    (person, tab)
}

/// Until nobody's sign-in is fresh any more.
fn time_passes(server: &TestApp) {
    server.clock.advance_ms(RECENT_MS + 1);
}

/// A form sent with the token of the session.
async fn sends(tab: &Tab, path: &str, fields: &[(&str, &str)]) -> Answer {
    tab.command("/", path, fields).await
}

/// A form that did its work leads on.
fn leads_to(answer: &Answer, path: &str) {
    assert_eq!((answer.status, answer.header("location")), (303, path), "{}", answer.text);
}

/// The page that was shown, whose words hold all of these.
fn shows(answer: &Answer, status: u16, words: &[&str]) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert!(answer.header("content-type").starts_with("text/html"));
    for words in words {
        assert!(answer.text.contains(words), "{words:?} in {}", answer.text);
    }
}
