//! What stands around the pages of somebody who signed in: whose they are, their orgs, and the way out.

use super::text::Text;

/// The bar above a page.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The person's name.
    pub person: Text,
    /// The orgs they belong to, the one last used first.
    pub orgs: Vec<FrameOrg>,
    /// The org the page is about, where it is about one.
    pub org: Option<Text>,
    /// The token of the session's commands.
    pub csrf: String,
}

/// An org to go to.
#[derive(Debug, Clone)]
pub struct FrameOrg {
    /// Its id.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The person's role there.
    pub role: &'static str,
    /// Its pages that this person may see.
    pub pages: Vec<OrgPage>,
}

/// A page of an org.
#[derive(Debug, Clone)]
pub struct OrgPage {
    /// Its address.
    pub address: String,
    /// Its word.
    pub word: &'static str,
}

impl Frame {
    /// What the switcher says while it is closed.
    pub(super) fn here(&self) -> &str {
        let named = |id: &Text| self.orgs.iter().find(|org| org.id.as_str() == id.as_str());
        self.org.as_ref().and_then(named).map_or("Your orgs", |org| org.name.as_str())
    }
}
