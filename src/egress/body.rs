//! The body of an answer: decompressed here, since only the one who decompresses sees both sizes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_compression::tokio::bufread::{BrotliDecoder, GzipDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::{Bytes, BytesMut};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::{Instant, timeout_at};
use tokio_util::io::StreamReader;

use super::Failure;

/// How much larger than what was sent an answer may be, once it is over [`RATIO_FROM`].
const MAX_RATIO: u64 = 100;

/// Bytes under which the ratio does not count.
const RATIO_FROM: u64 = 1 << 20;

/// Bytes decompressed at once.
const PIECE: usize = 16 << 10;

/// The largest window of zstd, as a power of two, that RFC 9659 asks a receiver to take.
const ZSTD_WINDOW: u32 = 23;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Not at all.
    Plain,
    /// gzip (RFC 1952).
    Gzip,
    /// brotli (RFC 7932).
    Brotli,
    /// zstd (RFC 8878).
    Zstd,
}

impl Encoding {
    /// What is asked for.
    pub(super) const ACCEPTED: &'static str = "gzip, br, zstd";

    /// The encoding `headers` tell; [`Failure::Broken`] for one that was not asked for, or for several.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Failure> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            let none = headers.get(CONTENT_ENCODING).is_none();
            return if none { Ok(Self::Plain) } else { Err(Failure::Broken) };
        };
        let value = value.to_str().map_err(|_| Failure::Broken)?.trim().to_ascii_lowercase();
        match value.as_str() {
            "" | "identity" => Ok(Self::Plain),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "br" => Ok(Self::Brotli),
            "zstd" => Ok(Self::Zstd),
            _ => Err(Failure::Broken),
        }
    }
}

enum Source {
    Plain(BoxStream<'static, io::Result<Bytes>>),
    Decoded(Pin<Box<dyn AsyncRead + Send>>),
}

/// The body of an answer, decompressed and bounded while it is read.
pub struct Body {
    source: Source,
    received: Arc<AtomicU64>,
    produced: u64,
    limit: u64,
    deadline: Instant,
}

impl Body {
    /// The body of `response`, of at most `limit` bytes, to be read before `deadline`.
    pub(super) fn new(response: reqwest::Response, encoding: Encoding, limit: usize, deadline: Instant) -> Self {
        let received = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&received);
        let raw = response
            .bytes_stream()
            .map_err(io::Error::other)
            .inspect_ok(move |piece| {
                counter.fetch_add(piece.len() as u64, Ordering::Relaxed);
            })
            .boxed();
        Self { source: Source::new(raw, encoding), received, produced: 0, limit: limit as u64, deadline }
    }

    /// The next piece as soon as there is one, or `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Failure::TimedOut`], [`Failure::TooLarge`] over a bound of size or ratio, [`Failure::Broken`].
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        let piece = timeout_at(self.deadline, self.source.next()).await.map_err(|_| Failure::TimedOut)?;
        let received = self.received.load(Ordering::Relaxed);
        let piece = match piece {
            Ok(piece) => piece,
            // An answer without a body, such as one to HEAD, may still name an encoding.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && received == 0 => return Ok(None),
            Err(_) => return Err(Failure::Broken),
        };
        self.produced += piece.as_ref().map_or(0, |piece| piece.len() as u64);
        let inflated = self.produced > RATIO_FROM && self.produced > received.saturating_mul(MAX_RATIO);
        if self.produced > self.limit || inflated {
            return Err(Failure::TooLarge);
        }
        Ok(piece)
    }

    /// The whole of what is left.
    ///
    /// # Errors
    ///
    /// As [`Body::chunk`].
    pub async fn bytes(mut self) -> Result<Bytes, Failure> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.chunk().await? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }
}

impl Source {
    fn new(raw: BoxStream<'static, io::Result<Bytes>>, encoding: Encoding) -> Self {
        let decoded: Pin<Box<dyn AsyncRead + Send>> = match encoding {
            Encoding::Plain => return Self::Plain(raw),
            Encoding::Gzip => {
                let mut decoder = GzipDecoder::new(StreamReader::new(raw));
                decoder.multiple_members(true);
                Box::pin(decoder)
            }
            Encoding::Brotli => Box::pin(BrotliDecoder::new(StreamReader::new(raw))),
            Encoding::Zstd => {
                let window = [DParameter::window_log_max(ZSTD_WINDOW)];
                let mut decoder = ZstdDecoder::with_params(StreamReader::new(raw), &window);
                decoder.multiple_members(true);
                Box::pin(decoder)
            }
        };
        Self::Decoded(decoded)
    }

    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        match self {
            Self::Plain(stream) => stream.try_next().await,
            Self::Decoded(reader) => {
                let mut piece = BytesMut::with_capacity(PIECE);
                let read = reader.read_buf(&mut piece).await?;
                Ok((read > 0).then(|| piece.freeze()))
            }
        }
    }
}
