//! What holds whatever is asked: the published document, the tables of both databases, and inputs nobody would send.

mod anything;
mod cases;
mod document;
mod misfits;
mod people;
mod roles;
mod tables;
