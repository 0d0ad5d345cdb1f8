//! Attacks over neighbouring data *and* over everything that an analyst may choose. Queries of every kind are drawn at
//! random, near every limit. Neighbours have people with none to all allowed records, of values that are extreme for
//! the query. The numbers that noise is added to are recorded on both neighbours, and the exact laws of the noise give
//! the privacy loss: never more than is charged, and all of it where possible. The same search detects measurements
//! that let the analyst choose the relation.

mod gates;
mod groups;
mod measurements;
mod moments;
mod sessions;
mod shared;

use crate::noise::NoiseShape;
use crate::query::{Bounds, NoisyQuery, Query};
use crate::reply::Reply;
use crate::sample::watch::{self, Observation};
use counterpoint::{Adjacency, Mechanism, Relation, Release};
use counterpoint_testing::{Random, tries};

/// Losses are doubles here; this factor allows for rounding.
const ROUNDING: f64 = 1.0 + 1e-12;

/// A privacy loss or a charge: epsilon for pure mechanisms, and rho for Gaussian noise.
#[derive(Clone, Copy, Debug, Default)]
struct Loss {
    pure: f64,
    rho: f64,
}

impl Loss {
    fn and(self, other: Self) -> Self {
        Self { pure: self.pure + other.pure, rho: self.rho + other.rho }
    }

    /// The larger of the two ratios to the charge.
    fn share_of(self, charged: Self) -> f64 {
        let share = |loss: f64, charged: f64| if loss > 0.0 { loss / charged } else { 0.0 };
        share(self.pure, charged.pure).max(share(self.rho, charged.rho))
    }
}

/// The loss between runs on two neighbours; and true if noise hides all differences: shifting the draws by the
/// differences of the numbers that they are added to gives the same reply, bit by bit.
fn compare(noise: &[i128], run: impl Fn(usize) -> Reply) -> (Loss, bool) {
    let run = |side: usize, noise: &[i128]| watch::with(noise, || run(side));
    let ((reply, one), (_, other)) = (run(0, noise), run(1, noise));
    let draw = |(draw, noise): (usize, &i128)| match (one.get(draw), other.get(draw)) {
        (Some(Observation::Added(one, _)), Some(Observation::Added(other, _))) => {
            noise + one - other
        }
        _ => *noise,
    };
    let moved: Vec<i128> = noise.iter().enumerate().map(draw).collect();
    let (same, _) = run(1, &moved);
    (loss(&one, &other), bits(&reply) == bits(&same))
}

fn bits(reply: &Reply) -> Vec<u64> {
    match reply {
        Reply::Table(bins) => bins.iter().map(|bin| bin.to_bits()).collect(),
        other => other.number().iter().map(|x| x.to_bits()).collect(),
    }
}

/// The loss between two neighbours' runs over all draws, by the laws of the noise. The laws and the number of draws
/// must not depend on the data.
fn loss(one: &[Observation], other: &[Observation]) -> Loss {
    assert_eq!(one.len(), other.len(), "the number of draws depends on the data");
    one.iter().zip(other).map(|pair| loss_of_draw(pair.0, pair.1)).fold(Loss::default(), Loss::and)
}

fn loss_of_draw(one: &Observation, other: &Observation) -> Loss {
    match (one, other) {
        (Observation::Added(one, noise), Observation::Added(other, same)) => {
            assert_eq!(noise, same, "the noise depends on the data");
            moved(&noise.shape, one.abs_diff(*other) as f64)
        }
        (Observation::Chosen(one, choice), Observation::Chosen(other, same)) => {
            assert_eq!(choice, same, "the choice depends on the data");
            let (one, other) = (chances(one, choice.scale()), chances(other, choice.scale()));
            let ratios = one.iter().zip(&other).map(|(one, other)| (one - other).abs());
            Loss { pure: ratios.fold(0.0, f64::max), rho: 0.0 }
        }
        _ => panic!("what is drawn depends on the data"),
    }
}

/// The loss of noise on a number that moves by `far`.
fn moved(shape: &NoiseShape, far: f64) -> Loss {
    match shape {
        NoiseShape::Laplace { scale } => Loss { pure: far / scale.to_f64().value(), rho: 0.0 },
        NoiseShape::Gaussian { sigma } => {
            let far = far / sigma.to_f64().value();
            Loss { pure: 0.0, rho: 0.5 * far * far }
        }
        // The number of levels in between.
        NoiseShape::Staircase { inverse_epsilon, period, .. } => {
            let levels = (far / *period as f64).ceil();
            Loss { pure: levels / inverse_epsilon.to_f64().value(), rho: 0.0 }
        }
    }
}

/// The logarithm of the probability of each score.
fn chances(scores: &[i64], scale: f64) -> Vec<f64> {
    let best = scores.iter().copied().max().unwrap_or(0);
    let energies: Vec<f64> = scores.iter().map(|score| (score - best) as f64 / scale).collect();
    let total = energies.iter().map(|energy| energy.exp()).sum::<f64>().ln();
    energies.iter().map(|energy| energy - total).collect()
}

/// The total charge of releases: the sum of epsilons, which is exact at delta zero, and of rhos.
fn charged(releases: &[Release]) -> Loss {
    let one = |release: &Release| {
        let pure = |epsilon: f64| Loss { pure: epsilon, rho: 0.0 };
        let each = match &release.mechanism {
            Mechanism::Geometric { scale, sensitivity } => {
                pure(sensitivity.get() as f64 / scale.get())
            }
            Mechanism::Laplace { scale, sensitivity } => pure(sensitivity.get() / scale.get()),
            Mechanism::Staircase { epsilon, .. } | Mechanism::Exponential { epsilon } => {
                pure(epsilon.get())
            }
            Mechanism::ApproxDp(guarantee) => {
                assert!(guarantee.delta.get() <= 0.0);
                pure(guarantee.epsilon.get())
            }
            Mechanism::SparseVector { threshold, queries }
            | Mechanism::AboveThreshold { threshold, queries } => {
                pure(threshold.get() + queries.get())
            }
            Mechanism::DiscreteGaussian { sigma, sensitivity } => {
                let far = sensitivity.get() as f64 / sigma.get();
                Loss { pure: 0.0, rho: 0.5 * far * far }
            }
            Mechanism::Gaussian { sigma, sensitivity } => {
                let far = sensitivity.get() / sigma.get();
                Loss { pure: 0.0, rho: 0.5 * far * far }
            }
            Mechanism::Zcdp { rho, .. } => Loss { pure: 0.0, rho: rho.get() },
            other => panic!("{other:?}"),
        };
        let count = release.count.get() as f64;
        Loss { pure: count * each.pure, rho: count * each.rho }
    };
    releases.iter().map(one).fold(Loss::default(), Loss::and)
}

/// A random analyst with random neighbouring data.
struct Asker {
    random: Random,
}

impl Asker {
    fn new(seed: u64) -> Self {
        Self { random: Random::new(seed) }
    }

    fn relation(&mut self) -> Relation {
        let adjacency = self.random.of(&[Adjacency::AddRemove, Adjacency::Replace]);
        let many = if self.random.once_in(50) { 10_000 } else { 10 };
        let records = self.random.of(&[1, 1, 2, 3, many]);
        let relation = Relation::new(adjacency, records).unwrap();
        if self.random.once_in(2) { relation.filtered() } else { relation }
    }

    /// Bounds around zero, on one side of it, or far away.
    fn bounds(&mut self) -> Bounds {
        loop {
            let size = self.random.log_uniform(1e-6, 1e9);
            let (low, high) = match self.random.below(6) {
                0 => (0.0, size),
                1 => (-size, 0.0),
                2 => (-size, size),
                3 => (-size * self.random.unit(), size),
                4 => (1e12, 1e12 + size),
                _ => (-1e4 * size, -1e4 * size + size),
            };
            if let Ok(bounds) = Bounds::new(low, high) {
                return bounds;
            }
        }
    }

    fn query(&mut self) -> Query {
        let bounds = self.bounds();
        match self.random.below(14) {
            0 => Query::count(),
            1 => Query::count_within(bounds),
            2 => Query::sum(bounds),
            3 => Query::mean(bounds),
            4 => Query::variance(bounds),
            5 => Query::histogram(&self.places(bounds, 2)).unwrap(),
            6 => Query::proportion(bounds),
            7 => Query::cumulative(&self.places(bounds, 1)).unwrap(),
            8 | 9 => {
                let whole = self.random.of(&[2, 2, 5, 1000]);
                let count = self.random.between(1, 4).min(whole - 1);
                let first = self.random.of(&[1, (whole - count) / 2]).max(1);
                let shares: Vec<(u32, u32)> =
                    (first..first + count).map(|part| (part as u32, whole as u32)).collect();
                Query::quantiles(&shares, &self.places(bounds, 1)).unwrap()
            }
            _ => {
                let whole = self.random.of(&[2, 3, 10, 1000]);
                let part = self.random.of(&[1, whole / 2, whole - 1]).max(1);
                Query::quantile((part, whole), &self.places(bounds, 1)).unwrap()
            }
        }
    }

    /// Few or many places between the bounds, ends included.
    fn places(&mut self, bounds: Bounds, least: u64) -> Vec<f64> {
        let count = self.random.between(least, 30);
        let share = |place: u64| place as f64 / count as f64;
        let mut places: Vec<f64> = (0..count)
            .map(|place| bounds.low() + share(place) * (bounds.high() - bounds.low()))
            .chain([bounds.high()])
            .collect();
        places.dedup_by(|next, last| *next <= *last);
        places
    }

    /// A query with a suitable kind of noise, legal extremes included.
    fn noisy_query(&mut self) -> NoisyQuery {
        let query = self.query();
        let epsilon = match self.random.below(8) {
            0 => self.random.of(&[2.0_f64.powi(-20), 2.0_f64.powi(-18), 500.0]),
            _ => self.random.log_uniform(0.01, 5.0),
        };
        let multiplier = match self.random.below(8) {
            0 => self.random.of(&[0.025, 1000.0]),
            _ => self.random.log_uniform(0.1, 100.0),
        };
        let noisy_query = match self.random.below(3) {
            0 => query.laplace(epsilon),
            1 => query.gaussian(multiplier),
            _ => query.staircase(epsilon),
        };
        // Ends that aim at a near rank reveal the most on few rows.
        let confidence = self.random.of(&[None, None, Some(0.001), Some(0.95)]);
        let choice = |epsilon: f64| match confidence {
            Some(confidence) => query.exponential_interval(epsilon, confidence),
            None => query.exponential(epsilon),
        };
        // The larger epsilon is legal for four shares with ends.
        let least = |_| choice(epsilon).or_else(|_| choice(12.0 * epsilon));
        noisy_query.or_else(least).unwrap()
    }

    /// A value that is extreme for a query or for floating point, or a random one.
    fn value(&mut self, near: &[f64]) -> f64 {
        let nasty = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MAX, f64::MIN, 5e-324];
        match self.random.below(5) {
            0 => self.random.of(&nasty),
            1 => f64::from_bits(self.random.bits()),
            _ if near.is_empty() => self.random.unit(),
            _ => {
                let value = self.random.of(near);
                self.random.of(&[value, value, value.next_up(), value.next_down()])
            }
        }
    }

    /// The records of one person: none, some, or as many as allowed, equal or different. Exactly one record if the
    /// relation replaces one record by one.
    fn person(&mut self, relation: Relation, near: &[f64]) -> Vec<f64> {
        let most = relation.records();
        let count = match self.random.below(4) {
            _ if relation.is_length_public() => 1,
            0 => 0,
            1 => self.random.between(0, most),
            _ => most,
        };
        let one = self.value(near);
        let same = !self.random.once_in(3);
        (0..count).map(|_| if same { one } else { self.value(near) }).collect()
    }

    /// Two lists that differ in one person, the second in another order.
    fn neighbours(&mut self, relation: Relation, near: &[f64]) -> [Vec<f64>; 2] {
        let shared: Vec<f64> = (0..self.random.below(6)).map(|_| self.value(near)).collect();
        let first = self.person(relation, near);
        let second = match relation.adjacency() {
            Adjacency::AddRemove => Vec::new(),
            Adjacency::Replace => self.person(relation, near),
        };
        let mut second = [second, shared.clone()].concat();
        let turn = self.random.below(second.len().max(1) as u64) as usize;
        second.rotate_left(turn);
        let first = [shared, first].concat();
        if self.random.once_in(2) { [first, second] } else { [second, first] }
    }

    /// Draws of every size, for as many numbers as a table has.
    fn noise(&mut self) -> Vec<i128> {
        let draw = |random: &mut Random| {
            let size = i128::from(random.bits() >> random.below(64));
            if random.once_in(2) { size } else { -size }
        };
        (0..32).map(|_| draw(&mut self.random)).collect()
    }
}

/// The numbers at which a query's summands change behaviour.
fn turning(query: &Query) -> Vec<f64> {
    use crate::query::QueryKind;
    let within = |bounds: &Bounds| vec![bounds.low(), bounds.high(), bounds.center()];
    match &query.kind {
        QueryKind::Count(None) => Vec::new(),
        QueryKind::Count(Some(bounds)) | QueryKind::Sum(bounds) => within(bounds),
        QueryKind::Mean(bounds) | QueryKind::Variance(bounds) | QueryKind::Proportion(bounds) => {
            within(bounds)
        }
        QueryKind::Deviation(bounds) => within(bounds),
        QueryKind::Histogram(places) | QueryKind::Quantile { candidates: places, .. } => {
            places.to_vec()
        }
        QueryKind::Cumulative(places) | QueryKind::Quantiles { candidates: places, .. } => {
            places.to_vec()
        }
        // Queries of several columns have attacks of their own.
        QueryKind::Covariance(..) | QueryKind::Correlation(..) | QueryKind::Regression { .. } => {
            Vec::new()
        }
    }
}
