//! The contour of losses that are blurred slightly, so that the contour ends (theory 4.6).
//!
//! With N the normal law of deviation h and n its density,
//!
//! `(N delta)(e) - h^2 E n(L - e) <= delta(e) <= (N delta)(e - h^2/2)`,
//!
//! and blurring multiplies the transform by `e^(h^2 z^2/2)`.

use super::factors::TransformFactors;
use super::line::{ContourLine, line, saddle_at_delta, saddle_at_epsilon};
use super::points::{Effort, alias};
use super::total_cumulant;
use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::{DOUBLES, DeltaBounds};
use crate::laws::BlurNeed;
use crate::laws::transform::Transform;
use crate::methods::largest;
use crate::methods::saddle::Saddle;
use crate::methods::search::solve_epsilon;
use crate::methods::{Failure, within_tolerance};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::complex::{Complex, times};
use counterpoint_numerics::{Dd, STEP, UNIT, Wide, exp, turn, turns};

// Allowances of the certificates below, each rounded up generously.

/// e^x - 1 is at most 2x for errors x of up to one.
const FIRST_ORDER: f64 = 2.0;
/// e^K(t)/T and e^(-t epsilon), in double-doubles.
const SCALE: f64 = 32.0 * STEP;
/// A kernel, a Gaussian's exponential and their products, relative to the moduli's sum.
const KERNEL: f64 = 64.0 * UNIT;
/// A phase: sixteen units of its turn, a few for its angle, and for each of at most [`TURNS`] products 4 u and two for
/// the factor's own rounding.
const TURNED: f64 = (64.0 + 8.0 * TURNS as f64) * UNIT;
/// One addition to a running sum.
const ADDED: f64 = 2.0 * UNIT;
/// The angle, in double-doubles, for each turn that it has made.
const ANGLE: f64 = 64.0 * STEP;
/// A bound on the loss of products of tiny numbers to underflow.
const UNDERFLOW: f64 = 1e-280;

/// The number of times a phase is turned before it is computed afresh.
const TURNS: u64 = 32;
/// The largest number of factors that are multiplied for one contour.
const LITTLE: f64 = 3e6;
const MUCH: f64 = 3e7;
/// The number of points, of all factors, that are evaluated in any case.
const POINTS: f64 = 200.0;
/// The blur ends a contour before this frequency times its deviation, and a little more.
const REACH: f64 = 10.0;
/// Blocks of points are bounded if there are more factors than this, or discrete Gaussians.
const MANY: f64 = 12.0;

/// True if some of the losses have atoms whose transforms do not fade, and blurring is possible for all.
pub(crate) fn is_for(parts: &[CountedLoss]) -> bool {
    let blurring = |part: &CountedLoss| part.law().blur_need();
    parts.iter().any(|part| blurring(part) == BlurNeed::Needed)
        && parts.iter().all(|part| blurring(part) != BlurNeed::Impossible)
}

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    parts: &[CountedLoss],
    target: &Target,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<Bracket, Failure> {
    let ln_target = target.lower.ln_estimate();
    let saddle = saddle_at_delta(parts, ln_target, watch)?;
    // At epsilon 0 the tolerance is absolute.
    let aim = if saddle.epsilon > 0.0 { tolerance * saddle.tilt * saddle.epsilon } else { 1e-3 };
    let share = aim.clamp(1e-13, 1e-2);
    refine(parts, saddle, (share, tolerance), (effort, &watch), |blurred, saddle| {
        let bracket = solve_epsilon(&|e| blurred.ends(e), target, saddle, &watch)?;
        within_tolerance(bracket, tolerance).inspect_err(|_| saddle.look_at(bracket))
    })
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[CountedLoss],
    epsilon: f64,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<DeltaBounds, Failure> {
    let saddle = saddle_at_epsilon(parts, epsilon, watch)?;
    refine(parts, saddle, (tolerance, tolerance), (effort, &watch), |blurred, saddle| {
        let ends = blurred.ends(epsilon);
        ends.within_tolerance(tolerance).inspect_err(|_| saddle.expect(ends))
    })
}

/// Blurs and neglects less and less until an answer meets the tolerance. The width shows by how much: next to an atom
/// it decreases with the blur's deviation only, elsewhere with its square.
fn refine<T>(
    parts: &[CountedLoss],
    mut saddle: Saddle,
    (share, tolerance): (f64, f64),
    (effort, watch): (Effort, &Watch<'_>),
    answer: impl Fn(&BlurredContour, &mut Saddle) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (mut share, mut best) = (share, f64::INFINITY);
    let core = POINTS * parts.len() as f64;
    let mut left = core + if effort == Effort::Little { LITTLE } else { MUCH };
    for _ in 0..8 {
        let blurred = match BlurredContour::new(parts, &saddle, share, &mut left, watch) {
            Err(Failure::TooMuch) if best.is_finite() => break,
            blurred => blurred?,
        };
        match answer(&blurred, &mut saddle) {
            Err(Failure::TooWide(width)) => {
                best = best.min(width);
                if blurred.is_last || share < 1e-14 {
                    break;
                }
                let ratio = tolerance / width.clamp(1e-300, 1.0);
                share = (0.5 * share * (ratio * ratio).clamp(0.02, 0.2)).max(1e-15);
            }
            answer => return answer,
        }
    }
    Err(Failure::TooWide(best))
}

/// A point with its two kernels; doubled for all points but the first.
struct BlurredPoint {
    index: u64,
    above: Complex,
    below: Complex,
    error: f64,
}

/// A blurred contour with its points and error bounds.
struct BlurredContour {
    t: f64,
    period: f64,
    /// h^2; and true if there is no time for a smaller blur.
    square: f64,
    is_last: bool,
    /// e^(K(t) + h^2 t^2/2) / T, and its relative error.
    scale: Wide,
    scale_error: f64,
    /// The sum of the losses' shifts and that of the blur.
    shift: Dd,
    samples: Vec<BlurredPoint>,
    /// A bound on the sum of the points that are left out.
    rest: f64,
    cut: Wide,
    aliases: [(f64, Wide); 2],
}

impl BlurredContour {
    fn new(
        parts: &[CountedLoss],
        saddle: &Saddle,
        share: f64,
        left: &mut f64,
        watch: &Watch<'_>,
    ) -> Result<Self, Failure> {
        let ContourLine { t, period, others } = line(parts, saddle, 0.1 * share, watch)?;
        let terms: Option<Vec<Transform>> =
            parts.iter().map(|part| Transform::new(part.law(), part.count, t)).collect();
        let terms = terms.ok_or(Failure::TooMuch)?;
        let factors = TransformFactors::new(&terms, t).ok_or(Failure::TooMuch)?;
        let (cumulant, error) = total_cumulant(parts, t).ok_or(Failure::TooMuch)?;
        // An estimate of the sum, and an upper bound on it.
        #[allow(clippy::disallowed_methods)]
        let ln_sum = saddle.ln_delta + t * saddle.epsilon - cumulant.hi + period.ln();
        let sum = exp(ln_sum.clamp(-600.0, 600.0)).min(1.0 / (t * (1.0 + t)));
        let allowance = 0.05 * share * sum;
        let unit = std::f64::consts::TAU / period;
        // No blur, if the contour ends by itself soon.
        let soon = 2e3 * unit;
        let ends = 4.0 * factors.envelope(soon) / (soon * unit) < 0.1 * allowance;
        let square = if ends { 0.0 } else { 0.6 * share / (t * (1.0 + t)) };
        // The least blur for which there is time, if no block can be bounded.
        let least =
            if factors.is_skipped(MANY) { 0.0 } else { REACH * factors.work() / (unit * *left) };
        let is_last = !ends && square < least * least;
        let square = if is_last { least * least } else { square };
        let exponent = cumulant + Dd::product(t, t) * (0.5 * square);
        let mut blurred = Self {
            t,
            period,
            square,
            is_last,
            scale: Wide::exp(exponent) * Wide::from(1.0 / period),
            scale_error: FIRST_ORDER * error + SCALE * (1.0 + exponent.hi.abs()),
            shift: factors.shift + Dd::product(square, t),
            samples: Vec::new(),
            rest: 0.0,
            cut: Wide::from(largest::left_out_mass(parts)),
            aliases: [(0.0, Wide::ZERO); 2],
        };
        blurred.evaluate(&factors, allowance, left, watch)?;
        for (slot, other) in blurred.aliases.iter_mut().zip(others) {
            *slot = alias(parts, other, t, period).ok_or(Failure::TooMuch)?;
        }
        Ok(blurred)
    }

    /// Evaluates all points up to where the blur and the envelope bound the rest. If there are many factors, blocks of
    /// points are bounded together where possible.
    fn evaluate(
        &mut self,
        factors: &TransformFactors,
        allowance: f64,
        left: &mut f64,
        watch: &Watch<'_>,
    ) -> Result<(), Failure> {
        let unit = std::f64::consts::TAU / self.period;
        let core = (6.0 / (factors.variance.sqrt() * unit)).ceil().clamp(4.0, 1e6) as u64;
        let (mut index, mut size) = (0, 8);
        // The points to evaluate before a block is tried again; their number increases with the failed tries.
        let (mut wait, mut pause) = (core + 1, 1);
        loop {
            let frequency = index as f64 * unit * (1.0 - DOUBLES);
            if index == core + 1 || (index > core && index.is_multiple_of(64)) {
                watch.check(0.5)?;
                let tail = self.tail(factors, frequency, unit);
                if tail <= 0.1 * allowance {
                    self.rest += tail;
                    return Ok(());
                }
            }
            if *left < 0.0 {
                return Err(Failure::TooMuch);
            }
            if wait == 0 && factors.is_skipped(MANY) {
                // At most to the next multiple of 64, where the tail is checked.
                let many = size.min(64 - index % 64);
                let weight = 2.0 * many as f64 * self.weight(frequency);
                let goal = 1e-3 * allowance / weight;
                let (bound, work) = factors.within((index, index + many - 1), self.period, goal);
                *left -= work;
                if bound <= goal {
                    self.rest += bound * weight;
                    index += many;
                    (size, pause) = ((2 * size).min(64), 1);
                    continue;
                }
                if size > 2 {
                    size /= 2;
                    continue;
                }
                (size, wait, pause) = (4, pause, (2 * pause).min(64));
            }
            *left -= self.sample(factors, index, 1e-6 * allowance);
            index += 1;
            wait = wait.saturating_sub(1);
        }
    }

    /// A bound on the weight of a point by both kernels and the blur, from a frequency on.
    fn weight(&self, frequency: f64) -> f64 {
        let blur = exp(-(0.5 * self.square * frequency * frequency * (1.0 - DOUBLES)).min(700.0));
        blur * (1.0 / (frequency * frequency) + self.square) * (1.0 + DOUBLES)
    }

    /// A bound on all points from a frequency on: sums of decreasing functions are at most their integrals from the
    /// point before, and the integral of `h^2 e^(-h^2 w^2/2)` is at most `e^(-h^2 w^2/2) / w`.
    fn tail(&self, factors: &TransformFactors, frequency: f64, unit: f64) -> f64 {
        let before = frequency - unit * (1.0 + DOUBLES);
        let blur = exp(-(0.5 * self.square * before * before * (1.0 - DOUBLES)).min(700.0));
        4.0 * factors.envelope(frequency) * blur / (before * unit) * (1.0 + DOUBLES)
    }

    /// Evaluates a point, and stores it unless it is negligible. Returns the work.
    fn sample(&mut self, factors: &TransformFactors, index: u64, nothing: f64) -> f64 {
        let (value, error, work) = factors.value(index, self.period);
        let (t, w) = (self.t, std::f64::consts::TAU * (index as f64 / self.period));
        let blur = exp(-(0.5 * self.square * w * w).min(700.0));
        let twice = if index == 0 { 1.0 } else { 2.0 };
        // 1 / (z (1 + z)).
        let (re, im) = (t * (1.0 + t) - w * w, (1.0 + 2.0 * t) * w);
        let size = re * re + im * im;
        let kernel = (re / size, -im / size);
        let weight = twice * blur;
        let modulus = (value.0 * value.0 + value.1 * value.1).sqrt();
        // re may cancel; its two terms do not.
        let kernel_size = (t * (1.0 + t) + w * w) / size + self.square;
        let error = weight * kernel_size * (error * (1.0 + DOUBLES) + KERNEL * modulus) + UNDERFLOW;
        let most = weight * kernel_size * modulus + error;
        if !most.is_finite() {
            self.rest = f64::INFINITY;
        } else if index > 0 && most <= nothing / (1.0 + index as f64) {
            self.rest += most * (1.0 + DOUBLES);
        } else {
            let by = |kernel: Complex| {
                let product = times(value, kernel);
                (weight * product.0, weight * product.1)
            };
            let below = by((kernel.0 - self.square, kernel.1));
            self.samples.push(BlurredPoint { index, above: by(kernel), below, error });
        }
        work
    }

    /// The sum at an epsilon, over the scale and without e^(-t e): value and absolute error.
    fn sum(&self, epsilon: Dd, kernel: impl Fn(&BlurredPoint) -> Complex) -> (f64, f64) {
        let step = (self.shift - epsilon).scaled(1.0 / self.period);
        let one = turns(step);
        let one = (one.0.hi, one.1.hi);
        let (mut sum, mut error, mut total) = (0.0, self.rest, 0.0);
        let (mut at, mut next, mut fresh) = ((1.0, 0.0), u64::MAX, 0);
        for sample in &self.samples {
            if sample.index == next && fresh < TURNS {
                at = times(at, one);
                fresh += 1;
            } else {
                (at, fresh) = (phase(step, sample.index), 0);
            }
            next = sample.index + 1;
            let value = kernel(sample);
            let size = value.0.abs() + value.1.abs();
            sum += value.0 * at.0 - value.1 * at.1;
            total += size;
            error += sample.error + TURNED * size + ADDED * sum.abs();
        }
        let furthest = self.samples.last().map_or(1.0, |sample| sample.index as f64 + 1.0);
        let turned = (self.shift.hi.abs() + epsilon.hi.abs()) / self.period * furthest;
        (sum, (error + ANGLE * (1.0 + turned) * total) * (1.0 + DOUBLES))
    }

    /// Bounds on the pure delta.
    fn ends(&self, epsilon: f64) -> DeltaBounds {
        let moved = Dd::from(epsilon) - Dd::from(0.5 * self.square);
        let (sum, error) = self.sum(moved, |sample| sample.above);
        let factor = |at: Dd| self.scale * Wide::exp(-(at * self.t));
        let slack = self.scale_error + SCALE * (1.0 + self.t * (epsilon + self.square));
        // A NaN bounds nothing.
        let most = if (sum + error).is_nan() { f64::INFINITY } else { (sum + error).max(0.0) };
        let upper = factor(moved) * Wide::from(most) * Wide::from(1.0 + slack) + self.cut;
        let (sum, error) = self.sum(Dd::from(epsilon), |sample| sample.below);
        let least = (sum - error).max(0.0) * (1.0 - slack).max(0.0);
        let lower = factor(Dd::from(epsilon)) * Wide::from(least);
        let excess = self.aliases.iter().fold(Wide::ZERO, |total, &(tilt, factor)| {
            total + factor * Wide::exp(Dd::product(-tilt, epsilon))
        });
        let lower = lower - excess;
        DeltaBounds::new(if lower.is_positive() { lower } else { Wide::ZERO }, upper)
    }
}

/// e^(2 pi i index step).
fn phase(step: Dd, index: u64) -> Complex {
    const BITS: u32 = 53;
    let turns = step * index as f64;
    let rest = turns - Dd::from(turns.hi.floor());
    let rest = (rest.hi - rest.hi.floor()).clamp(0.0, 1.0 - UNIT);
    turn((rest * (1_u64 << BITS) as f64) as u64, BITS)
}
