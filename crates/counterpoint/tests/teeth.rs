//! The checks have teeth: a bracket that is one percent off, or a billionth, is noticed.

use crate::common;
use crate::reference;

use common::{Outcome, Question, Release, ask, check, compose, questions};
use counterpoint::Bracket;
use counterpoint_testing::Random;
use reference::Reference;

/// Small compositions of every kind, with their judges.
fn subjects(random: &mut Random) -> Vec<(Vec<Release>, Reference)> {
    let mut list = Vec::new();
    for _ in 0..40 {
        let k = random.between(1, 8) as usize;
        let (epsilons, leaks) = (random.epsilons(k), random.leaks(k));
        let few: Vec<Release> = epsilons.into_iter().zip(leaks).map(|(e, d)| (e, d, 1)).collect();
        let judge = common::by_patterns(&few);
        list.push((few, judge));
        let counted: Vec<Release> =
            vec![(random.log_uniform(0.01, 1.0), 0.0, random.between(10, 500))];
        let judge = common::by_counts(&counted);
        list.push((counted, judge));
    }
    list
}

/// An answer's bracket, spoilt on either side, must be refused by the check.
#[test]
fn wrong_ends_are_noticed() {
    let mut random = Random::new(21);
    let mut noticed = 0;
    for (releases, judge) in subjects(&mut random) {
        let composition = compose(&releases);
        for _ in 0..6 {
            let question = questions::question(&mut random, &releases, &judge);
            let outcome = ask(&composition, question, None, 1e-6, None);
            let Outcome::Answer(answer) = outcome else { continue };
            let bracket = answer.bracket;
            check::bracket(&judge, question, &bracket).unwrap();
            // An epsilon of zero, or a delta too small for a double, has nothing to spoil.
            if bracket.lower < 1e-290 || bracket.relative_width() > 1e-12 {
                continue;
            }
            for off in [0.01, 1e-9] {
                for wrong in spoilt(bracket, off) {
                    let verdict = check::bracket(&judge, question, &wrong);
                    assert!(verdict.is_err(), "{wrong} passed for {question:?} of {releases:?}");
                    noticed += 1;
                }
            }
        }
    }
    assert!(noticed > 500, "only {noticed} brackets were spoilt");
}

/// The upper end too low, and the lower end too high.
fn spoilt(bracket: Bracket, off: f64) -> [Bracket; 2] {
    let low = bracket.upper * (1.0 - off);
    let high = bracket.lower * (1.0 + off);
    [Bracket { lower: low * 0.5, upper: low }, Bracket { lower: high, upper: high * 2.0 }]
}

/// Accounting that ignores the leaks, or one release of a hundred, is noticed.
#[test]
fn plausible_mistakes_are_noticed() {
    let all: Vec<Release> = vec![(0.1, 1e-8, 100)];
    let judge = common::by_counts(&all);
    let question = Question::Epsilon(1e-5);
    for mistake in [(0.1, 0.0, 100), (0.1, 1e-8, 99), (0.0999, 1e-8, 100)] {
        let outcome = ask(&compose(&[mistake]), question, None, 1e-6, None);
        let Outcome::Answer(answer) = outcome else { panic!("no answer for {mistake:?}") };
        assert!(check::bracket(&judge, question, &answer.bracket).is_err(), "{mistake:?}");
    }
}
