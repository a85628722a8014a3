//! The pages of a person's own settings: profile, security, sessions, connected applications, keys, accounts.

use super::frame::Frame;
use super::parts::Part;
use super::tabbed::TabbedView;
use super::text::Text;

/// The pages there are: address, word.
pub const TABS: [(&str, &str); 6] = [
    ("/settings/profile", "Profile"),
    ("/settings/security", "Security"),
    ("/settings/sessions", "Sessions"),
    ("/settings/apps", "Connected apps"),
    ("/settings/keys", "Keys"),
    ("/settings/accounts", "Accounts"),
];

/// The page of settings at `at`.
pub fn settings(frame: Frame, at: &'static str, parts: Vec<Part>) -> TabbedView {
    let word = TABS.iter().find(|(address, _)| *address == at).map_or("Settings", |(_, word)| *word);
    TabbedView {
        frame,
        heading: Text::new("Settings"),
        title: Text::new(word),
        tabs: TABS.iter().map(|(address, word)| ((*address).to_owned(), *word)).collect(),
        at: at.to_owned(),
        done: None,
        warning: None,
        parts,
    }
}
