//! What needs no composition: one mechanism run once, and the ends of bounded losses.

pub(crate) use super::largest::largest;
use super::largest::{cut, is_far_above, largest_kept, top};
use super::smooth::{self, Contours, Effort};
use crate::bracket::Bracket;
use crate::composition::Part;
use crate::composition::leak::Target;
use crate::loss::{Atom, Atoms, Direction, Loss};
use crate::rounding::{Dd, STEP, Wide, exp, exp_rounded, expm1, falling, ln_1p_rounded};
use crate::route::outcomes::Outcomes;
use crate::route::search::{halved, narrowed};
use crate::route::{Ends, Failure, ROUNDED_UP, UNCOUNTED, kept};
use crate::watch::Watch;

// What the certificates here allow for, each rounded up generously.

/// Four roundings of doubles, twice over: no expression it stands beside has more.
const DOUBLES: f64 = 1e-15;
/// A closed form in double-doubles: fewer than thirty operations on positive numbers, at 2^-94 each.
const FORMULA: f64 = 64.0 * STEP;
/// A difference of two losses, each good to 2^-94 of itself, and its own rounding.
const DISTANCE: f64 = 8.0 * STEP;
/// q - (1 - q)(e^eps - 1): four operations on numbers of at most about q.
const SHARE: f64 = 16.0 * STEP;
/// An integral of 128 positive pieces, each of three functions good to 4 u and [`sampled_growth`]'s
/// 64 u in an exponent of at most 50: below 4,000 u.
const INTEGRAL: f64 = 1e-12;
/// For each factor: its mass, good to two steps, and its product in a power.
const FACTOR: f64 = 4.0;
/// A few operations beside those of the factors.
const FEW: f64 = 4.0 * FACTOR;
/// A loss and its distance from an epsilon, for each operation it may have seen.
const LOSS: f64 = 2.0 * STEP;
/// What the factor A may be where it cannot be told from nothing: its error, fourfold.
const NOTHING: f64 = 4.0;
/// Atoms within the rounding of a gap count as within it.
const NEXT_TO: f64 = 1e-9;
const NEXT_TO_ZERO: f64 = 1e-25;

// Not allowances but limits, which must stay below 2 and 1: a gap up to there does not reach the other
// end of the losses (two epsilons below the largest), the next atom, or half of that span.

const SHORT_OF_THE_SPAN: f64 = 1.9;
const SHORT_OF_THE_NEXT: f64 = 0.999;
const SHORT_OF_HALF: f64 = 0.9;

/// Where the target is so far below the probability of the largest loss that epsilon is next
/// to it: that loss alone makes `delta >= mass (1 - e^(epsilon - largest))`, and losses
/// within the gap make it at most that with their mass.
pub(crate) fn near_the_top(parts: &[Part], target: &Target) -> Option<Bracket> {
    let bracket = next_to_the_top(parts, target)?;
    Some(closer_to_the_top(parts, target, bracket).unwrap_or(bracket))
}

/// The same to first order, which is soon told.
pub(crate) fn next_to_the_top(parts: &[Part], target: &Target) -> Option<Bracket> {
    let (largest, error) = largest(parts)?;
    let (mass, operations) = mass_at_the_top(parts)?;
    let operations = FACTOR + operations;
    let mass = mass * Wide::from((1.0 - operations * STEP).max(0.0));
    if !mass.is_positive() {
        return None;
    }
    let share = (target.upper * mass.recip()).upper(DOUBLES);
    if share >= 0.5 {
        return None;
    }
    let below = Dd::from(-share).ln_1p() * (1.0 + DOUBLES);
    let lower = (largest - Dd::from(error) + below).lower().max(0.0);
    // Above it, delta is at most the mass within the gap times 1 - e^(epsilon - largest).
    let gap = (Dd::from(2.0 * error) - below).upper();
    let within = all_within(parts, gap) * Wide::from(1.0 + operations * STEP);
    let share = (target.lower * within.recip()).lower(DOUBLES).min(share);
    let upper = largest + Dd::from(error) + Dd::from(-share).ln_1p() * (1.0 - DOUBLES);
    Some(Bracket { lower, upper: upper.upper().max(lower) })
}

/// The probability that every loss is its largest, and the operations it took.
fn mass_at_the_top(parts: &[Part]) -> Option<(Wide, f64)> {
    let (mut mass, mut operations) = (Wide::ONE, 0.0);
    for part in parts {
        mass = mass * Wide::from(top(&part.each)?.1).powi(part.count);
        operations += FACTOR * part.count as f64;
    }
    Some((mass, operations))
}

/// The probability that every loss is within a gap of its largest, from above but for as many operations.
fn all_within(parts: &[Part], gap: f64) -> Wide {
    let within = |part: &Part| Wide::from(mass_within(&part.each, gap)).powi(part.count);
    parts.iter().fold(Wide::ONE, |mass, part| mass * within(part))
}

/// The same bracket, narrowed by [`over_the_top`].
fn closer_to_the_top(parts: &[Part], target: &Target, bracket: Bracket) -> Option<Bracket> {
    both_ends(|epsilon| over_the_top(parts, epsilon).ok_or(()), target, bracket, (60, 1e-13)).ok()
}

/// The pure delta a little below the largest loss, to second order (theorems.md, near the
/// largest loss): with S how far the loss is below the largest, delta is the integral of
/// P(S <= s) e^(s - g) over s up to the gap g, and P(S <= s) lies between the mass at the
/// top times 1 + sum rho(s) and times e^(sum rho(s)).
fn over_the_top(parts: &[Part], epsilon: f64) -> Option<Ends> {
    const PIECES: u32 = 128;
    let (largest, error) = largest_kept(parts)?;
    let gap = largest - Dd::from(epsilon);
    let (short, long) = ((gap - error.into()).lower().max(0.0), (gap + error.into()).upper());
    if !(long > 0.0 && long < 0.1) {
        return None;
    }
    let (mass, operations) = mass_at_the_top(parts)?;
    let excess = |s: f64| -> Option<f64> {
        let of = |part: &Part| Some(part.count as f64 * growth(&part.each, s)?);
        let sum = parts.iter().map(of).sum::<Option<f64>>();
        // Beyond, its errors would weigh too much; and nothing would be gained.
        sum.filter(|&sum| sum < 50.0)
    };
    let integral = |gap: f64, at: &dyn Fn(f64, f64) -> Option<f64>| -> Option<f64> {
        let place = |piece: u32| gap * f64::from(piece) / f64::from(PIECES);
        let mut sum = 0.0;
        for piece in 0..PIECES {
            let (from, to) = (place(piece), place(piece + 1));
            sum += at(from, to)? * exp(to - gap) * -expm1(from - to);
        }
        Some(sum)
    };
    let low = integral(short, &|from, _| Some(1.0 + excess(from)?))?;
    let high = integral(long, &|_, to| Some(exp(excess(to)?)))?;
    // Each sum is of positive terms, good to a few units each.
    let slack = INTEGRAL + (FEW + operations) * STEP;
    let cut = Wide::from(cut(parts));
    Some(Ends::new(
        mass * Wide::from(low * (1.0 - slack)),
        mass * Wide::from(high * (1.0 + slack)) + cut,
    ))
}

/// By how much the mass within s of the largest loss exceeds the mass at it, relative to that.
fn growth(loss: &Loss, s: f64) -> Option<f64> {
    match loss {
        Loss::Response { epsilon } if s < SHORT_OF_THE_SPAN * epsilon.hi => Some(0.0),
        Loss::Laplace { epsilon } if s < SHORT_OF_THE_SPAN * epsilon.hi => Some(-expm1(-0.5 * s)),
        Loss::Atoms(atoms) => {
            let (first, next) = (atoms.list.first()?, atoms.list.get(1));
            let apart = next.map_or(f64::INFINITY, |next| (first.loss - next.loss).hi);
            (s < SHORT_OF_THE_NEXT * apart).then_some(0.0)
        }
        Loss::SampledLaplace { rate, epsilon, direction } if epsilon.hi < 590.0 => {
            sampled_growth(*rate, *epsilon, *direction, s)
        }
        _ => None,
    }
}

/// The growth of a sampled Laplace loss: losses within s of the largest have a loss before sampling
/// within 2d of its end (theorems.md, near the largest loss). Good to 64 u.
fn sampled_growth(rate: f64, epsilon: Dd, direction: Direction, s: f64) -> Option<f64> {
    let decay = exp_rounded(-epsilon);
    match direction {
        Direction::Remove => {
            let rest = (1.0 - rate) * decay;
            let fall = (rest + rate) / rate * -expm1(-s);
            let d = -0.5 * ln_1p_rounded(-fall.min(0.5));
            let grown = rest * expm1(d) - rate * expm1(-d);
            (fall < 0.5 && d < SHORT_OF_HALF * epsilon.hi).then_some(grown / (rest + rate))
        }
        Direction::Add => {
            let rise = (1.0 - rate + rate * decay) / (rate * decay) * expm1(s);
            let d = 0.5 * ln_1p_rounded(rise.min(0.5));
            (rise < 0.5 && d < SHORT_OF_HALF * epsilon.hi).then_some(-expm1(-d))
        }
    }
}

/// The pure delta a little below the largest loss, by the same two bounds.
pub(crate) fn delta_near_the_top(parts: &[Part], epsilon: f64) -> Option<Ends> {
    if is_far_above(parts, epsilon) {
        return None;
    }
    if let Some(ends) = over_the_top(parts, epsilon) {
        return Some(ends);
    }
    let (largest, error) = largest_kept(parts)?;
    let gap = largest - Dd::from(epsilon);
    if gap.hi > 1e-2 {
        return None;
    }
    let reach = (gap + Dd::from(error)).upper().max(0.0);
    let (least, operations) = mass_at_the_top(parts)?;
    let most = all_within(parts, reach);
    let slack = ((FEW + operations) * STEP).min(0.5);
    let lower = least * scaled(rise(gap - Dd::from(error)), -slack);
    let upper = most * scaled(rise(Dd::from(reach)), slack) + Wide::from(cut(parts));
    Some(Ends { lower, upper })
}

/// The P mass of losses within a gap of the largest, from above.
fn mass_within(loss: &Loss, gap: f64) -> Dd {
    let side = rise(Dd::from(0.5 * gap)) * (1.0 + DOUBLES);
    let mass = match loss {
        Loss::Response { epsilon } if gap < SHORT_OF_THE_SPAN * epsilon.hi => {
            Dd::ONE / (Dd::ONE + falling(*epsilon))
        }
        Loss::Laplace { epsilon } if gap < SHORT_OF_THE_SPAN * epsilon.hi => {
            (Dd::ONE + side).scaled(0.5)
        }
        Loss::Range { epsilon } if gap < SHORT_OF_THE_SPAN * epsilon.hi => side / rise(*epsilon),
        Loss::Atoms(atoms) => {
            let Some(first) = atoms.list.first() else { return Dd::ONE };
            let near =
                |atom: &&Atom| (first.loss - atom.loss).hi <= gap * (1.0 + NEXT_TO) + NEXT_TO_ZERO;
            atoms.list.iter().filter(near).fold(Dd::ZERO, |sum, atom| sum + atom.mass)
        }
        _ => Dd::ONE,
    };
    mass * (1.0 + DOUBLES)
}

/// The pure delta of one mechanism run once.
pub(crate) fn delta(part: &Part, epsilon: f64, watch: Watch<'_>) -> Result<Ends, Failure> {
    single(&part.each, Dd::from(epsilon), watch)
}

/// The profile of one loss at an epsilon of any sign, good to a relative 2^-90.
fn single(loss: &Loss, epsilon: Dd, watch: Watch<'_>) -> Result<Ends, Failure> {
    match loss {
        Loss::Response { epsilon: largest } => {
            let mass = Dd::ONE / (Dd::ONE + falling(*largest));
            let at =
                |gap: Dd| if gap < largest.scaled(2.0) { mass * rise(gap) } else { keep(epsilon) };
            Ok(around(*largest - epsilon, *largest, at))
        }
        Loss::Laplace { epsilon: largest } => {
            let at = |gap: Dd| {
                if gap < largest.scaled(2.0) { rise(gap.scaled(0.5)) } else { keep(epsilon) }
            };
            Ok(around(*largest - epsilon, *largest, at))
        }
        Loss::Range { epsilon: largest } => {
            let whole = rise(*largest);
            let at = |gap: Dd| {
                let side = rise(gap.scaled(0.5));
                if gap < largest.scaled(2.0) { side * side / whole } else { keep(epsilon) }
            };
            Ok(around(*largest - epsilon, *largest, at))
        }
        Loss::Gaussian { .. } => gaussian(loss, epsilon, watch),
        Loss::Atoms(atoms) => Ok(listed(atoms, epsilon, UNCOUNTED)),
        Loss::SampledGaussian { rate, mu, direction } => {
            let inner = Loss::Gaussian { square: *mu * *mu };
            sampled(&inner, *rate, *direction, epsilon, watch)
        }
        Loss::SampledLaplace { rate, epsilon: inner, direction } => {
            let inner = Loss::Laplace { epsilon: *inner };
            sampled(&inner, *rate, *direction, epsilon, watch)
        }
        Loss::SampledRange { rate, epsilon: inner, direction } => {
            let inner = Loss::Range { epsilon: *inner };
            sampled(&inner, *rate, *direction, epsilon, watch)
        }
        // Above zero its profile is that of a Poisson sample with the person in P's data.
        Loss::Subset { share, mu } if !epsilon.is_negative() => {
            let inner = Loss::Gaussian { square: *mu * *mu };
            sampled(&inner, *share, Direction::Remove, epsilon, watch)
        }
        Loss::Subset { .. } => Err(Failure::TooMuch),
        // Where its ratio is e^epsilon has no formula.
        Loss::Mixture(_) => Err(Failure::TooMuch),
    }
}

/// 1 - e^-x, zero below zero.
fn rise(x: Dd) -> Dd {
    match x.hi {
        ..=0.0 => Dd::ZERO,
        590.0.. => Dd::ONE,
        _ => -(-x).expm1(),
    }
}

/// 1 - e^epsilon: the profile below the least loss.
fn keep(epsilon: Dd) -> Dd {
    rise(-epsilon)
}

/// A function of the distance to the largest loss, over that distance's error.
fn around(gap: Dd, largest: Dd, at: impl Fn(Dd) -> Dd) -> Ends {
    let error = Dd::from(DISTANCE * (largest.hi.abs() + gap.hi.abs()));
    let (low, high) = (at(gap - error), at(gap + error));
    let low = if low.is_positive() { low } else { Dd::ZERO };
    Ends::new(scaled(low, -FORMULA), scaled(high, FORMULA))
}

fn scaled(x: Dd, slack: f64) -> Wide {
    Wide::from(x) * Wide::from(Dd::sum(1.0, slack))
}

/// Gaussians by the contour, to twelve digits; below zero by
/// `delta(-e) = 1 - e^-e + e^-e delta(e)`.
fn gaussian(loss: &Loss, epsilon: Dd, watch: Watch<'_>) -> Result<Ends, Failure> {
    let part = [Part { each: loss.clone(), count: 1 }];
    let size = epsilon.abs();
    // Neighbouring doubles, whichever way the profile goes.
    let much = (Effort::Much, watch);
    let at = |e: f64| smooth::delta(&part, e.max(0.0), 1e-12, much, &Contours::default());
    let (lower, upper) = (at(size.upper())?.lower, at(size.lower())?.upper);
    if !epsilon.is_negative() {
        return Ok(Ends { lower, upper });
    }
    let decay = Wide::exp(epsilon);
    let fixed = Wide::from(keep(epsilon));
    let both = |delta: Wide, slack: f64| (fixed + decay * delta) * Wide::from(Dd::sum(1.0, slack));
    Ok(Ends::new(both(lower, -FORMULA), both(upper, FORMULA)))
}

/// All losses above epsilon, one by one.
fn listed(atoms: &Atoms, epsilon: Dd, operations: f64) -> Ends {
    let (mut low, mut high) = (Wide::ZERO, Wide::from(atoms.above()));
    for atom in atoms.list.iter() {
        let gap = atom.loss - epsilon;
        let size = 1.0 + atom.loss.hi.abs() + epsilon.hi.abs();
        let error = Dd::from(LOSS * operations * size);
        if (gap + error).is_negative() {
            break;
        }
        low = low + Wide::from(atom.mass) * Wide::from(rise(gap - error));
        high = high + Wide::from(atom.mass) * Wide::from(rise(gap + error));
    }
    let slack = STEP * (operations + atoms.list.len() as f64);
    Ends::new(low * Wide::from(1.0 - slack), high * Wide::from(1.0 + slack))
}

/// The most outcomes a composition may have to be listed.
const MOST_LISTED: usize = 20_000;

/// Products of masses may underflow; what that takes away is far less than this.
const UNDERFLOW: f64 = 1e-260;

/// All losses of a composition of few atoms, equal ones together.
pub(crate) struct Listed {
    atoms: Atoms,
    /// How many operations a loss or a mass may have seen.
    operations: f64,
    /// P mass that is not listed, with any loss: a list of outcomes cannot do without it.
    left_out: f64,
}

impl Listed {
    /// None if a part has a density, or if there are too many.
    pub(crate) fn new(parts: &[Part]) -> Option<Self> {
        if are_too_many(parts) {
            return None;
        }
        let one = Atom { loss: Dd::ZERO, mass: Dd::ONE };
        let cut = cut(parts) + UNDERFLOW;
        let mut atoms =
            Atoms { list: vec![one].into(), cut, capped: false, symmetric: false, rho: None };
        let mut operations = UNCOUNTED;
        for part in parts {
            let factor = atoms_of(&part.each)?;
            for _ in 0..part.count {
                if atoms.list.len() * factor.len() > 8 * MOST_LISTED || operations > 1e5 {
                    return None;
                }
                atoms.list = product(&atoms.list, &factor).into();
                operations += FACTOR + factor.len() as f64;
                if atoms.list.len() > MOST_LISTED {
                    return None;
                }
            }
        }
        let left_out = |part: &Part| match &part.each {
            Loss::Atoms(atoms) => atoms.cut * part.count as f64,
            _ => 0.0,
        };
        let left_out = ROUNDED_UP * parts.iter().map(left_out).sum::<f64>();
        Some(Self { atoms, operations, left_out })
    }

    /// The outcomes, the mass that is in none, and how many operations each may have seen.
    pub(crate) fn into_atoms(self) -> (Vec<Atom>, f64, f64) {
        let cut = self.cut();
        (self.atoms.list.to_vec(), cut, self.operations)
    }

    /// Nothing has underflowed where no mass is near that.
    fn cut(&self) -> f64 {
        let whole = self.left_out <= 0.0
            && self.atoms.cut <= UNDERFLOW
            && self.atoms.list.iter().all(|atom| atom.mass.hi > 1e-250);
        if whole { 0.0 } else { self.atoms.cut + self.left_out }
    }

    /// The outcomes, with their Q masses.
    pub(crate) fn into_outcomes(self) -> Outcomes {
        let list = &self.atoms.list;
        let size = list.iter().fold(1.0, |most: f64, atom| most.max(1.0 + atom.loss.hi.abs()));
        let slack = LOSS * self.operations * size + STEP * list.len() as f64;
        let cut = self.cut();
        let outcome = |atom: &Atom| {
            let p = Wide::from(atom.mass);
            (atom.loss, p, p * Wide::exp(-atom.loss))
        };
        Outcomes { list: list.iter().map(outcome).collect(), slack, cut }
    }

    pub(crate) fn delta(&self, epsilon: f64) -> Ends {
        listed(&self.atoms, Dd::from(epsilon), self.operations)
    }

    /// Losses and their masses, by falling loss.
    pub(crate) fn brackets(&self) -> Vec<(Bracket, Bracket)> {
        let around = |value: Dd, error: f64| Bracket {
            lower: (value - Dd::from(error)).lower(),
            upper: (value + Dd::from(error)).upper(),
        };
        let slack = self.operations * STEP;
        let ends = |atom: &Atom| {
            let loss = around(atom.loss, slack * (1.0 + atom.loss.hi.abs()));
            (loss, around(atom.mass, slack * atom.mass.hi + self.atoms.cut + self.left_out))
        };
        self.atoms.list.iter().map(ends).collect()
    }

    /// The least epsilon whose pure delta is within the target.
    pub(crate) fn epsilon(&self, target: &Target, tolerance: f64) -> Result<Bracket, Failure> {
        let first = self.atoms.list.first().ok_or(Failure::TooMuch)?;
        let top = (first.loss + Dd::from(self.operations * STEP * (1.0 + first.loss.hi))).upper();
        if self.delta(0.0).upper <= target.lower {
            return Ok(Bracket::exact(0.0));
        }
        if self.delta(top.max(0.0)).upper > target.lower {
            return Err(Failure::TooMuch);
        }
        let bracket = Bracket { lower: 0.0, upper: top.max(0.0) };
        closer(|epsilon| Ok(self.delta(epsilon)), target, bracket, tolerance)
    }
}

/// Whether there are surely too many sums, by the formulas of lists that are not made yet.
fn are_too_many(parts: &[Part]) -> bool {
    let outcomes = |part: &Part| match &part.each {
        Loss::Atoms(atoms) => atoms.list.whole().map(|whole| (whole.outcomes(), part.count)),
        _ => None,
    };
    let mut most = 0.0_f64;
    for (outcomes, count) in parts.iter().filter_map(outcomes) {
        let before = if count > 1 { outcomes } else { most };
        // A few of them are left out of the list.
        if 0.8 * outcomes * before > (8 * MOST_LISTED) as f64 {
            return true;
        }
        most = most.max(outcomes);
    }
    false
}

/// The atoms of a loss that has nothing else.
fn atoms_of(loss: &Loss) -> Option<Vec<Atom>> {
    match loss {
        Loss::Atoms(atoms) => Some(atoms.list.to_vec()),
        Loss::Response { epsilon } => {
            let mass = Dd::ONE / (Dd::ONE + falling(*epsilon));
            let minus = mass * falling(*epsilon);
            Some(vec![Atom { loss: *epsilon, mass }, Atom { loss: -*epsilon, mass: minus }])
        }
        _ => None,
    }
}

/// All sums, by falling loss; losses that differ by rounding at most become one.
fn product(list: &[Atom], factor: &[Atom]) -> Vec<Atom> {
    let sum = |a: &Atom, b: &Atom| Atom { loss: a.loss + b.loss, mass: a.mass * b.mass };
    let mut all: Vec<Atom> =
        list.iter().flat_map(|a| factor.iter().map(move |b| sum(a, b))).collect();
    all.sort_by(|a, b| b.loss.hi.total_cmp(&a.loss.hi).then(b.loss.lo.total_cmp(&a.loss.lo)));
    all.dedup_by(|next, kept| {
        let same = (kept.loss - next.loss).hi <= STEP * (1.0 + kept.loss.hi.abs());
        if same {
            kept.mass = kept.mass + next.mass;
        }
        same
    });
    all
}

/// On a Poisson sample, for epsilon >= 0. Remove: P - e^e Q = q (P0 - e^e' Q0) with
/// `e^e' = 1 + (e^e - 1)/q`. Add: A (Q0 - e^e' P0) with `A = q - (1 - q)(e^e - 1)` and
/// `e^e' = q e^e / A`, nothing if A is not positive; the inner pair is symmetric.
fn sampled(
    inner: &Loss,
    rate: f64,
    direction: Direction,
    epsilon: Dd,
    watch: Watch<'_>,
) -> Result<Ends, Failure> {
    let rate = Dd::from(rate);
    if epsilon.hi > 500.0 {
        return Err(Failure::TooMuch);
    }
    let excess = epsilon.expm1();
    let (share, inner_epsilon) = match direction {
        Direction::Remove => (rate, (excess / rate).ln_1p()),
        Direction::Add => {
            let share = rate - (Dd::ONE - rate) * excess;
            // Too close to nothing to be told from it.
            let error = Dd::from(SHARE * rate.hi);
            if !(share - error).is_positive() {
                let most = if (share + error).is_positive() {
                    Wide::from(error * NOTHING)
                } else {
                    Wide::ZERO
                };
                return Ok(Ends::new(Wide::ZERO, most));
            }
            (share, (rate / share).ln() + epsilon)
        }
    };
    // Relative error of the share, absolute of the epsilon.
    let slack = FORMULA * (1.0 + rate.hi / share.hi);
    let error = Dd::from(slack * (1.0 + inner_epsilon.hi.abs()));
    let low = single(inner, inner_epsilon + error, watch)?.lower;
    let high = single(inner, inner_epsilon - error, watch)?.upper;
    Ok(Ends::new(low * scaled(share, -slack), high * scaled(share, slack)))
}

/// The least epsilon whose pure delta is within the target, for one mechanism run once.
pub(crate) fn epsilon(
    part: &Part,
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<Bracket, Failure> {
    let at = |epsilon: f64| delta(part, epsilon, watch);
    if at(0.0)?.upper <= target.lower {
        return Ok(Bracket::exact(0.0));
    }
    if let Some(Bracket { lower, upper }) = by_inner(part, target, tolerance, watch)?
        && at(upper)?.upper <= target.lower
        && at(lower)?.lower > target.upper
    {
        return Ok(Bracket { lower, upper });
    }
    let bracket = match largest(std::slice::from_ref(part)) {
        Some((top, error)) => Bracket { lower: 0.0, upper: (top + Dd::from(error)).upper() },
        None => {
            let mut upper = 1.0;
            while at(upper)?.upper > target.lower {
                upper *= 2.0;
            }
            Bracket { lower: 0.0, upper }
        }
    };
    let bracket = narrowed(bracket, (200, 1e-3 * tolerance.max(1e-12)), target, at)?;
    if bracket.keeps(tolerance) { Ok(bracket) } else { closer(at, target, bracket, tolerance) }
}

/// Where the answer should be, on a Poisson sample with the person in P's data: the profile is q times the inner one
/// at e' there, and e^e - 1 is q (e^e' - 1).
fn by_inner(
    part: &Part,
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<Option<Bracket>, Failure> {
    let Loss::SampledGaussian { rate, mu, direction: Direction::Remove } = part.each else {
        return Ok(None);
    };
    let inner = [Part { each: Loss::Gaussian { square: mu * mu }, count: 1 }];
    let share = Wide::from(rate).recip();
    let inner_target = Target { lower: target.lower * share, upper: target.upper * share };
    let narrow = (1e-3 * tolerance).max(1e-11);
    let effort = (Effort::Much, watch);
    match smooth::epsilon(&inner, &inner_target, narrow, effort, &Contours::default()) {
        Ok(Bracket { lower, upper }) => {
            let outer = |e: f64| (Dd::from(e).expm1() * Dd::from(rate)).ln_1p().hi;
            let bracket =
                Bracket { lower: outer(lower) * (1.0 - HAIR), upper: outer(upper) * (1.0 + HAIR) };
            Ok(bracket.keeps(tolerance).then_some(bracket))
        }
        Err(Failure::Stopped) => Err(Failure::Stopped),
        Err(_) => Ok(None),
    }
}

/// What the profile's formula may be off by, relative to epsilon, about.
const HAIR: f64 = 1e-11;

/// The two ends one by one: each surely on its side.
fn both_ends<E>(
    at: impl Fn(f64) -> Result<Ends, E>,
    target: &Target,
    bracket: Bracket,
    halvings: (u32, f64),
) -> Result<Bracket, E> {
    let upper = halved(bracket, halvings, |e| Ok(at(e)?.upper <= target.lower))?.upper;
    let lower = halved(bracket, halvings, |e| Ok(at(e)?.lower <= target.upper))?.lower;
    Ok(Bracket { lower: lower.min(upper), upper })
}

/// The same, where the profile is too wide to tell both at once.
fn closer(
    at: impl Fn(f64) -> Result<Ends, Failure>,
    target: &Target,
    bracket: Bracket,
    tolerance: f64,
) -> Result<Bracket, Failure> {
    kept(both_ends(at, target, bracket, (100, 0.0))?, tolerance)
}
