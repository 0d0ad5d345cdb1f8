//! Moment generating functions off the real axis: M(t + iw) / M(t) for each loss.

pub(crate) mod place;
mod sampled;

pub(crate) use sampled::angle;
pub(super) use sampled::{Sampled, quick};

use super::Law;
use crate::ends::{DOUBLES, LEFT_OUT, UNCOUNTED};
use counterpoint_numerics::complex::Complex;
use counterpoint_numerics::{Dd, STEP, UNIT, exp, falling, turns};
use place::{Place, nearest, over};

// What the certificates here allow for, each rounded up generously.

/// A value in double-doubles: fewer than thirty operations at 2^-94 each.
const FORMULA: f64 = 64.0 * STEP;
/// At most four times e^(-2 pi^2 sigma^2) for a sigma of two or more: by how much sums over whole numbers differ from integrals
/// (Poisson's formula). Less than any double-double is good to.
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

/// A law tilted by t.
pub(crate) struct Tilted {
    /// M(z)/M(t) is e^(iw shift) times what [`Transform::value`] gives.
    pub(crate) shift: Dd,
    /// The variance of the tilted loss, or a bound on it.
    pub(crate) variance: f64,
    pub(crate) kind: Kind,
}

/// Equal losses, tilted by t.
pub(crate) struct Transform {
    pub(crate) count: u64,
    pub(crate) shift: Dd,
    /// At least the variance of the tilted loss.
    pub(crate) variance: f64,
    pub(crate) kind: Kind,
}

/// The shapes that transforms have.
pub(crate) enum Kind {
    /// Masses at the shift and `fall` below it.
    Two {
        stay: Dd,
        gone: Dd,
        fall: Dd,
    },
    Gaussian {
        square: Dd,
    },
    /// (1 + E)/2 + (1 - E)/(4 s), E = e^(-2 s epsilon), s = t + 1/2, relative to its value
    /// on the axis; without the first summand for a range.
    Ends {
        s: Dd,
        epsilon: Dd,
        decay: Dd,
        at_zero: Dd,
        atoms: bool,
    },
    /// A discrete Gaussian, by Poisson's formula: e^(-slope (x + k)^2) turned by k tilts, over all whole k, where x is
    /// so many turns of the ratio.
    Whole {
        ratio: Dd,
        slope: Dd,
        tilt: Dd,
    },
    /// Distances below the shift, with masses.
    Many(Vec<(Dd, Dd)>),
    Sampled(Box<Sampled>),
}

impl Tilted {
    /// Laplace noise, whose atoms count, or a range.
    pub(super) fn ends(epsilon: Dd, t: f64, atoms: bool) -> Self {
        let s = Dd::from(t) + Dd::from(0.5);
        let decay = falling(epsilon * 2.0 * s);
        let at_zero = ends((s, Dd::ZERO), (decay, Dd::ZERO), atoms).0;
        let kind = Kind::Ends { s, epsilon, decay, at_zero, atoms };
        Self { shift: epsilon, variance: epsilon.hi * epsilon.hi, kind }
    }
}

impl Transform {
    /// None for a law that has no moment generating function here.
    pub(crate) fn new(law: &dyn Law, count: u64, t: f64) -> Option<Self> {
        let Tilted { shift, variance, kind } = law.tilted(t)?;
        // The variances were rounded a few times for each loss.
        Some(Self { count, shift, variance: variance * (1.0 + DOUBLES), kind })
    }

    /// M(z)/M(t) e^(-iw shift), and a bound on its absolute error, which need not be below
    /// what is said to be enough.
    pub(crate) fn value(&self, place: Place, enough: f64) -> Option<(Complex<Dd>, f64)> {
        // Relative to what a whole turn of the largest distance is rounded by.
        let turned = |loss: f64| 1.0 + loss.abs() * place.index as f64 / place.period;
        // 1 - E is only good relative to itself.
        let alone = |at_zero: Dd, s: Dd| FORMULA * (1.0 + 1.0 / (s.hi * at_zero.hi));
        match &self.kind {
            Kind::Two { stay, gone, fall } => {
                let (cosine, sine) = place.turn(-*fall);
                let error = FORMULA * turned(fall.hi);
                Some(((*stay + *gone * cosine, *gone * sine), error))
            }
            Kind::Gaussian { square } => {
                let w = place.frequency();
                let exponent = (*square * w * w).scaled(0.5);
                Some(((falling(exponent), Dd::ZERO), FORMULA * (1.0 + exponent.hi.min(1e3))))
            }
            Kind::Ends { s, epsilon, decay, at_zero, atoms } => {
                let (cosine, sine) = place.turn(*epsilon * -2.0);
                let decay = (*decay * cosine, *decay * sine);
                let value = ends((*s, place.frequency()), decay, *atoms);
                let value = (value.0 / *at_zero, value.1 / *at_zero);
                let error = if *atoms { FORMULA } else { alone(*at_zero, *s) };
                Some((value, error * turned(2.0 * epsilon.hi)))
            }
            Kind::Whole { ratio, slope, tilt } => {
                let x = (*ratio * place.index as f64).scaled(1.0 / place.period);
                let near = (x.hi + 0.5).floor();
                let term = |k: f64| {
                    let v = x - Dd::from(k);
                    let weight = falling(*slope * (v * v));
                    let (cosine, sine) = turns(*tilt * -k);
                    (weight * cosine, weight * sine)
                };
                let terms = [near - 1.0, near, near + 1.0].map(term);
                let sum = terms
                    .iter()
                    .fold((Dd::ZERO, Dd::ZERO), |sum, term| (sum.0 + term.0, sum.1 + term.1));
                // The place among whole turns, in the exponent, and the tilts' turns.
                let placed = STEP * x.hi * (4.0 * slope.hi + 16.0 * tilt.hi.abs());
                Some((sum, 4.0 * FORMULA + placed + FROM_INTEGRALS))
            }
            Kind::Many(list) => {
                let mut sum = (Dd::ZERO, Dd::ZERO);
                for &(fall, mass) in list {
                    let (cosine, sine) = place.turn(-fall);
                    sum = (sum.0 + mass * cosine, sum.1 + mass * sine);
                }
                let furthest = list.last().map_or(0.0, |(fall, _)| fall.hi);
                // The weights' exponents are rounded too, and the least left out.
                let error = STEP * (UNCOUNTED + list.len() as f64) * turned(furthest);
                Some((sum, error + WEIGHTS + LEFT_OUT))
            }
            Kind::Sampled(sampled) => sampled.value(place, enough),
        }
    }

    /// A bound on |M(t + iw)|/M(t) for every w from a frequency on.
    pub(crate) fn envelope(&self, frequency: f64) -> f64 {
        let bound = match &self.kind {
            Kind::Two { .. } | Kind::Whole { .. } | Kind::Many(_) => 1.0,
            Kind::Gaussian { square } => {
                let exponent = 0.5 * square.hi * frequency * frequency * (1.0 - ENVELOPE);
                exp(-exponent.min(700.0)) * (1.0 + ENVELOPE)
            }
            Kind::Ends { s, decay, at_zero, atoms, .. } => {
                let far = 1.0 / (s.hi * s.hi + frequency * frequency).sqrt();
                let sum = (1.0 + decay.hi) * (0.25 * far + if *atoms { 0.5 } else { 0.0 });
                sum / at_zero.hi * (1.0 + ENVELOPE)
            }
            Kind::Sampled(sampled) => sampled.envelope(frequency),
        };
        bound.min(1.0)
    }

    /// Whether the envelope tells the whole story.
    pub(crate) fn is_enveloped(&self) -> bool {
        !matches!(self.kind, Kind::Whole { .. } | Kind::Many(_) | Kind::Sampled(_))
    }

    /// What one evaluation costs at a frequency, in turns.
    pub(crate) fn work(&self, frequency: f64) -> f64 {
        match &self.kind {
            Kind::Whole { .. } => 4.0,
            Kind::Many(list) => list.len() as f64,
            Kind::Sampled(sampled) => 0.2 * sampled.work(frequency),
            _ => 1.0,
        }
    }

    /// A bound on |M(t + iw)|/M(t) within `reach` of a place: with g = (1 - |phi|^2)/2,
    /// sqrt(g) is the norm of a sine and moves by at most sqrt(variance/2) a unit of w.
    pub(crate) fn nearby(&self, place: Place, reach: f64) -> f64 {
        // Errors are multiplied by the count.
        let enough = (1e-2 / self.count as f64).min(1e-5);
        if let Kind::Sampled(sampled) = &self.kind {
            return sampled.nearby(place, reach, enough);
        }
        if let Kind::Whole { ratio, slope, .. } = &self.kind {
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

/// (1 + E)/2 + (1 - E)/(4 s), or the second summand alone. On the axis near zero the second
/// cancels for small losses: relative to the whole it does no harm, and alone it is small
/// only together with what it is divided by.
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
    use crate::quantity::{Count, Group, Noise, Steps};

    /// Discrete Gaussian noise, by its formula.
    fn formula(sigma: f64, steps: u64) -> Loss {
        let (sigma, sensitivity) = (Noise::new(sigma).unwrap(), Steps::new(steps).unwrap());
        let mechanism = Mechanism::DiscreteGaussian { sigma, sensitivity };
        let release = Release::from((mechanism, Count::ONE));
        let meaning = loss::of(&release, loss::Direction::Remove, None, Group::ONE).unwrap();
        meaning.loss.unwrap()
    }

    /// Outcome by outcome instead, on and off the axis: in the first zone and in later ones, at resonances and
    /// half-way between them.
    #[test]
    fn discrete_gaussians_are_the_sums_of_their_lists() {
        for (sigma, steps) in [(2.0, 1), (2.0, 3), (3.7, 2), (11.25, 1), (40.0, 7)] {
            let whole = formula(sigma, steps);
            let Loss::Atoms(atoms) = &whole else { panic!("no list") };
            assert!(atoms.list.whole().is_some());
            let listed = Loss::from(Atoms { list: atoms.list.to_vec().into(), ..**atoms });
            // Further out the list misses what the formula has.
            let near = |t: &f64| t * steps as f64 / sigma < 15.0;
            for t in [1e-3, 0.2, 3.0, 17.31].into_iter().filter(near) {
                let [one, other] =
                    [&whole, &listed].map(|each| Transform::new(each.law(), 1, t).unwrap());
                assert!(
                    matches!(one.kind, Kind::Whole { .. }) && matches!(other.kind, Kind::Many(_))
                );
                let turn = 2.0 * std::f64::consts::PI * sigma * sigma / steps as f64;
                let period = 8.0;
                for share in
                    [0.0, 0.01, 0.1, 0.3, 0.499, 0.5, 0.6, 0.97, 1.0, 1.02, 2.5, 7.0, 40.04]
                {
                    let index = (share * turn * period / std::f64::consts::TAU).round() as u64;
                    let place = Place { index, period };
                    let (value, error) = one.value(place, 0.0).unwrap();
                    let (wanted, slack) = other.value(place, 0.0).unwrap();
                    // The two count their turns from different losses.
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
