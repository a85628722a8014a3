//! The built-in authorization server (OAuth 2.1, `identity.md` 7): its rules and its rows. The HTTP side is
//! `http/oauth_routes.rs`.

pub mod authorize;
pub mod challenge;
pub mod client;
pub mod document;
pub mod parameters;
pub mod redirect_uri;
pub mod refresh;
pub mod refusal;
pub mod registration;
pub mod scopes;
pub mod successor;
