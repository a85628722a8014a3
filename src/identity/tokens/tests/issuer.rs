//! An issuer on loopback that answers what the test wants and counts who asks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

type Answers = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// Answers each path as set; others with 404.
pub(in super::super) struct MockIssuer {
    pub(in super::super) port: u16,
    answers: Answers,
    asked: Arc<Mutex<Vec<String>>>,
}

impl MockIssuer {
    pub(in super::super) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (answers, asked) = (Answers::default(), Arc::<Mutex<Vec<String>>>::default());
        let (known, seen) = (Arc::clone(&answers), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&known), Arc::clone(&seen)));
            }
        });
        Self { port, answers, asked }
    }

    /// Its identifier, with `path` at the end.
    pub(in super::super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Answers `path` with these bytes from now on.
    pub(in super::super) fn answer(&self, path: &str, bytes: Vec<u8>) {
        self.answers.lock().unwrap().insert(path.to_owned(), bytes);
    }

    /// How often `path` was asked for.
    pub(in super::super) fn count(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == path).count()
    }

    /// Every path asked for, in order.
    pub(in super::super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(mut socket: TcpStream, answers: Answers, asked: Arc<Mutex<Vec<String>>>) {
    let mut read = Vec::new();
    loop {
        while !read.windows(4).any(|window| window == b"\r\n\r\n") {
            if !matches!(socket.read_buf(&mut read).await, Ok(1..)) {
                return;
            }
        }
        let head = String::from_utf8_lossy(&std::mem::take(&mut read)).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let answer = answers.lock().unwrap().get(&path).cloned();
        asked.lock().unwrap().push(path);
        let answer = answer.unwrap_or_else(|| b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
        if socket.write_all(&answer).await.is_err() {
            return;
        }
    }
}

/// An answer of 200 with `headers`, each line ended, and `body`.
pub(in super::super) fn ok(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{headers}\r\n", body.len()).into_bytes();
    answer.extend_from_slice(body);
    answer
}
