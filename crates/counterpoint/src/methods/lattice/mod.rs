//! Any losses on a lattice, by one Fourier transform each.
//!
//! From above by splitting, from below by merging and testing, as in [`super::sandwich`];
//! but every place of the lattice is evaluated, so that losses may have any number of atoms.

mod placement;
mod sums;

#[cfg(test)]
mod tests;

use crate::composition::Part;
use crate::composition::leak::Target;
use crate::ends::{DOUBLES, Ends};
use crate::laws::cells::{Cut, Point, Side};
use crate::methods::Failure;
use crate::methods::common_step::common_step;
use crate::methods::contour::Effort;
use crate::methods::saddle::Saddle;
use crate::methods::search::satisfying;
use crate::methods::tail::{BOUNDS, Tail};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::fourier::Transforms;
use counterpoint_numerics::{Dd, STEP, Wide};
use placement::{Frame, LEFT_OUT, Merged, Placed, merge, split};
use sums::{Composed, FAR};

/// A bound on what is folded: exponents of at most 10^3, rounded a few times, and [`placement`]'s moments.
const FOLDED: f64 = 1e-6;
/// The longest period, as a power of two.
const MOST_BITS: f64 = 23.0;
/// The most places all transforms of a try may have together.
const MOST_PLACES: f64 = 5.1e7;
/// Places beyond this would not be exact in doubles.
const MOST_PLACE: f64 = 1e15;
/// Where a window that is as long as what was asked needs is too short, what is folded is to matter no more than this,
/// relative to delta: no finer step mends that.
const FOLDED_GAP: f64 = 1e-6;
/// The same where a little effort is to do, and the most atoms that are looked at for it.
const LITTLE_BITS: f64 = 14.0;
const LITTLE_PLACES: f64 = 1e5;
const LITTLE_ATOMS: f64 = 8192.0;
/// How often the step is refined.
const MOST_TRIES: usize = 4;
/// Places to spare in a period.
const SPARE: f64 = 64.0;
/// A step this much wider than wanted is tried all the same: the estimates are cautious.
const HOPEFUL: f64 = 2.5;
/// A loss with more atoms than this is estimated from fewer.
const ROUGH_ATOMS: usize = 4096;

/// A loss, roughly: for estimates.
struct Rough {
    /// Losses and the logarithms of their masses.
    list: Vec<(f64, f64)>,
    count: f64,
    offset: Dd,
}

/// K, K' and K'' of one loss.
type Cumulant = (f64, f64, f64);

/// Estimates.
#[allow(clippy::disallowed_methods)]
impl Rough {
    fn new(part: &Part) -> Option<Self> {
        let mut list = Vec::new();
        let mut keep = |point: Point| {
            if point.p > 0.0 {
                list.push((point.loss.hi, point.p.ln() + point.scale.hi));
            }
        };
        part.law().points(Side::Above, None, &mut keep)?;
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

    fn cumulant(&self, t: f64) -> Cumulant {
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

impl Rough {
    /// How far its losses lie apart.
    fn span(&self) -> f64 {
        let losses = || self.list.iter().map(|&(loss, _)| loss);
        losses().fold(f64::NEG_INFINITY, f64::max) - losses().fold(f64::INFINITY, f64::min)
    }

    /// How far from the offset its losses lie, about.
    fn reach(&self) -> f64 {
        self.list.iter().map(|&(loss, _)| (loss - self.offset.hi).abs()).fold(0.0, f64::max)
    }
}

/// What stays the same from try to try.
struct Problem<'a> {
    parts: &'a [Part],
    rough: Vec<Rough>,
    /// The sum of all offsets, and a bound on its error.
    offset: Dd,
    offset_error: f64,
    effort: Effort,
    watch: Watch<'a>,
}

/// Whether there may be a lattice on which all losses lie, but for rounding, and few atoms: it is tried only once.
fn is_short(parts: &[Part]) -> bool {
    let atoms = |part: &Part| match (part.law().formula(), part.law().listed()) {
        (Some(formula), _) => Some(formula.outcomes),
        (None, Some(atoms)) => Some(atoms as f64),
        (None, None) => part.law().guarantee().map(|_| 2.0),
    };
    parts.iter().map(atoms).sum::<Option<f64>>().is_some_and(|atoms| atoms <= LITTLE_ATOMS)
        && distances(parts).is_some_and(|list| {
            let widest = list.iter().copied().fold(0.0, f64::max);
            common_step(&list, widest / f64::from(1 << LITTLE_BITS as u32)).is_some()
        })
}

/// The distances of all losses from their offsets, if all are atoms.
fn distances(parts: &[Part]) -> Option<Vec<f64>> {
    let lists: Option<Vec<_>> = parts.iter().map(|part| part.law().spacings()).collect();
    Some(lists?.concat())
}

impl<'a> Problem<'a> {
    fn new(parts: &'a [Part], (effort, watch): (Effort, Watch<'a>)) -> Option<Self> {
        if effort == Effort::Little && !is_short(parts) {
            return None;
        }
        let rough: Vec<Rough> = parts.iter().map(Rough::new).collect::<Option<_>>()?;
        let sum = |(total, size): (Dd, f64), rough: &Rough| {
            let offset = rough.offset * rough.count;
            (total + offset, size + offset.hi.abs())
        };
        let (offset, size) = rough.iter().fold((Dd::ZERO, 0.0), sum);
        // A product and an addition for each, at 2^-102.
        let offset_error = size * STEP * (rough.len() as f64 + 1.0);
        Some(Self { parts, rough, offset, offset_error, effort, watch })
    }
}

/// Estimates: any tilt, window and step are sound.
#[allow(clippy::disallowed_methods)]
impl Problem<'_> {
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

    /// The losses without the atoms that are left out from below at a tilt.
    fn kept(&self, t: f64) -> Vec<Rough> {
        let kept = self.rough.iter().map(|rough| {
            let least = rough.cumulant(t).0 + (LEFT_OUT / rough.count).ln();
            let heavy = |&&(loss, mass): &&(f64, f64)| mass + t * loss >= least;
            let list = rough.list.iter().filter(heavy).copied().collect();
            Rough { list, count: rough.count, offset: rough.offset }
        });
        kept.collect()
    }

    /// A window outside of which the tilted law has too little mass to matter for a gap,
    /// relative to delta: by Chernoff's bound with the best of a few exponents on each side.
    /// Delta is about the tilted mass over (1 + t deviation) (1 + t).
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

    /// A step that makes full use of a period, at most the one wanted or, if the period would
    /// be too long, not much wider.
    fn step(&self, window: &Window, wanted: f64) -> Option<f64> {
        let most = MOST_PLACES / (3.0 * self.parts.len() as f64 + 3.0);
        let most = most.log2().floor().min(MOST_BITS);
        let bits = (window.length / wanted + SPARE).log2().ceil().max(7.0).min(most);
        let step = window.length / (bits.exp2() - SPARE);
        (step <= HOPEFUL * wanted).then_some(step)
    }

    /// The first step to try.
    fn first_step(&self, saddle: &Saddle, window: &Window, gap: f64) -> Option<f64> {
        let wanted = self.wanted_step(saddle, gap);
        let t = saddle.tilt;
        match self.exact_step(wanted / 64.0) {
            Some(d) => Some(d / (d * t).ceil().max((d / 0.25).ceil()).max(1.0)),
            None if self.effort == Effort::Little => None,
            None => self.step(window, wanted),
        }
    }

    /// The step at which the lattices differ by about `gap`, relative to delta: splitting adds
    /// about `t (t + 1)/2` times h^2/6 for each loss.
    fn wanted_step(&self, saddle: &Saddle, gap: f64) -> f64 {
        let t = saddle.tilt;
        let count: f64 = self.rough.iter().map(|rough| rough.count).sum();
        let step = (4.0 * gap.clamp(1e-11, 0.1) / (t * (t + 1.0) * count)).sqrt();
        let widest = (0.1 * saddle.variance.sqrt()).max(0.01 / t).min(0.25 / t).min(0.25);
        step.min(widest)
    }

    /// A step of which all differences of losses are multiples, but for rounding, if all losses
    /// are atoms and there is one that is not too small. Any step is sound.
    fn exact_step(&self, least: f64) -> Option<f64> {
        common_step(&distances(self.parts)?, least)
    }
}

/// How long a period must be, in loss, and the exponents by which it is judged.
struct Window {
    length: f64,
    exponents: [f64; 2],
}

/// One try at a given step.
struct Attempt<'a> {
    problem: &'a Problem<'a>,
    placed: Vec<Placed<'a>>,
    frame: Frame,
    /// For the bounds on what is folded onto the tail.
    exponents: [f64; 2],
}

impl<'a> Attempt<'a> {
    /// None if the period would be too long. All of it is chosen, by estimates.
    #[allow(clippy::disallowed_methods)]
    fn new(problem: &'a Problem<'a>, saddle: &Saddle, window: &Window, step: f64) -> Option<Self> {
        let t = saddle.tilt;
        let furthest: f64 = problem.rough.iter().map(|rough| rough.count * rough.reach()).sum();
        if furthest / step > 0.1 * MOST_PLACE {
            return None;
        }
        // A hair less: the step may fill the period.
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
            Placed {
                law: part.law(),
                count: part.count,
                offset: rough.offset,
                cut: Cut { width: 0.5 * step, tilt: t, cumulant, watch: problem.watch },
                reference: cumulant - t * rough.offset.hi,
                centre: ((mean - rough.offset.hi) / step).round(),
            }
        });
        let exponents = window.exponents.map(|s| s * step);
        Some(Self { problem, placed: placed.collect(), frame, exponents })
    }

    fn above(&self, transforms: &mut Transforms) -> Result<Above<'_>, Failure> {
        let mut leak = Wide::ZERO;
        let factors = self.placed.iter().map(|placed| {
            self.problem.watch.at(0.5).ok()?;
            let (weights, lost) = split(placed, &self.frame)?;
            leak = leak + lost * Wide::from(placed.count as f64 * (1.0 + DOUBLES));
            Some(weights)
        });
        let frame = (self.frame.tilt, self.frame.step, self.frame.bits);
        let split = Composed::new(factors, frame, transforms, &self.problem.watch)?;
        Ok(Above { attempt: self, split: split.ok_or(Failure::TooMuch)?, leak })
    }

    fn below(&self, transforms: &mut Transforms) -> Result<Below<'_>, Failure> {
        let mut moments = [Wide::ONE; 2];
        let (mut centre, mut bias) = (0.0, 0.0);
        let mut under_q = Vec::with_capacity(self.placed.len());
        let factors = self.placed.iter().map(|placed| {
            self.problem.watch.at(0.5).ok()?;
            let Merged { p, q, moments: own, bias: moved } =
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
        let p = Composed::new(factors, (tilt, step, bits), transforms, watch)?;
        let factors = under_q.into_iter().map(Some);
        let q = Composed::new(factors, (tilt + step, step, bits), transforms, watch)?;
        let (p, q) = p.zip(q).ok_or(Failure::TooMuch)?;
        Ok(Below { attempt: self, p, q, moments, centre, bias })
    }
}

/// The dominating law.
struct Above<'a> {
    attempt: &'a Attempt<'a>,
    split: Composed,
    /// A bound on the mass that was left out.
    leak: Wide,
}

impl Above<'_> {
    fn delta(&self, epsilon: f64) -> Wide {
        let problem = self.attempt.problem;
        let step = self.attempt.frame.step;
        // y stands for the loss offset + h y; an epsilon a little lower is on the safe side.
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

    /// An epsilon at or above the largest loss that is not left out.
    fn top(&self) -> f64 {
        let problem = self.attempt.problem;
        let largest = problem.offset + Dd::product(self.split.last, self.attempt.frame.step);
        (largest + Dd::from(4.0 * problem.offset_error)).upper().max(0.0)
    }
}

/// The dominated laws.
struct Below<'a> {
    attempt: &'a Attempt<'a>,
    p: Composed,
    q: Composed,
    moments: [Wide; 2],
    centre: f64,
    bias: f64,
}

impl Below<'_> {
    /// The P mass from below and the Q mass from above of the sums the test takes to be
    /// above an epsilon.
    fn test(&self, epsilon: f64, shift: f64) -> Tail {
        let gap = epsilon + self.bias - self.attempt.problem.offset.hi;
        let from = (gap / self.attempt.frame.step).ceil() + shift;
        let p = self.p.below(from, self.aliases(from));
        Tail { p, q: self.q.above(from, None), slack: BOUNDS }
    }

    /// The tilted P mass that is folded onto the sum from a place on:
    /// `E[e^(s (Y - centre))] e^(-s (y - centre))` on either side.
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

/// The factor by which to refine, given by how much the gap is too wide.
fn finer(excess: f64) -> f64 {
    (1.5 * excess).sqrt().clamp(1.5, 64.0)
}

/// What a try came to, how wide it is, and by how much too wide: at most one if it is not.
struct Tried<T> {
    answer: T,
    width: f64,
    excess: f64,
}

/// Tries ever finer steps until an answer is narrow enough; a try may come to nothing. Where that may be for want of a
/// longer window it begins again with one.
fn refine<T>(
    problem: &Problem<'_>,
    saddle: &Saddle,
    gap: f64,
    answer: impl Fn(&Attempt<'_>, &mut Transforms) -> Result<Option<Tried<T>>, Failure>,
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

/// The same with one window, in which what is folded matters so much at most.
fn refine_within<T>(
    problem: &Problem<'_>,
    saddle: &Saddle,
    (gap, folded): (f64, f64),
    answer: impl Fn(&Attempt<'_>, &mut Transforms) -> Result<Option<Tried<T>>, Failure>,
) -> Result<T, Failure> {
    let window = problem.window(saddle, folded);
    let mut step = problem.first_step(saddle, &window, gap).ok_or(Failure::TooMuch)?;
    let mut transforms = Transforms::new();
    let mut best = f64::INFINITY;
    for _ in 0..MOST_TRIES {
        let Some(attempt) = Attempt::new(problem, saddle, &window, step) else { break };
        let Some(tried) = answer(&attempt, &mut transforms)? else { break };
        if tried.excess <= 1.0 {
            return Ok(tried.answer);
        }
        let finer = step / finer(tried.excess);
        let next = problem.step(&window, finer).filter(|&next| next < 0.9 * step);
        // The gap falls with the square of the step, or it will not fall.
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
    parts: &[Part],
    target: &Target,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<Bracket, Failure> {
    let problem = Problem::new(parts, (effort, watch)).ok_or(Failure::TooMuch)?;
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
            satisfying(|e| above.delta(e), target, &saddle, top, &watch)?
        };
        let below = attempt.below(transforms)?;
        let roots = below.tests(upper).map(|test| test.root(target).0);
        let lower = roots.into_iter().fold(0.0, f64::max).min(upper);
        let answer = Bracket { lower, upper };
        let width = answer.relative_width();
        let excess = if answer.keeps(tolerance) {
            0.0
        } else {
            width / tolerance.max(1e-12 / upper.max(1e-300))
        };
        Ok(Some(Tried { answer, width, excess }))
    })
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[Part],
    epsilon: f64,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<Ends, Failure> {
    let problem = Problem::new(parts, (effort, watch)).ok_or(Failure::TooMuch)?;
    let saddle = problem.search(|saddle| saddle.epsilon < epsilon);
    let saddle = Saddle { epsilon, ..saddle };
    refine(&problem, &saddle, tolerance, |attempt, transforms| {
        let upper = attempt.above(transforms)?.delta(epsilon);
        if !upper.is_positive() {
            return Ok(Some(Tried { answer: Ends::ZERO, width: 0.0, excess: 0.0 }));
        }
        let below = attempt.below(transforms)?;
        let tests = below.tests(epsilon).map(|test| test.delta(epsilon).lower);
        let lower = tests.into_iter().fold(Wide::ZERO, |a, b| if b > a { b } else { a });
        let width = ((upper - lower) * upper.recip()).estimate();
        Ok(Some(Tried { answer: Ends { lower, upper }, width, excess: width / tolerance }))
    })
}
