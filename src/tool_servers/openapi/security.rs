//! Security schemes: read to leave key parameters out, and to propose a place for a credential. They decide nothing.

use serde_json::Value;

use super::document::text_of;
use super::source::Source;
use super::tool::Place;

/// A place where a document says a credential travels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CredentialPlace {
    /// Header, query or cookie.
    pub place: Place,
    /// The name of the header, query parameter or cookie.
    pub name: String,
    /// The word before the value in a header, such as `Bearer`.
    pub scheme: Option<String>,
}

/// The places of the document's schemes, each once.
pub(super) fn places(source: &Source) -> Vec<CredentialPlace> {
    let schemes = source.root.pointer("/components/securitySchemes").and_then(Value::as_object);
    let mut places: Vec<CredentialPlace> = schemes
        .into_iter()
        .flat_map(|schemes| schemes.values())
        .filter_map(|scheme| place(source.follow(scheme).ok()?))
        .collect();
    places.sort();
    places.dedup();
    places
}

fn place(scheme: &Value) -> Option<CredentialPlace> {
    let authorization = |word: &str| CredentialPlace {
        place: Place::Header,
        name: "Authorization".to_owned(),
        scheme: Some(word.to_owned()),
    };
    match text_of(scheme, "type")? {
        "apiKey" => Some(CredentialPlace {
            place: Place::of(text_of(scheme, "in")?).filter(|place| *place != Place::Path)?,
            name: text_of(scheme, "name")?.to_owned(),
            scheme: None,
        }),
        "http" if text_of(scheme, "scheme").is_some_and(|word| word.eq_ignore_ascii_case("basic")) => {
            Some(authorization("Basic"))
        }
        "http" | "oauth2" | "openIdConnect" => Some(authorization("Bearer")),
        _ => None,
    }
}

/// Whether two places are one; names of headers are compared without case.
pub(super) fn is_place(place: Place, name: &str, other_place: Place, other_name: &str) -> bool {
    place == other_place
        && if place == Place::Header { name.eq_ignore_ascii_case(other_name) } else { name == other_name }
}

/// Whether the document says that an operation needs a credential.
pub(super) fn is_needed(source: &Source, operation: &Value) -> bool {
    let security = operation.get("security").or_else(|| source.root.get("security"));
    let Some(alternatives) = security.and_then(Value::as_array) else {
        return false;
    };
    !alternatives.is_empty()
        && alternatives.iter().all(|one| one.as_object().is_some_and(|schemes| !schemes.is_empty()))
}
