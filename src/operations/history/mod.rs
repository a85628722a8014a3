//! A playbook's history: `list_playbook_events` and `get_event` (`http-api.md` 11).
//!
//! `row` makes an event of the ledger into what a caller reads; `bounds` keeps it within its bounds.

mod bounds;
pub mod get_event;
pub mod list_playbook_events;
mod row;
#[cfg(test)]
mod tests;
