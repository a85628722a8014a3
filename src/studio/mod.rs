//! The web pages: what each shows, and how it is put on the wire (design.md 10, connections.md 9).
//!
//! Nothing here reads the store: a handler loads what a page needs, fills a view and hands it over. Start with [`connect`],
//! the page a person approves a connection on. Foreign words reach a template only as [`Text`], [`Host`] or
//! [`HttpsLink`], so that none is shown uncleaned; templates escape them as HTML.

pub mod approval;
pub mod assets;
pub mod consent;
pub mod docs;
pub mod error_page;
pub mod form;
pub mod frame;
pub mod home;
pub mod response;
pub mod settings;
pub mod text;

pub use approval::{connect, connect_refused};
pub use assets::{asset, asset_response, asset_url};
pub use error_page::error_page;
pub use form::{FormView, Input, Told, form, form_refused, told};
pub use frame::{Frame, FrameOrg};
pub use home::home;
pub use response::{Response, page, see_other};
pub use text::{Host, HttpsLink, Text};

#[cfg(test)]
mod gallery;
