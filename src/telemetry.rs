//! The log: one line an event on stderr, JSON or for a person, with every registered secret taken out.
//!
//! Start at [`start`]. Whoever learns a secret hands it to the one [`SecretRegistry`] of the server; from then on no line
//! of the log holds it, as it is or as JSON writes it.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use zeroize::Zeroizing;

use crate::config::LogFormat;
use crate::digest::sha256;

/// Values shorter than this are not scrubbed: they would take ordinary words with them.
pub const SHORTEST_SECRET: usize = 8;

/// The most characters of one value in a line, such as a cause or a server's words.
pub const LONGEST_VALUE: usize = 2_000;

/// What stands in place of a secret.
pub const SCRUBBED: &str = "[scrubbed]";

/// The most characters of a line for a person.
const LONGEST_LINE: usize = 8 * LONGEST_VALUE;

/// The values that may go nowhere but to whom they are meant for.
#[derive(Default)]
pub struct SecretRegistry {
    known: Mutex<Known>,
    matcher: RwLock<Option<AhoCorasick>>,
}

#[derive(Default)]
struct Known {
    secrets: Vec<Zeroizing<String>>,
    /// Digests of them, since one is registered at each use.
    digests: HashSet<[u8; 32]>,
    /// Whether the matcher is older than the list; many may be registered before the next line is written.
    changed: bool,
}

impl SecretRegistry {
    /// A registry that knows nothing yet.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// From now on `secret` is taken out of every line. One shorter than [`SHORTEST_SECRET`] characters is not.
    pub fn register(&self, secret: &str) {
        if secret.chars().count() < SHORTEST_SECRET {
            return;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.digests.insert(sha256(secret)) {
            known.secrets.push(Zeroizing::new(secret.to_owned()));
            known.changed = true;
        }
    }

    /// Lets go of a secret that opens nothing any more, such as a token that was renewed.
    pub fn forget(&self, secret: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.secrets.len();
        known.digests.remove(&sha256(secret));
        known.secrets.retain(|other| other.as_str() != secret);
        known.changed |= known.secrets.len() < before;
    }

    /// `text` without any registered secret, as it is or as JSON or `Debug` write it.
    pub fn scrub(&self, text: &str) -> String {
        self.rebuild_when_changed();
        match &*self.matcher.read().unwrap_or_else(PoisonError::into_inner) {
            None => text.to_owned(),
            Some(matcher) => {
                let mut clean = String::with_capacity(text.len());
                matcher.replace_all_with(text, &mut clean, |_, _, out| {
                    out.push_str(SCRUBBED);
                    true
                });
                clean
            }
        }
    }

    fn rebuild_when_changed(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.changed {
            return;
        }
        known.changed = false;
        let mut forms: Vec<Zeroizing<String>> = Vec::new();
        for secret in &known.secrets {
            forms.extend(escaped(secret).into_iter().map(Zeroizing::new));
        }
        let all = known.secrets.iter().chain(&forms).map(|text| text.as_str());
        let matcher = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(all).ok();
        // Still under the lock of the list, so that an older matcher never replaces a newer one.
        *self.matcher.write().unwrap_or_else(PoisonError::into_inner) = matcher;
    }
}

/// How a line may write `secret`: as JSON does, and as `Debug` does, which differ in what they escape.
fn escaped(secret: &str) -> Vec<String> {
    let inner = |quoted: String| quoted.get(1..quoted.len().saturating_sub(1)).map(str::to_owned);
    let json = serde_json::to_string(secret).ok().and_then(inner);
    let debug = inner(format!("{secret:?}"));
    // A value escaped by Debug inside a JSON string is escaped twice.
    let both = debug.as_ref().and_then(|text| serde_json::to_string(text).ok()).and_then(inner);
    [json, debug, both].into_iter().flatten().filter(|text| text != secret).collect()
}

/// `text` as one line of at most `most` characters, line breaks and control characters escaped.
fn one_line(text: &str, most: usize) -> String {
    let mut line = String::with_capacity(text.len().min(most));
    for c in text.chars().take(most) {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    if text.chars().nth(most).is_some() {
        line.push('…');
    }
    line
}

/// Reads a filter such as `info` or `playmaker=debug,info`.
///
/// # Errors
///
/// When it is not one.
pub fn filter(text: &str) -> Result<EnvFilter, tracing_subscriber::filter::ParseError> {
    EnvFilter::builder().parse(text)
}

/// Starts the log of this process on stderr. Called once; a second start is refused.
///
/// # Errors
///
/// When the filter is not one, or a log was started before.
pub fn start(
    format: LogFormat,
    filter_text: &str,
    secrets: Arc<SecretRegistry>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let filter = filter(filter_text)?;
    let lines = Lines { format, secrets, sink: io::stderr as fn() -> io::Stderr };
    subscriber(format, filter, lines).try_init()?;
    Ok(())
}

fn subscriber<W>(format: LogFormat, filter: EnvFilter, lines: Lines<W>) -> Box<dyn tracing::Subscriber + Send + Sync>
where
    Lines<W>: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let registry = tracing_subscriber::registry().with(filter);
    match format {
        LogFormat::Json => {
            let layer = tracing_subscriber::fmt::layer().json().flatten_event(true).with_writer(lines);
            Box::new(registry.with(layer))
        }
        LogFormat::Pretty => {
            let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(lines);
            Box::new(registry.with(layer))
        }
    }
}

/// Makes a writer for each line; the line is scrubbed and cut whole, then written at once.
struct Lines<F> {
    format: LogFormat,
    secrets: Arc<SecretRegistry>,
    sink: F,
}

impl<'a, W: Write, F: Fn() -> W> MakeWriter<'a> for Lines<F> {
    type Writer = Line<W>;

    fn make_writer(&'a self) -> Line<W> {
        Line { format: self.format, secrets: Arc::clone(&self.secrets), text: Vec::new(), sink: (self.sink)() }
    }
}

struct Line<W: Write> {
    format: LogFormat,
    secrets: Arc<SecretRegistry>,
    text: Vec<u8>,
    sink: W,
}

impl<W: Write> Write for Line<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for Line<W> {
    fn drop(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(&self.text);
        // First scrubbed, then cut: the beginning of a secret must not stay behind.
        let clean = self.secrets.scrub(text.trim_end_matches('\n'));
        let line = match self.format {
            LogFormat::Json if clean.len() > LONGEST_VALUE => cut_values(&clean).unwrap_or(clean),
            LogFormat::Json => clean,
            LogFormat::Pretty => one_line(&clean, LONGEST_LINE),
        };
        // A log that cannot be written has nowhere to say so.
        let _ = self.sink.write_all(format!("{line}\n").as_bytes());
    }
}

/// A JSON line whose texts are at most [`LONGEST_VALUE`] characters long.
fn cut_values(line: &str) -> Option<String> {
    let mut object: Value = serde_json::from_str(line).ok()?;
    cut(&mut object);
    serde_json::to_string(&object).ok()
}

fn cut(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(LONGEST_VALUE) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(items) => items.iter_mut().for_each(cut),
        Value::Object(members) => members.values_mut().for_each(cut),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The lines that `work` logs under a filter, with `secrets` registered.
    fn lines(format: LogFormat, filter_text: &str, secrets: &[&str], work: impl Fn()) -> Vec<String> {
        let registry = SecretRegistry::new();
        secrets.iter().for_each(|secret| registry.register(secret));
        let shared = Shared::default();
        let sink = shared.clone();
        let lines = Lines { format, secrets: registry, sink: move || sink.clone() };
        tracing::subscriber::with_default(subscriber(format, filter(filter_text).unwrap(), lines), work);
        let text = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_json_line_has_message_level_and_annotations() {
        let lines = lines(LogFormat::Json, "info", &[], || {
            tracing::warn!(org.id = "north", tries = 3, "a server\nfailed");
            tracing::debug!("not shown");
        });
        let line: Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(lines.len(), 1);
        assert_eq!((&line["level"], &line["message"]), (&"WARN".into(), &"a server\nfailed".into()));
        assert_eq!((&line["org.id"], &line["tries"]), (&"north".into(), &3.into()));
        assert!(line["timestamp"].is_string());
    }

    #[test]
    fn a_line_for_a_person_is_one_line_without_control_characters() {
        let lines = lines(LogFormat::Pretty, "info", &[], || {
            tracing::info!(cause = %"first\r\nsecond\u{1b}[31m", "it broke");
        });
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("it broke") && lines[0].contains("second"), "{}", lines[0]);
        assert!(!lines[0].chars().any(char::is_control));
    }

    #[test]
    fn no_form_of_a_secret_is_in_any_line() {
        let secret = "pass\"word\\12\n34";
        for format in [LogFormat::Json, LogFormat::Pretty] {
            let lines = lines(format, "trace", &[secret, "12345678", "short"], || {
                let span = tracing::info_span!("call", key = secret);
                let _entered = span.enter();
                tracing::info!(shown = %secret, debugged = ?secret, number = 9_123_456_789_u64, "short {secret} end");
            });
            assert!(!lines[0].contains("word") && !lines[0].contains("12345678"), "{}", lines[0]);
            assert!(lines[0].contains(SCRUBBED) && lines[0].contains("short") && lines[0].contains("end"));
        }
    }

    #[test]
    fn long_values_are_cut_after_scrubbing() {
        let secret = "the-secret-across-the-cut";
        let long = format!("{}{secret}{}", "x".repeat(LONGEST_VALUE - 8), "y".repeat(9_000));
        let lines = lines(LogFormat::Json, "info", &[secret], || tracing::info!(cause = %long, "it broke"));
        let line: Value = serde_json::from_str(&lines[0]).unwrap();
        let cause = line["cause"].as_str().unwrap();
        assert_eq!(cause.chars().count(), LONGEST_VALUE + 1);
        assert!(!cause.contains("the-sec") && cause.ends_with('…'));
    }

    #[test]
    fn what_is_registered_later_counts_at_once_and_what_is_forgotten_no_more() {
        let registry = SecretRegistry::new();
        assert_eq!(registry.scrub("token-12345"), "token-12345");
        registry.register("token-12345");
        registry.register("token-12345-longer");
        assert_eq!(registry.scrub("a token-12345-longer token-12345"), "a [scrubbed] [scrubbed]");
        registry.forget("token-12345");
        assert_eq!(registry.scrub("token-12345"), "token-12345");
    }

    #[test]
    fn a_value_is_one_line() {
        assert_eq!(one_line("a\nb\tc", LONGEST_VALUE), "a\\nb\\tc");
        assert_eq!(one_line(&"ä".repeat(2_001), LONGEST_VALUE).chars().count(), 2_001);
    }
}
