//! Credentials somebody wrote into the settings, which belong into a variable: only the look of the text counts.

use url::Url;

use super::decode::Fault;
use super::document::{Node, Shape};
use super::references;

/// Fields of a tool server whose texts may hold references.
const WITH_REFERENCES: [&str; 2] = ["headers", "env"];

const IN_A_VARIABLE: &str = "no credential here: put it into a variable and write ${NAME} in headers or env";

/// Checks every text of one tool server's entry.
pub(super) fn check(entry: &Node) -> Result<(), Fault> {
    let Shape::Map(fields) = &entry.shape else {
        return Ok(());
    };
    for (field, node) in fields {
        walk(&field.text, node).map_err(|fault| fault.below(field.text.clone()))?;
    }
    Ok(())
}

fn walk(field: &str, node: &Node) -> Result<(), Fault> {
    match &node.shape {
        Shape::Text(text) => text_of(field, text),
        Shape::List(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| walk(field, item).map_err(|fault| fault.below(index.to_string()))),
        Shape::Map(members) => members
            .iter()
            .try_for_each(|(key, member)| walk(field, member).map_err(|fault| fault.below(key.text.clone()))),
        _ => Ok(()),
    }
}

fn text_of(field: &str, text: &str) -> Result<(), Fault> {
    // A document is somebody else's text: what looks like a reference there is none.
    if field == "document_source" {
        return Ok(());
    }
    if !WITH_REFERENCES.contains(&field) {
        if references::any(text) {
            return Err(Fault::new("no reference here: ${NAME} stands in headers and env alone"));
        }
        return written(field, text);
    }
    references::written_out(text)
        .into_iter()
        .try_for_each(|part| written(field, part))
}

fn written(field: &str, text: &str) -> Result<(), Fault> {
    if let Ok(url) = Url::parse(text)
        && url.has_host()
    {
        if url.password().is_some() {
            return Err(Fault::new("an address without a password"));
        }
        let user = (!url.username().is_empty()).then(|| url.username().to_owned());
        if url
            .query_pairs()
            .map(|(_, value)| value.into_owned())
            .chain(user)
            .any(|part| looks_like_credential(&part))
        {
            return Err(Fault::new(IN_A_VARIABLE));
        }
    }
    let after_equals = text.split_once('=').filter(|_| field == "args").map(|(_, value)| value);
    if looks_like_credential(text) || after_equals.is_some_and(looks_like_credential) {
        return Err(Fault::new(IN_A_VARIABLE));
    }
    Ok(())
}

fn looks_like_credential(text: &str) -> bool {
    // Replaced by the one list of looks in `connections` as soon as it is merged.
    text.contains("-----BEGIN") && text.contains("PRIVATE KEY-----")
}
