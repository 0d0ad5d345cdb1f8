//! Transforms in plain doubles, many at a time: for the value at a point if there are not too many factors, and for a
//! bound on a whole block of points.

use crate::delta_bounds::DOUBLES;
use crate::laws::transform::contour_point::nearest;
use crate::laws::transform::{Transform, TransformKind};
use counterpoint_numerics::complex::{Complex, power, times};
use counterpoint_numerics::{Dd, UNIT, exp, turn};

// Allowances of the certificates below, each rounded up generously.

/// A factor's value: its turn is off by 3 u of a turn and 16 u, twice; the rest are ten roundings of numbers of at most
/// one, over at least a half.
const VALUE: f64 = 192.0 * UNIT;
/// A mass of a list, and its addition.
const LISTED: f64 = 4.0 * UNIT;
/// A product of complex numbers, and one of moduli.
const PRODUCT: f64 = 16.0 * UNIT;

/// Products below this value need not be more precise.
const NOTHING: f64 = 1e-30;

/// [`DOUBLES`] allows for more roundings than this.
const MOST_FACTORS: f64 = 1e6;

/// The factors of a transform on one line.
pub(super) struct TransformFactors {
    list: Vec<TransformFactor>,
    s: f64,
    /// The sum of the losses' shifts.
    pub(super) shift: Dd,
    /// An upper bound on the variance of the tilted sum.
    pub(super) variance: f64,
    /// The number of factors, with equal ones counted.
    pub(super) many: f64,
}

struct TransformFactor {
    count: u64,
    kind: SimpleTransform,
}

enum SimpleTransform {
    /// `a + d E b` over its value on the axis, with E = e^(-i w fall) and a, b = 1/2 +- 1/(4z), or +-1/(4z).
    Ends {
        fall: Dd,
        decay: f64,
        over: f64,
        atoms: bool,
    },
    /// `stay + gone E`.
    Two {
        fall: Dd,
        stay: f64,
        gone: f64,
    },
    Gaussian {
        square: f64,
    },
    /// Gaussians e^(-slope v^2) around all whole turns of a frequency, each turned by the tilt.
    Whole {
        ratio: Dd,
        slope: f64,
        tilt: Dd,
    },
    Many(Vec<(Dd, f64)>),
}

/// The values that all factors share at one frequency.
struct Frequency {
    /// The frequency in turns for a unit of loss: an exact double.
    turns: f64,
    w: f64,
    /// 1/(4z).
    quarter: Complex,
}

impl TransformFactors {
    /// Returns `None` if the transform of a loss is more complicated than these.
    pub(super) fn new(terms: &[Transform], t: f64) -> Option<Self> {
        let mut factors = Self {
            list: Vec::with_capacity(terms.len()),
            s: t + 0.5,
            shift: Dd::ZERO,
            variance: 0.0,
            many: 0.0,
        };
        for term in terms {
            let count = term.count;
            let kind = match &term.kind {
                TransformKind::Two { stay, gone, fall } => {
                    SimpleTransform::Two { fall: *fall, stay: stay.hi, gone: gone.hi }
                }
                TransformKind::Gaussian { square } => {
                    SimpleTransform::Gaussian { square: square.hi }
                }
                TransformKind::Ends { epsilon, decay, at_zero, atoms, .. } => {
                    SimpleTransform::Ends {
                        fall: epsilon.scaled(2.0),
                        decay: decay.hi,
                        over: 1.0 / at_zero.hi,
                        // The transform of a narrow range is small only together with its value on the axis.
                        atoms: *atoms || (at_zero.hi > 1e-6).then_some(false)?,
                    }
                }
                TransformKind::Whole { ratio, slope, tilt } => {
                    SimpleTransform::Whole { ratio: *ratio, slope: slope.hi, tilt: *tilt }
                }
                TransformKind::Many(list) if list.len() <= 200 => SimpleTransform::Many(
                    list.iter().map(|(fall, mass)| (*fall, mass.hi)).collect(),
                ),
                TransformKind::Many(_) | TransformKind::Sampled(_) => return None,
            };
            factors.many += count as f64;
            factors.shift = factors.shift + term.shift * count as f64;
            factors.variance += term.variance * count as f64;
            factors.list.push(TransformFactor { count, kind });
        }
        // Powers of moduli are rounded once for each factor.
        (factors.many <= MOST_FACTORS).then_some(factors)
    }

    /// True if blocks of points are worth bounding: there are more factors than `many`, or a factor that is negligible
    /// over long stretches.
    pub(super) fn is_skipped(&self, many: f64) -> bool {
        let fades = |factor: &TransformFactor| matches!(factor.kind, SimpleTransform::Whole { .. });
        self.many > many || self.list.iter().any(fades)
    }

    /// The number of products for a point.
    pub(super) fn work(&self) -> f64 {
        let of = |factor: &TransformFactor| match &factor.kind {
            SimpleTransform::Many(list) => list.len() as f64,
            _ => 1.0,
        };
        self.list.iter().map(of).sum()
    }

    fn at(&self, index: f64, period: f64) -> Frequency {
        let turns = index / period;
        let w = std::f64::consts::TAU * turns;
        let size = 4.0 * (self.s * self.s + w * w);
        Frequency { turns, w, quarter: (self.s / size, -w / size) }
    }

    /// The product at a point, a bound on its absolute error, and the number of factors used.
    pub(super) fn value(&self, index: u64, period: f64) -> (Complex, f64, f64) {
        let at = self.at(index as f64, period);
        let (mut product, mut most, mut relative) = ((1.0, 0.0), 1.0_f64, 0.0);
        for (i, factor) in self.list.iter().enumerate() {
            let (value, error) = factor.kind.value(&at);
            let size = (value.0 * value.0 + value.1 * value.1).sqrt();
            let count = factor.count as f64;
            relative += count * (error / size.max(1e-300) + PRODUCT);
            product = times(product, power(value, factor.count));
            most *= power_of((size + error).min(1.0), factor.count);
            if most < NOTHING {
                return ((0.0, 0.0), most * (1.0 + DOUBLES) + NOTHING, i as f64 + 1.0);
            }
        }
        let size = (product.0 * product.0 + product.1 * product.1).sqrt();
        // Products of (1 + x) less one are at most e^(sum of x) - 1, which is at most twice the sum if that is below
        // one.
        if relative < 0.5 {
            (product, 2.0 * relative * size + 1e-290, self.list.len() as f64)
        } else {
            ((0.0, 0.0), most * (1.0 + DOUBLES) + 1e-290, self.list.len() as f64)
        }
    }

    /// A bound on the product's modulus between two points, and the number of factors used. Factors are multiplied only
    /// until the bound is below the goal.
    pub(super) fn within(&self, (first, last): (u64, u64), period: f64, goal: f64) -> (f64, f64) {
        let middle = 0.5 * (first as f64 + last as f64);
        let at = self.at(middle, period);
        let reach = (last as f64 - middle) / period * (1.0 + DOUBLES);
        let start = std::f64::consts::TAU * first as f64 / period * (1.0 - DOUBLES);
        let mut most = 1.0;
        for (i, factor) in self.list.iter().enumerate() {
            let bound = factor.kind.within(&at, reach, start).min(1.0);
            most *= power_of(bound, factor.count);
            if most < goal {
                return (most * (1.0 + DOUBLES), i as f64 + 1.0);
            }
        }
        (most * (1.0 + DOUBLES), self.list.len() as f64)
    }

    /// A bound on the product's modulus for all frequencies from the given one on.
    pub(super) fn envelope(&self, frequency: f64) -> f64 {
        let of = |factor: &TransformFactor| {
            power_of(factor.kind.envelope(frequency).min(1.0), factor.count)
        };
        self.list.iter().map(of).product::<f64>() * (1.0 + DOUBLES)
    }
}

impl SimpleTransform {
    fn value(&self, at: &Frequency) -> (Complex, f64) {
        match self {
            Self::Ends { fall, decay, over, atoms } => {
                let (cosine, sine) = turn_of(*fall, at.turns);
                let half = if *atoms { 0.5 } else { 0.0 };
                let (a, b) = (half + at.quarter.0, half - at.quarter.0);
                let e = (decay * cosine, -decay * sine);
                let turned = times(e, (b, -at.quarter.1));
                let over = *over;
                ((over * (a + turned.0), over * (at.quarter.1 + turned.1)), over.max(2.0) * VALUE)
            }
            Self::Two { fall, stay, gone } => {
                let (cosine, sine) = turn_of(*fall, at.turns);
                ((stay + gone * cosine, -gone * sine), VALUE)
            }
            Self::Gaussian { square } => {
                ((exp(-(0.5 * square * at.w * at.w).min(700.0)), 0.0), VALUE)
            }
            Self::Whole { ratio, slope, tilt } => {
                let (whole, rest) = split(*ratio, at.turns);
                // The nearest whole turn, and the next; all others are more than one turn away.
                let up = rest > 0.5;
                let term = |near: bool| {
                    let (k, v) = if near == up { (whole + 1.0, rest - 1.0) } else { (whole, rest) };
                    let weight = exp(-(slope * v * v).min(700.0));
                    let (cosine, sine) = turn_of(*tilt, -k);
                    (weight * cosine, weight * sine)
                };
                let (near, next) = (term(true), term(false));
                // v is good to 3 u, and slope v e^(-slope v^2) is below sqrt(slope)/2.
                ((near.0 + next.0, near.1 + next.1), VALUE * (1.0 + slope.sqrt()))
            }
            Self::Many(list) => {
                let mut sum = (0.0, 0.0);
                for &(fall, mass) in list {
                    let (cosine, sine) = turn_of(fall, at.turns);
                    sum = (sum.0 + mass * cosine, sum.1 - mass * sine);
                }
                (sum, VALUE + LISTED * list.len() as f64)
            }
        }
    }

    /// A bound on the modulus within `reach` turns of a place, where all frequencies are at least `start`.
    fn within(&self, at: &Frequency, reach: f64, start: f64) -> f64 {
        // |x + y E| where E's turn is nearest to a whole one.
        let sum = |fall: Dd, x: f64, y: f64| {
            let turns = rest_of(fall, at.turns);
            let away = turns.min(1.0 - turns) - fall.hi * reach - DOUBLES;
            let cosine = if away > 0.0 { turn((away * UNIT_TURN) as u64, BITS).0 } else { 1.0 };
            (x * x + y * y + 2.0 * x * y * cosine + VALUE).sqrt()
        };
        match self {
            Self::Ends { fall, decay, over, atoms } => {
                let far = 0.25 * (1.0 + decay) / start;
                let near = if *atoms { 0.5 * sum(*fall, 1.0, *decay) } else { 0.0 };
                over * (near + far) * (1.0 + DOUBLES) + VALUE
            }
            Self::Two { fall, stay, gone } => sum(*fall, *stay, *gone) + VALUE,
            Self::Whole { ratio, slope, .. } => {
                let rest = rest_of(*ratio, at.turns);
                nearest(*slope, rest.min(1.0 - rest) - ratio.hi * reach - DOUBLES)
            }
            Self::Gaussian { .. } | Self::Many(_) => self.envelope(start),
        }
    }

    fn envelope(&self, frequency: f64) -> f64 {
        match self {
            Self::Ends { decay, over, atoms, .. } => {
                let half = if *atoms { 0.5 } else { 0.0 };
                over * (1.0 + decay) * (half + 0.25 / frequency) * (1.0 + DOUBLES)
            }
            Self::Gaussian { square } => {
                let exponent = 0.5 * square * frequency * frequency * (1.0 - DOUBLES);
                exp(-exponent.min(700.0)) * (1.0 + DOUBLES)
            }
            Self::Two { .. } | Self::Whole { .. } | Self::Many(_) => 1.0,
        }
    }
}

const BITS: u32 = 53;
const UNIT_TURN: f64 = (1_u64 << BITS) as f64;

/// The whole part of a product and its fraction, good to 3 u.
fn split(loss: Dd, turns: f64) -> (f64, f64) {
    let product = Dd::product(loss.hi, turns);
    let rest = (product.hi - product.hi.floor()) + (product.lo + loss.lo * turns);
    (product.hi.floor() + rest.floor(), (rest - rest.floor()).clamp(0.0, 1.0 - UNIT))
}

fn rest_of(loss: Dd, turns: f64) -> f64 {
    split(loss, turns).1
}

/// Cosine and sine of a loss's turn.
fn turn_of(loss: Dd, turns: f64) -> Complex {
    turn((rest_of(loss, turns) * UNIT_TURN) as u64, BITS)
}

/// A power of a number of at most one, rounded by less than [`PRODUCT`] for each factor.
fn power_of(mut base: f64, mut n: u64) -> f64 {
    if n == 1 {
        return base;
    }
    let mut result = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            result *= base;
        }
        base *= base;
        n >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composition::CountedLoss;
    use crate::laws::transform::contour_point::ContourPoint;
    use crate::laws::{Atom, Atoms, Gaussian, Laplace, Loss, Range, Response};
    use crate::loss::discrete_gaussian_atoms;
    use std::sync::Arc;

    fn losses() -> Vec<CountedLoss> {
        let part = |each: Loss, count: u64| CountedLoss { each, count };
        let atom = |loss: f64, mass: f64| Atom { loss: Dd::from(loss), mass: Dd::from(mass) };
        let list = vec![atom(0.7, 0.5), atom(0.1, 0.25), atom(-0.4, 0.25)];
        vec![
            part(Loss::from(Laplace { epsilon: Dd::from(0.3) + Dd::from(1e-18) }), 3),
            part(Loss::from(Laplace { epsilon: Dd::from(1.7) }), 1),
            part(Loss::from(Response { epsilon: Dd::from(0.45) }), 2),
            part(Loss::from(Range { epsilon: Dd::from(0.8) }), 1),
            part(Loss::from(Gaussian { square: Dd::from(1e-4) }), 1),
            part(
                Loss::from(Arc::new(Atoms {
                    list: list.into(),
                    cut: 0.0,
                    capped: false,
                    symmetric: false,
                    rho: None,
                })),
                2,
            ),
        ]
    }

    /// Values against those in double-doubles, and a block's bound against the points in it.
    #[test]
    fn points_and_blocks_are_what_they_say() {
        // Discrete Gaussians are next to nothing half-way between whole turns.
        let whole = |sigma| Loss::from(discrete_gaussian_atoms(sigma, 1).unwrap());
        let [one, other] = [2.5, 3.5].map(|sigma| CountedLoss { each: whole(sigma), count: 2 });
        let with_whole: Vec<CountedLoss> = losses().into_iter().chain([one, other]).collect();
        for (t, list, least) in [0.2, 3.0, 40.0]
            .into_iter()
            .flat_map(|t| [(t, losses(), 300), (t, with_whole.clone(), 50)])
        {
            let terms: Vec<Transform> = list
                .iter()
                .map(|part| Transform::new(part.law(), part.count, t).unwrap())
                .collect();
            let factors = TransformFactors::new(&terms, t).unwrap();
            let period = 16.0;
            let mut close = 0;
            for index in (0..400).chain([5_000, 70_001, 123_456]) {
                let (value, error, _) = factors.value(index, period);
                let mut exact = (Dd::ONE, Dd::ZERO);
                for term in &terms {
                    let (factor, _) = term.value(ContourPoint { index, period }, 1e-20).unwrap();
                    (0..term.count).for_each(|_| exact = times(exact, factor));
                }
                let off = ((exact.0 - value.0.into()).hi, (exact.1 - value.1.into()).hi);
                let off = (off.0 * off.0 + off.1 * off.1).sqrt();
                assert!(off <= error, "{t} {index}: {value:?} off by {off:e}, not {error:e}");
                let size = (exact.0 * exact.0 + exact.1 * exact.1).hi.sqrt();
                close += usize::from(error < 1e-9 * size);
                for reach in [1, 3, 8] {
                    if index > 20 {
                        let (bound, _) = factors.within((index - reach, index + 8), period, 0.0);
                        assert!(size <= bound, "{t} {index}: {size} above {bound}");
                    }
                }
                let frequency = std::f64::consts::TAU * index as f64 / period * (1.0 - 1e-12);
                assert!(index == 0 || size <= factors.envelope(frequency), "{t} {index}");
            }
            assert!(close > least, "{close}");
        }
    }
}
