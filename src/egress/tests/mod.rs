//! The client against servers on loopback, and a resolver that says what the test wants.

mod addresses;
mod bodies;
mod redirects;
mod sockets;

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, TcpListener as SilentListener};
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Client, Failure, Limits, Policy, Provenance, Redirects, Request, Resolver};

/// Answers each lookup with the next of its lists; the last one stays.
pub(super) struct Script {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    pub(super) asked: Mutex<Vec<String>>,
}

impl Script {
    pub(super) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let read = |list: &&[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self { answers: Mutex::new(answers.iter().map(read).collect()), asked: Mutex::default() })
    }
}

impl Resolver for Script {
    fn lookup<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// A server that reads one request after the other and answers each connection's requests with `answer(head)`.
pub(super) struct Served {
    pub(super) port: u16,
    /// The heads of the requests, in the order they came.
    pub(super) heads: Arc<Mutex<Vec<String>>>,
}

impl Served {
    pub(super) async fn new(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&heads), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&seen), Arc::clone(&answer)));
            }
        });
        Self { port, heads }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(super) fn count(&self) -> usize {
        self.heads.lock().unwrap().len()
    }
}

async fn serve(
    mut socket: TcpStream,
    seen: Arc<Mutex<Vec<String>>>,
    answer: Arc<impl Fn(&str) -> Vec<u8> + Send + Sync + 'static>,
) {
    let mut read = Vec::new();
    loop {
        while !read.windows(4).any(|window| window == b"\r\n\r\n") {
            if !matches!(socket.read_buf(&mut read).await, Ok(1..)) {
                return;
            }
        }
        let head = String::from_utf8_lossy(&std::mem::take(&mut read)).into_owned();
        seen.lock().unwrap().push(head.clone());
        let bytes = answer(&head);
        if socket.write_all(&bytes).await.is_err() || bytes.is_empty() {
            // Nothing to say: the socket is kept open and silent until the other side closes it.
            let _ = socket.read_buf(&mut read).await;
            return;
        }
    }
}

/// An answer of 200 with `headers` and `body`.
pub(super) fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{headers}\r\n", body.len()).into_bytes();
    answer.extend_from_slice(body);
    answer
}

/// A listener nobody may ever reach.
pub(super) struct Silent(SilentListener);

impl Silent {
    pub(super) fn new() -> Self {
        let listener = SilentListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    pub(super) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    #[track_caller]
    pub(super) fn stays_silent(&self) {
        assert_eq!(self.0.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}

pub(super) fn client(policy: Policy) -> Client {
    Client::new(policy).unwrap()
}

pub(super) fn get(url: &str, provenance: Provenance) -> Request {
    Request {
        method: Method::GET,
        url: url.parse().unwrap(),
        headers: HeaderMap::new(),
        body: None,
        provenance,
        limits: Limits::DOCUMENT,
        redirects: Redirects::None,
    }
}

/// The failure of a request that must have one; the answer has no `Debug` on purpose.
#[track_caller]
pub(super) fn failed<T>(result: Result<T, Failure>) -> Failure {
    result.err().expect("a failure")
}

#[track_caller]
pub(super) fn refused<T>(result: Result<T, Failure>) -> &'static str {
    match failed(result) {
        Failure::NotAllowed { rule } => rule,
        other => panic!("refused in another way: {other:?}"),
    }
}
