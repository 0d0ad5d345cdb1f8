//! Losses of any kind on a lattice, by one Fourier transform each.
//!
//! The upper bound comes from splitting, the lower bound from merging and testing, as in
//! [`super::responses::two_lattices`]. Here every place of the lattice is evaluated, so losses may have any number of
//! atoms.

mod placement;
mod sums;

#[cfg(test)]
mod tests;

use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::{DOUBLES, DeltaBounds};
use crate::laws::cells::{CellAtom, CellFineness, Domination};
use crate::methods::Failure;
use crate::methods::common_step::common_step;
use crate::methods::contour::Effort;
use crate::methods::saddle::Saddle;
use crate::methods::search::satisfying_epsilon;
use crate::methods::tail::{BOUNDS, Tail};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::fourier::Transforms;
use counterpoint_numerics::{Dd, STEP, Wide};
use placement::{Frame, LEFT_OUT, MergedLaws, PlacedLoss, merge, split};
use sums::{ComposedLaw, FAR};

/// A bound on folded mass: exponents of at most 10^3, rounded a few times, and [`placement`]'s moments.
const FOLDED: f64 = 1e-6;
/// The longest period, as a power of two.
const MOST_BITS: f64 = 23.0;
/// The largest number of places in all transforms of an attempt together.
const MOST_PLACES: f64 = 5.1e7;
/// Places beyond this would not be exact in doubles.
const MOST_PLACE: f64 = 1e15;
/// If a window of the length that the tolerance needs is too short, the folded mass in the second window matters at
/// most this much, relative to delta: a finer step would not reduce it.
const FOLDED_GAP: f64 = 1e-6;
/// The limits of an attempt with little effort, and the most atoms for it.
const LITTLE_BITS: f64 = 13.0;
const LITTLE_PLACES: f64 = 1e5;
const LITTLE_ATOMS: f64 = 8192.0;
/// The largest number of refinements of the step.
const MOST_TRIES: usize = 4;
/// Spare places in a period.
const SPARE: f64 = 64.0;
/// A step up to this much wider than wanted is tried, because the estimates are cautious.
const HOPEFUL: f64 = 2.5;
/// The number of atoms to which longer lists are thinned for estimates.
const ROUGH_ATOMS: usize = 4096;

/// A thinned list of a loss's atoms, for estimates.
struct LossEstimate {
    /// Losses and the logarithms of their masses.
    list: Vec<(f64, f64)>,
    count: f64,
    offset: Dd,
}

/// K, K' and K'' of one loss.
type CumulantJet = (f64, f64, f64);

/// Estimates.
#[allow(clippy::disallowed_methods)]
impl LossEstimate {
    fn new(part: &CountedLoss) -> Option<Self> {
        let mut list = Vec::new();
        let mut keep = |point: CellAtom| {
            if point.p > 0.0 {
                list.push((point.loss.hi, point.p.ln() + point.scale.hi));
            }
        };
        part.law().points(Domination::Above, None, &mut keep)?;
        let size = list.len().div_ceil(ROUGH_ATOMS).max(1);
        let thinned = list.chunks(size).filter_map(|chunk| {
            let best = chunk.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let sum: f64 = chunk.iter().map(|&(_, mass)| (mass - best.1).exp()).sum();
            Some((best.0, best.1 + sum.ln()))
        });
        Some(Self {
            list: thinned.collect(),
            count: part.count as f64,
            offset: part.law().offset(),
        })
    }

    fn cumulant(&self, t: f64) -> CumulantJet {
        let exponents = self.list.iter().map(|&(loss, mass)| mass + t * loss);
        let most = exponents.fold(f64::NEG_INFINITY, f64::max);
        let (mut zeroth, mut first, mut second) = (0.0, 0.0, 0.0);
        for &(loss, mass) in &self.list {
            let weight = (mass + t * loss - most).exp();
            zeroth += weight;
            first += weight * loss;
            second += weight * loss * loss;
        }
        let mean = first / zeroth;
        (most + zeroth.ln(), mean, (second / zeroth - mean * mean).max(0.0))
    }
}

impl LossEstimate {
    /// The distance between its largest and its least loss.
    fn span(&self) -> f64 {
        let losses = || self.list.iter().map(|&(loss, _)| loss);
        losses().fold(f64::NEG_INFINITY, f64::max) - losses().fold(f64::INFINITY, f64::min)
    }

    /// The approximate largest distance of its losses from the offset.
    fn reach(&self) -> f64 {
        self.list.iter().map(|&(loss, _)| (loss - self.offset.hi).abs()).fold(0.0, f64::max)
    }
}

/// The data that all attempts share.
struct FourierProblem<'a> {
    parts: &'a [CountedLoss],
    rough: Vec<LossEstimate>,
    /// The sum of all offsets, and a bound on its error.
    offset: Dd,
    offset_error: f64,
    effort: Effort,
    watch: Watch<'a>,
}

/// True if all losses may lie on a lattice, except for rounding, and atoms are few: then one attempt is enough.
fn is_short(parts: &[CountedLoss]) -> bool {
    let atoms = |part: &CountedLoss| match (part.law().list_formula(), part.law().listed_count()) {
        (Some(formula), _) => Some(formula.outcomes),
        (None, Some(atoms)) => Some(atoms as f64),
        (None, None) => part.law().response_epsilon().map(|_| 2.0),
    };
    parts.iter().map(atoms).sum::<Option<f64>>().is_some_and(|atoms| atoms <= LITTLE_ATOMS)
        && distances(parts).is_some_and(|list| {
            let widest = list.iter().copied().fold(0.0, f64::max);
            common_step(&list, widest / f64::from(1 << LITTLE_BITS as u32)).is_some()
        })
}

/// The distances of all losses from their offsets, if all losses are atoms.
fn distances(parts: &[CountedLoss]) -> Option<Vec<f64>> {
    let lists: Option<Vec<_>> = parts.iter().map(|part| part.law().spacings()).collect();
    Some(lists?.concat())
}

impl<'a> FourierProblem<'a> {
    fn new(parts: &'a [CountedLoss], (effort, watch): (Effort, Watch<'a>)) -> Option<Self> {
        if effort == Effort::Little && !is_short(parts) {
            return None;
        }
        let rough: Vec<LossEstimate> =
            parts.iter().map(LossEstimate::new).collect::<Option<_>>()?;
        let sum = |(total, size): (Dd, f64), rough: &LossEstimate| {
            let offset = rough.offset * rough.count;
            (total + offset, size + offset.hi.abs())
        };
        let (offset, size) = rough.iter().fold((Dd::ZERO, 0.0), sum);
        // A product and an addition for each loss, at 2^-102.
        let offset_error = size * STEP * (rough.len() as f64 + 1.0);
        Some(Self { parts, rough, offset, offset_error, effort, watch })
    }
}

/// Estimates: every tilt, window and step is sound.
#[allow(clippy::disallowed_methods)]
impl FourierProblem<'_> {
    fn saddle(&self, tilt: f64) -> Saddle {
        let (mut k, mut slope, mut variance) = (0.0, 0.0, 0.0);
        for rough in &self.rough {
            let cumulant = rough.cumulant(tilt);
            k += rough.count * cumulant.0;
            slope += rough.count * cumulant.1;
            variance += rough.count * cumulant.2;
        }
        Saddle::at(tilt, (k, slope, variance))
    }

    fn search(&self, too_small: impl Fn(&Saddle) -> bool) -> Saddle {
        Saddle::search((-14.0, 14.0), 24, |t| self.saddle(t), too_small)
    }

    /// The losses without the atoms that the lower bound leaves out at a tilt.
    fn kept(&self, t: f64) -> Vec<LossEstimate> {
        let kept = self.rough.iter().map(|rough| {
            let least = rough.cumulant(t).0 + (LEFT_OUT / rough.count).ln();
            let heavy = |&&(loss, mass): &&(f64, f64)| mass + t * loss >= least;
            let list = rough.list.iter().filter(heavy).copied().collect();
            LossEstimate { list, count: rough.count, offset: rough.offset }
        });
        kept.collect()
    }

    /// A window outside of which the tilted law has too little mass to matter for a gap, relative to delta, by
    /// Chernoff's bound with the best of a few exponents on each side. Delta is about the tilted mass over (1 + t
    /// deviation) (1 + t).
    fn window(&self, saddle: &Saddle, gap: f64) -> Window {
        let t = saddle.tilt;
        let deviation = saddle.variance.sqrt().max(0.5 / t);
        let little = 1e-3 * gap.clamp(1e-12, 0.1) / ((1.0 + t * deviation) * (1.0 + t));
        let little = little.ln();
        let kept = self.kept(t);
        let cumulant =
            |t: f64| -> f64 { kept.iter().map(|rough| rough.count * rough.cumulant(t).0).sum() };
        let here = cumulant(t);
        let mut window = Window { length: 0.0, exponents: [0.0; 2] };
        let (mut up, mut down) = (f64::INFINITY, f64::NEG_INFINITY);
        for power in 0..12 {
            let s = 0.25 * (0.5 * f64::from(power)).exp2() / deviation;
            let over = (cumulant(t + s) - here - little) / s;
            if over < up {
                (up, window.exponents[0]) = (over, s);
            }
            let under = (little + here - cumulant(t - s)) / s;
            if under > down {
                (down, window.exponents[1]) = (under, -s);
            }
        }
        let span: f64 = self.rough.iter().map(|rough| rough.count * rough.span()).sum();
        let far = FAR / t;
        let length = (up - saddle.epsilon).max(far + (saddle.epsilon - down).max(0.0));
        window.length = length.min(1.02 * span);
        window
    }

    /// A step that makes full use of a period: at most the wanted step or, if the period would be too long, not much
    /// wider.
    fn step(&self, window: &Window, wanted: f64) -> Option<f64> {
        let most = MOST_PLACES / (3.0 * self.parts.len() as f64 + 3.0);
        let most = most.log2().floor().min(MOST_BITS);
        let bits = (window.length / wanted + SPARE).log2().ceil().max(7.0).min(most);
        let step = window.length / (bits.exp2() - SPARE);
        (step <= HOPEFUL * wanted).then_some(step)
    }

    /// The step of the first attempt.
    fn first_step(&self, saddle: &Saddle, window: &Window, gap: f64) -> Option<f64> {
        let wanted = self.wanted_step(saddle, gap);
        let t = saddle.tilt;
        match self.exact_step(wanted / 64.0) {
            Some(d) => Some(d / (d * t).ceil().max((d / 0.25).ceil()).max(1.0)),
            None if self.effort == Effort::Little => None,
            None => self.step(window, wanted),
        }
    }

    /// The step at which the bounds differ by about `gap`, relative to delta: splitting adds about `t (t + 1)` times
    /// h^2/6 for each loss.
    fn wanted_step(&self, saddle: &Saddle, gap: f64) -> f64 {
        let t = saddle.tilt;
        let count: f64 = self.rough.iter().map(|rough| rough.count).sum();
        let step = (4.0 * gap.clamp(1e-11, 0.1) / (t * (t + 1.0) * count)).sqrt();
        let widest = (0.1 * saddle.variance.sqrt()).max(0.01 / t).min(0.25 / t).min(0.25);
        step.min(widest)
    }

    /// A step of which all differences of losses are multiples, except for rounding, if all losses are atoms and there
    /// is such a step that is not too small. Every step is sound.
    fn exact_step(&self, least: f64) -> Option<f64> {
        common_step(&distances(self.parts)?, least)
    }
}

/// The required length of a period, in loss, and the exponents that show it.
struct Window {
    length: f64,
    exponents: [f64; 2],
}

/// An attempt at a given step.
struct FourierAttempt<'a> {
    problem: &'a FourierProblem<'a>,
    placed: Vec<PlacedLoss<'a>>,
    frame: Frame,
    /// The exponents for the bounds on the mass folded onto the tail.
    exponents: [f64; 2],
}

impl<'a> FourierAttempt<'a> {
    /// Returns `None` if the period would be too long. All choices here are estimates.
    #[allow(clippy::disallowed_methods)]
    fn new(
        problem: &'a FourierProblem<'a>,
        saddle: &Saddle,
        window: &Window,
        step: f64,
    ) -> Option<Self> {
        let t = saddle.tilt;
        let furthest: f64 = problem.rough.iter().map(|rough| rough.count * rough.reach()).sum();
        if furthest / step > 0.1 * MOST_PLACE {
            return None;
        }
        // Slightly less, because the step may fill the period exactly.
        let bits = ((window.length / step + SPARE) * (1.0 - 1e-9)).log2().ceil().max(7.0);
        let work = bits.exp2() * (3.0 * problem.parts.len() as f64 + 3.0);
        let (most_bits, most_places) = match problem.effort {
            Effort::Little => (LITTLE_BITS, LITTLE_PLACES),
            Effort::Much => (MOST_BITS, MOST_PLACES),
        };
        if bits > most_bits || work > most_places {
            return None;
        }
        let frame = Frame { step, tilt: t * step, bits: bits as u32 };
        let placed = problem.parts.iter().zip(&problem.rough).map(|(part, rough)| {
            let (cumulant, mean, _) = rough.cumulant(t);
            PlacedLoss {
                law: part.law(),
                count: part.count,
                offset: rough.offset,
                cut: CellFineness {
                    width: 0.5 * step,
                    pieces: 1.0,
                    tilt: t,
                    cumulant,
                    watch: problem.watch,
                },
                reference: cumulant - t * rough.offset.hi,
                centre: ((mean - rough.offset.hi) / step).round(),
            }
        });
        let exponents = window.exponents.map(|s| s * step);
        Some(Self { problem, placed: placed.collect(), frame, exponents })
    }

    fn above(&self, transforms: &mut Transforms) -> Result<FourierUpperBound<'_>, Failure> {
        let mut leak = Wide::ZERO;
        let factors = self.placed.iter().map(|placed| {
            self.problem.watch.check(0.5).ok()?;
            let (weights, lost) = split(placed, &self.frame)?;
            leak = leak + lost * Wide::from(placed.count as f64 * (1.0 + DOUBLES));
            Some(weights)
        });
        let frame = (self.frame.tilt, self.frame.step, self.frame.bits);
        let split = ComposedLaw::new(factors, frame, transforms, &self.problem.watch)?;
        Ok(FourierUpperBound { attempt: self, split: split.ok_or(Failure::TooMuch)?, leak })
    }

    fn below(&self, transforms: &mut Transforms) -> Result<FourierLowerBound<'_>, Failure> {
        let mut moments = [Wide::ONE; 2];
        let (mut centre, mut bias) = (0.0, 0.0);
        let mut under_q = Vec::with_capacity(self.placed.len());
        let factors = self.placed.iter().map(|placed| {
            self.problem.watch.check(0.5).ok()?;
            let MergedLaws { p, q, moments: own, bias: moved } =
                merge(placed, &self.frame, self.exponents)?;
            for (product, own) in moments.iter_mut().zip(own) {
                *product = *product * Wide::from(own).powi(placed.count);
            }
            centre += placed.centre * placed.count as f64;
            bias += moved * placed.count as f64;
            under_q.push(q);
            Some(p)
        });
        let Frame { step, tilt, bits } = self.frame;
        let watch = &self.problem.watch;
        let p = ComposedLaw::new(factors, (tilt, step, bits), transforms, watch)?;
        let factors = under_q.into_iter().map(Some);
        let q = ComposedLaw::new(factors, (tilt + step, step, bits), transforms, watch)?;
        let (p, q) = p.zip(q).ok_or(Failure::TooMuch)?;
        Ok(FourierLowerBound { attempt: self, p, q, moments, centre, bias })
    }
}

/// The dominating law, which bounds delta from above.
struct FourierUpperBound<'a> {
    attempt: &'a FourierAttempt<'a>,
    split: ComposedLaw,
    /// A bound on the mass that was left out.
    leak: Wide,
}

impl FourierUpperBound<'_> {
    fn delta(&self, epsilon: f64) -> Wide {
        let problem = self.attempt.problem;
        let step = self.attempt.frame.step;
        // y stands for the loss offset + h y; a slightly lower epsilon is on the safe side.
        let gap = Dd::from(epsilon) - problem.offset - Dd::from(2.0 * problem.offset_error);
        let mut from = (gap.hi / step).floor() + 1.0;
        if from.is_nan() || from.abs() > MOST_PLACE {
            return Wide::ONE;
        }
        let over = |from: f64| Dd::product(from, step) - gap;
        while over(from).is_negative() {
            from += 1.0;
        }
        while !over(from - 1.0).is_negative() {
            from -= 1.0;
        }
        self.split.above(from, Some(over(from).upper())) + self.leak
    }

    /// An epsilon at or above the largest loss in the list.
    fn top(&self) -> f64 {
        let problem = self.attempt.problem;
        let largest = problem.offset + Dd::product(self.split.last, self.attempt.frame.step);
        (largest + Dd::from(4.0 * problem.offset_error)).upper().max(0.0)
    }
}

/// The dominated laws, which bound delta from below.
struct FourierLowerBound<'a> {
    attempt: &'a FourierAttempt<'a>,
    p: ComposedLaw,
    q: ComposedLaw,
    moments: [Wide; 2],
    centre: f64,
    bias: f64,
}

impl FourierLowerBound<'_> {
    /// The P mass from below and the Q mass from above of the sums that the test takes to be above an epsilon.
    fn test(&self, epsilon: f64, shift: f64) -> Tail {
        let gap = epsilon + self.bias - self.attempt.problem.offset.hi;
        let from = (gap / self.attempt.frame.step).ceil() + shift;
        let p = self.p.below(from, self.aliases(from));
        Tail { p, q: self.q.above(from, None), slack: BOUNDS }
    }

    /// The tilted P mass that is folded onto the sum from a place on: `E[e^(s (Y - centre))] e^(-s (y - centre))` on
    /// either side.
    fn aliases(&self, from: f64) -> f64 {
        let period = self.p.period();
        let (high, low) = (from + period, self.p.lowest_alias(from));
        if self.p.first >= low && self.p.last < high {
            return 0.0;
        }
        let bounds = self.attempt.exponents.iter().zip(&self.moments).map(|(&s, &moment)| {
            let place = if s > 0.0 { high } else { low };
            let far = Wide::exp(Dd::from(-s * (place - self.centre)));
            (moment * far).upper(FOLDED)
        });
        bounds.sum()
    }

    /// A few tests near an epsilon.
    fn tests(&self, epsilon: f64) -> [Tail; 5] {
        [0.0, -1.0, 1.0, -2.0, 2.0].map(|shift| self.test(epsilon, shift))
    }
}

/// The factor by which to refine the step if the gap is too wide by `excess`.
fn finer(excess: f64) -> f64 {
    (1.5 * excess).sqrt().clamp(1.5, 64.0)
}

/// The result of an attempt, its width, and the factor by which it is too wide (at most one if it is not).
struct AttemptResult<T> {
    answer: T,
    width: f64,
    excess: f64,
}

/// Tries finer and finer steps until an answer is narrow enough; an attempt may give no answer. If a longer window may
/// help, it starts again with a longer one.
fn refine<T>(
    problem: &FourierProblem<'_>,
    saddle: &Saddle,
    gap: f64,
    answer: impl Fn(&FourierAttempt<'_>, &mut Transforms) -> Result<Option<AttemptResult<T>>, Failure>,
) -> Result<T, Failure> {
    let short = refine_within(problem, saddle, (gap, gap), &answer);
    let width = match short {
        answer if problem.effort == Effort::Little => return answer,
        Err(Failure::TooWide(width)) if gap > FOLDED_GAP => width,
        Err(Failure::TooMuch) if gap > FOLDED_GAP => f64::INFINITY,
        answer => return answer,
    };
    match refine_within(problem, saddle, (gap, FOLDED_GAP), &answer) {
        Err(Failure::TooWide(other)) => Err(Failure::TooWide(width.min(other))),
        Err(Failure::TooMuch) if width.is_finite() => Err(Failure::TooWide(width)),
        answer => answer,
    }
}

/// Tries finer steps with one window, in which folded mass matters at most `folded` relative to delta.
fn refine_within<T>(
    problem: &FourierProblem<'_>,
    saddle: &Saddle,
    (gap, folded): (f64, f64),
    answer: impl Fn(&FourierAttempt<'_>, &mut Transforms) -> Result<Option<AttemptResult<T>>, Failure>,
) -> Result<T, Failure> {
    let window = problem.window(saddle, folded);
    let mut step = problem.first_step(saddle, &window, gap).ok_or(Failure::TooMuch)?;
    let mut transforms = Transforms::new();
    let mut best = f64::INFINITY;
    for _ in 0..MOST_TRIES {
        let Some(attempt) = FourierAttempt::new(problem, saddle, &window, step) else { break };
        let Some(tried) = answer(&attempt, &mut transforms)? else { break };
        if tried.excess <= 1.0 {
            return Ok(tried.answer);
        }
        let finer = step / finer(tried.excess);
        let next = problem.step(&window, finer).filter(|&next| next < 0.9 * step);
        // The gap decreases with the square of the step, or not at all.
        let falls = tried.width < 0.8 * best;
        best = best.min(tried.width);
        match next {
            Some(next) if falls => step = next,
            _ => break,
        }
    }
    Err(if best.is_finite() { Failure::TooWide(best) } else { Failure::TooMuch })
}

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    parts: &[CountedLoss],
    target: &Target,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<Bracket, Failure> {
    let problem = FourierProblem::new(parts, (effort, watch)).ok_or(Failure::TooMuch)?;
    let ln_target = target.lower.ln_estimate();
    let saddle = problem.search(|saddle| saddle.ln_delta > ln_target || saddle.epsilon < 0.0);
    let gap = 0.7 * tolerance * saddle.tilt * saddle.epsilon.max(1e-3);
    refine(&problem, &saddle, gap, |attempt, transforms| {
        let above = attempt.above(transforms)?;
        let top = above.top();
        if above.delta(top) > target.lower {
            return Ok(None);
        }
        let upper = if above.delta(0.0) <= target.lower {
            0.0
        } else {
            satisfying_epsilon(|e| above.delta(e), target, &saddle, top, &watch)?
        };
        let below = attempt.below(transforms)?;
        let roots = below.tests(upper).map(|test| test.root(target).0);
        let lower = roots.into_iter().fold(0.0, f64::max).min(upper);
        let answer = Bracket { lower, upper };
        let width = answer.relative_width();
        let excess = if answer.is_within_tolerance(tolerance) {
            0.0
        } else {
            width / tolerance.max(1e-12 / upper.max(1e-300))
        };
        Ok(Some(AttemptResult { answer, width, excess }))
    })
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[CountedLoss],
    epsilon: f64,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<DeltaBounds, Failure> {
    let problem = FourierProblem::new(parts, (effort, watch)).ok_or(Failure::TooMuch)?;
    let saddle = problem.search(|saddle| saddle.epsilon < epsilon);
    let saddle = Saddle { epsilon, ..saddle };
    refine(&problem, &saddle, tolerance, |attempt, transforms| {
        let upper = attempt.above(transforms)?.delta(epsilon);
        if !upper.is_positive() {
            return Ok(Some(AttemptResult { answer: DeltaBounds::ZERO, width: 0.0, excess: 0.0 }));
        }
        let below = attempt.below(transforms)?;
        let tests = below.tests(epsilon).map(|test| test.delta(epsilon).lower);
        let lower = tests.into_iter().fold(Wide::ZERO, |a, b| if b > a { b } else { a });
        let width = ((upper - lower) * upper.recip()).estimate();
        Ok(Some(AttemptResult {
            answer: DeltaBounds { lower, upper },
            width,
            excess: width / tolerance,
        }))
    })
}
