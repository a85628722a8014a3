//! What a refusal says, keyword by keyword: the one place in the tests where these words stand.

use serde_json::Value;

/// Forms of texts, each with a word for what is allowed.
const FORMS: [(&str, &str); 13] = [
    ("^[a-z][a-z0-9-]{2,47}$", "must be 3 to 48 lowercase letters, digits and hyphens, beginning with a letter"),
    ("^[a-z][a-z0-9-]{0,31}$", "must be 1 to 32 lowercase letters, digits and hyphens, beginning with a letter"),
    ("^[A-Za-z0-9_.-]{1,128}$", "must be 1 to 128 letters, digits and the signs _ - . alone"),
    (r"^[A-Za-z0-9!#$%&'*+.^_|~-]+$", "must be letters, digits and the signs !#$%&'*+.^_|~- alone"),
    ("^conn_[0-9A-Za-z]{22}$", "must be the id of a connection, as list_connections shows it"),
    ("^[0-9a-f-]{36}(/[0-9]+)?$", "must be the id of an event, as list_playbook_events shows it"),
    ("^[!-~]+$", "must be 1 to 128 visible ASCII characters"),
    (r"\S", "must not be blank"),
    ("^[a-z0-9-]{1,32}$", "must be 1 to 32 lowercase letters, digits and hyphens"),
    ("^([a-z0-9-]{1,32}|key_[0-9A-Za-z]{22})$", "must be the id of a key, as list_keys shows it"),
    ("^inv_[0-9A-Za-z]{22}$", "must be the id of an invitation, as list_invitations shows it"),
    ("^grant_[0-9A-Za-z]{22}$", "must be the id of a grant, as list_grants shows it"),
    ("^person:user_[0-9A-Za-z]{22}$", "must be the caller id of a person, person:user_ and 22 letters and digits"),
];

pub const MISSING: &str = "is required and missing";
pub const UNKNOWN: &str = "is not a field here";
pub const EMPTY: &str = "must not be empty";
pub const NUL: &str = "must not hold the character NUL";
pub const NUL_IN_NAME: &str = "must not hold the character NUL in its name";

/// A value of the wrong type.
pub fn of_type(schema: &Value) -> &'static str {
    match schema["type"].as_str().unwrap_or_else(|| panic!("{schema} says no type")) {
        "string" => "must be text",
        "integer" => "must be a whole number",
        "number" => "must be a number",
        "boolean" => "must be true or false",
        "array" => "must be a list",
        "object" => "must be an object",
        other => panic!("{other} has no words yet"),
    }
}

/// A text that is none of the choices.
pub fn of_choice(choices: &[Value]) -> String {
    let choices: Vec<&str> = choices.iter().map(|choice| choice.as_str().unwrap()).collect();
    format!("must be one of {}", choices.join(", "))
}

/// A text of another form.
pub fn of_form(pattern: &str) -> &'static str {
    let known = FORMS.iter().find(|(form, _)| *form == pattern);
    known.unwrap_or_else(|| panic!("{pattern} has no words yet: nobody reads a pattern")).1
}

/// A text of another format.
pub fn of_format(format: &str) -> &'static str {
    match format {
        "uuid" => "must be a UUID",
        "date-time" => "must be an instant in ISO 8601 with its offset, such as 2026-10-01T09:30:00Z",
        other => panic!("{other} has no words yet"),
    }
}

/// More or less than a bound allows: `at most 100 characters`, `at least 1`.
pub fn of_bound(bound: &str, what: &str) -> String {
    if what.is_empty() { format!("must be {bound}") } else { format!("must have {bound} {what}") }
}
