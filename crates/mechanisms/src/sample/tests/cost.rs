//! Samplers use the same number of words and steps, whatever they draw.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// The costs of runs with words of every kind. Words are fair, or all ones or zeros in places, except for the one bit
/// that keeps them off a threshold that is nearly zero or one.
fn costs<T>(run: impl Fn() -> T) -> BTreeSet<Cost> {
    let fair = (0..tries(20_000, 0.1)).map(|seed| script::seeded(seed, &run).1);
    let steep = (0..tries(2_000, 0.1)).map(|seed| {
        let mut random = Random::new(seed);
        let word = move || {
            let any = (u128::from(random.bits()) << 64) + u128::from(random.bits());
            Some(random.of(&[any, any, (any >> 20) | 1 << 90, !(any >> 20) & !(1 << 90)]))
        };
        script::with(word, &run).1
    });
    fair.chain(steep).collect()
}

fn alike(what: &str, words: usize, found: BTreeSet<Cost>) {
    assert_eq!(found.len(), 1, "{what}: {found:?}");
    for cost in found {
        assert_eq!((cost.calls, cost.words), (1, words as u64), "{what}: {cost:?}");
        assert!(cost.steps > 0, "{what}");
    }
}

#[test]
fn laplace_and_staircase_noise() {
    for scale in SCALES {
        let law = Geometric::new(&ratio(scale));
        alike(&format!("{scale}"), 2 * law.words(), costs(|| laplace(&law).unwrap()));
    }
    for epsilon in [2.0_f64.powi(-20), 0.1, 1.0, 500.0] {
        let inverse = RBig::ONE / ratio(epsilon);
        let law = Staircase::new(&inverse, 1000, 200);
        let words = 6 + Geometric::new(&inverse).words();
        alike(&format!("{epsilon}"), words, costs(|| staircase(&law).unwrap()));
    }
}

#[test]
fn responses() {
    for (epsilon, others, leak) in [(1.0, 1, 0.0), (0.1, 3, 0.0), (20.0, 99, 0.1), (500.0, 1, 1e-9)]
    {
        let law = ResponseSampler::new(ratio(epsilon), others, ratio(leak));
        alike(&format!("{epsilon} {others} {leak}"), 4, costs(|| response(&law).unwrap()));
    }
}

/// Scores that are all equal, far apart, or at the ends of the range cost the same.
#[test]
fn choices_whatever_the_scores() {
    for rate in [250.0, 1.0, 2.0_f64.powi(-74)] {
        let law = Weights::new(ratio(rate));
        let mut all = BTreeSet::new();
        for scores in [
            [0; 6],
            [0, 1, 2, 3, 4, 5],
            [i64::MIN, i64::MAX, 0, 0, 1, -1],
            [9, -9, 9, -9, 9, i64::MIN],
        ] {
            for seed in 0..tries(2_000, 0.1) {
                let (place, cost) = script::seeded(seed, || choose(&law, &scores));
                assert!(place.unwrap() < 6);
                all.insert(cost);
            }
        }
        alike(&format!("{rate}"), 2, all);
    }
}

/// Each trial costs the same, whether it is accepted or not.
#[test]
fn gaussian_trials() {
    for sigma in SIGMAS {
        let law = Gaussian::new(&ratio(sigma));
        let each: BTreeSet<[u64; 2]> = costs(|| gaussian(&law).unwrap())
            .into_iter()
            .map(|Cost { calls, words, steps }| {
                assert_eq!((words % calls, steps % calls), (0, 0));
                [words / calls, steps / calls]
            })
            .collect();
        assert_eq!(each.len(), 1, "{sigma}: {each:?}");
    }
}

/// The number of trials is independent of the result: by chi-square over |noise| below and above the median and one,
/// two, three or more trials.
#[test]
fn the_number_of_trials_tells_nothing() {
    let law = Gaussian::new(&ratio(10.5));
    let mut table: BTreeMap<(bool, u64), f64> = BTreeMap::new();
    let runs = tries(400_000, 0.05);
    for seed in 0..runs {
        let (noise, cost) = script::seeded(seed, || gaussian(&law));
        let Ok(WholeNumber::Small(noise)) = noise else { panic!() };
        *table.entry((noise.abs() < 8, cost.calls.min(3))).or_default() += 1.0;
    }
    let runs = runs as f64;
    let total = |is: &dyn Fn(&(bool, u64)) -> bool| -> f64 {
        table.iter().filter(|(cell, _)| is(cell)).map(|(_, count)| count).sum()
    };
    let part = |(cell, count): (&(bool, u64), &f64)| {
        let expected = total(&|other| other.0 == cell.0) * total(&|other| other.1 == cell.1) / runs;
        (count - expected).powi(2) / expected
    };
    let square: f64 = table.iter().map(part).sum();
    // With two degrees of freedom 28 is exceeded once in 10^6 runs; the words are the same in every run.
    assert!(table.len() == 6 && square < 28.0, "{square}: {table:?}");
}
