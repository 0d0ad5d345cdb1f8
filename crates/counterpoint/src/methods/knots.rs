//! Few Laplace losses of several scales, and responses: the profile as a sum over the knots of a spline (theory 2.11).
//!
//! With every loss tilted by e^(-y/2), each of n Laplace losses is, up to a factor, e^(eps z) (1 + 1/2z) + e^(-eps z)
//! (1 - 1/2z) in the tilt z, and a response is e^(eps z) + e^(-eps z). The product is a sum over all signs, where K
//! minus signs at Laplace losses give (1 + 1/2z)^(n-K) (1 - 1/2z)^K = sum of c_j (2z)^-j, and e^(sz) z^-j is the
//! transform of (s - y)^(j-1)/(j-1)! below s. So with x = (s - e)/2 a knot s above e adds the sum of d_k x^k/k!, where
//! d_k is the sum of c_j over j = k-1, k-3, ...

use super::contour::saddle_at_delta;
use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::{DeltaBounds, ROUNDED_UP};
use crate::methods::search::solve_epsilon;
use crate::methods::{Failure, within_tolerance};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, Wide};

// Allowances of the certificates below, in steps, each rounded up generously.

/// A place (s - e)/2, relative to all losses and e: half of each epsilon's own error, and an operation for each part.
const PLACE: f64 = 4.0;
/// A term, for each of its powers: a product, a quotient and a sum; and the weight of a knot.
const POWER: f64 = 4.0;
const WEIGHT: f64 = 64.0;
/// The scale's exponent, relative to all losses and e; and each factor.
const EXPONENT: f64 = 8.0;
const FACTOR: f64 = 8.0;

// Choices, not allowances: every value is sound.

/// The largest number of knots times powers.
const MOST_WORK: f64 = 262_144.0;
/// The largest number of Laplace losses; up to it all c_j and d_k are whole numbers below 2^53.
const MOST_LAPLACES: u64 = 48;
/// The largest sum of all losses, and the least epsilon of each.
const MOST_REACH: f64 = 200.0;
const LEAST: f64 = 1e-30;
/// Further powers are bounded, not computed, if they are less than this share of the earlier ones.
const NEGLIGIBLE: f64 = 1e-36;

/// The losses of which the profile has knots.
struct KnotLosses {
    /// Epsilon, count, and true for Laplace noise.
    parts: Vec<(Dd, u64, bool)>,
    laplaces: u64,
    /// The sum of all epsilons.
    reach: Dd,
}

impl KnotLosses {
    /// `None` if there are other losses, no Laplace noise or too many knots.
    fn of(parts: &[CountedLoss]) -> Option<Self> {
        let (mut laplaces, mut knots, mut reach) = (0, 1.0, Dd::ZERO);
        let mut list = Vec::with_capacity(parts.len());
        for part in parts {
            let (epsilon, is_laplace) = match part.law().laplace_epsilon() {
                Some(epsilon) => (epsilon, true),
                None => (part.law().response_epsilon()?, false),
            };
            laplaces += if is_laplace { part.count } else { 0 };
            knots *= part.count as f64 + 1.0;
            let legal = epsilon.hi > LEAST && knots < MOST_WORK && laplaces <= MOST_LAPLACES;
            if !legal {
                return None;
            }
            reach = reach + epsilon * part.count as f64;
            list.push((epsilon, part.count, is_laplace));
        }
        let work = knots * (laplaces as f64 + 2.0);
        let few = laplaces > 0 && reach.hi <= MOST_REACH && work <= MOST_WORK;
        few.then_some(Self { parts: list, laplaces, reach })
    }
}

/// True for few Laplace losses, beside few responses.
pub(crate) fn is_for(parts: &[CountedLoss]) -> bool {
    KnotLosses::of(parts).is_some()
}

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    parts: &[CountedLoss],
    target: &Target,
    tolerance: f64,
    watch: Watch<'_>,
) -> Result<Bracket, Failure> {
    let knots = Knots::new(KnotLosses::of(parts).ok_or(Failure::TooMuch)?, 0.0);
    let saddle = saddle_at_delta(parts, target.lower.ln_estimate(), watch)?;
    let bracket = solve_epsilon(&|e| knots.ends(e), target, &saddle, &watch)?;
    within_tolerance(bracket, tolerance)
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[CountedLoss],
    epsilon: f64,
    tolerance: f64,
) -> Result<DeltaBounds, Failure> {
    let shape = KnotLosses::of(parts).ok_or(Failure::TooMuch)?;
    Knots::new(shape, epsilon).ends(epsilon).within_tolerance(tolerance)
}

/// A knot, its number of occurrences, and its number of minus signs at Laplace losses.
struct Knot {
    at: Dd,
    weight: Dd,
    minus: usize,
}

struct Knots {
    list: Vec<Knot>,
    shape: KnotLosses,
    /// d_k by the number of minus signs, for k from 1 to n + 2; from there on they repeat.
    sums: Vec<Vec<f64>>,
    /// The scale divided by e^((e - reach)/2), and the number of releases.
    factor: Wide,
    factors: f64,
}

impl Knots {
    /// The knots above an epsilon, including those within the error below it.
    fn new(shape: KnotLosses, least: f64) -> Self {
        let place = 2.0 * place_error(shape.reach.hi, least);
        let mut list = vec![Knot { at: shape.reach, weight: Dd::ONE, minus: 0 }];
        for &(epsilon, count, is_laplace) in &shape.parts {
            let mut next = Vec::new();
            for knot in &list {
                let mut choose = knot.weight;
                for k in 0..=count {
                    let at = knot.at - epsilon * (2.0 * k as f64);
                    if at.hi < least - place {
                        break;
                    }
                    let minus = knot.minus + if is_laplace { k as usize } else { 0 };
                    next.push(Knot { at, weight: choose, minus });
                    choose = choose * ((count - k) as f64) / (k as f64 + 1.0);
                }
            }
            list = next;
        }
        let sums = (0..=shape.laplaces).map(|minus| sums(shape.laplaces, minus)).collect();
        let (factor, factors) = factor(&shape);
        Self { list, shape, sums, factor, factors }
    }

    fn ends(&self, epsilon: f64) -> DeltaBounds {
        let place = place_error(self.shape.reach.hi, epsilon);
        let (mut sum, mut error) = (Dd::ZERO, 0.0);
        for knot in &self.list {
            let x = (knot.at - Dd::from(epsilon)).scaled(0.5);
            if x.hi < -place {
                continue;
            }
            let Series { value, sizes, slope, omitted_mass } =
                series(&self.sums[knot.minus], if x.is_positive() { x } else { Dd::ZERO });
            sum = sum + knot.weight * value;
            let weighed = STEP * self.factors * value.hi.abs();
            error += knot.weight.hi * (sizes + weighed + place * slope + omitted_mass);
            error += STEP * sum.hi.abs();
        }
        let ends = |error: f64| {
            let end = Wide::from(sum + Dd::from(error));
            if end.is_positive() { end } else { Wide::ZERO }
        };
        let error = ROUNDED_UP * error;
        let sizes = epsilon + self.shape.reach.hi;
        let relative = STEP * (EXPONENT * sizes + FACTOR * self.factors + WEIGHT);
        let scale = self.factor * Wide::exp((Dd::from(epsilon) - self.shape.reach).scaled(0.5));
        let by = |slack: f64| scale * Wide::from(Dd::sum(1.0, slack));
        DeltaBounds::new(ends(-error) * by(-relative), ends(error) * by(relative))
    }
}

/// A bound on the error of (s - e)/2.
fn place_error(reach: f64, epsilon: f64) -> f64 {
    PLACE * STEP * (reach + epsilon)
}

/// The product of 2^(1-n) and 1/(1 + e^-eps) for every response, and the number of releases.
fn factor(shape: &KnotLosses) -> (Wide, f64) {
    let (mut factor, mut factors) = (Wide::from(2.0), 1.0);
    factor = factor * Wide::from(0.5).powi(shape.laplaces);
    for &(epsilon, count, is_laplace) in &shape.parts {
        if !is_laplace {
            factor = factor * Wide::from(Dd::ONE / (Dd::ONE + (-epsilon).exp())).powi(count);
        }
        factors += count as f64;
    }
    (factor, factors)
}

/// d_1 to d_(n+2), where (1 + x)^(n - minus) (1 - x)^minus is the sum of c_j x^j.
fn sums(n: u64, minus: u64) -> Vec<f64> {
    let mut sums = vec![1.0];
    for index in 0..n {
        let sign = if index < minus { -1.0 } else { 1.0 };
        sums.push(0.0);
        for j in (1..sums.len()).rev() {
            sums[j] += sign * sums[j - 1];
        }
    }
    sums.push(0.0);
    for j in 2..sums.len() {
        sums[j] += sums[j - 2];
    }
    sums
}

/// The sum of d_k x^k/k!: its value, and upper bounds on its rounding error, on the sum of its derivative's terms in
/// absolute value, and on the terms that are left out.
struct Series {
    value: Dd,
    sizes: f64,
    slope: f64,
    omitted_mass: f64,
}

/// From k = 2x on the terms after a term together are at most as large as the term, except for the factors d_k, of
/// which the last two repeat; for 0 < K < n they are zero.
fn series(sums: &[f64], x: Dd) -> Series {
    let repeated = sums.len() - 2;
    let largest = sums.iter().fold(0.0, |most: f64, sum| most.max(sum.abs()));
    let ends = sums[repeated].abs() + sums[repeated + 1].abs() < 0.5;
    let mut found = Series { value: Dd::ZERO, sizes: 0.0, slope: sums[0].abs(), omitted_mass: 0.0 };
    let mut term = Dd::ONE;
    for k in 1..2000_usize {
        let index = if k <= sums.len() { k - 1 } else { repeated + (k - 1 - repeated) % 2 };
        let (power, before) = (k as f64, term.hi);
        term = term * x / power;
        found.value = found.value + term * sums[index];
        let size = sums[index].abs() * term.hi + found.value.hi.abs();
        found.sizes += STEP * (POWER * power + WEIGHT) * size;
        found.slope += sums[index].abs() * before;
        if ends && k >= repeated {
            return found;
        }
        let rest = largest * term.hi;
        if power + 1.0 >= 2.0 * x.hi && rest <= NEGLIGIBLE * found.slope * x.hi {
            found.omitted_mass = ROUNDED_UP * rest;
            found.slope += 3.0 * largest * before;
            return found;
        }
    }
    Series { omitted_mass: f64::INFINITY, ..found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{Laplace, Response};

    fn laplace(epsilon: f64, count: u64) -> CountedLoss {
        CountedLoss { each: Laplace { epsilon: Dd::from(epsilon) }.into(), count }
    }

    fn response(epsilon: f64, count: u64) -> CountedLoss {
        CountedLoss { each: Response { epsilon: Dd::from(epsilon) }.into(), count }
    }

    /// The profile of one Laplace loss at an epsilon of any sign: 1 - e^((e - eps)/2) between 0 and eps.
    fn one(eps: f64, e: f64) -> f64 {
        match e {
            _ if e >= eps => 0.0,
            _ if e <= -eps => -e.exp_m1(),
            _ if e >= 0.0 => -(0.5 * (e - eps)).exp_m1(),
            _ => -e.exp_m1() - e.exp() * (-0.5 * (e + eps)).exp_m1(),
        }
    }

    /// The profile of some Laplace losses: the mean over the first one's loss of what the others leave, by the
    /// midpoint rule.
    fn midpoints(list: &[f64], e: f64, pieces: u32) -> f64 {
        let [first, others @ ..] = list else { return (-e.exp_m1()).max(0.0) };
        if others.is_empty() {
            return one(*first, e);
        }
        let width = 2.0 * first / f64::from(pieces);
        let between = (0..pieces)
            .map(|i| (f64::from(i) + 0.5) * width - first)
            .map(|y| 0.25 * (0.5 * (y - first)).exp() * midpoints(others, e - y, pieces) * width);
        let atoms = 0.5 * midpoints(others, e - first, pieces)
            + 0.5 * (-first).exp() * midpoints(others, e + first, pieces);
        between.sum::<f64>() + atoms
    }

    fn hold(what: &str, parts: &[CountedLoss], e: f64, exact: f64, close: f64) {
        let ends = delta(parts, e, 1e-12).expect(what);
        let (lower, upper) = (ends.lower.estimate(), ends.upper.estimate());
        assert!(
            lower <= exact * (1.0 + close) && exact <= upper * (1.0 + close),
            "{what}: {lower} {upper} {exact}"
        );
    }

    #[test]
    fn two_and_three_scales_by_the_midpoint_rule() {
        for list in [
            vec![0.5, 0.3],
            vec![1.0, 0.01],
            vec![3.0, 2.5],
            vec![0.2, 0.11, 0.07],
            vec![2.0, 0.9, 1.4],
        ] {
            let parts: Vec<CountedLoss> = list.iter().map(|&epsilon| laplace(epsilon, 1)).collect();
            let reach: f64 = list.iter().sum();
            for share in [0.0, 0.1, 0.35, 0.6, 0.9] {
                let pieces = if list.len() == 2 { 100_000 } else { 1500 };
                let exact = midpoints(&list, share * reach, pieces);
                hold(&format!("{list:?} {share}"), &parts, share * reach, exact, 1e-5);
            }
        }
    }

    /// Equal ones are what distinct ones tend to, and a response among them is the mean over its two outcomes.
    #[test]
    fn counts_and_responses() {
        let twice = |e: f64| midpoints(&[0.7, 0.7, 0.2], e, 1500);
        let parts = [laplace(0.7, 2), laplace(0.2, 1)];
        let with = [laplace(0.7, 2), laplace(0.2, 1), response(0.4, 1)];
        let mass = 1.0 / (1.0 + (-0.4_f64).exp());
        for e in [0.45, 0.8, 1.1] {
            hold("counts", &parts, e, twice(e), 1e-5);
            let exact = mass * twice(e - 0.4) + (1.0 - mass) * twice(e + 0.4);
            hold("a response", &with, e, exact, 1e-5);
        }
    }

    /// Many signs: what cancels is small beside what is left.
    #[test]
    fn many_are_still_close() {
        let mixes = [
            (1..=12).map(|i| laplace(0.05 * f64::from(i), 1)).collect::<Vec<_>>(),
            vec![laplace(0.1, 20), laplace(0.07, 20)],
            vec![laplace(2.0, 6), laplace(1.7, 6), response(0.3, 40)],
            vec![laplace(1e-9, 3), laplace(3e-9, 2)],
        ];
        for parts in mixes {
            let reach: f64 = KnotLosses::of(&parts).expect("few").reach.hi;
            for share in [0.0, 0.3, 0.7, 0.99] {
                let ends = delta(&parts, share * reach, 1.0).unwrap();
                let width = ends.relative_width();
                assert!(width < 1e-10, "{share} of {reach}: {width:e}");
            }
        }
    }
}
