//! Answers to the last bit: reads plans from standard input, one JSON object a line, and writes for
//! each the ends of its answer as hexadecimal bits, or `error`.
//!
//!     cargo run -p counterpoint-wire --example bits < plans.jsonl

use std::io::{BufRead, Write, stdin, stdout};

use counterpoint::Options;
use counterpoint_wire::{Format, Plan, Question};

fn answer(line: &str) -> Option<(f64, f64)> {
    let plan = Plan::parse(line.as_bytes(), Format::Json).ok()?;
    let ready = plan.prepare().ok()?;
    let answer = match plan.question? {
        Question::EpsilonAt(delta) => ready.epsilon(delta, &Options::default()),
        Question::DeltaAt(epsilon) => ready.delta(epsilon, &Options::default()),
    };
    let bracket = answer.ok()?.bracket;
    Some((bracket.lower, bracket.upper))
}

fn main() -> std::io::Result<()> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        match answer(&line?) {
            Some((lower, upper)) => {
                writeln!(out, "{:016x} {:016x}", lower.to_bits(), upper.to_bits())?;
            }
            None => writeln!(out, "error")?,
        }
    }
    Ok(())
}
