//! The operations of a document, each made into a tool or counted with the reason why not.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Map, Value, json};

use super::bodies::{self, Asked};
use super::document::{Because, Bounds, Document, Fault, Placement, text_of};
use super::naming::{Unnamed, names};
use super::parameters::{Reading, placeholders};
use super::prose;
use super::schema::{Assembled, Direction, Shapes, bytes};
use super::security;
use super::servers::Servers;
use super::source::Source;
use super::tool::{Hints, Tool};

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "patch", "head", "options"];
/// The most bytes of an output schema that is shown.
const OUTPUT_BYTES: usize = 16 << 10;

/// An operation where it stands.
struct Found<'a> {
    path: &'a str,
    method: String,
    operation: &'a Value,
    path_item: &'a Value,
}

struct Making<'a> {
    source: &'a Source,
    servers: &'a Servers<'a>,
    place: &'a Placement,
    requests: Shapes<'a>,
    responses: Shapes<'a>,
}

/// Makes the tools of a document, by path and then method.
pub(super) fn collect(source: &Source, servers: &Servers<'_>, place: &Placement, bounds: &Bounds, into: &mut Document) {
    let found = find(source, into);
    let unnamed: Vec<Unnamed<'_>> = found
        .iter()
        .map(|one| Unnamed { method: &one.method, path: one.path, operation_id: text_of(one.operation, "operationId") })
        .collect();
    let names = names(&unnamed);
    let credentials = into.credential_places.clone();
    let reading = Reading { source, place, credentials: &credentials };
    let mut making = Making {
        source,
        servers,
        place,
        requests: Shapes::new(source, Direction::Request),
        responses: Shapes::new(source, Direction::Response),
    };
    let mut taken_names: BTreeSet<String> = names.iter().cloned().collect();
    for (index, (one, name)) in found.iter().zip(names).enumerate() {
        if place.exclude.contains(&name) || place.include.as_ref().is_some_and(|include| !include.contains(&name)) {
            continue;
        }
        if index >= bounds.operations || into.tools.len() >= bounds.tools {
            let words = "It comes after the last operation that is taken.".to_owned();
            into.refuse(&one.method, one.path, (Because::OverTheLimit, words));
            continue;
        }
        let name = match place.rename.get(&name) {
            Some(other) if taken_names.insert(other.clone()) => other.clone(),
            _ => name,
        };
        match making.tool(one, name, &reading) {
            Ok(tool) => into.take(tool),
            Err(fault) => into.refuse(&one.method, one.path, fault),
        }
    }
    into.tools.sort_by(|one, other| one.name.cmp(&other.name));
    into.unusable.sort_by(|one, other| (&one.path, &one.method).cmp(&(&other.path, &other.method)));
}

/// All operations that may be sent; the others are counted at once.
fn find<'a>(source: &'a Source, into: &mut Document) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    let paths = source.root["paths"].as_object();
    for (path, item) in paths.into_iter().flatten().filter(|(path, _)| !path.starts_with("x-")) {
        let target = match source.follow(item) {
            Ok(target) if target.is_object() => target,
            Ok(_) => {
                let words = "The path item is not an object.".to_owned();
                into.refuse("*", path, (Because::Malformed, words));
                continue;
            }
            Err(fault) => {
                into.refuse("*", path, fault);
                continue;
            }
        };
        for (method, operation) in methods(source, target) {
            let upper = method.to_ascii_uppercase();
            if matches!(upper.as_str(), "TRACE" | "CONNECT") {
                let words = format!("{upper} is never sent.");
                into.refuse(&upper, path, (Because::MethodNotOffered, words));
            } else if Method::from_bytes(method.as_bytes()).is_err() {
                into.refuse("*", path, (Because::MethodNotOffered, "The method is not a word.".to_owned()));
            } else if !operation.is_object() {
                into.refuse(&upper, path, (Because::Malformed, "The operation is not an object.".to_owned()));
            } else {
                found.push(Found { path, method, operation, path_item: target });
            }
        }
    }
    found
}

/// The operations of a path item with their methods, in the order of these.
fn methods<'a>(source: &Source, item: &'a Value) -> Vec<(String, &'a Value)> {
    let mut list: Vec<(String, &Value)> = Vec::new();
    for (member, operation) in item.as_object().into_iter().flatten() {
        let is_method = METHODS.contains(&member.as_str())
            || matches!(member.as_str(), "trace" | "connect")
            || (source.is_3_2 && member == "query");
        if is_method {
            list.push((member.to_ascii_uppercase(), operation));
        }
    }
    if source.is_3_2
        && let Some(more) = item.get("additionalOperations").and_then(Value::as_object)
    {
        for (method, operation) in more {
            if !list.iter().any(|(had, _)| had.eq_ignore_ascii_case(method)) {
                list.push((method.clone(), operation));
            }
        }
    }
    list.sort_by(|one, other| one.0.cmp(&other.0));
    list
}

impl Making<'_> {
    fn tool(&mut self, found: &Found<'_>, name: String, reading: &Reading<'_>) -> Result<Tool, Fault> {
        let operation = found.operation;
        let mut notes = BTreeSet::new();
        self.requests.take_notes();
        let names = placeholders(found.path)?;
        let server = self.servers.of(operation, found.path_item)?;
        let body = bodies::read(self.source, operation, &mut self.requests, &mut notes)?;
        let both = (operation, found.path_item);
        let mut made = reading.properties(both, &names, body.is_some(), &mut self.requests, &mut notes)?;
        let body = body.map(|Asked { schema, plan }| {
            made.properties.insert("body".to_owned(), schema);
            if plan.required {
                made.required.push("body".to_owned());
            }
            plan
        });
        notes.extend(self.requests.take_notes());
        let input = self.input(made.properties, &made.required, &mut notes)?;
        let (accept, output_schema) = self.answers(operation);
        let method = Method::from_bytes(found.method.as_bytes())
            .map_err(|_| (Because::MethodNotOffered, "The method is not a word.".to_owned()))?;
        let notes: Vec<String> = notes.into_iter().take(prose::NOTES).collect();
        let is_deprecated = operation.get("deprecated") == Some(&Value::Bool(true));
        let summary = text_of(operation, "summary").or_else(|| text_of(found.path_item, "summary"));
        let long = text_of(operation, "description").or_else(|| text_of(found.path_item, "description"));
        Ok(Tool {
            title: prose::title(summary, &name),
            description: prose::description(summary, long, is_deprecated, &notes),
            hints: Hints::of(&method, self.place.hints.get(&name).copied().unwrap_or_default()),
            input_schema: input.schema,
            output_schema,
            method,
            path: found.path.to_owned(),
            needs_credential: security::is_needed(self.source, operation),
            notes,
            simplified: input.simplified,
            server,
            scopes: Vec::new(),
            parameters: made.parameters,
            body,
            accept,
            reduction: None,
            credential: self.place.credential.clone(),
            name,
        })
    }

    /// The input schema: put together, cut to its bound and known to compile.
    fn input(
        &mut self,
        properties: Map<String, Value>,
        required: &[String],
        notes: &mut BTreeSet<String>,
    ) -> Result<Assembled, Fault> {
        let too_large = || (Because::TooLarge, "Its input cannot be cut under 64 KiB.".to_owned());
        let root = input_schema(properties, required);
        let mut input = self.requests.assemble(root.clone()).ok_or_else(too_large)?;
        notes.append(&mut input.notes);
        if compiles(&input.schema) {
            return Ok(input);
        }
        let mut root = root;
        let names: Vec<String> = root["properties"].as_object().into_iter().flat_map(Map::keys).cloned().collect();
        for name in names {
            let alone = json!({ "type": "object", "properties": { name.clone(): root["properties"][&name] } });
            if !self.requests.assemble(alone).is_some_and(|alone| compiles(&alone.schema)) {
                root["properties"][&name] = json!({});
                notes.insert(format!("The schema of {name:?} cannot be used and was left open."));
            }
        }
        self.requests.assemble(root).ok_or_else(too_large)
    }

    /// What is accepted, and the schema of the first answer of success where it is a simple object.
    fn answers(&mut self, operation: &Value) -> (String, Option<Value>) {
        let mut kinds: Vec<String> = Vec::new();
        let mut schema = None;
        let responses = operation.get("responses").and_then(Value::as_object);
        for (status, response) in responses.into_iter().flatten() {
            let Ok(response) = self.source.follow(response) else {
                continue;
            };
            for (kind, media) in response.get("content").and_then(Value::as_object).into_iter().flatten() {
                let kind = bodies::essence(kind);
                if bodies::is_json(&kind) && kind.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',') {
                    if schema.is_none() && status.starts_with('2') {
                        schema = media.get("schema");
                    }
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
            }
        }
        if kinds.is_empty() {
            kinds.push("application/json".to_owned());
        }
        kinds.truncate(8);
        kinds.push("*/*;q=0.1".to_owned());
        (kinds.join(", "), schema.and_then(|schema| self.output(schema)))
    }

    fn output(&mut self, schema: &Value) -> Option<Value> {
        let shaped = self.responses.shape(schema);
        self.responses.take_notes();
        // Cheap look first: most answers of large services are no simple object.
        let opened = self.responses.opened(&shaped);
        if opened["type"] != "object" || bytes(&opened) > OUTPUT_BYTES {
            return None;
        }
        let output = self.responses.assemble(opened)?;
        let is_simple = !output.simplified && output.notes.is_empty() && bytes(&output.schema) <= OUTPUT_BYTES;
        (is_simple && compiles(&output.schema)).then_some(output.schema)
    }
}

/// The one object that a tool takes.
pub(super) fn input_schema(properties: Map<String, Value>, required: &[String]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let (false, Some(map)) = (required.is_empty(), schema.as_object_mut()) {
        let required: BTreeSet<&String> = required.iter().collect();
        map.insert("required".to_owned(), json!(required));
    }
    schema
}

/// Compiles a tool's schema to check arguments with: 2020-12, nothing fetched, and patterns that take linear time,
/// since they come from documents and meet what agents write. Nothing where it does not compile.
pub fn checker(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .offline()
        .build(schema)
        .ok()
}

/// Whether a schema compiles.
pub(super) fn compiles(schema: &Value) -> bool {
    checker(schema).is_some()
}
