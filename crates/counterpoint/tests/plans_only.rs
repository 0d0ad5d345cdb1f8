//! Mechanisms that are composed in plans and charged to no account: samples of a fixed size, random allocation and
//! batches. Every kind of account refuses them, states the legal mechanisms, and is unchanged.

use crate::common;

use common::laws::Law;
use common::mechanisms::*;
use common::slots::{amount, approx, leak};
use counterpoint::loss::LossError;
use counterpoint::quantity::{GroupSize, Order};
use counterpoint::{Adjacency, Count, Mechanism};
use counterpoint_budget::{
    Amount, Basis, Concurrency, DeclareError, Filter, FilterError, Odometer, PlanAccount, Query,
    Terms, covers,
};

/// Those that draw people themselves, however little they draw.
fn drawing() -> Vec<(&'static str, Mechanism)> {
    vec![
        ("gaussian-allocation", allocation(2.0, 1.0, 10, 1)),
        ("gaussian-allocation", allocation(2.0, 1.0, 10, 3)),
        ("gaussian-allocation", allocation(2.0, 1.0, 4, 4)),
        ("gaussian-allocation", allocation(1e9, 1.0, 1, 1)),
        ("gaussian-batch", batch(2.0, 1.0, 0.1, None)),
        ("gaussian-batch", batch(2.0, 1.0, 0.1, Some((1000, 150)))),
        ("gaussian-batch", batch(2.0, 1.0, 1.0, None)),
        ("gaussian-batch", batch(2.0, 1.0, 0.0, None)),
        ("gaussian-draws", draws(2.0, 1.0, 3, 10)),
        ("gaussian-draws", draws(2.0, 1.0, 1, 1)),
    ]
}

/// All terms there are: either relation, one person or two, in turn or interleaved.
fn all_terms() -> Vec<Terms> {
    let mut list = Vec::new();
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        for group in [1, 2] {
            for concurrency in [Concurrency::Sequential, Concurrency::Concurrent] {
                let group = GroupSize::new(group).unwrap();
                list.push(Terms { adjacency, group, concurrency });
            }
        }
    }
    list
}

/// Every kind of account.
fn accounts(terms: Terms) -> Vec<Filter> {
    let (epsilon, delta) = (|| amount("9"), || amount("0.01"));
    let order = |a: f64| Order::new(a).unwrap();
    let half = || delta().half();
    let made = [
        Filter::sums(epsilon(), Amount::ZERO, terms),
        Filter::sums(epsilon(), delta(), terms),
        Filter::renyi(epsilon(), delta(), half(), order(8.0), terms),
        Filter::renyi(epsilon(), delta(), Amount::ZERO, order(1.9), terms),
        Filter::renyi_for(epsilon(), delta(), &[], terms),
        Filter::renyi_budget(order(2.0), epsilon(), terms),
        Filter::zcdp(epsilon(), delta(), half(), terms),
        Filter::zcdp_budget(epsilon(), Amount::ZERO, terms),
        Filter::zcdp_budget(epsilon(), delta(), terms),
        Filter::gdp(epsilon(), delta(), terms),
        Filter::gdp_budget(epsilon(), terms),
    ];
    made.map(Result::unwrap).into()
}

/// A mechanism as it may be asked for: as it is, often, about a part of the data, on a sample of a rate.
fn ways(mechanism: &Mechanism) -> Vec<Query> {
    let one = || times(1, mechanism.clone());
    let on_sample = |rate: f64| sampled(1, mechanism.clone(), rate);
    let list = [one(), times(7, mechanism.clone()), on("north", one())];
    let samples = [on_sample(1.0), on_sample(0.5), on("north", on_sample(0.01))];
    list.into_iter().chain(samples).map(Query::from).collect()
}

/// Slots large enough for anything.
fn slots() -> Vec<Query> {
    vec![
        approx("50", "0.9"),
        approx("50", "0"),
        leak(0.9),
        Query::gaussian(amount("0.01"), amount("1")).unwrap(),
        Query::gdp(amount("100")).unwrap(),
        Query::zcdp(amount("5000"), Amount::ZERO).unwrap(),
        Query::from(times(1, rdp(&[2.0, 8.0], &[1000.0, 4000.0]))),
        Query::from(times(1, laplace(0.01, 1.0))),
        Query::from(times(1, response(50.0, 2))),
    ]
}

/// Asks an account and an odometer of every kind, and expects the same refusal everywhere.
fn refused_everywhere(query: &Query, terms: Terms, is_right: &dyn Fn(&FilterError) -> bool) {
    let expect = |error: FilterError| assert!(is_right(&error), "{terms:?}: {error}");
    for filter in accounts(terms) {
        expect(filter.charge(query).unwrap_err());
    }
    let odometer = Odometer::new(amount("1e-6"), amount("1e-7"), terms).unwrap();
    expect(odometer.charge(query).unwrap_err());
    // As what is expected of an account that is to be opened.
    let expected = std::slice::from_ref(query);
    expect(Filter::renyi_for(amount("9"), amount("0.01"), expected, terms).unwrap_err());
    expect(Filter::renyi_least_epsilon(amount("0.01"), expected, terms).unwrap_err());
}

#[test]
fn what_draws_people_itself_is_charged_to_no_account() {
    for (kind, mechanism) in drawing() {
        for query in ways(&mechanism) {
            for terms in all_terms() {
                refused_everywhere(&query, terms, &|error| {
                    let text = error.to_string();
                    matches!(error, FilterError::PlansOnly { .. })
                        && text.starts_with(kind)
                        && text.contains("only composed in plans; legal: ")
                });
            }
        }
    }
}

/// Nor declared, nor run in what was declared, nor cut from it: plans are as before.
#[test]
fn what_draws_people_itself_has_no_slots() {
    for (_, mechanism) in drawing() {
        for query in ways(&mechanism) {
            for terms in all_terms() {
                let is_right = |error: &FilterError| matches!(error, FilterError::PlansOnly { .. });
                let declared = PlanAccount::new(vec![approx("1", "0"), query.clone()], terms);
                let slot = declared.unwrap_err();
                assert!(
                    matches!(&slot, DeclareError::Slot { slot: 1, error } if is_right(error)),
                    "{slot}"
                );
                for slot in slots() {
                    let slot = slot.about(query.part().cloned());
                    let Ok(mut account) = PlanAccount::new(vec![slot], terms) else { continue };
                    let before = account.clone();
                    let once = query.clone().times(Count::ONE);
                    let error = account.open(0, &once).unwrap_err().to_string();
                    assert!(error.contains("only composed in plans; legal: "), "{error}");
                    let error = account.recut(&[(0, 1)], vec![once]).unwrap_err().to_string();
                    assert!(error.contains("only composed in plans; legal: "), "{error}");
                    assert_eq!(account, before);
                }
            }
        }
    }
}

/// A sample of a fixed size has a pair where records are replaced, and no largest loss, divergence, rho or mu there.
#[test]
fn samples_of_a_fixed_size_are_charged_to_no_account() {
    let mechanism = subset(2.0, 1.0, 0.25);
    for query in ways(&mechanism) {
        let rate = query.release().rate.is_some_and(|rate| rate.get() < 1.0);
        for terms in all_terms() {
            let is_right = |error: &FilterError| match (terms.adjacency, terms.group.get()) {
                (Adjacency::Replace, _) if rate => {
                    matches!(error, FilterError::Loss(LossError::RateUnderReplace))
                }
                (Adjacency::AddRemove, 2) if rate => {
                    matches!(error, FilterError::Loss(LossError::Group { group: 2, .. }))
                }
                (Adjacency::AddRemove, _) => {
                    matches!(error, FilterError::Loss(LossError::SubsetUnderAddRemove))
                }
                (Adjacency::Replace, 1) => {
                    let text = error.to_string();
                    matches!(error, FilterError::PlansOnly { .. })
                        && text.starts_with("gaussian-subset is not charged to accounts")
                        && text.ends_with("; legal: gaussian, on all of the data")
                }
                (Adjacency::Replace, _) => {
                    matches!(error, FilterError::Loss(LossError::Group { group: 2, .. }))
                }
            };
            refused_everywhere(&query, terms, &is_right);
        }
    }
}

fn replaced() -> Terms {
    Terms::new(Adjacency::Replace)
}

/// Outcomes of the symmetric pair of a sample of a fixed size, cut finely: what is above a loss of zero, its mirror
/// image, and the rest.
fn pieces(mu: f64, share: f64) -> Law {
    let width = 0.005;
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt() * width;
    let places = (0..(12.0 / width) as i32).map(|i| 0.5 * mu + (f64::from(i) + 0.5) * width);
    let above = places.map(|x| (share * density(x - mu) + (1.0 - share) * density(x), density(x)));
    let mut atoms: Vec<(f64, f64)> = above.flat_map(|(p, q)| [(p, q), (q, p)]).collect();
    let rest = 1.0 - atoms.iter().map(|atom| atom.0).sum::<f64>();
    atoms.push((rest, rest));
    Law::of(atoms)
}

/// A declared plan is composed, and may have slots for such samples. They cover themselves and what is pure; guarantees
/// with a delta cover them where their profile does. Nothing one percent larger.
#[test]
fn slots_for_samples_of_a_fixed_size() {
    let covered = |slot: &Query, opened: &Query| {
        covers(std::slice::from_ref(slot), std::slice::from_ref(opened), replaced()).ok()
    };
    let exact = |value: f64| Amount::from_f64(value).unwrap();
    for (mu, share) in [(0.5, 0.25), (2.0, 0.5), (1.0, 0.02)] {
        let slot = Query::from(times(1, subset(1.0, mu, share)));
        let law = pieces(mu, share);
        // tanh(e/2) is its total variation.
        let tv = law.delta(false, 0.0);
        let most = ((1.0 + tv) / (1.0 - tv)).ln();
        let pure = |epsilon: f64| Query::approx_dp(exact(epsilon), Amount::ZERO).unwrap();
        assert_eq!(covered(&slot, &pure(0.999 * most)), Some(Basis::TotalVariation), "{mu}");
        assert_eq!(covered(&slot, &pure(1.01 * most)), None, "{mu}");
        let response = common::laws::response(0.999 * most, 0.0);
        for i in -300..300 {
            let e = 0.01 * f64::from(i);
            let (inner, outer) = (response.delta(false, e), law.delta(false, e));
            assert!(inner <= outer + 1e-9, "{mu} {share} {e}: {inner} {outer}");
        }
        assert_eq!(covered(&slot, &slot), Some(Basis::Same));
        for other in [
            Query::from(times(1, subset(1.0, 1.01 * mu, share))),
            Query::from(times(1, subset(1.0, mu, 1.01 * share))),
            Query::from(times(1, gaussian(1.0, mu * share))),
            leak(1e-9),
            Query::zcdp(amount("1e-9"), Amount::ZERO).unwrap(),
        ] {
            assert_eq!(covered(&slot, &other), None, "{other:?}");
        }
        for epsilon in [0.05, 0.3] {
            let delta = law.delta(false, epsilon);
            let guarantee =
                |part: f64| Query::approx_dp(exact(epsilon), exact(part * delta)).unwrap();
            assert_eq!(covered(&guarantee(1.001), &slot), Some(Basis::Profile), "{mu} {epsilon}");
            assert_eq!(covered(&guarantee(0.99), &slot), None, "{mu} {epsilon}");
        }
        for curve in &slots()[1..] {
            let is_leak = curve == &leak(0.9);
            let found = covered(curve, &slot);
            assert_eq!(found, is_leak.then_some(Basis::Profile), "{curve:?}");
        }
    }
}

/// Where nothing is drawn there is nothing to charge, and where all are it is a Gaussian.
#[test]
fn ends_of_samples_of_a_fixed_size() {
    let order = Order::new(3.0).unwrap();
    let filter = Filter::renyi_budget(order, amount("9"), replaced()).unwrap();
    let charge = |mechanism: Mechanism| filter.charge(&Query::from(times(1, mechanism))).unwrap();
    let whole = charge(gaussian(2.0, 1.0)).main.upper();
    let all = charge(subset(2.0, 1.0, 1.0)).main.upper();
    assert!(all >= whole && all <= whole * (1.0 + 1e-12), "{all} {whole}");
    assert!(charge(subset(2.0, 1.0, 0.0)).main.is_zero());
}
