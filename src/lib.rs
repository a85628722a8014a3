//! Playmaker: a multi-tenant runtime that AI agents connect to over MCP and HTTP.
//!
//! Start reading at [`app`], which builds everything long-lived, then [`operations`], the list of all a caller can do.
//! Requests come in through [`http`], [`mcp`] and [`studio`]; they run operations; these use the rooms of the middle
//! ([`playbooks`], [`connections`], [`tool_servers`], [`identity`]), which write to the [`ledger`] in the [`store`].
//! Everything slow, outside or random ([`clock`], [`ids`], [`egress`]) comes in as a value a test can replace.

pub mod clock;
pub mod error;
pub mod ids;
pub mod json;

pub mod app;
pub mod config;
pub mod connections;
pub mod demo;
pub mod digest;
pub mod egress;
pub mod guides;
pub mod http;
pub mod identity;
pub mod ledger;
pub mod lifecycle;
pub mod limits;
pub mod mcp;
pub mod operations;
pub mod playbooks;
pub mod secrets;
pub mod server;
pub mod store;
pub mod studio;
pub mod telemetry;
pub mod tool_servers;
pub mod well_known;
