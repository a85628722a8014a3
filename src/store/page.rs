//! Pages of a list: how many rows a caller asks for, and the opaque text that goes on where a page ended.
//!
//! An input has two plain fields, `limit` of [`Limit`] and `cursor` of [`Cursor`], both with `#[serde(default)]`. A cursor
//! is bound to a [`Subject`], the list with its filters, so that none goes on in a list it was not made for. It is not
//! encrypted: what it holds is a position that its reader has seen already.

use std::borrow::Cow;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Problem, Result};

/// Rows of a page when nothing is asked.
pub const DEFAULT_LIMIT: u8 = 20;
/// The most rows of a page.
pub const MAX_LIMIT: u8 = 100;
/// The most characters of a cursor.
pub const MAX_CURSOR: usize = 1_024;

/// How many rows a page shall have: 1 to 100, 20 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limit(u8);

impl Limit {
    /// The number of rows.
    pub fn rows(self) -> usize {
        usize::from(self.0)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(DEFAULT_LIMIT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        // JSON knows no whole numbers: 20.0 is one to JSON Schema, and some clients write it so.
        let number = f64::deserialize(deserializer)?;
        (1..=MAX_LIMIT)
            .find(|rows| f64::from(*rows).total_cmp(&number).is_eq())
            .map(Self)
            .ok_or_else(|| D::Error::invalid_value(Unexpected::Float(number), &"a whole number from 1 to 100"))
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_LIMIT,
            "description": "How many rows the page has at most.",
        })
    }
}

/// Where an earlier page ended, as the caller gives it back; nothing begins at the beginning.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Cursor(Option<String>);

impl JsonSchema for Cursor {
    fn schema_name() -> Cow<'static, str> {
        "Cursor".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "maxLength": MAX_CURSOR,
            "description": "The next_cursor of the page before, with the same other fields; left out for the first page.",
        })
    }
}

impl Cursor {
    /// A cursor given as text.
    pub fn given(text: impl Into<String>) -> Self {
        Self(Some(text.into()))
    }

    /// The key of the last row the caller has seen; `invalid_input` at `/cursor` when it is none of `subject`'s.
    pub fn read<K: DeserializeOwned>(&self, subject: &Subject) -> Result<Option<K>> {
        let Some(text) = &self.0 else { return Ok(None) };
        let Written { subject: of, key } = open(text)
            .ok_or_else(|| Problem::invalid("/cursor", "is no cursor; give the next_cursor of a page as it came"))?;
        if of != subject.0 {
            return Err(Problem::invalid(
                "/cursor",
                "belongs to another list or other filters; leave it out to begin at the first page",
            ));
        }
        // The key goes into a statement, and PostgreSQL takes no NUL: a cursor made up with one is none.
        let key = if key.to_string().contains("\\u0000") { serde_json::Value::Null } else { key };
        serde_json::from_value(key).map(Some).map_err(|_| {
            Problem::invalid("/cursor", "is no cursor of this list; leave it out to begin at the first page")
        })
    }
}

/// The list a cursor goes on in: its org, its playbook, its filters and its order, as a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject(String);

impl Subject {
    /// The list that `list` names, narrowed by `parts`. Parts are told apart, so `["a", "b"]` is not `["ab"]`.
    pub fn of(list: &str, parts: &[&str]) -> Self {
        let text = serde_json::json!([list, parts]).to_string();
        Self(URL_SAFE_NO_PAD.encode(&digest(&SHA256, text.as_bytes()).as_ref()[..16]))
    }

    /// The cursor after the row of `key`.
    pub fn cursor(&self, key: &impl Serialize) -> Result<String> {
        let written = Written { subject: self.0.clone(), key: serde_json::to_value(key)? };
        Ok(URL_SAFE_NO_PAD.encode(serde_json::to_vec(&written)?))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    subject: String,
    key: serde_json::Value,
}

fn open(text: &str) -> Option<Written> {
    if text.len() > MAX_CURSOR {
        return None;
    }
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cursor_goes_on_in_its_own_list_alone() {
        let subject = Subject::of("events", &["acme", "repair-shop", "desc"]);
        let cursor = Cursor::given(subject.cursor(&17_i64).unwrap());
        assert_eq!(cursor.read::<i64>(&subject).unwrap(), Some(17));
        assert_eq!(Cursor::default().read::<i64>(&subject).unwrap(), None);

        let other = Subject::of("events", &["acme", "bike-shop", "desc"]);
        let foreign = cursor.read::<i64>(&other).unwrap_err();
        let broken = Cursor::given("17").read::<i64>(&subject).unwrap_err();
        for refusal in [&foreign, &broken] {
            assert_eq!((refusal.status(), refusal.issues()[0].pointer.as_str()), (422, "/cursor"));
        }
        assert_ne!(foreign.detail(), broken.detail());
    }

    #[test]
    fn parts_of_a_subject_do_not_run_into_each_other() {
        assert_ne!(Subject::of("events", &["ab", "c"]), Subject::of("events", &["a", "bc"]));
    }

    #[test]
    fn a_limit_is_a_whole_number_from_1_to_100() {
        let rows = |value| serde_json::from_value::<Limit>(value).map(Limit::rows).ok();
        assert_eq!([rows(json!(1)), rows(json!(100)), rows(json!(20.0))], [Some(1), Some(100), Some(20)]);
        for bad in [json!(0), json!(101), json!(-1), json!(1.5), json!("20"), json!(null)] {
            assert_eq!(rows(bad.clone()), None, "{bad}");
        }
        assert_eq!(Limit::default().rows(), 20);
    }

    proptest! {
        #[test]
        fn no_text_made_up_is_a_cursor(text in "\\PC{0,200}") {
            let subject = Subject::of("events", &["acme", "repair-shop"]);
            let refusal = Cursor::given(text).read::<i64>(&subject).unwrap_err();
            prop_assert_eq!(refusal.issues()[0].pointer.as_str(), "/cursor");
        }

        #[test]
        fn nor_are_made_up_bytes_in_the_form_of_one(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let subject = Subject::of("events", &["acme", "repair-shop"]);
            let text = URL_SAFE_NO_PAD.encode(bytes);
            prop_assert!(Cursor::given(text).read::<i64>(&subject).is_err());
        }

        #[test]
        fn every_key_comes_back(key in any::<(i64, String)>(), list in "\\PC{0,20}") {
            let subject = Subject::of(&list, &[]);
            let cursor = subject.cursor(&key).unwrap();
            prop_assume!(cursor.len() <= MAX_CURSOR);
            prop_assert_eq!(Cursor::given(cursor).read::<(i64, String)>(&subject).unwrap(), Some(key));
        }

        #[test]
        fn a_cursor_with_a_changed_character_is_of_no_use(position in any::<prop::sample::Index>(), with in "[A-Za-z0-9_-]") {
            let subject = Subject::of("events", &["acme"]);
            let mut text = subject.cursor(&"key").unwrap();
            let at = position.index(22);
            prop_assume!(text[at..=at] != with);
            text.replace_range(at..=at, &with);
            prop_assert!(Cursor::given(text).read::<String>(&subject).is_err());
        }
    }
}
