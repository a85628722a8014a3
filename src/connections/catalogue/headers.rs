//! Names of headers and other carriers of a value.

use crate::egress::header_forbidden;

/// Whether a header may not be set by a file, an entry or an argument.
pub fn is_reserved(name: &str) -> bool {
    header_forbidden(name)
}

/// Whether `text` is a token of at most `most` characters (RFC 9110, section 5.6.2), without the back-quote.
pub fn is_token(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+.^_|~-".contains(&byte))
}
