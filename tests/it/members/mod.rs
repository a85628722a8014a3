//! Members, invitations and the org itself: who may what, and what follows (`identity.md` 1.3, 1.4, 2.2 and 9).

mod accounts;
mod invitations;
mod orgs;
mod people;
mod roles;

pub use people::{Somebody, acme};
