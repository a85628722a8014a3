//! The files pages load: embedded, and named by their contents, so that a browser may keep them for good.

use std::sync::LazyLock;

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};

use super::response::Response;
use crate::digest::{hex, sha256};

/// The path under which assets are served; what follows it is the name given to [`asset`].
pub const ASSETS_PATH: &str = "/static/";

/// A browser may keep an asset for a year without asking again: another content has another name (RFC 8246).
const KEEP: &str = "public, max-age=31536000, immutable";

struct Asset {
    name: &'static str,
    url: String,
    content_type: &'static str,
    content: &'static [u8],
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let css = "text/css; charset=utf-8";
    let script = "text/javascript; charset=utf-8";
    vec![
        embed("studio.css", css, include_bytes!("../../templates/static/studio.css")),
        embed("approval.js", script, include_bytes!("../../templates/static/approval.js")),
        embed("returned.js", script, include_bytes!("../../templates/static/returned.js")),
        embed("copy.js", script, include_bytes!("../../templates/static/copy.js")),
        embed("signin.js", script, include_bytes!("../../templates/static/signin.js")),
        embed("mark.svg", "image/svg+xml", include_bytes!("../../templates/static/mark.svg")),
    ]
});

fn embed(name: &'static str, content_type: &'static str, content: &'static [u8]) -> Asset {
    let short: String = hex(&sha256(content)[..6]);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    Asset { name, url: format!("{ASSETS_PATH}{stem}-{short}.{end}"), content_type, content }
}

/// The content type and the bytes of an asset, by its name in an address (what follows [`ASSETS_PATH`]).
pub fn asset(path: &str) -> Option<(&'static str, &'static [u8])> {
    let found = ASSETS.iter().find(|asset| asset.url.strip_prefix(ASSETS_PATH) == Some(path))?;
    Some((found.content_type, found.content))
}

/// The address of an asset on this server, by the name of its file; empty for a file that is none.
pub fn asset_url(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| asset.url.as_str())
}

/// The answer to a request for an asset, or `None` where there is none of that name.
pub fn asset_response(path: &str) -> Option<Response> {
    let (content_type, content) = asset(path)?;
    let mut response = Response::new(Body::from(content));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(KEEP));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asset_is_found_by_the_address_pages_use() {
        let url = asset_url("studio.css");
        let path = url.strip_prefix(ASSETS_PATH).unwrap();
        assert!(path.starts_with("studio-") && path.ends_with(".css"), "{url}");
        let (content_type, content) = asset(path).unwrap();
        assert_eq!(content_type, "text/css; charset=utf-8");
        assert!(!content.is_empty());
    }

    #[test]
    fn an_asset_may_be_kept_for_good() {
        let path = asset_url("approval.js").strip_prefix(ASSETS_PATH).unwrap();
        let response = asset_response(path).unwrap();
        assert_eq!(response.headers()[CACHE_CONTROL], KEEP);
        assert_eq!(response.headers()[X_CONTENT_TYPE_OPTIONS], "nosniff");
    }

    #[test]
    fn any_other_name_is_nothing() {
        for path in ["studio.css", "studio-000000000000.css", "../Cargo.toml", ""] {
            assert!(asset_response(path).is_none(), "{path}");
        }
        assert_eq!(asset_url("other.css"), "");
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere() {
        for asset in ASSETS.iter() {
            let text = std::str::from_utf8(asset.content).unwrap().replace("http://www.w3.org/2000/svg", "");
            for foreign in ["http://", "https://", "@import", "url("] {
                assert!(!text.contains(foreign), "{} holds {foreign}", asset.name);
            }
        }
    }
}
