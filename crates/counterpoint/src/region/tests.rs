//! Compares the boundary from slopes with the boundary from vertices, for plans that have both.

use super::*;
use crate::mechanism::{Adjacency, FinitePair, Guarantee, Mechanism};
use crate::quantity::{Count, GroupSize};
use crate::watch::Watch;
use counterpoint_testing::Random;

/// Probabilities of up to eight outcomes, some of them zero.
fn vector(random: &mut Random, length: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..length)
        .map(|_| if random.unit() < 0.1 { 0.0 } else { (-6.0 * random.unit()).exp() })
        .collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|x| if sum > 0.0 { x / sum } else { 1.0 / length as f64 }).collect()
}

fn plan(random: &mut Random) -> Option<Plan> {
    let length = 2 + (random.unit() * 7.0) as usize;
    let (p, q) = (vector(random, length), vector(random, length));
    let pair = Mechanism::Finite(FinitePair::new(&p, &q).ok()?);
    let count = Count::new(1 + (random.unit() * 3.0) as u64).ok()?;
    let other = Guarantee::new(0.2 + random.unit(), 0.1 * random.unit().floor()).ok()?;
    let releases = [(pair, count), (other.into(), Count::ONE)];
    Plan::for_neighbours(releases, Some(Adjacency::AddRemove), GroupSize::ONE).ok()
}

#[test]
fn slopes_bracket_what_vertices_tell() {
    let mut random = Random::new(20);
    let options = Options::default();
    let mut checked = 0;
    while checked < 60 {
        let Some(plan) = plan(&mut random) else { continue };
        let Some((outer, inner)) = finite::boundaries(&plan, Watch::none()).unwrap() else {
            continue;
        };
        let rates: Vec<f64> = (0..40).map(|_| random.unit().powi(3)).collect();
        let sharp: Vec<Rate> = rates[..4].iter().map(|&rate| Rate::new(rate).unwrap()).collect();
        let (looser, tighter) = slopes::boundaries(&plan, &sharp, &options).unwrap();
        for (index, &rate) in rates.iter().enumerate() {
            let truth = (outer.miss_at(rate).0, inner.miss_at(rate).1);
            let around = (looser.miss_at(rate).0, tighter.miss_at(rate).1);
            assert!(truth.1 - truth.0 <= 1e-13, "{truth:?}");
            assert!(around.0 <= truth.1, "outer {around:?} {truth:?}");
            assert!(around.1 >= truth.0, "inner {around:?} {truth:?}");
            let width = if index < 4 { 1.1e-6 } else { 1.1e-3 };
            assert!(around.1 - around.0 <= width, "{rate}: {around:?}");
        }
        checked += 1;
    }
}
