//! What the tokens of one issuer have to be.

use crate::config::{Algorithm, Issuer, TokenType};

/// The rules of one issuer's access tokens.
pub struct Rules {
    /// The issuer's identifier, compared byte by byte.
    pub(super) issuer: String,
    /// The algorithms it may sign with.
    pub(super) algorithms: Vec<Algorithm>,
    /// Which of its tokens are access tokens.
    pub(super) token_type: TokenType,
    /// Whose issuer it is.
    pub(super) origin: Origin,
}

/// Whose issuer it is, which decides what its claims mean.
pub(super) enum Origin {
    /// The authorization server of this server.
    Own,
    /// One outside, with the operator's settings.
    External(Box<Issuer>),
}

impl Rules {
    /// The rules of the tokens this server issues; its issuer is the public URL.
    pub fn own(public_url: &str) -> Self {
        Self {
            issuer: public_url.to_owned(),
            algorithms: vec![Algorithm::Es256],
            token_type: TokenType::AtJwt,
            origin: Origin::Own,
        }
    }

    /// The rules of the tokens of an issuer outside.
    pub fn external(identity: &Issuer) -> Self {
        Self {
            issuer: identity.issuer.clone(),
            algorithms: identity.algorithms.clone(),
            token_type: identity.token_type,
            origin: Origin::External(Box::new(identity.clone())),
        }
    }
}
