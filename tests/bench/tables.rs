//! The figures as Markdown.

use std::io::Result;
use std::path::Path;

use crate::Starts;
use crate::callers::Checked;
use crate::load::Measured;

type Figures<'a> = [(&'a str, Measured)];

/// What it was measured on.
pub fn machine(program: &Path) -> Result<()> {
    let processors = std::thread::available_parallelism()?;
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map_or("", |found| found.1);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let size = std::fs::metadata(program)?.len() / (1 << 20);
    println!("{processors} processors ({model}), load {load} at the start; the program has {size} MiB.\n");
    Ok(())
}

/// Requests a second of every server.
pub fn lists(figures: &Figures<'_>, connections: usize) {
    println!("`tools/call list_playbooks`, 20 playbooks, a key, {connections} connections:\n");
    println!("| Server | Requests/s | p50 ms | p99 ms | CPU µs/request | of rmcp, event stream |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let rmcp = figures.iter().find(|(name, _)| name.contains("rmcp")).map(|(_, found)| found.per_second);
    for (name, found) in figures {
        let share = rmcp.map(|rmcp| format!("{:.2}", found.per_second / rmcp)).unwrap_or_default();
        println!("| {name} | {} | {share} |", row(found));
    }
    println!();
}

fn row(found: &Measured) -> String {
    let Measured { per_second, p50_us, p99_us, cpu_us } = found;
    format!("{per_second:.0} | {:.2} | {:.2} | {cpu_us:.0}", p50_us / 1e3, p99_us / 1e3)
}

/// A call of a tool, straight and through the program.
pub fn calls(alone: &Figures<'_>, together: &Figures<'_>, connections: usize) {
    println!("`execute` of a small HTTP API, beside the same call straight to it:\n");
    println!(
        "| Way | p50 ms, 1 connection | added ms | Requests/s, {connections} connections | p99 ms | CPU µs/request |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let straight = alone.first().map_or(0.0, |(_, found)| found.p50_us);
    for ((name, one), (_, many)) in alone.iter().zip(together) {
        let (p50, added) = (one.p50_us / 1e3, (one.p50_us - straight) / 1e3);
        let Measured { per_second, p99_us, cpu_us, .. } = many;
        println!("| {name} | {p50:.2} | {added:.2} | {per_second:.0} | {:.2} | {cpu_us:.0} |", p99_us / 1e3);
    }
    println!();
}

/// Starts and memory.
pub fn starts(found: &Starts) {
    println!("| Start and memory | |");
    println!("| --- | ---: |");
    println!("| Start, no database yet | {:.0} ms |", found.first_ms);
    println!("| Start on a database | {:.0} ms |", found.again_ms);
    println!("| Memory, idle | {:.0} MiB |", found.idle_mib);
    println!("| Memory, after the load | {:.0} MiB |", found.loaded_mib);
}

/// The check of a caller.
pub fn callers(checked: &[Checked]) {
    println!("\nCheck of a caller, p50 µs with the rows read a moment ago, and with rows read for it:\n");
    println!("| Database | Keys, people of the org | Key | rows read | Token | rows read |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for Checked { name, keys, people, key, token } in checked {
        println!(
            "| {name} | {keys}, {people} | {:.1} | {:.0} | {:.1} | {:.0} |",
            key.recent_us, key.read_us, token.recent_us, token.read_us
        );
    }
}
