//! Reading lines with a bound, and the process's own words to the log.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::ChildStderr;
use tokio::time::{Duration, Instant};

use crate::tool_servers::upstream::Scrub;
use crate::tool_servers::upstream::trouble::tidy;

/// What is read of one line of stderr; more is skipped. Longer than what is logged, so that the cut comes after scrubbing.
const STDERR_READ: usize = 16 << 10;
const STDERR_LINE: usize = 4 << 10;
const STDERR_LINES_A_SECOND: u32 = 100;

/// One line that was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// The beginning of a line that is longer than the bound; the rest is still unread.
    TooLong(Vec<u8>),
    /// There is no more.
    End,
}

/// Reads the next line, holding at most `bound` bytes of it.
pub(super) async fn read_line(reader: &mut (impl AsyncBufRead + Unpin), bound: usize) -> io::Result<Line> {
    let mut line = Vec::new();
    let limit = u64::try_from(bound).unwrap_or(u64::MAX).saturating_add(1);
    if reader.take(limit).read_until(b'\n', &mut line).await? == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Line::Whole(line));
    }
    Ok(if line.len() > bound { Line::TooLong(line) } else { Line::Whole(line) })
}

/// Logs what a process says on stderr, scrubbed, in lines of at most 4 KiB and at most a hundred a second.
pub(super) async fn log_stderr(stderr: ChildStderr, command: String, scrub: Scrub) {
    let mut reader = BufReader::new(stderr);
    let mut second = Instant::now();
    let mut lines = 0_u32;
    let mut continues = false;
    while let Ok(line) = read_line(&mut reader, STDERR_READ).await {
        let (text, more) = match line {
            Line::Whole(text) => (text, false),
            Line::TooLong(text) => (text, true),
            Line::End => break,
        };
        // Only the beginning of a long line is told.
        if std::mem::replace(&mut continues, more) {
            continue;
        }
        if second.elapsed() >= Duration::from_secs(1) {
            if lines > STDERR_LINES_A_SECOND {
                let left_out = lines - STDERR_LINES_A_SECOND;
                tracing::warn!(process.command = command, left_out, "a tool server says too much to log it all");
            }
            (second, lines) = (Instant::now(), 0);
        }
        lines = lines.saturating_add(1);
        if lines <= STDERR_LINES_A_SECOND {
            let text = tidy(&scrub(&String::from_utf8_lossy(&text)), STDERR_LINE);
            tracing::info!(process.command = command, text, "a tool server says");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_read_up_to_their_bound() {
        let mut reader = BufReader::new(&b"one\n12345678\nend"[..]);
        let mut read = Vec::new();
        loop {
            match read_line(&mut reader, 5).await.unwrap() {
                Line::End => break,
                line => read.push(line),
            }
        }
        assert_eq!(
            read,
            [
                Line::Whole(b"one".to_vec()),
                Line::TooLong(b"123456".to_vec()),
                Line::Whole(b"78".to_vec()),
                Line::Whole(b"end".to_vec()),
            ]
        );
    }
}
