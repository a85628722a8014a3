//! Guides as resources of MCP: `guide://<name>` (`mcp.md` 8).

use serde::Serialize;

use super::{ALL, Guide, find};
use crate::digest::{hex, sha256};

/// What every guide is written in.
pub const MEDIA_TYPE: &str = "text/markdown";

const SCHEME: &str = "guide://";
/// Bytes of a guide's digest that its description shows.
const DIGEST: usize = 8;

/// A guide in the list of resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What it is good for, ending with the digest of its text, so that a client sees that it changed.
    pub description: String,
    /// What it is written in.
    pub mime_type: &'static str,
    /// Its size in bytes.
    pub size: usize,
}

/// The text of a guide, as `resources/read` has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceText {
    /// Its address.
    pub uri: String,
    /// What it is written in.
    pub mime_type: &'static str,
    /// The whole of it.
    pub text: &'static str,
}

/// Every guide as a resource, in their order.
pub fn resources() -> Vec<Resource> {
    ALL.iter().map(Resource::of).collect()
}

/// The text at an address; `None` where no guide is.
pub fn read(uri: &str) -> Option<ResourceText> {
    let guide = find(uri.strip_prefix(SCHEME)?)?;
    Some(ResourceText { uri: address(guide), mime_type: MEDIA_TYPE, text: guide.text })
}

impl Resource {
    fn of(guide: &Guide) -> Self {
        let shown: String = hex(&sha256(guide.text)[..DIGEST]);
        Self {
            uri: address(guide),
            name: guide.name,
            title: guide.title,
            description: format!("{} Digest: {shown}.", guide.description),
            mime_type: MEDIA_TYPE,
            size: guide.text.len(),
        }
    }
}

fn address(guide: &Guide) -> String {
    format!("{SCHEME}{}", guide.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_guide_listed_can_be_read_at_its_address() {
        let listed = resources();
        assert_eq!(listed.len(), ALL.len());
        for resource in listed {
            let found = read(&resource.uri).unwrap();
            assert_eq!((found.uri, found.text.len()), (resource.uri, resource.size));
        }
    }

    #[test]
    fn a_resource_says_what_it_is() {
        let listed = serde_json::to_value(&resources()[0]).unwrap();
        assert_eq!((&listed["uri"], &listed["mimeType"]), (&"guide://terminology".into(), &"text/markdown".into()));
        let description = listed["description"].as_str().unwrap();
        assert!(regex::Regex::new(r" Digest: [0-9a-f]{16}\.$").unwrap().is_match(description), "{description}");
    }

    #[test]
    fn nothing_is_read_at_another_address() {
        for uri in ["guide://", "guide://unknown", "terminology", "GUIDE://terminology", "guide://terminology/"] {
            assert_eq!(read(uri), None, "{uri}");
        }
    }
}
