//! The five operations on playbooks (`http-api.md` 5).

pub mod create_playbook;
pub mod get_playbook;
pub mod list_playbooks;
pub mod retire_playbook;
pub mod update_playbook;

use crate::error::{Issue, Problem, Result};

/// A name and a description as they are kept: trimmed, the name not blank.
fn trimmed(name: &str, description: &str) -> Result<(String, String)> {
    let name = name.trim();
    let mut issues = Vec::new();
    if name.is_empty() {
        issues.push(Issue::new("/name", "must not be blank"));
    }
    if name.contains(char::is_control) {
        issues.push(Issue::new("/name", "must be on one line, without control characters"));
    }
    if description.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        issues.push(Issue::new("/description", "must hold no control character but line breaks and tabs"));
    }
    if !issues.is_empty() {
        return Err(Problem::invalid_all(issues));
    }
    Ok((name.to_owned(), description.trim().to_owned()))
}
