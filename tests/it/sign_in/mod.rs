//! People sign in to Studio, and what their sessions may do (`identity.md` 8).

mod sessions;
