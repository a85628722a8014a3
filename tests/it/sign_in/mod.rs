//! People sign in to Studio, and what their sessions may do (`identity.md` 8).

mod browsing;
mod deleting;
mod emails;
mod entering;
mod first_person;
mod links;
mod made_safe;
mod operator;
mod sessions;
pub mod tab;
mod upkeep;
mod upstream;
