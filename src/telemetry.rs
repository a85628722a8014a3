//! The log: one line an event on stderr, JSON or for a person, with every registered secret taken out.
//!
//! Start at [`start`]. Whoever learns a secret hands it to the one [`SecretRegistry`] of the server; from then on no line
//! of the log holds it, as it is or as JSON writes it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::LogFormat;

/// Values shorter than this are not scrubbed: they would take ordinary words with them.
pub const SHORTEST_SECRET: usize = 8;

/// The most characters of one value in a line, such as a cause or a server's words.
pub const LONGEST_VALUE: usize = 2_000;

/// What stands in place of a secret.
pub const SCRUBBED: &str = "[scrubbed]";

/// The values that may leave the server nowhere but to whom they are meant for.
#[derive(Default)]
pub struct SecretRegistry {
    known: Mutex<Vec<zeroize::Zeroizing<String>>>,
    matcher: RwLock<Option<AhoCorasick>>,
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
        if known.iter().any(|other| other.as_str() == secret) {
            return;
        }
        known.push(zeroize::Zeroizing::new(secret.to_owned()));
        for written in escaped(secret) {
            if known.iter().all(|other| other.as_str() != written) {
                known.push(zeroize::Zeroizing::new(written));
            }
        }
        let matcher = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(known.iter().map(|text| text.as_str()))
            .ok();
        *self.matcher.write().unwrap_or_else(PoisonError::into_inner) = matcher;
    }

    /// `text` without any registered secret.
    pub fn scrub(&self, text: &str) -> String {
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
}

/// How a line may write `secret`: as JSON does, and as `Debug` does, which differ in what they escape.
fn escaped(secret: &str) -> Vec<String> {
    let inner = |quoted: String| quoted.get(1..quoted.len().saturating_sub(1)).map(str::to_owned);
    let json = serde_json::to_string(secret).ok().and_then(inner);
    let debug = inner(format!("{secret:?}"));
    // A value escaped by Debug inside a JSON string is escaped twice.
    let both = debug
        .as_ref()
        .and_then(|text| serde_json::to_string(text).ok())
        .and_then(inner);
    [json, debug, both]
        .into_iter()
        .flatten()
        .filter(|text| text != secret)
        .collect()
}

/// `text` as one line of at most [`LONGEST_VALUE`] characters, line breaks and control characters escaped.
pub fn value(text: &str) -> String {
    let mut line = String::new();
    for c in text.chars().take(LONGEST_VALUE) {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    if text.chars().nth(LONGEST_VALUE).is_some() {
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
    let lines = Lines {
        secrets,
        sink: io::stderr as fn() -> io::Stderr,
    };
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
            let layer = tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_writer(lines);
            Box::new(registry.with(layer))
        }
        LogFormat::Pretty => {
            let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(lines);
            Box::new(registry.with(layer))
        }
    }
}

/// Makes a writer for each line; the line is scrubbed whole, then written at once.
struct Lines<W> {
    secrets: Arc<SecretRegistry>,
    sink: W,
}

impl<'a, W: Write, F: Fn() -> W> MakeWriter<'a> for Lines<F> {
    type Writer = Line<W>;

    fn make_writer(&'a self) -> Line<W> {
        Line {
            secrets: Arc::clone(&self.secrets),
            text: Vec::new(),
            sink: (self.sink)(),
        }
    }
}

struct Line<W: Write> {
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
        let body = self.secrets.scrub(text.trim_end_matches('\n'));
        let line: String = body
            .chars()
            .map(|c| if c == '\n' || c == '\r' { ' ' } else { c })
            .collect();
        // A log that cannot be written has nowhere to say so.
        let _ = self.sink.write_all(format!("{line}\n").as_bytes());
    }
}
