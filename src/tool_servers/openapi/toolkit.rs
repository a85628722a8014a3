//! Hand-made toolkits: tools written down one by one instead of read from a document (`connections` 6.3).
//!
//! ```yaml
//! title: Notes
//! tools:
//!   - name: notes_get
//!     description: Reads one note.
//!     method: GET
//!     path: /notes/{note_id}
//!     arguments:
//!       note_id: { place: path, type: string }
//!       with: { place: query, name: "with[]", type: array, items: { type: string } }
//!     result: /note
//! ```
//!
//! An argument holds its JSON Schema and, beside it, `place` (path where the path names it, else query), `name` (its
//! name on the wire) and `required`. Toolkits come with the program, so any fault refuses the whole file.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

use super::document::{Bounds, Document, HintsGiven, Refusal, Totals};
use super::operations::{compiles, input_schema};
use super::parameters::{is_left_out, placeholders, plain};
use super::prose;
use super::tool::{BodyForm, BodyPlan, Hints, Place, Reduction, Tool};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    title: String,
    tools: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    title: Option<String>,
    #[serde(default)]
    description: String,
    method: String,
    path: String,
    #[serde(default)]
    arguments: BTreeMap<String, Argument>,
    result: Option<Kept>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    #[serde(default)]
    scopes: Vec<String>,
}

#[derive(Deserialize)]
struct Argument {
    place: Option<Place>,
    name: Option<String>,
    #[serde(default)]
    required: bool,
    #[serde(flatten)]
    schema: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    Pointer(String),
    Fields(Vec<String>),
}

/// Reads a toolkit file; `base` is the address its paths are put behind.
///
/// # Errors
/// The first fault of the file, with the tool's name.
pub fn toolkit(yaml: &str, base: &Url) -> Result<Document, Refusal> {
    let (value, _) = super::text::read(yaml, &Bounds::OPERATOR)?;
    let file: File = serde_json::from_value(value).map_err(|error| Refusal::new(format!("The toolkit: {error}.")))?;
    let mut document = Document {
        title: file.title,
        tools: Vec::new(),
        operations: Totals::default(),
        unusable: Vec::new(),
        base_url: base.clone(),
        credential_places: Vec::new(),
        warnings: Vec::new(),
    };
    for entry in file.tools {
        let name = entry.name.clone();
        let tool = tool(entry, base).map_err(|words| Refusal::new(format!("The tool {name:?}: {words}")))?;
        if document.tools.iter().any(|had: &Arc<Tool>| had.name == name) {
            return Err(Refusal::new(format!("The tool {name:?} is there twice.")));
        }
        document.take(tool);
    }
    document.tools.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(document)
}

fn tool(entry: Entry, base: &Url) -> Result<Tool, String> {
    let is_name = |name: &str| {
        (1..=128).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    };
    if !is_name(&entry.name) {
        return Err("its name breaks the rule of tool names.".to_owned());
    }
    let method = Method::from_bytes(entry.method.to_ascii_uppercase().as_bytes())
        .map_err(|_| "its method is not a word.".to_owned())?;
    let placeholders = placeholders(&entry.path).map_err(|(_, words)| words)?;
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let (mut parameters, mut members, mut needs_body) = (Vec::new(), Vec::new(), false);
    for (argument, given) in entry.arguments {
        let name = given.name.unwrap_or_else(|| argument.clone());
        let stands = placeholders.contains(&name.as_str());
        let place = given.place.unwrap_or(if stands { Place::Path } else { Place::Query });
        if stands != (place == Place::Path) {
            return Err(format!("the argument {argument:?} and the path do not agree."));
        }
        if place == Place::Header && (is_left_out(&name) || http::HeaderName::from_bytes(name.as_bytes()).is_err()) {
            return Err(format!("the argument {argument:?} may not be a header of that name."));
        }
        let is_required = given.required || place == Place::Path;
        if is_required {
            required.push(argument.clone());
        }
        properties.insert(argument.clone(), Value::Object(given.schema));
        if place == Place::Body {
            needs_body |= is_required;
            members.push((argument, name));
        } else {
            let mut parameter = plain(argument, name, place);
            parameter.required = is_required;
            parameters.push(parameter);
        }
    }
    if let Some(missing) = placeholders.iter().find(|name| !parameters.iter().any(|one| one.name == **name)) {
        return Err(format!("the path's {missing:?} is no argument."));
    }
    let mut input_schema = input_schema(properties, &required);
    input_schema.sort_all_objects();
    if !compiles(&input_schema) {
        return Err("its arguments are not JSON Schema 2020-12.".to_owned());
    }
    let given = HintsGiven {
        read_only: entry.read_only,
        destructive: entry.destructive.or(entry.read_only.map(|read_only| !read_only && method == Method::DELETE)),
        idempotent: entry.idempotent,
    };
    Ok(Tool {
        title: prose::title(entry.title.as_deref(), &entry.name),
        description: prose::description(None, Some(&entry.description), false, &[]),
        input_schema,
        output_schema: None,
        hints: Hints::of(&method, given),
        path: entry.path,
        needs_credential: true,
        notes: Vec::new(),
        simplified: false,
        server: base.clone(),
        scopes: entry.scopes,
        parameters,
        body: (!members.is_empty()).then(|| BodyPlan {
            required: needs_body,
            media_type: "application/json".to_owned(),
            form: BodyForm::Members(members),
        }),
        accept: "application/json, */*;q=0.1".to_owned(),
        reduction: entry.result.map(|kept| match kept {
            Kept::Pointer(pointer) => Reduction::Pointer(pointer),
            Kept::Fields(fields) => Reduction::Fields(fields),
        }),
        credential: None,
        method,
        name: entry.name,
    })
}
