//! How many connections are open at one time.

use std::net::Ipv4Addr;
use std::time::Duration;

use playmaker::http;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::app::TestApp;

const REQUEST: &[u8] = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn whoever_comes_when_all_places_are_taken_waits_for_one() {
    let server = TestApp::local().await;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(http::serve_at_most(server.app.clone(), listener, 2));
    // Two that say nothing; each has its place once it is accepted, in the order they came.
    let silent = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
    let mut third = TcpStream::connect(address).await.unwrap();
    third.write_all(REQUEST).await.unwrap();
    let mut answer = Vec::new();
    let early = tokio::time::timeout(Duration::from_millis(200), third.read_to_end(&mut answer)).await;
    assert!(early.is_err() && answer.is_empty(), "there is no place yet");
    drop(silent);
    tokio::time::timeout(Duration::from_secs(10), third.read_to_end(&mut answer)).await.unwrap().unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
}
