//! The five operations on playbooks (`http-api.md` 5).

pub mod create_playbook;
pub mod get_playbook;
pub mod list_playbooks;
pub mod retire_playbook;
pub mod update_playbook;

use crate::error::{Problem, Result};

/// A name and a description as they are kept: trimmed, the name not blank.
fn trimmed(name: &str, description: &str) -> Result<(String, String)> {
    let name = name.trim();
    if name.is_empty() {
        return Err(Problem::invalid("/name", "must not be blank"));
    }
    Ok((name.to_owned(), description.trim().to_owned()))
}
