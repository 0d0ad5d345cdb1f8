//! K(t) = ln E[e^(t L)] of one loss, with its error.
//!
//! Where t times the loss is small or moderate, E[e^(t L)] - 1 is computed as a sum of
//! positive terms, so that a tiny cumulant is still relatively accurate. Where it is
//! large, e^(t L) is taken out first, so that nothing overflows.

pub(super) mod doubles;
mod mixture;
mod moments;
mod sampled;

pub(crate) use moments::moments;

use crate::loss::{Atoms, Loss, WholeGaussian};
use counterpoint_numerics::{Dd, STEP, Wide, falling};
use crate::route::{LOOSE, ROUNDED_UP};

/// The t for which cumulants are computed.
pub(crate) const LEAST: f64 = 1e-15;
pub(crate) const MOST: f64 = 1e9;

/// From here on e^-x is negligible beside a cumulant of about x.
const LARGE: f64 = 300.0;

/// The relative error of the closed forms.
///
/// Each is fewer than thirty operations on positive numbers (the series for a range has
/// more, at 2^-102 each), and ln(1 + m) is no more sensitive than m. The parameter's own
/// error of 2^-94 and that of its product with t count up to fourfold: with s = t + 1/2 the
/// cumulants are f(s eps) - f(eps/2), where f' is concave and vanishes at 0 for `Response`
/// and `Range`, which makes their elasticity at most 2; for `Laplace` it is at most 4.
const RELATIVE: f64 = 64.0 * STEP;

/// K(t) and a bound on its absolute error, for t from 1e-15 to 1e9; `None` where it cannot
/// be had at a reasonable cost.
///
/// What was cut off the ends of a list of atoms is not in it: see [`cut`].
pub(crate) fn cumulant(loss: &Loss, t: f64) -> Option<(Dd, f64)> {
    if !(LEAST..=MOST).contains(&t) {
        return None;
    }
    let exact = |value: Dd| Some((value, RELATIVE * value.hi.abs()));
    match loss {
        Loss::Response { epsilon } => exact(response(*epsilon, t)),
        Loss::Gaussian { square } => exact((*square * (Dd::product(t, t) + t.into())).scaled(0.5)),
        Loss::Laplace { epsilon } => exact(laplace(*epsilon, t)),
        Loss::Range { epsilon } => exact(range(*epsilon, t)),
        Loss::Atoms(list) => match list.list.whole() {
            Some(whole) => Some(whole_gaussian(whole, t)),
            None => atoms(list, t),
        },
        Loss::SampledGaussian { rate, mu, direction } => {
            sampled::gaussian(*rate, *mu, *direction, t)
        }
        Loss::SampledLaplace { rate, epsilon, direction } => {
            sampled::laplace(*rate, *epsilon, *direction, t)
        }
        Loss::SampledRange { rate, epsilon, direction } => {
            sampled::range(*rate, *epsilon, *direction, t)
        }
        Loss::Mixture(list) => mixture::mixture(list, t),
        // Its density has a jump, and no rule here is for that.
        Loss::Subset { .. } => None,
    }
}

/// The P mass that a cumulant knows nothing of.
pub(crate) fn cut(loss: &Loss) -> f64 {
    match loss {
        Loss::Atoms(atoms) => atoms.cut,
        _ => 0.0,
    }
}

/// That of a Gaussian, as sums over whole numbers are integrals but for a tiny factor.
fn whole_gaussian(whole: WholeGaussian, t: f64) -> (Dd, f64) {
    let value = (whole.square() * (Dd::product(t, t) + t.into())).scaled(0.5);
    (value, RELATIVE * value.hi.abs() + WholeGaussian::FROM_INTEGRALS)
}

/// cosh(t eps) - 1 + tanh(eps/2) sinh(t eps), plus one, is the expectation.
fn response(epsilon: Dd, t: f64) -> Dd {
    let x = epsilon * t;
    if x.hi > LARGE {
        return x - falling(epsilon).ln_1p();
    }
    let rise = x.expm1();
    let square = rise * rise;
    let fall = (-epsilon).expm1();
    let tanh = -fall / (Dd::from(2.0) + fall);
    let twice = square + tanh * (square + rise.scaled(2.0));
    (twice / (rise + Dd::ONE).scaled(2.0)).ln_1p()
}

/// `((1+t) e^(t eps) + t e^(-(1+t) eps)) / (1+2t)`; the exponentials' linear terms cancel.
fn laplace(epsilon: Dd, t: f64) -> Dd {
    let x = epsilon * t;
    let order = Dd::sum(1.0, t);
    if x.hi > LARGE {
        return x - (Dd::from(t) / order).ln_1p();
    }
    let sum = order * above_line(x) + above_line(-(x + epsilon)) * t;
    (sum / (order + t.into())).ln_1p()
}

/// e^x - 1 - x for x below 600: relative error at most 8 STEP.
fn above_line(x: Dd) -> Dd {
    if x.hi.abs() > 0.5 {
        return x.expm1() - x;
    }
    let mut term = (x * x).scaled(0.5);
    let mut sum = term;
    for n in 3..40_u32 {
        term = term * x / f64::from(n);
        sum = sum + term;
        if term.hi.abs() <= sum.hi * 1e-34 {
            break;
        }
    }
    sum
}

/// With x = (t + 1/2) eps and y = eps/2: (sinh x / x) / (sinh y / y).
fn range(epsilon: Dd, t: f64) -> Dd {
    let y = epsilon.scaled(0.5);
    let x = y + epsilon * t;
    if x.hi > 40.0 {
        // The quotient of 1 - e^(-2x) and 1 - e^(-2y), less one.
        let rest = falling(epsilon) * (-(epsilon * t).scaled(2.0)).expm1() / (-epsilon).expm1();
        return epsilon * t - Dd::product(2.0, t).ln_1p() + rest.ln_1p();
    }
    // sinh x / x - sinh y / y, term by term: x^2 - y^2 is t (1+t) eps^2.
    let squares = epsilon * epsilon * (Dd::product(t, t) + t.into());
    let (xx, yy) = (x * x, y * y);
    let (mut power, mut difference) = (Dd::ONE, Dd::ZERO);
    let (mut powers, mut differences) = (Dd::ONE, Dd::ZERO);
    for n in 1..200_u32 {
        let n = f64::from(n);
        let divisor = 2.0 * n * (2.0 * n + 1.0);
        difference = (difference * xx + power * squares) / divisor;
        power = power * yy / divisor;
        differences = differences + difference;
        powers = powers + power;
        if n > x.hi + 1.0 && difference.hi <= differences.hi * 1e-34 {
            break;
        }
    }
    (differences / powers).ln_1p()
}

/// Losses and masses carry 2^-90 each; the masses sum to one but for `cut`.
const ATOM_ERROR: f64 = 16.0 * STEP;
/// A mass, and e^x - 1 or e^x to 2^-95, with their product: twice is enough where the term is near zero, four
/// times where it is near one.
const SMALL_TERM: f64 = 2.0 * ATOM_ERROR;
const TERM: f64 = 4.0 * ATOM_ERROR;
/// An addition of positive numbers: 2^-102.
const ADDED: f64 = 0.01 * STEP;
/// |ln(a + e) - ln a| is at most e/(a - e); rounded up.
const LOGARITHM: f64 = 1.1;
/// The logarithm of a sum whose largest term is a mass above 10^-250, which is at least -576.
const LEAST_LOGARITHM: f64 = 1000.0;

fn atoms(atoms: &Atoms, t: f64) -> Option<(Dd, f64)> {
    let largest = atoms.list.first()?.loss;
    if largest.hi * t > LARGE { Some(scaled(atoms, largest, t)) } else { Some(rising(atoms, t)) }
}

/// ln(1 + sum of mass (e^(t loss) - 1)).
fn rising(atoms: &Atoms, t: f64) -> (Dd, f64) {
    let (mut sum, mut error) = (Dd::ZERO, atoms.cut);
    for atom in atoms.list.iter() {
        let x = atom.loss * t;
        let rise = x.expm1();
        sum = sum + atom.mass * rise;
        let argument = ATOM_ERROR * t * atom.loss.hi.abs().max(1.0);
        let rising = (rise.hi + 1.0) * argument + SMALL_TERM * rise.hi.abs();
        // The partial sum's own rounding is relative to what has been added so far.
        error += atom.mass.hi * rising + STEP * sum.hi.abs();
    }
    let error = ROUNDED_UP * error;
    let value = sum.ln_1p();
    // Where the error is not small beside 1 + sum, it says so itself.
    (value, LOGARITHM * error / (1.0 + sum.hi - error).max(1e-300) + RELATIVE * value.hi.abs())
}

/// t times the largest loss, plus ln of the sum of mass e^(t (loss - largest)).
fn scaled(atoms: &Atoms, largest: Dd, t: f64) -> (Dd, f64) {
    // Beyond this e^-x is nothing beside the least mass that is kept.
    const NOTHING: f64 = 1e5;
    let argument = ATOM_ERROR * t;
    let (mut sum, mut error) = (Wide::ZERO, Wide::ZERO);
    for atom in atoms.list.iter() {
        let x = (atom.loss - largest) * t;
        if x.hi < -NOTHING {
            continue;
        }
        let term = Wide::from(atom.mass) * Wide::exp(x);
        let relative = argument * atom.loss.hi.abs().max(1.0) + TERM;
        sum = sum + term;
        error = error + term * Wide::from(relative) + sum * Wide::from(ADDED);
    }
    let value = largest * t + sum.ln();
    let relative = (error * sum.recip()).upper(LOOSE);
    let shift = argument * largest.hi.abs().max(1.0);
    let sizes = largest.hi * t + value.hi.abs() + LEAST_LOGARITHM;
    (value, LOGARITHM * (relative + shift) + RELATIVE * sizes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{self, Atom, Direction};
    use crate::mechanism::{Mechanism, Release};
    use crate::quantity::{Count, Group, Noise, Steps};
    use std::sync::Arc;

    const EPSILONS: [f64; 9] = [1e-9, 1e-5, 0.001, 0.1, 0.5, 1.0, 2.0, 5.0, 40.0];
    const TS: [f64; 9] = [1e-6, 0.01, 0.5, 1.0, 2.5, 7.0, 30.0, 1e3, 1e6];

    /// Against the textbook formula for the expectation, as a difference of exponentials
    /// that cancel: its own error is some 2^-90.
    fn hold(what: &str, found: Option<(Dd, f64)>, expectation: Wide) {
        let (value, error) = found.expect(what);
        let exact = expectation.ln();
        let off = (value - exact).hi.abs();
        let own = 1e-27 * (1.0 + exact.hi.abs());
        assert!(off <= error + own, "{what}: {value:?} not {exact:?}, said {error:e}");
        assert!(error <= 1e-24 * value.hi, "{what}: {error:e}");
    }

    fn each(check: impl Fn(f64, f64, &str)) {
        for epsilon in EPSILONS {
            for t in TS {
                check(epsilon, t, &format!("eps {epsilon} t {t}"));
            }
        }
    }

    #[test]
    fn responses() {
        each(|epsilon, t, what| {
            let e = Dd::from(epsilon);
            let above = Wide::exp(e * t + e) + Wide::exp(-(e * t));
            let below = Wide::ONE + Wide::exp(e);
            hold(what, cumulant(&Loss::Response { epsilon: e }, t), above * below.recip());
        });
    }

    #[test]
    fn laplaces() {
        each(|epsilon, t, what| {
            let e = Dd::from(epsilon);
            let order = Dd::sum(1.0, t);
            let above =
                Wide::from(order) * Wide::exp(e * t) + Wide::from(t) * Wide::exp(-(e * order));
            let below = Wide::from(order + t.into());
            hold(what, cumulant(&Loss::Laplace { epsilon: e }, t), above * below.recip());
        });
    }

    #[test]
    fn ranges() {
        each(|epsilon, t, what| {
            let e = Dd::from(epsilon);
            let s = Dd::sum(t, 0.5);
            if epsilon < 0.01 {
                // The limit of small eta: a mean square of eta^2/3.
                let (value, error) = cumulant(&Loss::Range { epsilon: e }, t).expect(what);
                assert!(error <= 1e-24 * value.hi, "{what}");
                let limit = epsilon * epsilon * t * (1.0 + t) / 6.0;
                assert!(value.hi <= limit * (1.0 + 1e-15), "{what}");
                assert!(t * epsilon > 1e-3 || value.hi > limit * (1.0 - 1e-5), "{what}");
                return;
            }
            let above = Wide::exp(e * s) - Wide::exp(-(e * s));
            let y = e.scaled(0.5);
            let below = (Wide::exp(y) - Wide::exp(-y)) * Wide::from(s.scaled(2.0));
            hold(what, cumulant(&Loss::Range { epsilon: e }, t), above * below.recip());
        });
    }

    #[test]
    fn small_losses_stay_relatively_accurate() {
        // To leading order t (1+t)/2 times the mean square of the loss.
        for epsilon in [1e-9_f64, 1e-30, 1e-100] {
            for t in [0.01, 1.0, 63.0] {
                let e = Dd::from(epsilon);
                let leading = |square: f64| 0.5 * square * t * (1.0 + t) * epsilon * epsilon;
                let cases = [
                    (Loss::Response { epsilon: e }, 1.0),
                    // Atoms of 1/2 each.
                    (Loss::Laplace { epsilon: e }, 1.0),
                    (Loss::Range { epsilon: e }, 1.0 / 3.0),
                ];
                for (loss, square) in cases {
                    let (value, error) = cumulant(&loss, t).unwrap();
                    let ratio = value.hi / leading(square);
                    assert!((ratio - 1.0).abs() < 1e-6, "{loss:?} {t}: {ratio}");
                    assert!(error < 1e-24 * value.hi);
                }
            }
        }
    }

    #[test]
    fn the_largest_of_all() {
        let epsilon = Dd::from(1e6);
        for loss in [Loss::Response { epsilon }, Loss::Laplace { epsilon }, Loss::Range { epsilon }]
        {
            let (value, error) = cumulant(&loss, 1e9).unwrap();
            assert!((value.hi / 1e15 - 1.0).abs() < 1e-13 && error < 1e-10, "{value:?}");
        }
        assert!(cumulant(&Loss::Response { epsilon }, 2e9).is_none());
        assert!(cumulant(&Loss::Response { epsilon }, f64::NAN).is_none());
    }

    #[test]
    fn a_gaussian() {
        let (value, _) = cumulant(&Loss::Gaussian { square: Dd::from(0.25) }, 3.0).unwrap();
        assert!((value.hi - 0.125 * 12.0).abs() < 1e-15);
    }

    #[test]
    fn responses_as_atoms() {
        each(|epsilon, t, what| {
            let e = Dd::from(epsilon);
            let low = (-e).exp() / (Dd::ONE + (-e).exp());
            let list = vec![
                Atom { loss: e, mass: Dd::ONE / (Dd::ONE + (-e).exp()) },
                Atom { loss: -e, mass: low },
            ];
            let atoms = Loss::Atoms(Arc::new(Atoms {
                list: list.into(),
                cut: 0.0,
                capped: false,
                symmetric: true,
                rho: None,
            }));
            let (value, error) = cumulant(&atoms, t).expect(what);
            let (exact, slack) = cumulant(&Loss::Response { epsilon: e }, t).expect(what);
            let off = (value - exact).hi.abs();
            assert!(off <= error + slack, "{what}: off by {off:e}, said {error:e}");
            assert!(epsilon < 1e-4 || error < 1e-15 * value.hi, "{what}: {error:e}");
        });
    }

    /// At whole orders the shifted lattice is the lattice, and the divergence is exactly
    /// the continuous one.
    #[test]
    fn the_discrete_gaussian_at_whole_orders() {
        let mechanism = Mechanism::DiscreteGaussian {
            sigma: Noise::new(3.0).unwrap(),
            sensitivity: Steps::new(2).unwrap(),
        };
        let release = Release::from((mechanism, Count::new(1).unwrap()));
        let meaning = loss::of(&release, Direction::Remove, None, Group::ONE).unwrap();
        let loss = meaning.loss.unwrap();
        for order in [2.0, 3.0, 10.0, 31.0] {
            let (value, error) = cumulant(&loss, order - 1.0).unwrap();
            let exact = Dd::from(order * (order - 1.0) * 4.0) / 18.0;
            let off = (value - exact).hi.abs();
            assert!(off <= error && error < 1e-22, "{order}: {off:e} {error:e}");
        }
        assert!(cut(&loss) > 0.0);
    }
}
