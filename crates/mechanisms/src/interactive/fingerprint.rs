//! What a state remembers of the declaration it belongs to.

use super::{GuessAndCheck, Interactive, Sequence, SparseVector};
use crate::query::{Bounds, Kind, Query, Recipe, Style};
use sha2::{Digest, Sha256};

/// A hash that is equal for equal declarations only. It is kept with states: what is fed, and in
/// which order, must not change.
///
/// Every kind is preceded by its number, every list by its length, so that no two declarations
/// feed the same bytes.
pub(super) fn of(declared: &Interactive) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"counterpoint session 1\n");
    match declared {
        Interactive::Sequence(Sequence { recipes }) => {
            feed(&mut hash, [0, recipes.len() as u64]);
            recipes.iter().for_each(|one| recipe(&mut hash, one));
        }
        Interactive::SparseVector(SparseVector { gate, values }) => {
            feed(&mut hash, [1, u64::from(*values)]);
            feed(&mut hash, gate.numbers());
        }
        Interactive::GuessAndCheck(GuessAndCheck { gate }) => {
            feed(&mut hash, [2]);
            feed(&mut hash, gate.numbers());
        }
    }
    hash.finalize().into()
}

fn feed(hash: &mut Sha256, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|number| hash.update(number.to_be_bytes()));
}

fn recipe(hash: &mut Sha256, recipe: &Recipe) {
    query(hash, recipe.query());
    let (kind, number) = match recipe.style() {
        // No other style has this number, nor two numbers.
        Style::ExponentialInterval { epsilon, confidence } => {
            return feed(hash, [5, epsilon.to_bits(), confidence.to_bits()]);
        }
        Style::Laplace { epsilon } => (0, epsilon),
        Style::Gaussian { multiplier } => (1, multiplier),
        Style::Staircase { epsilon } => (2, epsilon),
        Style::Exponential { epsilon } => (3, epsilon),
        Style::DiscreteGaussian { sigma } => (4, sigma),
    };
    feed(hash, [kind, number.to_bits()]);
}

fn query(hash: &mut Sha256, query: &Query) {
    let within = |bounds: &Bounds| vec![bounds.low(), bounds.high()];
    let (kind, (part, whole), numbers) = match &query.kind {
        Kind::Count(bounds) => (0, (0, 0), bounds.as_ref().map_or(Vec::new(), within)),
        Kind::Sum(bounds) => (1, (0, 0), within(bounds)),
        Kind::Mean(bounds) => (2, (0, 0), within(bounds)),
        Kind::Variance(bounds) => (3, (0, 0), within(bounds)),
        Kind::Histogram(edges) => (4, (0, 0), edges.to_vec()),
        Kind::Quantile { share, candidates } => (5, *share, candidates.to_vec()),
        Kind::Proportion(bounds) => (6, (0, 0), within(bounds)),
        Kind::Cumulative(edges) => (7, (0, 0), edges.to_vec()),
        // How many shares there are, so that they are told from the candidates.
        Kind::Quantiles { shares, candidates } => {
            let parts = shares.iter().flat_map(|(part, whole)| [*part, *whole]).map(f64::from);
            let numbers = parts.chain(candidates.iter().copied()).collect();
            (8, (shares.len() as u32, 0), numbers)
        }
        Kind::Covariance(x, y) => (16, (0, 0), [within(x), within(y)].concat()),
        Kind::Deviation(bounds) => (18, (0, 0), within(bounds)),
        Kind::Correlation(x, y) => (19, (0, 0), [within(x), within(y)].concat()),
        Kind::Regression { predictors, outcome } => {
            let all = predictors.iter().chain([outcome]);
            (17, (0, 0), all.flat_map(within).collect())
        }
    };
    feed(hash, [kind, part.into(), whole.into(), numbers.len() as u64]);
    feed(hash, numbers.into_iter().map(f64::to_bits));
}
