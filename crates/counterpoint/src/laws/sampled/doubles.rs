//! Cumulants of Laplace noise and ranges on a sample, in plain doubles, for callers that need many of them.
//!
//! With r = 1 - q + q e^y and p as in [`super::precise`], r^p is largest at one end of the losses: at eps if p > 0, at
//! -eps if p < 0. From that end on the integral is divided into panels, as wide as r^p allows, so that large orders
//! take about as many panels as small ones. The rule's error is that of [`super::precise`], for fewer nodes.

use super::precise::power;
use crate::delta_bounds::ROUNDED_UP;
use crate::laws::Direction;
use crate::laws::{LEAST, MOST};
use counterpoint_numerics::{Dd, STEP, UNIT, exp, expm1_rounded, ln_1p_rounded, ln_rounded};

/// Above this epsilon the rounding of the exponentials' arguments is too large.
const MOST_EPSILON: f64 = 20.0;
/// Up to this p ln r, r^p - 1 - p (r - 1) is summed; above, r^p alone.
const SMALL: f64 = 3.0;
/// A panel's half-width is at most the first constant, and at most the second over |p| times the share of e^y in r.
const WIDEST: f64 = 0.25;
const GROWTH: f64 = 2.0;

// The allowances of the certificate, in units of u unless stated otherwise; each rounded up generously.

/// The allowance for e^x - 1 - x and p (ln r - (r - 1)): their own 140, and four times the error of their arguments.
const EXCESS: f64 = 256.0;
/// The allowance for a node's place: 6 eps, times r's derivative times that of the excess, p (p - 1) ln r times at most e^SMALL /
/// min(1, r).
const PLACE: f64 = 160.0;
/// The allowance for a weight: the rule's weight, the half-width, the density and its exponent, the factor; or an atom's mass.
const WEIGHT: f64 = 128.0;
/// The relative error of an exponent p ln(r/r'): 22 for e^eps, 50 for r/r', half as much again for its logarithm, and
/// up to 41 times 4 for the node's place.
const EXPONENT: f64 = 512.0;
/// The relative error of ln r at the end, as in [`super::precise`].
const LN_RATIO: f64 = 64.0 * STEP;
/// The absolute and the relative error of a logarithm.
const LOGARITHM: f64 = 32.0;
/// |ln(1 + x)| is at most 1.39 |x| for |x| <= 1/2.
const BEND: f64 = 1.5;
/// 8^(-2n) for n + 1 = 16 nodes, times 64/15 / (1 - 1/64), which is below 4.34: see [`super::precise`].
const TRUNCATED: f64 = 5.0 * 8.077_935_669_463_161e-28;
/// Upper bounds on the ellipse's half-axes over c: the one along the panel, and half of the one across.
const ALONG: f64 = 4.07;
const HALF_ACROSS: f64 = 1.97;
/// -ln(1 - x)/2 is at most 0.7 x for x <= 1/2.
const FALL: f64 = 0.7;
/// |p (p-1)|/2 times 4, and the required closeness of r to one: as in [`super::precise`].
const FLAT: f64 = 2.04;
const NEAR: f64 = 0.99;
/// The rest of an integral is not summed if it is less than this share of the sum.
const NOTHING_LEFT: f64 = 1e-18;

/// Half of the Gauss-Legendre rule with 16 points on [-1, 1], which is symmetric: nodes and weights.
const RULE: [(f64, f64); 8] = [
    (0.9894009349916499, 0.027152459411754096),
    (0.9445750230732326, 0.062253523938647894),
    (0.8656312023878318, 0.09515851168249279),
    (0.755404408355003, 0.12462897125553388),
    (0.6178762444026438, 0.14959598881657674),
    (0.45801677765722737, 0.16915651939500254),
    (0.2816035507792589, 0.18260341504492358),
    (0.09501250983763744, 0.1894506104550685),
];

/// The inner loss under Q: a density `factor e^(-(y + eps)/2)` between -eps and eps, and atoms of `atom` at -eps and
/// `atom e^-eps` at eps.
struct InnerLaw {
    epsilon: f64,
    factor: f64,
    atom: f64,
}

/// Returns K(t) of Laplace noise on a sample and a bound on its absolute error; `None` where doubles do not suffice.
pub(crate) fn laplace(rate: f64, epsilon: Dd, direction: Direction, t: f64) -> Option<(Dd, f64)> {
    cumulant(rate, epsilon, direction, t, |epsilon| InnerLaw { epsilon, factor: 0.25, atom: 0.5 })
}

/// Returns K(t) of a range on a sample and a bound on its absolute error; `None` where doubles do not suffice.
pub(crate) fn range(rate: f64, epsilon: Dd, direction: Direction, t: f64) -> Option<(Dd, f64)> {
    let law = |epsilon: f64| InnerLaw { epsilon, factor: -0.5 / expm1(-epsilon), atom: 0.0 };
    cumulant(rate, epsilon, direction, t, law)
}

fn cumulant(
    rate: f64,
    epsilon: Dd,
    direction: Direction,
    t: f64,
    law: impl Fn(f64) -> InnerLaw,
) -> Option<(Dd, f64)> {
    let legal = rate > 1e-30 && (1e-30..MOST_EPSILON).contains(&epsilon.hi);
    if !legal || !(LEAST..=MOST).contains(&t) {
        return None;
    }
    let end = HeavyEnd::new(rate, epsilon, power(direction, t), law(epsilon.hi));
    let found = if end.height.hi < SMALL { end.small() } else { end.large() };
    found.filter(|(value, error)| value.hi.is_finite() && error.is_finite())
}

/// Returns e^x - 1, good to 6 u.
fn expm1(x: f64) -> f64 {
    expm1_rounded(Dd::from(x))
}

/// The end of the losses where r^p is largest, and the integrand.
struct HeavyEnd {
    rate: f64,
    law: InnerLaw,
    power: f64,
    /// p ln r at the end.
    height: Dd,
    height_error: f64,
    /// The share of e^y in r at the end, and the remaining share.
    share: f64,
    others: f64,
}

impl HeavyEnd {
    fn new(rate: f64, epsilon: Dd, power: Dd, law: InnerLaw) -> Self {
        let place = if power.is_positive() { epsilon } else { -epsilon };
        let ln = (place.expm1() * rate).ln_1p();
        let own = rate * exp(place.hi);
        let rest = Dd::sum(1.0, -rate).hi;
        let (share, others) = (own / (own + rest), rest / (own + rest));
        // Where r is small, the error of r - 1 is larger relative to r.
        let carried = ln.hi.abs() + 1.0 / (own + rest).min(1.0);
        let height_error = LN_RATIO * power.hi.abs() * carried;
        Self { rate, law, power: power.hi, height: power * ln, height_error, share, others }
    }

    /// The sign of the change of the loss towards the other end.
    fn sign(&self) -> f64 {
        if self.power > 0.0 { -1.0 } else { 1.0 }
    }

    /// Returns ln(r/r') at a distance from the end, where r is r'.
    fn ln_ratio(&self, distance: f64) -> f64 {
        let change = self.share * expm1(self.sign() * distance);
        if change < -0.5 {
            return ln_rounded(self.others + self.share * exp(self.sign() * distance));
        }
        ln_1p_rounded(change)
    }

    /// Returns the density at a distance from the end.
    fn density(&self, distance: f64) -> f64 {
        let exponent =
            if self.power > 0.0 { 0.5 * distance - self.law.epsilon } else { -0.5 * distance };
        self.law.factor * exp(exponent)
    }

    /// Returns the atoms: their distances from the end and their masses.
    fn atoms(&self) -> [(f64, f64); 2] {
        let (at, light) = (self.law.atom, self.law.atom * exp(-self.law.epsilon));
        let far = 2.0 * self.law.epsilon;
        if self.power > 0.0 { [(0.0, light), (far, at)] } else { [(0.0, at), (far, light)] }
    }

    /// Returns half the width of a panel that begins at a distance from the end; the last panel may be a tenth wider.
    fn half_width(&self, edge: f64) -> f64 {
        let share = self.share * exp(self.sign() * edge - self.ln_ratio(edge));
        WIDEST.min(GROWTH / (self.power.abs() * share))
    }

    /// Bounds r^p, over its largest value on the line, on the ellipse around a panel.
    ///
    /// |r| is at most r at the ellipse's crossing of the line. Since |a + b e^(2iz)|^2 = (a + b)^2 - 4 a b sin^2 z, it is at
    /// least sqrt(1 - 4 s z^2) times that, where s bounds the share of e^y, and at least sqrt(1 - z^2) times that.
    fn most(&self, edge: f64, half: f64) -> f64 {
        let near = edge + half - ALONG * half;
        let exponent = self.power * self.ln_ratio(near);
        if self.power > 0.0 {
            return exp(exponent);
        }
        let far = edge + half + ALONG * half;
        let share = self.share * exp(far - self.ln_ratio(far));
        let z = HALF_ACROSS * half;
        exp(exponent - self.power * FALL * ROUNDED_UP * (4.0 * share).min(1.0) * z * z)
    }

    /// Bounds the density on the ellipse around a panel.
    fn most_density(&self, edge: f64, half: f64) -> f64 {
        let middle = edge + half;
        self.density(middle - ALONG * half).max(self.density(middle + ALONG * half))
    }

    /// Sums over panels from the end on: a value with a weight at each node, and the rule's error for each panel. Stops
    /// when `rest` returns a bound on the remaining panels, given the sum and the next edge.
    fn panels(
        &self,
        sum: &mut SumWithError,
        at: impl Fn(f64) -> BoundedValue,
        most: impl Fn(f64, f64) -> f64,
        rest: impl Fn(&SumWithError, f64) -> Option<f64>,
    ) {
        let far = 2.0 * self.law.epsilon;
        let mut edge = 0.0;
        while edge < far {
            let half = self.half_width(edge);
            let next = if 2.2 * half >= far - edge { far } else { edge + 2.0 * half };
            let half = 0.5 * (next - edge);
            for (node, weight) in RULE {
                for node in [1.0 - node, 1.0 + node] {
                    let distance = edge + half * node;
                    sum.add(half * weight * self.density(distance), at(distance));
                }
            }
            sum.error +=
                ROUNDED_UP * TRUNCATED * half * most(edge, half) * self.most_density(edge, half);
            edge = next;
            if let Some(rest) = rest(sum, edge) {
                sum.error += rest;
                return;
            }
        }
    }

    /// Returns K(t) from the integral of r^p over its largest value.
    fn large(&self) -> Option<(Dd, f64)> {
        let at = |distance: f64| {
            let exponent = self.power * self.ln_ratio(distance);
            let value = exp(exponent);
            (value, value * UNIT * (EXPONENT * (exponent.abs() + 1.0)))
        };
        // r^p falls, and the mass of Q is at most one.
        let rest = |sum: &SumWithError, edge: f64| {
            let most = ROUNDED_UP * at(edge).0;
            (most <= NOTHING_LEFT * sum.value).then_some(most)
        };
        let mut sum = SumWithError::default();
        for (distance, mass) in self.atoms() {
            sum.add(mass, at(distance));
        }
        self.panels(&mut sum, at, |edge, half| self.most(edge, half), rest);
        let relative = sum.error() / sum.value;
        let value = self.height + Dd::from(ln_rounded(sum.value));
        let rounding =
            LOGARITHM * UNIT * (1.0 + (value - self.height).hi.abs()) + STEP * self.height.hi;
        (relative < 0.5).then_some((value, BEND * relative + rounding + self.height_error))
    }

    /// Returns K(t) from the integral of r^p - 1 - p (r - 1), which is never negative.
    fn small(&self) -> Option<(Dd, f64)> {
        let epsilon = self.law.epsilon;
        let at = |distance: f64| self.excess(self.sign() * (distance - epsilon));
        let flat = self.flat();
        let size = self.power.abs();
        let line = 1.0 + size * self.rate * (1.0 + exp(epsilon + ALONG * WIDEST));
        let highest = exp(self.height.hi) * ROUNDED_UP;
        let most =
            |edge: f64, half: f64| flat.unwrap_or_else(|| highest * self.most(edge, half) + line);
        let mut sum = SumWithError::default();
        for (distance, mass) in self.atoms() {
            sum.add(mass, at(distance));
        }
        self.panels(&mut sum, at, most, |_, _| None);
        let (mean, error) = (sum.value.max(0.0), sum.error());
        let relative = error / (1.0 + mean);
        let value = ln_1p_rounded(mean);
        (relative < 0.5).then_some((Dd::from(value), BEND * relative + LOGARITHM * UNIT * value))
    }

    /// Returns the excess r^p - 1 - p (r - 1) at a loss y: e^x - 1 - x for x = p ln r, minus p (r - 1 - ln r).
    fn excess(&self, y: f64) -> BoundedValue {
        let own = self.rate * exp(y);
        let change = self.rate * expm1(y);
        let (r, ln) = if change < -0.5 {
            let r = (Dd::sum(1.0, -self.rate) + Dd::from(own)).hi;
            (r, ln_rounded(r))
        } else {
            (1.0 + change, ln_1p_rounded(change))
        };
        let (above, below) = (above_line(self.power * ln), self.power * below_line(change, ln));
        let slope = (self.power * (self.power - 1.0) * ln).abs() / r.min(1.0);
        let place = PLACE * self.law.epsilon * own * slope;
        (above - below, UNIT * (EXCESS * (above + below.abs()) + place))
    }

    /// Bounds the excess's magnitude on every ellipse, if r stays near one: as in [`super::precise`].
    fn flat(&self) -> Option<f64> {
        let half = WIDEST.min(self.law.epsilon);
        let (size, change) = (self.power.abs(), self.rate * expm1(self.law.epsilon + ALONG * half));
        let near = change * (size + 2.0) < NEAR;
        near.then_some(ROUNDED_UP * FLAT * change * change * size * (size + 1.0))
    }
}

/// A number and a bound on its error.
type BoundedValue = (f64, f64);

/// A sum of numbers that are not negative, up to their errors.
#[derive(Default)]
struct SumWithError {
    value: f64,
    error: f64,
    sizes: f64,
    terms: f64,
}

impl SumWithError {
    fn add(&mut self, weight: f64, (value, error): BoundedValue) {
        self.value += weight * value;
        self.error += weight * error;
        self.sizes += weight * value.abs();
        self.terms += 1.0;
    }

    /// Bounds the error of the terms, of their weights and of the additions.
    fn error(&self) -> f64 {
        ROUNDED_UP * (self.error + UNIT * self.sizes * (WEIGHT + self.terms))
    }
}

/// Returns e^x - 1 - x, with a relative error of 32 u. The series to x^18 leaves out less than 2^-60 of it.
fn above_line(x: f64) -> f64 {
    if x.abs() > 0.5 {
        return expm1(x) - x;
    }
    let series = (3..=18_u32).rev().fold(1.0, |sum, n| 1.0 + x / f64::from(n) * sum);
    0.5 * x * x * series
}

/// Returns x - ln(1 + x), given the logarithm, with a relative error of 140 u. With z = x/(2 + x) it is z x - 2 (z^3/3
/// + z^5/5 + ..); the series to z^19 leaves out less than 2^-60 of it.
fn below_line(x: f64, ln: f64) -> f64 {
    if x.abs() > 0.25 {
        return x - ln;
    }
    let z = x / (2.0 + x);
    let square = z * z;
    let series = (1..=9_u32).rev().fold(0.0, |sum, n| sum * square + 1.0 / f64::from(2 * n + 1));
    z * (x - 2.0 * square * series)
}

#[cfg(test)]
mod tests {
    use super::super::precise as sampled;
    use super::*;
    use counterpoint_numerics::Wide;

    #[test]
    fn the_rule_is_exact_for_polynomials() {
        for degree in (0..32).step_by(2) {
            let sum: f64 = RULE.iter().map(|(node, weight)| 2.0 * weight * node.powi(degree)).sum();
            let exact = 2.0 / f64::from(degree + 1);
            assert!((sum / exact - 1.0).abs() < 1e-14, "{degree}: {sum}");
        }
    }

    /// Compares with the same integral in double-doubles, on equal panels.
    #[test]
    fn doubles_are_within_what_they_say() {
        type CumulantRule = fn(f64, Dd, Direction, f64) -> Option<(Dd, f64)>;
        let pairs: [(CumulantRule, CumulantRule); 2] =
            [(laplace, sampled::laplace), (range, sampled::range)];
        let (mut compared, mut sharp) = (0, 0);
        for (quick, precise) in pairs {
            for direction in [Direction::Remove, Direction::Add] {
                for rate in [1e-6, 1e-3, 0.01, 0.3, 0.9, 0.999_999] {
                    for epsilon in [1e-4, 0.03, 0.1, 0.7, 1.0, 2.5, 8.0, 19.0].map(Dd::from) {
                        for t in [1e-6, 1e-3, 0.1, 0.5, 1.0, 2.3, 7.0, 20.0, 63.0, 300.0, 2000.0] {
                            let text = format!("q {rate} eps {} t {t} {direction:?}", epsilon.hi);
                            let Some(exact) = precise(rate, epsilon, direction, t) else {
                                continue;
                            };
                            let (value, error) = quick(rate, epsilon, direction, t).expect(&text);
                            let off = (value - exact.0).hi.abs();
                            assert!(off <= error + exact.1, "{text}: off {off:e}, said {error:e}");
                            let most = 1e-12 * (1.0 + epsilon.hi * epsilon.hi) * (1.0 + exact.0.hi);
                            assert!(error <= most, "{text}: {error:e}");
                            compared += 1;
                            sharp += usize::from(error < 1e-9 * exact.0.hi);
                        }
                    }
                }
            }
        }
        assert!(compared > 1500 && 10 * sharp > 9 * compared, "{sharp} of {compared}");
    }

    /// Computes high whole orders of Laplace noise by the binomial theorem: E[e^(k y)] of the inner loss under Q is (k
    /// e^((k-1) eps) + (k-1) e^(-k eps))/(2k - 1).
    #[test]
    fn high_orders_by_the_binomial_theorem() {
        for (rate, epsilon) in [(1e-3, 1.0), (0.01, 0.3), (0.5, 0.1), (0.9, 1.0)] {
            for order in [100_u32, 1000, 20_000] {
                let keep = Wide::from(Dd::sum(1.0, -rate));
                let odds = Wide::from(rate) * keep.recip();
                let mut term = keep.powi(order.into());
                let mut mean = Wide::ZERO;
                for k in 0..=order {
                    let (k, left) = (f64::from(k), f64::from(order) - f64::from(k));
                    let up = Wide::exp(Dd::product(k - 1.0, epsilon)) * Wide::from(k);
                    let down = Wide::exp(-Dd::product(k, epsilon)) * Wide::from(k - 1.0);
                    mean = mean + term * (up + down) * Wide::from(Dd::ONE / (2.0 * k - 1.0));
                    term = term * odds * Wide::from(Dd::from(left) / (k + 1.0));
                }
                let exact = mean.ln();
                let t = f64::from(order - 1);
                let found = laplace(rate, Dd::from(epsilon), Direction::Remove, t);
                let (value, error) = found.unwrap();
                let off = (value - exact).hi.abs();
                assert!(
                    off <= error + 1e-20 * exact.hi,
                    "q {rate} order {order}: {off:e} {error:e}"
                );
                assert!(error < 1e-12, "q {rate} order {order}: {error:e}");
            }
        }
    }
}
