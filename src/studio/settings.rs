//! The pages of a person's own settings.

use super::frame::Frame;
use super::tabbed::{Tab, TabbedView};

/// The pages there are: address, word.
const TABS: [(&str, &str); 6] = [
    ("/settings/profile", "Profile"),
    ("/settings/security", "Security"),
    ("/settings/sessions", "Sessions"),
    ("/settings/apps", "Connected apps"),
    ("/settings/keys", "Keys"),
    ("/settings/accounts", "Accounts"),
];

/// The page at one of these addresses, with nothing on it yet.
pub fn settings(frame: Frame, at: &'static str) -> TabbedView {
    let tab = |(address, word): (&str, &'static str)| Tab { address: address.to_owned(), word };
    TabbedView::new(frame, "Settings", TABS.map(tab).into(), at)
}
