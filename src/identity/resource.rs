//! The protected resources of this server (RFC 9728): what each is called, where its metadata lies, which scopes it
//! takes, and which audiences of a token reach it (`identity.md` 4 and 5.2).
//!
//! Every string is made from the public URL and the path alone, never from `Host` or a forwarded header, so that
//! metadata, challenge and audience agree byte for byte.

use serde_json::{Value, json};

use super::Permission;
use crate::config::{is_org, is_playbook};

/// Where a resource's metadata lies (RFC 9728, section 3.1).
pub const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// One protected resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// The whole server.
    Server,
    /// `/mcp`.
    Own,
    /// `/orgs/{org}/mcp`.
    Org(String),
    /// `/orgs/{org}/playbooks/{playbook}/mcp`.
    Playbook(String, String),
    /// `/tools/mcp`.
    Tools,
    /// `/v1/…`.
    Api,
}

impl Resource {
    /// The resource whose endpoint this path is, or is below in the case of `/v1`; one slash at the end is no difference.
    pub fn at(path: &str) -> Option<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let parts: Vec<&str> = path.strip_prefix('/').map(|rest| rest.split('/').collect()).unwrap_or_default();
        match parts.as_slice() {
            [] | [""] => Some(Self::Server),
            ["mcp"] => Some(Self::Own),
            ["tools", "mcp"] => Some(Self::Tools),
            ["v1", ..] => Some(Self::Api),
            ["orgs", org, "mcp"] if is_org(org) => Some(Self::Org((*org).to_owned())),
            ["orgs", org, "playbooks", playbook, "mcp"] if is_org(org) && is_playbook(playbook) => {
                Some(Self::Playbook((*org).to_owned(), (*playbook).to_owned()))
            }
            _ => None,
        }
    }

    /// The resource a `resource` parameter names (RFC 8707), compared as an audience is.
    pub fn named(resource: &str, public_url: &str) -> Option<Self> {
        let (resource, base) = (normal(resource)?, normal(public_url)?);
        let found = Self::at(resource.strip_prefix(&base)?)?;
        (normal(&found.canonical(public_url))? == resource).then_some(found)
    }

    /// Its path; empty for the whole server.
    pub fn path(&self) -> String {
        match self {
            Self::Server => String::new(),
            Self::Own => "/mcp".into(),
            Self::Org(org) => format!("/orgs/{org}/mcp"),
            Self::Playbook(org, playbook) => format!("/orgs/{org}/playbooks/{playbook}/mcp"),
            Self::Tools => "/tools/mcp".into(),
            Self::Api => "/v1".into(),
        }
    }

    /// Its identifier, as metadata, challenge and audience name it.
    pub fn canonical(&self, public_url: &str) -> String {
        format!("{public_url}{}", self.path())
    }

    /// The address of its metadata.
    pub fn metadata_url(&self, public_url: &str) -> String {
        format!("{public_url}{WELL_KNOWN}{}", self.path())
    }

    /// The scopes its metadata lists.
    pub const fn scopes(&self) -> &'static [Permission] {
        match self {
            Self::Server | Self::Api => &Permission::EVERY,
            Self::Own => &Permission::ALL,
            Self::Org(_) => &[Permission::OrgRead, Permission::OrgWrite],
            Self::Playbook(..) | Self::Tools => &[Permission::PlaybookRead, Permission::PlaybookWrite],
        }
    }

    /// The scopes its challenge asks for: administration is asked for by its own routes alone.
    pub const fn asked(&self) -> &'static [Permission] {
        match self {
            Self::Server | Self::Api | Self::Own => &Permission::ALL,
            Self::Org(_) | Self::Playbook(..) | Self::Tools => self.scopes(),
        }
    }

    /// Its name for people.
    pub fn name(&self) -> String {
        match self {
            Self::Server | Self::Own | Self::Api => "Playmaker".into(),
            Self::Org(org) => format!("Playmaker (org {org})"),
            Self::Playbook(_, playbook) => format!("Playmaker (playbook {playbook})"),
            Self::Tools => "Playmaker tools".into(),
        }
    }

    /// Its metadata document; `issuer` is the authorization server.
    pub fn metadata(&self, public_url: &str, issuer: &str) -> Value {
        json!({
            "resource": self.canonical(public_url),
            "authorization_servers": [issuer],
            "scopes_supported": words(self.scopes()),
            "bearer_methods_supported": ["header"],
            "resource_name": self.name(),
            "resource_documentation": format!("{public_url}/docs"),
        })
    }

    /// Whether a token for `other` reaches this resource; `org` is the token's.
    fn reached_by(&self, other: &Self, org: &str) -> bool {
        match (other, self) {
            (Self::Server, _) => true,
            (Self::Own, Self::Org(of) | Self::Playbook(of, _)) => of == org,
            (Self::Org(named), Self::Playbook(of, _)) => named == of,
            _ => other == self,
        }
    }

    /// Whether a token of these audiences reaches this resource (`identity.md` 5.2). `further` are the operator's own
    /// audiences, each as good as the whole server; any other one outside the server makes a token no good here, since
    /// others could replay it.
    pub fn accepts(&self, audiences: &[String], public_url: &str, further: &[String], org: &str) -> bool {
        let Some(base) = normal(public_url) else { return false };
        let further: Vec<String> = further.iter().map(|text| compared(text)).collect();
        let mut reached = false;
        for audience in audiences.iter().map(|text| compared(text)) {
            if further.contains(&audience) {
                reached = true;
                continue;
            }
            let inside = audience.strip_prefix(&base).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            let Some(rest) = inside else { return false };
            let named = Self::at(rest).filter(|named| compared(&named.canonical(public_url)) == audience);
            reached |= named.is_some_and(|named| self.reached_by(&named, org));
        }
        reached
    }
}

/// Permissions as a list of words.
pub fn words(permissions: &[Permission]) -> Vec<&'static str> {
    permissions.iter().map(|permission| permission.word()).collect()
}

/// An address as it is compared: scheme and host in lower case, the scheme's own port and one slash at the end dropped;
/// the path as it is. `None` for what is no address.
fn normal(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (scheme, mut host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let own_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    if let Some(bare) = host.strip_suffix(own_port) {
        host = bare.to_owned();
    }
    Some(format!("{scheme}://{host}{}", path.strip_suffix('/').unwrap_or(path)))
}

/// An audience as it is compared: an address as [`normal`] has it, any other text as written.
fn compared(text: &str) -> String {
    normal(text).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: &str = "https://pm.example";

    fn reaches(path: &str, audiences: &[&str]) -> bool {
        let audiences: Vec<String> = audiences.iter().map(|text| (*text).to_owned()).collect();
        Resource::at(path).unwrap().accepts(&audiences, P, &["api://playmaker".into()], "acme")
    }

    #[test]
    fn metadata_is_that_of_the_sheet() {
        let document = Resource::at("/mcp").unwrap().metadata(P, P);
        assert_eq!(
            document.to_string(),
            r#"{"resource":"https://pm.example/mcp","authorization_servers":["https://pm.example"],"scopes_supported":["org:read","org:write","playbook:read","playbook:write"],"bearer_methods_supported":["header"],"resource_name":"Playmaker","resource_documentation":"https://pm.example/docs"}"#
        );
        let named = |path: &str| Resource::at(path).unwrap().name();
        assert_eq!(named("/orgs/acme/mcp"), "Playmaker (org acme)");
        assert_eq!(named("/orgs/acme/playbooks/billing/mcp/"), "Playmaker (playbook billing)");
        assert_eq!(named("/tools/mcp"), "Playmaker tools");
    }

    /// Security case 3.
    #[test]
    fn an_audience_reaches_what_the_table_says() {
        let own = ["https://pm.example/mcp"];
        assert!(reaches("/mcp", &own) && reaches("/orgs/acme/mcp", &own));
        assert!(reaches("/orgs/acme/playbooks/billing/mcp", &own));
        assert!(!reaches("/orgs/other/mcp", &own) && !reaches("/tools/mcp", &own) && !reaches("/v1/me", &own));
        let org = ["https://pm.example/orgs/acme/mcp"];
        assert!(reaches("/orgs/acme/mcp", &org) && reaches("/orgs/acme/playbooks/billing/mcp", &org));
        assert!(!reaches("/mcp", &org) && !reaches("/orgs/acme2/playbooks/billing/mcp", &org));
        let playbook = ["https://pm.example/orgs/acme/playbooks/billing/mcp"];
        assert!(reaches("/orgs/acme/playbooks/billing/mcp", &playbook));
        assert!(!reaches("/orgs/acme/playbooks/support/mcp", &playbook) && !reaches("/orgs/acme/mcp", &playbook));
        for path in ["/mcp", "/orgs/any/mcp", "/tools/mcp", "/v1/me"] {
            assert!(reaches(path, &["https://pm.example"]) && reaches(path, &["api://playmaker"]), "{path}");
        }
        assert!(reaches("/mcp", &["https://pm.example/mcp", "https://pm.example/tools/mcp"]));
        assert!(reaches("/v1/me", &["https://pm.example/v1"]) && !reaches("/mcp", &["https://pm.example/v1"]));
    }

    /// Security case 3.
    #[test]
    fn case_of_the_host_and_one_slash_are_no_difference_and_the_path_is() {
        for good in ["HTTPS://PM.example/mcp", "https://pm.example:443/mcp", "https://pm.example/mcp/"] {
            assert!(reaches("/mcp", &[good]), "{good}");
        }
        for bad in [
            "https://pm.example/MCP",
            "https://pm.example/mcp//",
            "https://pm.example/mcp-other",
            "https://pm.example/%6dcp",
            "https://pm.example.evil.test/mcp",
            "https://pm.example:8443/mcp",
            "http://pm.example/mcp",
            "mcp",
            "",
            "client_123",
        ] {
            assert!(!reaches("/mcp", &[bad]), "{bad}");
        }
        assert!(reaches("/mcp", &["https://pm.example/"]));
        assert!(!reaches("/mcp", &["https://pm.example/mcp", "https://other.example/"]), "others may replay it");
        assert!(!reaches("/mcp", &[]));
    }

    #[test]
    fn a_resource_parameter_names_an_endpoint_or_nothing() {
        assert_eq!(Resource::named("https://pm.example/mcp/", P), Some(Resource::Own));
        assert_eq!(Resource::named("https://PM.example", P), Some(Resource::Server));
        assert_eq!(Resource::named("https://pm.example/v1", P), Some(Resource::Api));
        for bad in
            ["https://pm.example/v1/me", "https://pm.example/mcp?x", "https://pm.example/x", "https://pm.examplex/mcp"]
        {
            assert_eq!(Resource::named(bad, P), None, "{bad}");
        }
    }
}
