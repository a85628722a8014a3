//! Reads JSON (RFC 8259) without recursion, to a bound of levels, noticing members given twice.
//!
//! serde_json stops at 128 levels, and lifting that bound makes it recurse as deep as the sender likes. Here the open
//! arrays and objects lie in a `Vec`, while texts and numbers are still read by serde_json. A property test holds this
//! reader to serde_json's own verdicts.

use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// Why a text is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is not JSON: a wrong sign, an unfinished value, a lone surrogate, a number out of range.
    Syntax,
    /// It opens more levels of arrays and objects than allowed.
    Depth,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The value; of a member given twice the last one stands.
    pub value: Value,
    /// The first member that was given twice in a watched object.
    pub repeated: Option<String>,
}

enum Open {
    List(Vec<Value>),
    Object { members: Map<String, Value>, member: String },
}

/// The most levels of what the database holds: above what any door lets in, since answers are wrapped before they are kept.
const KEPT_DEPTH: usize = 1_024;

/// Reads what we wrote ourselves.
pub fn kept(text: &str) -> crate::error::Result<Value> {
    read(text, KEPT_DEPTH, |_| false)
        .map(|parsed| parsed.value)
        .map_err(|fault| crate::error::Problem::internal(format!("a kept value does not read: {fault:?}")))
}

/// Reads `text`, which may open `max_depth` levels and give no member twice, wherever it is; `None` where it does.
///
/// For what is signed: two readers that take different ones of two members would see different tokens.
pub fn strict(text: &str, max_depth: usize) -> Option<Value> {
    let parsed = read_where(text, max_depth, |_| true).ok()?;
    parsed.repeated.is_none().then_some(parsed.value)
}

/// Reads `text`, which may open `max_depth` levels. `watched` is told the path to an object in which a member came twice
/// and says whether that counts: `[]` is the outermost object, `["params"]` the one under that member.
pub fn read(text: &str, max_depth: usize, watched: impl Fn(&[&str]) -> bool) -> Result<Parsed, Fault> {
    read_where(text, max_depth, |open| path(open).is_some_and(|path| watched(&path)))
}

fn read_where(text: &str, max_depth: usize, counts: impl Fn(&[Open]) -> bool) -> Result<Parsed, Fault> {
    let mut reader = Reader { text, at: 0 };
    let mut open: Vec<Open> = Vec::new();
    let mut repeated = None;
    loop {
        let Some(mut value) = reader.value(&mut open, max_depth)? else {
            continue;
        };
        loop {
            let Some(innermost) = open.pop() else {
                reader.space();
                return match reader.peek() {
                    None => Ok(Parsed { value, repeated }),
                    Some(_) => Err(Fault::Syntax),
                };
            };
            match innermost {
                Open::List(mut items) => {
                    items.push(value);
                    if reader.more(b']')? {
                        open.push(Open::List(items));
                        break;
                    }
                    value = Value::Array(items);
                }
                Open::Object { mut members, member } => {
                    match members.entry(member) {
                        Entry::Vacant(place) => {
                            place.insert(value);
                        }
                        Entry::Occupied(mut place) => {
                            if repeated.is_none() && counts(&open) {
                                repeated = Some(place.key().clone());
                            }
                            place.insert(value);
                        }
                    }
                    if reader.more(b'}')? {
                        let member = reader.member()?;
                        open.push(Open::Object { members, member });
                        break;
                    }
                    value = Value::Object(members);
                }
            }
        }
    }
}

/// The members that lead to the innermost object; none where an array lies between.
fn path(open: &[Open]) -> Option<Vec<&str>> {
    open.iter()
        .map(|frame| match frame {
            Open::Object { member, .. } => Some(member.as_str()),
            Open::List(_) => None,
        })
        .collect()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        self.space();
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(Fault::Syntax)
    }

    /// Whether a comma follows, and not the `end` of what is open.
    fn more(&mut self, end: u8) -> Result<bool, Fault> {
        self.space();
        let next = self.peek();
        self.at += 1;
        match next {
            Some(b',') => Ok(true),
            Some(byte) if byte == end => Ok(false),
            _ => Err(Fault::Syntax),
        }
    }

    /// One whole value, or none when an array or object was opened whose first value comes next.
    fn value(&mut self, open: &mut Vec<Open>, max_depth: usize) -> Result<Option<Value>, Fault> {
        self.space();
        let first = self.peek().ok_or(Fault::Syntax)?;
        if matches!(first, b'{' | b'[') {
            if open.len() >= max_depth {
                return Err(Fault::Depth);
            }
            self.at += 1;
            self.space();
        }
        match first {
            b'{' if self.peek() == Some(b'}') => {
                self.at += 1;
                Ok(Some(Value::Object(Map::new())))
            }
            b'[' if self.peek() == Some(b']') => {
                self.at += 1;
                Ok(Some(Value::Array(Vec::new())))
            }
            b'{' => {
                let member = self.member()?;
                let members = Map::new();
                open.push(Open::Object { members, member });
                Ok(None)
            }
            b'[' => {
                open.push(Open::List(Vec::new()));
                Ok(None)
            }
            b'"' => self.string().map(|text| Some(Value::String(text))),
            b't' => self.word("true", Value::Bool(true)).map(Some),
            b'f' => self.word("false", Value::Bool(false)).map(Some),
            b'n' => self.word("null", Value::Null).map(Some),
            _ => self.number().map(|number| Some(Value::Number(number))),
        }
    }

    fn member(&mut self) -> Result<String, Fault> {
        self.space();
        if self.peek() != Some(b'"') {
            return Err(Fault::Syntax);
        }
        let name = self.string()?;
        self.expect(b':')?;
        Ok(name)
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Fault> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(Fault::Syntax);
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Number, Fault> {
        let rest = &self.text.as_bytes()[self.at..];
        let length =
            rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
        let digits = self.text.get(self.at..self.at + length).ok_or(Fault::Syntax)?;
        self.at += length;
        digits.parse().map_err(|_| Fault::Syntax)
    }

    fn string(&mut self) -> Result<String, Fault> {
        let bytes = self.text.as_bytes();
        let (start, mut end, mut escaped) = (self.at, self.at + 1, false);
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    end += 2;
                }
                Some(0..=0x1f) | None => return Err(Fault::Syntax),
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        let quoted = self.text.get(start..=end).ok_or(Fault::Syntax)?;
        if escaped {
            return serde_json::from_str(quoted).map_err(|_| Fault::Syntax);
        }
        Ok(quoted[1..quoted.len() - 1].to_owned())
    }
}

/// Small values of every kind, for property tests.
#[cfg(test)]
pub(crate) fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;

    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(text: &str) -> Option<Value> {
        read(text, 100, |_| false).ok().map(|parsed| parsed.value)
    }

    #[test]
    fn levels_are_counted_and_bounded() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read(&nested(640), 640, |_| false).is_ok());
        assert_eq!(read(&nested(641), 640, |_| false), Err(Fault::Depth));
        assert_eq!(read(&"[".repeat(1_000_000), 640, |_| false), Err(Fault::Depth));
    }

    #[test]
    fn a_member_given_twice_is_told_where_it_is_watched() {
        let watched = |path: &[&str]| path == ["params"];
        let told = |text: &str| read(text, 9, watched).unwrap().repeated;
        assert_eq!(told(r#"{"params":{"a":1,"\u0061":2}}"#), Some("a".to_owned()));
        assert_eq!(told(r#"{"a":1,"a":2,"params":{"a":1}}"#), None);
        assert_eq!(told(r#"{"params":[{"a":1,"a":2}]}"#), None);
    }

    #[test]
    fn strict_takes_no_member_twice_anywhere() {
        assert!(strict(r#"{"a":[{"b":1},{"b":2}]}"#, 3).is_some());
        for text in [r#"{"a":1,"a":1}"#, r#"{"a":[{"b":1,"\u0062":2}]}"#, r#"[[[[1]]]]"#, r#"{"a":1"#] {
            assert!(strict(text, 3).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":1,}",
            "{,}",
            "[,]",
            "01",
            "1.",
            "+1",
            "1e400",
            "tru",
            "nullx",
            "1 2",
            "\"\\ud800\"",
            "\"\\q\"",
            "\"a\nb\"",
            "\"a\\",
            "'a'",
            "\u{feff}1",
            "[1}",
            "{\"a\":1]",
            "NaN",
            "\u{a0}1",
        ] {
            assert_eq!(plain(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn reads_as_serde_json_does(text in "[\\[\\]{}:,\" \\\\a-fntrul0-9eE.+\n-]{0,24}") {
            prop_assert_eq!(plain(&text), serde_json::from_str::<Value>(&text).ok());
        }

        #[test]
        fn reads_what_serde_json_writes(value in any_json()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(plain(&pretty), Some(value));
        }
    }
}
