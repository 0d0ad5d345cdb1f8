use std::time::{Duration, Instant};

use counterpoint::quantity::{GroupSize, NoiseScale, Rate, Sensitivity};
use counterpoint::{
    Adjacency, AskError, Count, Delta, Guarantee, Mechanism, Options, Plan, Release,
};

use super::costs::at;
use super::width::different;
use super::{FigureError, Parameters};
use crate::plot::{Axis, Chart, Figure, Series, Style, scientific};

const DELTA: f64 = 1e-6;
/// The longest time for repeating one measurement.
const TIME_LIMIT: Duration = Duration::from_millis(60);
const MOST_RUNS: usize = 9;

/// Draws the computing times of answers, measured now.
pub(super) fn figure(_: &Parameters) -> Result<Figure, FigureError> {
    let delta = Delta::new(DELTA)?;
    let powers = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
    let equal = measured(&powers, |count| {
        let plan = Plan::new([(Guarantee::pure(0.01)?, Count::new(count)?)])?;
        Ok(move || plan.epsilon(delta, &Options::default()).map(drop))
    })?;
    let different = measured(&[1, 3, 10, 30, 100, 300, 1000, 3000, 10_000], |count| {
        let plan = different(u32::try_from(count).unwrap_or(u32::MAX))?;
        Ok(move || plan.epsilon(delta, &Options::default()).map(drop))
    })?;
    let training = measured(&powers, |count| {
        let plan = training(count)?;
        Ok(move || plan.epsilon(delta, &Options::default()).map(drop))
    })?;
    let slowest = |points: &[(f64, f64)]| {
        points.iter().copied().fold((0.0, 0.0), |most, p| if p.1 > most.1 { p } else { most })
    };
    let (steps, most) = slowest(&training);
    let shown_delta = scientific(DELTA);
    let caption = format!(
        "Claim: a certified ε at δ = {shown_delta} to six digits is a matter of milliseconds, however many \
         releases. A million equal ones take {}, a million steps of DP-SGD (σ = 1, rate 0.01) {}, 1000 \
         different ones {}. Where it ends: time grows with the number of different releases ({} for \
         10⁴), and some counts of steps need a lattice in place of the contour ({} for {steps}). \
         Medians, on the machine and at the moment that drew this figure.",
        shown(at(&equal, 1e6)),
        shown(at(&training, 1e6)),
        shown(at(&different, 1e3)),
        shown(at(&different, 1e4)),
        shown(most),
    );
    let axis = |label: &str| Axis::new(label).log();
    let mut chart = Chart::new(axis("number of releases k"), axis("time of one answer").unit("s"));
    let series = [("equal ε", equal), ("different ε", different), ("steps of DP-SGD", training)];
    for (n, (name, points)) in series.into_iter().enumerate() {
        chart.series.push(Series::new(name, points).style(Style::nth(n + 1)));
    }
    Ok(Figure::new("How long a certified answer takes", caption, [chart]))
}

/// Gaussian noise on Poisson samples.
fn training(steps: u64) -> Result<Plan, FigureError> {
    let (sigma, sensitivity) = (NoiseScale::new(1.0)?, Sensitivity::new(1.0)?);
    let step: Release = (Mechanism::Gaussian { sigma, sensitivity }, Count::new(steps)?).into();
    let step = Release { rate: Some(Rate::new(0.01)?), ..step };
    Ok(Plan::for_neighbours([step], Some(Adjacency::AddRemove), GroupSize::ONE)?)
}

/// Measures the median time of a question for each count.
pub(super) fn measured<Q: FnMut() -> Result<(), AskError>>(
    counts: &[u64],
    question: impl Fn(u64) -> Result<Q, FigureError>,
) -> Result<Vec<(f64, f64)>, FigureError> {
    let point = |&count: &u64| Ok((count as f64, median_seconds(question(count)?)?));
    counts.iter().map(point).collect()
}

fn median_seconds(mut question: impl FnMut() -> Result<(), AskError>) -> Result<f64, FigureError> {
    let begun = Instant::now();
    let mut times = Vec::new();
    while times.len() < MOST_RUNS && (times.is_empty() || begun.elapsed() < TIME_LIMIT) {
        let start = Instant::now();
        question()?;
        // The clock may be too coarse for short times.
        times.push(start.elapsed().as_secs_f64().max(1e-9));
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() / 2).copied().unwrap_or(f64::NAN))
}

/// Formats a time in a suitable unit.
pub(super) fn shown(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.0} µs", 1e6 * seconds),
        ..1.0 => format!("{:.1} ms", 1e3 * seconds),
        _ => format!("{seconds:.1} s"),
    }
}
