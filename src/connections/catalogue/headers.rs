//! Names of headers and other carriers of a value.

/// Headers that no file, entry or argument may set: they belong to the transport, to the credential or to the browser
/// (connections.md 16.5).
const RESERVED: [&str; 16] = [
    "authorization",
    "cookie",
    "set-cookie",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "via",
    "forwarded",
    "x-real-ip",
    "origin",
];

const RESERVED_FAMILIES: [&str; 4] = ["x-forwarded-", "proxy-", "sec-", "mcp-"];

/// Whether a header may not be set by a file, an entry or an argument.
pub fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "referer"
        || RESERVED.contains(&name.as_str())
        || RESERVED_FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Whether `text` is a token of at most `most` characters (RFC 9110, section 5.6.2), without the back-quote.
pub fn is_token(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+.^_|~-".contains(&byte))
}
