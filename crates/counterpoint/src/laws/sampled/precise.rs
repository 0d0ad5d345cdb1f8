//! Cumulants of releases on a Poisson sample.
//!
//! With r = 1 - q + q e^y, y being the inner loss of P against Q, the expectation is E[r^p] under the inner Q: p = 1 +
//! t if P has the person's data, p = -t if Q does. Since E[r] = 1, it is one plus the mean of r^p - 1 - p (r - 1),
//! which is never negative.

use crate::delta_bounds::{LOOSE, ROUNDED_UP, UNCOUNTED};
use crate::laws::Direction;
use counterpoint_numerics::{Dd, STEP, Wide, exp, turns};

/// The largest number of points at a reasonable cost.
const MOST_POINTS: f64 = 32_768.0;

// The allowances of the certificates here, each rounded up generously.

/// The relative error of ln r: q (e^y - 1) is good to 2^-94, which counts at most one and a half times in the
/// logarithm, and the logarithm's own 2^-94.
pub(in crate::laws) const LN_RATIO: f64 = 32.0 * STEP;
/// The allowance for r^p - 1 and p (r - 1): fewer than eight operations each.
pub(in crate::laws) const ROUNDING: f64 = 16.0 * STEP;
/// e^x - 1 is at most 1.1 x for the errors x here, below 10^-3.
pub(in crate::laws) const FIRST_ORDER: f64 = 1.1;
/// |p (p-1)|/2 times 4, as p - 1 is at most |p| + 1 in size.
const FLAT: f64 = 2.04;
/// The limit of d (|p| + 2), which must be at most one.
const NEAR: f64 = 0.99;
/// |ln(1 + x)| is at most 1.39 |x| for |x| <= 1/2.
const BEND: f64 = 1.5;
/// The allowance for a logarithm and a sum.
const LOGARITHM: f64 = 8.0 * STEP;
/// The allowance for mu x and mu^2/2, with mu's own 2^-94.
const PLACE: f64 = 4.0 * STEP;
/// The allowance for an upper bound on mu: its error, and a rounding.
const MU: f64 = 1e-12;
/// An addition to an exponent: 2/(1 - e^(-2 pi b/h)) is below e, and the exponent's rounding.
const TWO: f64 = 1.0;
/// The allowance for the cosine's part of an exponent: three roundings.
const GROWTH: f64 = 1.001;
/// The largest share of aliases in the exact value, which is then at most [`FOUND`] times the computed one.
const ALIASES: f64 = 0.25;
const FOUND: f64 = 2.0;
/// The allowance for an inner loss: epsilon's own 2^-94, and the node's place.
const INNER: f64 = 8.0 * STEP;
/// The density's exponent has half of that error, the weight no more: fourfold.
const DENSITY: f64 = 4.0;
/// The allowance for the density's factor, in steps: epsilon's own error, which 1 - e^-eps at most repeats, and three operations.
const FACTOR: f64 = 8.0;
/// 2^-86: see [`gauss_legendre`].
const NODE_ERROR: f64 = 256.0 * STEP;
/// Errors of nodes and of weights each change the sum by 2 c m times the error.
const NODES_AND_WEIGHTS: f64 = 4.0 * NODE_ERROR;
/// 64/15 / (1 - 1/64) is below 4.34.
const TRUNCATED: f64 = 5.0;
/// A lower bound on ln 8 / 2: 8^(-2n) is below e^(-4 n x).
const HALF_LN_8: f64 = 1.03;
/// Upper bounds on the ellipse's half-axes over c: 4.0625 along the panel, and half of 3.9375 across.
const ALONG: f64 = 4.07;
const HALF_ACROSS: f64 = 1.97;

/// 2 pi. The leading double is below it.
const TAU: Dd = Dd { hi: std::f64::consts::TAU, lo: 2.449_293_598_294_706_4e-16 };

struct RatioPower {
    rate: f64,
    /// The exponent p of r.
    power: Dd,
}

/// The value r^p - 1 - p (r - 1) at one place, a bound on its error, and the bound r^p + |p| q (1 + e^y) on its
/// magnitude.
pub(in crate::laws) struct Excess {
    pub(in crate::laws) value: Wide,
    pub(in crate::laws) error: Wide,
    pub(in crate::laws) most: Wide,
}

/// Returns p.
pub(in crate::laws) fn power(direction: Direction, t: f64) -> Dd {
    match direction {
        Direction::Remove => Dd::sum(1.0, t),
        Direction::Add => Dd::from(-t),
    }
}

impl RatioPower {
    fn new(rate: f64, direction: Direction, t: f64) -> Self {
        Self { rate, power: power(direction, t) }
    }

    /// Returns the excess at an inner loss y, which is known up to `slack` (below 1e-3).
    ///
    /// The error e_l of l = ln r is w slack, w = q e^y / r being its derivative, plus a relative [`LN_RATIO`]. The
    /// errors of r^p and p r follow, and each operation adds its own.
    fn excess(&self, y: Dd, slack: f64) -> Excess {
        let size = self.power.hi.abs();
        let tilted = Wide::exp(y) * Wide::from(self.rate);
        let change = if y.hi < 300.0 {
            Wide::from(y.expm1() * self.rate)
        } else {
            tilted - Wide::from(self.rate)
        };
        let (ln, ln_error) = self.ln_ratio(y, change, tilted, slack);
        let exponent = self.power * ln;
        let power = Wide::exp(exponent);
        let rise =
            if exponent.hi.abs() < 0.5 { Wide::from(exponent.expm1()) } else { power - Wide::ONE };
        let line = change * Wide::from(self.power);
        let rounding = (magnitude(rise) + magnitude(line)) * Wide::from(ROUNDING);
        let error = power * Wide::from(FIRST_ORDER * size * ln_error)
            + tilted * Wide::from(FIRST_ORDER * size * slack)
            + rounding;
        let most = power + (tilted + Wide::from(self.rate)) * Wide::from(ROUNDED_UP * size);
        Excess { value: rise - line, error, most }
    }

    /// Returns ln(1 - q + q e^y) and its error, given q (e^y - 1) and q e^y.
    fn ln_ratio(&self, y: Dd, change: Wide, tilted: Wide, slack: f64) -> (Dd, f64) {
        let rest = Dd::sum(1.0, -self.rate);
        if y.hi > 300.0 {
            let logarithm = Dd::from(self.rate).ln();
            let ln = y + logarithm + (Wide::from(rest) * tilted.recip()).to_dd().ln_1p();
            let sizes = y.hi + logarithm.hi.abs() + ln.hi.abs();
            return (ln, FIRST_ORDER * slack + LN_RATIO * sizes);
        }
        let share = tilted.estimate() / (rest.hi + tilted.estimate());
        let change = change.to_dd();
        let ln = if change.hi > -0.5 {
            change.ln_1p()
        } else {
            (Wide::from(rest) + tilted).to_dd().ln()
        };
        (ln, FIRST_ORDER * slack * share.min(1.0) + LN_RATIO * ln.hi.abs())
    }
}

impl RatioPower {
    /// Bounds the excess's magnitude where Re y lies between two ends, summand by summand; `growth` bounds the growth
    /// of r^p off the real line.
    fn steep(&self, left: Dd, right: Dd, growth: Wide) -> Wide {
        let size = self.power.hi.abs();
        let place = if self.power.is_positive() { right } else { left };
        let power = self.excess(place, 0.0).most * growth;
        power
            + Wide::exp(right) * Wide::from(ROUNDED_UP * self.rate * size)
            + Wide::from(1.0 + 2.0 * size)
    }

    /// Bounds the excess everywhere between a place and the lighter end of the losses, at most `far`: r^p falls towards
    /// that end, and the inner Q has a mass of at most one there.
    fn rest(&self, edge: Dd, far: Dd) -> Wide {
        let size = self.power.hi.abs();
        let line = (Wide::exp(far) + Wide::ONE) * Wide::from(ROUNDED_UP * self.rate * size);
        self.excess(edge, 0.0).most * Wide::from(ROUNDED_UP) + line
    }

    /// Bounds the excess's magnitude for all complex |y| <= far, if r stays near one.
    ///
    /// By Taylor's theorem it is at most |p (p-1)|/2 d^2 (1 - d)^(-|p-2|), where d = q (e^far - 1) bounds |r - 1|; with
    /// d (|p| + 2) <= 1 the last factor is at most (1 - d)^(-1/d), which is at most 4 for d <= 1/2.
    fn flat(&self, far: Dd) -> Option<Wide> {
        if far.hi > 300.0 {
            return None;
        }
        let (size, change) = (self.power.hi.abs(), far.expm1() * self.rate);
        let near = change.hi * (size + 2.0) < NEAR;
        near.then(|| Wide::from(change * change * (FLAT * size * (size + 1.0))))
    }
}

pub(in crate::laws) fn magnitude(x: Wide) -> Wide {
    if x.is_positive() { x } else { Wide::ZERO - x }
}

/// Returns ln(1 + m) and its error, given m and the error of m.
fn logarithm(m: Wide, error: Wide) -> Option<(Dd, f64)> {
    let m = if m.is_positive() { m } else { Wide::ZERO };
    let value = if m < Wide::from(1e200) { m.to_dd().ln_1p() } else { (m + Wide::ONE).ln() };
    let relative = (error * (m + Wide::ONE).recip()).upper(LOOSE);
    // Below 1/2 the factor covers the curvature of the logarithm.
    (relative < 0.5).then_some((value, BEND * relative + LOGARITHM * value.hi))
}

/// Returns K(t) of a sampled Gaussian, by the trapezoid rule in x ~ N(0, 1), where y = mu x - mu^2/2.
///
/// Aliases. e^(-x^2/2) r^p is analytic for |Im x| < pi/mu. On the line Im x = b, with z = b mu / 2 < pi/2, |e^(-x^2/2)|
/// grows by e^(b^2/2), |r| does not grow, and it falls at most to r cos z, where cos z >= 1 - z^2/2. So the rule with
/// step h, over the whole line, has an error of at most 2 N / (e^(2 pi b/h) - 1), with N = e^(b^2/2) (c M + 1 + 2 |p|)
/// for the three summands together; c is 1 for p > 0 and (1 - z^2/2)^p for p < 0, and M is the expectation itself.
///
/// Ends. The summand is at most phi(x) G(x), G = r^p + |p| q (1 + e^y). From one point to the next on the right G grows
/// at most by e^(max(p, 1) mu h), to the left by e^(|p| mu h) if p < 0 and not at all otherwise, while phi changes by
/// e^(-|x| h - h^2/2), ever faster. So a geometric series bounds the sum beyond the last point.
pub(in crate::laws) fn gaussian(
    rate: f64,
    mu: Dd,
    direction: Direction,
    t: f64,
) -> Option<(Dd, f64)> {
    if rate < 1e-100 || mu.hi < 1e-100 {
        return None;
    }
    let mixture = RatioPower::new(rate, direction, t);
    trapezoid(mixture.power, mu, t * rate * mu.hi, |x| {
        let (y, slack) = inner_loss(mu, x);
        mixture.excess(y, slack)
    })
}

/// Returns mu x - mu^2/2, and a bound on its error.
pub(in crate::laws) fn inner_loss(mu: Dd, x: f64) -> (Dd, f64) {
    let shift = mu * x;
    let half = (mu * mu).scaled(0.5);
    (shift - half, PLACE * (shift.hi.abs() + half.hi))
}

/// Applies the rule to an excess at x, given p, the largest mu and approximately t times the mean of r - 1 where it is
/// positive.
pub(in crate::laws) fn trapezoid(
    power: Dd,
    mu: Dd,
    mean: f64,
    excess: impl Fn(f64) -> Excess,
) -> Option<(Dd, f64)> {
    let size = power.hi.abs();
    let digits = digits(size, mean);
    let rule = TrapezoidRule::new(power, mu.upper() * (1.0 + MU), digits)?;
    let (left, right) = rule.drifts;
    let far = (2.0 * digits).sqrt() + 1.0;
    let first = -((far + left) / rule.step).ceil();
    let last = ((far + right) / rule.step).ceil();
    if last - first > MOST_POINTS {
        return None;
    }
    let place = |index: f64| index * rule.step;
    let at = |x: f64| (Wide::exp(-Dd::product(x, x).scaled(0.5)), excess(x));
    let (mut sum, mut error) = (Wide::ZERO, Wide::ZERO);
    for step in 0..=(last - first) as u64 {
        let (weight, excess) = at(place(first + step as f64));
        sum = sum + weight * excess.value;
        error = error + weight * excess.error;
    }
    // Each addition has an error of 2^-102 of a sum of terms that are not negative.
    error = error + magnitude(sum) * Wide::from((last - first + UNCOUNTED) * STEP);
    for (end, drift) in [(first, left), (last, right)] {
        let (weight, excess) = at(place(end));
        let ratio = exp(-(place(end).abs() - drift) * rule.step);
        error = error + weight * excess.most * Wide::from(ROUNDED_UP * ratio / (1.0 - ratio));
    }
    let scale = Wide::from(Dd::from(rule.step) / TAU.sqrt());
    let (mean, error) = (sum * scale, error * scale);
    let found = (magnitude(mean) + error + Wide::ONE) * Wide::from(FOUND);
    let most = found * rule.alias_power + Wide::from(2.0 + 4.0 * size) * rule.alias;
    let most_aliases = Wide::from(ALIASES);
    if rule.alias_power > most_aliases || Wide::from(1.0 + 2.0 * size) * rule.alias > most_aliases {
        return None;
    }
    logarithm(mean, error + most)
}

/// Estimates the size, as -ln, below which terms are negligible: the mean is about t (1 + t) (q mu)^2, and the second
/// difference of cumulants near zero is t times that.
#[allow(clippy::disallowed_methods)]
fn digits(size: f64, mean: f64) -> f64 {
    46.0 + size.ln_1p() - 2.0 * mean.min(1.0).ln()
}

struct TrapezoidRule {
    step: f64,
    /// The distances that the growth of G compensates, to the left and to the right.
    drifts: (f64, f64),
    /// 2 e^(b^2/2) / (e^(2 pi b/h) - 1), and c times that.
    alias: Wide,
    alias_power: Wide,
}

impl TrapezoidRule {
    /// Returns the coarsest step, a power of two, whose aliases are below e^-digits.
    fn new(power: Dd, mu: f64, digits: f64) -> Option<Self> {
        let p = power.upper();
        let falling = (-power.lower()).max(0.0);
        let drifts = (ROUNDED_UP * falling * mu, ROUNDED_UP * p.max(1.0) * mu);
        // For p > 0 only the branch point at Im x = pi/mu matters, for p < 0 the cosine too.
        let most = if falling > 0.0 { 2.0 / mu } else { 3.0 / mu };
        let mut step = 0.5;
        while step > 1e-6 {
            // The b that approximately minimizes the aliases.
            let b = (TAU.hi / step / (1.0 + 0.3 * falling * mu * mu)).min(most);
            let z = if falling > 0.0 { 0.5 * b * mu } else { 0.0 };
            let growth = -Dd::from(1.0 - 0.5 * z * z).ln().hi * falling;
            let exponent = 0.5 * b * b - TAU.hi * b / step;
            if exponent + growth < -digits {
                let alias = Wide::exp(Dd::from(exponent + TWO));
                let alias_power = Wide::exp(Dd::from(exponent + TWO + GROWTH * growth));
                return Some(Self { step, drifts, alias, alias_power });
            }
            step *= 0.5;
        }
        None
    }
}

/// The rest of an integral is not summed if it is less than this share of the sum: a hundred steps.
const NOTHING_LEFT: f64 = 5e-27;

/// The number of points of the Gauss-Legendre rule on [-1, 1].
const NODES: u32 = 20;

/// Returns K(t) of sampled Laplace noise: Gauss-Legendre on equal panels for the density between the atoms, e^(-(y +
/// eps)/2)/4 under the inner Q; the atoms are 1/2 at -eps and e^-eps/2 at eps.
///
/// On a panel of half-width c, the rule with n + 1 points has an error of at most 64/15 c m 8^(-2n) / (1 - 1/64), m
/// bounding the integrand's magnitude on the ellipse with foci at the panel's ends and half-axes 4.0625 c and 3.9375 c
/// (Trefethen, Approximation Theory, theorem 19.3). There |r| is at most r at the right end, and at least r cos z at
/// the left end, z being half the half-axis, with cos z >= 1 - z^2/2. An error d in the nodes or in the weights,
/// relative to them, changes the sum by at most 2 c m d each, since the ellipse is more than c away from the panel.
pub(in crate::laws) fn laplace(
    rate: f64,
    epsilon: Dd,
    direction: Direction,
    t: f64,
) -> Option<(Dd, f64)> {
    let half = Wide::from(0.5);
    let atoms = [(-epsilon, half), (epsilon, Wide::exp(-epsilon) * half)];
    panels((rate, direction, t), epsilon, Dd::from(0.25), &atoms)
}

/// Returns K(t) of a sampled range by the same rule: the density is e^(-(y + eps)/2) / (2 (1 - e^-eps)) under the inner
/// Q, without atoms. The factor has epsilon's own error of 2^-94 and that of three operations.
pub(in crate::laws) fn range(
    rate: f64,
    epsilon: Dd,
    direction: Direction,
    t: f64,
) -> Option<(Dd, f64)> {
    if epsilon.hi < 1e-100 {
        return None;
    }
    let factor = Dd::from(0.5) / -(-epsilon).expm1();
    panels((rate, direction, t), epsilon, factor, &[])
}

/// Returns K(t) for a density `factor e^(-(y + eps)/2)` between -eps and eps, and atoms: losses with their masses.
fn panels(
    (rate, direction, t): (f64, Direction, f64),
    epsilon: Dd,
    factor: Dd,
    atoms: &[(Dd, Wide)],
) -> Option<(Dd, f64)> {
    if rate < 1e-100 || epsilon.hi < 1e-100 {
        return None;
    }
    let mixture = RatioPower::new(rate, direction, t);
    let size = mixture.power.hi.abs();
    let panels = (epsilon.hi * size.max(4.0)).ceil() + 1.0;
    if panels * f64::from(NODES) > 0.5 * MOST_POINTS {
        return None;
    }
    let half = epsilon / panels;
    let slack = INNER * epsilon.hi;
    let weighted = |y: Dd, weight: Wide| {
        let excess = mixture.excess(y, slack);
        (
            weight * excess.value,
            weight * (excess.error + magnitude(excess.value) * Wide::from(DENSITY * slack)),
        )
    };
    let density = |y: Dd| Wide::exp(-(y + epsilon).scaled(0.5));
    let rule = gauss_legendre();
    let (mut sum, mut error) = (Wide::ZERO, Wide::ZERO);
    for &(y, mass) in atoms {
        let (value, off) = weighted(y, mass);
        (sum, error) = (sum + value, error + off);
    }
    let z = HALF_ACROSS * half.hi;
    // (1 - z^2/2)^p for p < 0.
    let fall = (Dd::ONE - Dd::product(z, z).scaled(0.5)).ln() * mixture.power;
    let growth = if fall.is_positive() { Wide::exp(fall) } else { Wide::ONE };
    let flat = mixture.flat(epsilon + half * ALONG);
    let truncated = exp(-f64::from(4 * NODES - 4) * HALF_LN_8) * TRUNCATED;
    // The heavier end comes first, so that the rest of the integral is soon negligible.
    let rising = mixture.power.is_positive();
    for index in 0..panels as u64 {
        let panel = if rising { panels as u64 - 1 - index } else { index };
        let middle = half * (2.0 * panel as f64 + 1.0) - epsilon;
        for &(node, weight) in &rule {
            let y = middle + half * node;
            let weight = Wide::from(half * weight * factor);
            let (value, off) = weighted(y, weight * density(y));
            (sum, error) = (sum + value, error + off);
        }
        let (left, right) = (middle - half * ALONG, middle + half * ALONG);
        let most = density(left) * flat.unwrap_or_else(|| mixture.steep(left, right, growth));
        let scale = half.hi * factor.hi.max(1.0) * ROUNDED_UP;
        error = error + most * Wide::from(scale * (truncated + NODES_AND_WEIGHTS));
        let edge = if rising { middle - half } else { middle + half };
        let rest = mixture.rest(edge, epsilon);
        if rest <= sum * Wide::from(NOTHING_LEFT) {
            error = error + rest;
            break;
        }
    }
    let operations = panels * f64::from(NODES) + UNCOUNTED;
    error = error + magnitude(sum) * Wide::from((operations + FACTOR) * STEP);
    logarithm(sum, error * Wide::from(ROUNDED_UP))
}

/// Returns nodes and weights of the rule on [-1, 1], to 2^-86: Newton's method from a guess near each root is repeated
/// until only rounding is left; the recurrence loses at most a few hundred times 2^-102.
fn gauss_legendre() -> Vec<(Dd, Dd)> {
    let n = f64::from(NODES);
    let node = |index: u32| {
        let mut x = turns(Dd::from((f64::from(index) + 0.75) / (2.0 * n + 1.0))).0;
        for _ in 0..6 {
            let (last, before) = legendre(x);
            let slope = (before - x * last) * n / (Dd::ONE - x * x);
            x = x - last / slope;
        }
        let before = legendre(x).1 * n;
        (x, (Dd::ONE - x * x).scaled(2.0) / (before * before))
    };
    (0..NODES).map(node).collect()
}

/// Returns the last two Legendre polynomials.
fn legendre(x: Dd) -> (Dd, Dd) {
    let (mut before, mut last) = (Dd::ONE, x);
    for k in 1..NODES {
        let k = f64::from(k);
        let next = (x * last * (2.0 * k + 1.0) - before * k) / (k + 1.0);
        (before, last) = (last, next);
    }
    (last, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_exact_for_polynomials() {
        let rule = gauss_legendre();
        for degree in 0..2 * NODES {
            let power = |x: Dd| (0..degree).fold(Dd::ONE, |product, _| product * x);
            let sum = rule.iter().fold(Dd::ZERO, |sum, &(x, w)| sum + w * power(x));
            let exact = match degree % 2 {
                0 => Dd::from(2.0) / f64::from(degree + 1),
                _ => Dd::ZERO,
            };
            assert!((sum - exact).hi.abs() < 1e-27, "{degree}: {:e}", (sum - exact).hi);
        }
    }

    /// Returns E[r^a] - 1 for an integer order a = 1 + t by the binomial theorem, given the inner E[e^(k y)] - 1, which
    /// vanish for k = 0 and 1.
    fn binomial(rate: f64, order: u32, inner: impl Fn(f64) -> Wide) -> Wide {
        let keep = Wide::from(Dd::sum(1.0, -rate));
        let mut sum = Wide::ZERO;
        let mut choose = Wide::ONE;
        for k in 1..=order {
            choose = choose * Wide::from(Dd::from(f64::from(order - k + 1)) / f64::from(k));
            if k > 1 {
                let term = Wide::from(rate).powi(k.into()) * keep.powi((order - k).into());
                sum = sum + choose * term * inner(f64::from(k));
            }
        }
        sum
    }

    fn less_one(x: Dd) -> Wide {
        if x.hi < 300.0 { Wide::from(x.expm1()) } else { Wide::exp(x) - Wide::ONE }
    }

    fn hold(what: &str, (value, error): (Dd, f64), mean: Wide, most: f64) {
        let exact =
            if mean < Wide::from(1e200) { mean.to_dd().ln_1p() } else { (mean + Wide::ONE).ln() };
        let off = (value - exact).hi.abs();
        assert!(off <= error + 1e-25 * exact.hi, "{what}: off by {off:e}, said {error:e}");
        assert!(error <= most * exact.hi, "{what}: {error:e} of {:e}", exact.hi);
    }

    #[test]
    fn whole_orders_of_the_sampled_gaussian() {
        for rate in [1e-6, 1e-3, 0.01, 0.3, 0.999] {
            for mu in [1e-5, 1e-3, 0.1, 0.5, 1.0, 2.5, 8.0] {
                for order in [2, 3, 4, 5, 7, 8, 13, 16, 32, 64] {
                    let inner =
                        |k: f64| less_one(Dd::product(mu, mu).scaled(0.5) * (k * (k - 1.0)));
                    let mean = binomial(rate, order, inner);
                    let t = f64::from(order - 1);
                    let what = format!("q {rate} mu {mu} order {order}");
                    let found = gaussian(rate, Dd::from(mu), Direction::Remove, t);
                    hold(&what, found.expect(&what), mean, 1e-13);
                }
            }
        }
    }

    #[test]
    fn whole_orders_of_the_sampled_laplace() {
        for rate in [1e-6, 1e-3, 0.01, 0.3, 0.999] {
            for epsilon in [1e-5, 1e-3, 0.1, 0.5, 1.0, 2.5, 8.0] {
                for order in [2, 3, 4, 5, 7, 8, 13, 16, 32, 64] {
                    let inner = |k: f64| {
                        let up = less_one(Dd::product(k - 1.0, epsilon)) * Wide::from(k);
                        let down = less_one(-Dd::product(k, epsilon)) * Wide::from(k - 1.0);
                        (up + down) * Wide::from(Dd::ONE / (2.0 * k - 1.0))
                    };
                    let mean = binomial(rate, order, inner);
                    let t = f64::from(order - 1);
                    let what = format!("q {rate} eps {epsilon} order {order}");
                    let found = laplace(rate, Dd::from(epsilon), Direction::Remove, t);
                    hold(&what, found.expect(&what), mean, 1e-13);
                }
            }
        }
    }

    /// Compares with Riemann sums and the midpoint rule, in plain doubles.
    #[test]
    fn the_other_direction() {
        for (rate, scale) in [(0.01, 1.0), (0.3, 0.5), (0.9, 2.0), (0.5, 4.0), (1e-3, 0.1)] {
            for t in [0.01, 0.5, 1.0, 2.7, 10.0, 60.0] {
                let bent = |y: f64| {
                    let change = rate * y.exp_m1();
                    (-t * change.ln_1p()).exp_m1() + t * change
                };
                let normal = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
                let steps = || (-60_000..60_000).map(|i| f64::from(i) / 1000.0);
                let mean: f64 =
                    steps().map(|x| normal(x) * bent(scale * x - 0.5 * scale * scale)).sum();
                let exact = (mean / 1000.0).ln_1p();
                let what = format!("q {rate} scale {scale} t {t}");
                let (value, error) =
                    gaussian(rate, Dd::from(scale), Direction::Add, t).expect(&what);
                assert!((value.hi / exact - 1.0).abs() < 1e-10, "{what}: {value:?} {exact:e}");
                assert!(error < 1e-13 * exact, "{what}: {error:e}");

                let pieces = 200_000;
                let width = 2.0 * scale / f64::from(pieces);
                let between: f64 = (0..pieces)
                    .map(|i| (f64::from(i) + 0.5) * width - scale)
                    .map(|y| 0.25 * (-0.5 * (y + scale)).exp() * bent(y) * width)
                    .sum();
                let atoms = 0.5 * bent(-scale) + 0.5 * (-scale).exp() * bent(scale);
                let exact = (between + atoms).ln_1p();
                let (value, error) =
                    laplace(rate, Dd::from(scale), Direction::Add, t).expect(&what);
                assert!((value.hi / exact - 1.0).abs() < 1e-7, "{what}: {value:?} {exact:e}");
                assert!(error < 1e-13 * exact, "{what}: {error:e}");
            }
        }
    }
}
