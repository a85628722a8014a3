//! Who the caller is.

pub mod get_me;
