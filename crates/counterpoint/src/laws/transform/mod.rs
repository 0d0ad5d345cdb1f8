//! Moment generating functions off the real axis: M(t + iw) / M(t) for each loss.

pub(crate) mod contour_point;
mod sampled;

pub(crate) use sampled::angle;
pub(super) use sampled::{SampledTransform, quick};

use super::Law;
use crate::delta_bounds::{DOUBLES, LEFT_OUT, UNCOUNTED};
use contour_point::{ContourPoint, nearest, over};
use counterpoint_numerics::complex::Complex;
use counterpoint_numerics::{Dd, STEP, UNIT, exp, exp_neg, turns};

// The allowances of the certificates here, each rounded up generously.

/// A value in double-doubles: fewer than thirty operations at 2^-94 each.
const FORMULA: f64 = 64.0 * STEP;
/// Bounds the difference of sums over whole numbers from integrals (Poisson's formula): at most four times e^(-2 pi^2
/// sigma^2) for a sigma of two or more, which is below the accuracy of double-doubles.
pub(crate) const FROM_INTEGRALS: f64 = 1e-33;
/// The weights of a list: exponents of at most 600 in double-doubles, each good to 2^-94.
const WEIGHTS: f64 = 1e-24;
/// An envelope in doubles: ten roundings, in exponents of at most 700.
const ENVELOPE: f64 = 1e-12;
/// |phi|^2 in doubles, and a square root: two roundings of numbers of at most one, fourfold.
const SQUARE: f64 = 8.0 * UNIT;
const ROOT: f64 = 4.0 * UNIT;
/// | |a|^2 - |b|^2 | is at most (|a| + |b|) e, and both are at most 1 + e.
const SQUARED: f64 = 3.0;

/// The transform of a law tilted by t.
pub(crate) struct TiltedLaw {
    /// M(z)/M(t) is e^(iw shift) times the result of [`Transform::value`].
    pub(crate) shift: Dd,
    /// The variance of the tilted loss, or a bound on it.
    pub(crate) variance: f64,
    pub(crate) kind: TransformKind,
}

/// The transform of equal losses, tilted by t.
pub(crate) struct Transform {
    pub(crate) count: u64,
    pub(crate) shift: Dd,
    /// A bound on the variance of the tilted loss.
    pub(crate) variance: f64,
    pub(crate) kind: TransformKind,
}

/// The forms of transforms.
pub(crate) enum TransformKind {
    /// Masses at the shift and at `fall` below it.
    Two {
        stay: Dd,
        gone: Dd,
        fall: Dd,
    },
    Gaussian {
        square: Dd,
    },
    /// (1 + E)/2 + (1 - E)/(4 s), with E = e^(-2 s epsilon) and s = t + 1/2, relative to its value on the axis; without
    /// the first summand for a range.
    Ends {
        s: Dd,
        epsilon: Dd,
        decay: Dd,
        at_zero: Dd,
        atoms: bool,
    },
    /// A discrete Gaussian, by Poisson's formula: the sum over all whole k of e^(-slope (x + k)^2), turned by k tilts,
    /// where x is the frequency in turns of the ratio.
    Whole {
        ratio: Dd,
        slope: Dd,
        tilt: Dd,
    },
    /// Distances below the shift, with masses.
    Many(Vec<(Dd, Dd)>),
    Sampled(Box<SampledTransform>),
}

impl TiltedLaw {
    /// The transform of Laplace noise, with atoms, or of a range.
    pub(super) fn ends(epsilon: Dd, t: f64, atoms: bool) -> Self {
        let s = Dd::from(t) + Dd::from(0.5);
        let decay = exp_neg(epsilon * 2.0 * s);
        let at_zero = ends((s, Dd::ZERO), (decay, Dd::ZERO), atoms).0;
        let kind = TransformKind::Ends { s, epsilon, decay, at_zero, atoms };
        Self { shift: epsilon, variance: epsilon.hi * epsilon.hi, kind }
    }
}

impl Transform {
    /// Returns the transform of `count` losses; `None` for a law that has no moment generating function here.
    pub(crate) fn new(law: &dyn Law, count: u64, t: f64) -> Option<Self> {
        let TiltedLaw { shift, variance, kind } = law.tilted(t)?;
        // The variance was rounded a few times.
        Some(Self { count, shift, variance: variance * (1.0 + DOUBLES), kind })
    }

    /// Returns M(z)/M(t) e^(-iw shift), and a bound on its absolute error. An error of `enough` suffices, but the bound
    /// may be larger.
    pub(crate) fn value(&self, place: ContourPoint, enough: f64) -> Option<(Complex<Dd>, f64)> {
        // The factor by which rounding a whole turn of the largest distance increases an error.
        let turned = |loss: f64| 1.0 + loss.abs() * place.index as f64 / place.period;
        // The error of 1 - E is relative to 1 - E itself.
        let alone = |at_zero: Dd, s: Dd| FORMULA * (1.0 + 1.0 / (s.hi * at_zero.hi));
        match &self.kind {
            TransformKind::Two { stay, gone, fall } => {
                let (cosine, sine) = place.turn(-*fall);
                let error = FORMULA * turned(fall.hi);
                Some(((*stay + *gone * cosine, *gone * sine), error))
            }
            TransformKind::Gaussian { square } => {
                let w = place.frequency();
                let exponent = (*square * w * w).scaled(0.5);
                Some(((exp_neg(exponent), Dd::ZERO), FORMULA * (1.0 + exponent.hi.min(1e3))))
            }
            TransformKind::Ends { s, epsilon, decay, at_zero, atoms } => {
                let (cosine, sine) = place.turn(*epsilon * -2.0);
                let decay = (*decay * cosine, *decay * sine);
                let value = ends((*s, place.frequency()), decay, *atoms);
                let value = (value.0 / *at_zero, value.1 / *at_zero);
                let error = if *atoms { FORMULA } else { alone(*at_zero, *s) };
                Some((value, error * turned(2.0 * epsilon.hi)))
            }
            TransformKind::Whole { ratio, slope, tilt } => {
                let x = (*ratio * place.index as f64).scaled(1.0 / place.period);
                let near = (x.hi + 0.5).floor();
                let term = |k: f64| {
                    let v = x - Dd::from(k);
                    let weight = exp_neg(*slope * (v * v));
                    let (cosine, sine) = turns(*tilt * -k);
                    (weight * cosine, weight * sine)
                };
                let terms = [near - 1.0, near, near + 1.0].map(term);
                let sum = terms
                    .iter()
                    .fold((Dd::ZERO, Dd::ZERO), |sum, term| (sum.0 + term.0, sum.1 + term.1));
                // The rounding of the place among whole turns, in the exponent, and of the tilts' turns.
                let placed = STEP * x.hi * (4.0 * slope.hi + 16.0 * tilt.hi.abs());
                Some((sum, 4.0 * FORMULA + placed + FROM_INTEGRALS))
            }
            TransformKind::Many(list) => {
                let mut sum = (Dd::ZERO, Dd::ZERO);
                for &(fall, mass) in list {
                    let (cosine, sine) = place.turn(-fall);
                    sum = (sum.0 + mass * cosine, sum.1 + mass * sine);
                }
                let furthest = list.last().map_or(0.0, |(fall, _)| fall.hi);
                // The weights' exponents are rounded too, and the least weights are left out.
                let error = STEP * (UNCOUNTED + list.len() as f64) * turned(furthest);
                Some((sum, error + WEIGHTS + LEFT_OUT))
            }
            TransformKind::Sampled(sampled) => sampled.value(place, enough),
        }
    }

    /// Bounds |M(t + iw)|/M(t) for every w from a frequency on.
    pub(crate) fn envelope(&self, frequency: f64) -> f64 {
        let bound = match &self.kind {
            TransformKind::Two { .. } | TransformKind::Whole { .. } | TransformKind::Many(_) => 1.0,
            TransformKind::Gaussian { square } => {
                let exponent = 0.5 * square.hi * frequency * frequency * (1.0 - ENVELOPE);
                exp(-exponent.min(700.0)) * (1.0 + ENVELOPE)
            }
            TransformKind::Ends { s, decay, at_zero, atoms, .. } => {
                let far = 1.0 / (s.hi * s.hi + frequency * frequency).sqrt();
                let sum = (1.0 + decay.hi) * (0.25 * far + if *atoms { 0.5 } else { 0.0 });
                sum / at_zero.hi * (1.0 + ENVELOPE)
            }
            TransformKind::Sampled(sampled) => sampled.envelope(frequency),
        };
        bound.min(1.0)
    }

    /// True if the envelope is close to the modulus, so that no other bound is needed.
    pub(crate) fn is_enveloped(&self) -> bool {
        !matches!(
            self.kind,
            TransformKind::Whole { .. } | TransformKind::Many(_) | TransformKind::Sampled(_)
        )
    }

    /// Estimates the cost of one evaluation at a frequency, in turns.
    pub(crate) fn work(&self, frequency: f64) -> f64 {
        match &self.kind {
            TransformKind::Whole { .. } => 4.0,
            TransformKind::Many(list) => list.len() as f64,
            TransformKind::Sampled(sampled) => 0.2 * sampled.work(frequency),
            _ => 1.0,
        }
    }

    /// Bounds |M(t + iw)|/M(t) within `reach` of a place: with g = (1 - |phi|^2)/2, sqrt(g) is the norm of a sine and
    /// changes by at most sqrt(variance/2) for each unit of w.
    pub(crate) fn nearby(&self, place: ContourPoint, reach: f64) -> f64 {
        // Errors are multiplied by the count.
        let enough = (1e-2 / self.count as f64).min(1e-5);
        if let TransformKind::Sampled(sampled) = &self.kind {
            return sampled.nearby(place, reach, enough);
        }
        if let TransformKind::Whole { ratio, slope, .. } = &self.kind {
            let x = (*ratio * place.index as f64).scaled(1.0 / place.period);
            let away = (x - Dd::from((x.hi + 0.5).floor())).hi.abs();
            let reach = ratio.hi * reach / std::f64::consts::TAU;
            return nearest(slope.hi, away - reach * (1.0 + DOUBLES) - x.hi * DOUBLES).min(1.0);
        }
        let Some((value, error)) = self.value(place, enough) else { return 1.0 };
        let size = (value.0 * value.0 + value.1 * value.1).hi;
        let g = 0.5 * (1.0 - size - SQUARED * error - SQUARE);
        let root = g.max(0.0).sqrt() - (0.5 * self.variance).sqrt() * reach;
        let root = root.max(0.0) * (1.0 - DOUBLES);
        (1.0 - 2.0 * root * root).max(0.0).sqrt() + ROOT
    }
}

/// Returns (1 + E)/2 + (1 - E)/(4 s), or the second summand alone. On the axis near zero the second summand cancels for
/// small losses. Relative to the whole this is harmless, and alone the summand is small only together with its divisor.
fn ends(s: Complex<Dd>, decay: Complex<Dd>, atoms: bool) -> Complex<Dd> {
    let gap = (Dd::ONE - decay.0, -decay.1);
    let (re, im) = over(gap, s);
    let (re, im) = (re.scaled(0.25), im.scaled(0.25));
    if atoms { (re + (Dd::ONE + decay.0).scaled(0.5), im + decay.1.scaled(0.5)) } else { (re, im) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{Atoms, Loss};
    use crate::loss;
    use crate::mechanism::{Mechanism, Release};
    use crate::quantity::{Count, GroupSize, NoiseScale, WholeSensitivity};

    /// Returns the law of discrete Gaussian noise, with its formula.
    fn formula(sigma: f64, steps: u64) -> Loss {
        let (sigma, sensitivity) =
            (NoiseScale::new(sigma).unwrap(), WholeSensitivity::new(steps).unwrap());
        let mechanism = Mechanism::DiscreteGaussian { sigma, sensitivity };
        let release = Release::from((mechanism, Count::ONE));
        let pair_loss =
            loss::release_loss(&release, loss::Direction::Remove, None, GroupSize::ONE).unwrap();
        pair_loss.loss.unwrap()
    }

    /// Compares with the sum over outcomes, on and off the axis: in the first zone and in later ones, at resonances and
    /// half-way between them.
    #[test]
    fn discrete_gaussians_are_the_sums_of_their_lists() {
        for (sigma, steps) in [(2.0, 1), (2.0, 3), (3.7, 2), (11.25, 1), (40.0, 7)] {
            let whole = formula(sigma, steps);
            let Loss::Atoms(atoms) = &whole else { panic!("no list") };
            assert!(atoms.list.whole().is_some());
            let listed = Loss::from(Atoms { list: atoms.list.to_vec().into(), ..**atoms });
            // Further out the list lacks outcomes that the formula includes.
            let near = |t: &f64| t * steps as f64 / sigma < 15.0;
            for t in [1e-3, 0.2, 3.0, 17.31].into_iter().filter(near) {
                let [one, other] =
                    [&whole, &listed].map(|each| Transform::new(each.law(), 1, t).unwrap());
                assert!(
                    matches!(one.kind, TransformKind::Whole { .. })
                        && matches!(other.kind, TransformKind::Many(_))
                );
                let turn = 2.0 * std::f64::consts::PI * sigma * sigma / steps as f64;
                let period = 8.0;
                for share in
                    [0.0, 0.01, 0.1, 0.3, 0.499, 0.5, 0.6, 0.97, 1.0, 1.02, 2.5, 7.0, 40.04]
                {
                    let index = (share * turn * period / std::f64::consts::TAU).round() as u64;
                    let place = ContourPoint { index, period };
                    let (value, error) = one.value(place, 0.0).unwrap();
                    let (wanted, slack) = other.value(place, 0.0).unwrap();
                    // The two transforms have different shifts.
                    let (cosine, sine) = place.turn(other.shift - one.shift);
                    let wanted = counterpoint_numerics::complex::times(wanted, (cosine, sine));
                    let off = (value.0 - wanted.0).abs().hi + (value.1 - wanted.1).abs().hi;
                    let what = format!("{sigma} {steps} {t} {share}: {value:?} {wanted:?}");
                    assert!(off <= 2.0 * (error + slack), "{what}: off by {off:e}");
                    assert!(error < 1e-18 && slack < 1e-18, "{what}: {error:e} {slack:e}");
                    let size = (value.0 * value.0 + value.1 * value.1).sqrt().hi;
                    for reach in [0.0, 0.3, 2.0] {
                        assert!(size <= one.nearby(place, reach) + 1e-15, "{what}");
                    }
                }
                let [(k, error), (listed, slack)] =
                    [&whole, &listed].map(|each| crate::laws::cumulant(each.law(), t).unwrap());
                let off = (k - listed).hi.abs();
                assert!(off <= error + slack, "{sigma} {steps} {t}: {off:e} {error:e} {slack:e}");
            }
        }
    }
}
