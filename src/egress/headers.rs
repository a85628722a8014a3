//! Headers that are never taken from a caller.

/// Those of 16.5 that say how a message travels and what speaks.
const OF_MESSAGE: [&str; 9] =
    ["host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "expect"];

/// Their beginnings.
const OF_MESSAGE_BEGINNINGS: [&str; 2] = ["proxy-", "mcp-"];

/// Those of 16.5 that say who sends a message and what led to it.
const OF_SENDER: [&str; 8] =
    ["authorization", "cookie", "set-cookie", "via", "forwarded", "x-real-ip", "origin", "referer"];

/// Their beginnings.
const OF_SENDER_BEGINNINGS: [&str; 2] = ["x-forwarded-", "sec-"];

/// Whether a header of this name is never taken from a caller, an entry or a tool's argument.
///
/// A credential's own `name` may be `Authorization` all the same; its caller makes that exception.
pub fn header_forbidden(name: &str) -> bool {
    header_of_message(name) || is_one(name, &OF_SENDER, &OF_SENDER_BEGINNINGS)
}

/// Whether a header of this name belongs to the message itself or to MCP, so that not even the operator sets it.
pub fn header_of_message(name: &str) -> bool {
    is_one(name, &OF_MESSAGE, &OF_MESSAGE_BEGINNINGS)
}

fn is_one(name: &str, names: &[&str], beginnings: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    names.contains(&name.as_str()) || beginnings.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::{header_forbidden, header_of_message};

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

    #[test]
    fn an_operator_may_say_who_sends_but_not_how_it_travels() {
        for name in ["Host", "te", "Proxy-Authorization", "Mcp-Session-Id"] {
            assert!(header_of_message(name), "{name}");
        }
        for name in ["Authorization", "Cookie", "X-Forwarded-For", "Origin"] {
            assert!(!header_of_message(name) && header_forbidden(name), "{name}");
        }
    }
}
