//! Sixty-four threads on shared sessions, 30,000 questions each in a full run and 1,000 in a quick
//! one: no deadlock, every answer counted, none beyond the halt.

use counterpoint::{Adjacency, Delta, Relation};
use counterpoint_mechanisms::{
    Bounds, ConcurrentSessions, Data, Error, GuessAndCheck, NoisyQuery, Query, Reply, Sequence,
    SessionQuery, SparseVector,
};
use std::sync::atomic::{AtomicU64, Ordering};

const BOTH: Relation = Relation::single_record(Adjacency::AddRemove);
const CORRECTIONS: u64 = 40;
const ABOVE: u64 = 60;
const MEASUREMENTS: usize = 500;

fn declare(histogram: &NoisyQuery) -> ConcurrentSessions {
    let data: Vec<f64> = (0..200).map(f64::from).collect();
    let guess = GuessAndCheck::new(0.5, CORRECTIONS, 500.0).unwrap();
    let sparse = SparseVector::new(0.5, ABOVE, 900.0).unwrap().with_values();
    let sequence = Sequence::new(vec![histogram.clone(); MEASUREMENTS]).unwrap();
    let all: [(&str, counterpoint_mechanisms::InteractiveMechanism); 3] =
        [("guess", guess.into()), ("sparse", sparse.into()), ("sequence", sequence.into())];
    ConcurrentSessions::open(&Data::new(BOTH, data), all).unwrap()
}

#[derive(Default)]
struct Tally {
    answers: AtomicU64,
    wrong: AtomicU64,
    above: AtomicU64,
    tables: AtomicU64,
    refused: AtomicU64,
}

fn count(reply: Result<Reply, Error>, tally: &Tally) {
    let one = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
    match reply {
        Ok(reply) => {
            one(&tally.answers);
            match reply {
                Reply::Wrong(_) => one(&tally.wrong),
                Reply::Above(Some(_)) => one(&tally.above),
                Reply::Table(_) => one(&tally.tables),
                _ => 0,
            };
        }
        Err(Error::Exhausted) => {
            one(&tally.refused);
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn sixty_four_threads_share_sessions() {
    let questions_each = counterpoint_testing::size(30_000, 1_000);
    let histogram = Query::histogram(&[0.0, 50.0, 100.0]).unwrap().laplace(0.01).unwrap();
    let low = Query::count_within(Bounds::new(0.0, 99.5).unwrap());
    let all = declare(&histogram);
    let questions = [
        ("guess", SessionQuery::Check(low.clone(), 100.0)),
        ("sparse", SessionQuery::Above(low)),
        ("sequence", SessionQuery::Measure(histogram)),
    ];
    let before = all.epsilon(Delta::new(1e-6).unwrap()).unwrap().bracket;
    let tally = Tally::default();
    std::thread::scope(|scope| {
        for thread in 0..64_u64 {
            let (all, tally, questions) = (&all, &tally, &questions);
            scope.spawn(move || {
                for turn in thread..thread + questions_each {
                    let (name, question) = &questions[(turn % 3) as usize];
                    count(all.session(name).unwrap().ask(question), tally);
                }
            });
        }
    });
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let answered: u64 = all.sessions().map(|(_, session)| session.answered()).sum();
    assert_eq!(answered, read(&tally.answers), "every answer is counted");
    assert!(read(&tally.wrong) <= CORRECTIONS && read(&tally.above) <= ABOVE);
    assert_eq!(read(&tally.tables), MEASUREMENTS as u64);
    assert!(read(&tally.refused) > 0);
    for (name, session) in all.sessions() {
        let ended = match name {
            "guess" => read(&tally.wrong) == CORRECTIONS,
            "sparse" => read(&tally.above) == ABOVE,
            _ => true,
        };
        assert_eq!(session.is_exhausted(), ended, "{name}");
    }
    // The total was certified before the first question and has not moved.
    assert_eq!(all.epsilon(Delta::new(1e-6).unwrap()).unwrap().bracket, before);
}
