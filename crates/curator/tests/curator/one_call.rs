//! One answer: what it is charged, and what is refused.

use std::collections::BTreeSet;

use counterpoint::{Adjacency, Relation};
use counterpoint_budget::Amount;
use counterpoint_curator::{Bill, Data, Error, NoisyQuery, answer, price};
use counterpoint_ledger::{Ledger, LedgerError, NewAccount, NewQuota};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{Event, ExactPlan};

use crate::child::{count, mean};
use crate::{
    Place, ages, amount, assert_sound, due, relation, spent, sums, with_account, with_account_about,
};

fn bill(key: &str) -> Bill<'_> {
    Bill::new("account", key)
}

#[track_caller]
fn ledger_error<T: std::fmt::Debug>(outcome: Result<T, Error>) -> LedgerError {
    match outcome {
        Err(Error::Ledger(error)) => *error,
        other => panic!("not refused by the ledger: {other:?}"),
    }
}

#[test]
fn a_key_is_charged_once_and_always_shows_the_same_bytes() {
    for place in Place::all() {
        let mut ledger = with_account(&place, relation(), "10");
        let first = answer(&mut ledger, &bill("a"), &mean(), &ages()).unwrap();
        assert!(!first.is_repeated() && first.charge().is_some());
        for _ in 0..5 {
            let mut other = place.open();
            let again = answer(&mut other, &bill("a"), &mean(), &ages()).unwrap();
            assert_eq!((again.bytes(), again.reply()), (first.bytes(), first.reply()));
            assert!(again.is_repeated() && again.charge().is_none());
        }
        assert_eq!(spent(&mut ledger), due(&mean()));
        assert_sound(&mut ledger);
    }
}

/// The price is the same; the question is not.
#[test]
fn a_key_stands_for_one_question() {
    for place in Place::all() {
        let mut ledger = with_account(&place, relation(), "10");
        let within =
            |low| Query::count_within(Bounds::new(low, 99.0).unwrap()).laplace(0.25).unwrap();
        answer(&mut ledger, &bill("a"), &within(0.0), &ages()).unwrap();
        let other = answer(&mut ledger, &bill("a"), &within(40.0), &ages());
        assert!(matches!(ledger_error(other), LedgerError::KeyInUse { .. }));
        assert_eq!(spent(&mut ledger), due(&within(0.0)));
    }
}

/// The mean is two releases: both are paid, or neither.
#[test]
fn several_releases_are_one_debit() {
    for place in Place::all() {
        let mut ledger = with_account(&place, relation(), "0.74");
        answer(&mut ledger, &bill("a"), &count(), &ages()).unwrap();
        let refused = answer(&mut ledger, &bill("b"), &mean(), &ages());
        assert!(matches!(ledger_error(refused), LedgerError::Refused(_)));
        assert_eq!(spent(&mut ledger), due(&count()));
        assert_eq!(ledger.pending(None).unwrap().pending.len(), 0);
        let mut ledger = place.open();
        assert_sound(&mut ledger);
    }
    for place in Place::all() {
        let mut ledger = with_account(&place, relation(), "0.5");
        answer(&mut ledger, &bill("a"), &mean(), &ages()).unwrap();
        assert_eq!(spent(&mut ledger), due(&mean()));
    }
}

/// Data and data set must agree in adjacency and in records a person.
#[test]
fn data_of_another_relation_are_refused() {
    let relations: Vec<Relation> = [Adjacency::AddRemove, Adjacency::Replace]
        .into_iter()
        .flat_map(|adjacency| [1, 2, 10].map(|n| Relation::new(adjacency, n).unwrap()))
        .collect();
    for held in &relations {
        let place = Place::sqlite();
        let mut ledger = with_account(&place, *held, "10");
        for offered in &relations {
            let data = Data::new(*offered, [1.0, 2.0]);
            let key = format!("{}", relations.iter().position(|one| one == offered).unwrap());
            let outcome = answer(&mut ledger, &bill(&key), &count(), &data);
            assert_eq!(outcome.is_ok(), held == offered, "{held} {offered}");
        }
        assert!(spent(&mut ledger) <= amount("0.26"));
    }
}

/// What is debited is what the exact doubles of the sampler cost, and the history says those
/// doubles to the last digit.
#[test]
fn charges_are_made_of_the_sampler_s_own_numbers() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, relation(), "1000");
    let mut total = Amount::ZERO;
    for index in 0..200_u32 {
        let epsilon = 0.1 + f64::from(index).sqrt() / 7.0;
        let bounds = Bounds::new(-1.0 / 3.0, 0.7 * f64::from(index + 1)).unwrap();
        let recipe = Query::sum(bounds).laplace(epsilon).unwrap();
        total = &total + &due(&recipe);
        answer(&mut ledger, &bill(&format!("k{index}")), &recipe, &ages()).unwrap();
    }
    assert_eq!(spent(&mut ledger), total);
    let mut scales = BTreeSet::new();
    ledger
        .history(None, None, |entry| {
            if let Event::Reserve { release, .. } = entry.event {
                for one in release.releases() {
                    let text = one.text().unwrap();
                    let scale = text.split_once("\"scale\":\"").unwrap().1;
                    let scale: Amount = scale.split_once('"').unwrap().0.parse().unwrap();
                    assert_eq!(Amount::from_f64(scale.lower()).as_ref(), Some(&scale), "{text}");
                    scales.insert(scale.to_string());
                }
            }
        })
        .unwrap();
    assert!(scales.len() > 190);
    assert_sound(&mut ledger);
}

#[test]
fn a_slot_pays_for_what_it_dominates_and_for_nothing_else() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("data", relation(), &sums("10")).unwrap();
        let plan = r#"{"delta":1e-6,"release":[
            {"name":"half","mechanism":"approx-dp","epsilon":0.5,"count":2},
            {"name":"rho","mechanism":"zcdp","rho":0.02}]}"#;
        let plan = ExactPlan::parse(plan.as_bytes(), Format::Json).unwrap();
        ledger.open_account("account", "data", &NewAccount::Plan(plan, None)).unwrap();
        let half = Bill { slot: Some("half"), ..bill("a") };
        answer(&mut ledger, &half, &mean(), &ages()).unwrap();
        let too_much = Query::mean(Bounds::new(0.0, 1.0).unwrap()).laplace(0.51).unwrap();
        let refused = answer(&mut ledger, &Bill { key: "b", ..half }, &too_much, &ages());
        assert!(matches!(ledger_error(refused), LedgerError::Uncovered { .. }));
        answer(&mut ledger, &Bill { key: "c", ..half }, &count(), &ages()).unwrap();
        let none_left = answer(&mut ledger, &Bill { key: "d", ..half }, &count(), &ages());
        assert!(matches!(ledger_error(none_left), LedgerError::Refused(_)));
        // 1/(2 * 5^2) = 0.02, and 1/(2 * 4.9^2) is more.
        let gaussian = |multiplier: f64| Query::count().gaussian(multiplier).unwrap();
        let rho = Bill { slot: Some("rho"), ..bill("e") };
        let refused = answer(&mut ledger, &rho, &gaussian(4.9), &ages());
        assert!(matches!(ledger_error(refused), LedgerError::Uncovered { .. }));
        answer(&mut ledger, &rho, &gaussian(5.0), &ages()).unwrap();
        assert_sound(&mut ledger);
    }
}

/// An account inside a slot about part a answers about part a alone.
#[test]
fn an_account_about_a_part_pays_for_that_part() {
    for place in Place::all() {
        let mut ledger = with_account_about(&place, "a");
        answer(&mut ledger, &bill("x"), &count(), &ages().about("a").unwrap()).unwrap();
        for (key, data) in [("y", ages().about("b").unwrap()), ("z", ages())] {
            assert!(answer(&mut ledger, &bill(key), &count(), &data).is_err(), "{key}");
        }
        assert_eq!(spent(&mut ledger), due(&count()));
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_price_is_what_is_then_charged_and_writes_nothing() {
    for place in Place::all() {
        let mut ledger = with_account(&place, relation(), "1");
        let before = ledger.head().unwrap();
        let recipes: [NoisyQuery; 3] = [
            mean(),
            count(),
            Query::variance(Bounds::new(0.0, 9.0).unwrap()).laplace(0.1).unwrap(),
        ];
        for recipe in &recipes {
            price(&mut ledger, &bill("p"), recipe, &ages()).unwrap();
        }
        assert_eq!(ledger.head().unwrap(), before);
        for (index, recipe) in recipes.iter().enumerate() {
            let key = format!("k{index}");
            let told = price(&mut ledger, &bill(&key), recipe, &ages()).unwrap();
            let shown = answer(&mut ledger, &bill(&key), recipe, &ages()).unwrap();
            assert_eq!((Some(&told.charge), told.refusal), (shown.charge(), None));
        }
        let told = price(&mut ledger, &bill("more"), &mean(), &ages()).unwrap();
        assert!(told.refusal.is_some());
        assert!(answer(&mut ledger, &bill("more"), &mean(), &ages()).is_err());
    }
}

/// Sixteen threads, one key: one answer, one charge.
#[test]
fn workers_with_one_key_show_one_answer() {
    for place in Place::all() {
        drop(with_account(&place, relation(), "10"));
        let shown: BTreeSet<Vec<u8>> = std::thread::scope(|scope| {
            let worker = |_| {
                scope.spawn(|| {
                    let mut ledger = place.open();
                    answer(&mut ledger, &bill("k"), &mean(), &ages()).unwrap().bytes().to_vec()
                })
            };
            let workers: Vec<_> = (0..16).map(worker).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        assert_eq!(shown.len(), 1);
        assert_eq!(spent(&mut place.open()), due(&mean()));
    }
}

#[test]
fn a_quota_binds_and_another_analyst_s_key_is_no_way_around_it() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, relation(), "10");
    for analyst in ["ann", "bob"] {
        let quota = NewQuota::Cost { epsilon: amount("0.5"), delta: amount("0") };
        ledger.add_quota("account", analyst, &quota).unwrap();
    }
    let by = |analyst, key| Bill { analyst: Some(analyst), ..bill(key) };
    answer(&mut ledger, &by("ann", "a"), &mean(), &ages()).unwrap();
    assert!(answer(&mut ledger, &by("ann", "b"), &count(), &ages()).is_err());
    // Bob does not get what Ann paid for by guessing her key.
    let taken = answer(&mut ledger, &by("bob", "a"), &mean(), &ages());
    assert!(matches!(ledger_error(taken), LedgerError::KeyInUse { .. }));
    assert!(answer(&mut ledger, &bill("c"), &count(), &ages()).is_err());
    assert_eq!(spent(&mut ledger), due(&mean()));
}

/// A question about other columns than the data have is refused before the debit; its key and the account are as they
/// were, and nothing is said of the numbers.
#[test]
fn what_does_not_suit_the_data_is_refused_before_it_is_paid() {
    for place in Place::all() {
        let mut ledger = with_account(&place, relation(), "10");
        let before = ledger.head().unwrap();
        let bounds = Bounds::new(0.0, 100.0).unwrap();
        let covariance = Query::covariance(bounds, bounds).laplace(0.5).unwrap();
        for (recipe, width) in [(mean(), 2), (count(), 3), (covariance, 1)] {
            let said: BTreeSet<String> = [17.25, 39.5]
                .map(|value| {
                    let data = Data::table(relation(), vec![vec![value; 3]; width]).unwrap();
                    let refused = answer(&mut ledger, &bill("a"), &recipe, &data).unwrap_err();
                    let told = price(&mut ledger, &bill("a"), &recipe, &data).unwrap_err();
                    assert_eq!(told.to_string(), refused.to_string());
                    refused.to_string()
                })
                .into();
            assert!(said.len() == 1 && said.first().unwrap().contains("columns"), "{said:?}");
        }
        assert_eq!(spent(&mut ledger), amount("0"));
        assert_eq!(ledger.head().unwrap(), before);
        assert_eq!(ledger.pending(None).unwrap().pending.len(), 0);
        answer(&mut ledger, &bill("a"), &mean(), &ages()).unwrap();
        assert_eq!(spent(&mut ledger), due(&mean()));
        assert_sound(&mut ledger);
    }
}

/// Whether an answer can be stored is known from the question: before the debit, before the draw,
/// and without a word about what would have been drawn.
#[test]
fn what_may_be_too_long_is_refused_before_it_is_paid() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, relation(), "10");
    let bins = |n: u32| {
        let edges: Vec<f64> = (0..=n).map(f64::from).collect();
        Query::histogram(&edges).unwrap().laplace(1.0).unwrap()
    };
    let errors: BTreeSet<String> = (0..4)
        .map(|_| answer(&mut ledger, &bill("a"), &bins(300_000), &ages()).unwrap_err().to_string())
        .collect();
    assert_eq!(errors.len(), 1);
    assert_eq!(spent(&mut ledger), amount("0"));
    // The largest that is taken, with the longest numbers, is stored.
    let most = u32::try_from(counterpoint_ledger::MAX_RESPONSE_BYTES / 26 - 1).unwrap();
    assert!(answer(&mut ledger, &bill("b"), &bins(most + 1), &ages()).is_err());
    let shown = answer(&mut ledger, &bill("b"), &bins(most), &ages()).unwrap();
    assert!(shown.bytes().len() <= counterpoint_ledger::MAX_RESPONSE_BYTES);
    let longest = serde_json::to_string(&vec![-1.234_567_890_123_456_7e-300; 3]).unwrap();
    assert!(longest.len() <= 26 * 3);
}
