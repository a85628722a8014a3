//!
pub mod keys;
