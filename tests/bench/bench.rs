//! Measures the release program beside its peers and prints the tables of `docs/performance.md`.
//!
//! `infra/bench` builds and starts it. Every server is a process of its own. They take turns, several times over, so
//! that whatever else the machine does meets all of them alike; a figure is the median of its turns.
#![expect(clippy::print_stdout, reason = "the tables are what it is for")]

mod callers;
mod crowd;
mod load;
mod peers;
mod scene;
mod servers;
mod tables;

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Parser, Subcommand};

use load::{Load, Measured};
use scene::{Scene, Target};

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measures.
    Run(Run),
    /// Measures the check of a caller alone.
    Callers {
        /// The URL of a PostgreSQL database to fill.
        #[arg(long)]
        postgres: Option<String>,
    },
    /// Serves one of the peers, for the run alone.
    Peer { name: String, answer: PathBuf, key: String },
}

#[derive(clap::Args)]
struct Run {
    /// The release program.
    program: PathBuf,
    /// The URL of a PostgreSQL database to fill.
    #[arg(long)]
    postgres: Option<String>,
    /// Connections at once.
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// How long a turn is counted, in milliseconds.
    #[arg(long, default_value_t = 5_000)]
    counted_ms: u64,
    /// Turns of each server.
    #[arg(long, default_value_t = 3)]
    turns: usize,
    /// Only servers whose name holds this.
    #[arg(long, default_value = "")]
    only: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    match Arguments::parse().command {
        Command::Peer { name, answer, key } => peers::serve(&name, &answer, &key).await,
        Command::Run(run) => measure(&run).await,
        Command::Callers { postgres } => check_of_a_caller(postgres.as_deref()).await,
    }
}

async fn measure(run: &Run) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let scene = Scene::set(&run.program, run.postgres.as_deref(), folder.path()).await?;
    let load = Load {
        connections: run.connections,
        warm_up: Duration::from_millis(run.counted_ms / 4),
        counted: Duration::from_millis(run.counted_ms),
    };
    tables::machine(&run.program)?;
    let lists = turns(run, &scene.lists(), load).await?;
    tables::lists(&lists, run.connections);
    let one = Load { connections: 1, ..load };
    let alone = turns(run, &scene.calls(), one).await?;
    let together = turns(run, &scene.calls(), load).await?;
    tables::calls(&alone, &together, run.connections);
    let starts = starts(&run.program, folder.path(), &scene).await?;
    tables::starts(&starts);
    check_of_a_caller(run.postgres.as_deref()).await
}

async fn check_of_a_caller(postgres: Option<&str>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut checked =
        callers::checks("SQLite", &format!("sqlite:{}", folder.path().join("callers.db").display())).await?;
    if let Some(url) = postgres {
        checked.extend(callers::checks("PostgreSQL", url).await?);
    }
    tables::callers(&checked);
    Ok(())
}

/// The median of each target's turns.
async fn turns<'a>(run: &Run, targets: &[Target<'a>], load: Load) -> Result<Vec<(&'a str, Measured)>> {
    let wanted = |target: &&Target<'_>| target.name == scene::STRAIGHT || target.name.contains(&run.only);
    let chosen: Vec<_> = targets.iter().filter(wanted).collect();
    let mut found = vec![Vec::new(); chosen.len()];
    for _ in 0..run.turns {
        for (target, measured) in chosen.iter().zip(&mut found) {
            let server = target.server;
            measured.push(load::run(server.address, target.request.clone(), load, &server.process).await?);
        }
    }
    Ok(chosen.iter().zip(found).map(|(target, measured)| (target.name, median(&measured))).collect())
}

fn median(measured: &[Measured]) -> Measured {
    let of = |figure: fn(&Measured) -> f64| middle(measured.iter().map(figure).collect());
    Measured {
        per_second: of(|one| one.per_second),
        p50_us: of(|one| one.p50_us),
        p99_us: of(|one| one.p99_us),
        cpu_us: of(|one| one.cpu_us),
    }
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// How the program starts and what it holds while nobody asks anything.
pub struct Starts {
    /// With no database yet, in milliseconds.
    pub first_ms: f64,
    /// On the database of the last time, in milliseconds.
    pub again_ms: f64,
    /// Memory of a server nobody asked anything but whether it is well, in MiB.
    pub idle_mib: f64,
    /// Memory of the server that took the load, in MiB.
    pub loaded_mib: f64,
}

async fn starts(program: &Path, folder: &Path, scene: &Scene) -> Result<Starts> {
    let (mut first, mut again, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..5 {
        let database = format!("sqlite:{}", folder.join(format!("start-{turn}/playmaker.db")).display());
        let settings = [("DATABASE_URL", database.as_str())];
        first.push(servers::playmaker(program, &settings).await?.started_in);
        let server = servers::playmaker(program, &settings).await?;
        again.push(server.started_in);
        tokio::time::sleep(Duration::from_millis(500)).await;
        idle.push(server.process.resident_mib()?);
    }
    let ms = |times: Vec<Duration>| middle(times.into_iter().map(|time| time.as_secs_f64() * 1e3).collect());
    let loaded = scene.lists().first().ok_or_else(|| Error::other("no server"))?.server.process.resident_mib()?;
    Ok(Starts { first_ms: ms(first), again_ms: ms(again), idle_mib: middle(idle), loaded_mib: loaded })
}
