//! The `counterpoint` program. Standard output stays empty until the answer is complete (only `serve` prints its
//! address when it listens). An error is one line on standard error with exit status 2. A definite no has exit status
//! 1.

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod args;
mod audit;
mod calibrate;
mod compare;
mod compose;
mod convert;
mod figures;
mod files;
mod illegal_value;
mod input;
#[cfg(feature = "ledger")]
mod ledger;
mod noise;
mod output;
mod plan;
mod progress;
mod region;
#[cfg(feature = "serve")]
mod release;
#[cfg(feature = "serve")]
mod releaser;
#[cfg(feature = "serve")]
mod serve;
mod simulate;
mod sketch;
mod study;
#[cfg(feature = "serve")]
mod token;

use std::panic::catch_unwind;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser};

use crate::args::{Cli, Command};
use crate::output::Outcome;
use crate::progress::Progress;

fn main() -> ExitCode {
    // A panic is a bug; it is reported in one line, without a backtrace.
    std::panic::set_hook(Box::new(|info| output::write_error(&format!("this is a bug: {info}"))));
    catch_unwind(program).unwrap_or_else(|_| output::failure_status())
}

fn program() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => output::finish(run(&cli.command)),
        Err(usage) => output::usage(&usage),
    }
}

/// Runs a command and returns what to print.
fn run(command: &Command) -> Result<Outcome> {
    let progress = Progress::start();
    match command {
        Command::Compose(args) => compose::run(args, &progress),
        Command::Compare(args) => compare::run(args, &progress),
        Command::Calibrate(args) => calibrate::run(args, &progress),
        Command::Plan(args) => plan::run(args, &progress),
        Command::Study(args) => study::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => {
            drop(progress);
            serve::run(args)
        }
        #[cfg(feature = "serve")]
        Command::Release(args) => release::run(args, &progress),
        Command::Region(args) => region::run(args, &progress),
        Command::Audit(args) => audit::run(args, &progress),
        Command::Convert(args) => convert::run(args),
        Command::Noise(args) => noise::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Sketch(args) => sketch::run(args),
        Command::Figures(args) => figures::run(args, &progress),
        #[cfg(feature = "ledger")]
        Command::Ledger(args) => ledger::run(args),
        #[cfg(feature = "serve")]
        Command::Token(args) => token::run(args),
        Command::Completions { shell } => Ok(Outcome::text(completions(*shell), Vec::new())),
    }
}

fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "counterpoint", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
