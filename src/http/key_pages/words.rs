//! The words of the pages about keys.

use crate::config::UsagePeriod;
use crate::error::{Issue, Problem};
use crate::identity::keys::Status;
use crate::identity::{Permission, Playbooks};
use crate::studio::consent::sentence;

/// What a permission lets the holder of a key do. A key adds no connection and answers for nobody.
pub(super) fn may(permission: Permission) -> &'static str {
    match permission {
        Permission::OrgWrite => "Create, change and retire playbooks; remove connections",
        Permission::PlaybookWrite => "Change and run what is inside playbooks, and call tools",
        other => sentence(other.word()),
    }
}

/// How a key stands: tone and word.
pub(super) const fn mark(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Active => ("good", "Works"),
        Status::Rotating => ("wait", "Being rotated"),
        Status::Exhausted => ("warn", "Used up"),
        Status::Expired => ("plain", "Ended"),
        Status::Revoked => ("bad", "Revoked"),
    }
}

/// The playbooks a key reaches.
pub(super) fn playbooks(playbooks: &Playbooks) -> String {
    match playbooks {
        Playbooks::All => "All of them".to_owned(),
        Playbooks::Only(ids) => ids.join(", "),
    }
}

/// Calls counted, of those there are.
pub(super) fn calls(count: Option<i64>, limit: Option<u32>, period: Option<UsagePeriod>) -> String {
    let over = match period {
        Some(UsagePeriod::Day) => " today",
        Some(UsagePeriod::Month) => " this month",
        Some(UsagePeriod::Total) | None => " in all",
    };
    match (count, limit) {
        (Some(count), Some(limit)) => format!("{} of {}{over}", grouped(count), grouped(i64::from(limit))),
        (Some(count), None) => format!("{}, without a limit", grouped(count)),
        (None, Some(limit)) => format!("at most {}{over}", grouped(i64::from(limit))),
        (None, None) => "without a limit".to_owned(),
    }
}

/// A number with its thousands apart.
fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + 4);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The same refusal, in words for who fills in a form.
pub(super) fn plain(problem: Problem) -> Problem {
    if problem.issues().is_empty() {
        return problem;
    }
    let plainly = |issue: &Issue| {
        let words = match issue.pointer.split('/').nth(1) {
            Some("name") => "Use 1 to 32 small letters, digits and hyphens.",
            Some("permissions") => "Choose what it may do.",
            Some("playbooks") => "Use at most 100 ids such as weekly-report, with commas between them.",
            Some("usage_limit") => "Use a whole number from 1 to 1,000,000,000.",
            _ => issue.detail.as_ref(),
        };
        Issue::new(issue.pointer.as_str(), words)
    };
    let mut issues: Vec<Issue> = problem.issues().iter().map(plainly).collect();
    // Several faults of one field are one for its reader.
    issues.dedup_by(|one, other| one.detail == other.detail);
    Problem::invalid_all(issues)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_with_their_period() {
        assert_eq!(calls(Some(3), Some(1_000), Some(UsagePeriod::Month)), "3 of 1,000 this month");
        assert_eq!(calls(Some(0), None, None), "0, without a limit");
        assert_eq!(calls(None, Some(1_000_000), Some(UsagePeriod::Day)), "at most 1,000,000 today");
        assert_eq!((grouped(999), grouped(12_345)), ("999".to_owned(), "12,345".to_owned()));
    }
}
