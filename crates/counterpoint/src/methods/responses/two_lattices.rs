//! The composed profile between two lattices, the split one above and the merged one below, refined until the tolerance
//! is met.

use super::contour::{ContourError, LatticeContour};
use super::convolution::{self, Convolution};
use super::lattice::{LatticeLaw, LatticeResponses, TiltedLattice, Weight};
use super::skipped::Decay;
use super::{largest_error, largest_loss};
use crate::composition::Factor;
use crate::composition::leak::Target;
use crate::delta_bounds::{DeltaBounds, UNCOUNTED};
use crate::methods::common_step::common_step;
use crate::methods::saddle::{Cumulant, Saddle};
use crate::methods::search::satisfying_epsilon;
use crate::methods::tail::{BOUNDS, Tail};
use crate::methods::{Failure, Route};
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::fourier::Transforms;
use counterpoint_numerics::{Dd, STEP, Wide, expm1};

/// The method by which the sums on a lattice are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LatticeMethod {
    /// The cheaper of the two.
    Either,
    Contour,
    Convolution,
}

#[derive(Clone, Debug)]
enum LatticeSummation {
    Contour(LatticeContour),
    Convolution(Convolution),
}

/// A tilted lattice with a method for the sum over its tail.
#[derive(Clone, Debug)]
struct LatticeSum {
    lattice: TiltedLattice,
    engine: LatticeSummation,
}

/// A bound on aliases, 1/(e^x - 1): exponents of at most 10^4, rounded four times.
const ALIASES: f64 = 1.001;

/// The work of one evaluation of one factor at one point, in multiplications.
const POINT_WORK: f64 = 4.0;
/// The most work for one lattice, in multiplications, if there is no other route.
pub(crate) const MOST_WORK: f64 = 4e9;

/// The data that all attempts share.
struct ResponseProblem<'a> {
    factors: &'a [Factor],
    responses: LatticeResponses,
    cumulant: Cumulant,
    saddle: Saddle,
    method: LatticeMethod,
    /// The most work for one lattice, in multiplications.
    most_work: f64,
    watch: Watch<'a>,
}

impl<'a> ResponseProblem<'a> {
    fn new(
        factors: &'a [Factor],
        (method, most_work): (LatticeMethod, f64),
        watch: Watch<'a>,
        saddle: impl Fn(&Cumulant) -> Saddle,
    ) -> Result<Self, StopRequest> {
        let rough = Cumulant::new(factors);
        let cumulant = if saddle(&rough).tilt * largest_epsilon(factors) > 1.0 {
            Cumulant::exact(factors)
        } else {
            rough
        };
        let saddle = saddle(&cumulant);
        let responses = LatticeResponses::new(factors, &watch)?;
        Ok(Self { factors, responses, cumulant, saddle, method, most_work, watch })
    }
}

/// The largest epsilon. Near the largest loss, epsilons must not be lumped together even for estimates.
fn largest_epsilon(factors: &[Factor]) -> f64 {
    factors.last().map_or(0.0, |factor| factor.each)
}

/// An attempt at a given step.
struct ResponseAttempt<'a> {
    problem: &'a ResponseProblem<'a>,
    largest: Dd,
    largest_error: f64,
    step: f64,
    /// The number of points, as a power of two.
    bits: u32,
    /// Tilts for the bounds on the aliases, above and below.
    outer: (f64, f64),
    /// The error that may be neglected, relative to delta.
    negligible: f64,
}

impl<'a> ResponseAttempt<'a> {
    fn new(problem: &'a ResponseProblem<'a>, fineness: &StepFineness) -> Self {
        let (step, negligible) = (fineness.step, fineness.negligible());
        let largest = largest_loss(problem.factors);
        let largest_error = largest_error(problem.factors) * largest.hi;
        let (bits, outer) = period(problem, step, negligible, largest.hi);
        Self { problem, largest, largest_error, step, bits, outer, negligible }
    }

    /// t h for the lattice under P; one step more for Q, whose law is P's tilted by one.
    fn tilt(&self, side: LatticeLaw) -> f64 {
        let tilt = self.problem.saddle.tilt * self.step;
        if side == LatticeLaw::MergedQ { tilt + self.step } else { tilt }
    }

    fn lattice(&self, side: LatticeLaw) -> Result<TiltedLattice, StopRequest> {
        let ResponseProblem { responses, watch, .. } = self.problem;
        responses.on_lattice(side, self.step, self.tilt(side), watch)
    }

    fn lattice_sum(
        &self,
        lattice: TiltedLattice,
        decay: &Decay,
        weight: Weight,
    ) -> Result<LatticeSum, Failure> {
        let steps =
            (self.largest.hi - self.problem.saddle.epsilon).max(0.0) * 1.02 / self.step + 64.0;
        let convolving = convolution::work(&lattice, steps);
        if self.problem.method != LatticeMethod::Convolution {
            let most = match self.problem.method {
                LatticeMethod::Contour => self.problem.most_work,
                _ => self.problem.most_work.min(convolving + 1e5),
            } / POINT_WORK;
            match LatticeContour::new(
                &lattice,
                decay,
                weight,
                self.negligible,
                most,
                &self.problem.watch,
            ) {
                Ok(contour) => {
                    return Ok(LatticeSum { lattice, engine: LatticeSummation::Contour(contour) });
                }
                Err(ContourError::Stopped) => return Err(Failure::Stopped),
                Err(ContourError::TooMuch) if self.problem.method == LatticeMethod::Contour => {
                    return Err(Failure::TooMuch);
                }
                Err(ContourError::TooMuch) => {}
            }
        }
        if convolving > self.problem.most_work || steps > 2e8 {
            return Err(Failure::TooMuch);
        }
        let convolution = Convolution::new(&lattice, weight, steps as u64, &self.problem.watch)?;
        Ok(LatticeSum { lattice, engine: LatticeSummation::Convolution(convolution) })
    }

    fn above(&self, transforms: &mut Transforms) -> Result<UpperLattice<'_>, Failure> {
        let lattice = self.lattice(LatticeLaw::Split)?;
        let decay = Decay::new(&lattice, self.bits, transforms);
        Ok(UpperLattice {
            attempt: self,
            split: self.lattice_sum(lattice, &decay, Weight::Profile)?,
        })
    }

    /// An epsilon at or above the largest loss.
    fn top(&self) -> f64 {
        (self.largest + Dd::from(2.0 * self.largest_error)).upper()
    }

    /// Both bounds. If they take too much work, the error reports the best width of earlier attempts.
    fn both(
        &'a self,
        transforms: &mut Transforms,
        best: f64,
    ) -> Result<(UpperLattice<'a>, LowerLattice<'a>), Failure> {
        let both = self
            .above(transforms)
            .and_then(|above| Ok((above, LowerLattice::new(self, transforms)?)));
        both.map_err(|failure| match failure {
            Failure::TooMuch if best.is_finite() => Failure::TooWide(best),
            failure => failure,
        })
    }

    /// The number of whole steps between the largest loss and an epsilon slightly below the given one, and the rest,
    /// between zero and a step.
    fn place(&self, epsilon: f64) -> Option<(u64, f64)> {
        let gap = self.largest - Dd::from(epsilon) + Dd::from(2.0 * self.largest_error);
        if !gap.is_positive() {
            return None;
        }
        let mut whole = (gap.hi / self.step).floor();
        let mut kappa = (gap - Dd::product(whole, self.step)).upper();
        while kappa > self.step {
            whole += 1.0;
            kappa = (gap - Dd::product(whole, self.step)).upper();
        }
        // Too large a kappa is on the safe side.
        Some((whole as u64, kappa.max(0.0)))
    }
}

impl LatticeSum {
    /// The lattice's sum at y0, times its scale, with its error.
    fn at(&self, y0: u64, kappa: f64) -> DeltaBounds {
        let (value, error) = match &self.engine {
            LatticeSummation::Contour(contour) => contour.sum(y0, kappa),
            LatticeSummation::Convolution(convolution) => convolution.sum(y0, kappa),
        };
        let scale = self.lattice.scale * Wide::exp(Dd::product(self.lattice.tilt, y0 as f64));
        let relative = self.lattice.error + STEP * (UNCOUNTED + self.lattice.tilt * y0 as f64);
        let error = error + relative * (value.abs() + error);
        DeltaBounds::new(
            scale * Wide::from((value - error).max(0.0)),
            scale * Wide::from((value + error).next_up()),
        )
    }

    fn has_aliases(&self) -> bool {
        self.route() == Route::Contour
    }

    fn route(&self) -> Route {
        match self.engine {
            LatticeSummation::Contour(_) => Route::Contour,
            LatticeSummation::Convolution(_) => Route::Convolution,
        }
    }
}

/// The dominating lattice, which bounds the profile from above.
struct UpperLattice<'a> {
    attempt: &'a ResponseAttempt<'a>,
    split: LatticeSum,
}

impl UpperLattice<'_> {
    fn delta(&self, epsilon: f64) -> Wide {
        match self.attempt.place(epsilon) {
            Some((y0, kappa)) => self.split.at(y0, kappa).upper,
            None => Wide::ZERO,
        }
    }
}

/// The dominated lattice, which bounds the profile from below by an attack: the test "Y at most y1" and its success
/// under P and Q.
struct LowerLattice<'a> {
    attempt: &'a ResponseAttempt<'a>,
    p: LatticeSum,
    q: LatticeSum,
    /// The mean difference of the merged loss from the true one.
    bias: f64,
    outer: (Chernoff, Chernoff),
}

impl<'a> LowerLattice<'a> {
    fn new(attempt: &'a ResponseAttempt<'a>, transforms: &mut Transforms) -> Result<Self, Failure> {
        let lattice = attempt.lattice(LatticeLaw::MergedP)?;
        let decay = Decay::new(&lattice, attempt.bits, transforms);
        let p = attempt.lattice_sum(lattice, &decay, Weight::Mass)?;
        // Tilting Q by one more undoes its difference from P, except for the rounding of each loss, at most half a
        // step.
        let decay = decay.nearby(attempt.step, attempt.problem.responses.count);
        let q = attempt.lattice_sum(attempt.lattice(LatticeLaw::MergedQ)?, &decay, Weight::Mass)?;
        let bias = attempt.problem.factors.iter().zip(&p.lattice.cells).map(|(factor, cell)| {
            let moved = 2.0 * factor.each - cell.steps as f64 * attempt.step;
            cell.count as f64 * cell.high[1] * moved
        });
        let bias = bias.sum();
        let outer = if p.has_aliases() { outer_bounds(attempt, &p.lattice)? } else { (None, None) };
        Ok(Self { attempt, p, q, bias, outer })
    }

    /// The P mass from below and the Q mass from above of the losses that the test takes to be above an epsilon.
    fn test(&self, epsilon: f64, shift: f64) -> Tail {
        let gap = self.attempt.largest.hi - epsilon - self.bias;
        let y1 = (gap / self.attempt.step + shift).floor();
        let y1 = y1.clamp(0.0, self.p.lattice.most_steps) as u64;
        let p = self.p.at(y1, 0.0).lower - self.aliases(y1);
        let q = self.q.at(y1, 0.0).upper;
        Tail { p: if p.is_positive() { p } else { Wide::ZERO }, q, slack: BOUNDS }
    }

    /// A bound on the P mass that the contour's aliases add.
    fn aliases(&self, y1: u64) -> Wide {
        let at = |(tilt, factor): (f64, Wide)| factor * Wide::exp(Dd::product(tilt, y1 as f64));
        let points = (1_u64 << self.attempt.bits) as f64;
        let above = self.outer.0.filter(|_| y1 as f64 >= points).map_or(Wide::ZERO, at);
        above + self.outer.1.map_or(Wide::ZERO, at)
    }
}

/// A tilt and the factor of e^(tilt y) in a bound.
type Chernoff = Option<(f64, Wide)>;

/// Bounds on the aliases of the merged lattice under P: with tilt s they add up to at most `E[e^(-s Y)] e^(s y1) /
/// (e^(|s - tilt| N) - 1)` on either side (theory 3.6). The aliases from above, shifts of Y down to y1 - N and below,
/// vanish if a period covers every Y; those from below always exist.
fn outer_bounds(
    attempt: &ResponseAttempt<'_>,
    lattice: &TiltedLattice,
) -> Result<(Chernoff, Chernoff), StopRequest> {
    let points = (1_u64 << attempt.bits) as f64;
    let bound = |other: f64| {
        let other = other * attempt.step;
        let ResponseProblem { responses, watch, .. } = attempt.problem;
        let scale = responses.scale(LatticeLaw::MergedP, attempt.step, other, watch)?;
        let periods = (other - lattice.tilt).abs() * points;
        let share = Wide::exp(Dd::from(-periods)) * Wide::from(ALIASES / -expm1(-periods));
        Ok(Some((other, scale * share)))
    };
    let above = if points > lattice.most_steps { None } else { bound(attempt.outer.0)? };
    Ok((above, bound(attempt.outer.1)?))
}

/// The number of points, as a power of two, that makes the aliases negligible, and the tilts that show this; all
/// estimated.
#[allow(clippy::disallowed_methods)]
fn period(
    problem: &ResponseProblem<'_>,
    step: f64,
    negligible: f64,
    largest: f64,
) -> (u32, (f64, f64)) {
    let (cumulant, saddle) = (&problem.cumulant, &problem.saddle);
    let t = saddle.tilt;
    let goal = saddle.ln_delta + (negligible * 0.1).ln();
    let rated = |c: f64| (c * t, cumulant.at(c * t).0 - c * t * saddle.epsilon);
    let upward = [1.05, 1.1, 1.2, 1.4, 1.7, 2.0, 3.0, 5.0, 10.0].map(rated);
    let downward = [0.0, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95].map(rated);
    let best = |candidates: &[(f64, f64)], length: f64| {
        let exponents = candidates.iter().map(|&(c, rate)| (rate - (c - t).abs() * length, c));
        exponents.fold((f64::INFINITY, t), |a, b| if b.0 < a.0 { b } else { a })
    };
    let mut bits = (16.0 * saddle.variance.sqrt() / step).log2().ceil().clamp(4.0, 48.0) as u32;
    loop {
        let length = step * (1_u64 << bits) as f64;
        let (above, below) = (best(&upward, length), best(&downward, length));
        let settled = (above.0 < goal || length > 2.1 * largest) && below.0 < goal;
        if settled || bits >= 50 {
            return (bits, (above.1, below.1));
        }
        bits += 1;
    }
}

/// The fineness of an attempt.
struct StepFineness {
    /// h: a power of two, or the epsilons' common divisor.
    step: f64,
    /// The target for the gap between the lattices, relative to delta.
    gap: f64,
    /// A step of which every loss is a multiple, except for rounding; finer steps are useless.
    exact_step: f64,
    /// In finer steps positions would not be exact.
    finest_step: f64,
}

impl StepFineness {
    /// The step for a gap, which grows by about `t (t+1) h^2 / 8` for each expected minus under the tilted law. The
    /// first gap is not too small, because the answer may turn out to be zero.
    fn first(problem: &ResponseProblem<'_>, gap: f64) -> Self {
        let gap = gap.clamp(1e-7, 0.1);
        let t = problem.saddle.tilt;
        let minuses = problem.cumulant.expected_minuses(t).max(1e-6);
        let step = (8.0 * gap / (t * (t + 1.0) * minuses)).sqrt().clamp(1e-12, 1.0);
        let finest_step = finest_step(problem.factors);
        let step = power_below(step.max(2.0 * finest_step));
        let distances: Vec<f64> = problem.factors.iter().map(|f| 2.0 * f.each).collect();
        let divisor = common_step(&distances, DIVISOR_WORTH * step);
        let exact_step = divisor.unwrap_or_else(|| exact_step(problem.factors));
        let step = if divisor.is_some() { exact_step } else { step.max(exact_step) };
        Self { step, gap, exact_step, finest_step }
    }

    /// The error that may be neglected in the sums.
    fn negligible(&self) -> f64 {
        (0.15 * self.gap).clamp(1e-13, 1e-2)
    }

    /// Refines the step by the factor by which the gap is too wide; the gap decreases with the square of the step.
    /// Returns false if nothing is left to refine.
    fn refine(&mut self, excess: f64) -> bool {
        let excess = (1.5 * excess).clamp(4.0, 4096.0);
        let spent = self.gap < 1e-15;
        self.gap /= excess;
        let step = power_below(self.step / excess.sqrt()).max(self.exact_step);
        let stuck = step >= self.step && spent || step < 2.0 * self.finest_step;
        self.step = step;
        !stuck
    }
}

/// The finest step at which positions, counted in doubles from the largest loss down, are exact.
fn finest_step(factors: &[Factor]) -> f64 {
    let largest = largest_loss(factors).hi;
    largest.max(largest_epsilon(factors)) * 1e-15
}

/// The factor by which a step may be finer than needed if it makes both lattices exact.
const DIVISOR_WORTH: f64 = 1.0 / 64.0;

/// The largest power of two of which every 2 eps is a multiple. Every step is sound.
#[allow(clippy::disallowed_methods)]
fn exact_step(factors: &[Factor]) -> f64 {
    let lowest_bit = |factor: &Factor| {
        let bits = (2.0 * factor.each).to_bits();
        let exponent = (bits >> 52) as i32 - 1023;
        let zeros = ((bits & ((1 << 52) - 1)) | (1 << 52)).trailing_zeros() as i32;
        exponent - 52 + zeros
    };
    let lowest = factors.iter().map(lowest_bit).min().unwrap_or(0);
    2.0_f64.powi(lowest)
}

/// The largest power of two that is at most x: the bits of x without the fraction.
fn power_below(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !((1 << 52) - 1))
}

/// The largest number of refinements.
const MOST_TRIES: usize = 8;

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    factors: &[Factor],
    target: &Target,
    tolerance: f64,
    method: (LatticeMethod, f64),
    watch: Watch<'_>,
) -> Result<(Bracket, Route), Failure> {
    let ln_target = target.lower.ln_estimate();
    let problem =
        ResponseProblem::new(factors, method, watch, |cumulant| cumulant.at_ln_delta(ln_target))?;
    let saddle = problem.saddle;
    let mut transforms = Transforms::new();
    let gap = tolerance * saddle.tilt * saddle.epsilon;
    let mut fineness = StepFineness::first(&problem, gap);
    let mut best = f64::INFINITY;
    for _ in 0..MOST_TRIES {
        let attempt = ResponseAttempt::new(&problem, &fineness);
        let (above, below) = attempt.both(&mut transforms, best)?;
        let upper = satisfying_epsilon(|e| above.delta(e), target, &saddle, attempt.top(), &watch)?;
        let lower = [0.0, -1.0, 1.0].map(|shift| below.test(upper, shift).root(target).0);
        let lower = lower.into_iter().fold(0.0, f64::max).min(upper);
        let bracket = Bracket { lower, upper };
        let route = above.split.route();
        if bracket.is_within_tolerance(tolerance) {
            return Ok((bracket, route));
        }
        best = best.min(bracket.relative_width());
        let wanted = tolerance.max(1e-12 / upper);
        if !fineness.refine(bracket.relative_width() / wanted) {
            break;
        }
    }
    Err(Failure::TooWide(best))
}

/// The pure delta at an epsilon. Near zero an absolute width is enough, but only if the relative one is out of reach.
pub(crate) fn delta(
    factors: &[Factor],
    epsilon: f64,
    tolerance: f64,
    method: (LatticeMethod, f64),
    watch: Watch<'_>,
) -> Result<(DeltaBounds, Route), Failure> {
    let at = |cumulant: &Cumulant| Saddle { epsilon, ..cumulant.at_epsilon(epsilon) };
    let problem = ResponseProblem::new(factors, method, watch, at)?;
    let mut narrowest = BestAttempt { width: f64::INFINITY, answer: None };
    match refined_delta(&problem, tolerance, &mut narrowest) {
        Err(Failure::TooWide(width)) => match narrowest.answer {
            Some((ends, route)) if ends.width() <= Wide::from(1e-12) => Ok((ends, route)),
            _ => Err(Failure::TooWide(width)),
        },
        answer => answer,
    }
}

/// The best attempt so far, and its relative width.
struct BestAttempt {
    width: f64,
    answer: Option<(DeltaBounds, Route)>,
}

fn refined_delta(
    problem: &ResponseProblem<'_>,
    tolerance: f64,
    narrowest: &mut BestAttempt,
) -> Result<(DeltaBounds, Route), Failure> {
    let epsilon = problem.saddle.epsilon;
    let mut transforms = Transforms::new();
    let mut fineness = StepFineness::first(problem, tolerance);
    for _ in 0..MOST_TRIES {
        let attempt = ResponseAttempt::new(problem, &fineness);
        let (above, below) = attempt.both(&mut transforms, narrowest.width)?;
        let upper = above.delta(epsilon);
        let lower = [0.0, -1.0, 1.0].map(|shift| below.test(epsilon, shift).delta(epsilon).lower);
        let lower = lower.into_iter().fold(Wide::ZERO, |a, b| if b > a { b } else { a });
        let width = ((upper - lower) * upper.recip()).estimate();
        let answer = (DeltaBounds { lower, upper }, above.split.route());
        if width <= tolerance || upper == Wide::ZERO {
            return Ok(answer);
        }
        if width < narrowest.width {
            *narrowest = BestAttempt { width, answer: Some(answer) };
        }
        if !fineness.refine(width / tolerance) {
            break;
        }
    }
    Err(Failure::TooWide(narrowest.width))
}
