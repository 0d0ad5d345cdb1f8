//! One line of integration, its evaluated points, and the bounds on delta at any epsilon.

use super::line::{ContourLine, line};
use super::total_cumulant;
use crate::composition::CountedLoss;
use crate::delta_bounds::{DOUBLES, DeltaBounds};
use crate::laws::transform::Transform;
use crate::laws::transform::contour_point::ContourPoint;
use crate::methods::Failure;
use crate::methods::largest;
use crate::methods::saddle::Saddle;
use crate::watch::Watch;
use counterpoint_numerics::complex::{power, times};
use counterpoint_numerics::{Dd, STEP, UNIT, Wide, exp, expm1, turn};

/// The amount of work for a contour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Enough to try whether the contour ends soon; more if it is known to end.
    Little,
    /// As much as is bearable.
    Much,
}

impl Effort {
    /// The most turns one contour may take.
    fn most_work(self) -> f64 {
        match self {
            Self::Little => 2e5,
            Self::Much => 1e7,
        }
    }
}

// Allowances of the certificates below, each rounded up generously.

/// e^x - 1 is at most 2x for errors x of up to one, and (1 + x)^n - 1 at most e^(n x) - 1.
const FIRST_ORDER: f64 = 2.0;
/// e^K(t)/T: an exponential and a product, in double-doubles.
const SCALE: f64 = 16.0 * STEP;
/// e^(-t epsilon): a product, a difference and an exponential.
const SHIFT: f64 = 8.0 * STEP;
/// A point times its turn: sixteen units for the turn, four products and two sums; its own modulus, twice.
const TURNED: f64 = 64.0 * UNIT;
/// One addition to a running sum of doubles.
const ADDED: f64 = 2.0 * UNIT;
/// The angle, in double-doubles, for each turn that it has made.
const ANGLE: f64 = 64.0 * STEP;
/// One factor of a power: a complex product in double-doubles.
const POWER: f64 = 32.0 * STEP;
/// 1/(z (1 + z)) in doubles, ten operations.
const KERNEL: f64 = 16.0 * UNIT;
/// A bound on aliases: exponents of at most 10^4, rounded four times.
const ALIASES: f64 = 1.001;
/// A bound on the loss of products of tiny numbers to underflow.
const UNDERFLOW: f64 = 1e-280;

/// The number of points between two calls of the watch.
const OFTEN: u64 = 16;

/// One point: phi and its error relative to M(t), kernel included.
pub(super) struct PointValue {
    index: u64,
    /// phi / (z (1 + z)); doubled for all points but the first, which stand for their conjugates too.
    value: (f64, f64),
    error: f64,
}

/// A contour with its points and error bounds.
pub(super) struct Contour {
    t: f64,
    period: f64,
    /// e^K(t) / T.
    scale: Wide,
    /// Relative error of the scale.
    scale_error: f64,
    /// The sum of the losses' shifts.
    shift: Dd,
    points: Vec<PointValue>,
    /// A bound on the sum of the points that are left out.
    rest: f64,
    /// The P mass that no term contains; it may have any loss.
    cut: Wide,
    /// Tilts above and below t with their `c(t') e^K(t') / (e^(|t' - t| T) - 1)`.
    pub(super) aliases: [(f64, Wide); 2],
}

impl PointValue {
    /// A value relative to M(t), known to an absolute error.
    pub(super) fn new(
        place: ContourPoint,
        t: f64,
        (a, b): (f64, f64),
        error: f64,
    ) -> Result<Self, Failure> {
        let w = place.frequency().hi;
        // 1 / (z (1 + z)).
        let (re, im) = (t * (1.0 + t) - w * w, (1.0 + 2.0 * t) * w);
        let size = re * re + im * im;
        let twice = if place.index == 0 { 1.0 } else { 2.0 };
        let value = (twice * (a * re + b * im) / size, twice * (b * re - a * im) / size);
        let over = twice / size.sqrt();
        let norm = modulus(a, b) * over;
        // re may cancel; its two terms do not.
        let kernel = KERNEL * (t * (1.0 + t) + w * w) / size.sqrt();
        let error = error * over * (1.0 + DOUBLES) + (kernel + TURNED) * norm + UNDERFLOW;
        let point = Self { index: place.index, value, error };
        let is_known = error.is_finite() && value.0.is_finite() && value.1.is_finite();
        if is_known { Ok(point) } else { Err(Failure::TooMuch) }
    }
}

impl Contour {
    /// A contour with known points, without its aliases.
    pub(super) fn of_points(
        (t, period): (f64, f64),
        scale: Wide,
        scale_error: f64,
        points: Vec<PointValue>,
        rest: f64,
    ) -> Self {
        Self {
            t,
            period,
            scale: scale * Wide::from(1.0 / period),
            scale_error: scale_error + SCALE,
            shift: Dd::ZERO,
            points,
            rest,
            cut: Wide::ZERO,
            aliases: [(0.0, Wide::ZERO); 2],
        }
    }

    pub(super) fn new(
        parts: &[CountedLoss],
        saddle: &Saddle,
        negligible: f64,
        effort: Effort,
        watch: &Watch<'_>,
    ) -> Result<Self, Failure> {
        let ContourLine { t, period, others } = line(parts, saddle, negligible, watch)?;
        let terms: Option<Vec<Transform>> =
            parts.iter().map(|part| Transform::new(part.law(), part.count, t)).collect();
        let terms = terms.ok_or(Failure::TooMuch)?;
        let (cumulant, error) = total_cumulant(parts, t).ok_or(Failure::TooMuch)?;
        let shift = terms.iter().fold(Dd::ZERO, |sum, term| sum + term.shift * term.count as f64);
        let mut contour = Self {
            t,
            period,
            scale: Wide::exp(cumulant) * Wide::from(1.0 / period),
            scale_error: FIRST_ORDER * error + SCALE * (1.0 + cumulant.hi.abs()),
            shift,
            points: Vec::new(),
            rest: 0.0,
            cut: Wide::from(largest::left_out_mass(parts)),
            aliases: [(0.0, Wide::ZERO); 2],
        };
        // An estimate of the sum, and an upper bound on it.
        #[allow(clippy::disallowed_methods)]
        let ln_sum = saddle.ln_delta + t * saddle.epsilon - cumulant.hi + period.ln();
        let sum = exp(ln_sum.clamp(-600.0, 600.0)).min(1.0 / (t * (1.0 + t)));
        contour.evaluate(&terms, 0.1 * negligible * sum, effort, watch)?;
        for (slot, other) in contour.aliases.iter_mut().zip(others) {
            *slot = alias(parts, other, t, period).ok_or(Failure::TooMuch)?;
        }
        Ok(contour)
    }

    /// Evaluates the first points, then goes outward block by block. All points of a block are bounded at once if that
    /// is enough. If not, the block is halved, and a small remainder is evaluated. It ends when the envelope bounds all
    /// the rest.
    fn evaluate(
        &mut self,
        terms: &[Transform],
        allowance: f64,
        effort: Effort,
        watch: &Watch<'_>,
    ) -> Result<(), Failure> {
        let spread: f64 = terms.iter().map(|term| term.variance * term.count as f64).sum();
        let unit = std::f64::consts::TAU / self.period;
        let work =
            |index: u64| terms.iter().map(|term| term.work(index as f64 * unit)).sum::<f64>();
        // What the envelope leaves after the points that an effort pays for.
        let left = |effort: Effort| tail(terms, (effort.most_work() / work(1)) as u64, unit);
        let enveloped = terms.iter().all(Transform::is_enveloped);
        let ends = enveloped && left(Effort::Much) <= 0.1 * allowance;
        if enveloped && !ends && effort == Effort::Little && left(effort) > 10.0 * allowance {
            return Err(Failure::TooMuch);
        }
        let most = if ends { Effort::Much } else { effort }.most_work();
        let last = (6.0 / (spread.sqrt() * unit)).ceil().clamp(4.0, 1e6) as u64;
        let mut spent =
            self.evaluate_block(terms, PointBlock { first: 0, last }, (&work, most), watch)?;
        let mut first = last + 1;
        let mut reach = first;
        loop {
            watch.check(0.5)?;
            let tail = tail(terms, first - 1, unit);
            if tail <= 0.1 * allowance {
                self.rest += tail;
                return Ok(());
            }
            let block = PointBlock { first, last: first + reach };
            let bound = self.bound(terms, block, unit);
            spent += work(block.last);
            if bound <= 1e-3 * allowance {
                self.rest += bound;
                reach *= 2;
            } else if reach > 2 {
                reach /= 2;
                continue;
            } else {
                spent += self.evaluate_block(terms, block, (&work, most), watch)?;
                reach = 4;
            }
            first = block.last + 1;
            if spent > most || first > 1 << 50 {
                return Err(Failure::TooMuch);
            }
        }
    }

    fn evaluate_block(
        &mut self,
        terms: &[Transform],
        block: PointBlock,
        (work, most): (&dyn Fn(u64) -> f64, f64),
        watch: &Watch<'_>,
    ) -> Result<f64, Failure> {
        let spent = work(block.last) * (block.last - block.first + 1) as f64;
        if spent > most {
            return Err(Failure::TooMuch);
        }
        for index in block.first..=block.last {
            if index % OFTEN == 0 {
                watch.check(0.5)?;
            }
            let point = point(terms, self.t, ContourPoint { index, period: self.period });
            self.points.push(point.ok_or(Failure::TooMuch)?);
        }
        Ok(spent)
    }

    /// A bound on all points of a block together.
    fn bound(&self, terms: &[Transform], block: PointBlock, unit: f64) -> f64 {
        let middle = block.first + (block.last - block.first) / 2;
        let place = ContourPoint { index: middle, period: self.period };
        let reach = (block.last - middle) as f64 * unit * (1.0 + DOUBLES);
        let start = block.first as f64 * unit * (1.0 - DOUBLES);
        let mut logarithm = 0.0;
        for term in terms {
            let near = term.nearby(place, reach).min(term.envelope(start));
            logarithm += term.count as f64 * ln(near);
        }
        let many = (block.last - block.first + 1) as f64;
        2.0 * many * exp((logarithm + DOUBLES).clamp(-700.0, 0.1)) / (start * start)
    }

    /// S at an epsilon, over the scale and without e^(-t e): value and absolute error.
    fn sum(&self, epsilon: f64) -> (f64, f64) {
        const BITS: u32 = 53;
        let unit = (1_u64 << BITS) as f64;
        let step = (self.shift - Dd::from(epsilon)).scaled(1.0 / self.period);
        let (mut sum, mut error) = (0.0, self.rest);
        for point in &self.points {
            let turns = step * point.index as f64;
            let rest = turns - Dd::from(turns.hi.floor());
            let rest = (rest.hi - rest.hi.floor()).clamp(0.0, 1.0 - UNIT);
            let (cosine, sine) = turn((rest * unit) as u64, BITS);
            sum += point.value.0 * cosine - point.value.1 * sine;
            error += point.error + TURNED * (point.value.0.abs() + point.value.1.abs());
            error += ADDED * sum.abs();
        }
        // The phases' own rounding, in turns.
        let size: f64 = self.points.iter().map(|p| p.value.0.abs() + p.value.1.abs()).sum();
        let furthest = self.points.last().map_or(1.0, |point| point.index as f64 + 1.0);
        let turned = (self.shift.hi.abs() + epsilon) / self.period * furthest;
        (sum, (error + ANGLE * (1.0 + turned) * size) * (1.0 + DOUBLES))
    }

    /// Bounds on the pure delta.
    pub(super) fn ends(&self, epsilon: f64) -> DeltaBounds {
        let (sum, error) = self.sum(epsilon);
        let scale = self.scale * Wide::exp(Dd::product(-self.t, epsilon));
        let slack = self.scale_error + SHIFT * (1.0 + self.t * epsilon);
        // A NaN bounds nothing.
        let most =
            if sum.is_nan() || error.is_nan() { f64::INFINITY } else { (sum + error).max(0.0) };
        let upper = scale * Wide::from(most) * Wide::from(1.0 + slack) + self.cut;
        let lower = scale * Wide::from((sum - error).max(0.0)) * Wide::from((1.0 - slack).max(0.0));
        let excess = self.aliases.iter().fold(Wide::ZERO, |total, &(tilt, factor)| {
            total + factor * Wide::exp(Dd::product(-tilt, epsilon))
        });
        let lower = lower - excess;
        DeltaBounds::new(if lower.is_positive() { lower } else { Wide::ZERO }, upper)
    }
}

/// A run of points.
#[derive(Clone, Copy)]
struct PointBlock {
    first: u64,
    last: u64,
}

fn point(terms: &[Transform], t: f64, place: ContourPoint) -> Option<PointValue> {
    let mut product = (Dd::ONE, Dd::ZERO);
    let mut relative = 0.0;
    for term in terms {
        let (value, error) = term.value(place, 1e-17)?;
        let size = modulus(value.0.hi, value.1.hi);
        let share = error / size.max(1e-300);
        relative += term.count as f64 * (share + POWER);
        product = times(product, power(value, term.count));
    }
    let (a, b) = (product.0.hi, product.1.hi);
    let error = if relative < 0.5 { FIRST_ORDER * relative * modulus(a, b) } else { f64::INFINITY };
    PointValue::new(place, t, (a, b), error).ok()
}

/// |a + ib| to 4 u, for tiny numbers too.
fn modulus(a: f64, b: f64) -> f64 {
    let (large, small) = (a.abs().max(b.abs()), a.abs().min(b.abs()));
    let ratio = small / large.max(f64::MIN_POSITIVE);
    large * (1.0 + ratio * ratio).sqrt()
}

/// An upper bound on ln x, for x up to about one.
fn ln(x: f64) -> f64 {
    Dd::from(x.max(1e-300)).ln().upper()
}

/// A bound on all points beyond `last`: 2 sum of |phi| / w^2.
fn tail(terms: &[Transform], last: u64, unit: f64) -> f64 {
    let frequency = last as f64 * unit * (1.0 - DOUBLES);
    let logarithm: f64 =
        terms.iter().map(|term| term.count as f64 * ln(term.envelope(frequency))).sum();
    2.0 * exp((logarithm + DOUBLES).clamp(-700.0, 0.1)) / (frequency * unit) * (1.0 + DOUBLES)
}

/// The factor of e^(-t' e) in the bound on the aliases.
pub(super) fn alias(parts: &[CountedLoss], other: f64, t: f64, period: f64) -> Option<(f64, Wide)> {
    alias_of(total_cumulant(parts, other)?, other, t, period)
}

/// The factor in the bound on the aliases, from ln M(t') and its error.
pub(super) fn alias_of(
    (cumulant, error): (Dd, f64),
    other: f64,
    t: f64,
    period: f64,
) -> Option<(f64, Wide)> {
    let periods = (other - t).abs() * period;
    if periods < 1e-3 {
        return None;
    }
    // ln c(t') = t' ln t' - (1 + t') ln(1 + t'), at most -ln(1 + t').
    let exponent = cumulant + Dd::from(error - periods) - Dd::from(1.0 + other).ln();
    let share = ALIASES / -expm1(-periods);
    Some((other, Wide::exp(exponent) * Wide::from(share)))
}
