//! `sign_in_providers` as it is written, and its checks: providers of identities that people sign in at (`identity.md` 8.5).

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer};

use super::decode::Fault;
use super::given::Given;
use super::identity::IssuerClient;
use super::refusal::Refusal;
use super::{Environment, names, references};

/// The name of the issuer outside, wherever it stands among providers.
pub const ISSUER: &str = "issuer";

/// The longest id of a client, in bytes.
const LONGEST_ID: usize = 255;
/// What is asked for where the entry says nothing.
const SCOPES: [&str; 3] = ["openid", "email", "profile"];
/// The roles somebody new may get without an invitation.
const ROLES: [&str; 3] = ["viewer", "member", "admin"];

/// A provider of identities that people sign in at.
#[derive(Clone)]
pub struct SignInProvider {
    /// What it is called in addresses.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Its identifier, compared as written.
    pub issuer: String,
    /// Studio's client there.
    pub client: IssuerClient,
    /// What is asked for; `openid` is among them.
    pub scopes: Vec<String>,
    /// Who may make an account without an invitation.
    pub newcomers: Option<Newcomers>,
}

/// Whom a provider brings that nobody invited, and where they belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newcomers {
    /// The domains of their verified emails.
    pub domains: Vec<String>,
    /// The org they become members of.
    pub org: String,
    /// Their role there.
    pub role: &'static str,
}

/// A provider of identities (OpenID Connect) that people may sign in at.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with the fields of a provider")]
#[schemars(rename = "SignInProvider")]
pub(super) struct Written {
    /// Its name in addresses: 1 to 32 of a-z 0-9 -, first a letter; not issuer.
    name: String,
    /// Its name for people, 1 to 100 characters; the name when left out.
    title: Option<String>,
    /// Its identifier: an https address without query.
    issuer: String,
    /// The id of Studio's client there.
    client_id: String,
    /// Its secret, as a reference to a variable; a public client has none.
    client_secret: Option<String>,
    /// What is asked for, as a list or a text between spaces; openid email profile when left out.
    scopes: Option<Scopes>,
    /// Domains of verified emails that need no invitation.
    allowed_domains: Option<Vec<String>>,
    /// The org they become members of.
    org: Option<String>,
    /// Their role in it: viewer, member or admin; member when left out.
    role: Option<String>,
}

/// A list, or a text between spaces as in a request (RFC 6749, section 3.3).
struct Scopes(Vec<String>);

impl schemars::JsonSchema for Scopes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scopes".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "array"], "items": { "type": "string" } })
    }
}

impl<'de> Deserialize<'de> for Scopes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Vec<String>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of scopes, or a text with spaces between them")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
                Ok(text.split_ascii_whitespace().map(str::to_owned).collect())
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(list)
            }
        }
        deserializer.deserialize_any(Visitor).map(Scopes)
    }
}

/// The providers given.
pub(super) fn read(given: &Given, environment: &Environment) -> Result<Vec<SignInProvider>, Refusal> {
    let written: Vec<Written> = given.read()?;
    if environment.contains_key("IDENTITY_ISSUER") {
        let words = "no providers beside IDENTITY_ISSUER: people then sign in there alone";
        return Err(given.refuse(Fault::new(words)));
    }
    let (mut named, mut issuers) = (HashSet::new(), HashSet::new());
    let mut providers = Vec::with_capacity(written.len());
    for (index, entry) in written.into_iter().enumerate() {
        let refuse = |fault: Fault| given.refuse(fault.below(index.to_string()));
        let provider = check(entry, environment).map_err(refuse)?;
        if !named.insert(provider.name.clone()) {
            return Err(refuse(Fault::at(&["name"], "a name no other provider has")));
        }
        // A person is who they are at an issuer: two entries of one issuer would differ in whom they let in alone.
        if !issuers.insert(provider.issuer.clone()) {
            return Err(refuse(Fault::at(&["issuer"], "an issuer no other provider has")));
        }
        providers.push(provider);
    }
    Ok(providers)
}

fn check(entry: Written, environment: &Environment) -> Result<SignInProvider, Fault> {
    if !names::is_server(&entry.name) || entry.name == ISSUER {
        return Err(Fault::at(&["name"], format!("{}, and not {ISSUER}", names::SERVER)));
    }
    let title = entry.title.unwrap_or_else(|| entry.name.clone());
    if !(1..=100).contains(&title.chars().count()) || title.chars().any(char::is_control) || title.trim() != title {
        return Err(Fault::at(&["title"], "1 to 100 characters"));
    }
    if !is_issuer(&entry.issuer) {
        return Err(Fault::at(&["issuer"], "an https address without query; http on loopback alone"));
    }
    let id_fits = (1..=LONGEST_ID).contains(&entry.client_id.len())
        && !entry.client_id.chars().any(|c| c.is_control() || c.is_whitespace());
    if !id_fits {
        return Err(Fault::at(&["client_id"], "the id of Studio's client at the provider"));
    }
    let secret = entry.client_secret.as_deref().map(|text| secret(text, environment)).transpose()?;
    Ok(SignInProvider {
        scopes: scopes(entry.scopes)?,
        newcomers: newcomers(entry.allowed_domains, entry.org, entry.role)?,
        name: entry.name,
        title,
        issuer: entry.issuer,
        client: IssuerClient { id: entry.client_id, secret },
    })
}

/// Whether `text` can be the identifier of an issuer that is asked over the network.
pub(super) fn is_issuer(text: &str) -> bool {
    names::secure_address(text).is_some() && !text.contains(['?', '#'])
}

/// A secret stands in a variable alone: nothing of it is written out.
fn secret(text: &str, environment: &Environment) -> Result<super::Secret, Fault> {
    if !references::any(text) || references::written_out(text).iter().any(|part| !part.is_empty()) {
        return Err(Fault::at(&["client_secret"], "a reference such as ${NAME}: the secret stands in that variable"));
    }
    let resolved =
        references::resolve(text, environment).map_err(|expected| Fault::at(&["client_secret"], expected))?;
    Ok(resolved.text)
}

fn scopes(given: Option<Scopes>) -> Result<Vec<String>, Fault> {
    let Some(Scopes(scopes)) = given else { return Ok(SCOPES.map(str::to_owned).to_vec()) };
    // RFC 6749, section 3.3: printable ASCII without quotation mark and backslash.
    let formed = |scope: &String| {
        (1..=LONGEST_ID).contains(&scope.len())
            && scope.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\'))
    };
    if !scopes.iter().all(formed) || !scopes.iter().any(|scope| scope == "openid") {
        return Err(Fault::at(&["scopes"], "scopes with openid among them"));
    }
    Ok(scopes)
}

fn newcomers(
    domains: Option<Vec<String>>,
    org: Option<String>,
    role: Option<String>,
) -> Result<Option<Newcomers>, Fault> {
    let Some(domains) = domains.filter(|domains| !domains.is_empty()) else {
        return match (org, role) {
            (None, None) => Ok(None),
            (Some(_), _) => Err(Fault::at_key(&["org"], "allowed_domains beside it")),
            (None, Some(_)) => Err(Fault::at_key(&["role"], "allowed_domains beside it")),
        };
    };
    if let Some(index) = domains.iter().position(|domain| !names::is_host(domain) || !domain.contains('.')) {
        let expected = "a domain such as acme.example, in small letters";
        return Err(Fault::at(&["allowed_domains", &index.to_string()], expected));
    }
    let org = org.ok_or_else(|| Fault::new("a key org beside allowed_domains: where its people belong"))?;
    if !names::is_org(&org) {
        return Err(Fault::at(&["org"], names::ORG));
    }
    let role = match role.as_deref() {
        None => "member",
        Some(word) => ROLES
            .into_iter()
            .find(|role| *role == word)
            .ok_or_else(|| Fault::at(&["role"], format!("one of {}", ROLES.join(", "))))?,
    };
    Ok(Some(Newcomers { domains, org, role }))
}
