//! What the tokens of one issuer have to be.

use crate::config::{Algorithm, Issuer, TokenType};

/// The rules of one issuer's tokens.
pub struct Rules {
    /// The issuer's identifier, compared byte by byte.
    pub(super) issuer: String,
    /// The algorithms it may sign with.
    pub(super) algorithms: Vec<Algorithm>,
    /// Which of its tokens are access tokens.
    pub(super) token_type: TokenType,
    /// Whose issuer it is.
    pub(super) origin: Origin,
    /// What the token has to be.
    pub(super) kind: Kind,
}

/// What a token is for; one kind is never taken for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Lets a client act for a person.
    Access,
    /// Tells a client who signed in (OpenID Connect Core, section 2).
    Identity,
}

/// Whose issuer it is, which decides what its claims mean.
pub(super) enum Origin {
    /// The authorization server of this server.
    Own,
    /// One outside, with the operator's settings.
    External(Box<Issuer>),
    /// A provider that people sign in at and nothing else.
    Provider,
}

impl Rules {
    /// The rules of the tokens this server issues; its issuer is the public URL.
    pub fn own(public_url: &str) -> Self {
        Self {
            issuer: public_url.to_owned(),
            algorithms: vec![Algorithm::Es256],
            token_type: TokenType::AtJwt,
            origin: Origin::Own,
            kind: Kind::Access,
        }
    }

    /// The rules of the tokens of an issuer outside.
    pub fn external(identity: &Issuer) -> Self {
        Self {
            issuer: identity.issuer.clone(),
            algorithms: identity.algorithms.clone(),
            token_type: identity.token_type,
            origin: Origin::External(Box::new(identity.clone())),
            kind: Kind::Access,
        }
    }

    /// The rules of the ID tokens of an issuer outside.
    pub(super) fn external_identity(identity: &Issuer) -> Self {
        Self { kind: Kind::Identity, ..Self::external(identity) }
    }

    /// The rules of the ID tokens of a provider called `issuer`.
    pub(super) fn provider(issuer: &str) -> Self {
        Self {
            issuer: issuer.to_owned(),
            algorithms: Algorithm::USUAL.to_vec(),
            token_type: TokenType::Auto,
            origin: Origin::Provider,
            kind: Kind::Identity,
        }
    }
}
