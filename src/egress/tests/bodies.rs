use std::time::Duration;

use async_compression::Level;
use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZstdEncoder};
use bytes::Bytes;
use tokio::io::AsyncWriteExt;

use super::super::{Failure, Policy, Provenance};
use super::{Served, client, failed, get, ok};

async fn encoded(name: &str, plain: &[u8]) -> Vec<u8> {
    macro_rules! through {
        ($encoder:ident) => {{
            let mut encoder = $encoder::with_quality(Vec::new(), Level::Fastest);
            encoder.write_all(plain).await.unwrap();
            encoder.shutdown().await.unwrap();
            encoder.into_inner()
        }};
    }
    match name {
        "gzip" => through!(GzipEncoder),
        "br" => through!(BrotliEncoder),
        _ => through!(ZstdEncoder),
    }
}

/// Asks for `answer` with at most `limit` bytes of body, and reads it.
async fn read(answer: Vec<u8>, limit: usize) -> Result<Bytes, Failure> {
    let served = Served::new(move |_| answer.clone()).await;
    let mut request = get(&served.url("/"), Provenance::Operator);
    request.limits.body_bytes = limit;
    client(Policy::default()).send(request).await?.body.bytes().await
}

#[tokio::test]
async fn encoded_answers_are_read_plain() {
    let text = "some words ".repeat(100);
    for name in ["gzip", "br", "zstd"] {
        let answer = ok(&format!("Content-Encoding: {name}\r\n"), &encoded(name, text.as_bytes()).await);
        assert_eq!(read(answer, 1100).await.unwrap(), text, "{name}");
    }
}

#[tokio::test]
async fn bombs_are_cut_off_by_their_ratio() {
    let zeros = vec![0; 4 << 20];
    for name in ["gzip", "br", "zstd"] {
        let answer = ok(&format!("Content-Encoding: {name}\r\n"), &encoded(name, &zeros).await);
        assert_eq!(failed(read(answer, 16 << 20).await), Failure::TooLarge, "{name}");
    }
}

#[tokio::test]
async fn a_small_answer_may_have_any_ratio() {
    let zeros = vec![0; 1 << 20];
    let answer = ok("Content-Encoding: gzip\r\n", &encoded("gzip", &zeros).await);
    assert_eq!(read(answer, 2 << 20).await.unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn the_size_bound_is_exact_and_decompressed() {
    let text = [b'a'; 1000];
    let zipped = ok("Content-Encoding: gzip\r\n", &encoded("gzip", &text).await);
    for answer in [ok("", &text), zipped] {
        assert_eq!(read(answer.clone(), 1000).await.unwrap().len(), 1000);
        assert_eq!(failed(read(answer, 999).await), Failure::TooLarge);
    }
}

#[tokio::test]
async fn an_endless_answer_ends_at_its_bound() {
    let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    answer.extend_from_slice(&b"10\r\n0123456789abcdef\r\n".repeat(1000));
    assert_eq!(failed(read(answer, 1000).await), Failure::TooLarge);
}

#[tokio::test]
async fn encodings_nobody_asked_for_are_broken() {
    for encoding in ["deflate", "gzip, br", "compress", "gzip\r\nContent-Encoding: br"] {
        let answer = ok(&format!("Content-Encoding: {encoding}\r\n"), b"????");
        assert_eq!(failed(read(answer, 1000).await), Failure::Broken, "{encoding}");
    }
    let cut = ok("Content-Encoding: gzip\r\n", &encoded("gzip", b"some words").await[..12]);
    assert_eq!(failed(read(cut, 1000).await), Failure::Broken);
}

#[tokio::test]
async fn an_empty_answer_may_name_an_encoding() {
    for name in ["gzip", "br", "zstd"] {
        let answer = ok(&format!("Content-Encoding: {name}\r\n"), b"");
        assert_eq!(read(answer, 1000).await.unwrap(), "", "{name}");
    }
}

#[tokio::test]
async fn a_body_that_stalls_times_out_and_its_pieces_come_at_once() {
    let served = Served::new(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec()).await;
    let mut request = get(&served.url("/"), Provenance::Operator);
    request.limits.whole = Duration::from_millis(300);
    let mut body = client(Policy::default()).send(request).await.unwrap_or_else(|failure| panic!("{failure}")).body;
    assert_eq!(body.chunk().await.unwrap().unwrap(), "half");
    assert_eq!(failed(body.chunk().await), Failure::TimedOut);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_broken() {
    let mut answer = ok("", b"half");
    answer.truncate(answer.len() - 2);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut head = [0; 1024];
        let _ = tokio::io::AsyncReadExt::read(&mut socket, &mut head).await;
        socket.write_all(&answer).await.unwrap();
    });
    let answer = client(Policy::default()).send(get(&url, Provenance::Operator)).await;
    let body = answer.unwrap_or_else(|failure| panic!("{failure}")).body;
    assert_eq!(failed(body.bytes().await), Failure::Broken);
}

#[tokio::test]
async fn too_many_bytes_of_headers_are_too_large() {
    let long = "v".repeat(1000);
    let headers: String = (0..40).map(|n| format!("X-Long-{n}: {long}\r\n")).collect();
    assert_eq!(failed(read(ok(&headers, b""), 1000).await), Failure::TooLarge);
    let many: String = (0..300).map(|n| format!("X-{n}: v\r\n")).collect();
    assert_eq!(failed(read(ok(&many, b""), 1000).await), Failure::TooLarge);
}

#[tokio::test]
async fn framing_is_the_clients_own() {
    let served = Served::new(|_| ok("", b"")).await;
    let mut request = get(&served.url("/"), Provenance::Operator);
    for (name, value) in [("host", "evil.example"), ("content-length", "7"), ("accept-encoding", "deflate")] {
        request.headers.insert(name, value.parse().unwrap());
    }
    client(Policy::default()).send(request).await.unwrap_or_else(|failure| panic!("{failure}"));
    let head = served.heads.lock().unwrap()[0].to_ascii_lowercase();
    assert!(head.contains(&format!("host: 127.0.0.1:{}\r\n", served.port)), "{head}");
    assert!(head.contains("accept-encoding: gzip, br, zstd\r\n") && !head.contains("content-length"), "{head}");
}
