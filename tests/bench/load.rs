//! Load: many connections that each send the same request again as soon as its answer is there.
//!
//! It speaks just enough HTTP/1.1 to find where an answer ends, on one thread, so that on a machine of two processors
//! the other one is left to the server.

use std::cell::RefCell;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use crate::servers::Process;

/// How far the length of an answer may lie from the first one's; a refusal would be much shorter.
const LENGTH_MAY_DIFFER: usize = 64;

/// What a run of load found.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Answers a second.
    pub per_second: f64,
    /// The time to an answer that half of them kept, in microseconds.
    pub p50_us: f64,
    /// The time to an answer that 99 of 100 kept, in microseconds.
    pub p99_us: f64,
    /// Processor time of the server for an answer, in microseconds.
    pub cpu_us: f64,
}

/// How hard and how long.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Connections at once.
    pub connections: usize,
    /// How long before anything is counted.
    pub warm_up: Duration,
    /// How long it is counted.
    pub counted: Duration,
}

/// One request as it travels.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    (head + "\r\n" + body).into_bytes()
}

/// One request on a connection of its own: the status and the body.
pub async fn ask(address: SocketAddr, request: &[u8]) -> Result<(u16, String)> {
    let mut connection = Connection::open(address).await?;
    let head = connection.exchange(request).await?;
    let status = status(&connection.received).ok_or(ErrorKind::InvalidData)?;
    Ok((status, String::from_utf8_lossy(&connection.received[head..]).into_owned()))
}

/// Loads the server of `process` at `address` with `request`.
pub async fn run(address: SocketAddr, request: Vec<u8>, load: Load, process: &Process) -> Result<Measured> {
    let request: Rc<[u8]> = request.into();
    let from = Instant::now() + load.warm_up;
    let until = from + load.counted;
    let times = Rc::new(RefCell::new(Vec::<Duration>::with_capacity(1 << 20)));
    let tasks = LocalSet::new();
    let mut running = Vec::new();
    for _ in 0..load.connections {
        let (request, times) = (request.clone(), times.clone());
        running.push(tasks.spawn_local(async move { repeat(address, &request, from, until, &times).await }));
    }
    tasks
        .run_until(async move {
            tokio::time::sleep_until(from.into()).await;
            let before = process.cpu()?;
            tokio::time::sleep_until(until.into()).await;
            let spent = process.cpu()? - before;
            for task in running {
                task.await.map_err(Error::other)??;
            }
            let mut times = times.take();
            times.sort_unstable();
            summed_up(&times, load.counted, spent)
        })
        .await
}

fn summed_up(times: &[Duration], counted: Duration, spent: Duration) -> Result<Measured> {
    if times.is_empty() {
        return Err(Error::other("nothing was answered"));
    }
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let at = |hundredths: usize| micros(times[(times.len() - 1) * hundredths / 100]);
    let answers = times.len() as f64;
    Ok(Measured {
        per_second: answers / counted.as_secs_f64(),
        p50_us: at(50),
        p99_us: at(99),
        cpu_us: micros(spent) / answers,
    })
}

async fn repeat(
    address: SocketAddr,
    request: &[u8],
    from: Instant,
    until: Instant,
    times: &RefCell<Vec<Duration>>,
) -> Result<()> {
    let mut connection = Connection::open(address).await?;
    let mut length = None;
    loop {
        let sent = Instant::now();
        if sent >= until {
            return Ok(());
        }
        connection.exchange(request).await?;
        let answered = Instant::now();
        let received = connection.received.len();
        let usual = *length.get_or_insert(received);
        if status(&connection.received) != Some(200) || received.abs_diff(usual) > LENGTH_MAY_DIFFER {
            return Err(Error::other(format!("another answer: {}", String::from_utf8_lossy(&connection.received))));
        }
        if answered >= from && answered < until {
            times.borrow_mut().push(answered - sent);
        }
    }
}

struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request and receives its whole answer; gives where the body begins.
    async fn exchange(&mut self, request: &[u8]) -> Result<usize> {
        self.stream.write_all(request).await?;
        self.received.clear();
        let mut head = None;
        loop {
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if head.is_none() {
                head = Head::of(&self.received);
            }
            if let Some(head) = &head
                && head.complete(&self.received)
            {
                return Ok(head.length);
            }
        }
    }
}

struct Head {
    length: usize,
    /// The length of the body; none where it comes in chunks.
    body: Option<usize>,
}

impl Head {
    fn of(received: &[u8]) -> Option<Self> {
        let length = received.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
        let text = String::from_utf8_lossy(&received[..length]);
        let body = text.lines().filter_map(|line| line.split_once(':')).find_map(|(name, value)| {
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok()).flatten()
        });
        Some(Self { length, body })
    }

    fn complete(&self, received: &[u8]) -> bool {
        match self.body {
            Some(body) => received.len() >= self.length + body,
            None => received[self.length - 2..].ends_with(b"\r\n0\r\n\r\n"),
        }
    }
}

fn status(received: &[u8]) -> Option<u16> {
    std::str::from_utf8(received.get(9..12)?).ok()?.parse().ok()
}
