//! Credentials somebody wrote into the settings, which belong into a variable: only the look of the text counts.

use url::Url;

use super::decode::Fault;
use super::document::{Node, Shape};
use super::references;
use crate::connections::credential_look::{LookPlace, looks_like_credential};

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
    references::written_out(text).into_iter().try_for_each(|part| written(field, part))
}

fn written(field: &str, text: &str) -> Result<(), Fault> {
    let found = match address(text) {
        Some(mut url) => {
            if url.password().is_some() {
                return Err(Fault::new("an address without a password"));
            }
            // Unlike in what people add, an operator's address may name a user, as long as it is no token.
            let user = url.username().to_owned();
            let in_user = looks_like_credential(&user, LookPlace::HeaderValue);
            let _ = url.set_username("");
            in_user || looks_like_credential(url.as_str(), LookPlace::Address)
        }
        None if ["headers", "env", "args"].contains(&field) => {
            let after_equals = text.split_once('=').filter(|_| field == "args").map(|(_, value)| value);
            value(text) || after_equals.is_some_and(value)
        }
        None => looks_like_credential(text, LookPlace::Text),
    };
    if found {
        return Err(Fault::new(IN_A_VARIABLE));
    }
    Ok(())
}

fn address(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(Url::has_host)
}

/// Looks at the value of a header, a variable or an argument. A path of a file is long and varied, yet no credential.
fn value(text: &str) -> bool {
    let is_path = |item: &str| item.starts_with(['/', '.', '~']);
    looks_like_credential(text, LookPlace::Text)
        || text.split(':').filter(|item| !is_path(item)).any(|item| looks_like_credential(item, LookPlace::HeaderValue))
}
