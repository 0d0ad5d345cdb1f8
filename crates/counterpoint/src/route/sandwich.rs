//! The composed profile between two lattices: the split one from above, the merged one
//! from below, refined until the tolerance is met.

use super::contour::{Contour, NoContour, Weight};
use super::convolution::{self, Convolution};
use super::lattice::{Side, Tilted};
use super::saddle::{Cumulant, Saddle};
use super::tail::Tail;
use crate::bracket::Bracket;
use crate::composition::Factor;
use crate::leak::Target;
use crate::rounding::{Dd, STEP, Wide};
use crate::watch::Watch;

/// How the sums on a lattice are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Whichever is cheaper.
    Either,
    Contour,
    Convolution,
}

/// Why there is no sandwich.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Failure {
    Stopped,
    /// It would take too much work.
    TooMuch,
    /// The width reached when refining had to stop.
    TooWide(f64),
}

/// A pure delta: lower and upper end.
pub(crate) type Ends = (Wide, Wide);

#[derive(Clone, Debug)]
enum Engine {
    Contour(Contour),
    Convolution(Convolution),
}

/// A tilted lattice with a way to sum up its tail.
#[derive(Clone, Debug)]
struct Summed {
    lattice: Tilted,
    engine: Engine,
}

/// The work of one evaluation of one factor at one point, in multiplications.
const POINT_WORK: f64 = 4.0;
/// The most multiplications a convolution may take.
const MOST_WORK: f64 = 4e10;

/// One try at a given step.
struct Attempt<'a> {
    factors: &'a [Factor],
    largest: Dd,
    largest_error: f64,
    step: f64,
    saddle: Saddle,
    bits: u32,
    /// Tilts for the bounds on the aliases, above and below.
    outer: (f64, f64),
    method: Method,
    /// What may be neglected, relative to delta.
    negligible: f64,
    watch: Watch<'a>,
}

impl<'a> Attempt<'a> {
    fn new(
        factors: &'a [Factor],
        cumulant: &Cumulant,
        saddle: Saddle,
        step: f64,
        negligible: f64,
        method: Method,
        watch: Watch<'a>,
    ) -> Self {
        let largest = largest_loss(factors);
        let largest_error = STEP * (factors.len() as f64 + 4.0) * largest.hi / 64.0;
        let (bits, outer) = period(cumulant, &saddle, step, negligible, largest.hi);
        Self { factors, largest, largest_error, step, saddle, bits, outer, method, negligible, watch }
    }

    /// t h, for the lattice under P; nudged up by a step for Q, whose law is P's tilted
    /// by one.
    fn tilt(&self, side: Side) -> f64 {
        let tilt = self.saddle.tilt * self.step;
        if side == Side::MergedQ { tilt + self.step } else { tilt }
    }

    fn summed(&self, side: Side, weight: Weight) -> Result<Summed, Failure> {
        let lattice = Tilted::new(self.factors, side, self.step, self.tilt(side));
        let limit = ((self.largest.hi - self.saddle.epsilon).max(0.0) * 1.02 / self.step + 64.0).min(1e15);
        let convolving = convolution::work(&lattice, limit);
        let most = if self.method == Method::Contour { f64::INFINITY } else { convolving / POINT_WORK + 2e4 };
        if self.method != Method::Convolution {
            match Contour::new(&lattice, weight, self.bits, self.negligible, most, &self.watch) {
                Ok(contour) => return Ok(Summed { lattice, engine: Engine::Contour(contour) }),
                Err(NoContour::Stopped) => return Err(Failure::Stopped),
                Err(NoContour::TooMuch(_)) if self.method == Method::Contour => return Err(Failure::TooMuch),
                Err(NoContour::TooMuch(_)) => {}
            }
        }
        if convolving > MOST_WORK || limit > 2e8 {
            return Err(Failure::TooMuch);
        }
        let convolution = Convolution::new(&lattice, weight, limit as u64, &self.watch)
            .map_err(|_| Failure::Stopped)?;
        Ok(Summed { lattice, engine: Engine::Convolution(convolution) })
    }

    /// How many whole steps lie between the largest loss and an epsilon a little below
    /// the given one, and what is left over, between zero and a step.
    fn place(&self, epsilon: f64) -> Option<(u64, f64)> {
        let gap = self.largest - Dd::from(epsilon) + Dd::from(2.0 * self.largest_error);
        if !gap.is_positive() {
            return None;
        }
        let scaled = gap.scaled(1.0 / self.step);
        let mut whole = scaled.hi.floor();
        if Dd::from(whole) >= scaled {
            whole -= 1.0;
        }
        let kappa = ((scaled - Dd::from(whole)).scaled(self.step)).upper().min(self.step);
        Some((whole.max(0.0) as u64, kappa))
    }
}

impl Summed {
    /// The lattice's sum at y0, times its scale: value and absolute error.
    fn at(&self, y0: u64, kappa: f64) -> Ends {
        let (value, error) = match &self.engine {
            Engine::Contour(contour) => contour.sum(y0, kappa),
            Engine::Convolution(convolution) => convolution.sum(y0, kappa),
        };
        let scale = self.lattice.scale * Wide::exp(Dd::product(self.lattice.tilt, y0 as f64));
        let relative = self.lattice.error + STEP * (64.0 + self.lattice.tilt * y0 as f64);
        let error = error + relative * (value.abs() + error);
        (scale * Wide::from((value - error).max(0.0)), scale * Wide::from((value + error).next_up()))
    }

    fn has_aliases(&self) -> bool {
        matches!(self.engine, Engine::Contour(_))
    }
}

/// The dominating lattice, ready to bound the profile from above.
struct Above<'a> {
    attempt: &'a Attempt<'a>,
    split: Summed,
}

impl Above<'_> {
    fn delta(&self, epsilon: f64) -> Wide {
        match self.attempt.place(epsilon) {
            Some((y0, kappa)) => self.split.at(y0, kappa).1,
            None => Wide::ZERO,
        }
    }
}

/// The dominated lattice, ready to attack: a test "Y at most y1" and its success under
/// P and Q.
struct Below<'a> {
    attempt: &'a Attempt<'a>,
    p: Summed,
    q: Summed,
    /// By how much the merged loss differs from the true one, on average.
    bias: f64,
}

impl<'a> Below<'a> {
    fn new(attempt: &'a Attempt<'a>) -> Result<Self, Failure> {
        let p = attempt.summed(Side::MergedP, Weight::Mass)?;
        let q = attempt.summed(Side::MergedQ, Weight::Mass)?;
        let bias = attempt.factors.iter().zip(&p.lattice.cells).map(|(factor, cell)| {
            let moved = 2.0 * factor.epsilon - cell.steps as f64 * attempt.step;
            cell.count as f64 * cell.high[1] * moved
        });
        let bias = bias.sum();
        Ok(Self { attempt, p, q, bias })
    }

    /// The P mass, from below, and the Q mass, from above, of the losses the test takes
    /// to be above an epsilon.
    fn test(&self, epsilon: f64, shift: f64) -> Tail {
        let gap = self.attempt.largest.hi - epsilon - self.bias;
        let y1 = (gap / self.attempt.step + shift).floor().max(0.0) as u64;
        let p = self.p.at(y1, 0.0).0;
        let aliases = if self.p.has_aliases() { self.aliases(y1) } else { Wide::ZERO };
        let p = p - aliases;
        let q = self.q.at(y1, 0.0).1;
        Tail { p: if p.is_positive() { p } else { Wide::ZERO }, q, slack: 4.0 * STEP }
    }

    /// What the contour's aliases can have added to the P mass, by Chernoff's bound at
    /// the outer tilts (theorems.md, aliases).
    fn aliases(&self, y1: u64) -> Wide {
        let attempt = self.attempt;
        let (tilt, step) = (self.p.lattice.tilt, attempt.step);
        let points = (attempt.bits as f64).exp2();
        if points > self.p.lattice.most_steps {
            return Wide::ZERO;
        }
        let bound = |other: f64| {
            let other = other * step;
            let scale = Tilted::scale_at(attempt.factors, Side::MergedP, step, other);
            let periods = (other - tilt).abs() * points;
            // 1/(e^x - 1), a little more.
            let share = Wide::exp(Dd::from(-periods * (1.0 - 1e-12))) * Wide::from(1.0 / (1.0 - (-periods).exp()) * 1.001);
            scale * Wide::exp(Dd::product(other, y1 as f64)) * share
        };
        let above = if (y1 as f64) < points { Wide::ZERO } else { bound(attempt.outer.0) };
        above + bound(attempt.outer.1)
    }
}

/// The largest loss, the sum of all epsilons.
pub(crate) fn largest_loss(factors: &[Factor]) -> Dd {
    factors.iter().fold(Dd::ZERO, |sum, f| sum + Dd::product(f.count as f64, f.epsilon))
}

/// The number of points, as a power of two, that makes the aliases negligible, and the
/// tilts that show it; all estimated.
fn period(
    cumulant: &Cumulant,
    saddle: &Saddle,
    step: f64,
    negligible: f64,
    largest: f64,
) -> (u32, (f64, f64)) {
    let t = saddle.tilt;
    let goal = saddle.ln_delta + (negligible * 0.1).ln();
    let exponent = |other: f64, length: f64| {
        cumulant.at(other).0 - other * saddle.epsilon - (other - t).abs() * length
    };
    let best = |candidates: &[f64], length: f64| {
        let rated = candidates.iter().map(|&c| (exponent(c * t, length), c * t));
        rated.fold((f64::INFINITY, t), |a, b| if b.0 < a.0 { b } else { a })
    };
    let mut bits = (16.0 * saddle.variance.sqrt() / step).log2().ceil().clamp(4.0, 48.0) as u32;
    loop {
        let length = step * f64::from(bits).exp2();
        let above = best(&[1.05, 1.1, 1.2, 1.4, 1.7, 2.0, 3.0, 5.0, 10.0], length);
        let below = best(&[0.0, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95], length);
        let settled = above.0 < goal && below.0 < goal;
        if settled || length > 2.1 * largest || bits >= 50 {
            return (bits, (above.1, below.1));
        }
        bits += 1;
    }
}

/// The step at which the gap between the lattices should be `gap`, relative to delta: it
/// grows by about `t (t+1) h^2 / 6` for each expected minus under the tilted law.
fn first_step(cumulant: &Cumulant, saddle: &Saddle, gap: f64) -> f64 {
    let t = saddle.tilt;
    let minuses = cumulant.expected_minuses(t).max(1e-6);
    power_below((6.0 * gap / (t * (t + 1.0) * minuses)).sqrt().clamp(1e-12, 1.0))
}

fn power_below(x: f64) -> f64 {
    x.log2().floor().exp2()
}

/// How often the step is refined.
const MOST_TRIES: usize = 8;

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    factors: &[Factor],
    target: &Target,
    tolerance: f64,
    method: Method,
    watch: Watch<'_>,
) -> Result<(Bracket, bool), Failure> {
    let cumulant = Cumulant::new(factors);
    let saddle = cumulant.at_ln_delta(target.lower.ln_estimate());
    let gap = tolerance * saddle.tilt * saddle.epsilon.max(1e-9);
    let mut step = first_step(&cumulant, &saddle, 0.5 * gap.min(0.1));
    let mut best = f64::INFINITY;
    for _ in 0..MOST_TRIES {
        let negligible = (1e-3 * gap).clamp(1e-13, 1e-3);
        let attempt = Attempt::new(factors, &cumulant, saddle, step, negligible, method, watch);
        let above = Above { attempt: &attempt, split: attempt.summed(Side::Split, Weight::Profile)? };
        let upper = satisfying(|e| above.delta(e), target, &saddle, attempt.largest.upper());
        let below = Below::new(&attempt)?;
        let lower = [0.0, -1.0, 1.0].map(|shift| below.test(upper, shift).root(target).0);
        let lower = lower.into_iter().fold(0.0, f64::max).min(upper);
        let bracket = Bracket { lower, upper };
        let contour = above.split.has_aliases();
        if bracket.relative_width() <= tolerance || bracket.width() <= 1e-12 {
            return Ok((bracket, contour));
        }
        best = best.min(bracket.relative_width());
        step = refined(step, bracket.relative_width() / tolerance);
    }
    Err(Failure::TooWide(best))
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    factors: &[Factor],
    epsilon: f64,
    tolerance: f64,
    method: Method,
    watch: Watch<'_>,
) -> Result<(Ends, bool), Failure> {
    let cumulant = Cumulant::new(factors);
    let saddle = Saddle { epsilon, ..cumulant.at_epsilon(epsilon) };
    let mut step = first_step(&cumulant, &saddle, 0.5 * tolerance);
    let mut best = f64::INFINITY;
    for _ in 0..MOST_TRIES {
        let negligible = (1e-3 * tolerance).max(1e-13);
        let attempt = Attempt::new(factors, &cumulant, saddle, step, negligible, method, watch);
        let above = Above { attempt: &attempt, split: attempt.summed(Side::Split, Weight::Profile)? };
        let upper = above.delta(epsilon);
        let below = Below::new(&attempt)?;
        let lower = [0.0, -1.0, 1.0].map(|shift| below.test(epsilon, shift).delta(epsilon).0);
        let lower = lower.into_iter().fold(Wide::ZERO, |a, b| if b > a { b } else { a });
        let width = ((upper - lower) * upper.recip()).estimate();
        let contour = above.split.has_aliases();
        if width <= tolerance || !upper.is_positive() {
            return Ok(((lower, upper), contour));
        }
        best = best.min(width);
        step = refined(step, width / tolerance);
    }
    Err(Failure::TooWide(best))
}

/// A finer step, given by how much the gap, which falls with its square, is too wide.
fn refined(step: f64, excess: f64) -> f64 {
    power_below(step / (1.5 * excess).sqrt().clamp(2.0, 64.0))
}

/// An epsilon that surely satisfies the target, as near the least such as the bound
/// allows: the secant method on ln delta, every step checked.
fn satisfying(delta: impl Fn(f64) -> Wide, target: &Target, saddle: &Saddle, top: f64) -> f64 {
    let goal = target.lower;
    let ln_goal = goal.ln_estimate();
    let (mut low, mut high) = (0.0_f64, top);
    let mut at = saddle.epsilon.clamp(0.0, top);
    let mut slope = saddle.tilt;
    let mut last: Option<(f64, f64)> = None;
    for _ in 0..100 {
        let value = delta(at);
        if value <= goal {
            high = at;
        } else if at <= low && at > 0.0 {
            break;
        } else {
            low = at;
        }
        if high <= 0.0 || high - low <= 4e-16 * high {
            break;
        }
        let height = if value.is_positive() { value.ln_estimate() - ln_goal } else { -50.0 };
        if let Some((x, y)) = last.filter(|&(x, _)| (x - at).abs() > 0.0) {
            let secant = (y - height) / (at - x);
            if secant > 0.0 && secant.is_finite() {
                slope = secant;
            }
        }
        last = Some((at, height));
        if value <= goal && height > -1e-13 {
            break;
        }
        // Aim a hair to the safe side, so that the last step lands on it.
        let next = at + (height + 3e-14) / slope;
        at = if next > low && next < high { next } else { 0.5 * low + 0.5 * high };
        if at <= low && low <= 0.0 {
            at = 0.0;
        }
    }
    high
}
