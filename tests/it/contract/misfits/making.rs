//! From an input's schema to an input that fits it, and to every way of spoiling one field of that.

use regex::Regex;
use serde_json::{Map, Value, json};

use super::words;

/// Texts of which one fits every field there is; a new form needs a new one.
const GOOD: [&str; 8] = [
    "support",
    "person:user_0123456789ABCDEFGHIJKL",
    "conn_0123456789ABCDEFGHIJKL",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "2026-10-01T09:30:00Z",
    "https://desk.example.test/",
    "inv_0123456789ABCDEFGHIJKL",
    "grant_0123456789ABCDEFGHIJKL",
];
/// Texts that are somewhere no name.
const ODD: [&str; 10] =
    ["", " ", "a", "A", "-", "with space", "süd", "support\n", "${PATH}", "../etc/passwd/of-more-than-36-characters"];
/// Names no object has; the second shows that a pointer is escaped (RFC 6901, section 3).
const STRANGE: [&str; 2] = ["unheard_of", "a/b~c"];
/// The name of a member where any may be.
const MEMBER: &str = "Some-Name";

/// What one field becomes so that it does not fit, and what is said about it.
#[derive(Clone)]
pub struct Misfit {
    path: Vec<String>,
    /// What stands there; nothing when it is left out.
    pub value: Option<Value>,
    /// What is said.
    pub words: String,
    /// Whether the value can be written as plain text, as in a query string.
    pub plain: bool,
}

impl Misfit {
    /// The field of the input it is in.
    pub fn field(&self) -> &str {
        &self.path[0]
    }

    /// Whether it is the field itself and not something within.
    pub fn is_outermost(&self) -> bool {
        self.path.len() == 1
    }

    /// Where, as a JSON Pointer.
    pub fn pointer(&self) -> String {
        self.path.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
    }

    /// Spoils a fitting input.
    pub fn spoil(&self, input: &mut Value) {
        let (last, way) = self.path.split_last().unwrap();
        let mut at = input;
        for part in way {
            at = match at {
                Value::Array(items) => &mut items[part.parse::<usize>().unwrap()],
                other => &mut other[part],
            };
        }
        match (at, &self.value) {
            (Value::Array(items), Some(value)) => items[last.parse::<usize>().unwrap()] = value.clone(),
            (Value::Object(members), Some(value)) => drop(members.insert(last.clone(), value.clone())),
            (Value::Object(members), None) => drop(members.remove(last)),
            (other, _) => panic!("nothing can be spoilt in {other}"),
        }
    }
}

/// An input with every field, each as its schema wants it.
pub fn fitting(schema: &Value) -> Value {
    if let Some(Value::Array(choices)) = schema.get("enum") {
        return choices[0].clone();
    }
    match kind(schema).unwrap_or_else(|| panic!("{schema} says no type")) {
        "string" => {
            let text = GOOD.iter().find(|text| fits(schema, text));
            json!(text.unwrap_or_else(|| panic!("no text here fits {schema}")))
        }
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        "array" => json!([fitting(&schema["items"])]),
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let mut members: Map<String, Value> =
                properties.map(|(name, inner)| (name.clone(), fitting(inner))).collect();
            if let Some(further) = schema.get("additionalProperties").filter(|further| further.is_object()) {
                members.insert(MEMBER.into(), fitting(further));
            }
            members.into()
        }
        other => panic!("{other} is not made yet"),
    }
}

/// The type of a field; of one that is a word or a list, the list.
fn kind(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::Array(kinds) => kinds.last()?.as_str(),
        kind => kind.as_str(),
    }
}

/// Whether a text has the length, the form and the format a schema wants.
fn fits(schema: &Value, text: &str) -> bool {
    has_length(schema, text) && has_form(schema, text)
}

fn has_length(schema: &Value, text: &str) -> bool {
    let length = text.chars().count() as u64;
    schema["minLength"].as_u64().is_none_or(|least| length >= least)
        && schema["maxLength"].as_u64().is_none_or(|most| length <= most)
}

fn has_form(schema: &Value, text: &str) -> bool {
    schema["pattern"].as_str().is_none_or(|pattern| Regex::new(pattern).unwrap().is_match(text))
        && match schema["format"].as_str() {
            None => true,
            Some("uuid") => uuid::Uuid::parse_str(text).is_ok(),
            Some("date-time") => text == GOOD[4],
            Some(other) => panic!("{other} is not made yet"),
        }
}

/// Every misfit of an input.
pub fn misfits(schema: &Value) -> Vec<Misfit> {
    let mut made = Made { schema, path: Vec::new(), misfits: Vec::new() };
    made.object();
    made.misfits
}

struct Made<'a> {
    schema: &'a Value,
    path: Vec<String>,
    misfits: Vec<Misfit>,
}

impl Made<'_> {
    fn put(&mut self, value: Value, words: impl Into<String>) {
        let plain = value.is_string() || value.is_number();
        let words = words.into();
        self.misfits.push(Misfit { path: self.path.clone(), value: Some(value), words, plain });
    }

    fn put_at(&mut self, member: &str, value: Option<Value>, words: &str) {
        let mut path = self.path.clone();
        path.push(member.to_owned());
        self.misfits.push(Misfit { path, value, words: words.to_owned(), plain: true });
    }

    fn within(&mut self, member: &str, schema: &Value) {
        let mut path = self.path.clone();
        path.push(member.to_owned());
        let mut inner = Made { schema, path, misfits: Vec::new() };
        inner.field();
        self.misfits.append(&mut inner.misfits);
    }

    fn field(&mut self) {
        if !self.schema["type"].is_array() {
            self.types();
        }
        match kind(self.schema) {
            Some("string") => self.text(),
            Some("integer" | "number") => self.number(),
            Some("array") => self.list(),
            Some("object") => self.object(),
            _ => {}
        }
    }

    /// A value of each type but its own. A number or `true` within quotation marks is a text.
    fn types(&mut self) {
        let own = self.schema["type"].as_str().unwrap_or_default();
        let words = words::of_type(self.schema);
        let spelt = match own {
            "integer" | "number" => vec![json!(""), json!("many"), json!("0x10")],
            "boolean" => vec![json!(""), json!("perhaps"), json!("TRUE"), json!("1")],
            "string" => vec![],
            _ => vec![json!("text")],
        };
        for value in spelt {
            self.put(value, words);
        }
        let all = [("null", json!(null)), ("boolean", json!(true)), ("integer", json!(7)), ("number", json!(1.5))];
        for (kind, value) in all.into_iter().chain([("array", json!([])), ("object", json!({}))]) {
            if kind != own && (kind, own) != ("integer", "number") {
                self.put(value, words);
                // In a query every value is a text.
                self.misfits.last_mut().unwrap().plain = (kind, own) == ("number", "integer");
            }
        }
    }

    fn text(&mut self) {
        let schema = self.schema;
        if let Some(Value::Array(choices)) = schema.get("enum") {
            let shouted = choices[0].as_str().unwrap().to_uppercase();
            for text in ["", "no-such-word", &shouted] {
                self.put(json!(text), words::of_choice(choices));
            }
            return;
        }
        if let Some(least) = schema["minLength"].as_u64() {
            let text = "a".repeat(usize::try_from(least).unwrap() - 1);
            let words = words::of_bound(&format!("at least {least}"), "characters");
            self.put(json!(text), if least == 1 { words::EMPTY.to_owned() } else { words });
        }
        if let Some(most) = schema["maxLength"].as_u64() {
            // Characters are counted, not bytes; only of a whole document so many do not fit a body.
            let signs = if most > 100_000 { ["a", "a"] } else { ["ä", "a"] };
            let long = signs.map(|sign| sign.repeat(usize::try_from(most).unwrap() + 1));
            let text = long.iter().find(|text| has_form(schema, text)).unwrap_or_else(|| panic!("{schema}"));
            self.put(json!(text), words::of_bound(&format!("at most {most}"), "characters"));
        }
        let of_form = schema["pattern"].as_str().map(words::of_form);
        if let Some(words) = of_form.or(schema["format"].as_str().map(words::of_format)) {
            let long = "a".repeat(300);
            let before = self.misfits.len();
            for text in ODD.into_iter().chain([long.as_str()]) {
                if has_length(schema, text) && !has_form(schema, text) {
                    self.put(json!(text), words);
                }
            }
            assert!(self.misfits.len() > before, "no text here is unfit for {schema}");
        } else {
            self.put(json!("a\0b"), words::NUL);
        }
    }

    fn number(&mut self) {
        for (keyword, bound, step) in [("minimum", "at least", -1), ("maximum", "at most", 1)] {
            if let Some(limit) = self.schema[keyword].as_i64() {
                self.put(json!(limit + step), words::of_bound(&format!("{bound} {limit}"), ""));
            }
        }
    }

    fn list(&mut self) {
        let item = fitting(&self.schema["items"]);
        let of = |count: u64| vec![item.clone(); usize::try_from(count).unwrap()].into();
        if let Some(least) = self.schema["minItems"].as_u64() {
            self.put(of(least - 1), words::of_bound(&format!("at least {least}"), "items"));
        }
        if let Some(most) = self.schema["maxItems"].as_u64() {
            self.put(of(most + 1), words::of_bound(&format!("at most {most}"), "items"));
        }
        self.within("0", &self.schema["items"]);
    }

    fn object(&mut self) {
        let schema = self.schema;
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            self.within(name, inner);
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            self.put_at(name.as_str().unwrap(), None, words::MISSING);
        }
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                for name in STRANGE {
                    self.put_at(name, Some(json!("x")), words::UNKNOWN);
                }
            }
            Some(further) if further.is_object() => {
                self.within(MEMBER, further);
                self.put_at("\0", Some(fitting(further)), words::NUL_IN_NAME);
                if let Some(most) = schema["maxProperties"].as_u64() {
                    let many: Map<String, Value> =
                        (0..=most).map(|number| (format!("Name-{number}"), fitting(further))).collect();
                    self.put(many.into(), words::of_bound(&format!("at most {most}"), "members"));
                }
            }
            // A tool's arguments: its own schema says what they are.
            Some(Value::Bool(true)) => {}
            _ => panic!("{schema} leaves open what else it may have"),
        }
    }
}
