//! Sparse vector by the pair it is charged as: its profile, its divergences, its composition, and the slots it fits.

use crate::common::laws;
use crate::common::mechanisms::{above_threshold, approximate, plan, sparse_vector, times};
use crate::common::slots::{other, terms};

use counterpoint::quantity::Order;
use counterpoint::{Epsilon, Options};
use counterpoint_budget::{Filter, Query, covers};

/// The pair itself, as the library knows it: its profile, and its divergences as accounts charge them.
#[test]
fn above_a_threshold_a_sparse_vector_is_charged_by_its_own_pair() {
    for (e1, e2) in [(0.3, 0.4), (1.0, 2.0), (2.0, 0.5), (0.7, 0.7), (0.01, 0.02), (3.0, 40.0)] {
        let law = laws::sparse(e1, e2);
        let mechanism = above_threshold(e1, e2);
        for at in [0.0, 0.1, 0.25, 0.5 * (e1 + e2), 0.99 * (e1 + e2)] {
            let asked = Epsilon::new(at).unwrap();
            let found = plan(&[times(1, mechanism.clone())]).delta(asked, &Options::default());
            let (found, truth) = (found.unwrap().bracket, law.delta(false, at));
            let near = 1e-9 * truth + 1e-14;
            assert!(found.lower <= truth + near && truth <= found.upper + near, "{e1} {e2} {at}");
            assert!(found.upper <= truth + 1e-5 * truth + 1e-12, "{e1} {e2} {at}");
        }
        // Below both of what it is known to be below.
        for order in [1.5, 2.0, 8.0, 40.0] {
            let (order_of, tau) = (Order::new(order).unwrap(), "100".parse().unwrap());
            let filter = Filter::renyi_budget(order_of, tau, terms()).unwrap();
            let charge = |mechanism| filter.charge(&Query::from(times(1, mechanism)));
            let cost = charge(mechanism.clone()).unwrap().main.upper();
            let truth = law.divergence(false, order);
            assert!(
                cost >= truth * (1.0 - 1e-12) && cost <= truth * (1.0 + 1e-9),
                "{cost} {truth}"
            );
            let split = laws::response(e1, 0.0).divergence(false, order) + e2;
            let sum = laws::response(e1 + e2, 0.0).divergence(false, order);
            assert!(cost <= split.min(sum) * (1.0 + 1e-12), "{e1} {e2} {order}");
            let pure = charge(approximate(e1 + e2, 0.0)).unwrap().main.upper();
            assert!(cost < pure, "{e1} {e2} {order}");
        }
    }
}

/// delta of so many rounds, by the multinomial law of how often each of the four losses comes.
fn composed(law: &laws::Law, count: usize, epsilon: f64) -> f64 {
    let mut factorials = vec![0.0_f64];
    for n in 1..=count {
        factorials.push(factorials[n - 1] + (n as f64).ln());
    }
    let ln =
        |place: usize| (law.atoms[place].0.ln(), (law.atoms[place].0 / law.atoms[place].1).ln());
    let (mut delta, all) = (0.0, [0, 1, 2, 3].map(ln));
    for a in 0..=count {
        for b in 0..=count - a {
            for c in 0..=count - a - b {
                let times = [a, b, c, count - a - b - c];
                let mut exponent = factorials[count];
                let mut loss = 0.0;
                for (times, (mass, each)) in times.into_iter().zip(all) {
                    exponent += times as f64 * mass - factorials[times];
                    loss += times as f64 * each;
                }
                if loss > epsilon {
                    delta += exponent.exp() * -(epsilon - loss).exp_m1();
                }
            }
        }
    }
    delta
}

#[test]
fn rounds_compose_as_the_multinomial_law_says() {
    for (e, count, at) in [(0.1, 100, 16.0), (0.1, 30, 6.0), (0.5, 40, 40.0), (0.02, 60, 1.5)] {
        let truth = composed(&laws::sparse(e, 2.0 * e), count, at);
        let all = plan(&[times(count as u64, above_threshold(e, 2.0 * e))]);
        let found = all.delta(Epsilon::new(at).unwrap(), &Options::default()).unwrap().bracket;
        assert!(truth > 1e-12, "{truth}");
        assert!(found.lower <= truth * (1.0 + 1e-8) && truth <= found.upper * (1.0 + 1e-8));
        assert!(found.upper <= 1.001 * truth, "{e} {count} {found:?} {truth}");
        // Randomized responses of the same sum cost more.
        let pure = plan(&[times(count as u64, approximate(3.0 * e, 0.0))]);
        let pure = pure.delta(Epsilon::new(at).unwrap(), &Options::default()).unwrap().bracket;
        assert!(pure.lower > 1.01 * found.upper, "{e} {count}");
    }
}

/// A stored sparse vector is randomized response with the sum of both epsilons, in accounts and in slots.
#[test]
fn a_sparse_vector_costs_the_sum_of_both() {
    for (e1, e2) in [(0.1, 0.2), (0.25, 0.5), (2.0, 0.5)] {
        for order in [1.5, 2.0, 8.0, 40.0] {
            let tau = "100".parse().unwrap();
            let filter = Filter::renyi_budget(Order::new(order).unwrap(), tau, terms()).unwrap();
            let charge = |mechanism| filter.charge(&other(mechanism)).unwrap().main.upper();
            let truth = laws::response(e1 + e2, 0.0).divergence(false, order);
            let cost = charge(sparse_vector(e1, e2));
            assert!(
                cost >= truth * (1.0 - 1e-12) && cost <= truth * (1.0 + 1e-9),
                "{cost} {truth}"
            );
            assert!(charge(above_threshold(e1, e2)) < cost);
        }
    }
    // A pure guarantee up to that sum fits the slot of the stored sparse vector, and not the other slot.
    let [sparse, own] = [sparse_vector(0.25, 0.5), above_threshold(0.25, 0.5)].map(other);
    let [pure, less] = [0.75, 0.74].map(|epsilon| other(approximate(epsilon, 0.0)));
    let fits = |slot: &Query, one: &Query| {
        covers(std::slice::from_ref(slot), std::slice::from_ref(one), terms()).is_ok()
    };
    assert!(fits(&sparse, &less) && fits(&pure, &sparse));
    assert!(fits(&sparse, &other(above_threshold(0.24, 0.5))) && fits(&own, &own));
    assert!(!fits(&own, &less) && !fits(&own, &sparse));
}
