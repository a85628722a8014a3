//! What a consent asked for and what it got (`connections.md` 1, `scopes`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scopes of a connection, as RFC 6749, section 3.3 has them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scopes {
    /// Asked for.
    pub requested: Vec<String>,
    /// Granted.
    pub granted: Vec<String>,
    /// Needed and not granted.
    pub missing: Vec<String>,
}

impl Scopes {
    /// Of what was asked for and what was granted, which is as asked where the answer did not say; `required` are those
    /// without which the connection is of no use.
    pub fn of(requested: &[String], granted: Option<&[String]>, required: &[String]) -> Self {
        let granted = granted.unwrap_or(requested).to_vec();
        let missing = required.iter().filter(|scope| !granted.contains(scope)).cloned().collect();
        Self { requested: requested.to_vec(), granted, missing }
    }
}
