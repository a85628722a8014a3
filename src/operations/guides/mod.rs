//! The one operation on guides.

pub mod get_guide;
