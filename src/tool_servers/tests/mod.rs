//! The room at work: a whole program over a database of its own, and servers of the test's making on loopback.

mod calls;
mod connected;
mod finding;
mod house;
mod keys;
mod stand_in;
