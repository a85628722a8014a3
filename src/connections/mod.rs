//! Connections: the services and tool servers people give their org through their agent.
//!
//! Start with [`catalogue`], the providers a person may connect and how each wants its credential, then [`secrets`],
//! which keeps what a person gives. A connection's credential never leaves this room but for the request it belongs to.

pub mod catalogue;
pub mod secrets;
