//! Gaussian noise on samples of a fixed size, one record in another's place.

use crate::common;

use common::Question;
use common::formulas::gaussian_delta;
use common::mechanisms::*;
use counterpoint::quantity::{GroupSize, Rate};
use counterpoint::{Adjacency, Bracket, Plan, Release};

fn replaced(releases: &[Release]) -> Plan {
    Plan::for_neighbours(releases.to_vec(), Some(Adjacency::Replace), GroupSize::ONE).unwrap()
}

fn delta(releases: &[Release], epsilon: f64) -> Bracket {
    ask(&replaced(releases), Question::Delta(epsilon), 1e-5).unwrap().bracket
}

/// q H(1 + (e^eps - 1)/q): the theorem's bound, once.
#[test]
fn once_it_is_the_profile_of_the_theorem() {
    for (mu, share) in [(0.5, 0.1), (2.0, 0.3), (1.0, 0.01)] {
        for epsilon in [0.0_f64, 0.05, 0.5] {
            let inner = (epsilon.exp_m1() / share).ln_1p();
            let truth = share * gaussian_delta(mu, inner);
            let bracket = delta(&[times(1, subset(1.0, mu, share))], epsilon);
            let slack = 1e-9 * truth;
            assert!(
                bracket.lower <= truth + slack && truth - slack <= bracket.upper,
                "{bracket} {truth}"
            );
            assert!(is_narrow(&bracket, 1e-5), "{bracket}");
        }
    }
}

/// Outcomes of the symmetric pair, cut finely: P and Q mass of what is above zero, their mirror image, and the rest.
fn pieces(mu: f64, share: f64, width: f64) -> Vec<(f64, f64)> {
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt() * width;
    let places = (0..(12.0 / width) as i32).map(|i| 0.5 * mu + (f64::from(i) + 0.5) * width);
    let above = places.map(|x| {
        let (q, p) = (density(x), density(x - mu));
        (share * p + (1.0 - share) * q, q)
    });
    let mut list: Vec<(f64, f64)> = above.flat_map(|(p, q)| [(p, q), (q, p)]).collect();
    let rest = 1.0 - list.iter().map(|(p, _)| p).sum::<f64>();
    list.push((rest, rest));
    list
}

#[test]
fn twice_it_is_the_product() {
    for (mu, share) in [(1.0, 0.2), (2.0, 0.5)] {
        let list = pieces(mu, share, 0.01);
        for epsilon in [0.1_f64, 0.5, 1.0] {
            let growth = epsilon.exp();
            let pairs = list.iter().flat_map(|a| list.iter().map(move |b| (a.0 * b.0, a.1 * b.1)));
            let truth: f64 = pairs.map(|(p, q)| (p - growth * q).max(0.0)).sum();
            let bracket = delta(&[times(2, subset(1.0, mu, share))], epsilon);
            let slack = 1e-3 * truth;
            assert!(
                bracket.lower <= truth + slack && truth - slack <= bracket.upper,
                "{bracket} {truth}"
            );
            assert!(is_narrow(&bracket, 1e-5), "{bracket}");
        }
    }
}

/// The pair dominates both directions of a Poisson sample of the same rate and shift, whatever is composed.
#[test]
fn it_is_no_less_than_a_poisson_sample() {
    for (count, share) in [(1, 0.1), (30, 0.1), (300, 0.02)] {
        let question = Question::Epsilon(1e-6);
        let subsets =
            ask(&replaced(&[times(count, subset(1.5, 1.0, share))]), question, 1e-4).unwrap();
        let poisson =
            ask(&plan(&[sampled(count, gaussian(1.5, 1.0), share)]), question, 1e-4).unwrap();
        assert!(subsets.bracket.upper >= poisson.bracket.lower, "{count} {share}");
        assert!(subsets.bracket.upper <= 1.5 * poisson.bracket.upper, "{count} {share}");
    }
}

#[test]
fn ends_and_refusals() {
    let all = delta(&[times(3, subset(2.0, 1.0, 1.0))], 0.5);
    let gaussian = delta(&[times(3, gaussian(2.0, 1.0))], 0.5);
    assert_eq!(
        (all.lower.to_bits(), all.upper.to_bits()),
        (gaussian.lower.to_bits(), gaussian.upper.to_bits())
    );
    assert!(delta(&[times(3, subset(2.0, 1.0, 0.0))], 0.0).upper <= 0.0);
    let refused = |release: Release, adjacency, people| {
        let group = GroupSize::new(people).unwrap();
        Plan::for_neighbours([release], adjacency, group).unwrap_err().to_string()
    };
    let one = || times(1, subset(2.0, 1.0, 0.5));
    let add = Some(Adjacency::AddRemove);
    assert!(refused(one(), None, 1).contains("adjacency is missing"));
    assert!(
        refused(one(), add, 1).contains("share is given with adjacency add-remove; legal: replace")
    );
    assert!(
        refused(one(), Some(Adjacency::Replace), 2)
            .contains("group is 2 for a release on a sample")
    );
    let both = Release { rate: Some(Rate::new(0.5).unwrap()), ..one() };
    assert!(refused(both, add, 1).contains("share is given with adjacency add-remove"));
}
