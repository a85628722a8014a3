//! From an OpenAPI document to tools, from a tool and its arguments to an HTTP request, and from the answer to an
//! outcome.
//!
//! Everything here is pure: no input or output, no waiting, no credential. Whoever calls fetches the document, checks
//! addresses at every connect, adds the credential and sends. A document is read leniently: an ill-typed part spoils
//! the smallest thing around it and never the document. Nothing a document says decides what is sent beyond its own
//! parameters. Start with [`read()`] and [`Tool::request`]; hand-made files come in by [`toolkit()`].

mod answer;
mod bodies;
mod document;
mod files;
mod naming;
mod operations;
mod parameters;
mod prose;
mod request;
mod schema;
mod security;
mod servers;
mod source;
mod styles;
mod text;
mod tool;
mod toolkit;

#[cfg(test)]
mod tests;

pub use answer::{Kind, Outcome};
pub use document::{Because, Bounds, Document, HintsGiven, Placement, Refusal, Totals, Unusable, read};
pub use operations::checker;
pub use request::{Body, Prepared};
pub use security::CredentialPlace;
pub use tool::{Hints, Place, Tool};
pub use toolkit::toolkit;
