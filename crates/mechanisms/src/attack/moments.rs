//! Queries about several columns.

use super::*;
use crate::data::Data;
use crate::query::{Measurement, QueryKind};
use crate::{Error, Style};
use std::collections::BTreeMap;

impl Asker {
    /// A covariance, or a regression of one to a few predictors.
    fn about_a_table(&mut self) -> Query {
        if self.random.once_in(2) {
            return Query::covariance(self.bounds(), self.bounds());
        }
        let count = self.random.of(&[1, 1, 2, 3, 16]);
        let predictors: Vec<Bounds> = (0..count).map(|_| self.bounds()).collect();
        Query::regression(&predictors, self.bounds()).unwrap()
    }

    fn style(&mut self) -> Style {
        match self.random.below(3) {
            0 => Style::Laplace { epsilon: self.random.log_uniform(0.01, 5.0) },
            1 => Style::Gaussian { multiplier: self.random.log_uniform(0.1, 1000.0) },
            _ => Style::Staircase { epsilon: self.random.log_uniform(0.01, 5.0) },
        }
    }

    /// A row, often in a corner of the bounds.
    fn row(&mut self, bounds: &[Bounds]) -> Vec<f64> {
        let corner = self.random.once_in(2);
        let one = |bounds: &Bounds| {
            let ends = [bounds.low(), bounds.high()];
            if corner {
                self.random.of(&ends)
            } else {
                self.value(&[ends[0], ends[1], bounds.center()])
            }
        };
        bounds.iter().map(one).collect()
    }

    /// The rows of one person: as many as allowed, often all equal, or fewer.
    fn rows(&mut self, relation: Relation, bounds: &[Bounds]) -> Vec<Vec<f64>> {
        let count = match self.random.below(3) {
            _ if relation.is_length_public() => 1,
            0 => self.random.between(0, relation.records()),
            _ => relation.records(),
        };
        let (one, same) = (self.row(bounds), !self.random.once_in(3));
        (0..count).map(|_| if same { one.clone() } else { self.row(bounds) }).collect()
    }

    /// Two tables that differ by one person.
    fn tables(&mut self, relation: Relation, bounds: &[Bounds]) -> [Data; 2] {
        let shared: Vec<Vec<f64>> = (0..self.random.below(4)).map(|_| self.row(bounds)).collect();
        let first = self.rows(relation, bounds);
        let second = match relation.adjacency() {
            Adjacency::AddRemove => Vec::new(),
            Adjacency::Replace => self.rows(relation, bounds),
        };
        let sides = [[shared.clone(), first].concat(), [second, shared].concat()];
        sides.map(|rows| {
            let column = |place: usize| rows.iter().map(|row| row[place]).collect::<Vec<f64>>();
            Data::table(relation, (0..bounds.len()).map(column)).unwrap()
        })
    }
}

fn bounds_of(query: &Query) -> Vec<Bounds> {
    match &query.kind {
        QueryKind::Covariance(x, y) | QueryKind::Correlation(x, y) => vec![*x, *y],
        QueryKind::Regression { predictors, outcome } => {
            predictors.iter().copied().chain([*outcome]).collect()
        }
        _ => Vec::new(),
    }
}

/// The largest share of the charge that was revealed, by kind, noise and adjacency; and a case that noise did not hide.
fn search(
    questions: u64,
    make: impl Fn(&NoisyQuery, Relation) -> Option<Measurement>,
) -> (BTreeMap<String, f64>, Option<String>) {
    let mut asker = Asker::new(20_160_602);
    let (mut most, mut shown) = (BTreeMap::new(), None);
    for _ in 0..questions {
        let (relation, query, style) = (asker.relation(), asker.about_a_table(), asker.style());
        let noisy_query = NoisyQuery::new(query, style).unwrap();
        // Ten thousand rows of seventeen columns would take too long.
        if relation.records() > 10 && noisy_query.query().columns() > 2 {
            continue;
        }
        let Some(measurement) = make(&noisy_query, relation) else { continue };
        let bounds = bounds_of(noisy_query.query());
        let charge = charged(measurement.releases());
        let name = format!("{style:?}");
        let class = format!(
            "{} {} {:?}",
            noisy_query.query().kind.name(),
            name.split(' ').next().unwrap_or_default(),
            relation.adjacency()
        );
        let worst = most.entry(class).or_insert(0.0_f64);
        for _ in 0..8 {
            let pair = asker.tables(relation, &bounds);
            // As many draws as there are sums.
            let noise: Vec<i128> = (0..6).flat_map(|_| asker.noise()).collect();
            // Wrong measurements must run although the relation is not the data's.
            let data = pair.clone().map(|data| data.with_relation(measurement.relation()));
            let run = |side: usize| measurement.run(&data[side]).unwrap();
            let (loss, is_hidden) = compare(&noise[..measurement.releases().len()], run);
            *worst = worst.max(loss.share_of(charge));
            if !is_hidden {
                shown = Some(format!("{noisy_query:?} of {relation}: {pair:?}"));
            }
        }
    }
    (most, shown)
}

/// 20,000 queries in a full run.
#[test]
fn no_question_about_a_table_gives_away_more_than_it_costs() {
    let (most, shown) =
        search(tries(20_000, 0.03), |noisy_query, relation| noisy_query.under(relation).ok());
    assert_eq!(shown, None);
    assert_eq!(most.len(), 2 * 3 * 2, "{most:?}");
    for (class, most) in most {
        assert!(most <= ROUNDING, "{class}: {most}");
        // Under add/remove a corner moves all sums as far as possible; replacing a record cannot.
        let least = if class.ends_with("AddRemove") { 0.99 } else { 0.4 };
        assert!(most > least, "{class}: {most}");
    }
}

/// Measurements for one record per person are detected.
#[test]
fn wrong_charges_about_tables_are_found_out() {
    let for_one = |noisy_query: &NoisyQuery, relation: Relation| {
        noisy_query.under(Relation::single_record(relation.adjacency())).ok()
    };
    let (most, _) = search(tries(20_000, 0.01), for_one);
    assert!(most.values().copied().fold(0.0, f64::max) > 2.9, "{most:?}");
}

/// Data with more or fewer columns than the query are refused before their numbers are read, by all functions.
#[test]
fn other_columns_are_refused() {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let bounds = Bounds::new(0.0, 1.0).unwrap();
    let table = |width: usize| Data::table(relation, vec![vec![0.5; 3]; width]).unwrap();
    let three = Query::regression(&[bounds, bounds], bounds).unwrap();
    for (query, asked) in [(Query::count(), 1), (Query::covariance(bounds, bounds), 2), (three, 3)]
    {
        let measurement = query.laplace(1.0).unwrap().under(relation).unwrap();
        for data in (1..5).filter(|width| *width != asked) {
            let refused = Error::Columns { asked, data };
            assert_eq!(measurement.run(&table(data)), Err(refused.clone()));
            assert_eq!(measurement.tally(&table(data)), Err(refused.clone()));
            assert_eq!(measurement.check_data(&table(data)), Err(refused.clone()));
            assert_eq!(measurement.half_width_on(&table(data), 0.9), Err(refused.clone()));
            assert_eq!(measurement.half_widths_on(&table(data), 0.9), Err(refused.clone()));
            assert_eq!(measurement.expected_error_on(&table(data)), Err(refused));
        }
        assert!(measurement.run(&table(asked)).is_ok());
    }
    let sparse = crate::InteractiveMechanism::from(crate::SparseVector::new(1.0, 1, 0.0).unwrap());
    let session = sparse.open(&table(2)).unwrap();
    let question = crate::SessionQuery::Above(Query::count());
    assert_eq!(session.ask(&question), Err(Error::Columns { asked: 1, data: 2 }));
    for bad in
        [Data::table(relation, [vec![1.0], vec![]]), Data::table(relation, Vec::<Vec<f64>>::new())]
    {
        assert!(matches!(bad, Err(Error::Length { .. })));
    }
}
