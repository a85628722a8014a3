//! Addresses with placeholders: reading them from a file and filling them in, so that what a person fills in can
//! never move the address to another host.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use regex::Regex;
use url::Url;

use super::provider::PlaceholderIn;

/// All that is not unreserved (RFC 3986, section 2.3) is encoded, so that a value stays within its place.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The most characters of an address.
const MAX_ADDRESS: usize = 2048;

/// The most characters of a host (RFC 1035, section 2.3.4, as text).
const MAX_HOST: usize = 253;

const LABEL: &str = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static HOST_LABEL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"\A{LABEL}\z")).expect("the pattern of a label compiles"));

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static HOST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"\A{LABEL}(?:\.{LABEL})*\z")).expect("the pattern of a host compiles"));

/// An address of a provider file, cut into its parts; each may hold `{placeholder}`.
pub(super) struct Template<'a> {
    scheme: &'a str,
    authority: &'a str,
    rest: &'a str,
}

impl<'a> Template<'a> {
    /// Reads an address; `http` says whether the unencrypted scheme may stand in it. The error says what was expected.
    pub(super) fn parse(text: &'a str, http: bool) -> Result<Self, String> {
        if text.len() > MAX_ADDRESS {
            return Err("an address has at most 2,048 characters".into());
        }
        let (scheme, after) = match text.split_once("://") {
            Some(("https", after)) => ("https", after),
            Some(("http", after)) if http => ("http", after),
            _ => return Err("expected an https address".into()),
        };
        if text.chars().any(|c| !c.is_ascii_graphic() || c == '\\' || c == '#') {
            return Err(
                "expected an address of visible ASCII characters, without backslash and without fragment".into()
            );
        }
        let cut = after.find(['/', '?']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(cut);
        if authority.is_empty() || authority.contains('@') {
            return Err("expected an address with a host, and without user or password".into());
        }
        let template = Self { scheme, authority, rest };
        template.check()?;
        Ok(template)
    }

    /// Names of its placeholders, in order.
    pub(super) fn names(&self) -> Vec<&'a str> {
        pieces(self.authority).chain(pieces(self.rest)).filter_map(|(_, name)| name).collect()
    }

    /// Whether the placeholder stands where its file says it goes, and only there; the error says where it may.
    pub(super) fn takes(&self, name: &str, place: PlaceholderIn) -> Result<(), String> {
        let braced = format!("{{{name}}}");
        let host = self.host();
        let (path, query) = self.rest.split_once('?').unwrap_or((self.rest, ""));
        let in_labels = host.split('.').filter(|label| *label == braced).count();
        let in_segments = path.split('/').filter(|segment| *segment == braced).count();
        let in_query =
            query.split('&').filter(|pair| pair.split_once('=').is_some_and(|(_, value)| value == braced)).count();
        let all = self.names().iter().filter(|found| **found == name).count();
        let (found, expected) = match place {
            PlaceholderIn::HostLabel => {
                (if host.ends_with(&braced) { 0 } else { in_labels }, "a whole label of the host, and not its last")
            }
            PlaceholderIn::Host => {
                (usize::from(host == braced || host.ends_with(&format!(".{braced}"))), "the host or the end of it")
            }
            PlaceholderIn::Path => (in_segments, "a whole segment of the path"),
            PlaceholderIn::Query => (in_query, "the whole value of a query parameter"),
        };
        if found == all { Ok(()) } else { Err(format!("{braced} must be {expected}, as its placeholder says")) }
    }

    /// The address with every value in its place, or `None` when it would not be the address of the template any more.
    pub(super) fn fill(&self, values: &BTreeMap<String, String>) -> Option<String> {
        let authority = filled(self.authority, |name| values.get(name).cloned())?;
        let rest = filled(self.rest, |name| Some(utf8_percent_encode(values.get(name)?, RESERVED).to_string()))?;
        let text = format!("{}://{authority}{rest}", self.scheme);
        let url = Url::parse(&text).ok()?;
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse::<u16>().ok()?)),
            None => (authority.as_str(), None),
        };
        let same = url.scheme() == self.scheme
            && url.host_str() == Some(host)
            && host.len() <= MAX_HOST
            && (url.port() == port || port == url.port_or_known_default())
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none();
        same.then_some(text)
    }

    /// The host as written, without a port.
    fn host(&self) -> &'a str {
        self.authority.rsplit_once(':').map_or(self.authority, |(host, _)| host)
    }

    fn check(&self) -> Result<(), String> {
        for (text, name) in pieces(self.authority).chain(pieces(self.rest)) {
            if text.contains(['{', '}']) || name.is_some_and(|name| !is_name(name)) {
                return Err("expected {name} of lower-case letters, digits and underscores where braces are".into());
            }
        }
        let sample = self.names().into_iter().map(|name| (name.to_owned(), "x".to_owned()));
        match self.fill(&sample.collect()) {
            Some(_) => Ok(()),
            None => Err("expected an address with a host in plain lower-case text".into()),
        }
    }
}

/// Whether `value` may go to its place at all, whatever its pattern says; the error says what was expected.
pub(super) fn fits(value: &str, place: PlaceholderIn) -> Result<(), &'static str> {
    match place {
        PlaceholderIn::HostLabel if !HOST_LABEL.is_match(value) => {
            Err("must be 1 to 63 of a-z, 0-9 and -, without - at its ends: it becomes one part of a host's name")
        }
        PlaceholderIn::Host if value.len() > MAX_HOST || !HOST.is_match(value) => {
            Err("must be a host's name alone, in lower case: no scheme, port, path or user")
        }
        PlaceholderIn::Path if value.is_empty() || value == "." || value == ".." => {
            Err("must be a part of a path, and neither empty nor . nor ..")
        }
        PlaceholderIn::Path | PlaceholderIn::Query if value.chars().any(char::is_control) => {
            Err("must hold no control character")
        }
        _ => Ok(()),
    }
}

/// Whether `text` may be a placeholder's name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= 32
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Cuts text into plain pieces, each with the placeholder that follows it.
fn pieces(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut left = Some(text);
    std::iter::from_fn(move || {
        let text = left?;
        let found = text
            .split_once('{')
            .and_then(|(before, after)| after.split_once('}').map(|(name, rest)| (before, name, rest)));
        Some(match found {
            Some((before, name, rest)) => {
                left = Some(rest);
                (before, Some(name))
            }
            None => {
                left = None;
                (text, None)
            }
        })
    })
}

fn filled(text: &str, value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    for (plain, name) in pieces(text) {
        out.push_str(plain);
        if let Some(name) = name {
            out.push_str(&value(name)?);
        }
    }
    Some(out)
}
