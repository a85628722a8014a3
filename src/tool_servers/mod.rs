//! Tool servers: MCP servers and HTTP APIs whose tools a playbook may call.

pub mod openapi;
pub mod scrub;
pub mod upstream;
