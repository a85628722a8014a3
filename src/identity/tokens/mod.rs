//! Tokens: what makes one good here, for tokens of this server and of an issuer outside (`identity.md` 5 and 6).
//!
//! Start at [`Checker`], which takes the text of a token and answers its [`Claims`]. The judgement itself is [`check`],
//! which is pure; [`IdTokens`] takes those that tell Studio who signed in; [`KeySet`] holds the keys, [`Published`] fetches them, [`Discovery`] finds out where. Nothing here knows
//! HTTP servers, endpoints or people: whether the audience reaches what was asked, and what the person may do, comes after.

mod backoff;
mod check;
mod checker;
mod claims;
mod discovery;
mod fetch;
mod id_token;
mod key;
mod key_set;
mod published;
mod refused;
mod rules;
#[cfg(test)]
mod tests;
mod unverified;

pub use check::{SKEW_MS, check};
pub use checker::{Checker, Keys, OwnKeys};
pub use claims::Claims;
pub use discovery::{Discovery, Metadata};
pub use id_token::{Asked, IdTokens};
pub use key_set::KeySet;
pub use published::Published;
pub use refused::{Failure, RETRY_AFTER_S, Refused};
pub use rules::Rules;
