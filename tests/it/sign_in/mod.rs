//! People sign in to Studio, and what their sessions may do (`identity.md` 8).

mod browsing;
mod entering;
mod first_person;
mod links;
mod operator;
mod sessions;
pub mod tab;
mod upkeep;
