//! What the program logs while a test runs, at the most talkative level and without the scrubbing of the real log.

use std::io::Write;
use std::sync::{Mutex, OnceLock};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

static LINES: OnceLock<Mutex<Vec<u8>>> = OnceLock::new();

/// Begins to keep every line of this process; again is the same.
pub fn keep() {
    LINES.get_or_init(|| {
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| Line);
        tracing_subscriber::registry().with(LevelFilter::TRACE).with(lines).init();
        Mutex::default()
    });
}

/// Everything logged since.
pub fn text() -> String {
    let lines = LINES.get().expect("logs::keep comes first").lock().unwrap();
    String::from_utf8_lossy(&lines).into_owned()
}

struct Line;

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(lines) = LINES.get() {
            lines.lock().unwrap().extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
