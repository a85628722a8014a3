//! Several servers on one database, and readers that keep up with writers (design rule 5).

mod alone;
mod reading;
mod recovery;
mod sharing;
