//! What a request accepts and what its body is, by its headers (`mcp.md` 2.2 and 2.4; RFC 9110, sections 8.3 and 12.5.1).

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};

/// Whether both answers this server gives are acceptable: JSON and an event stream.
pub(super) fn accepts_both(headers: &HeaderMap) -> bool {
    let ranges: Vec<String> = headers
        .get_all(ACCEPT)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|range| String::from_utf8_lossy(range).trim().to_ascii_lowercase())
        .filter(|range| !range.is_empty())
        .collect();
    let accepts = |kind: &str, whole: &str| {
        // The most specific range that matches decides; of equals, one that does not exclude is enough.
        let exact = [format!("{kind}/{whole}"), format!("{kind}/*"), "*/*".to_owned()];
        exact.iter().find_map(|wanted| verdict(&ranges, wanted)).unwrap_or(false)
    };
    ranges.is_empty() || (accepts("application", "json") && accepts("text", "event-stream"))
}

/// What the ranges say of `wanted`, if they name it.
fn verdict(ranges: &[String], wanted: &str) -> Option<bool> {
    let mut named = ranges.iter().filter_map(|range| {
        let mut pieces = range.split(';').map(str::trim);
        (pieces.next() == Some(wanted)).then(|| !pieces.any(excludes))
    });
    let first = named.next()?;
    Some(first || named.any(|taken| taken))
}

/// Whether a parameter is a `q` of nought; one that cannot be read is ignored.
fn excludes(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    name.trim() == "q" && matches!(value.trim(), "0" | "0." | "0.0" | "0.00" | "0.000")
}

/// Whether the body is JSON in UTF-8, not encoded.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return false;
    };
    let Ok(kind) = kind.to_str() else { return false };
    let mut pieces = kind.split(';').map(str::trim);
    let json = pieces.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let utf_8 = pieces.all(|parameter| {
        let Some((name, value)) = parameter.split_once('=') else {
            return true;
        };
        !name.trim().eq_ignore_ascii_case("charset") || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    let plain = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .all(|encoding| encoding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity"));
    json && utf_8 && plain
}
