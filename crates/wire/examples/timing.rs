//! How long one question takes, in process: `timing PLAN DELTA TOLERANCE` prints one JSON
//! line with the bracket, the route, the best time of several calls and the peak memory. A
//! call starts from the list of releases: what a plan prepares and keeps is made anew.

use counterpoint::{Delta, Options, Tolerance};
use counterpoint_wire::{Format, Plan};
use std::error::Error;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, delta, tolerance] = arguments.as_slice() else {
        return Err("usage: timing PLAN DELTA TOLERANCE".into());
    };
    let format = if path.ends_with(".toml") { Format::Toml } else { Format::Json };
    let plan = Plan::parse(&std::fs::read(path)?, format)?;
    let delta = Delta::new(delta.parse()?)?;
    let options = Options { tolerance: Tolerance::new(tolerance.parse()?)?, ..Options::default() };
    let ask = || -> Result<_, Box<dyn Error>> { Ok(plan.prepare()?.epsilon(delta, &options)?) };

    let started = Instant::now();
    let (mut best, mut answer) = timed(ask);
    // At least three calls, and at most half a second of them.
    for call in 1..1000 {
        if call >= 3 && started.elapsed() > Duration::from_millis(500) {
            break;
        }
        let (time, again) = timed(ask);
        best = best.min(time);
        answer = again;
    }
    let answer = answer?;
    println!(
        r#"{{"lower":{:?},"upper":{:?},"route":"{}","seconds":{:e},"peak_kib":{}}}"#,
        answer.bracket.lower,
        answer.bracket.upper,
        answer.route,
        best.as_secs_f64(),
        peak_kib().unwrap_or(0),
    );
    Ok(())
}

fn timed<T>(call: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = call();
    (start.elapsed(), value)
}

/// The high-water mark of resident memory, where the system tells.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
