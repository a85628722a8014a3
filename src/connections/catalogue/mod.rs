//! The catalogue of providers.
