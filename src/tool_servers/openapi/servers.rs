//! Where operations are sent (sheet 6.6).

use serde_json::Value;
use url::Url;

use super::document::{Because, Fault, Placement, Refusal, text_of};
use super::source::Source;

/// The servers of a document, with what the entry says of them.
pub(super) struct Servers<'a> {
    place: &'a Placement,
    base: Url,
}

impl<'a> Servers<'a> {
    /// Finds the address that operations without a server of their own go to.
    pub(super) fn new(source: &Source, place: &'a Placement, by_person: bool) -> Result<Self, Refusal> {
        let root = list(&source.root);
        let base = match &place.base_url {
            Some(url) => settled(url.clone()).map_err(|(_, words)| Refusal::new(words))?,
            None if by_person => sole(root, place)?,
            None => match (pick(root, place), &place.document_url) {
                (Some(picked), _) => picked.map_err(|(_, words)| Refusal::new(words))?,
                (None, Some(document)) => {
                    document.join("/").map_err(|_| Refusal::new("The document's address has no origin to send to."))?
                }
                (None, None) => first_of_operations(source, place)
                    .ok_or_else(|| Refusal::new("The document names no server to send to; give `url`."))?,
            },
        };
        Ok(Self { place, base })
    }

    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// Where one operation is sent.
    pub(super) fn of(&self, operation: &Value, path_item: &Value) -> Result<Url, Fault> {
        if self.place.base_url.is_some() {
            return Ok(self.base.clone());
        }
        let own = pick(list(operation), self.place).or_else(|| pick(list(path_item), self.place));
        let url = own.unwrap_or_else(|| Ok(self.base.clone()))?;
        if url.origin() != self.base.origin() && !self.place.hosts.contains(&url.origin()) {
            let words = format!("It is sent to another origin: {}.", url.origin().ascii_serialization());
            return Err((Because::ForeignServer, words));
        }
        Ok(url)
    }
}

fn list(holder: &Value) -> &[Value] {
    holder.get("servers").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The one absolute https server of a document that a person gives without an address.
fn sole(servers: &[Value], place: &Placement) -> Result<Url, Refusal> {
    let [server] = servers else {
        return Err(Refusal::new(
            "The document does not name exactly one server; give `url`, the address requests go to.",
        ));
    };
    match written(server, place) {
        Ok(url) if text_of(server, "url").is_some_and(|text| text.contains("://")) && is_taken(&url, place) => Ok(url),
        Ok(_) => Err(Refusal::new(
            "The document's server is not an absolute https address; give `url`, the address requests go to.",
        )),
        Err((_, words)) => Err(Refusal::new(format!("{words} Give `url`, the address requests go to."))),
    }
}

/// The first server that may be taken; nothing where the list is empty.
fn pick(servers: &[Value], place: &Placement) -> Option<Result<Url, Fault>> {
    let mut fault = None;
    for server in servers {
        match written(server, place) {
            Ok(url) if is_taken(&url, place) => return Some(Ok(url)),
            Ok(url) => {
                let words = format!("Its server is not https but {}.", url.scheme());
                fault.get_or_insert((Because::BadServer, words));
            }
            Err(other) => {
                fault.get_or_insert(other);
            }
        }
    }
    fault.map(Err)
}

fn first_of_operations(source: &Source, place: &Placement) -> Option<Url> {
    let paths = source.root.get("paths")?.as_object()?;
    let mut holders = paths.values().flat_map(|item| {
        let operations = item.as_object().into_iter().flat_map(|item| item.values());
        std::iter::once(item).chain(operations)
    });
    holders.find_map(|holder| pick(list(holder), place)?.ok())
}

fn is_taken(url: &Url, place: &Placement) -> bool {
    let known =
        |origin| place.hosts.contains(&origin) || place.document_url.as_ref().is_some_and(|at| at.origin() == origin);
    url.scheme() == "https" || (url.scheme() == "http" && (place.allow_http || known(url.origin())))
}

/// The address of a server object, its variables filled in.
fn written(server: &Value, place: &Placement) -> Result<Url, Fault> {
    let bad = |words: String| (Because::BadServer, words);
    let template = text_of(server, "url").ok_or_else(|| bad("Its server has no address.".to_owned()))?;
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) =
            after.split_once('}').ok_or_else(|| bad("Its server's address has unbalanced braces.".to_owned()))?;
        text.push_str(before);
        let value = variable(server, name, place).ok_or_else(|| {
            let name = super::prose::one_line(name, 60);
            bad(format!("The server's variable {name:?} has no value that may be taken."))
        })?;
        if !is_fit(&text, &value) {
            let name = super::prose::one_line(name, 60);
            return Err(bad(format!("The value of the server's variable {name:?} does not fit its place.")));
        }
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    let url = match &place.document_url {
        Some(base) => base.join(text.trim()),
        None => Url::parse(text.trim()),
    };
    match url {
        Ok(url) => settled(url),
        Err(url::ParseError::RelativeUrlWithoutBase) => {
            Err((Because::NoServer, "Its server is relative, and the document has no address; give `url`.".to_owned()))
        }
        Err(_) => Err(bad("Its server's address cannot be read.".to_owned())),
    }
}

fn variable(server: &Value, name: &str, place: &Placement) -> Option<String> {
    let described = server.get("variables").and_then(|variables| variables.get(name));
    let value = match place.server_variables.get(name) {
        Some(value) => value.clone(),
        None => match described?.get("default")? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        },
    };
    let allowed = described.and_then(|one| one.get("enum")).and_then(Value::as_array);
    let is_allowed =
        allowed.is_none_or(|values| values.is_empty() || values.iter().any(|one| super::styles::plain(one) == value));
    is_allowed.then_some(value)
}

/// Whether a variable's value may stand behind `before`: labels in the host, nothing in the path that leaves it.
fn is_fit(before: &str, value: &str) -> bool {
    let in_path = match before.split_once("://") {
        Some((_, authority)) => authority.contains('/'),
        None => !before.is_empty(),
    };
    if in_path {
        return !value.contains("..") && !value.contains(['?', '#', '\\']) && !value.chars().any(char::is_control);
    }
    value.split('.').all(|label| {
        !label.is_empty() && label.len() <= 63 && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    })
}

/// An address without user part or fragment.
fn settled(url: Url) -> Result<Url, Fault> {
    let words = if !matches!(url.scheme(), "http" | "https") {
        "The server's address is neither https nor http."
    } else if !url.username().is_empty() || url.password().is_some() {
        "The server's address holds a user part."
    } else if url.fragment().is_some() {
        "The server's address holds a fragment."
    } else {
        return Ok(url);
    };
    Err((Because::BadServer, words.to_owned()))
}
