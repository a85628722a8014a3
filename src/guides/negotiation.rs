//! Whether a guide is wanted as Markdown or as JSON (RFC 9110, section 12.5.1).

/// Whether an `Accept` prefers `text/markdown` to `application/json`: by weight, and of equals where it names Markdown
/// more closely. Without a header, or with one that says nothing of either, JSON it is.
pub fn prefers_markdown(accept: Option<&str>) -> bool {
    let accept = accept.unwrap_or("*/*").to_ascii_lowercase();
    weight(&accept, "text", "markdown") > weight(&accept, "application", "json")
}

/// The weight of a media type in thousandths, then how closely the range that gives it names the type.
fn weight(accept: &str, kind: &str, subtype: &str) -> (u16, u8) {
    let closest = accept.split(',').filter_map(|range| {
        let mut pieces = range.split(';').map(str::trim);
        let (range_kind, range_subtype) = pieces.next()?.split_once('/')?;
        let closeness = match (range_kind, range_subtype) {
            (one, other) if one == kind && other == subtype => 3,
            (one, "*") if one == kind => 2,
            ("*", "*") => 1,
            _ => return None,
        };
        let quality = pieces.find_map(|parameter| parameter.strip_prefix("q=")).map_or(Some(1_000), thousandths)?;
        Some((closeness, quality))
    });
    let (closeness, quality) = closest.max().unwrap_or((0, 0));
    // A type that is excluded is not preferred for being named.
    if quality == 0 { (0, 0) } else { (quality, closeness) }
}

/// `0.5` as 500; `None` for what is no weight.
fn thousandths(text: &str) -> Option<u16> {
    let weight: f64 = text.trim().parse().ok()?;
    (0..=1_000).rev().find(|thousandth| f64::from(*thousandth) <= weight * 1_000.0 && (0.0..=1.0).contains(&weight))
}

#[cfg(test)]
mod tests {
    use super::prefers_markdown;

    #[test]
    fn json_unless_markdown_is_preferred() {
        for markdown in [
            "text/markdown",
            "Text/Markdown; charset=utf-8",
            "text/*",
            "text/markdown, */*",
            "text/markdown, application/json;q=0.9",
            "application/json;q=0, text/*;q=0.1",
        ] {
            assert!(prefers_markdown(Some(markdown)), "{markdown}");
        }
        for json in [
            "",
            "*/*",
            "application/json",
            "application/json, text/markdown",
            "application/json, text/markdown;q=0.5",
            "text/html, */*;q=0.8",
            "text/markdown;q=0",
            "text/markdown;q=nonsense, application/json;q=0.1",
        ] {
            assert!(!prefers_markdown(Some(json)), "{json}");
        }
        assert!(!prefers_markdown(None));
    }
}
