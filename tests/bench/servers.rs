//! Servers under load: processes of their own, whose processor time and memory the system tells.

use std::io::{BufRead, BufReader, Error, Result};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::load;

/// How often `/proc` counts in a second; Linux fixes it for programs, whatever the kernel counts in.
const TICKS: u64 = 100;
/// How long a server may take to start.
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// A process that ends when it is dropped.
pub struct Process(Child);

impl Process {
    /// Starts `command`.
    pub fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::null()).spawn().map(Self)
    }

    /// The processor time it took so far, of all its threads.
    pub fn cpu(&self) -> Result<Duration> {
        let line = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        // The name before the last bracket may hold anything; after it, user and system time are the 12th and 13th.
        let after = line.rsplit_once(')').map(|(_, after)| after).unwrap_or_default();
        let times = after.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
        Ok(Duration::from_millis(times.sum::<u64>() * 1_000 / TICKS))
    }

    /// The memory it holds, in MiB.
    pub fn resident_mib(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kib: f64 = line.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or_default();
        Ok(kib / 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that answers.
pub struct Server {
    /// Its process.
    pub process: Process,
    /// Where it listens.
    pub address: SocketAddr,
    /// From its start to its first answer.
    pub started_in: Duration,
}

/// Starts the release program with `settings` as its whole environment.
pub async fn playmaker(program: &Path, settings: &[(&str, &str)]) -> Result<Server> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let mut command = Command::new(program);
    command.env_clear().env("HOST", "127.0.0.1").env("PORT", port.to_string()).env("RUST_LOG", "error");
    command.envs(settings.iter().copied());
    let began = Instant::now();
    let process = Process::start(&mut command)?;
    let health = load::request("GET", "/health", &[], "");
    while began.elapsed() < STARTS_WITHIN {
        if let Ok((200, _)) = load::ask(address, &health).await {
            return Ok(Server { process, address, started_in: began.elapsed() });
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Err(Error::other("the server did not start"))
}

/// Starts one of this program's own peers, which says its address in a line once it listens.
pub fn peer(arguments: &[&str]) -> Result<Server> {
    let began = Instant::now();
    let mut command = Command::new(std::env::current_exe()?);
    let mut process = Process::start(command.arg("peer").args(arguments).stdout(Stdio::piped()))?;
    let out = process.0.stdout.take().ok_or_else(|| Error::other("no output"))?;
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line)?;
    let address = line.trim().parse().map_err(Error::other)?;
    Ok(Server { process, address, started_in: began.elapsed() })
}
