//! Following the bytes of HTTP/1 requests: where each head ends, how long its body is, and where the next head begins.
//!
//! What is taken here is a part of what the parser behind takes, with the same meaning; what is written in a way that
//! two readers could take differently is refused (RFC 9112, sections 2.2, 5.1, 6.1, 6.3 and 11.2).

use http::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};

use super::LARGEST_HEAD;

/// The most lines of a head: as many as the parser behind takes.
const MOST_HEADERS: usize = 100;

/// Why a request is refused before anything reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The head is no HTTP/1 head, or not plainly one.
    Malformed,
    /// The length of the body is said twice, or in no plain way.
    Length,
    /// The head is larger than any may be.
    Large,
}

/// How far the bytes were clean, and what ended them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scanned {
    /// So many of the bytes may be passed on; the others are the beginning of a head.
    pub(super) clean: usize,
    /// What was found after them.
    pub(super) found: Found,
}

/// What was found after the clean bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing wrong.
    Nothing,
    /// A head that is refused.
    Refused(Fault),
    /// Chunks that are none: the body cannot be read on, nor anything after it.
    Broken,
}

/// Where in a request the bytes stand.
#[derive(Debug, Clone, Copy)]
enum Place {
    Head,
    Body { left: u64 },
    Chunk(Chunk),
}

/// Where in a chunked body (RFC 9112, section 7.1).
#[derive(Debug, Clone, Copy)]
enum Chunk {
    Size { digits: u8 },
    Space,
    Extension,
    SizeEnd,
    Data,
    DataEnd { cr: bool },
    Trailer { empty: bool },
    TrailerEnd { empty: bool },
}

/// Follows one connection.
#[derive(Debug)]
pub(super) struct Scanner {
    place: Place,
    /// Where the line begins that is being read, counted from the beginning of the head.
    line: usize,
    /// Empty lines before the head, in bytes.
    leading: usize,
    /// Bytes left of the chunk, or its size so far.
    chunk: u64,
}

impl Scanner {
    pub(super) fn new() -> Self {
        Self { place: Place::Head, line: 0, leading: 0, chunk: 0 }
    }

    /// Whether a body has begun and not ended.
    pub(super) fn in_body(&self) -> bool {
        !matches!(self.place, Place::Head)
    }

    /// Looks at `bytes`, of which the first `seen` were looked at before: the beginning of a head that was not whole.
    pub(super) fn scan(&mut self, bytes: &[u8], seen: usize) -> Scanned {
        let (mut clean, mut at) = (0, seen);
        while at < bytes.len() {
            match self.place {
                Place::Head => match self.head_end(&bytes[clean..], at - clean) {
                    Ok(None) => break,
                    Ok(Some(length)) => match body_of(&bytes[clean..clean + length]) {
                        Ok(place) => {
                            (self.place, self.line, self.leading, self.chunk) = (place, 0, 0, 0);
                            clean += length;
                            at = clean;
                        }
                        Err(fault) => return Scanned { clean, found: Found::Refused(fault) },
                    },
                    Err(fault) => return Scanned { clean, found: Found::Refused(fault) },
                },
                Place::Body { left } => {
                    at += passed(left, bytes.len() - at);
                    let left = left - (at - clean) as u64;
                    clean = at;
                    self.place = if left == 0 { Place::Head } else { Place::Body { left } };
                }
                Place::Chunk(Chunk::Data) => {
                    at += passed(self.chunk, bytes.len() - at);
                    self.chunk -= (at - clean) as u64;
                    clean = at;
                    if self.chunk == 0 {
                        self.place = Place::Chunk(Chunk::DataEnd { cr: false });
                    }
                }
                Place::Chunk(chunk) => match self.chunk_byte(chunk, bytes[at]) {
                    Some(place) => {
                        self.place = place;
                        at += 1;
                        clean = at;
                    }
                    None => return Scanned { clean, found: Found::Broken },
                },
            }
        }
        Scanned { clean, found: Found::Nothing }
    }

    /// The length of the head at the beginning of `bytes`, once it is whole. Every line must end as a line ends: a line
    /// feed alone is an end to some readers and none to others.
    fn head_end(&mut self, bytes: &[u8], seen: usize) -> Result<Option<usize>, Fault> {
        if self.line == self.leading && bytes.get(self.line).is_some_and(|first| !begins_head(*first)) {
            return Err(Fault::Malformed);
        }
        let mut at = seen;
        while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\n') {
            let end = at + found;
            if end >= LARGEST_HEAD {
                return Err(Fault::Large);
            }
            if end == self.line || bytes[end - 1] != b'\r' {
                return Err(Fault::Malformed);
            }
            at = end + 1;
            if end - self.line > 1 {
                self.line = at;
                continue;
            }
            if self.line > self.leading {
                return Ok(Some(at));
            }
            // Empty lines before a head are passed over (RFC 9112, section 2.2).
            (self.line, self.leading) = (at, at);
            if bytes.get(at).is_some_and(|first| !begins_head(*first)) {
                return Err(Fault::Malformed);
            }
        }
        if bytes.len() > LARGEST_HEAD { Err(Fault::Large) } else { Ok(None) }
    }

    /// One byte of what lies around the chunks; `None` when it may not stand there.
    fn chunk_byte(&mut self, chunk: Chunk, byte: u8) -> Option<Place> {
        let next = match (chunk, byte) {
            (Chunk::Size { digits }, _) if byte.is_ascii_hexdigit() && digits < 16 => {
                let digit = char::from(byte).to_digit(16)?;
                self.chunk = (self.chunk << 4) | u64::from(digit);
                Chunk::Size { digits: digits + 1 }
            }
            (Chunk::Size { digits: 0 }, _) => return None,
            (Chunk::Size { .. } | Chunk::Space, b' ' | b'\t') => Chunk::Space,
            (Chunk::Size { .. } | Chunk::Space, b';') => Chunk::Extension,
            (Chunk::Size { .. } | Chunk::Space | Chunk::Extension, b'\r') => Chunk::SizeEnd,
            (Chunk::Extension, _) if byte != b'\n' && byte != 0 => Chunk::Extension,
            (Chunk::SizeEnd, b'\n') if self.chunk == 0 => Chunk::Trailer { empty: true },
            (Chunk::SizeEnd, b'\n') => Chunk::Data,
            (Chunk::DataEnd { cr: false }, b'\r') => Chunk::DataEnd { cr: true },
            (Chunk::DataEnd { cr: true }, b'\n') => Chunk::Size { digits: 0 },
            (Chunk::Trailer { empty }, b'\r') => Chunk::TrailerEnd { empty },
            (Chunk::Trailer { .. }, _) if byte != b'\n' && byte != 0 => Chunk::Trailer { empty: false },
            (Chunk::TrailerEnd { empty: true }, b'\n') => return Some(Place::Head),
            (Chunk::TrailerEnd { empty: false }, b'\n') => Chunk::Trailer { empty: true },
            _ => return None,
        };
        Some(Place::Chunk(next))
    }
}

/// Whether a head may begin so: a method is a token, and an empty line may come before it. Anything else, such as the
/// greeting of TLS, is told at once instead of being waited for.
fn begins_head(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"\r!#$%&'*+-.^_`|~".contains(&byte)
}

/// So many of `there` bytes belong to what still has `left`.
fn passed(left: u64, there: usize) -> usize {
    usize::try_from(left).map_or(there, |left| left.min(there))
}

/// What follows a whole head.
fn body_of(head: &[u8]) -> Result<Place, Fault> {
    let mut headers = [const { std::mem::MaybeUninit::uninit() }; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut []);
    match request.parse_with_uninit_headers(head, &mut headers) {
        Ok(httparse::Status::Complete(length)) if length == head.len() => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Fault::Large),
        _ => return Err(Fault::Malformed),
    }
    let (mut length, mut chunked, mut hosted) = (None, false, false);
    for header in &*request.headers {
        if header.name.eq_ignore_ascii_case(CONTENT_LENGTH.as_str()) {
            let told = plain_length(header.value).ok_or(Fault::Length)?;
            if length.replace(told).is_some() {
                return Err(Fault::Length);
            }
        } else if header.name.eq_ignore_ascii_case(TRANSFER_ENCODING.as_str()) {
            let plain = header.value.eq_ignore_ascii_case(b"chunked") && request.version == Some(1) && !chunked;
            if !plain {
                return Err(Fault::Length);
            }
            chunked = true;
        } else if header.name.eq_ignore_ascii_case(HOST.as_str()) && std::mem::replace(&mut hosted, true) {
            // RFC 9112, section 3.2: whose request it would be, two readers could take differently.
            return Err(Fault::Malformed);
        }
    }
    match (length, chunked) {
        (Some(_), true) => Err(Fault::Length),
        (None, true) => Ok(Place::Chunk(Chunk::Size { digits: 0 })),
        (None | Some(0), false) => Ok(Place::Head),
        (Some(left), false) => Ok(Place::Body { left }),
    }
}

/// A length of digits alone, of which no reader makes anything else.
fn plain_length(value: &[u8]) -> Option<u64> {
    let digits = (1..=18).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| digits)?.parse().ok()
}
