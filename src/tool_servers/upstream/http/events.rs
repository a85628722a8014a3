//! Server-sent events, as far as MCP uses them: the data of each event.
//!
//! The reader is our own: the kept crates for it refuse a whole stream for a field they do not know, where the HTML
//! standard (section 9.2.6) ignores it.

/// Takes pieces of a stream and gives the data of each event that is complete. What is held is bounded by the bound of
/// the answer itself.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    begun: bool,
    after_return: bool,
}

impl Events {
    /// The events that `piece` completes, oldest first.
    pub(super) fn take(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        let mut complete = Vec::new();
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            // A line ends with one of \n, \r and \r\n, and a piece may end between the two.
            let continues = self.after_return && end == 0 && rest[0] == b'\n';
            self.after_return = rest[end] == b'\r';
            if !continues {
                self.line.extend_from_slice(&rest[..end]);
                complete.extend(self.end_line());
            }
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.line.extend_from_slice(rest);
        }
        complete
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return std::mem::take(&mut self.has_data).then_some(data);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        if field == b"data" {
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Events;

    const STREAM: &[u8] =
        b"\xEF\xBB\xBF: hello\r\nid: 1\r\ndata: one\r\n\r\nevent: message\ndata:two\ndata: lines\nodd\n\n\rdata\r\rdata: unfinished\n";

    #[test]
    fn events_are_read_by_the_standard() {
        assert_eq!(Events::default().take(STREAM), [&b"one"[..], b"two\nlines", b""]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_stream_is_cut(cuts in proptest::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            cuts.push(STREAM.len());
            let mut events = Events::default();
            let mut read = Vec::new();
            let mut start = 0;
            for cut in cuts {
                read.extend(events.take(&STREAM[start..cut]));
                start = cut;
            }
            prop_assert_eq!(read, [&b"one"[..], b"two\nlines", b""]);
        }
    }
}
