//! Who may make orgs, and how long the audit is kept (`identity.md` 1.3 and 10).

use super::Environment;
use super::refusal::Refusal;

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Who may make an org in Studio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrgCreation {
    /// Any person.
    Anyone,
    /// Who owns an org already.
    #[default]
    Owners,
    /// Nobody: only the operator's command makes one.
    Nobody,
}

/// How orgs come to be, and what is told of what happens in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Administration {
    /// Who may make an org.
    pub org_creation: OrgCreation,
    /// How long a row of the audit is kept, in milliseconds.
    pub audit_retention_ms: i64,
    /// Whether each row of the audit is a line of the log too.
    pub audit_log: bool,
}

pub(super) fn read(environment: &Environment) -> Result<Administration, Refusal> {
    let get = |name: &str| environment.get(name).map(String::as_str);
    let org_creation = match get("ORG_CREATION") {
        None | Some("owners") => OrgCreation::Owners,
        Some("anyone") => OrgCreation::Anyone,
        Some("nobody") => OrgCreation::Nobody,
        Some(_) => return Err(Refusal::variable("ORG_CREATION", "anyone, owners or nobody")),
    };
    let audit_log = match get("AUDIT_LOG") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Refusal::variable("AUDIT_LOG", "true or false")),
    };
    let days = match get("AUDIT_RETENTION") {
        None => 400,
        Some(text) => text
            .strip_prefix('P')
            .unwrap_or(text)
            .trim_end_matches(['d', 'D'])
            .parse()
            .ok()
            .filter(|days| (90..=3_653).contains(days))
            .ok_or_else(|| Refusal::variable("AUDIT_RETENTION", "days, from 90d to 3653d"))?,
    };
    Ok(Administration { org_creation, audit_retention_ms: days * DAY_MS, audit_log })
}
