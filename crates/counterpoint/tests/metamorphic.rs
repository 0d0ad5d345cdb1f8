//! Facts that relate answers to each other, whatever the right answers are.

use crate::common;

use common::{Release, compose};
use counterpoint::{Answer, AskError, Bracket, Delta, Epsilon, Options};
use counterpoint_testing::Random;

fn epsilon(releases: &[Release], delta: f64) -> Result<Answer, AskError> {
    compose(releases).epsilon(Delta::new(delta).unwrap(), &Options::default())
}

fn delta(releases: &[Release], epsilon: f64) -> Answer {
    compose(releases).delta(Epsilon::new(epsilon).unwrap(), &Options::default()).unwrap()
}

/// Lists that take the equal, the grouped, the halves and the lattice routes.
fn lists() -> Vec<Vec<Release>> {
    let mut random = Random::new(11);
    let mut lists = Vec::new();
    for (distinct, most) in [(1, 1), (1, 300), (3, 6), (12, 1), (16, 1), (60, 1), (200, 3)] {
        for leak in [0.0, 1e-9] {
            let one = |random: &mut Random| {
                (random.log_uniform(0.01, 0.5), leak, random.between(1, most))
            };
            lists.push((0..distinct).map(|_| one(&mut random)).collect());
        }
    }
    lists
}

const DELTAS: [f64; 6] = [1e-200, 1e-40, 1e-12, 1e-5, 0.01, 0.4];

/// Bit for bit the same answer.
fn assert_same(a: &Result<Answer, AskError>, b: &Result<Answer, AskError>) {
    let bits = |bracket: Bracket| [bracket.lower.to_bits(), bracket.upper.to_bits()];
    match (a, b) {
        (Ok(a), Ok(b)) => assert_eq!(bits(a.bracket), bits(b.bracket)),
        _ => assert_eq!(a, b),
    }
}

#[test]
fn epsilon_never_rises_with_delta() {
    for list in lists() {
        let brackets: Vec<Bracket> = DELTAS
            .iter()
            .filter_map(|&delta| epsilon(&list, delta).ok())
            .map(|a| a.bracket)
            .collect();
        for pair in brackets.windows(2) {
            assert!(pair[1].lower <= pair[0].upper, "{list:?}: {pair:?}");
        }
    }
}

#[test]
fn delta_never_rises_with_epsilon() {
    for list in lists() {
        let sum: f64 = list.iter().map(|release| release.0 * release.2 as f64).sum();
        let at = |share: f64| delta(&list, share * sum).bracket;
        let brackets: Vec<Bracket> = [0.0, 0.01, 0.1, 0.3, 0.6, 0.9, 1.0].map(at).to_vec();
        for pair in brackets.windows(2) {
            assert!(pair[1].lower <= pair[0].upper, "{list:?}: {pair:?}");
        }
    }
}

#[test]
fn epsilon_never_falls_with_one_more_release() {
    for list in lists() {
        // A release that costs nothing stands in for the last, so that none is no error.
        let mut shorter = list.clone();
        shorter[list.len() - 1] = (0.0, 0.0, 1);
        for delta in DELTAS {
            let fewer = epsilon(&shorter, delta);
            let more = epsilon(&list, delta);
            if let (Ok(fewer), Ok(more)) = (&fewer, &more) {
                assert!(fewer.bracket.lower <= more.bracket.upper, "{list:?} at {delta:e}");
            }
            assert!(fewer.is_ok() || more.is_err(), "{list:?} at {delta:e}");
        }
    }
}

#[test]
fn order_does_not_matter() {
    for list in lists() {
        let mut turned = list.clone();
        turned.reverse();
        let middle = turned.len() / 3;
        turned.rotate_left(middle);
        for delta in DELTAS {
            assert_same(&epsilon(&list, delta), &epsilon(&turned, delta));
        }
        assert_same(&Ok(delta(&list, 0.5)), &Ok(delta(&turned, 0.5)));
    }
}

#[test]
fn splitting_counts_does_not_matter() {
    for list in lists() {
        let one_by_one: Vec<Release> = list
            .iter()
            .flat_map(|&(epsilon, delta, count)| {
                std::iter::repeat_n((epsilon, delta, 1), count as usize)
            })
            .collect();
        for delta in DELTAS {
            assert_same(&epsilon(&list, delta), &epsilon(&one_by_one, delta));
        }
        assert_same(&Ok(delta(&list, 0.5)), &Ok(delta(&one_by_one, 0.5)));
    }
}

#[test]
fn releases_that_promise_everything_cost_nothing() {
    for list in lists() {
        let mut padded = list.clone();
        padded.insert(0, (0.0, 0.0, 7));
        padded.push((0.0, 0.0, 1_000_000));
        for delta in DELTAS {
            assert_same(&epsilon(&list, delta), &epsilon(&padded, delta));
        }
        assert_same(&Ok(delta(&list, 0.5)), &Ok(delta(&padded, 0.5)));
    }
}

#[test]
fn one_release_returns_its_own_guarantee() {
    let mut random = Random::new(12);
    for _ in 0..300 {
        let guarantee = (random.log_uniform(1e-9, 50.0), random.leak());
        let one = [(guarantee.0, guarantee.1, 1)];
        let back = epsilon(&one, guarantee.1).unwrap().bracket;
        assert_eq!(
            [back.lower.to_bits(), back.upper.to_bits()],
            [guarantee.0.to_bits(); 2],
            "{one:?}: {back}"
        );
        let pure = [(guarantee.0, 0.0, 1)];
        let back = epsilon(&pure, 0.0).unwrap().bracket;
        assert_eq!([back.lower.to_bits(), back.upper.to_bits()], [guarantee.0.to_bits(); 2]);
        let back = delta(&one, guarantee.0).bracket;
        assert!(back.contains(guarantee.1) && back.relative_width() < 1e-14, "{one:?}: {back}");
    }
}

/// The upper epsilon has at most the delta asked for, the lower one at least that.
#[test]
fn both_questions_agree() {
    for list in lists() {
        for asked in DELTAS {
            let Ok(answer) = epsilon(&list, asked) else { continue };
            let Bracket { lower, upper } = answer.bracket;
            assert!(delta(&list, upper).bracket.lower <= asked, "{list:?} at {asked:e}");
            if lower > 0.0 {
                assert!(delta(&list, lower).bracket.upper >= asked, "{list:?} at {asked:e}");
            }
        }
    }
}

/// Larger epsilons or deltas never make the whole cheaper.
#[test]
fn weaker_guarantees_cost_more() {
    for list in lists() {
        let weaker: Vec<Release> = list
            .iter()
            .map(|&(epsilon, delta, count)| (epsilon * 1.01, delta * 1.01, count))
            .collect();
        for asked in DELTAS {
            if let (Ok(before), Ok(after)) = (epsilon(&list, asked), epsilon(&weaker, asked)) {
                assert!(before.bracket.lower <= after.bracket.upper, "{list:?} at {asked:e}");
            }
        }
        assert!(delta(&list, 0.5).bracket.lower <= delta(&weaker, 0.5).bracket.upper, "{list:?}");
    }
}
