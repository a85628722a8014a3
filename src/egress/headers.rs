//! Headers that are never taken from a caller.

/// The whole names of `connections.md` 16.5.
const NAMES: [&str; 17] = [
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
    "referer",
];

/// The beginnings of 16.5.
const BEGINNINGS: [&str; 4] = ["x-forwarded-", "proxy-", "sec-", "mcp-"];

/// Whether a header of this name is never taken from a caller, an entry or a tool's argument.
///
/// A credential's own `name` may be `Authorization` all the same; its caller makes that exception.
pub fn header_forbidden(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::header_forbidden;

    #[test]
    fn every_name_of_the_table_is_refused_in_any_case() {
        for name in [
            "Authorization",
            "COOKIE",
            "Set-Cookie",
            "Host",
            "Content-Length",
            "Transfer-Encoding",
            "Connection",
            "Keep-Alive",
            "TE",
            "Trailer",
            "Upgrade",
            "Expect",
            "Via",
            "Forwarded",
            "X-Forwarded-For",
            "X-Forwarded-Proto",
            "X-Real-IP",
            "Proxy-Authorization",
            "Proxy-Connection",
            "Sec-Fetch-Site",
            "Mcp-Session-Id",
            "mcp-protocol-version",
            "Origin",
            "Referer",
        ] {
            assert!(header_forbidden(name), "{name}");
        }
    }

    #[test]
    fn other_headers_pass() {
        for name in ["Accept", "X-Api-Key", "Notion-Version", "X-Host", "Security", "Telemetry", "Originator"] {
            assert!(!header_forbidden(name), "{name}");
        }
    }
}
