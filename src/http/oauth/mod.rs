//! Handlers of the built-in authorization server: each reads a request, asks [`crate::identity::oauth`] and answers.

mod answers;
pub(super) mod authorize;
pub(super) mod consent;
pub(super) mod endpoints;
mod person;
pub(super) mod registration;
