//! Sign-in as an operator sets it: the issuer of people's tokens and how its claims are read (`IDENTITY_*`).

use std::collections::BTreeMap;

use url::Url;

use super::Permission;
use super::secret::Secret;

/// The roles of a person in an org, the least first.
pub const ROLES: [&str; 4] = ["viewer", "member", "admin", "owner"];

/// An issuer outside this server that signs people in (`IDENTITY_ISSUER`) and what its tokens mean here.
#[derive(Clone)]
pub struct Issuer {
    /// The issuer's identifier, compared as written.
    pub issuer: String,
    /// Where its keys are, when discovery is not to be asked.
    pub jwks_url: Option<Url>,
    /// Audiences taken besides this server's own resources, each as good as the whole server.
    pub audiences: Vec<String>,
    /// Signature algorithms its tokens may have.
    pub algorithms: Vec<Algorithm>,
    /// Which tokens are taken for access tokens.
    pub token_type: TokenType,
    /// Where its claims are.
    pub claims: ClaimNames,
    /// What its roles are called here; `None`: they are called as ours.
    pub role_map: Option<BTreeMap<String, &'static str>>,
    /// The role of a token that names none of ours; `None` refuses it.
    pub default_role: Option<&'static str>,
    /// What its scopes are called here; `None`: they are called as ours.
    pub scope_map: Option<BTreeMap<String, Permission>>,
    /// Whether a token without any of our scopes may do all its role may.
    pub scopes_from_role: bool,
    /// What makes a person a member of an org.
    pub members: Members,
    /// The org of a token that names none.
    pub default_org: Option<String>,
    /// The email or subject of the person who becomes the owner of the first org (`IDENTITY_FIRST_OWNER`).
    pub first_owner: Option<String>,
    /// Studio's own client at the issuer.
    pub client: Option<IssuerClient>,
}

/// Where the claims of a token are: names, or JSON Pointers (RFC 6901), in the order they are tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimNames {
    /// The org's id.
    pub org: Vec<String>,
    /// The person's subject at the issuer.
    pub person: Vec<String>,
    /// The person's name; the email stands in where none of these is there.
    pub name: Vec<String>,
    /// The person's email.
    pub email: Vec<String>,
    /// The role, or a list of roles of which the highest counts.
    pub role: Vec<String>,
    /// The scopes, as a text between spaces or as a list.
    pub scope: Vec<String>,
}

impl Default for ClaimNames {
    /// What the known issuers call them.
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            org: names(&["org_id", "org", "tenant_id"]),
            person: names(&["sub"]),
            name: names(&["name", "preferred_username"]),
            email: names(&["email"]),
            role: names(&["org_role", "role"]),
            scope: names(&["scope", "scp", "permissions"]),
        }
    }
}

/// A signature algorithm of a token (RFC 7518, section 3.1; RFC 8037); those with a shared secret are left out on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    Rs384,
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// RSASSA-PSS with SHA-384.
    Ps384,
    /// RSASSA-PSS with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Every algorithm a token may have.
    pub const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];
    /// Those an issuer outside may use where the operator says nothing.
    pub const USUAL: [Self; 5] = [Self::Rs256, Self::Ps256, Self::Es256, Self::Es384, Self::EdDsa];

    /// Its name in a token.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The algorithm of a name, exactly as written.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.word() == word)
    }
}

/// Which tokens of an issuer are taken for access tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenType {
    /// Those whose header says `at+jwt` (RFC 9068) alone.
    AtJwt,
    /// These, and plain ones that show the signs of an access token and none of an ID token.
    Auto,
}

/// What makes a person a member of an org.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Members {
    /// The claims of org and role.
    Claims,
    /// An invitation taken here; the role is the membership's.
    Invited,
}

/// Studio's own client at the issuer.
#[derive(Clone)]
pub struct IssuerClient {
    /// Its id.
    pub id: String,
    /// Its secret; a public client has none.
    pub secret: Option<Secret>,
}
