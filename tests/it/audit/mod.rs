//! The audit: who did what and how they came, for those who manage the org (`identity.md` 10).

mod export;
mod reading;
mod refusals;
