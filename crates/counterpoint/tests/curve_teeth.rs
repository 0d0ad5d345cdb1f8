//! Plans of which part has only Rényi curves, against the formulas written out: the best
//! order of all curves added up, and the best split between curves and losses.

use crate::common;

use common::Question;
use common::formulas::*;
use common::mechanisms::*;
use counterpoint::theorem::Theorem;
use counterpoint::{Answer, Delta, Epsilon, Options, Plan, Release};

/// Mechanisms with a loss distribution.
#[derive(Clone, Copy, Debug)]
enum Losses {
    /// Some Gaussians, by mu, sensitivity over sigma.
    Gaussian(f64, u64),
    /// Laplace noise, once.
    Laplace(f64),
}

impl Losses {
    fn release(self) -> Release {
        match self {
            Self::Gaussian(mu, count) => times(count, gaussian(1.0, mu)),
            Self::Laplace(e0) => times(1, laplace(1.0, e0)),
        }
    }

    fn divergence(self, a: f64) -> f64 {
        match self {
            Self::Gaussian(mu, count) => count as f64 * gaussian_divergence(mu, a),
            Self::Laplace(e0) => laplace_divergence(e0, a),
        }
    }

    fn epsilon(self, delta: f64) -> f64 {
        match self {
            Self::Gaussian(mu, count) => gaussian_epsilon(mu * (count as f64).sqrt(), delta),
            Self::Laplace(e0) => (e0 + 2.0 * (-delta).ln_1p()).max(0.0),
        }
    }

    fn delta(self, epsilon: f64) -> f64 {
        match self {
            Self::Gaussian(mu, count) => gaussian_delta(mu * (count as f64).sqrt(), epsilon),
            Self::Laplace(e0) => -(0.5 * (epsilon - e0).min(0.0)).exp_m1(),
        }
    }
}

/// Mechanisms without a loss distribution.
#[derive(Clone, Copy, Debug)]
enum Curve {
    Zcdp(f64, u64),
    /// One order, and the divergence there.
    Rdp(f64, f64),
}

impl Curve {
    fn release(self) -> Release {
        match self {
            Self::Zcdp(rho, count) => times(count, zcdp(rho)),
            Self::Rdp(order, value) => times(1, rdp(&[order], &[value])),
        }
    }

    /// Divergences rise with the order: below the one that is known they are no larger.
    fn divergence(self, a: f64) -> f64 {
        match self {
            Self::Zcdp(rho, count) => a * rho * count as f64,
            Self::Rdp(_, value) => value,
        }
    }

    fn last(self) -> f64 {
        match self {
            Self::Zcdp(..) => f64::INFINITY,
            Self::Rdp(order, _) => order,
        }
    }

    /// The square of the mu of a Gaussian that has no larger divergences.
    fn witness(self) -> f64 {
        match self {
            Self::Zcdp(rho, count) => 2.0 * rho * count as f64,
            Self::Rdp(order, value) => 2.0 * value / order,
        }
    }
}

const MIXES: [(Losses, Curve); 8] = [
    (Losses::Gaussian(1.0, 1), Curve::Zcdp(0.1, 2)),
    (Losses::Gaussian(1.0, 4), Curve::Zcdp(1e-7, 3)),
    (Losses::Gaussian(0.3, 5), Curve::Rdp(8.0, 0.05)),
    (Losses::Gaussian(1.5, 1), Curve::Rdp(64.0, 1e-4)),
    (Losses::Laplace(1.0), Curve::Zcdp(0.02, 1)),
    (Losses::Laplace(4.0), Curve::Zcdp(0.3, 5)),
    (Losses::Laplace(0.5), Curve::Rdp(3.0, 0.2)),
    (Losses::Laplace(3.0), Curve::Rdp(200.0, 0.1)),
];

fn mixed((losses, curve): (Losses, Curve)) -> Plan {
    plan(&[losses.release(), curve.release()])
}

/// Shares from e^-16 to 1 - e^-16, by their odds.
fn best_share(cost: impl Fn(f64) -> f64) -> f64 {
    least(-16.0, 16.0, |odds| cost(1.0 / (1.0 + (-odds).exp())))
}

/// The upper end is the smaller of the two bounds, the theorem the one that gave it.
fn assert_upper(answer: &Answer, by_curves: f64, by_split: f64, text: &str) {
    let best = by_curves.min(by_split);
    let upper = answer.bracket.upper;
    assert!(upper <= best * (1.0 + 1e-6), "{upper} above {best}: {text}");
    assert!(upper >= best * (1.0 - 1e-6), "{upper} below {best}: {text}");
    let winner = if by_curves < by_split { Theorem::Renyi } else { Theorem::Split };
    let is_clear = (by_curves / by_split - 1.0).abs() > 1e-5;
    assert!(!is_clear || answer.theorem == winner, "{} won: {text}", answer.theorem.name());
}

#[test]
fn epsilons_of_mixed_lists() {
    let mut split = 0;
    for mix in MIXES {
        let (losses, curve) = mix;
        for delta in [1e-3, 1e-6, 1e-10] {
            let answer = ask_best(&mixed(mix), Question::Epsilon(delta), 1e-7).unwrap();
            let text = format!("{mix:?} at {delta:e}: {}", answer.bracket);
            let all = |a: f64| losses.divergence(a) + curve.divergence(a);
            let by_curves = renyi_epsilon(curve.last(), delta, all);
            let by_split = best_share(|share| {
                let rest =
                    renyi_epsilon(curve.last(), (1.0 - share) * delta, |a| curve.divergence(a));
                losses.epsilon(share * delta) + rest.max(0.0)
            });
            assert_upper(&answer, by_curves, by_split, &text);
            split += usize::from(answer.theorem == Theorem::Split);
            if let Losses::Gaussian(mu, count) = losses {
                let square = mu * mu * count as f64 + curve.witness();
                let least = gaussian_epsilon(square.sqrt(), delta);
                assert!(answer.bracket.lower <= least * (1.0 + 1e-9), "{least} {text}");
                assert!(answer.bracket.lower >= least * (1.0 - 2e-4), "{least} {text}");
                assert!(answer.bracket.upper >= least, "{least} {text}");
            }
        }
    }
    assert!((3..=20).contains(&split), "{split} of 24 were split");
}

#[test]
fn deltas_of_mixed_lists() {
    for mix in MIXES {
        let (losses, curve) = mix;
        let typical = losses.epsilon(1e-4) + curve.divergence(2.0_f64.min(curve.last()));
        for share in [0.7, 1.0, 1.6] {
            let epsilon = share * typical;
            let answer = ask_best(&mixed(mix), Question::Delta(epsilon), 1e-7).unwrap();
            let text = format!("{mix:?} at {epsilon}: {}", answer.bracket);
            let all = |a: f64| losses.divergence(a) + curve.divergence(a);
            let by_curves = renyi_delta(curve.last(), epsilon, all);
            let by_split = best_share(|share| {
                let rest =
                    renyi_delta(curve.last(), (1.0 - share) * epsilon, |a| curve.divergence(a));
                (losses.delta(share * epsilon) + rest).min(1.0).ln()
            });
            assert_upper(&answer, by_curves, by_split.exp(), &text);
            if let Losses::Gaussian(mu, count) = losses {
                let square = mu * mu * count as f64 + curve.witness();
                let least = gaussian_delta(square.sqrt(), epsilon);
                assert!(answer.bracket.lower <= least * (1.0 + 1e-7), "{least} {text}");
                assert!(answer.bracket.lower >= least * (1.0 - 2e-4), "{least} {text}");
            }
        }
    }
}

/// No bound for rho-concentrated mechanisms may be below the cost of a Gaussian with mu^2 = 2 rho.
#[test]
fn concentrated_privacy_alone_may_be_a_gaussian() {
    for rho in [1e-3, 0.1, 1.0, 5.0] {
        for delta in [1e-2, 1e-6, 1e-11] {
            let answer = ask_best(&plan(&[times(1, zcdp(rho))]), Question::Epsilon(delta), 1e-7);
            let bracket = answer.unwrap().bracket;
            let lower = gaussian_epsilon((2.0 * rho).sqrt(), delta);
            let upper = renyi_epsilon(f64::INFINITY, delta, |a| rho * a);
            let text = format!("{bracket} for {lower} and {upper}");
            assert!(bracket.lower <= lower * (1.0 + 1e-9), "{text}");
            assert!(bracket.lower >= lower * (1.0 - 2e-4), "{text}");
            assert!((bracket.upper / upper - 1.0).abs() < 1e-7, "{text}");
        }
    }
}

/// The formulas beside an answer: the named theorems on the mechanisms' own guarantees, here
/// five of 0.5, three of 0.3 and a leak, and the Rényi curves.
#[test]
fn other_theorems_follow_their_formulas() {
    const LEAK: f64 = 1e-9;
    let releases =
        [times(5, laplace(2.0, 1.0)), times(3, response(0.3, 4)), times(1, name_and_shame(LEAK))];
    let plan = plan(&releases);
    let sum = |of: fn(f64) -> f64| 5.0 * of(0.5) + 3.0 * of(0.3);
    let (total, square) = (sum(|e| e), sum(|e| e * e));
    let (drift, steep) = (sum(|e| e * (e / 2.0).tanh()), sum(|e| e * e.exp_m1()));
    let curve = |a: f64| 5.0 * laplace_divergence(0.5, a) + 3.0 * response_divergence(0.3, 4.0, a);
    let spread = |logarithm: f64| (2.0 * square * logarithm).sqrt();
    let options = Options::default();
    let near = |value: f64, formula: f64| (value / formula - 1.0).abs() < 1e-7;
    for delta in [1e-2, 1e-5, 1e-8] {
        let found = plan.compare(Delta::new(delta).unwrap(), &options).unwrap();
        let room = (delta - LEAK) / (1.0 - LEAK);
        let rest = spread(-(delta - LEAK).ln());
        let mixed = spread((std::f64::consts::E + square.sqrt() / room).ln());
        let kov = total.min(drift + mixed).min(drift + spread(-room.ln()));
        let renyi = renyi_epsilon(f64::INFINITY, room, curve);
        let formulas = [total, steep + rest, drift + rest, kov, renyi];
        assert_eq!(found.others.len(), formulas.len());
        for (bound, formula) in found.others.iter().zip(formulas) {
            let value = bound.value.clone().unwrap();
            assert!(near(value, formula), "{}: {value} {formula}", bound.theorem.name());
            assert!(value >= found.optimal.bracket.lower, "{} {value}", bound.theorem.name());
        }
    }
    for epsilon in [2.0, 3.5] {
        let found = plan.compare_delta(Epsilon::new(epsilon).unwrap(), &options).unwrap();
        let tail = |drift: f64| LEAK + (-(epsilon - drift).powi(2) / (2.0 * square)).exp();
        let renyi = renyi_delta(f64::INFINITY, epsilon, curve);
        for bound in &found.others {
            let formula = match bound.theorem {
                Theorem::Basic if epsilon < total => {
                    assert!(bound.value.is_err());
                    continue;
                }
                Theorem::Basic => LEAK,
                Theorem::Advanced => tail(steep),
                Theorem::Strong => tail(drift),
                Theorem::Renyi => LEAK + (1.0 - LEAK) * renyi,
                _ => continue,
            };
            let value = bound.value.clone().unwrap();
            assert!(near(value, formula), "{}: {value} {formula}", bound.theorem.name());
            assert!(value >= found.optimal.bracket.lower, "{} {value}", bound.theorem.name());
        }
    }
}
