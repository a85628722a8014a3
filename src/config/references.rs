//! References in values: `${NAME}`, `${NAME:-text}`, and `$$` for a dollar sign.

use super::secret::Secret;
use super::{Environment, names};

/// A value whose references are resolved.
pub(super) struct Resolved {
    /// The whole value.
    pub(super) text: Secret,
    /// What each reference brought in.
    pub(super) brought: Vec<Secret>,
}

enum Part<'a> {
    Literal(&'a str),
    Reference { name: &'a str, fallback: Option<&'a str> },
}

const FORM: &str = "references as ${NAME} or ${NAME:-text}, and $$ for a dollar sign";

/// Whether `text` holds a reference, well-formed or not.
pub(super) fn any(text: &str) -> bool {
    text.contains("${")
}

/// `text` without what its references bring in: what somebody wrote out. A fallback is written out too.
pub(super) fn written_out(text: &str) -> Vec<&str> {
    let parts = parts(text).unwrap_or_else(|_| vec![Part::Literal(text)]);
    parts
        .into_iter()
        .filter_map(|part| match part {
            Part::Literal(text) => Some(text),
            Part::Reference { fallback, .. } => fallback,
        })
        .collect()
}

/// Resolves the references of `text`. A variable that is empty counts as not set. The error is what was expected.
pub(super) fn resolve(text: &str, environment: &Environment) -> Result<Resolved, String> {
    let mut whole = zeroize::Zeroizing::new(String::new());
    let mut brought = Vec::new();
    for part in parts(text)? {
        match part {
            Part::Literal(text) => whole.push_str(text),
            Part::Reference { name, fallback } => {
                let set = environment.get(name).filter(|value| !value.is_empty());
                let value = match (set, fallback) {
                    (Some(value), _) => value.as_str(),
                    (None, Some(fallback)) => fallback,
                    (None, None) => return Err(format!("the variable {name} to be set")),
                };
                whole.push_str(value);
                brought.push(Secret::new(value));
            }
        }
    }
    Ok(Resolved { text: Secret::new(whole.as_str()), brought })
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, &'static str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        let (before, from) = rest.split_at(dollar);
        parts.push(Part::Literal(before));
        if let Some(after) = from.strip_prefix("$$") {
            parts.push(Part::Literal("$"));
            rest = after;
        } else if let Some(inner) = from.strip_prefix("${") {
            let (inner, after) = inner.split_once('}').ok_or(FORM)?;
            let (name, fallback) = match inner.split_once(":-") {
                Some((name, fallback)) => (name, Some(fallback)),
                None => (inner, None),
            };
            if !names::is_variable(name) {
                return Err(FORM);
            }
            parts.push(Part::Reference { name, fallback });
            rest = after;
        } else {
            parts.push(Part::Literal("$"));
            rest = &from[1..];
        }
    }
    parts.push(Part::Literal(rest));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn resolved(text: &str) -> Result<String, String> {
        let environment =
            Environment::from([("NAME".to_owned(), "value".to_owned()), ("EMPTY".to_owned(), String::new())]);
        resolve(text, &environment).map(|resolved| resolved.text.expose().to_owned())
    }

    #[test]
    fn references_fallbacks_and_dollar_signs() {
        assert_eq!(resolved("Bearer ${NAME}!").unwrap(), "Bearer value!");
        assert_eq!(resolved("${OTHER:-text}${NAME:-unused}").unwrap(), "textvalue");
        assert_eq!(resolved("${EMPTY:-}").unwrap(), "");
        assert_eq!(resolved("$${NAME} costs 5$ or $$6").unwrap(), "${NAME} costs 5$ or $6");
        assert_eq!(resolved("${OTHER}").unwrap_err(), "the variable OTHER to be set");
        assert_eq!(resolved("${EMPTY}").unwrap_err(), "the variable EMPTY to be set");
        for text in ["${", "${NAME", "${}", "${a b}", "${1A}", "${NAME-x}"] {
            assert_eq!(resolved(text).unwrap_err(), FORM, "{text}");
        }
    }

    proptest! {
        #[test]
        fn doubled_dollar_signs_bring_any_text_through(text in ".*") {
            prop_assert_eq!(resolved(&text.replace('$', "$$")).unwrap(), text);
        }

        #[test]
        fn nothing_panics(text in "[${}:A-Z-]{0,24}") {
            let _ = resolved(&text);
        }
    }
}
