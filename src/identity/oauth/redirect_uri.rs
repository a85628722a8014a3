//! Where an authorization may return to: which addresses a client may register, and which of them a request names
//! (`identity.md` 7.8, RFC 6749 section 3.1.2, RFC 8252 section 7, RFC 9700 section 4.1).
//!
//! Addresses are compared as text, never as what a parser makes of them; a parser is asked only whether it would see the
//! same host that stands in the text.

use url::Url;

/// The most bytes of an address.
pub const LONGEST: usize = 512;

/// Private-use schemes without a dot that known clients register (RFC 8252, section 7.1, asks for a dot).
const KNOWN_SCHEMES: [&str; 10] =
    ["claude", "codex", "cursor", "goose", "raycast", "vscode", "vscode-insiders", "vscodium", "warp", "windsurf"];

/// Hosts of this computer, which are not interchangeable.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "[::1]", "localhost"];

/// What an address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A page on the web.
    Https,
    /// A program that listens on this computer.
    Loopback,
    /// A program that owns a scheme.
    Private,
}

/// The kind of an address that may be registered; `None` for any other.
pub fn kind(text: &str) -> Option<Kind> {
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#*\"<>^`{|}".contains(&byte));
    if !plain || text.len() > LONGEST || text.to_ascii_lowercase().contains("%2e") || !escapes_whole(text) {
        return None;
    }
    let (scheme, rest) = text.split_once(':')?;
    let url = Url::parse(text).ok()?;
    if !url.username().is_empty() || url.password().is_some() || has_dot_segment(rest) {
        return None;
    }
    match scheme {
        "https" => (split(text)?.host == url.host_str()?).then_some(Kind::Https),
        "http" => LOOPBACK.contains(&split(text)?.host).then_some(Kind::Loopback),
        _ => is_private(scheme, rest).then_some(Kind::Private),
    }
}

/// Whether a request may return to `given` when the client registered `registered`: the same text, but for the port of
/// this computer where the client is a public one.
pub fn matches(registered: &str, given: &str, public_client: bool) -> bool {
    if registered == given {
        return kind(given).is_some();
    }
    public_client
        && kind(registered) == Some(Kind::Loopback)
        && kind(given) == Some(Kind::Loopback)
        && match (split(registered), split(given)) {
            (Some(one), Some(other)) => one.host == other.host && one.rest == other.rest,
            _ => false,
        }
}

/// The host of a web address, for a page to show; `None` for a private-use scheme.
pub fn host(text: &str) -> Option<&str> {
    split(text).map(|parts| parts.host)
}

/// The address with further parameters in its query (RFC 6749, section 4.1.2).
pub fn with_parameters(text: &str, parameters: &[(&str, &str)]) -> String {
    let mut address = text.to_owned();
    let mut separator = match text.split_once('?') {
        None => "?",
        Some((_, query)) if query.is_empty() || query.ends_with('&') => "",
        Some(_) => "&",
    };
    for (name, value) in parameters {
        let value = percent_encoding::utf8_percent_encode(value, VALUE);
        address.push_str(&format!("{separator}{name}={value}"));
        separator = "&";
    }
    address
}

/// Everything but the unreserved characters of RFC 3986.
const VALUE: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a page's policy must name so that its form may end at `text` (CSP level 3, `form-action`). A policy has no way
/// to write an IPv6 address, so that one is named by its scheme.
pub fn policy_source(text: &str) -> String {
    match (text.split_once(':'), split(text)) {
        (Some((scheme, _)), Some(parts)) if !parts.host.starts_with('[') => match parts.port {
            Some(port) => format!("{scheme}://{}:{port}", parts.host),
            None => format!("{scheme}://{}", parts.host),
        },
        (Some((scheme, _)), _) => format!("{scheme}:"),
        (None, _) => "'none'".to_owned(),
    }
}

/// The parts of an http or https address, as they stand in it.
struct Parts<'a> {
    host: &'a str,
    port: Option<&'a str>,
    /// Path and query.
    rest: &'a str,
}

fn split(text: &str) -> Option<Parts<'_>> {
    let after = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let end = after.find(['/', '?']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    let host_end = match authority.find(']') {
        Some(at) => at + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(host_end);
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        Some(digits)
            if digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok_and(|n| n > 0) =>
        {
            Some(digits)
        }
        _ => return None,
    };
    (!host.is_empty()).then_some(Parts { host, port, rest })
}

fn is_private(scheme: &str, rest: &str) -> bool {
    let formed = scheme.starts_with(|c: char| c.is_ascii_lowercase())
        && scheme.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte));
    let owned =
        KNOWN_SCHEMES.contains(&scheme) || (scheme.contains('.') && !scheme.contains("..") && !scheme.ends_with('.'));
    formed && owned && !rest.trim_start_matches('/').is_empty()
}

/// Whether every `%` begins an escape.
fn escapes_whole(text: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len())
        .filter(|at| bytes[*at] == b'%')
        .all(|at| bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
}

/// A browser would take `..` out of the path, and so go elsewhere than what was compared.
fn has_dot_segment(rest: &str) -> bool {
    let path = rest.split('?').next().unwrap_or_default();
    path.split('/').any(|segment| matches!(segment, "." | ".."))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_clients_register_is_taken() {
        for (text, expected) in [
            ("https://claude.ai/api/mcp/auth_callback", Kind::Https),
            ("https://claude.com/api/mcp/auth_callback", Kind::Https),
            ("https://chatgpt.com/connector/oauth/abc_123", Kind::Https),
            ("https://vscode.dev/redirect", Kind::Https),
            ("https://a.example", Kind::Https),
            ("https://a.example:8443/cb?x=1", Kind::Https),
            ("https://xn--bcher-kva.example/cb", Kind::Https),
            ("http://127.0.0.1:33418/", Kind::Loopback),
            ("http://127.0.0.1", Kind::Loopback),
            ("http://[::1]:9/callback", Kind::Loopback),
            ("http://localhost/callback?a=b", Kind::Loopback),
            ("cursor://anysphere.cursor-retrieval/oauth/callback", Kind::Private),
            ("com.example.app:/callback", Kind::Private),
            ("com.example.app://callback", Kind::Private),
        ] {
            assert_eq!(kind(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_leads_astray_is_not() {
        for text in [
            "",
            "x",
            "https:",
            "https://",
            "https:///cb",
            "https:a.example/cb",
            "http://a.example/cb",
            "http://127.0.0.2/cb",
            "http://0.0.0.0/cb",
            "http://localhost.example/cb",
            "http://LOCALHOST/cb",
            "http://localhost./cb",
            "http://2130706433/cb",
            "http://127.1/cb",
            "http://[::ffff:127.0.0.1]/cb",
            "HTTPS://a.example/cb",
            "https://A.example/cb",
            "https://b\u{FC}cher.example/cb",
            "https://a.example/cb#",
            "https://a.example/cb#x",
            "https://u@a.example/cb",
            "https://u:p@a.example/cb",
            "https://@a.example/cb",
            "https://*.a.example/cb",
            "https://a.example/*",
            "https://a.example/%2e%2e/cb",
            "https://a.example/%2E/cb",
            "https://a%2eexample/cb",
            "https://a.example/../cb",
            "https://a.example/./cb",
            "https://a.example\\@b.example/cb",
            "https://a.example/\\cb",
            "https://a.example/c b",
            "https://a.example/\ncb",
            "https://a.example:0/cb",
            "https://a.example:x/cb",
            "https://a.example:/cb",
            "https://a.example:65536/cb",
            "https://0x7f.1/cb",
            "https://a.example/%zz",
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "blob:https://a.example/x",
            "about:blank",
            "ws://a.example/",
            "wss://a.example/",
            "ftp://a.example/",
            "mailto:a@b.example",
            "intent://x",
            "myapp://callback",
            "cursor:",
            "cursor://",
            "com.example.:/cb",
            "com..example:/cb",
            "Com.example:/cb",
            "urn:ietf:wg:oauth:2.0:oob",
            "//a.example/cb",
            "/cb",
            " https://a.example/cb",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
        assert_eq!(kind(&format!("https://a.example/{}", "x".repeat(LONGEST))), None);
    }

    /// Security case 36.
    #[test]
    fn thirty_addresses_and_only_the_registered_one_matches() {
        const WEB: &str = "https://app.example/cb?tenant=1";
        const LOCAL: &str = "http://127.0.0.1:4000/cb";
        const PRIVATE: &str = "cursor://anysphere.cursor-x/oauth/callback";
        for (registered, given, fits) in [
            (WEB, WEB, true),
            (WEB, "https://app.example/cb", false),
            (WEB, "https://app.example/cb?tenant=1&x=2", false),
            (WEB, "https://app.example/cb?tenant=2", false),
            (WEB, "https://app.example/cb/?tenant=1", false),
            (WEB, "https://app.example/CB?tenant=1", false),
            (WEB, "https://App.example/cb?tenant=1", false),
            (WEB, "HTTPS://app.example/cb?tenant=1", false),
            (WEB, "https://evil.app.example/cb?tenant=1", false),
            (WEB, "https://app.example.evil.example/cb?tenant=1", false),
            (WEB, "https://app.example:443/cb?tenant=1", false),
            (WEB, "https://app.example:8443/cb?tenant=1", false),
            (WEB, "http://app.example/cb?tenant=1", false),
            (WEB, "https://app.example/x/%2e%2e/cb?tenant=1", false),
            (WEB, "https://app.example/x/../cb?tenant=1", false),
            (WEB, "https://app.example/cb?tenant=1#", false),
            (WEB, "https://app.example/cb?tenant=1#x", false),
            (WEB, "https://u@app.example/cb?tenant=1", false),
            (WEB, "https://app.example@evil.example/cb?tenant=1", false),
            (WEB, "https://evil.example\\@app.example/cb?tenant=1", false),
            (WEB, "//app.example/cb?tenant=1", false),
            (LOCAL, LOCAL, true),
            (LOCAL, "http://127.0.0.1:5000/cb", true),
            (LOCAL, "http://127.0.0.1/cb", true),
            (LOCAL, "http://localhost:4000/cb", false),
            (LOCAL, "http://[::1]:4000/cb", false),
            (LOCAL, "http://127.0.0.1:4000/cb/", false),
            (LOCAL, "https://127.0.0.1:4000/cb", false),
            (LOCAL, "http://127.0.0.1:4000@evil.example/cb", false),
            (PRIVATE, "cursor://anysphere.cursor-y/oauth/callback", false),
        ] {
            assert_eq!(matches(registered, given, true), fits, "{given}");
        }
        assert!(!matches(LOCAL, "http://127.0.0.1:5000/cb", false), "the port is free for public clients alone");
        assert!(matches(LOCAL, LOCAL, false) && matches(PRIVATE, PRIVATE, true));
    }

    #[test]
    fn answers_go_into_the_query() {
        let with = |text: &str| with_parameters(text, &[("code", "a b&c"), ("iss", "https://pm.example")]);
        let query = "code=a%20b%26c&iss=https%3A%2F%2Fpm.example";
        assert_eq!(with("https://a.example/cb"), format!("https://a.example/cb?{query}"));
        assert_eq!(with("https://a.example/cb?x=1"), format!("https://a.example/cb?x=1&{query}"));
        assert_eq!(with("com.example.app:/cb?"), format!("com.example.app:/cb?{query}"));
    }

    #[test]
    fn a_policy_names_where_the_form_ends() {
        for (text, source) in [
            ("https://a.example/cb", "https://a.example"),
            ("http://127.0.0.1:4000/cb", "http://127.0.0.1:4000"),
            ("http://[::1]:4000/cb", "http:"),
            ("cursor://x/cb", "cursor:"),
        ] {
            assert_eq!(policy_source(text), source);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_keeps_its_host_and_has_no_second_reading(text in "(https://|http://|cursor:|x.y:)?[!-~]{0,40}") {
            let Some(kind) = kind(&text) else { return Ok(()) };
            let url = Url::parse(&text).unwrap();
            prop_assert!(url.fragment().is_none() && url.username().is_empty() && url.password().is_none());
            match kind {
                Kind::Https => prop_assert_eq!(url.host_str(), host(&text)),
                Kind::Loopback => prop_assert!(LOOPBACK.contains(&url.host_str().unwrap())),
                Kind::Private => prop_assert!(!["http", "https", "javascript", "data"].contains(&url.scheme())),
            }
            let answered = with_parameters(&text, &[("code", "x")]);
            prop_assert_eq!(Url::parse(&answered).unwrap().host_str().map(str::to_owned), url.host_str().map(str::to_owned));
        }

        #[test]
        fn one_changed_character_of_a_web_address_never_matches(at in 0_usize..23, with in "[!-~]") {
            let registered = "https://app.example/cb1";
            let mut given = registered.to_owned();
            prop_assume!(given[at..=at] != with);
            given.replace_range(at..=at, &with);
            prop_assert!(!matches(registered, &given, true));
        }

        #[test]
        fn nothing_panics(one in any::<String>(), other in any::<String>()) {
            let _ = (matches(&one, &other, true), policy_source(&one), with_parameters(&one, &[("a", &other)]));
        }
    }
}
