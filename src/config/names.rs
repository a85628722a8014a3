//! What the names in settings may look like.

/// Names that mean a model provider wherever a server is named.
pub const MODEL_PROVIDERS: [&str; 8] =
    ["anthropic", "openai", "google", "bedrock", "bedrock-anthropic", "azure", "vertex", "vertex-anthropic"];

/// `1 to most` characters of `allowed`, or not.
fn of(text: &str, least: usize, most: usize, allowed: impl Fn(char) -> bool) -> bool {
    (least..=most).contains(&text.len()) && text.chars().all(allowed)
}

fn low(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'
}

fn starts_with_letter(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether `text` is an org's id (decision D9).
pub fn is_org(text: &str) -> bool {
    of(text, 1, 64, |c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

pub(super) const ORG: &str = "an org id: 1 to 64 letters, digits, _ or -, first a letter or a digit";

/// Whether `text` is a playbook's id.
pub fn is_playbook(text: &str) -> bool {
    of(text, 3, 48, low) && starts_with_letter(text)
}

pub(super) const PLAYBOOK: &str = "a playbook id: 3 to 48 of a-z 0-9 -, first a letter";

/// Whether `text` can be the id of a configured key, and the name of any.
pub fn is_key_id(text: &str) -> bool {
    of(text, 1, 32, low)
}

pub(super) const KEY_ID: &str = "1 to 32 of a-z 0-9 -";

/// The name of a tool server or of a provider.
pub(super) fn is_server(text: &str) -> bool {
    of(text, 1, 32, low) && starts_with_letter(text)
}

pub(super) const SERVER: &str = "a name: 1 to 32 of a-z 0-9 -, first a letter";

/// The name of a tool.
pub(super) fn is_tool(text: &str) -> bool {
    of(text, 1, 128, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

pub(super) const TOOL: &str = "the name of a tool: 1 to 128 letters, digits, _ - or . (no *)";

/// The name of a variable of the environment.
pub(super) fn is_variable(text: &str) -> bool {
    of(text, 1, 128, |c| c.is_ascii_alphanumeric() || c == '_') && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// An origin as a browser writes it: scheme, host, and a port that is not the scheme's own.
pub(super) fn is_origin(text: &str) -> bool {
    url::Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == text)
}

pub(super) const ORIGIN: &str = "an origin such as https://app.example.com, without path and default port";

/// An address nobody on the way can read or change: https, or http on loopback; without user and password.
pub(crate) fn secure_address(text: &str) -> Option<url::Url> {
    // What parsing would repair in silence (spaces, line breaks, backslashes) is not what anybody meant to write.
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return None;
    }
    let url = url::Url::parse(text).ok()?;
    let fits = match url.scheme() {
        "https" => url.has_host(),
        "http" => match url.host()? {
            url::Host::Domain(name) => name == "localhost",
            url::Host::Ipv4(address) => address.is_loopback(),
            url::Host::Ipv6(address) => address.is_loopback(),
        },
        _ => false,
    };
    (fits && url.username().is_empty() && url.password().is_none()).then_some(url)
}

/// A host name in lower case, or an IPv4 address, as it stands in an address.
pub(super) fn is_host(text: &str) -> bool {
    matches!(url::Host::parse(text), Ok(host) if host.to_string() == text)
}
