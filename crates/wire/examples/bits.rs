//! Answers to the last bit: reads plans from standard input, one JSON object a line, and writes for
//! each the ends of its answer as hexadecimal bits, or `error`. In the place of a plan there may be what runs: noise, a
//! recipe or an interactive mechanism, with the relation it is under; the answer is then about what it is charged as.
//!
//!     cargo run -p counterpoint-wire --example bits < plans.jsonl

use std::io::{BufRead, Write, stdin, stdout};

use counterpoint::quantity::{Count, GroupSize};
use counterpoint::{Delta, Options, Relation, Release};
use counterpoint_mechanisms::{
    Exponential, Grid, InteractiveMechanism, LeakyResponse, Noise, NoisyQuery, RandomizedResponse,
};
use counterpoint_wire::{Format, Plan, Question, adjacency_from_name};
use serde_json::Value;

fn answer(line: &str) -> Option<(f64, f64)> {
    let object: Value = serde_json::from_str(line).ok()?;
    if object.get("under").is_some() {
        return charged(&object);
    }
    let plan = Plan::parse(line.as_bytes(), Format::Json).ok()?;
    let ready = plan.prepare().ok()?;
    let answer = match plan.question? {
        Question::EpsilonAt(delta) => ready.epsilon(delta, &Options::default()),
        Question::DeltaAt(epsilon) => ready.delta(epsilon, &Options::default()),
    };
    let bracket = answer.ok()?.bracket;
    Some((bracket.lower, bracket.upper))
}

/// What runs, under a relation, by its epsilon at a delta.
fn charged(object: &Value) -> Option<(f64, f64)> {
    let adjacency = adjacency_from_name(object["under"].as_str()?)?;
    let relation = Relation::new(adjacency, object["records"].as_u64()?).ok()?;
    let releases = if let Some(recipe) = object.get("recipe") {
        let recipe: NoisyQuery = serde_json::from_value(recipe.clone()).ok()?;
        recipe.under(relation).ok()?.releases().to_vec()
    } else if let Some(declared) = object.get("interactive") {
        let declared: InteractiveMechanism = serde_json::from_value(declared.clone()).ok()?;
        declared.under(relation).ok()?.releases().to_vec()
    } else {
        vec![noise(object)?]
    };
    let plan =
        counterpoint::Plan::for_neighbours(releases, Some(adjacency), GroupSize::ONE).ok()?;
    let delta = Delta::new(object["delta"].as_f64()?).ok()?;
    let bracket = plan.epsilon(delta, &Options::default()).ok()?.bracket;
    Some((bracket.lower, bracket.upper))
}

/// A law by its name, its amount, what it hides and the step of its grid.
fn noise(object: &Value) -> Option<Release> {
    let (amount, count) = (object["amount"].as_f64()?, Count::new(object["count"].as_u64()?).ok()?);
    let hidden = &object["sensitivity"];
    let (whole, real) = (hidden.as_u64().unwrap_or_default(), hidden.as_f64()?);
    let grid = || Grid::at_most(object["step"].as_f64()?).ok();
    let mechanism = match object["law"].as_str()? {
        "geometric" => Noise::geometric(amount, whole).ok()?.mechanism(),
        "discrete-gaussian" => Noise::discrete_gaussian(amount, whole).ok()?.mechanism(),
        "laplace" => Noise::laplace(amount, real, grid()?).ok()?.mechanism(),
        "gaussian" => Noise::gaussian(amount, real, grid()?).ok()?.mechanism(),
        "staircase" => Noise::staircase(amount, None, real, grid()?).ok()?.mechanism(),
        "randomized-response" => RandomizedResponse::new(amount, whole).ok()?.mechanism(),
        "leaky-response" => LeakyResponse::new(amount, real).ok()?.mechanism(),
        "exponential" => Exponential::new(amount, whole).ok()?.mechanism(),
        _ => return None,
    };
    Some((mechanism, count).into())
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
