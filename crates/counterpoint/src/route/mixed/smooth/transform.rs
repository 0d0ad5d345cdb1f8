//! Moment generating functions off the real axis: M(t + iw) / M(t) for each loss.

use super::place::{Complex, Place, over};
use super::sampled::Sampled;
use crate::composition::Part;
use crate::loss::Loss;
use crate::rounding::{Dd, STEP, UNIT, exp, falling};
use crate::route::{DOUBLES, LEFT_OUT, UNCOUNTED};

// What the certificates here allow for, each rounded up generously.

/// A value in double-doubles: fewer than thirty operations at 2^-94 each.
const FORMULA: f64 = 64.0 * STEP;
/// The weights of a list: exponents of at most 600 in double-doubles, each good to 2^-94.
const WEIGHTS: f64 = 1e-24;
/// An envelope in doubles: ten roundings, in exponents of at most 700.
const ENVELOPE: f64 = 1e-12;
/// |phi|^2 in doubles, and a square root: two roundings of numbers of at most one, fourfold.
const SQUARE: f64 = 8.0 * UNIT;
const ROOT: f64 = 4.0 * UNIT;
/// | |a|^2 - |b|^2 | is at most (|a| + |b|) e, and both are at most 1 + e.
const SQUARED: f64 = 3.0;

/// Equal losses, tilted by t.
pub(super) struct Transform {
    pub(super) count: u64,
    /// M(z)/M(t) is e^(iw shift) times what [`Transform::value`] gives.
    pub(super) shift: Dd,
    /// At least the variance of the tilted loss.
    pub(super) variance: f64,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
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
    /// Distances below the shift, with masses.
    Many(Vec<(Dd, Dd)>),
    Sampled(Box<Sampled>),
}

impl Transform {
    /// None for a loss that has no moment generating function here.
    pub(super) fn new(part: &Part, t: f64) -> Option<Self> {
        let half = Dd::from(0.5);
        let s = Dd::from(t) + half;
        let (shift, variance, kind) = match &part.each {
            Loss::Response { epsilon } => {
                let ratio = falling(*epsilon * 2.0 * s);
                let stay = Dd::ONE / (Dd::ONE + ratio);
                let gone = ratio * stay;
                let variance = 4.0 * epsilon.hi * epsilon.hi * stay.hi * gone.hi;
                (*epsilon, variance, Kind::Two { stay, gone, fall: epsilon.scaled(2.0) })
            }
            Loss::Gaussian { square } => {
                (*square * s, square.hi, Kind::Gaussian { square: *square })
            }
            Loss::Laplace { epsilon } | Loss::Range { epsilon } => {
                let atoms = matches!(part.each, Loss::Laplace { .. });
                let decay = falling(*epsilon * 2.0 * s);
                let at_zero = ends((s, Dd::ZERO), (decay, Dd::ZERO), atoms).0;
                let variance = epsilon.hi * epsilon.hi;
                let kind = Kind::Ends { s, epsilon: *epsilon, decay, at_zero, atoms };
                (*epsilon, variance, kind)
            }
            Loss::Atoms(atoms) => {
                let largest = atoms.list.first()?.loss;
                // By exponents: the heaviest may be far from the largest.
                let exponents: Vec<Dd> =
                    atoms.list.iter().map(|a| a.mass.ln() - (largest - a.loss) * t).collect();
                let heaviest = exponents.iter().fold(f64::NEG_INFINITY, |most, x| most.max(x.hi));
                let weigh = |x: Dd| falling(Dd::from(heaviest) - x);
                let list = atoms.list.iter().zip(&exponents);
                let mut list: Vec<(Dd, Dd)> =
                    list.map(|(a, x)| (largest - a.loss, weigh(*x))).collect();
                let total = list.iter().fold(Dd::ZERO, |sum, (_, mass)| sum + *mass);
                for (_, mass) in &mut list {
                    *mass = *mass / total;
                }
                let mean: f64 = list.iter().map(|(d, m)| d.hi * m.hi).sum();
                let variance: f64 =
                    list.iter().map(|(d, m)| (d.hi - mean) * (d.hi - mean) * m.hi).sum();
                (largest, variance, Kind::Many(list))
            }
            Loss::SampledGaussian { rate, mu, direction } => {
                let sampled = Sampled::new(*rate, *mu, *direction, t)?;
                (Dd::from(sampled.centre), sampled.variance, Kind::Sampled(Box::new(sampled)))
            }
            Loss::SampledLaplace { .. }
            | Loss::SampledRange { .. }
            | Loss::Mixture(_)
            | Loss::Subset { .. } => {
                return None;
            }
        };
        // The variances were rounded a few times for each loss.
        Some(Self { count: part.count, shift, variance: variance * (1.0 + DOUBLES), kind })
    }

    /// M(z)/M(t) e^(-iw shift), and a bound on its absolute error, which need not be below
    /// what is said to be enough.
    pub(super) fn value(&self, place: Place, enough: f64) -> Option<(Complex, f64)> {
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
    pub(super) fn envelope(&self, frequency: f64) -> f64 {
        let bound = match &self.kind {
            Kind::Two { .. } | Kind::Many(_) => 1.0,
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
    pub(super) fn is_enveloped(&self) -> bool {
        !matches!(self.kind, Kind::Many(_) | Kind::Sampled(_))
    }

    /// What one evaluation costs at a frequency, in turns.
    pub(super) fn work(&self, frequency: f64) -> f64 {
        match &self.kind {
            Kind::Many(list) => list.len() as f64,
            Kind::Sampled(sampled) => 0.2 * sampled.work(frequency),
            _ => 1.0,
        }
    }

    /// A bound on |M(t + iw)|/M(t) within `reach` of a place: with g = (1 - |phi|^2)/2,
    /// sqrt(g) is the norm of a sine and moves by at most sqrt(variance/2) a unit of w.
    pub(super) fn nearby(&self, place: Place, reach: f64) -> f64 {
        // Errors are multiplied by the count.
        let enough = (1e-2 / self.count as f64).min(1e-5);
        if let Kind::Sampled(sampled) = &self.kind {
            return sampled.nearby(place, reach, enough);
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
fn ends(s: Complex, decay: Complex, atoms: bool) -> Complex {
    let gap = (Dd::ONE - decay.0, -decay.1);
    let (re, im) = over(gap, s);
    let (re, im) = (re.scaled(0.25), im.scaled(0.25));
    if atoms { (re + (Dd::ONE + decay.0).scaled(0.5), im + decay.1.scaled(0.5)) } else { (re, im) }
}
