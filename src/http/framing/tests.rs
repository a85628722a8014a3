//! The guard before the parser it guards: what passes, what is refused, and that no split of the bytes changes either.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use proptest::prelude::*;

use super::*;

/// A connection that brings its bytes in pieces, then nothing, and takes whatever is written.
#[derive(Debug)]
struct Pieces(VecDeque<Vec<u8>>);

impl Pieces {
    /// `bytes`, cut at `cuts`.
    fn of(bytes: &[u8], cuts: &[usize]) -> Self {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        Self(cuts.windows(2).map(|ends| bytes[ends[0]..ends[1]].to_vec()).filter(|piece| !piece.is_empty()).collect())
    }
}

impl AsyncRead for Pieces {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Some(mut piece) = self.0.pop_front() else { return Poll::Pending };
        let rest = piece.split_off(piece.len().min(out.remaining()));
        out.put_slice(&piece);
        if !rest.is_empty() {
            self.0.push_front(rest);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Pieces {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Everything that comes out of the guard, read `room` bytes at a time, and how it ended.
fn passed(bytes: &[u8], cuts: &[usize], room: usize) -> (Vec<u8>, Option<Ended>) {
    let mut guarded = Guarded::new(Pieces::of(bytes, cuts));
    let mut all = Vec::new();
    let mut cx = Context::from_waker(std::task::Waker::noop());
    loop {
        let mut room = vec![0; room];
        let mut out = ReadBuf::new(&mut room);
        match Pin::new(&mut guarded).poll_read(&mut cx, &mut out) {
            Poll::Ready(Ok(())) => all.extend_from_slice(out.filled()),
            _ => return (all, guarded.ended),
        }
    }
}

/// The requests a parser reads of a connection: method, target, and the body where it could be read.
type Seen = Vec<(String, String, Option<Vec<u8>>)>;

/// What the parser reads of `connection`, and how much is left unread when nothing more happens.
fn parsed<C: AsyncRead + AsyncWrite + Unpin + Send + 'static>(connection: C) -> Seen {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _entered = runtime.enter();
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let service = service_fn(|request: Request<Incoming>| {
        let seen = seen.clone();
        async move {
            let (parts, body) = request.into_parts();
            let told = refusal(&parts.headers).map(|refusal| refusal.status().to_string());
            let body = body.collect().await.ok().map(|body| body.to_bytes().to_vec());
            let method = told.unwrap_or_else(|| parts.method.to_string());
            seen.lock().unwrap().push((method, parts.uri.to_string(), body));
            Ok::<_, std::convert::Infallible>(http::Response::new(Empty::<bytes::Bytes>::new()))
        }
    });
    let mut builder = http1::Builder::new();
    let mut served = Box::pin(builder.max_buf_size(LARGEST_HEAD).serve_connection(TokioIo::new(connection), service));
    for _ in 0..64 {
        if served.as_mut().now_or_never().is_some() {
            break;
        }
    }
    drop(served);
    Arc::try_unwrap(seen).unwrap().into_inner().unwrap()
}

#[rustfmt::skip]
const PLAIN: [&str; 9] = [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\n\r\nGET /x?y=z HTTP/1.0\r\n\r\n",
    "POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
    "POST /v1 HTTP/1.1\r\ncontent-length:\t007\r\nX: a\tb\u{e9}\r\n\r\nGET / H",
    "PUT * HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    "POST /v1 HTTP/1.1\r\nTransfer-Encoding: ChunkeD\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n00A ;x=\"y;z\"\r\n0123456789\r\n1\t\r\n!\r\n000\r\n\r\n",
    "POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0;last\r\nDigest: x\r\nOther: y\r\n\r\n",
    "POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
];

#[rustfmt::skip]
const REFUSED: [(&str, &str); 31] = [
    // The length told twice, or in no plain way.
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: 2, 2\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: +2\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: -2\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: 0x2\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: 1 1\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n{}"),
    // Both, in either order.
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n"),
    // Codings that are not chunks alone.
    ("400 Bad Request", "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    ("400 Bad Request", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    // Lines.
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length : 2\r\n\r\n{}"),
    ("400 Bad Request", "POST / HTTP/1.1\r\nContent-Length\r\n\r\n{}"),
    ("400 Bad Request", "GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n"),
    ("400 Bad Request", "GET / HTTP/1.1\r\n X: a\r\n\r\n"),
    ("400 Bad Request", "GET / HTTP/1.1\r\nX: a\rY: b\r\n\r\n"),
    ("400 Bad Request", "GET / HTTP/1.1\r\nX: a\nY: b\r\n\r\n"),
    ("400 Bad Request", "GET / HTTP/1.1\n\n"),
    ("400 Bad Request", "\nGET / HTTP/1.1\r\n\r\n"),
    ("400 Bad Request", "GET / HTTP/1.1\r\nX: a\0b\r\n\r\n"),
    ("400 Bad Request", "GET /\0 HTTP/1.1\r\n\r\n"),
    // Other protocols.
    ("400 Bad Request", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("400 Bad Request", "GET / HTTP/9.9\r\n\r\n"),
    ("400 Bad Request", "\u{16}\u{3}\u{1}"),
];

#[rustfmt::skip]
const BROKEN: [&str; 9] = [
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;x\n\r\na\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\na\r\n0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\nY: b\r\n\r\n",
];

#[test]
fn plain_requests_pass_unchanged_one_after_the_other() {
    let all = PLAIN.concat();
    assert_eq!(passed(all.as_bytes(), &[], 9000), (all.clone().into_bytes(), None));
    let seen = parsed(Guarded::new(Pieces::of(all.as_bytes(), &[])));
    assert_eq!(seen, parsed(Pieces::of(all.as_bytes(), &[])));
    // The second closes its connection, so they are looked at one by one too.
    for one in PLAIN {
        assert!(matches!(parsed(Guarded::new(Pieces::of(one.as_bytes(), &[])))[..], [(.., Some(_))]), "{one:?}");
    }
}

/// Security case 64.
#[test]
fn what_two_readers_could_read_differently_is_refused_in_its_turn() {
    for (status, bad) in REFUSED {
        let all = [PLAIN[2], bad, PLAIN[0]].concat();
        let seen = parsed(Guarded::new(Pieces::of(all.as_bytes(), &[])));
        let told: Vec<&str> = seen.iter().map(|(method, ..)| method.as_str()).collect();
        assert_eq!(told, ["POST", status], "{bad:?}");
    }
    let lines: String = (0..101).map(|n| format!("X-{n}: y\r\n")).collect();
    for large in [format!("X: {}\r\n", "x".repeat(LARGEST_HEAD)), lines] {
        let all = format!("GET / HTTP/1.1\r\n{large}\r\n");
        let seen = parsed(Guarded::new(Pieces::of(all.as_bytes(), &[7000])));
        assert_eq!(seen[0].0, "431 Request Header Fields Too Large");
    }
}

/// Security case 64.
#[test]
fn a_body_whose_chunks_are_broken_ends_the_connection() {
    for bad in BROKEN {
        let all = [bad, PLAIN[0]].concat();
        assert_eq!(passed(all.as_bytes(), &[], 9000).1, Some(Ended::Broken), "{bad:?}");
        let seen = parsed(Guarded::new(Pieces::of(all.as_bytes(), &[])));
        assert!(matches!(&seen[..], [(method, _, None)] if method == "POST"), "{bad:?}: {seen:?}");
    }
}

/// Requests of every sort, some of them damaged by a byte.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let plain = prop::sample::select(&PLAIN[..]).prop_map(str::to_owned);
    let bad = prop::sample::select(REFUSED.iter().map(|(_, text)| *text).chain(BROKEN).collect::<Vec<_>>());
    let lengths = "[Cc]ontent-[Ll]ength ?:[ \t]{0,2}[+0-9, ]{0,3}\r?\n|Transfer-Encoding: ?(chunked|gzip|, ){0,2}\r\n";
    let made = (lengths, lengths, "[0-9a-fA-F]{0,2}[ ;\r\n]{1,3}[a-z]{0,4}(\r\n|\n|0\r\n\r\n){0,3}")
        .prop_map(|(one, other, body)| format!("POST /made HTTP/1.1\r\n{one}{other}\r\n{body}"));
    let request = prop_oneof![6 => plain, 1 => bad.prop_map(str::to_owned), 3 => made];
    let damage = prop::option::of((any::<usize>(), prop::sample::select(b"\r\n\0 :;,0a".to_vec())));
    (prop::collection::vec(request, 1..5), damage).prop_map(|(requests, damage)| {
        let mut bytes = requests.concat().into_bytes();
        if let Some((at, byte)) = damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_split_of_the_bytes_changes_what_passes(
        bytes in stream(), cuts in prop::collection::vec(any::<usize>(), 0..12), room in 1_usize..200,
    ) {
        prop_assert_eq!(passed(&bytes, &cuts, room), passed(&bytes, &[], bytes.len() + 1));
        let singly: Vec<usize> = (0..bytes.len()).collect();
        prop_assert_eq!(passed(&bytes, &singly, 1), passed(&bytes, &[], bytes.len() + 1));
    }

    /// The guard and the parser agree on where each request ends: what is let through is read as without the guard.
    #[test]
    fn the_parser_reads_the_same_requests_as_without_the_guard(
        bytes in stream(), cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let ended = passed(&bytes, &[], bytes.len() + 1).1;
        let mut guarded = parsed(Guarded::new(Pieces::of(&bytes, &cuts)));
        let raw = parsed(Pieces::of(&bytes, &[]));
        if guarded.last().is_some_and(|(method, ..)| method.starts_with('4')) {
            prop_assert_eq!(ended, Some(Ended::Refused));
            guarded.pop();
        }
        if ended == Some(Ended::Broken) {
            // Its body may have been readable to the parser, and is not here.
            guarded.pop_if(|(.., body)| body.is_none());
        }
        if ended.is_none() {
            prop_assert_eq!(guarded, raw);
        } else {
            prop_assert_eq!(guarded.as_slice(), &raw[..guarded.len()]);
        }
    }

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..300), cuts in prop::collection::vec(any::<usize>(), 0..4)) {
        prop_assert_eq!(passed(&bytes, &cuts, 7), passed(&bytes, &[], bytes.len() + 1));
    }
}
