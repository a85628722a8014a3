//! Playmaker from outside: every test talks to it as a caller does.
//!
//! Read [`support`] first: servers, callers and the services of others. Then a folder per subject.
#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod access;
mod architecture;
mod audit;
mod axe;
mod commands;
mod connections;
mod contract;
mod demo;
mod issuer;
mod key_pages;
mod keys;
mod mcp;
mod members;
mod oauth;
mod pages;
mod playbooks;
mod rotation;
mod servers;
mod sign_in;
mod story;
mod support;
mod tools;
