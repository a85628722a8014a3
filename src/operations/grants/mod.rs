//! The operations on grants: what people allowed clients in this org (`identity.md` 9): HTTP alone, for people.

pub mod list_grants;
pub mod revoke_grant;

use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::iso;
use crate::identity::caller::PERSON;
use crate::identity::oauth::grants::Grant;

/// What a grant's id looks like.
pub const ID_PATTERN: &str = "^grant_[0-9A-Za-z]{22}$";

/// A grant, as its person and those who manage the org see it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct View {
    /// Its id.
    pub id: String,
    /// Who allowed it.
    pub person: String,
    /// The client's id.
    pub client_id: String,
    /// What the client calls itself.
    pub client_name: String,
    /// The host it returned to.
    pub host: String,
    /// What it reaches.
    pub resources: Vec<String>,
    /// What it may do there.
    pub scopes: Vec<String>,
    /// When it was given.
    pub created_at: String,
    /// When it last led to a token.
    pub last_used_at: String,
    /// When it ends by itself.
    pub expires_at: String,
    /// When it was revoked, once it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

impl From<Grant> for View {
    fn from(grant: Grant) -> Self {
        Self {
            id: grant.id,
            person: format!("{PERSON}{}", grant.person),
            client_id: grant.client,
            client_name: grant.client_name,
            host: grant.returns_to,
            resources: grant.resources,
            scopes: grant.scopes.to_string().split_whitespace().map(str::to_owned).collect(),
            created_at: iso(grant.created_at),
            last_used_at: iso(grant.last_used_at),
            expires_at: iso(grant.expires_at),
            revoked_at: grant.revoked_at.map(iso),
        }
    }
}
