//! Declared sensitivity against what neighbours do: 10^6 pairs, with everything in them that
//! floating point can hold.

use super::measurement::Body;
use super::*;
use crate::sample::script;
use crate::{Data, Error, Reply};
use counterpoint::Mechanism;

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2.0_f64.powi(-53)
    }

    fn bounds(&mut self) -> Bounds {
        let size = 10.0_f64.powf(self.unit() * 12.0 - 4.0);
        let low = size * (self.unit() - 0.5) * 10.0_f64.powf(self.unit() * 3.0);
        Bounds::new(low, low + size).unwrap()
    }

    fn value(&mut self, bounds: Bounds) -> f64 {
        let nasty = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -0.0,
            f64::MAX,
            f64::MIN,
            f64::from_bits(1),
            bounds.low,
            bounds.high,
            bounds.low.next_down(),
            bounds.high.next_up(),
            bounds.center(),
        ];
        match self.below(3) {
            0 => nasty[self.below(nasty.len() as u64) as usize],
            1 => bounds.low + (bounds.high - bounds.low) * self.unit(),
            _ => f64::from_bits(self.bits()),
        }
    }

    fn relation(&mut self) -> Relation {
        let adjacency = if self.below(2) == 0 { Adjacency::AddRemove } else { Adjacency::Replace };
        Relation::new(adjacency, 1 + self.below(3)).unwrap()
    }

    fn query(&mut self, bounds: Bounds) -> Query {
        let between = |share: f64| bounds.low + share * (bounds.high - bounds.low);
        let places: Vec<f64> = [0.0, 0.3, 0.6, 1.0].map(between).into();
        match self.below(7) {
            0 => Query::count(),
            1 => Query::count_within(bounds),
            2 => Query::sum(bounds),
            3 => Query::mean(bounds),
            4 => Query::variance(bounds),
            5 => Query::histogram(&places).unwrap(),
            _ => Query::quantile((1 + self.below(9) as u32, 10), &places).unwrap(),
        }
    }

    fn measurement(&mut self, query: &Query, relation: Relation) -> Measurement {
        let choice = if relation.records() > 1 { 2 } else { 3 };
        let recipe = match (&query.kind, self.below(choice)) {
            (Kind::Quantile { .. }, _) => query.exponential(0.5 + self.unit()),
            (_, 0) => query.laplace(0.01 + 3.0 * self.unit()),
            (_, 1) => query.gaussian(0.1 + 3.0 * self.unit()),
            _ => query.staircase(0.1 + 3.0 * self.unit()),
        };
        recipe.unwrap().under(relation).unwrap()
    }

    /// One record, or up to as many as a person may have.
    fn own(&mut self, relation: Relation, bounds: Bounds) -> Vec<f64> {
        let records = relation.records();
        let fewer = records > 1 && self.below(2) == 0;
        let count = if fewer { self.below(records) } else { records };
        (0..count).map(|_| self.value(bounds)).collect()
    }

    /// Two lists that differ by one person, the second in another order.
    fn neighbours(&mut self, relation: Relation, bounds: Bounds) -> (Vec<f64>, Vec<f64>) {
        let shared: Vec<f64> = (0..self.below(6)).map(|_| self.value(bounds)).collect();
        let first = self.own(relation, bounds);
        let second = match relation.adjacency() {
            Adjacency::AddRemove => Vec::new(),
            Adjacency::Replace => self.own(relation, bounds),
        };
        let mut second = [second, shared.clone()].concat();
        let turn = self.below(second.len().max(1) as u64) as usize;
        if turn < second.len() {
            second.rotate_left(turn);
        }
        ([shared, first].concat(), second)
    }
}

/// Both adjacencies, each with as many records a person.
fn relations(records: [u64; 2]) -> impl Iterator<Item = Relation> {
    let both = [Adjacency::AddRemove, Adjacency::Replace];
    let each = move |adjacency| records.map(|records| Relation::new(adjacency, records).unwrap());
    both.into_iter().flat_map(each)
}

/// How much of the declared sensitivity a pair of neighbours uses, at most.
fn used(measurement: &Measurement, one: &[f64], other: &[f64]) -> f64 {
    let (query, relation) = (measurement.query(), measurement.relation());
    let share = |moved: u128, declared: u64| moved as f64 / declared as f64;
    match &measurement.body {
        Body::Sums(sums) => sums.iter().fold(0.0, |most: f64, (tally, noise)| {
            most.max(share(tally.sum(one).abs_diff(tally.sum(other)), noise.sensitivity()))
        }),
        Body::Bins(_) => {
            let (one, other) = (query.bins(one), query.bins(other));
            let moved: u128 = one.iter().zip(&other).map(|(a, b)| a.abs_diff(*b)).sum();
            let sides = if relation.adjacency() == Adjacency::Replace { 2 } else { 1 };
            share(moved, sides * relation.records())
        }
        Body::Choice(choice) => {
            let (one, other) = (query.scores(one), query.scores(other));
            let moved = one.iter().zip(&other).map(|(a, b)| a.abs_diff(*b)).max();
            share(moved.unwrap_or(0).into(), choice.sensitivity())
        }
    }
}

#[test]
fn no_neighbour_moves_an_answer_further_than_declared() {
    let mut random = Random(20_170_601);
    let mut most = [[0.0_f64; 6]; 4];
    for _ in 0..1_000_000 {
        let bounds = random.bounds();
        let (relation, query) = (random.relation(), random.query(bounds));
        let measurement = random.measurement(&query, relation);
        let (one, other) = random.neighbours(relation, bounds);
        let used = used(&measurement, &one, &other);
        assert!(used <= 1.0, "{measurement:?}: {used} for {one:?} and {other:?}");
        let kind = match query.kind {
            Kind::Count(_) => 0,
            Kind::Sum(_) => 1,
            Kind::Mean(_) => 2,
            Kind::Variance(_) => 3,
            Kind::Histogram(_) => 4,
            Kind::Quantile { .. } => 5,
        };
        // The number of records is used as it is where neighbours agree on it.
        assert!(!relation.is_length_public() || one.len() == other.len());
        let replaced = usize::from(relation.adjacency() == Adjacency::Replace);
        let most = &mut most[2 * replaced + usize::from(relation.records() > 1)][kind];
        *most = most.max(used);
    }
    // Nothing is declared in vain: a sensitivity 1 % less would have been passed.
    assert!(most.iter().flatten().all(|&most| most > 0.99), "{most:?}");
}

/// What is charged for a histogram or a sum is the sum of its parts, and no more than asked.
#[test]
fn a_charge_is_what_was_asked_for() {
    let bounds = Bounds::new(-3.0, 10.0).unwrap();
    let epsilon = |mechanism: &Mechanism| match mechanism {
        Mechanism::Geometric { scale, sensitivity } => sensitivity.get() as f64 / scale.get(),
        Mechanism::Laplace { scale, sensitivity } => sensitivity.get() / scale.get(),
        Mechanism::Staircase { epsilon, .. } | Mechanism::Exponential { epsilon } => epsilon.get(),
        Mechanism::ApproxDp(guarantee) => guarantee.epsilon.get(),
        other => panic!("{other:?}"),
    };
    for relation in relations([1, 3]) {
        let edges: Vec<f64> = (0..9).map(f64::from).collect();
        let queries = [
            Query::count(),
            Query::sum(bounds),
            Query::mean(bounds),
            Query::variance(bounds),
            Query::histogram(&edges).unwrap(),
        ];
        for query in queries {
            let measurement = query.laplace(0.7).unwrap().under(relation).unwrap();
            let total: f64 = (measurement.releases().iter())
                .map(|release| release.count.get() as f64 * epsilon(&release.mechanism))
                .sum();
            assert!((0.69..=0.7 + 1e-12).contains(&total), "{query:?}: {total}");
        }
    }
}

/// Without noise the answers are those of arithmetic.
#[test]
fn answers_without_noise() {
    let data = [1.0, 2.5, 4.0, 11.0, f64::NAN, -7.0];
    let bounds = Bounds::new(0.0, 10.0).unwrap();
    // Clamped: 1, 2.5, 4, 10, 0, 0.
    let (sum, squares) = (17.5, 1.0 + 6.25 + 16.0 + 100.0);
    let mean: f64 = sum / 6.0;
    for relation in relations([1, 4]) {
        let data = Data::new(relation, data);
        let cases = [
            (Query::count(), 6.0),
            (Query::count_within(bounds), 3.0),
            (Query::sum(bounds), sum),
            (Query::mean(bounds), mean),
            (Query::variance(bounds), squares / 6.0 - mean * mean),
        ];
        for (query, expected) in cases {
            let measurement = query.laplace(1.0).unwrap().under(relation).unwrap();
            let found = script::with(&[0; 3], || measurement.run(&data)).unwrap();
            let found = found.number().unwrap();
            assert!((found - expected).abs() < 1e-6, "{query:?}: {found}, {expected}");
        }
        let histogram = Query::histogram(&[0.0, 2.0, 4.0, 20.0]).unwrap();
        let histogram = histogram.laplace(1.0).unwrap().under(relation).unwrap();
        let table = script::with(&[0; 3], || histogram.run(&data));
        assert_eq!(table, Ok(Reply::Table(vec![1.0, 1.0, 2.0])));
        // The numbers in order: NaN, -7, 1, 2.5, 4, 11.
        let median = Query::quantile((1, 2), &[0.0, 2.0, 3.0, 9.0]).unwrap();
        let median = median.exponential(1.0).unwrap().under(relation).unwrap();
        assert_eq!(script::with(&[1], || median.run(&data)), Ok(Reply::Number(2.0)));
    }
}

/// Many small numbers on a coarse grid: the sum is rounded, not each of them.
#[test]
fn rounding_does_not_add_up() {
    let bounds = Bounds::new(0.0, 1000.0).unwrap();
    for relation in relations([1, 1]) {
        let sum = Query::sum(bounds).gaussian(3.0).unwrap().under(relation).unwrap();
        let step = sum.noises()[0].grid().step();
        assert!(step > 1.0, "{step}");
        for value in [0.1, 1.0, 333.3, 999.9] {
            let data = Data::new(relation, [value; 10_000]);
            let found = script::with(&[0], || sum.run(&data)).unwrap();
            let off = (found.number().unwrap() - 10_000.0 * value).abs();
            assert!(off <= 0.51 * step, "{value}: {off}");
        }
    }
}

#[test]
fn bad_parameters_are_named() {
    let nan = f64::NAN;
    assert!(Bounds::new(1.0, 1.0).is_err() && Bounds::new(nan, 1.0).is_err());
    assert!(Bounds::new(0.0, f64::INFINITY).is_err());
    let text = Bounds::new(2.0, 1.0).unwrap_err().to_string();
    assert_eq!(text, "bounds is 2 to 1; legal: finite numbers, the first below the second");
    let query = Query::count();
    for bad in [0.0, -1.0, nan, f64::INFINITY, 501.0] {
        assert!(query.laplace(bad).is_err() && query.staircase(bad).is_err());
    }
    assert!(query.gaussian(nan).is_err() && query.gaussian(0.001).is_err());
    assert!(matches!(query.exponential(1.0), Err(Error::Unsuited { .. })));
    assert!(Query::histogram(&[1.0]).is_err());
    assert!(Query::histogram(&[1.0, 1.0]).is_err());
    assert!(Query::histogram(&[1.0, nan]).is_err());
    assert!(Query::quantile((0, 2), &[1.0]).is_err());
    assert!(Query::quantile((1, 2), &[nan]).is_err());
    let [one, several] = [1, 2].map(|records| Relation::new(Adjacency::Replace, records).unwrap());
    assert!(query.laplace(1.0).unwrap().under(one).unwrap().half_width(1, 0.0).is_err());
    let histogram = Query::histogram(&[1.0, 2.0]).unwrap().staircase(1.0).unwrap();
    assert!(histogram.under(one).is_ok());
    assert!(matches!(histogram.under(several), Err(Error::Unsuited { .. })));
}
