//! Starts a process in its own group and an empty folder, and sees to its end.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::lines::{Line, log_stderr, read_line};
use super::running::{Lines, Outgoing, QUEUE, Running};
use super::{Ends, ProcessEntry};
use crate::tool_servers::upstream::Surroundings;
use crate::tool_servers::upstream::trouble::Trouble;

/// The most bytes of one line, and so of one answer.
const LINE_BYTES: usize = 4 << 20;
/// A process nobody used for so long is ended.
const IDLE_MS: i64 = 10 * 60 * 1000;
/// How long a process has for each step of its end.
const ENDING: Duration = Duration::from_secs(5);
/// How long the output of a process that exited is still read.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Starts the process of an entry.
pub(super) fn start(
    entry: &ProcessEntry,
    surroundings: &Surroundings,
    list_changes: &Arc<AtomicU64>,
    ends: &Arc<Ends>,
) -> Result<Arc<Running>, Trouble> {
    let cannot = |_| Trouble::unreachable("The process of the server could not be started.");
    let folder = tempfile::Builder::new().prefix("playmaker-").tempdir().map_err(cannot)?;
    let mut command = Command::new(&entry.command);
    command
        .args(&entry.args)
        .env_clear()
        .envs(&entry.env)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| {
        tracing::warn!(process.command = entry.command, %error, "a tool server could not be started");
        cannot(error)
    })?;
    let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(Trouble::unreachable("The process of the server could not be started."));
    };
    let group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
    let (writer, queue) = mpsc::channel(QUEUE);
    let lines = Arc::new(Lines::new(writer, surroundings.clock.clone(), list_changes.clone()));
    let (stop, over) = (CancellationToken::new(), CancellationToken::new());
    let (input_over, output_over) = (CancellationToken::new(), CancellationToken::new());
    tokio::spawn(write_lines(stdin, queue, input_over.clone()));
    tokio::spawn(read_lines(stdout, lines.clone(), output_over.clone()));
    tokio::spawn(log_stderr(stderr, entry.command.clone(), surroundings.scrub.clone()));
    let supervisor = Supervisor {
        child,
        group,
        _folder: folder,
        lines: lines.clone(),
        stop: stop.clone(),
        input_over,
        output_over,
        over: over.clone(),
        ends: ends.clone(),
        surroundings: surroundings.clone(),
        list_changes: list_changes.clone(),
    };
    tokio::spawn(supervisor.run());
    Ok(Arc::new(Running {
        wire: lines,
        revision: std::sync::OnceLock::new(),
        _stop_when_dropped: stop.clone().drop_guard(),
        stop,
        over,
    }))
}

struct Supervisor {
    child: Child,
    group: Group,
    _folder: TempDir,
    lines: Arc<Lines>,
    stop: CancellationToken,
    input_over: CancellationToken,
    output_over: CancellationToken,
    over: CancellationToken,
    ends: Arc<Ends>,
    surroundings: Surroundings,
    list_changes: Arc<AtomicU64>,
}

impl Supervisor {
    async fn run(mut self) {
        let end = tokio::select! {
            _ = self.child.wait() => End::Exited,
            () = self.output_over.cancelled() => End::Silent,
            () = self.stop.cancelled() => End::Asked,
            () = idle(&self.lines, &self.surroundings) => End::Asked,
        };
        if end != End::Asked {
            self.ends.note(self.surroundings.clock.now_ms());
        }
        if end == End::Exited {
            // Whatever it left behind in its group ends with it, and its last answers are still read.
            self.group.signal(Signal::KILL);
            let _ = timeout(LAST_ANSWERS, self.output_over.cancelled()).await;
        }
        // The next process may have other tools; who waits for this one learns of its end after that is noted.
        self.list_changes.fetch_add(1, Ordering::SeqCst);
        self.lines.end();
        if end != End::Exited {
            self.end().await;
            self.group.signal(Signal::KILL);
        }
        self.group.0 = None;
        self.over.cancel();
    }

    /// Closes stdin, then TERM, then KILL, each after five seconds.
    async fn end(&mut self) {
        self.input_over.cancel();
        if timeout(ENDING, self.child.wait()).await.is_ok() {
            return;
        }
        self.group.signal(Signal::TERM);
        if timeout(ENDING, self.child.wait()).await.is_ok() {
            return;
        }
        self.group.signal(Signal::KILL);
        let _ = self.child.wait().await;
    }
}

/// How the end of a process begins.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// It exited.
    Exited,
    /// It writes no more, or a line over the bound.
    Silent,
    /// We end it.
    Asked,
}

/// The process group of a child; it is killed when the supervisor itself is dropped, as at a sudden stop.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // A group that is gone already is what we want.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

async fn write_lines(mut stdin: ChildStdin, mut queue: mpsc::Receiver<Outgoing>, over: CancellationToken) {
    let write = async {
        while let Some(mut outgoing) = queue.recv().await {
            outgoing.written.store(true, Ordering::SeqCst);
            outgoing.line.push(b'\n');
            if stdin.write_all(&outgoing.line).await.is_err() || stdin.flush().await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = write => {}
        () = over.cancelled() => {}
    }
}

async fn read_lines(stdout: ChildStdout, lines: Arc<Lines>, over: CancellationToken) {
    let mut reader = BufReader::new(stdout);
    loop {
        match read_line(&mut reader, LINE_BYTES).await {
            Ok(Line::Whole(line)) => lines.take(&line),
            Ok(Line::TooLong(_)) => {
                tracing::warn!("a tool server wrote a line over 4 MiB and is ended");
                break;
            }
            Ok(Line::End) | Err(_) => break,
        }
    }
    over.cancel();
}

async fn idle(lines: &Lines, surroundings: &Surroundings) {
    let mut wait_ms = IDLE_MS;
    loop {
        (surroundings.sleep)(Duration::from_millis(wait_ms.unsigned_abs())).await;
        match lines.end_where_idle(IDLE_MS) {
            Some(0) => return,
            Some(left_ms) => wait_ms = left_ms,
            None => wait_ms = IDLE_MS,
        }
    }
}
