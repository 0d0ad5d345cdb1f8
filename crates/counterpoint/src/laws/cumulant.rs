//! K(t) = ln E[e^(t L)] of one loss, with its error.
//!
//! Where t times the loss is small or moderate, E[e^(t L)] - 1 is computed as a sum of positive terms, so that a tiny
//! cumulant is still relatively accurate. Where it is large, e^(t L) is factored out first, so that nothing overflows.

use super::Law;
use counterpoint_numerics::Dd;

/// The range of t for which cumulants are computed.
pub(crate) const LEAST: f64 = 1e-15;
pub(crate) const MOST: f64 = 1e9;

/// Returns K(t) and a bound on its absolute error; `None` outside of [`LEAST`] to [`MOST`], and where the cost would be
/// unreasonable.
pub(crate) fn cumulant(law: &dyn Law, t: f64) -> Option<(Dd, f64)> {
    if (LEAST..=MOST).contains(&t) { law.cumulant(t) } else { None }
}

/// Returns K(t) with its error, in plain doubles where these suffice.
pub(crate) fn quick_cumulant(law: &dyn Law, t: f64) -> Option<(Dd, f64)> {
    let sound = |(value, error): &(Dd, f64)| value.hi.is_finite() && error.is_finite();
    law.cumulant_in_doubles(t).filter(sound).or_else(|| cumulant(law, t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::{Atom, Atoms, Direction, Gaussian, Laplace, Law, Range, Response};
    use crate::loss;
    use crate::mechanism::{Mechanism, Release};
    use crate::quantity::{Count, GroupSize, NoiseScale, WholeSensitivity};
    use counterpoint_numerics::Wide;

    const EPSILONS: [f64; 9] = [1e-9, 1e-5, 0.001, 0.1, 0.5, 1.0, 2.0, 5.0, 40.0];
    const TS: [f64; 9] = [1e-6, 0.01, 0.5, 1.0, 2.5, 7.0, 30.0, 1e3, 1e6];

    /// Compares with the textbook formula for the expectation, a difference of exponentials that cancel: its own error
    /// is some 2^-90.
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
            hold(what, cumulant(&Response { epsilon: e }, t), above * below.recip());
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
            hold(what, cumulant(&Laplace { epsilon: e }, t), above * below.recip());
        });
    }

    #[test]
    fn ranges() {
        each(|epsilon, t, what| {
            let e = Dd::from(epsilon);
            let s = Dd::sum(t, 0.5);
            if epsilon < 0.01 {
                // The limit of small eta: a mean square of eta^2/3.
                let (value, error) = cumulant(&Range { epsilon: e }, t).expect(what);
                assert!(error <= 1e-24 * value.hi, "{what}");
                let limit = epsilon * epsilon * t * (1.0 + t) / 6.0;
                assert!(value.hi <= limit * (1.0 + 1e-15), "{what}");
                assert!(t * epsilon > 1e-3 || value.hi > limit * (1.0 - 1e-5), "{what}");
                return;
            }
            let above = Wide::exp(e * s) - Wide::exp(-(e * s));
            let y = e.scaled(0.5);
            let below = (Wide::exp(y) - Wide::exp(-y)) * Wide::from(s.scaled(2.0));
            hold(what, cumulant(&Range { epsilon: e }, t), above * below.recip());
        });
    }

    #[test]
    fn small_losses_stay_relatively_accurate() {
        // To leading order t (1+t)/2 times the mean square of the loss.
        for epsilon in [1e-9_f64, 1e-30, 1e-100] {
            for t in [0.01, 1.0, 63.0] {
                let e = Dd::from(epsilon);
                let leading = |square: f64| 0.5 * square * t * (1.0 + t) * epsilon * epsilon;
                let cases: [(&dyn Law, f64); 3] = [
                    (&Response { epsilon: e }, 1.0),
                    // Atoms of 1/2 each.
                    (&Laplace { epsilon: e }, 1.0),
                    (&Range { epsilon: e }, 1.0 / 3.0),
                ];
                for (loss, square) in cases {
                    let (value, error) = cumulant(loss, t).unwrap();
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
        let laws: [&dyn Law; 3] = [&Response { epsilon }, &Laplace { epsilon }, &Range { epsilon }];
        for law in laws {
            let (value, error) = cumulant(law, 1e9).unwrap();
            assert!((value.hi / 1e15 - 1.0).abs() < 1e-13 && error < 1e-10, "{value:?}");
        }
        assert!(cumulant(&Response { epsilon }, 2e9).is_none());
        assert!(cumulant(&Response { epsilon }, f64::NAN).is_none());
    }

    #[test]
    fn a_gaussian() {
        let (value, _) = cumulant(&Gaussian { square: Dd::from(0.25) }, 3.0).unwrap();
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
            let atoms =
                Atoms { list: list.into(), cut: 0.0, capped: false, symmetric: true, rho: None };
            let (value, error) = cumulant(&atoms, t).expect(what);
            let (exact, slack) = cumulant(&Response { epsilon: e }, t).expect(what);
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
            sigma: NoiseScale::new(3.0).unwrap(),
            sensitivity: WholeSensitivity::new(2).unwrap(),
        };
        let release = Release::from((mechanism, Count::new(1).unwrap()));
        let pair_loss =
            loss::release_loss(&release, Direction::Remove, None, GroupSize::ONE).unwrap();
        let loss = pair_loss.loss.unwrap();
        for order in [2.0, 3.0, 10.0, 31.0] {
            let (value, error) = cumulant(loss.law(), order - 1.0).unwrap();
            let exact = Dd::from(order * (order - 1.0) * 4.0) / 18.0;
            let off = (value - exact).hi.abs();
            assert!(off <= error && error < 1e-22, "{order}: {off:e} {error:e}");
        }
        assert!(loss.law().omitted_mass().mass > 0.0);
    }
}
