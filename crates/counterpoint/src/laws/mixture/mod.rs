//! The law of Gaussians with a random shift.

mod density;

use super::cells::{CellAtom, CellFineness, Domination};
use super::sampled::{
    Excess, FIRST_ORDER, LN_RATIO, ROUNDING, inner_loss, magnitude, power, trapezoid,
};
use super::{Direction, Law, OmittedMass};
use crate::delta_bounds::ROUNDED_UP;
use counterpoint_numerics::{Dd, STEP, Wide};

/// The pair of N(0, 1) and a mixture of N(mu, 1), where the mus and their probabilities are those of `shifts`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mixture {
    /// The shifts above zero, rising.
    pub(crate) shifts: Vec<Shift>,
    /// The probability of no shift.
    pub(crate) rest: Dd,
    pub(crate) direction: Direction,
}

/// A shift in standard deviations, and its probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shift {
    pub(crate) mu: Dd,
    pub(crate) weight: Dd,
}

impl Mixture {
    /// The largest shift.
    pub(crate) fn furthest(&self) -> Dd {
        self.shifts.last().map_or(Dd::ZERO, |shift| shift.mu)
    }
}

impl Law for Mixture {
    fn is_symmetric(&self) -> bool {
        false
    }

    fn is_class(&self) -> bool {
        false
    }

    fn omitted_mass(&self) -> OmittedMass {
        OmittedMass::NOTHING
    }

    fn parameters(&self) -> Vec<f64> {
        let of = |shift: &Shift| [shift.mu.hi, shift.mu.lo, shift.weight.hi, shift.weight.lo];
        let shifts = self.shifts.iter().flat_map(of);
        [self.rest.hi, self.rest.lo].into_iter().chain(shifts).collect()
    }

    fn largest_loss(&self) -> Option<(Dd, Dd)> {
        let is_bounded = self.direction == Direction::Add && self.rest.is_positive();
        is_bounded.then(|| (-self.rest.ln(), Dd::ZERO))
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        let mean: f64 = self.shifts.iter().map(|shift| shift.weight.hi * shift.mu.hi).sum();
        if mean < 1e-100 {
            return None;
        }
        let power = power(self.direction, t);
        trapezoid(power, self.furthest(), t * mean, |x| excess(self, power, x))
    }

    fn has_transform(&self) -> bool {
        false
    }

    fn points(
        &self,
        side: Domination,
        cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        density::cells(self, side, cut, sink)
    }
}

// The cumulant is computed as for a sampled Gaussian, with r = w_0 + sum of w_j e^(y_j), y_j = mu_j x - mu_j^2/2. On
// the line Im x = b the summands turn by mu_j b, all within half a turn of each other while b is below pi over the
// largest mu: |r| does not grow, and falls at most to r cos(b mu / 2). From one point to the next r grows at most by
// e^(mu h). So the rule and its bounds are those of one shift, the largest.

/// The allowance for a summand w (e^y - 1): a weight, a function and a product, good to 2^-94 each; and for each an addition.
const SUMMAND: f64 = 16.0 * STEP;

/// r - 1, its error, a bound on its summands' sizes, and r.
struct MixtureRatio {
    change: Wide,
    error: Wide,
    size: Wide,
    whole: Wide,
}

fn ratio(mixture: &Mixture, x: f64) -> MixtureRatio {
    let (mut change, mut error, mut size) = (Wide::ZERO, Wide::ZERO, Wide::ZERO);
    let mut whole = Wide::from(mixture.rest);
    for shift in &mixture.shifts {
        let (y, slack) = inner_loss(shift.mu, x);
        let weight = Wide::from(shift.weight);
        let tilted = Wide::exp(y) * weight;
        let rise = if y.hi < 300.0 { Wide::from(y.expm1()) * weight } else { tilted - weight };
        change = change + rise;
        error = error + tilted * Wide::from(FIRST_ORDER * slack);
        size = size + tilted + weight;
        whole = whole + tilted;
    }
    let rounding = SUMMAND + STEP * mixture.shifts.len() as f64;
    MixtureRatio { change, error: error + size * Wide::from(rounding), size, whole }
}

fn excess(mixture: &Mixture, power: Dd, x: f64) -> Excess {
    let MixtureRatio { change, error: off, size, whole } = ratio(mixture, x);
    let steep = power.hi.abs();
    let middling = change > Wide::from(-0.5) && change < Wide::from(1e100);
    let ln = if middling { change.to_dd().ln_1p() } else { whole.ln() };
    // The error of r, a sum of positive terms, relative to r.
    let relative = (off * whole.recip()).estimate();
    let ln_error =
        FIRST_ORDER * relative + LN_RATIO * (ln.hi.abs() + if middling { 0.0 } else { 1.0 });
    let exponent = power * ln;
    let raised = Wide::exp(exponent);
    let rise =
        if exponent.hi.abs() < 0.5 { Wide::from(exponent.expm1()) } else { raised - Wide::ONE };
    let line = change * Wide::from(power);
    let rounding = (magnitude(rise) + magnitude(line)) * Wide::from(ROUNDING);
    let error = raised * Wide::from(FIRST_ORDER * steep * ln_error)
        + off * Wide::from(FIRST_ORDER * steep)
        + rounding;
    let most = raised + size * Wide::from(ROUNDED_UP * steep);
    Excess { value: rise - line, error, most }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{SampledGaussian, cumulant};

    fn of(list: &[(f64, f64)], direction: Direction) -> Mixture {
        let shifts = list.iter().map(|&(mu, w)| Shift { mu: mu.into(), weight: w.into() });
        let rest = list.iter().fold(Dd::ONE, |rest, &(_, w)| rest - Dd::from(w));
        Mixture { shifts: shifts.collect(), rest, direction }
    }

    /// A mixture with one shift is a sampled Gaussian.
    #[test]
    fn one_shift() {
        for direction in [Direction::Remove, Direction::Add] {
            for (mu, rate) in [(0.5, 0.01), (2.0, 0.3), (8.0, 0.001)] {
                let sampled = SampledGaussian { rate, mu: Dd::from(mu), direction };
                let loss = of(&[(mu, rate)], direction);
                for t in [1e-6, 0.01, 1.0, 7.5, 60.0] {
                    let what = format!("{mu} {rate} {direction:?} {t}");
                    let (one, other) = (cumulant(&loss, t), cumulant(&sampled, t));
                    assert_eq!(one.is_some(), other.is_some(), "{what}");
                    let Some(((one, error), (other, slack))) = one.zip(other) else { continue };
                    assert!((one - other).hi.abs() <= error + slack, "{what}: {one:?} {other:?}");
                    assert!(error <= 1e-9 * one.hi, "{what}: {error:e} of {:e}", one.hi);
                }
            }
        }
    }

    /// Computes whole orders by the multinomial theorem: the square and the cube of r, term by term.
    #[test]
    fn whole_orders() {
        for list in [&[(0.5, 0.25), (1.5, 0.125), (3.0, 0.0625)][..], &[(1.0, 0.5), (2.0, 0.5)]] {
            let mixture = of(list, Direction::Remove);
            let mut all = vec![(0.0, mixture.rest)];
            all.extend(list.iter().map(|&(mu, w)| (mu, Dd::from(w))));
            let pair = |a: f64, b: f64| Dd::product(a, b);
            let (mut second, mut third) = (Dd::ZERO, Dd::ZERO);
            for &(a, x) in &all {
                for &(b, y) in &all {
                    second = second + x * y * pair(a, b).exp();
                    for &(c, z) in &all {
                        third = third + x * y * z * (pair(a, b) + pair(a, c) + pair(b, c)).exp();
                    }
                }
            }
            for (t, exact) in [(1.0, second.ln()), (2.0, third.ln())] {
                let (value, error) = cumulant(&mixture, t).unwrap();
                let off = (value - exact).hi.abs();
                assert!(off <= error + 1e-26 && error < 1e-15 * value.hi, "{t}: {off:e} {error:e}");
            }
        }
    }
}
