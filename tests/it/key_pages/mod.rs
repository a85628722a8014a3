//! Studio's pages about what may act for people: keys, connected applications, and the audit of it all.

mod apps;
mod audit;
mod browsing;
mod org_keys;
mod own_keys;

use crate::support::people::{Answer, Caller};
use crate::support::visitor::Visitor;

/// A page as a person reads it.
pub async fn opens(visitor: &Visitor, path: &str) -> String {
    let answer = visitor.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    assert_eq!(answer.header("cache-control"), "no-store");
    answer.text
}

/// The answer to a form of a page, with the token that stands in it.
pub async fn sends(visitor: &Visitor, path: &str, fields: &[(&str, &str)]) -> Answer {
    crate::oauth::form(visitor, path, &[&[("csrf", visitor.csrf.as_str())], fields].concat()).await
}

/// The words of a page between its tags.
pub fn words(html: &str) -> String {
    let body = html.split_once("<body>").map_or(html, |(_, body)| body);
    let text: Vec<&str> = body.split('<').map(|part| part.split_once('>').map_or("", |(_, words)| words)).collect();
    text.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a key that a page shows this once.
pub fn key_on(html: &str) -> String {
    let at = html.find("pmk_").unwrap_or_else(|| panic!("no key: {html}"));
    html[at..at + 53].to_owned()
}

/// Whether an agent with this key is let in.
pub async fn works(server: &crate::support::app::TestApp, key: &str) -> bool {
    let holder = Caller::new(server.url(""), Some(key));
    holder.ask("/mcp", "server/discover", serde_json::json!({})).await.status == 200
}
