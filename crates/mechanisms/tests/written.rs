//! What is written down and read back: the same, or an error. Nothing can be read that could not
//! have been made.

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{
    Bounds, Data, Error, Grid, GuessAndCheck, InteractiveMechanism, KeyQuery, NoisyQuery, Query,
    Reply, Sequence, SessionQuery, SparseVector, State,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

fn text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let written = text(value);
    assert_eq!(&serde_json::from_str::<T>(&written).unwrap(), value, "{written}");
}

fn bounds() -> Bounds {
    Bounds::new(-0.1, 1e12 + 0.3).unwrap()
}

fn noisy_queries() -> Vec<NoisyQuery> {
    vec![
        Query::count().laplace(0.1).unwrap(),
        Query::count_within(bounds()).gaussian(0.7).unwrap(),
        Query::sum(bounds()).staircase(0.3).unwrap(),
        Query::mean(bounds()).laplace(2.0_f64.powi(-20)).unwrap(),
        Query::variance(bounds()).laplace(500.0).unwrap(),
        Query::histogram(&[-1e300, -0.0, 0.1, 1e300]).unwrap().laplace(0.2).unwrap(),
        Query::quantile((1, 3), &[0.1, 0.2]).unwrap().exponential(0.1).unwrap(),
        Query::proportion(bounds()).laplace(0.4).unwrap(),
        Query::cumulative(&[-1e300, -0.0, 0.1, 1e300]).unwrap().laplace(0.2).unwrap(),
        Query::quantiles(&[(1, 3), (1, 2)], &[0.1, 0.2]).unwrap().exponential(0.1).unwrap(),
        Query::quantile((1, 3), &[0.1, 0.2]).unwrap().exponential_interval(0.1, 0.9).unwrap(),
        Query::covariance(bounds(), Bounds::new(0.0, 1.0).unwrap()).gaussian(0.5).unwrap(),
        Query::regression(&[bounds()], bounds()).unwrap().laplace(0.5).unwrap(),
    ]
}

fn declarations() -> Vec<InteractiveMechanism> {
    let sparse = SparseVector::new(0.1, 3, -7.5).unwrap();
    let guess = GuessAndCheck::new(0.3, 1_000_000, 0.1).unwrap();
    let grid = Grid::new(-9).unwrap();
    vec![
        Sequence::new(noisy_queries()).unwrap().into(),
        sparse.clone().into(),
        sparse.with_values().scaled(0.7, grid).unwrap().into(),
        guess.clone().into(),
        guess.scaled(0.7, grid).unwrap().into(),
    ]
}

#[test]
fn what_is_written_comes_back() {
    for noisy_query in noisy_queries() {
        comes_back(noisy_query.query());
        comes_back(&noisy_query);
        comes_back(&SessionQuery::Measure(noisy_query.clone()));
        comes_back(&SessionQuery::Above(noisy_query.query().clone()));
        comes_back(&SessionQuery::Check(noisy_query.query().clone(), 0.1));
    }
    comes_back(&KeyQuery::laplace(0.1, 1e-9).unwrap());
    comes_back(&KeyQuery::gaussian(0.7, 0.1).unwrap());
    declarations().iter().for_each(comes_back);
    let replies = [
        Reply::Number(0.1),
        Reply::Number(f64::MAX),
        Reply::Table(vec![-1.0, 2.0]),
        Reply::Above(None),
        Reply::Above(Some(-0.3)),
        Reply::Below,
        Reply::Pass,
        Reply::Wrong(1e-300),
    ];
    replies.iter().for_each(comes_back);
    for declared in declarations() {
        for (adjacency, records) in [(Adjacency::AddRemove, 1), (Adjacency::Replace, 1)] {
            let relation = Relation::new(adjacency, records).unwrap();
            comes_back(&declared.under(relation).unwrap().begin().unwrap());
        }
    }
}

/// The form is kept in ledgers: it stays as it is.
#[test]
fn the_form_is_this() {
    let quantile = Query::quantile((1, 2), &[0.0, 1.5]).unwrap();
    assert_eq!(
        text(&quantile.exponential(0.5).unwrap()),
        r#"{"query":{"quantile":{"share":[1,2],"candidates":[0.0,1.5]}},"style":{"exponential":{"epsilon":0.5}}}"#
    );
    let quantiles = Query::quantiles(&[(1, 4), (1, 2)], &[0.0, 1.5]).unwrap();
    assert_eq!(
        text(&quantiles.exponential_interval(0.5, 0.9).unwrap().style()),
        r#"{"exponential-interval":{"epsilon":0.5,"confidence":0.9}}"#
    );
    assert_eq!(
        text(&quantiles),
        r#"{"quantiles":{"shares":[[1,4],[1,2]],"candidates":[0.0,1.5]}}"#
    );
    let edges = Query::cumulative(&[0.0, 1.5]).unwrap();
    assert_eq!(text(&edges), r#"{"cumulative":[0.0,1.5]}"#);
    let within = Query::proportion(Bounds::new(0.0, 3.0).unwrap());
    assert_eq!(text(&within), r#"{"proportion":[0.0,3.0]}"#);
    let unit = Bounds::new(0.0, 1.0).unwrap();
    let line = Query::regression(&[unit, unit], unit).unwrap();
    assert_eq!(text(&Query::covariance(unit, unit)), r#"{"covariance":[[0.0,1.0],[0.0,1.0]]}"#);
    assert_eq!(
        text(&line),
        r#"{"regression":{"predictors":[[0.0,1.0],[0.0,1.0]],"outcome":[0.0,1.0]}}"#
    );
    let sum = Query::sum(Bounds::new(0.0, 3.0).unwrap());
    assert_eq!(text(&SessionQuery::Check(sum, 4.0)), r#"{"check":[{"sum":[0.0,3.0]},4.0]}"#);
    assert_eq!(text(&SessionQuery::Above(Query::count())), r#"{"above":{"count":null}}"#);
    let sparse = SparseVector::new(0.5, 2, 7.0).unwrap().with_values();
    assert_eq!(
        text(&InteractiveMechanism::from(sparse)),
        r#"{"sparse-vector":{"gate":{"epsilon":0.5,"answers":2,"threshold":7.0,"reach":1.0,"grid":0},"values":true}}"#
    );
    let rounds = InteractiveMechanism::from(SparseVector::new(0.5, 2, 7.0).unwrap().redrawn());
    let written = r#"{"sparse-vector":{"gate":{"epsilon":0.5,"answers":2,"threshold":7.0,"reach":1.0,"grid":0,"redrawn":true},"values":false}}"#;
    assert_eq!(text(&rounds), written);
    assert_eq!(serde_json::from_str::<InteractiveMechanism>(written).unwrap(), rounds);
    let guess = InteractiveMechanism::from(GuessAndCheck::new(0.5, 2, 7.0).unwrap());
    let gate = r#"{"epsilon":0.5,"answers":2,"threshold":7.0,"reach":1.0,"grid":0}"#;
    assert_eq!(text(&guess), format!(r#"{{"guess-and-check":{gate}}}"#));
    let keys = KeyQuery::gaussian(0.5, 0.25).unwrap();
    assert_eq!(text(&keys), r#"{"style":{"gaussian":{"multiplier":0.5}},"delta":0.25}"#);
}

fn refused<T: DeserializeOwned + Debug>(written: &str) -> String {
    serde_json::from_str::<T>(written).unwrap_err().to_string()
}

/// Neither in a question nor in a declaration, in any place.
#[test]
fn no_question_can_state_a_relation() {
    let count = r#"{"count":null}"#;
    for field in [r#""records":1"#, r#""adjacency":"replace""#, r#""relation":{"records":1}"#] {
        refused::<Query>(&format!(r#"{{"count":null,{field}}}"#));
        refused::<Query>(&format!(
            r#"{{"quantile":{{"share":[1,2],"candidates":[0.0],{field}}}}}"#
        ));
        let style = r#"{"laplace":{"epsilon":1.0}}"#;
        let noisy_query = format!(r#"{{"query":{count},"style":{style},{field}}}"#);
        assert!(refused::<NoisyQuery>(&noisy_query).contains("unknown field"));
        let style = format!(r#"{{"laplace":{{"epsilon":1.0,{field}}}}}"#);
        refused::<NoisyQuery>(&format!(r#"{{"query":{count},"style":{style}}}"#));
        refused::<SessionQuery>(&format!(r#"{{"above":{count},{field}}}"#));
        let gate = r#""epsilon":0.5,"answers":2,"threshold":7.0,"reach":1.0,"grid":0"#;
        refused::<InteractiveMechanism>(&format!(r#"{{"guess-and-check":{{{gate},{field}}}}}"#));
        let sparse = format!(r#""gate":{{{gate}}},"values":false,{field}"#);
        refused::<InteractiveMechanism>(&format!(r#"{{"sparse-vector":{{{sparse}}}}}"#));
        let sparse = format!(r#""gate":{{{gate},{field}}},"values":false"#);
        refused::<InteractiveMechanism>(&format!(r#"{{"sparse-vector":{{{sparse}}}}}"#));
    }
}

#[test]
fn nothing_is_read_that_could_not_have_been_made() {
    for bad in [
        r#"{"sum":[1.0,1.0]}"#,
        r#"{"sum":[0.0,1e101]}"#,
        r#"{"count":[2.0,1.0]}"#,
        r#"{"mean":[0.0,null]}"#,
        r#"{"histogram":[1.0]}"#,
        r#"{"histogram":[1.0,1.0]}"#,
        r#"{"quantile":{"share":[0,2],"candidates":[1.0]}}"#,
        r#"{"quantile":{"share":[1,0],"candidates":[1.0]}}"#,
        r#"{"quantile":{"share":[1,2],"candidates":[]}}"#,
        r#"{"proportion":[1.0,1.0]}"#,
        r#"{"cumulative":[]}"#,
        r#"{"cumulative":[2.0,1.0]}"#,
        r#"{"quantiles":{"shares":[],"candidates":[1.0]}}"#,
        r#"{"quantiles":{"shares":[[1,2],[1,2]],"candidates":[1.0]}}"#,
        r#"{"quantiles":{"shares":[[1,2],[1,3]],"candidates":[1.0]}}"#,
        r#"{"quantiles":{"shares":[[0,2]],"candidates":[1.0]}}"#,
        r#"{"quantiles":{"shares":[[1,0]],"candidates":[1.0]}}"#,
        r#"{"quantiles":{"shares":[[1,2]],"candidates":[1.0],"records":1}}"#,
        r#"{"covariance":[[0.0,1.0],[1.0,1.0]]}"#,
        r#"{"covariance":[[0.0,1.0]]}"#,
        r#"{"regression":{"predictors":[],"outcome":[0.0,1.0]}}"#,
        r#"{"regression":{"predictors":[[1.0,0.0]],"outcome":[0.0,1.0]}}"#,
        r#"{"regression":{"predictors":[[0.0,1.0]]}}"#,
    ] {
        refused::<Query>(bad);
    }
    let noisy_query = |query: &str, style: &str| {
        refused::<NoisyQuery>(&format!(r#"{{"query":{query},"style":{style}}}"#))
    };
    for style in [
        r#"{"laplace":{"epsilon":0.0}}"#,
        r#"{"laplace":{"epsilon":501.0}}"#,
        r#"{"laplace":{"epsilon":-1.0}}"#,
        r#"{"staircase":{"epsilon":1e-9}}"#,
        r#"{"gaussian":{"multiplier":0.01}}"#,
        r#"{"exponential":{"epsilon":1.0}}"#,
        r#"{"exponential-interval":{"epsilon":1.0,"confidence":0.9}}"#,
    ] {
        assert!(noisy_query(r#"{"count":null}"#, style).contains("legal"));
    }
    for (style, delta) in [
        (r#"{"laplace":{"epsilon":0.0}}"#, "0.1"),
        (r#"{"laplace":{"epsilon":1.0}}"#, "0.0"),
        (r#"{"laplace":{"epsilon":1.0}}"#, "0.6"),
        (r#"{"staircase":{"epsilon":1.0}}"#, "0.1"),
        (r#"{"laplace":{"epsilon":1.0}}"#, r#"0.1,"records":1"#),
    ] {
        refused::<KeyQuery>(&format!(r#"{{"style":{style},"delta":{delta}}}"#));
    }
    let quantile = r#"{"quantile":{"share":[1,2],"candidates":[1.0]}}"#;
    assert!(noisy_query(quantile, r#"{"laplace":{"epsilon":1.0}}"#).contains("exponential"));
    for confidence in ["0.0", "1.0"] {
        let style =
            format!(r#"{{"exponential-interval":{{"epsilon":1.0,"confidence":{confidence}}}}}"#);
        assert!(noisy_query(quantile, &style).contains("confidence"));
    }
    assert!(refused::<InteractiveMechanism>(r#"{"sequence":[]}"#).contains("1 to 10^6"));
    let gate = |epsilon: &str, answers: &str, threshold: &str, reach: &str, grid: &str| {
        let numbers = format!(r#""epsilon":{epsilon},"answers":{answers},"threshold":{threshold}"#);
        let gate = format!(r#"{{{numbers},"reach":{reach},"grid":{grid}}}"#);
        let guess = format!(r#"{{"guess-and-check":{gate}}}"#);
        serde_json::from_str::<InteractiveMechanism>(&guess).map_err(|error| error.to_string())
    };
    assert!(gate("1.0", "1", "1.0", "1.0", "0").is_ok());
    assert!(gate("101.0", "1", "1.0", "1.0", "0").is_err());
    assert!(gate("1.0", "0", "1.0", "1.0", "0").is_err());
    assert!(gate("1.0", "1", "0.0", "1.0", "0").is_err_and(|text| text.contains("tolerance")));
    assert!(gate("1.0", "1", "1e101", "1.0", "0").is_err());
    assert!(gate("1.0", "1", "1.0", "0.0", "0").is_err());
    assert!(gate("1.0", "1", "1.0", "1.0", "-33").is_err_and(|text| text.contains("2^32")));
    assert!(gate("1.0", "1", "1.0", "1.0", "901").is_err());
}

/// A session with one answer above left, after one answer.
fn begun(declared: &InteractiveMechanism, data: &Data) -> State {
    let protocol = declared.under(data.relation()).unwrap();
    let question = SessionQuery::Above(Query::count());
    protocol.answer(data, &protocol.begin().unwrap(), &question).unwrap().1
}

#[test]
fn a_state_goes_on_with_its_own_declaration_and_relation_only() {
    let declared = InteractiveMechanism::from(SparseVector::new(1.0, 2, 1e15).unwrap());
    let relation = Relation::new(Adjacency::AddRemove, 3).unwrap();
    let data = Data::new(relation, [1.0, 2.0]);
    let state = begun(&declared, &data);
    let ask = |declared: &InteractiveMechanism, data: &Data, state: &State| {
        let protocol = declared.under(data.relation()).unwrap();
        protocol.answer(data, state, &SessionQuery::Above(Query::count()))
    };
    let (reply, next) = ask(&declared, &data, &state).unwrap();
    assert_eq!((reply, next.answered()), (Reply::Below, 2));
    // Nothing was changed in place.
    assert_eq!(state.answered(), 1);
    for other in [
        SparseVector::new(1.0, 2, 1e14).unwrap(),
        SparseVector::new(0.5, 2, 1e15).unwrap(),
        SparseVector::new(1.0, 3, 1e15).unwrap(),
        SparseVector::new(1.0, 2, 1e15).unwrap().with_values(),
        SparseVector::new(1.0, 2, 1e15).unwrap().scaled(2.0, Grid::WHOLE).unwrap(),
        SparseVector::new(1.0, 2, 1e15).unwrap().scaled(1.0, Grid::new(-1).unwrap()).unwrap(),
    ] {
        assert!(matches!(ask(&other.into(), &data, &state), Err(Error::State { .. })));
    }
    for (adjacency, records) in [(Adjacency::AddRemove, 1), (Adjacency::Replace, 3)] {
        let other = Relation::new(adjacency, records).unwrap();
        let refused = Err(Error::Relation { made: other, data: relation });
        assert_eq!(ask(&declared, &Data::new(other, [1.0]), &state), refused);
        // Nor is it answered about other data than the protocol is for.
        let protocol = declared.under(relation).unwrap();
        let question = SessionQuery::Above(Query::count());
        let refused = Err(Error::Relation { made: relation, data: other });
        assert_eq!(protocol.answer(&Data::new(other, [1.0]), &state, &question), refused);
    }
}

/// The same with a place of each part changed: other recipes are other declarations.
#[test]
fn equal_fingerprints_are_of_equal_declarations() {
    let all = declarations();
    let relation = Relation::single_record(Adjacency::AddRemove);
    let data = Data::new(relation, [1.0]);
    let mut sequences = vec![noisy_queries(), noisy_queries()[1..].to_vec()];
    sequences.extend((0..noisy_queries().len()).map(|place| {
        let mut changed = noisy_queries();
        changed[place] = Query::count().laplace(0.7).unwrap();
        changed
    }));
    let mut swapped = noisy_queries();
    swapped.swap(0, 1);
    sequences.push(swapped);
    let sequences = sequences.into_iter().map(|list| Sequence::new(list).unwrap().into());
    let all: Vec<InteractiveMechanism> = all.into_iter().chain(sequences.skip(1)).collect();
    let question = SessionQuery::Measure(Query::mean(bounds()).laplace(0.9).unwrap());
    for (i, one) in all.iter().enumerate() {
        let state = one.under(relation).unwrap().begin().unwrap();
        for (j, other) in all.iter().enumerate() {
            let answer = other.under(relation).unwrap().answer(&data, &state, &question);
            assert_eq!(matches!(answer, Err(Error::State { .. })), i != j, "{one:?} {other:?}");
        }
    }
}

/// More left than was declared, places that are not on the list or on it twice, a threshold that
/// is none: refused when read, or when asked.
#[test]
fn a_state_with_more_left_than_was_declared_is_refused() {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let data = Data::new(relation, [1.0, 2.0]);
    let count = Query::count().laplace(1.0).unwrap();
    let sparse = InteractiveMechanism::from(SparseVector::new(1.0, 2, 5.0).unwrap());
    let sequence =
        InteractiveMechanism::from(Sequence::new([count.clone(), count.clone()]).unwrap());
    let ask = |declared: &InteractiveMechanism, question: &SessionQuery, from: &str, to: &str| {
        let protocol = declared.under(relation).unwrap();
        let written = text(&protocol.begin().unwrap());
        assert!(written.contains(from), "{written}");
        let state = serde_json::from_str::<State>(&written.replace(from, to));
        state.is_ok_and(|state| protocol.answer(&data, &state, question).is_ok())
    };
    let above = SessionQuery::Above(Query::count());
    let left = r#""answers":2"#;
    assert!(ask(&sparse, &above, left, left) && ask(&sparse, &above, left, r#""answers":1"#));
    for bad in [r#""answers":3"#, r#""answers":0"#, r#""answers":-1"#, r#""answers":2,"more":1"#] {
        assert!(!ask(&sparse, &above, left, bad), "{bad}");
    }
    assert!(!ask(&sparse, &above, r#""threshold":""#, r#""threshold":"x"#));
    assert!(ask(&sparse, &above, r#""records":1"#, r#""records":1"#));
    assert!(!ask(&sparse, &above, r#""records":1"#, r#""records":0"#));
    assert!(!ask(&sparse, &above, r#""records":1"#, r#""records":2"#));
    assert!(!ask(&sparse, &above, r#""add-remove""#, r#""replace""#));
    let (measure, left) = (SessionQuery::Measure(count), r#""slots":[0,1]"#);
    assert!(
        ask(&sequence, &measure, left, left) && ask(&sequence, &measure, left, r#""slots":[1]"#)
    );
    for bad in ["[0,1,2]", "[0,0]", "[1,0]", "[2]", "[]", "[-1]"] {
        assert!(!ask(&sequence, &measure, left, &format!(r#""slots":{bad}"#)), "{bad}");
    }
    let gate = r#""gate":{"threshold":"0","answers":2}"#;
    assert!(!ask(&sequence, &measure, left, gate));
}

/// Noise so large that it would leave the doubles: replies stay finite.
#[test]
fn replies_are_finite_at_every_extreme() {
    let relation = Relation::new(Adjacency::AddRemove, 10_000).unwrap();
    let extreme = [f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let data = Data::new(relation, extreme);
    let widest = Bounds::new(-1e100, 1e100).unwrap();
    let tiniest = Bounds::new(0.0, 1e-100).unwrap();
    let least = 2.0_f64.powi(-19);
    for bounds in [widest, tiniest] {
        let means = [Query::mean(bounds), Query::proportion(bounds), Query::variance(bounds)];
        for query in [Query::sum(bounds)].into_iter().chain(means) {
            for noisy_query in [query.laplace(least), query.laplace(500.0), query.gaussian(0.5)] {
                let Ok(measurement) = noisy_query.unwrap().under(relation) else { continue };
                for data in [&data, &Data::new(relation, [])] {
                    let reply = measurement.run(data).unwrap();
                    assert!(reply.number().unwrap().is_finite(), "{query:?}: {reply:?}");
                    comes_back(&reply);
                }
            }
        }
    }
    let coarsest = Grid::new(900).unwrap();
    assert!(coarsest.value(i128::MAX).is_finite() && coarsest.value(i128::MIN).is_finite());
    let sparse = SparseVector::new(2.0_f64.powi(-20), 1_000_000, -1e100).unwrap().with_values();
    let sparse = InteractiveMechanism::from(sparse.scaled(1e100, coarsest).unwrap());
    let session = sparse.open(&data).unwrap();
    let reply = session.ask(&SessionQuery::Above(Query::sum(widest))).unwrap();
    assert!(reply.number().is_none_or(f64::is_finite), "{reply:?}");
}
