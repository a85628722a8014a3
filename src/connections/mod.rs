//!

pub mod credential_look;
