//! The operations on tool servers (`http-api.md` 13): search, introspect, dry_run, validate, execute.

mod arguments;
pub mod dry_run;
pub mod execute;
pub mod introspect;
pub mod search;
pub mod search_in_playbook;
mod shown;
pub mod validate;
mod words;

/// The rule of a server's name.
const SERVER_PATTERN: &str = "^[a-z][a-z0-9-]{0,31}$";
/// The rule of a tool's name.
const TOOL_PATTERN: &str = "^[A-Za-z0-9_.-]{1,128}$";
