//! Studio's pages, as a browser sees them: an org's people and settings, invitations, another org.

mod signing_up;
