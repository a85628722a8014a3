//! Foreign words made fit to be shown: no character that hides, turns or moves its neighbours (security cases 25 and 26).
//!
//! Cleaning is apart from escaping: templates escape every value as HTML; these types take care of what escaping leaves.

use std::borrow::Cow;
use std::fmt;

use url::Url;

/// What stands for a character that is not shown.
const MARK: char = '\u{FFFD}';

/// Words from outside, such as a title or a name, in which every control, bidi or invisible character is shown as `�`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// The cleaned words.
    pub fn new(words: impl AsRef<str>) -> Self {
        Self(clean(words.as_ref()).into_owned())
    }

    /// The words as they are shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first letter or digit in upper case, for the tile beside a title; `·` where there is none.
    pub fn initial(&self) -> String {
        match self.0.chars().find(|character| character.is_alphanumeric()) {
            Some(character) => character.to_uppercase().collect(),
            None => "·".to_owned(),
        }
    }
}

impl<S: AsRef<str>> From<S> for Text {
    fn from(words: S) -> Self {
        Self::new(words)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `words` with each character that may not be shown as `�`.
pub fn clean(words: &str) -> Cow<'_, str> {
    if words.chars().any(is_hidden) {
        let shown = |character| if is_hidden(character) { MARK } else { character };
        Cow::Owned(words.chars().map(shown).collect())
    } else {
        Cow::Borrowed(words)
    }
}

/// Control characters, and those Unicode draws as nothing or as a turn of direction (UAX 9, and default ignorables of
/// UAX 44). Variation selectors stay: they only choose between two drawings of the character before.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}'
            | '\u{2800}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The host a connection really goes to, in ASCII: a name with other letters is shown in its punycode (RFC 3492).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host(String);

impl Host {
    /// The host of `address`, which is a URL or a bare host; with its port where it is not the usual one. What has no
    /// readable host is shown with every character that is not visible ASCII as `�`.
    pub fn of(address: &str) -> Self {
        let url = match Url::parse(address) {
            Ok(url) if url.has_host() => Some(url),
            _ => Url::parse(&format!("https://{address}")).ok(),
        };
        let host = url.and_then(|url| {
            let host = url.host_str()?.to_owned();
            Some(match url.port() {
                Some(port) => format!("{host}:{port}"),
                None => host,
            })
        });
        let ascii = |character: char| if character.is_ascii_graphic() { character } else { MARK };
        Self(host.unwrap_or_else(|| address.chars().map(ascii).collect()))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An address a page may link to: https, without a user or password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpsLink {
    address: String,
    host: Host,
}

impl HttpsLink {
    /// The link, or `None` for anything else than an https address (`javascript:`, `data:`, http, no address at all).
    pub fn new(address: &str) -> Option<Self> {
        let url = Url::parse(address).ok()?;
        let fit = url.scheme() == "https" && url.has_host() && url.username().is_empty() && url.password().is_none();
        fit.then(|| Self { host: Host::of(url.as_str()), address: url.into() })
    }

    /// Where it leads, told beside the link.
    pub fn host(&self) -> &Host {
        &self.host
    }
}

impl fmt::Display for HttpsLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn turns_of_direction_and_hidden_characters_become_a_mark() {
        for (given, shown) in [
            ("Notion", "Notion"),
            ("Über Größe 東京", "Über Größe 東京"),
            ("pay\u{202E}lap", "pay�lap"),
            ("a\u{200B}b\u{FEFF}", "a�b�"),
            ("two\nlines\u{0}", "two�lines�"),
            ("\u{2066}in\u{2069}", "�in�"),
        ] {
            assert_eq!(Text::new(given).as_str(), shown);
        }
    }

    #[test]
    fn a_tile_shows_the_first_letter() {
        assert_eq!(Text::new("  notion").initial(), "N");
        assert_eq!(Text::new("ärger").initial(), "Ä");
        assert_eq!(Text::new("…").initial(), "·");
    }

    #[test]
    fn a_host_is_ascii_and_keeps_an_unusual_port() {
        for (given, shown) in [
            ("https://api.notion.com/v1", "api.notion.com"),
            ("https://api.notion.com:443/", "api.notion.com"),
            ("http://localhost:9000/mcp", "localhost:9000"),
            ("https://b\u{FC}cher.example/", "xn--bcher-kva.example"),
            ("b\u{FC}cher.example", "xn--bcher-kva.example"),
            ("localhost:9000", "localhost:9000"),
            ("https://user:word@evil.example@good.example/", "good.example"),
            ("http://[::1]:8080/", "[::1]:8080"),
            ("a b", "a�b"),
        ] {
            assert_eq!(Host::of(given).to_string(), shown);
        }
    }

    #[test]
    fn only_https_is_linked() {
        for address in [
            "javascript:alert(1)",
            "data:text/html,x",
            "http://a.example/",
            "https://u:p@a.example/",
            "",
            "//a.example",
        ] {
            assert_eq!(HttpsLink::new(address), None, "{address}");
        }
        let link = HttpsLink::new("https://docs.example/key?a=1").unwrap();
        assert_eq!(link.to_string(), "https://docs.example/key?a=1");
        assert_eq!(link.host().to_string(), "docs.example");
    }

    proptest! {
        #[test]
        fn whatever_comes_in_nothing_hidden_comes_out(words in any::<String>()) {
            let shown = clean(&words);
            prop_assert!(!shown.chars().any(is_hidden));
            prop_assert_eq!(shown.chars().count(), words.chars().count());
        }

        #[test]
        fn a_host_is_always_visible_ascii_or_the_mark(address in any::<String>()) {
            prop_assert!(Host::of(&address).to_string().chars().all(|c| c.is_ascii_graphic() || c == MARK));
        }
    }
}
