//! Commands only: each reads its arguments and hands over to the library.

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::run()
}
