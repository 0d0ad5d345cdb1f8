//! Exact attacks on sparse vector and guess-and-check: the probabilities of every pattern of answers, summed over the
//! noisy threshold, on both neighbours.

use super::*;
use crate::data::Data;
use crate::error::Error;
use crate::grid::Grid;
use crate::interactive::{
    GuessAndCheck, InteractiveMechanism, Protocol, SessionQuery, SparseVector,
};
use crate::noise::Noise;

/// The numbers that noise is added to for one query, on both neighbours: for the comparison, and for the value.
#[derive(Clone, Debug)]
struct QuestionDraws {
    told: [i128; 2],
    value: Option<[i128; 2]>,
}

/// The draws of a session: the threshold's level, and all noises.
#[derive(Debug)]
struct ThresholdDraws {
    answers: u64,
    level: i128,
    threshold: Noise,
    query: Noise,
    value: Option<Noise>,
}

fn scale(noise: &Noise) -> f64 {
    let NoiseShape::Laplace { scale } = &noise.shape else { panic!("{noise:?}") };
    scale.to_f64().value()
}

/// P(noise >= k) of discrete Laplace noise, by its formula.
fn at_least(k: i128, scale: f64) -> f64 {
    let decay = (-1.0 / scale).exp();
    let tail = |k: i128| (-(k as f64) / scale).exp() / (1.0 + decay);
    if k >= 0 { tail(k) } else { 1.0 - tail(1 - k) }
}

impl ThresholdDraws {
    /// The largest loss over all patterns of answers with a computable probability.
    fn loss(&self, asked: &[QuestionDraws]) -> f64 {
        let wide = scale(&self.threshold);
        let far = (50.0 * wide).ceil() as i128;
        let masses: Vec<f64> = (-far..=far).map(|t| (-(t.abs() as f64) / wide).exp()).collect();
        let total: f64 = masses.iter().sum();
        let start: Vec<f64> = masses.iter().map(|mass| mass / total).collect();
        self.worst(asked, &[start.clone(), start], self.answers, 0.0, far)
    }

    /// The largest loss from here on, given the probabilities so far for each threshold on both neighbours, the
    /// remaining number of answers above, and the loss of earlier values.
    fn worst(
        &self,
        asked: &[QuestionDraws],
        so_far: &[Vec<f64>; 2],
        left: u64,
        given: f64,
        far: i128,
    ) -> f64 {
        let [one, other] = so_far.each_ref().map(|masses| masses.iter().sum::<f64>());
        if one.min(other) < 1e-9 {
            return 0.0;
        }
        let here = (one / other).ln().abs() + given;
        let Some((first, rest)) = asked.split_first().filter(|_| left > 0) else { return here };
        let wide = scale(&self.query);
        let above = |side: usize| -> Vec<f64> {
            let chance = |t: i128| at_least(self.level + t - first.told[side], wide);
            (-far..=far).map(chance).collect()
        };
        let chances = [above(0), above(1)];
        let times = |side: usize, of: &dyn Fn(f64) -> f64| -> Vec<f64> {
            so_far[side]
                .iter()
                .zip(&chances[side])
                .map(|(mass, chance)| mass * of(*chance))
                .collect()
        };
        let up = [0, 1].map(|side| times(side, &|chance| chance));
        let down = [0, 1].map(|side| times(side, &|chance| 1.0 - chance));
        let value = match (&self.value, first.value) {
            (Some(noise), Some([one, other])) => one.abs_diff(other) as f64 / scale(noise),
            _ => 0.0,
        };
        let below = self.worst(rest, &down, left, given, far);
        below.max(self.worst(rest, &up, left - 1, given + value, far))
    }
}

/// The observed draws at the beginning of a session and for one query.
fn seen(
    protocol: &Protocol,
    data: &[Data; 2],
    question: &SessionQuery,
) -> Result<(ThresholdDraws, QuestionDraws), Error> {
    let (state, begun) = watch::with(&[0], || protocol.begin().unwrap());
    let draws = [0, 1].map(|side| {
        let ask = || protocol.answer(&data[side], &state, question);
        let (reply, seen) = watch::with(&[0], ask);
        reply.map(|_| seen)
    });
    let [one, other] = draws;
    let (one, other) = (one?, other.expect("a refusal depends on the data"));
    let both = |draw: usize| match (&one.get(draw), &other.get(draw)) {
        (Some(Observation::Added(one, noise)), Some(Observation::Added(other, same))) => {
            assert_eq!(noise, same, "the noise depends on the data");
            Some(([*one, *other], noise.clone()))
        }
        (None, None) => None,
        _ => panic!("what is drawn depends on the data"),
    };
    let [Observation::Added(level, threshold)] = begun.as_slice() else { panic!("{begun:?}") };
    let redrawn = matches!(protocol.declared(), InteractiveMechanism::SparseVector(gate) if gate.parameters.is_redrawn())
        || matches!(protocol.declared(), InteractiveMechanism::GuessAndCheck(gate) if gate.parameters.is_redrawn());
    let given = one.len() - usize::from(redrawn);
    if redrawn {
        // The next threshold is drawn last: the same level and noise, whatever the data are.
        assert_eq!(both(given), Some(([*level; 2], threshold.clone())));
    }
    let ((told, query), value) = (both(0).unwrap(), if given > 1 { both(1) } else { None });
    let (value, noise) = value.map_or((None, None), |(value, noise)| (Some(value), Some(noise)));
    let answers = match protocol.declared() {
        _ if redrawn => 1,
        InteractiveMechanism::SparseVector(sparse) => sparse.parameters.answers(),
        InteractiveMechanism::GuessAndCheck(guess) => guess.parameters.answers(),
        InteractiveMechanism::Sequence(_) => 0,
    };
    let gate = ThresholdDraws {
        answers,
        level: *level,
        threshold: threshold.clone(),
        query,
        value: noise,
    };
    Ok((gate, QuestionDraws { told, value }))
}

impl Asker {
    /// A session with a threshold near zero, whose noise can be summed over one by one.
    fn gate(&mut self) -> InteractiveMechanism {
        let epsilon = self.random.log_uniform(0.2, 2.0);
        let (answers, level) = (self.random.between(1, 2), self.random.uniform(-3.0, 6.0));
        let (reach, grid) = self.random.of(&[(1.0, 0), (3.0, 0), (1.0, -1), (0.4, -2), (0.3, 0)]);
        let grid = Grid::new(grid).unwrap();
        let sparse = || SparseVector::new(epsilon, answers, level).unwrap();
        match self.random.below(5) {
            3 => sparse().scaled(reach, grid).unwrap().with_values().redrawn().into(),
            4 => {
                let guess = GuessAndCheck::new(epsilon, answers, level.abs() + 0.5).unwrap();
                guess.scaled(reach, grid).unwrap().redrawn().into()
            }
            0 => sparse().scaled(reach, grid).unwrap().into(),
            1 => sparse().scaled(reach, grid).unwrap().with_values().into(),
            _ => {
                let guess = GuessAndCheck::new(epsilon, answers, level.abs() + 0.5).unwrap();
                guess.scaled(reach, grid).unwrap().into()
            }
        }
    }

    /// Counts and sums, some of which move further than declared; NaN bounds; guesses near the truth.
    fn gate_question(&mut self, declared: &InteractiveMechanism) -> SessionQuery {
        let (low, high) = self.random.of(&[(0.5, 1.5), (1.5, 2.5), (-0.5, 2.5)]);
        let size = self.random.of(&[0.3, 0.4, 1.0, 3.0, 10.0]);
        let sum = self.random.of(&[
            (0.0, size),
            (-size, 0.0),
            (-size / 2.0, size / 2.0),
            (7.0, 7.0 + size),
        ]);
        let query = match self.random.below(8) {
            0 => self.query(),
            1 => Query::count(),
            2..5 => Query::count_within(Bounds::new(low, high).unwrap()),
            _ => Query::sum(Bounds::new(sum.0, sum.1).unwrap()),
        };
        match declared {
            InteractiveMechanism::GuessAndCheck(_) => {
                SessionQuery::Check(query, self.random.uniform(-5.0, 15.0))
            }
            _ => SessionQuery::Above(query),
        }
    }
}

/// The largest share of the charge that was revealed, and the number of answered queries.
fn search(tries: u64, seed: u64, under: fn(Relation, &mut Random) -> Relation) -> (f64, u64) {
    let mut asker = Asker::new(seed);
    let (mut most, mut answered) = (0.0_f64, 0);
    for _ in 0..tries {
        let relation = Relation::new(
            asker.random.of(&[Adjacency::AddRemove, Adjacency::Replace]),
            asker.random.of(&[1, 2, 10]),
        );
        let (relation, declared) = (relation.unwrap(), asker.gate());
        let made = under(relation, &mut asker.random);
        let protocol = declared.under(made).unwrap();
        let near = [1.0, 2.0, 0.0, 10.0];
        let data = asker.neighbours(relation, &near).map(|values| Data::new(made, values));
        let questions: Vec<SessionQuery> = (0..6).map(|_| asker.gate_question(&declared)).collect();
        let answers: Vec<(ThresholdDraws, QuestionDraws)> =
            questions.iter().filter_map(|one| seen(&protocol, &data, one).ok()).collect();
        let Some((gate, _)) = answers.first() else { continue };
        answered += answers.len() as u64;
        // The charge of one round, since the observed draws are those of one round.
        let rounds = protocol.releases()[0].count.get() as f64;
        let charge = charged(protocol.releases()).pure / rounds;
        for _ in 0..4 {
            // One query repeatedly, then another.
            let first = asker.random.below(answers.len() as u64) as usize;
            let other = asker.random.below(answers.len() as u64) as usize;
            let turns = asker.random.between(1, 4) as usize;
            let asked: Vec<QuestionDraws> = std::iter::repeat_n(first, turns)
                .chain([other])
                .map(|place| answers[place].1.clone())
                .collect();
            most = most.max(gate.loss(&asked) / charge);
        }
    }
    (most, answered)
}

#[test]
fn a_gate_gives_away_no_more_than_it_costs() {
    let (most, answered) = search(tries(6_000, 0.1), 20_170_801, |relation, _| relation);
    assert!(most <= ROUNDING, "{most}");
    assert!(most > 0.9 && answered > 1000, "{most} {answered}");
}

/// The noise grows with the relation, on every grid; the cost does not.
#[test]
fn a_gate_costs_three_epsilon_or_four_whatever_the_relation() {
    for records in [1, 3, 10, 10_000] {
        let relation = Relation::new(Adjacency::Replace, records).unwrap();
        for (reach, grid) in [(1.0, 0), (0.3, -2), (0.7, -16), (1e9, 20)] {
            let grid = Grid::new(grid).unwrap();
            let sparse = SparseVector::new(0.3, 7, 1.0).unwrap().scaled(reach, grid).unwrap();
            let guess = GuessAndCheck::new(0.3, 7, 1.0).unwrap().scaled(reach, grid).unwrap();
            let declared: [(InteractiveMechanism, f64); 3] = [
                (sparse.clone().into(), 3.0),
                (sparse.with_values().into(), 4.0),
                (guess.into(), 4.0),
            ];
            for (declared, times) in declared {
                let cost = charged(declared.under(relation).unwrap().releases()).pure;
                let most = times * 0.3 * ROUNDING;
                assert!(cost <= most && cost > most - 1e-4, "{declared:?} of {relation}: {cost}");
            }
        }
    }
}

/// Wrong relations, which ignore the number of records or take it from the query.
#[test]
fn a_gate_that_is_not_under_the_datas_relation_is_found_out() {
    let for_one =
        |relation: Relation, _: &mut Random| Relation::single_record(relation.adjacency());
    let (most, _) = search(tries(2_000, 0.1), 3, for_one);
    assert!(most > 2.0, "{most}");
    let as_asked = |relation: Relation, random: &mut Random| {
        Relation::new(relation.adjacency(), random.between(1, relation.records())).unwrap()
    };
    let (most, _) = search(tries(2_000, 0.1), 4, as_asked);
    assert!(most > 2.0, "{most}");
}

/// A sparse vector with values that is scaled for ten must not add records that each count ten: on data of ten records
/// per person the query moves by a hundred and is refused.
#[test]
fn a_gate_on_data_of_ten_records_refuses_what_one_of_them_may_ask() {
    let sparse = SparseVector::new(0.5, 1, 50.0).unwrap().with_values();
    let declared = InteractiveMechanism::from(sparse.clone().scaled(10.0, Grid::WHOLE).unwrap());
    let sum = SessionQuery::Above(Query::sum(Bounds::new(0.0, 10.0).unwrap()));
    let (one, ten) = (1, 10);
    let [one, ten] =
        [one, ten].map(|records| Relation::new(Adjacency::AddRemove, records).unwrap());
    let pair = |relation| [vec![10.0; 10], vec![]].map(|values| Data::new(relation, values));
    let wrong = declared.under(one).unwrap();
    let (gate, asked) = seen(&wrong, &pair(one), &sum).unwrap();
    let (loss, charge) = (gate.loss(&[asked]), charged(wrong.releases()).pure);
    assert!((charge - 2.0).abs() < 1e-9 && loss > 5.8, "{loss} for {charge}");
    // Scaled for ten in total, each record may count one.
    let narrow = InteractiveMechanism::from(sparse).under(ten).unwrap();
    assert_eq!(
        seen(&narrow, &pair(ten), &sum).unwrap_err(),
        Error::Sensitivity { asked: 100, declared: 10 }
    );
    let right = declared.under(ten).unwrap();
    let (gate, asked) = seen(&right, &pair(ten), &sum).unwrap();
    let loss = gate.loss(&[asked]);
    assert!(loss <= charged(right.releases()).pure * ROUNDING, "{loss}");
}
