//! The charges of accounts for random shifts, cells, wide discrete noise and groups are never less than the bounds that
//! are integrated, summed or chained here, and barely above them where those are exact.

use crate::common;

use common::formulas::{gaussian_delta, gaussian_divergence, gaussian_epsilon};
use common::laws::{self, Law};
use common::mechanisms::*;
use common::slots::{amount, approx, leak, terms};
use counterpoint::quantity::{GroupSize, Order, Rate, Rho};
use counterpoint::{Delta, Mechanism, Options, Release};
use counterpoint_budget::{
    Amount, Basis, Charge, Filter, FilterError, PlanAccount, Promise, Query, Terms, covers,
};
use counterpoint_testing::Random;

const ORDERS: [f64; 5] = [1.0001, 1.5, 2.0, 8.0, 33.5];

fn games(full: usize) -> usize {
    if common::is_full() { full } else { full / 20 }
}

fn people(group: u64) -> Terms {
    Terms { group: GroupSize::new(group).unwrap(), ..terms() }
}

/// An account of divergences at an order.
fn renyi(order: f64, terms: Terms) -> Filter {
    let (order, tau) = (Order::new(order).unwrap(), amount("100"));
    Filter::renyi_budget(order, tau, terms).unwrap()
}

fn divergence(release: &Release, order: f64) -> Charge {
    renyi(order, terms()).charge(&Query::from(release.clone())).unwrap()
}

/// Not below a value, and not above it by more than a share of it.
#[track_caller]
fn assert_just_above(charge: f64, value: f64, share: f64, what: &str) {
    let hair = 1e-9 * value + 1e-20;
    assert!(charge >= value - hair, "{what}: {charge:e} is less than {value:e}");
    assert!(charge <= value * (1.0 + share) + hair, "{what}: {charge:e} is far above {value:e}");
}

/// The larger divergence of both directions of shifts drawn at random, by the midpoint rule.
fn integrated(list: &[(f64, f64)], sigma: f64, order: f64) -> f64 {
    let furthest = list.iter().map(|&(shift, _)| shift / sigma).fold(0.0, f64::max);
    let (reach, width) = (14.0 + furthest * (order + 1.0), 0.005);
    let ratio = |x: f64| {
        let shifted = |&(shift, weight): &(f64, f64)| {
            let mu = shift / sigma;
            weight.ln() + mu * x - 0.5 * mu * mu
        };
        let most = list.iter().map(shifted).fold(f64::NEG_INFINITY, f64::max);
        list.iter().map(|one| (shifted(one) - most).exp()).sum::<f64>().ln() + most
    };
    let places = (0..(2.0 * reach / width) as u32).map(|i| -reach + width * (f64::from(i) + 0.5));
    let places: Vec<(f64, f64)> = places.map(|x| (x, ratio(x))).collect();
    let scale = (width / std::f64::consts::TAU.sqrt()).ln();
    let sum = |power: f64| -> f64 {
        let exponents = || places.iter().map(|&(x, ratio)| power * ratio - 0.5 * x * x);
        let most = exponents().fold(f64::NEG_INFINITY, f64::max);
        if most > 10.0 {
            return exponents().map(|exponent| (exponent - most).exp()).sum::<f64>().ln()
                + most
                + scale;
        }
        // Both the ratio and one have mean one: what they add is left out.
        let bent = |ratio: f64| (power * ratio).exp_m1() - power * ratio.exp_m1();
        let change = places.iter().map(|&(x, ratio)| (scale - 0.5 * x * x).exp() * bent(ratio));
        change.sum::<f64>().ln_1p()
    };
    sum(order).max(sum(1.0 - order)) / (order - 1.0)
}

const LISTS: [&[(f64, f64)]; 4] = [
    &[(0.0, 0.7), (1.0, 0.2), (2.0, 0.1)],
    &[(0.5, 0.5), (1.5, 0.5)],
    &[(0.0, 0.9), (0.25, 0.05), (0.5, 0.03), (4.0, 0.02)],
    &[(0.25, 0.25), (0.5, 0.5), (0.75, 0.25)],
];

/// No shift or one: the same as on a Poisson sample of that rate, in every account that charges it; and those that do
/// not charge the one refuse the other.
#[test]
fn no_shift_or_one_costs_what_a_sample_does() {
    for (rate, sigma) in [(0.01, 1.0), (0.1, 2.0), (0.5, 4.0), (0.9, 2.0), (0.999, 3.0)] {
        let shifts = [(0.0, 1.0 - rate), (1.0, rate)];
        let (mixed, whole) = (times(1, mixture(sigma, &shifts)), gaussian(sigma, 1.0));
        let one = sampled(1, whole.clone(), rate);
        for order in ORDERS {
            let [a, b] = [&mixed, &one].map(|release| divergence(release, order));
            assert_eq!((&a.delta, &a.pure), (&b.delta, &b.pure));
            let what = format!("{rate} {sigma} {order}");
            let (found, other) = (a.main.upper(), b.main.upper());
            assert!((found / other - 1.0).abs() < 1e-9, "{what}: {found:e} and {other:e}");
            assert_just_above(found, integrated(&shifts, sigma, order), 1e-7, &what);
        }
        let budget = || (amount("1"), amount("1e-6"));
        for filter in [
            Filter::sums(budget().0, budget().1, terms()).unwrap(),
            Filter::zcdp(budget().0, budget().1, Amount::ZERO, terms()).unwrap(),
            Filter::gdp(budget().0, budget().1, terms()).unwrap(),
        ] {
            for release in [&mixed, &one] {
                let error = filter.charge(&Query::from(release.clone())).unwrap_err();
                assert!(matches!(error, FilterError::NoCharge { .. }), "{error}");
            }
        }
        // A sample of the mixture is one of the product of both rates.
        let fewer = sampled(1, mixture(sigma, &shifts), 0.5);
        let other = sampled(1, whole, 0.5 * rate);
        let [a, b] = [&fewer, &other].map(|release| divergence(release, 3.0).main.upper());
        assert!((a / b - 1.0).abs() < 1e-9, "{rate} {sigma}: {a:e} and {b:e}");
    }
}

/// The divergence of each mixture, integrated: one percent less would be below it.
#[test]
fn mixtures_are_charged_their_divergence() {
    for list in LISTS {
        for sigma in [1.0, 3.0] {
            for order in ORDERS {
                let what = format!("{list:?} {sigma} {order}");
                let charge = divergence(&times(1, mixture(sigma, list)), order);
                assert_just_above(charge.main.upper(), integrated(list, sigma, order), 1e-7, &what);
                assert!(charge.delta.upper() < 1e-25, "{what}: {}", charge.delta);
                assert_eq!(charge.pure, None);
                // On a sample there is more of no shift.
                let (rate, mut fewer) = (0.25, vec![(0.0, 0.75)]);
                fewer.extend(list.iter().map(|&(shift, weight)| (shift, rate * weight)));
                let charge = divergence(&sampled(1, mixture(sigma, list), rate), order);
                let truth = integrated(&fewer, sigma, order);
                assert_just_above(charge.main.upper(), truth, 1e-7, &what);
            }
        }
    }
}

/// An account never promises less than the lower end of the composition, nor does it charge less than the mean loss,
/// which the divergence is just above at orders just above one.
#[test]
fn accounts_of_mixtures_are_above_the_compositions() {
    for list in LISTS {
        for (count, delta) in [(1, "0.001"), (10, "1e-6")] {
            let release = times(count, mixture(2.0, list));
            let plan = plan(std::slice::from_ref(&release));
            let query = Query::from(release.clone());
            let filter = Filter::renyi_least_epsilon(amount(delta), &[query], terms()).unwrap();
            let Promise::ApproxDp { epsilon, .. } = filter.promise() else { panic!() };
            let target = Delta::new(delta.parse().unwrap()).unwrap();
            let least = plan.epsilon(target, &options(1e-3)).unwrap().bracket.lower;
            assert!(epsilon.upper() >= least, "{list:?} {count}: {epsilon} {least}");
            let means = plan.losses().unwrap();
            let mean = means.iter().map(|loss| loss.mean().lower).fold(0.0, f64::max);
            let charge = renyi(1.0001, terms()).charge(&Query::from(release)).unwrap().main.upper();
            assert!(charge >= mean, "{list:?}: {charge:e} {mean:e}");
            assert!(0.99 * charge < mean, "{list:?}: {charge:e} {mean:e}");
        }
    }
}

/// A finite pair whose outcomes were put into cells at random: the pair, and the cells around it.
struct Coarse {
    law: Law,
    cells: Vec<[f64; 4]>,
}

/// Some outcomes, all with a loss, and cells of one to three of them; bounds are those of the losses in the cell, some a
/// little wider.
fn some_coarse(random: &mut Random) -> Coarse {
    let size = random.between(2, 9) as usize;
    let mut weights: Vec<(f64, f64)> =
        (0..size).map(|_| (random.uniform(0.05, 1.0), random.uniform(0.05, 1.0))).collect();
    let all = weights.iter().fold((0.0, 0.0), |all, o| (all.0 + o.0, all.1 + o.1));
    for outcome in &mut weights {
        *outcome = (outcome.0 / all.0, outcome.1 / all.1);
    }
    if random.once_in(2) {
        weights.sort_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1)));
    }
    let (mut cells, mut rest) = (Vec::new(), weights.as_slice());
    while !rest.is_empty() {
        let (cell, more) = rest.split_at((random.between(1, 3) as usize).min(rest.len()));
        let sum = cell.iter().fold((0.0, 0.0), |sum, o| (sum.0 + o.0, sum.1 + o.1));
        let losses = cell.iter().map(|o| (o.0 / o.1).ln());
        let (low, high) = losses.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), loss| {
            (low.min(loss), high.max(loss))
        });
        let mut wider = || if random.once_in(3) { random.uniform(0.0, 0.5) } else { 0.0 };
        cells.push([sum.0.min(1.0), sum.1.min(1.0), low - wider(), high + wider()]);
        rest = more;
    }
    Coarse { law: Law::of(weights), cells }
}

/// The largest loss of both directions.
fn top(law: &Law) -> f64 {
    law.losses().into_iter().map(f64::abs).fold(0.0, f64::max)
}

fn both(law: &Law, order: f64) -> f64 {
    law.divergence(false, order).max(law.divergence(true, order))
}

/// Masses in doubles sum to one but for 2^-52, by which they are divided: losses are known to so much.
const HAIR: f64 = 1e-15;

/// Whatever lies within the cells costs no more than they do: largest loss, divergences, rho and mu.
#[test]
fn cells_cost_at_least_what_lies_within_them() {
    let (mut random, all, mut close) = (Random::new(71), games(4000), 0);
    let budget = || (amount("9"), amount("1e-6"));
    let filters = [
        Filter::sums(budget().0, budget().1, terms()).unwrap(),
        Filter::zcdp(budget().0, budget().1, Amount::ZERO, terms()).unwrap(),
        Filter::gdp(budget().0, budget().1, terms()).unwrap(),
        renyi(2.0, terms()),
    ];
    for _ in 0..all {
        let Coarse { law, cells: list } = some_coarse(&mut random);
        let rate = random.of(&[1.0, 1.0, 0.3]);
        let law = if rate < 1.0 { law.sampled(rate) } else { law };
        let release = Release { rate: Some(Rate::new(rate).unwrap()), ..times(1, cells(&list)) };
        let query = Query::from(release.clone());
        let (p, q): (Vec<f64>, Vec<f64>) = law.atoms.iter().copied().unzip();
        let inner = Query::from(times(1, finite(&p, &q)));
        let what = format!("{law:?} in {list:?} at {rate}");
        let charge = |filter: &Filter, query: &Query| filter.charge(query).unwrap();
        for filter in &filters {
            let (most, least) = (charge(filter, &query), charge(filter, &inner));
            assert!(most.delta.is_zero(), "{what}: {most:?}");
            let most_with_hair = most.main.upper() * (1.0 + 1e-12) + HAIR;
            assert!(most_with_hair >= least.main.upper(), "{what}: {most:?} {least:?}");
        }
        let sum = charge(&filters[0], &query);
        assert!(sum.main.upper() >= top(&law) * (1.0 - 1e-12) - HAIR, "{what}: {sum:?}");
        assert_eq!(sum.pure, Some(sum.main.clone()));
        for order in ORDERS {
            let (found, truth) = (divergence(&release, order).main.upper(), both(&law, order));
            // In doubles a divergence has some 1e-15 of a one, over the order less one.
            let hair = 1e-12 * truth + 1e-14 / (order - 1.0);
            assert!(found >= truth - hair, "{what}, {order}: {found:e} {truth:e}");
            close += usize::from(0.99 * found < truth);
        }
    }
    assert!(close * 2 > all, "{close} of {all} would notice one percent");
}

/// Cells of one outcome each are the finite pair.
#[test]
fn narrow_cells_cost_what_the_pair_does() {
    let outcomes = [(0.5, 0.3), (0.3, 0.3), (0.2, 0.4)];
    let list = outcomes.map(|(p, q): (f64, f64)| [p, q, (p / q).ln(), (p / q).ln()]);
    for rate in [1.0, 0.2] {
        let law = Law::of(outcomes.to_vec()).sampled(rate);
        let release = sampled(1, cells(&list), rate);
        for order in ORDERS {
            let (found, truth) = (divergence(&release, order), both(&law, order));
            let hair = if order < 1.1 { 1e-9 } else { 1e-12 };
            assert!((found.main.upper() / truth - 1.0).abs() < hair, "{found:?} {truth}");
        }
    }
}

/// Cells without an upper bound leak: a pair within them, with a larger loss or a leak of its own, has no larger
/// profile than the charge implies.
#[test]
fn open_cells_are_charged_as_leaks() {
    let (mut random, mut close) = (Random::new(72), 0);
    for _ in 0..games(2000) {
        let Coarse { law, cells: mut list } = some_coarse(&mut random);
        // An outcome that is rare without the person, in a cell of its own with one that is not.
        let (rare, never) = (random.log_uniform(1e-4, 0.05), random.once_in(2));
        let other = if never { 0.0 } else { rare * random.log_uniform(1e-6, 0.1) };
        let keep = |(p, q): (f64, f64)| (p * (1.0 - rare), q * (1.0 - other));
        let mut atoms: Vec<(f64, f64)> = law.atoms.iter().map(|&atom| keep(atom)).collect();
        let change = ((1.0 - rare) / (1.0 - other)).ln();
        for cell in &mut list {
            let (p, q) = keep((cell[0], cell[1]));
            *cell = [p, q, cell[2] + change, cell[3] + change];
        }
        atoms.push((rare, other));
        let last = list.last_mut().unwrap();
        *last = [last[0] + rare, last[1] + other, last[2], f64::INFINITY];
        let law = Law::of(atoms);
        let query = Query::from(times(1, cells(&list)));
        let sums = Filter::sums(amount("9"), amount("0.5"), terms()).unwrap();
        let label = sums.charge(&query).unwrap();
        let worst = |e: f64| law.delta(false, e).max(law.delta(true, e));
        let (epsilon, delta) = (label.main.upper(), label.delta.upper());
        let what = format!("{law:?} in {list:?}: {label:?}");
        assert!(worst(epsilon) <= delta * (1.0 + 1e-12), "{what}");
        assert!(delta > 0.0, "{what}");
        close += usize::from(law.delta(false, epsilon) > 0.9 * delta);
        for order in [1.5, 4.0, 20.0] {
            let charge = renyi(order, terms()).charge(&query).unwrap();
            let (tau, leak, t) = (charge.main.upper(), charge.delta.upper(), order - 1.0);
            for e in [0.0, 0.3, 1.0, 3.0] {
                let factor = (t * (-1.0 / order).ln_1p()).exp() / order;
                let implied = leak + factor * (t * (tau - e)).exp();
                assert!(worst(e) <= implied.min(1.0) * (1.0 + 1e-12), "{what}, {order} {e}");
            }
        }
        // No mu has a leak, and no rho of its own either without a delta.
        let gdp = Filter::gdp_budget(amount("9"), terms()).unwrap();
        assert!(matches!(gdp.charge(&query), Err(FilterError::NoCharge { .. })), "{what}");
    }
    assert!(close > 0, "none is as large as what is charged");
}

/// Wide discrete noise: charged as the Gaussian with its mu is, in divergences and rho, and refused elsewhere.
#[test]
fn wide_discrete_noise_costs_what_a_gaussian_does() {
    for (sigma, steps) in [
        (1e4, 1),
        (1.01e4, 1),
        (2e4, 20_000),
        (3e4, 100_000),
        (1e5, 1),
        (1e5, 50_000),
        (1e8, 1),
        (1e8, 100_000),
    ] {
        let release = times(1, discrete_gaussian(sigma, steps));
        let (query, mu) = (Query::from(release.clone()), steps as f64 / sigma);
        let what = format!("{sigma} {steps}");
        let orders = if sigma > 1e4 { &ORDERS[..] } else { &[2.0] };
        for &order in orders {
            let charge = divergence(&release, order);
            assert!(charge.delta.is_zero(), "{what}");
            let (found, truth) = (charge.main.upper(), gaussian_divergence(mu, order));
            // Charges end at 10^-24.
            let ends = truth * (1.0 + 1e-12) + 1e-24;
            assert!(found >= truth * (1.0 - 1e-12) && found <= ends, "{what}: {found:e}");
            let plain = divergence(&times(1, gaussian(sigma, steps as f64)), order);
            assert!(charge.main >= plain.main, "{what}: {charge:?} {plain:?}");
        }
        let rho = Filter::zcdp_budget(amount("1e4"), Amount::ZERO, terms()).unwrap();
        let found = rho.charge(&query).unwrap().main.upper();
        assert!((found / (0.5 * mu * mu) - 1.0).abs() < 1e-7, "{what}: {found:e}");
        let sums = Filter::sums(amount("9"), amount("1e-6"), terms()).unwrap();
        let gdp = Filter::gdp_budget(amount("9"), terms()).unwrap();
        for filter in [sums, gdp] {
            let error = filter.charge(&query).unwrap_err().to_string();
            assert!(error.starts_with("discrete-gaussian has no "), "{what}: {error}");
        }
        if sigma > 1e4 {
            let query = Query::from(sampled(1, release.mechanism, 0.5));
            let error = renyi(2.0, terms()).charge(&query).unwrap_err().to_string();
            let legal = "sigma up to 10^4 and sensitivity up to 10^6 on a sample";
            assert!(error.starts_with("sigma is ") && error.contains(legal), "{error}");
        }
    }
}

/// Slots for it end where its divergence does, and slots of it cover nothing but itself.
#[test]
fn slots_and_wide_discrete_noise() {
    let noise = |sigma: f64, steps: u64| Query::from(times(1, discrete_gaussian(sigma, steps)));
    let covered = |slot: &Query, opened: &Query| {
        covers(std::slice::from_ref(slot), std::slice::from_ref(opened), terms()).ok()
    };
    for (sigma, steps) in [(2e4, 5000), (1e5, 25_000), (4e5, 100_000), (1e8, 100_000)] {
        let (opened, mu) = (noise(sigma, steps), steps as f64 / sigma);
        let rho = |share: f64| {
            let rho = Amount::from_f64(0.5 * mu * mu * share).unwrap();
            Query::zcdp(rho, Amount::ZERO).unwrap()
        };
        assert_eq!(covered(&rho(1.0 + 1e-12), &opened), Some(Basis::Divergences), "{sigma}");
        assert_eq!(covered(&rho(0.99), &opened), None, "{sigma}");
        // Guarantees: by a conversion of its curve, so never beyond the Gaussian's.
        for epsilon in [1.2 * mu, 2.4 * mu, 4.0 * mu, 6.0 * mu] {
            let truth = gaussian_delta(mu, epsilon);
            let slot = |share: f64| {
                let amount = |value: f64| Amount::from_f64(value).unwrap();
                Query::approx_dp(amount(epsilon), amount(share * truth)).unwrap()
            };
            assert_eq!(covered(&slot(0.99), &opened), None, "{sigma} {epsilon}");
            assert_eq!(covered(&slot(30.0), &opened), Some(Basis::Profile), "{sigma} {epsilon}");
        }
        assert_eq!(covered(&opened, &opened), Some(Basis::Same));
        assert_eq!(covered(&opened, &noise(sigma, steps - 1)), Some(Basis::LessOfTheSame));
        for other in [
            noise(0.99 * sigma, steps),
            noise(1.5 * sigma, steps),
            Query::from(times(1, gaussian(1e6, 1.0))),
            approx("0.00001", "0"),
            leak(1e-9),
            rho(1e-3),
        ] {
            assert_eq!(covered(&opened, &other), None, "{sigma}: {other:?}");
        }
        // A plan of it promises no less than the Gaussian shows.
        let account = PlanAccount::new(vec![opened], terms()).unwrap();
        for delta in [1e-6, 1e-3] {
            let target = Delta::new(delta).unwrap();
            let upper = account.epsilon(target, &Options::default()).unwrap().bracket.upper;
            let shows = gaussian_delta(mu, 0.0) > delta;
            let truth = if shows { gaussian_epsilon(mu, delta) } else { 0.0 };
            assert!(upper >= truth * (1.0 - 1e-9), "{sigma} {delta}: {upper} {truth}");
        }
    }
}

/// One step of the chain after the other, by Hölder's inequality.
fn chained(group: u64, order: f64, divergence: impl Fn(f64) -> f64 + Copy) -> f64 {
    if group == 1 {
        return divergence(order);
    }
    let all = group as f64 * order;
    let before = chained(group - 1, (all - 1.0) / (group - 1) as f64, divergence);
    all / (all - 1.0) * before + divergence(all)
}

fn tcdp(rho: f64, omega: f64) -> Mechanism {
    Mechanism::Tcdp { rho: Rho::new(rho).unwrap(), omega: Order::new(omega).unwrap() }
}

/// tCDP is charged what the chain says at every order where it says anything, and refused at the others.
#[test]
fn groups_of_truncated_curves_are_charged_by_the_chain() {
    for group in [2, 3] {
        for (rho, omega) in [(0.1, 40.0), (0.02, 7.0), (1.5, 4.0)] {
            let query = Query::from(times(1, tcdp(rho, omega)));
            for order in [1.01, 1.3, 1.33, 1.99, 2.3, 2.34, 3.4, 3.6, 13.0, 13.5, 19.9, 20.1, 39.0]
            {
                let found = renyi(order, people(group)).charge(&query);
                let what = format!("{group} {rho} {omega} {order}");
                if group as f64 * order < omega {
                    let truth = chained(group, order, |a| rho * a);
                    assert_just_above(found.unwrap().main.upper(), truth, 1e-9, &what);
                } else {
                    let error = found.unwrap_err().to_string();
                    assert!(error.contains("; legal: "), "{what}: {error}");
                }
            }
            // Not for accounts that need a rho at every order, an epsilon or a mu.
            let budget = || (amount("9"), amount("1e-6"));
            for filter in [
                Filter::sums(budget().0, budget().1, people(group)),
                Filter::zcdp(budget().0, budget().1, Amount::ZERO, people(group)),
                Filter::gdp(budget().0, budget().1, people(group)),
            ] {
                assert!(filter.unwrap().charge(&query).is_err());
            }
        }
    }
}

/// RDP: at listed orders over the group's size the chain with what is listed; between them no less than what a Gaussian
/// within the table shows, and no more than the next listed one.
#[test]
fn groups_of_tables_are_charged_by_the_chain() {
    let orders = [2.5, 4.0, 9.0, 24.0];
    for taus in [[0.1, 0.2, 0.4, 1.3], [0.125, 0.2, 0.45, 1.2]] {
        let query = Query::from(times(1, rdp(&orders, &taus)));
        let slope = orders.iter().zip(taus).map(|(a, tau)| tau / a).fold(f64::INFINITY, f64::min);
        for group in [2, 3] {
            let (size, charge) = (group as f64, |order: f64| {
                renyi(order, people(group)).charge(&query).map(|charge| charge.main.upper())
            });
            let listed = orders.iter().zip(taus).filter(|&(&order, _)| order > size);
            let listed: Vec<(f64, f64)> = listed
                .map(|(&order, tau)| (order / size, chained(group, order / size, |_| tau)))
                .collect();
            for &(order, truth) in &listed {
                // A third of an order may be a hair above what is listed of it.
                let below = order * (1.0 - 1e-12);
                let what = format!("{group} {order}");
                assert_just_above(charge(below).unwrap(), truth, 1e-6, &what);
            }
            for i in 1..200 {
                let order = 1.003 + 0.05 * f64::from(i);
                let next = listed.iter().find(|&&(listed, _)| order < listed);
                match (charge(order), next) {
                    (Ok(found), Some(&(_, most))) => {
                        let witness = size * size * slope * order;
                        assert!(found >= witness * (1.0 - 1e-12), "{group} {order}: {found}");
                        assert!(found <= most * (1.0 + 1e-9), "{group} {order}: {found}");
                    }
                    (Err(error), None) => {
                        let text = error.to_string();
                        assert!(text.starts_with("rdp has no known Rényi divergence"), "{text}");
                    }
                    (found, _) => panic!("{group} {order}: {found:?}"),
                }
            }
        }
    }
}

/// The laws of noisy counts on a sample for a group: all people on one side, or some on either side.
fn sampled_counts(epsilon: f64, rate: f64, group: i64) -> Vec<Law> {
    let noise = |x: i64| (0.5 * epsilon).tanh() * (-epsilon * x.abs() as f64).exp();
    let choose = |n: i64, k: i64| (0..k).fold(1.0, |c, i| c * (n - i) as f64 / (i + 1) as f64);
    let chance =
        |n: i64, k: i64| choose(n, k) * rate.powi(k as i32) * (1.0 - rate).powi((n - k) as i32);
    // So many people add one each, or take one off.
    let mass = |n: i64, sign: i64, x: i64| {
        (0..=n).map(|k| chance(n, k) * noise(x - sign * k)).sum::<f64>()
    };
    let split = |up: i64| {
        let atoms = (-400..400).map(|x| (mass(up, 1, x), mass(group - up, -1, x)));
        Law::of(atoms.filter(|&(p, q)| p > 1e-290 && q > 1e-290).collect())
    };
    (0..=group).map(split).collect()
}

/// Guarantees on a sample, for a group: the sample's own, chained; no noisy count shows more.
#[test]
fn groups_on_a_sample_are_charged_by_the_chain() {
    for group in [2_u64, 3] {
        for (epsilon, rate) in [(0.7_f64, 0.2_f64), (0.2, 0.5), (1.5, 0.02)] {
            let size = group as f64;
            let one = (rate * epsilon.exp_m1()).ln_1p();
            let deltas = (0..group).map(|i| (i as f64 * one).exp()).sum::<f64>();
            let sums = Filter::sums(amount("20"), amount("0.1"), people(group)).unwrap();
            let charge = |filter: &Filter, mechanism: Mechanism| {
                filter.charge(&Query::from(sampled(1, mechanism, rate))).unwrap()
            };
            let kinds = || {
                [(approximate(epsilon, 1e-6), 1e-6), (approximate(epsilon, 0.0), 0.0)]
                    .into_iter()
                    .chain([(response(epsilon, 2), 0.0), (response(epsilon, 5), 0.0)])
                    .chain([(sparse_vector(0.25 * epsilon, 0.75 * epsilon), 0.0)])
                    .chain([(above_threshold(0.25 * epsilon, 0.75 * epsilon), 0.0)])
            };
            let counts = sampled_counts(epsilon, rate, group as i64);
            for (mechanism, delta) in kinds() {
                let what = format!("{mechanism:?} {group} {rate}");
                let label = charge(&sums, mechanism.clone());
                assert_just_above(label.main.upper(), size * one, 1e-9, &what);
                assert_just_above(label.delta.upper(), rate * delta * deltas, 1e-9, &what);
                assert!(counts.iter().all(|law| top(law) <= label.main.upper() * (1.0 + 1e-9)));
                for order in [1.5, 4.0, 20.0] {
                    let found =
                        charge(&renyi(order, people(group)), mechanism.clone()).main.upper();
                    let truth = both(&laws::response(size * one, 0.0), order);
                    assert_just_above(found, truth, 1e-9, &what);
                    for law in &counts {
                        assert!(both(law, order) <= found * (1.0 + 1e-9), "{what} {order}");
                    }
                }
                let rho = Filter::zcdp_budget(amount("9"), amount("0.1"), people(group)).unwrap();
                let drift = size * one * (0.5 * size * one).tanh();
                assert_just_above(charge(&rho, mechanism).main.upper(), drift, 1e-9, &what);
            }
            // Of all other samples a group is refused.
            for mechanism in [
                gaussian(1.0, 1.0),
                gdp(1.0),
                laplace(1.0, 1.0),
                geometric(1.0, 1),
                discrete_gaussian(2.0, 1),
                exponential(0.5),
                staircase(0.5, None),
                name_and_shame(0.01),
                finite(&[0.6, 0.4], &[0.4, 0.6]),
                cells(&[[0.6, 0.4, 0.0, 1.0], [0.4, 0.6, -1.0, 0.0]]),
                mixture(1.0, LISTS[0]),
                tcdp(0.1, 40.0),
                rdp(&[4.0, 9.0], &[0.2, 0.3]),
                zcdp(0.1),
            ] {
                let query = Query::from(sampled(1, mechanism, rate));
                for filter in [&sums, &renyi(2.0, people(group))] {
                    let error = filter.charge(&query).unwrap_err().to_string();
                    assert!(error.starts_with(&format!("group is {group} for ")), "{error}");
                    assert!(error.ends_with("; legal: 1"), "{error}");
                }
            }
        }
    }
}
