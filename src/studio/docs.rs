//! `/docs`: how agents and programs reach this server. The metadata of its resources names it (RFC 9728, section 2,
//! `resource_documentation`), so whoever's client follows that finds this page.

use askama::Template;
use http::StatusCode;

use super::consent::sentence;
use super::response::{Response, page};
use super::text::Text;
use crate::config::Permission;

/// What the page says.
#[derive(Debug, Clone)]
pub struct DocsView {
    /// The server's own address, without a slash at the end.
    pub address: Text,
    /// How a caller proves itself.
    pub proof: Proof,
}

/// How a caller proves itself to this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Not at all: local mode.
    Nothing,
    /// By an API key alone.
    Key,
    /// By signing a person in, or by an API key.
    SignIn,
}

#[derive(Template)]
#[template(path = "studio/docs.html")]
struct DocsPage<'a> {
    view: &'a DocsView,
}

impl DocsPage<'_> {
    /// What connects Claude Code, for a terminal.
    fn command(&self) -> String {
        super::home::command(&self.view.address, self.view.proof == Proof::Key)
    }

    /// The MCP endpoints: path, and what is reached there.
    const fn endpoints(&self) -> [(&'static str, &'static str); 3] {
        [
            ("/mcp", "everything the caller may do, in every playbook of its org"),
            ("/orgs/{org}/mcp", "the org itself: its playbooks and connections"),
            ("/orgs/{org}/playbooks/{playbook}/mcp", "what is inside one playbook"),
        ]
    }

    /// Each permission, and what it lets a caller do.
    fn permissions(&self) -> Vec<(&'static str, &'static str)> {
        Permission::EVERY.iter().map(|permission| (permission.word(), sentence(permission.word()))).collect()
    }
}

/// The page.
pub fn docs(view: &DocsView) -> Response {
    page(StatusCode::OK, &DocsPage { view })
}

#[cfg(test)]
mod tests {
    use super::super::gallery::{html_of, words_of};
    use super::*;

    #[tokio::test]
    async fn it_tells_the_addresses_and_only_the_ways_there_are() {
        let of = |proof| DocsView { address: "https://pm.example".into(), proof };
        let words = words_of(&html_of(docs(&of(Proof::SignIn))).await);
        for told in ["https://pm.example/mcp", "/orgs/{org}/mcp", "Connected apps", "org:admin", "/openapi.json"] {
            assert!(words.contains(told), "{told}: {words}");
        }
        let words = words_of(&html_of(docs(&of(Proof::Key))).await);
        assert!(words.contains("Authorization: Bearer") && !words.contains("Connected apps"), "{words}");
        let words = words_of(&html_of(docs(&of(Proof::Nothing))).await);
        assert!(!words.contains("Authorization: Bearer") && words.contains("without a credential"), "{words}");
    }
}
