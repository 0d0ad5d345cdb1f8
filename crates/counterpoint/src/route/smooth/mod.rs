//! The saddle-point contour in the loss itself.
//!
//! For t > 0 and z = t + iw, e^(t e) delta(e) has the Fourier transform M(z) / (z (1 + z)).
//! Sampled at w_j = 2 pi j / T,
//!
//! `S(e) = (1/T) sum_j M(z_j)/(z_j (1 + z_j)) e^(-z_j e) = sum_m e^(t m T) delta(e + m T)`:
//!
//! delta itself plus terms that are not negative (theorems.md, contour in the loss). Few
//! points matter if the losses are many or smooth; the others are bounded without being
//! evaluated.

mod sampled;
mod term;

use super::closed;
use super::saddle::Saddle;
use super::sandwich::{Ends, Failure, satisfying};
use crate::bracket::Bracket;
use crate::leak::Target;
use crate::loss::Loss;
use crate::renyi::cumulant;
use crate::rounding::{Dd, STEP, UNIT, Wide, exp, expm1, turn};
use crate::view::Part;
use crate::watch::Watch;
use std::cell::RefCell;
use term::{Complex, Place, Term, times};

/// K(t) of one loss and its absolute error: in plain doubles where they will do.
pub(crate) fn quick_cumulant(loss: &Loss, t: f64) -> Option<(Dd, f64)> {
    let quick = match loss {
        Loss::SampledGaussian { rate, mu, direction } => {
            sampled::cumulant(*rate, *mu, *direction, t)
        }
        _ => None,
    };
    let sound = |(value, error): &(Dd, f64)| value.hi.is_finite() && error.is_finite();
    quick.filter(sound).or_else(|| cumulant(loss, t))
}

/// The cumulant generating function of all parts: value and absolute error.
fn total_cumulant(parts: &[Part], t: f64) -> Option<(Dd, f64)> {
    let mut sum = (Dd::ZERO, 0.0);
    for part in parts {
        let (value, error) = quick_cumulant(&part.loss, t)?;
        let count = part.count as f64;
        sum.0 = sum.0 + value * count;
        sum.1 += count * error + STEP * (sum.0.hi.abs() + value.hi.abs() * count);
    }
    Some(sum)
}

/// Estimates of K, K' and K''.
#[derive(Clone, Copy)]
struct Jet {
    value: f64,
    slope: f64,
    curvature: f64,
}

fn jet(parts: &[Part], t: f64) -> Option<Jet> {
    let mut sum = Jet { value: 0.0, slope: 0.0, curvature: 1e-300 };
    for part in parts {
        let [value, slope, curvature] = match &part.loss {
            Loss::SampledGaussian { rate, mu, direction } => {
                sampled::jet(*rate, mu.hi, *direction, t)?
            }
            loss => differences(loss, t)?,
        };
        let count = part.count as f64;
        sum.value += count * value;
        sum.slope += count * slope;
        sum.curvature += count * curvature.max(0.0);
    }
    Some(sum)
}

/// K, K' and K'' from three values.
fn differences(loss: &Loss, t: f64) -> Option<[f64; 3]> {
    let step = 1e-3 * t;
    let at = |t: f64| cumulant(loss, t).map(|k| k.0);
    let (low, middle, high) = (at(t - step)?, at(t)?, at(t + step)?);
    let slope = (high - low).hi / (2.0 * step);
    let curvature = ((high - middle) - (middle - low)).hi / (step * step);
    Some([middle.hi, slope, curvature])
}

/// The epsilon whose saddle point is t, and the estimate of ln delta there.
fn saddle_at(parts: &[Part], t: f64) -> Option<Saddle> {
    let k = jet(parts, t)?;
    let epsilon = k.slope - 1.0 / t - 1.0 / (1.0 + t);
    let width = k.curvature + 1.0 / (t * t) + 1.0 / ((1.0 + t) * (1.0 + t));
    let ln_delta =
        k.value - t * epsilon - t.ln() - t.ln_1p() - 0.5 * (std::f64::consts::TAU * width).ln();
    Some(Saddle { tilt: t, epsilon, ln_delta, variance: k.curvature })
}

/// The saddle point at which a quantity that rises with t vanishes; none if no contour would
/// follow ([`Term::new`]), before much is spent on dear cumulants.
fn saddle_where(parts: &[Part], goal: impl Fn(&Saddle) -> f64) -> Option<Saddle> {
    if parts.iter().any(|part| matches!(part.loss, Loss::SampledLaplace { .. })) {
        return None;
    }
    let (mut low, mut high) = (MOST_TILT.recip(), MOST_TILT);
    let mut t: f64 = 1.0;
    let mut last: Option<(f64, f64)> = None;
    let mut found = None;
    for _ in 0..60 {
        let Some(saddle) = saddle_at(parts, t) else {
            // Too far out to be computed.
            high = t;
            t = (low * high).sqrt().max(0.25 * t);
            continue;
        };
        let height = goal(&saddle);
        found = Some(saddle);
        if height.abs() < 1e-2 || high / low < 1.0 + 1e-6 {
            return Some(saddle);
        }
        if height < 0.0 {
            low = t;
        } else {
            high = t;
        }
        // The secant in ln t, kept within the bracket.
        let next = last.map(|(x, y)| t.ln() - height * (t.ln() - x) / (height - y));
        last = Some((t.ln(), height));
        let bold = t * if height < 0.0 { 8.0 } else { 0.125 };
        t = match next.map(f64::exp) {
            Some(next) if next > low && next < high && next.is_finite() => {
                next.clamp(t * 0.05, t * 20.0)
            }
            _ if bold > low && bold < high => bold,
            _ => (low * high).sqrt(),
        };
        if t <= low || t >= high {
            t = (low * high).sqrt();
        }
    }
    found
}

const MOST_TILT: f64 = 1e9;
/// The most turns one contour may take.
const MOST_WORK: f64 = 1e7;

/// One point: phi and its error relative to M(t), kernel included.
struct Point {
    index: u64,
    /// phi / (z (1 + z)), twice for all but the first: it stands for its conjugate too.
    value: (f64, f64),
    error: f64,
}

/// A contour, ready for questions.
struct Contour {
    t: f64,
    period: f64,
    /// e^K(t) / T.
    scale: Wide,
    /// Relative error of the scale.
    scale_error: f64,
    /// The losses' shifts, added up.
    shift: Dd,
    points: Vec<Point>,
    /// What the points left out add up to.
    rest: f64,
    /// P mass that is in no term: it may have any loss.
    cut: Wide,
    /// Tilts above and below t with their `c(t') e^K(t') / (e^(|t' - t| T) - 1)`.
    aliases: [(f64, Wide); 2],
}

impl Contour {
    fn new(
        parts: &[Part],
        saddle: &Saddle,
        negligible: f64,
        watch: &Watch<'_>,
    ) -> Result<Self, Failure> {
        let Course { t, period, others } =
            course(parts, saddle, negligible).ok_or(Failure::TooMuch)?;
        let terms: Option<Vec<Term>> = parts.iter().map(|part| Term::new(part, t)).collect();
        let terms = terms.ok_or(Failure::TooMuch)?;
        let (cumulant, error) = total_cumulant(parts, t).ok_or(Failure::TooMuch)?;
        let shift = terms.iter().fold(Dd::ZERO, |sum, term| sum + term.shift * term.count as f64);
        let mut contour = Self {
            t,
            period,
            scale: Wide::exp(cumulant) * Wide::from(1.0 / period),
            scale_error: 2.0 * error + 16.0 * STEP * (1.0 + cumulant.hi.abs()),
            shift,
            points: Vec::new(),
            rest: 0.0,
            cut: Wide::from(closed::cut(parts)),
            aliases: [(0.0, Wide::ZERO); 2],
        };
        // What the sum will be, about, and at most.
        let ln_sum = saddle.ln_delta + t * saddle.epsilon - cumulant.hi + period.ln();
        let sum = exp(ln_sum.clamp(-600.0, 600.0)).min(1.0 / (t * (1.0 + t)));
        contour.evaluate(&terms, 0.1 * negligible * sum, watch)?;
        for (slot, other) in contour.aliases.iter_mut().zip(others) {
            *slot = alias(parts, other, t, period).ok_or(Failure::TooMuch)?;
        }
        Ok(contour)
    }

    /// Evaluates the first points, then goes outward block by block: bounds all points of a
    /// block at once if that is enough, halves the block if not, and evaluates what little is
    /// left of it, until the envelope bounds all the rest.
    fn evaluate(
        &mut self,
        terms: &[Term],
        allowance: f64,
        watch: &Watch<'_>,
    ) -> Result<(), Failure> {
        let spread: f64 = terms.iter().map(|term| term.variance * term.count as f64).sum();
        let unit = std::f64::consts::TAU / self.period;
        let work =
            |index: u64| terms.iter().map(|term| term.work(index as f64 * unit)).sum::<f64>();
        // Losses whose envelopes never fall far enough are not worth a start.
        let enveloped = terms.iter().all(Term::is_enveloped);
        let at_last = |term: &Term| term.count as f64 * ln(term.envelope(1e150));
        let never = enveloped && terms.iter().map(at_last).sum::<f64>() > -30.0;
        if never && tail(terms, (MOST_WORK / work(1)) as u64, unit) > 10.0 * allowance {
            return Err(Failure::TooMuch);
        }
        let last = (6.0 / (spread.sqrt() * unit)).ceil().clamp(4.0, 1e6) as u64;
        let mut spent = self.evaluate_block(terms, Block { first: 0, last }, &work)?;
        let mut first = last + 1;
        let mut reach = first;
        loop {
            watch.at(0.5).map_err(|_| Failure::Stopped)?;
            let tail = tail(terms, first - 1, unit);
            if tail <= 0.1 * allowance {
                self.rest += tail;
                return Ok(());
            }
            let block = Block { first, last: first + reach };
            let bound = self.bound(terms, block, unit);
            spent += work(block.last);
            if bound <= 1e-3 * allowance {
                self.rest += bound;
                reach *= 2;
            } else if reach > 2 {
                reach /= 2;
                continue;
            } else {
                spent += self.evaluate_block(terms, block, &work)?;
                reach = 4;
            }
            first = block.last + 1;
            if spent > MOST_WORK || first > 1 << 50 {
                return Err(Failure::TooMuch);
            }
        }
    }

    fn evaluate_block(
        &mut self,
        terms: &[Term],
        block: Block,
        work: &dyn Fn(u64) -> f64,
    ) -> Result<f64, Failure> {
        let spent = work(block.last) * (block.last - block.first + 1) as f64;
        if spent > MOST_WORK {
            return Err(Failure::TooMuch);
        }
        for index in block.first..=block.last {
            let point = point(terms, self.t, Place { index, period: self.period });
            self.points.push(point.ok_or(Failure::TooMuch)?);
        }
        Ok(spent)
    }

    /// All points of a block at once.
    fn bound(&self, terms: &[Term], block: Block, unit: f64) -> f64 {
        let middle = block.first + (block.last - block.first) / 2;
        let place = Place { index: middle, period: self.period };
        let reach = (block.last - middle) as f64 * unit * (1.0 + 1e-9);
        let start = block.first as f64 * unit * (1.0 - 1e-9);
        let mut logarithm = 0.0;
        for term in terms {
            let near = term.nearby(place, reach).min(term.envelope(start));
            logarithm += term.count as f64 * ln(near);
        }
        let many = (block.last - block.first + 1) as f64;
        2.0 * many * exp((logarithm + 1e-9).clamp(-700.0, 0.1)) / (start * start)
    }

    /// S at an epsilon, over the scale: value and absolute error, e^(-t e) left out.
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
            error += point.error + 64.0 * UNIT * (point.value.0.abs() + point.value.1.abs());
            error += 2.0 * UNIT * sum.abs();
        }
        // The phases' own rounding, in turns.
        let size: f64 = self.points.iter().map(|p| p.value.0.abs() + p.value.1.abs()).sum();
        let furthest = self.points.last().map_or(1.0, |point| point.index as f64 + 1.0);
        let turned = (self.shift.hi.abs() + epsilon) / self.period * furthest;
        (sum, (error + 64.0 * STEP * (1.0 + turned) * size) * (1.0 + 1e-9))
    }

    /// Bounds on the pure delta.
    fn ends(&self, epsilon: f64) -> Ends {
        let (sum, error) = self.sum(epsilon);
        let scale = self.scale * Wide::exp(Dd::product(-self.t, epsilon));
        let slack = self.scale_error + 8.0 * STEP * (1.0 + self.t * epsilon);
        let upper = scale * Wide::from((sum + error).max(0.0)) * Wide::from(1.0 + slack) + self.cut;
        let lower = scale * Wide::from((sum - error).max(0.0)) * Wide::from((1.0 - slack).max(0.0));
        let excess = self.aliases.iter().fold(Wide::ZERO, |total, &(tilt, factor)| {
            total + factor * Wide::exp(Dd::product(-tilt, epsilon))
        });
        let lower = lower - excess;
        (if lower.is_positive() { lower } else { Wide::ZERO }, upper)
    }
}

/// A run of points.
#[derive(Clone, Copy)]
struct Block {
    first: u64,
    last: u64,
}

fn point(terms: &[Term], t: f64, place: Place) -> Option<Point> {
    let mut product: Complex = (Dd::ONE, Dd::ZERO);
    let mut relative = 64.0 * UNIT;
    for term in terms {
        let (value, error) = term.value(place, 1e-17)?;
        let size = value.0.hi.hypot(value.1.hi);
        let share = error / size.max(1e-300);
        relative += term.count as f64 * (share + 32.0 * STEP);
        product = times(product, power(value, term.count));
    }
    let w = place.frequency().hi;
    // 1 / (z (1 + z)).
    let (re, im) = (t * (1.0 + t) - w * w, (1.0 + 2.0 * t) * w);
    let size = re * re + im * im;
    let twice = if place.index == 0 { 1.0 } else { 2.0 };
    let (a, b) = (product.0.hi, product.1.hi);
    let value = (twice * (a * re + b * im) / size, twice * (b * re - a * im) / size);
    let norm = twice * a.hypot(b) / size.sqrt();
    // (1 + x)^n - 1 is at most e^(n x) - 1.
    let error = if relative < 0.5 { 2.0 * relative * norm } else { f64::INFINITY };
    // re may cancel; what it is part of does not.
    let kernel = 16.0 * UNIT * (t * (1.0 + t) + w * w) / size.sqrt();
    let error = error + kernel * norm + 1e-280;
    error.is_finite().then_some(Point { index: place.index, value, error })
}

fn power(mut base: Complex, mut n: u64) -> Complex {
    let mut result = (Dd::ONE, Dd::ZERO);
    while n > 0 {
        if n & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        n >>= 1;
    }
    result
}

/// ln x for x up to about one, from above.
fn ln(x: f64) -> f64 {
    Dd::from(x.max(1e-300)).ln().upper()
}

/// All points beyond one: 2 sum of |phi| / w^2.
fn tail(terms: &[Term], last: u64, unit: f64) -> f64 {
    let frequency = last as f64 * unit * (1.0 - 1e-9);
    let logarithm: f64 =
        terms.iter().map(|term| term.count as f64 * ln(term.envelope(frequency))).sum();
    2.0 * exp((logarithm + 1e-9).clamp(-700.0, 0.1)) / (frequency * unit) * (1.0 + 1e-9)
}

/// The factor of e^(-t' e) in the bound on the aliases.
fn alias(parts: &[Part], other: f64, t: f64, period: f64) -> Option<(f64, Wide)> {
    let (cumulant, error) = total_cumulant(parts, other)?;
    let periods = (other - t).abs() * period;
    if periods < 1e-3 {
        return None;
    }
    // ln c(t') = t' ln t' - (1 + t') ln(1 + t'), at most -ln(1 + t').
    let exponent = cumulant + Dd::from(error - periods) - Dd::from(1.0 + other).ln();
    let share = 1.001 / -expm1(-periods);
    Some((other, Wide::exp(exponent) * Wide::from(share)))
}

/// Where to draw the line, and what shows that its aliases are negligible; estimates.
struct Course {
    t: f64,
    period: f64,
    /// Tilts above and below t.
    others: [f64; 2],
}

/// Tilts to choose from, relative to the saddle point.
const TILTS: [f64; 30] = [
    0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
    0.85, 0.9, 0.95, 1.0, 1.005, 1.02, 1.05, 1.1, 1.2, 1.4, 2.0, 3.0, 5.0,
];

/// The line with the shortest period, at or below the saddle point.
///
/// Rare large losses make K a cliff: at the saddle point both they and the many small ones
/// count, and the period must span the two. A line a little below it loses some digits to
/// cancellation and needs a period no longer than what it is about.
fn course(parts: &[Part], saddle: &Saddle, negligible: f64) -> Option<Course> {
    let goal = saddle.ln_delta + (0.01 * negligible).ln();
    let rated = |c: &f64| {
        let t = c * saddle.tilt;
        total_cumulant(parts, t).map(|k| (t, k.0.hi - t * saddle.epsilon))
    };
    let rates: Vec<(f64, f64)> = TILTS.iter().filter_map(rated).collect();
    // Not more should cancel: each factor's rounding counts.
    let many: f64 =
        parts.iter().filter(|part| is_sampled(part)).map(|part| part.count as f64).sum();
    let most = saddle.ln_delta + (negligible.ln() + 31.0 - 0.5 * (1.0 + many).ln()).max(1.0);
    let mut best: Option<(f64, Course)> = None;
    for &(t, rate) in &rates {
        if t > saddle.tilt * (1.0 + 1e-9) {
            continue;
        }
        let Some((period, others)) = period(&rates, t, saddle, goal) else { continue };
        let lost = (rate - t.ln() - t.ln_1p() - most).max(0.0);
        let cost = period.ln() + 2.0 * lost;
        if best.as_ref().is_none_or(|(least, _)| cost <= *least) {
            best = Some((cost, Course { t, period, others }));
        }
    }
    best.map(|(_, course)| course)
}

fn is_sampled(part: &Part) -> bool {
    matches!(part.loss, Loss::SampledGaussian { .. })
}

/// The least power of two that makes the aliases negligible.
fn period(rates: &[(f64, f64)], t: f64, saddle: &Saddle, goal: f64) -> Option<(f64, [f64; 2])> {
    let best = |length: f64, above: bool| {
        let side = rates.iter().filter(|(other, _)| if above { *other > t } else { *other < t });
        let rated =
            side.map(|&(other, rate)| (rate - other.ln_1p() - (other - t).abs() * length, other));
        rated.fold((f64::INFINITY, t), |a, b| if b.0 < a.0 { b } else { a })
    };
    let start = 4.0 / saddle.tilt;
    let mut length = 2.0_f64.powi(start.log2().ceil().clamp(-400.0, 400.0) as i32);
    for _ in 0..60 {
        let (high, low) = (best(length, true), best(length, false));
        if high.0 < goal && low.0 < goal {
            return Some((length, [high.1, low.1]));
        }
        length *= 2.0;
    }
    None
}

/// Neglects ever less until an answer is not too wide, or no longer gets narrower.
fn refine<T>(
    parts: &[Part],
    mut saddle: Saddle,
    negligible: f64,
    watch: &Watch<'_>,
    answer: impl Fn(&Contour, &mut Saddle) -> Result<T, Failure>,
) -> Result<(T, Kept), Failure> {
    let mut negligible = negligible.clamp(1e-14, 1e-3);
    let mut best = f64::INFINITY;
    for _ in 0..4 {
        let contour = match Contour::new(parts, &saddle, negligible, watch) {
            Err(Failure::TooMuch) if best.is_finite() => break,
            contour => contour?,
        };
        match answer(&contour, &mut saddle) {
            Err(Failure::TooWide(width)) if width < 0.5 * best => best = width,
            Err(Failure::TooWide(_)) => break,
            answer => return Ok((answer?, Kept { contour, saddle })),
        }
        negligible *= 1e-2;
        if negligible < 1e-15 {
            break;
        }
    }
    Err(Failure::TooWide(best))
}

/// A contour and the saddle point it was drawn for.
struct Kept {
    contour: Contour,
    saddle: Saddle,
}

/// The contours of earlier questions about the same losses. A contour answers any question; near
/// the one it was drawn for, it does so well. That is what is worth keeping: drawing it takes
/// far longer than asking it.
#[derive(Default)]
pub(crate) struct Contours(RefCell<Vec<Kept>>);

impl Contours {
    /// What the nearest contour answers, if there is one and it does.
    fn ask<T>(
        &self,
        distance: impl Fn(&Saddle) -> f64,
        answer: impl Fn(&Contour, &mut Saddle) -> Result<T, Failure>,
    ) -> Option<T> {
        let kept = self.0.borrow();
        let nearest =
            kept.iter().min_by(|a, b| distance(&a.saddle).total_cmp(&distance(&b.saddle)))?;
        answer(&nearest.contour, &mut nearest.saddle.clone()).ok()
    }

    fn keep<T>(&self, (answer, kept): (T, Kept)) -> T {
        self.0.borrow_mut().push(kept);
        answer
    }
}

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    parts: &[Part],
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
    contours: &Contours,
) -> Result<Bracket, Failure> {
    let ln_target = target.lower.ln_estimate();
    let answer = |contour: &Contour, saddle: &mut Saddle| {
        let top = top(contour, target, saddle);
        let upper = satisfying(|e| contour.ends(e).1, target, saddle, top, &watch)?;
        let lower = exceeding(contour, target, saddle, upper);
        let bracket = Bracket { lower, upper };
        if bracket.keeps(tolerance) {
            return Ok(bracket);
        }
        // Now more is known about where it is.
        if upper < 1e300 {
            saddle.epsilon = upper;
        }
        Err(Failure::TooWide(bracket.relative_width()))
    };
    // Along the tilt, where the nearest one says that it is.
    let shifted = |contour: &Contour, saddle: &mut Saddle| {
        let epsilon = saddle.epsilon + (saddle.ln_delta - ln_target) / saddle.tilt;
        answer(contour, &mut Saddle { epsilon: epsilon.max(0.0), ln_delta: ln_target, ..*saddle })
    };
    let distance = |saddle: &Saddle| (saddle.ln_delta - ln_target).abs();
    if let Some(bracket) = contours.ask(distance, shifted) {
        return Ok(bracket);
    }
    let saddle = saddle_where(parts, |saddle| ln_target - saddle.ln_delta);
    let saddle = saddle.ok_or(Failure::TooMuch)?;
    let saddle = Saddle { epsilon: saddle.epsilon.max(0.0), ln_delta: ln_target, ..saddle };
    let negligible = 0.1 * tolerance * saddle.tilt * saddle.epsilon;
    refine(parts, saddle, negligible, &watch, answer).map(|found| contours.keep(found))
}

/// An epsilon that satisfies the target, to search below.
fn top(contour: &Contour, target: &Target, saddle: &Saddle) -> f64 {
    let mut top = saddle.epsilon + 1.0 / saddle.tilt;
    for _ in 0..200 {
        if contour.ends(top).1 <= target.lower {
            return top;
        }
        top += (top - saddle.epsilon).max(1e-300) + saddle.epsilon * 1e-3;
    }
    f64::MAX
}

/// An epsilon that surely exceeds the target, a little below one that satisfies it.
fn exceeding(contour: &Contour, target: &Target, saddle: &Saddle, upper: f64) -> f64 {
    let (low, high) = contour.ends(upper);
    let gap = if low.is_positive() { high.ln_estimate() - low.ln_estimate() } else { 1.0 };
    let mut step = (gap.max(1e-15) * 1.2) / saddle.tilt + upper * 4e-16;
    for _ in 0..60 {
        let at = (upper - step).max(0.0);
        if contour.ends(at).0 > target.upper {
            return at;
        }
        if at <= 0.0 {
            break;
        }
        step *= 1.5;
    }
    0.0
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[Part],
    epsilon: f64,
    tolerance: f64,
    watch: Watch<'_>,
    contours: &Contours,
) -> Result<Ends, Failure> {
    let answer = |contour: &Contour, saddle: &mut Saddle| {
        let (lower, upper) = contour.ends(epsilon);
        let width = ((upper - lower) * upper.recip()).estimate();
        if width <= tolerance {
            return Ok((lower, upper));
        }
        if lower.is_positive() {
            saddle.ln_delta = upper.ln_estimate();
        }
        Err(Failure::TooWide(width))
    };
    watch.at(0.5)?;
    if let Some(ends) = contours.ask(|saddle| (saddle.epsilon - epsilon).abs(), answer) {
        return Ok(ends);
    }
    let saddle = saddle_where(parts, |saddle| (saddle.epsilon - epsilon) * saddle.tilt);
    let saddle = Saddle { epsilon, ..saddle.ok_or(Failure::TooMuch)? };
    refine(parts, saddle, 0.1 * tolerance, &watch, answer).map(|found| contours.keep(found))
}
