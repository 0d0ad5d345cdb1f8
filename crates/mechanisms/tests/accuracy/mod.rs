//! Accuracy as stated against the law of what is released, worked out here by other means, and against
//! accuracy as seen: 10^5 runs in a full run, 2,000 in a quick one. A file for each statistic.

use counterpoint_mechanisms::{Bounds, Data, Measurement, NoisyQuery, Query, Reply};
use counterpoint_testing::tries;

mod mean;
mod proportion;
mod variance;
mod quantile;
mod sampling;
mod counts;
mod every;

fn bounds() -> Bounds {
    Bounds::new(-5.0, 5.0).unwrap()
}

const HALF: f64 = 5.0;

/// P(noise > x) and the mean of a continuous law.
#[derive(Clone, Copy)]
enum Law {
    Laplace(f64),
    Normal(f64),
}

impl Law {
    fn above(self, x: f64) -> f64 {
        match self {
            Self::Laplace(scale) if x >= 0.0 => 0.5 * (-x / scale).exp(),
            Self::Laplace(_) => 1.0 - self.above(-x),
            Self::Normal(sigma) => 0.5 * libm::erfc(x / (sigma * 2.0_f64.sqrt())),
        }
    }

    fn density(self, x: f64) -> f64 {
        match self {
            Self::Laplace(scale) => 0.5 * (-x.abs() / scale).exp() / scale,
            Self::Normal(sigma) => {
                let t = x / sigma;
                (-0.5 * t * t).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt())
            }
        }
    }

    /// Noise of the same kind on whole numbers, one by one.
    fn whole(self) -> Vec<(f64, f64)> {
        let (scale, far) = match self {
            Self::Laplace(scale) => (scale, 25.0 * scale),
            Self::Normal(sigma) => (sigma, 9.0 * sigma),
        };
        let weight = |a: f64| match self {
            Self::Laplace(_) => (-a.abs() / scale).exp(),
            Self::Normal(_) => (-0.5 * (a / scale).powi(2)).exp(),
        };
        let far = far.ceil() as i64;
        let total: f64 = (-far..=far).map(|a| weight(a as f64)).sum();
        (-far..=far).map(|a| (a as f64, weight(a as f64) / total)).collect()
    }

    fn scaled(self, by: f64) -> Self {
        match self {
            Self::Laplace(scale) => Self::Laplace(scale * by),
            Self::Normal(sigma) => Self::Normal(sigma * by),
        }
    }
}

/// The styles with the law of noise for one of `parts` numbers that move by one.
fn styles(query: &Query, parts: f64) -> [(NoisyQuery, Law); 2] {
    [
        (query.laplace(0.8).unwrap(), Law::Laplace(parts / 0.8)),
        (query.gaussian(3.0).unwrap(), Law::Normal(3.0 * parts.sqrt())),
    ]
}

/// The least number, to six digits, with something that falls at most this.
fn least(falling: impl Fn(f64) -> f64, most: f64, at_most: f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    while high - low > 1e-6 * high {
        let middle = 0.5 * (low + high);
        if falling(middle) <= at_most { high = middle } else { low = middle }
    }
    high
}

/// The mean of a number of which it is known how often it is larger, none being above `most`.
fn expected(fails: impl Fn(f64) -> f64, most: f64) -> f64 {
    let steps = 200;
    let nodes = (0..steps).map(|j| (f64::from(j) + 0.5) / f64::from(steps));
    nodes.map(|x| 2.0 * x * most * fails(most * x * x)).sum::<f64>() / f64::from(steps)
}

fn is_tight(found: f64, truth: f64, most: f64) -> bool {
    found >= truth * (1.0 - 2e-5) && found <= truth * most
}

const ROWS: u64 = 400;

/// How often answers are within the half-width, and the mean distance from the truth.
fn seen(measurement: &Measurement, data: &Data, truth: f64, half_width: f64) -> (f64, f64) {
    let runs = tries(100_000, 0.02);
    let (mut within, mut distance) = (0.0, 0.0);
    for _ in 0..runs {
        let off = (first(&measurement.run(data).unwrap()) - truth).abs();
        within += f64::from(u8::from(off <= half_width * (1.0 + 1e-9)));
        distance += off;
    }
    (within / runs as f64, distance / runs as f64)
}

fn first(reply: &Reply) -> f64 {
    match reply {
        Reply::Table(bins) => bins[0],
        other => other.number().unwrap(),
    }
}

/// Six standard deviations of what is seen with this probability.
fn slack(probability: f64) -> f64 {
    6.0 * (probability * (1.0 - probability) / tries(100_000, 0.02) as f64).sqrt()
}

fn table(reply: Reply) -> Vec<f64> {
    match reply {
        Reply::Table(numbers) => numbers,
        other => panic!("{other:?}"),
    }
}

/// How often the greatest error is at most a width, for some widths at once.
fn all_within(widths: [f64; 3], runs: u64, greatest: impl Fn() -> f64) -> [f64; 3] {
    let mut within = [0.0; 3];
    for _ in 0..runs {
        let off = greatest();
        within.iter_mut().zip(widths).for_each(|(within, width)| {
            *within += f64::from(u8::from(off <= width * (1.0 + 1e-9))) / runs as f64;
        });
    }
    within
}
