//! Sequences that are asked any query with a declared price; and many sequences side by side, on columns of one table.

use super::*;
use crate::data::Data;
use crate::error::Error;
use crate::interactive::{
    ConcurrentSessions, InteractiveMechanism, Protocol, Sequence, SessionQuery, State,
};
use crate::query::QueryKind;

impl Asker {
    /// A noisy query that may have the same price: the same noise on a similar query.
    fn like(&mut self, noisy_query: &NoisyQuery) -> NoisyQuery {
        let shift = self.random.of(&[0.0, 1.0, -1e12]);
        let like = match (&noisy_query.query().kind, self.random.below(4)) {
            (_, 0) => self.query(),
            (QueryKind::Count(_), _) => Query::count_within(self.bounds()),
            (QueryKind::Histogram(_), _) => self.histogram(),
            (QueryKind::Sum(bounds), 1) => Query::mean(*bounds),
            (QueryKind::Mean(bounds), 1) => Query::sum(*bounds),
            (QueryKind::Sum(bounds), _) => Query::sum(mirrored(bounds, shift)),
            (QueryKind::Mean(bounds), _) => Query::mean(mirrored(bounds, shift)),
            (QueryKind::Variance(bounds), _) => Query::variance(mirrored(bounds, shift)),
            (QueryKind::Quantile { .. } | QueryKind::Quantiles { .. }, _) => self.query(),
            (QueryKind::Deviation(bounds), _) => Query::deviation(mirrored(bounds, shift)),
            (QueryKind::Covariance(..) | QueryKind::Correlation(..), _) => self.query(),
            (QueryKind::Regression { .. }, _) => self.query(),
            (QueryKind::Proportion(bounds), _) => Query::proportion(mirrored(bounds, shift)),
            (QueryKind::Cumulative(_), _) => {
                let bounds = self.bounds();
                Query::cumulative(&self.places(bounds, 1)).unwrap()
            }
        };
        NoisyQuery::new(like, noisy_query.style()).unwrap_or_else(|_| noisy_query.clone())
    }

    fn histogram(&mut self) -> Query {
        let bounds = self.bounds();
        Query::histogram(&self.places(bounds, 2)).unwrap()
    }

    /// A declared query, a similar one, or a random one.
    fn question(&mut self, declared: &[NoisyQuery]) -> NoisyQuery {
        let one = declared[self.random.below(declared.len() as u64) as usize].clone();
        match self.random.below(4) {
            0 => one,
            1 => self.noisy_query(),
            _ => self.like(&one),
        }
    }
}

fn mirrored(bounds: &Bounds, shift: f64) -> Bounds {
    Bounds::new(shift - bounds.high(), shift - bounds.low()).unwrap_or(*bounds)
}

/// Answers from a state on both neighbours: returns the loss, true if noise hides all differences, and the next state;
/// or a refusal, which must be the same on both.
fn ask(
    protocol: &Protocol,
    data: &[Data; 2],
    state: &State,
    question: &SessionQuery,
    noise: &[i128],
) -> Result<(Loss, bool, State), Error> {
    let answer = |side: usize| protocol.answer(&data[side], state, question);
    let [one, other] = [0, 1].map(|side| watch::with(noise, || answer(side)).0);
    if let Err(error) = one {
        assert_eq!(other, Err(error.clone()), "a refusal depends on the data");
        return Err(error);
    }
    let (_, next) = one?;
    let (loss, is_hidden) = compare(noise, |side| answer(side).unwrap().0);
    Ok((loss, is_hidden, next))
}

/// Queries continue while any is answered: together they reveal no more than the charge for the whole session.
#[test]
fn a_sequence_gives_away_no_more_than_was_declared() {
    let mut asker = Asker::new(20_220_601);
    let (mut answered, mut others, mut most) = (0, 0, 0.0_f64);
    for _ in 0..tries(40_000, 0.04) {
        let relation = asker.relation();
        let declared: Vec<NoisyQuery> =
            (0..asker.random.between(1, 4)).map(|_| asker.noisy_query()).collect();
        let sequence = InteractiveMechanism::from(Sequence::new(declared.clone()).unwrap());
        let Ok(protocol) = sequence.under(relation) else { continue };
        let near: Vec<f64> =
            declared.iter().flat_map(|noisy_query| turning(noisy_query.query())).collect();
        let data = asker.neighbours(relation, &near).map(|values| Data::new(relation, values));
        let (mut state, mut total) = (protocol.begin().unwrap(), Loss::default());
        for _ in 0..12 {
            let noisy_query = asker.question(&declared);
            let (question, noise) = (SessionQuery::Measure(noisy_query.clone()), asker.noise());
            if let Ok((loss, is_hidden, next)) = ask(&protocol, &data, &state, &question, &noise) {
                // The query is charged under the data's relation, and its price is removed from the list.
                let price = noisy_query.under(relation).unwrap();
                let [before, after] = [&state, &next].map(|state| left(&protocol, state));
                assert!(loss.share_of(charged(price.releases())) <= ROUNDING);
                let paid = charged(&before).pure - charged(&after).pure;
                assert!((paid - charged(price.releases()).pure).abs() <= 1e-9 * (1.0 + paid));
                assert!(is_hidden, "{noisy_query:?}");
                (state, total) = (next, total.and(loss));
                answered += 1;
                others += u64::from(!declared.contains(&noisy_query));
            }
        }
        let share = total.share_of(charged(protocol.releases()));
        assert!(share <= ROUNDING, "{share} of {declared:?}");
        most = most.max(share);
    }
    // Queries other than those declared were answered, and full prices were reached.
    assert!(answered > 1000 && others > 300 && most > 0.99, "{answered} {others} {most}");
}

/// The unused releases.
fn left(protocol: &Protocol, state: &State) -> Vec<Release> {
    let InteractiveMechanism::Sequence(sequence) = protocol.declared() else { return Vec::new() };
    let slots = state.slots().into_iter().map(|slot| &sequence.noisy_queries[slot]);
    slots.flat_map(|one| one.under(state.relation()).unwrap().releases().to_vec()).collect()
}

/// A wrong session in which the analyst chooses the number of records as long as the price is right: returns the share
/// of the charge that is revealed, which is many times one.
fn as_asked(
    declared: &NoisyQuery,
    asked: &NoisyQuery,
    relation: Relation,
    records: u64,
    pair: [Vec<f64>; 2],
) -> f64 {
    let said = Relation::new(relation.adjacency(), records).unwrap();
    let (price, run) = (declared.under(relation).unwrap(), asked.under(said).unwrap());
    assert_eq!(price.releases(), run.releases(), "the price is the same");
    let data = pair.map(|values| Data::new(said, values));
    let [one, other] = [0, 1].map(|side| watch::with(&[0], || run.run(&data[side])).1);
    loss(&one, &other).share_of(charged(price.releases()))
}

/// A session declared for ten records must not run a query that is scaled for fewer. Such a query can no longer be
/// expressed: on data of ten records it is scaled, and charged, for ten.
#[test]
fn a_session_on_data_of_ten_records_answers_for_ten() {
    let ten = Relation::new(Adjacency::AddRemove, 10).unwrap();
    let histogram = Query::histogram(&[0.0, 1.0, 2.0]).unwrap().laplace(1.0).unwrap();
    let places: Vec<f64> = (0..=20).map(f64::from).collect();
    let quantile = Query::quantile((1, 2), &places).unwrap().exponential(1.0).unwrap();
    let (without, with) = (vec![9.5; 10], [[9.5; 10], [10.5; 10]].concat());
    for (noisy_query, records, pair) in
        [(histogram, 2, [vec![0.5; 10], Vec::new()]), (quantile, 1, [with, without])]
    {
        let wrong = as_asked(&noisy_query, &noisy_query, ten, records, pair.clone());
        assert!(wrong > 4.5, "{wrong}");
        let declared = InteractiveMechanism::from(Sequence::new([noisy_query.clone()]).unwrap());
        let protocol = declared.under(ten).unwrap();
        let (state, data) = (protocol.begin().unwrap(), pair.map(|values| Data::new(ten, values)));
        let question = SessionQuery::Measure(noisy_query);
        let (loss, is_hidden, next) = ask(&protocol, &data, &state, &question, &[0; 30]).unwrap();
        let share = loss.share_of(charged(protocol.releases()));
        assert!(is_hidden && next.is_exhausted() && share > 0.5 && share <= ROUNDING, "{share}");
    }
}

/// Two columns of a table in which a person has more rows than allowed: on neighbouring tables all sessions together
/// reveal no more than all declarations are charged.
#[test]
fn sessions_on_columns_of_one_table_keep_to_the_total() {
    let mut asker = Asker::new(20_230_601);
    let mut most = 0.0_f64;
    for _ in 0..tries(1_000, 0.08) {
        let relation = asker.relation();
        let noisy_queries = [asker.noisy_query(), asker.noisy_query()];
        let near: Vec<f64> =
            noisy_queries.iter().flat_map(|noisy_query| turning(noisy_query.query())).collect();
        let tables = neighbouring_tables(&mut asker, relation, &near);
        let declared =
            noisy_queries.clone().map(|noisy_query| Sequence::new([noisy_query]).unwrap().into());
        let [one, other] = tables.map(|columns| {
            let named = ["a", "b"].into_iter().zip(declared.clone()).zip(columns);
            ConcurrentSessions::open_on_columns(named.map(|((name, one), data)| (name, one, data)))
        });
        let (Ok(one), Ok(other)) = (one, other) else { continue };
        let mut total = Loss::default();
        for (name, noisy_query) in ["b", "a"].into_iter().zip(noisy_queries.into_iter().rev()) {
            let question = SessionQuery::Measure(noisy_query);
            let seen = [&one, &other].map(|all| {
                let ask = || all.session(name).unwrap().ask(&question).unwrap();
                watch::with(&[0], ask).1
            });
            total = total.and(loss(&seen[0], &seen[1]));
        }
        let share = total.share_of(charged(one.releases()));
        assert!(share <= ROUNDING, "{share}: {:?}", one.releases());
        most = most.max(share);
    }
    assert!(most > 0.99, "{most}");
}

/// Two columns each of two tables that differ in one person, who may have any number of rows.
fn neighbouring_tables(asker: &mut Asker, relation: Relation, near: &[f64]) -> [Vec<Data>; 2] {
    let rows = |asker: &mut Asker, count: u64| {
        let column = |asker: &mut Asker| {
            let one = asker.value(near);
            (0..count).map(|_| one).collect::<Vec<f64>>()
        };
        [column(asker), column(asker)]
    };
    let key = [7; 32];
    let table = |people: &[u64], columns: [Vec<f64>; 2]| {
        let columns = columns.each_ref().map(Vec::as_slice);
        Data::of_people(relation, people, &columns, &key).unwrap()
    };
    let shared_people: Vec<u64> = (0..asker.random.below(6)).map(|row| row % 3).collect();
    let shared = rows(asker, shared_people.len() as u64);
    let with = |asker: &mut Asker, least: u64| {
        let count = asker.random.between(least, 2 * relation.records());
        let own = rows(asker, count);
        let people = [shared_people.clone(), vec![9; count as usize]].concat();
        let [first, second] = [0, 1].map(|i| [shared[i].clone(), own[i].clone()].concat());
        table(&people, [first, second])
    };
    match relation.adjacency() {
        // A person who is replaced one for one has a row.
        Adjacency::Replace => [with(asker, 1), with(asker, 1)],
        Adjacency::AddRemove => [with(asker, 0), table(&shared_people, shared.clone())],
    }
}
