//! The first page: that the server runs, where, for whom, and how an agent reaches it (`GET /`, decision D30).

use askama::Template;
use http::StatusCode;

use super::frame::Frame;
use super::response::{Response, page};
use super::text::{Host, Text};

/// What the first page shows.
#[derive(Debug, Clone)]
pub struct HomeView {
    /// The server's own address, without a slash at the end.
    pub address: Text,
    /// Who may use it.
    pub access: Access,
    /// The bar of somebody who signed in.
    pub frame: Option<Frame>,
}

/// Who may use the server, and what the page may therefore tell.
#[derive(Debug, Clone)]
pub enum Access {
    /// Local mode: everything on this machine, without a sign-in.
    Local {
        /// Name of the account the server runs as.
        developer: Text,
        /// The connections of the local org; told here because whoever reads the page may read them anyway.
        connections: Vec<ConnectionLine>,
    },
    /// API keys alone.
    Keys,
    /// People sign in, and nobody has in this browser.
    SignIn {
        /// Whether there is nobody yet, so that the first person is to be made.
        empty: bool,
    },
    /// People sign in, and somebody has: the bar says who.
    SignedIn,
    /// Neither: every request is refused.
    Closed,
}

/// One connection in the list.
#[derive(Debug, Clone)]
pub struct ConnectionLine {
    /// What functions write before the slash.
    pub name: Text,
    /// Its title.
    pub title: Text,
    /// Where it goes.
    pub host: Host,
    /// Its status: `pending`, `connected` or `removed`.
    pub status: Text,
    /// Why it cannot be used, such as `connection_broken`; `None` when it can.
    pub because: Option<Text>,
    /// Words for `because`.
    pub detail: Option<Text>,
}

impl ConnectionLine {
    /// The tone and the word of its pill.
    fn pill(&self) -> (&'static str, &str) {
        match self.because.as_ref().map(Text::as_str) {
            None if self.status.as_str() == "connected" => ("good", "Connected"),
            None => ("plain", self.status.as_str()),
            Some("connection_pending") => ("wait", "Waits for approval"),
            Some("connection_broken") => ("bad", "Broken"),
            Some("connection_not_allowed") => ("bad", "Not allowed"),
            Some("connection_unavailable") => ("wait", "Unavailable for now"),
            Some(other) => ("wait", other),
        }
    }
}

#[derive(Template)]
#[template(path = "studio/home.html")]
struct HomePage<'a> {
    view: &'a HomeView,
}

impl HomePage<'_> {
    /// Where an agent connects.
    fn endpoint(&self) -> String {
        format!("{}/mcp", self.view.address)
    }

    /// What connects Claude Code, for a terminal.
    fn command(&self) -> String {
        command(&self.view.address, matches!(self.view.access, Access::Keys))
    }
}

/// What connects Claude Code to the server at `address`, for a terminal.
pub(super) fn command(address: &Text, with_key: bool) -> String {
    let credential = if with_key { " --header \"Authorization: Bearer YOUR_KEY\"" } else { "" };
    format!("claude mcp add --transport http playmaker {address}/mcp{credential}")
}

/// The first page.
pub fn home(view: &HomeView) -> Response {
    page(StatusCode::OK, &HomePage { view })
}

#[cfg(test)]
mod tests {
    use super::super::gallery::{home_keys, home_local, html_of, words_of};
    use super::*;

    #[tokio::test]
    async fn it_says_how_an_agent_reaches_the_server() {
        let html = words_of(&html_of(home(&home_local())).await);
        assert!(html.contains("claude mcp add --transport http playmaker http://localhost:5555/mcp"), "{html}");
        assert!(html.contains("No sign-in on this machine"));
        assert!(html.contains("tunnel"));
    }

    #[tokio::test]
    async fn connections_stand_with_a_word_and_the_reason() {
        let html = words_of(&html_of(home(&home_local())).await);
        for words in ["Waits for approval", "Connected", "Broken", "A person reconnects it"] {
            assert!(html.contains(words), "{words}");
        }
    }

    #[tokio::test]
    async fn with_keys_alone_the_page_tells_of_no_connection() {
        let html = html_of(home(&home_keys())).await;
        assert!(html.contains("API keys"));
        assert!(words_of(&html).contains("Authorization: Bearer"), "{html}");
        assert!(!html.contains("id=\"connections\""));
    }

    #[tokio::test]
    async fn a_closed_server_says_what_to_do() {
        let view = HomeView { address: "http://192.0.2.1:5555".into(), access: Access::Closed, frame: None };
        assert!(words_of(&html_of(home(&view)).await).contains("playmaker key create"));
    }
}
