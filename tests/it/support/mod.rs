//! What tests share.
pub mod browser;
pub mod peers;
pub mod services;
