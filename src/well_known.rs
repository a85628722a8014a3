//! Where servers say what they are (RFC 8615): the addresses of metadata, in the order they are asked.

use url::Url;

/// Where an issuer's metadata may be: RFC 8414, section 3.1, and OpenID Connect before the path, then OpenID Connect
/// Discovery, section 4, after it; each address once.
pub fn of_issuer(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    each_once(
        issuer,
        [
            format!("/.well-known/oauth-authorization-server{path}"),
            format!("/.well-known/openid-configuration{path}"),
            format!("{path}/.well-known/openid-configuration"),
        ],
    )
}

/// Where a protected resource's metadata may be: before its path, then at the root (RFC 9728, section 3.1).
pub fn of_resource(resource: &Url) -> Vec<Url> {
    const ROOT: &str = "/.well-known/oauth-protected-resource";
    let path = resource.path().trim_end_matches('/');
    each_once(resource, [format!("{ROOT}{path}"), ROOT.to_owned()])
}

fn each_once<const N: usize>(at: &Url, paths: [String; N]) -> Vec<Url> {
    let mut addresses: Vec<Url> = Vec::new();
    for path in paths {
        let mut address = at.clone();
        address.set_path(&path);
        address.set_query(None);
        address.set_fragment(None);
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::{of_issuer, of_resource};

    #[test]
    fn a_resource_is_asked_before_its_path_and_then_at_the_root() {
        let asked = |text: &str| -> Vec<String> {
            of_resource(&text.parse().unwrap()).iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            asked("https://s.example/a/mcp/?tenant=1"),
            [
                "https://s.example/.well-known/oauth-protected-resource/a/mcp",
                "https://s.example/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(asked("https://s.example"), ["https://s.example/.well-known/oauth-protected-resource"]);
    }

    #[test]
    fn the_addresses_are_those_of_the_two_standards() {
        let of = |issuer: &str| of_issuer(&issuer.parse().unwrap()).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            of("https://id.example.com/a/b/"),
            [
                "https://id.example.com/.well-known/oauth-authorization-server/a/b",
                "https://id.example.com/.well-known/openid-configuration/a/b",
                "https://id.example.com/a/b/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            of("https://id.example.com"),
            [
                "https://id.example.com/.well-known/oauth-authorization-server",
                "https://id.example.com/.well-known/openid-configuration",
            ]
        );
    }
}
