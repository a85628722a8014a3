//! The MCP endpoints over real sockets: what every client of every revision meets, and what a stream does while it waits.
//!
//! [`server`] starts the program, [`talk`] says requests to it; then a file a subject.

mod clients;
mod conversation;
mod server;
mod stopping;
mod streams;
mod talk;
