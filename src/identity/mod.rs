//! Who calls: callers, their permissions, and the keys and (later) people behind them.
//!
//! A [`Caller`] is made once a request, by [`crate::http`], and everything after trusts it. Sign-in of people has its
//! place here: a further [`Who`] and a further check beside [`keys`].

pub mod access;
pub mod caller;
pub mod keys;
pub mod oauth;
pub mod resource;

pub use access::Access;
pub use caller::{Caller, Permission, Permissions, Playbooks, Who};
