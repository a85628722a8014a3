//! Playmaker from outside: every test talks to it as a caller does.
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod commands;
mod demo;
mod mcp;
mod story;
mod support;
