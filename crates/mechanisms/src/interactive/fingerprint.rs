//! The fingerprint of a declaration, by which a state is matched with it.

use super::{GuessAndCheck, InteractiveMechanism, Sequence, SparseVector};
use crate::query::{Bounds, NoisyQuery, Query, QueryKind, Style};
use sha2::{Digest, Sha256};

/// A hash that is equal for equal declarations only. Stored states contain it: its input and the order of its input
/// must not change.
///
/// Every kind is preceded by its number and every list by its length, so that different declarations have different
/// input.
pub(super) fn of(declared: &InteractiveMechanism) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"counterpoint session 1\n");
    match declared {
        InteractiveMechanism::Sequence(Sequence { noisy_queries }) => {
            feed(&mut hash, [0, noisy_queries.len() as u64]);
            noisy_queries.iter().for_each(|one| noisy_query(&mut hash, one));
        }
        InteractiveMechanism::SparseVector(SparseVector { parameters, values }) => {
            feed(&mut hash, [1, u64::from(*values)]);
            feed(&mut hash, parameters.numbers());
        }
        InteractiveMechanism::GuessAndCheck(GuessAndCheck { parameters }) => {
            feed(&mut hash, [2]);
            feed(&mut hash, parameters.numbers());
        }
    }
    hash.finalize().into()
}

fn feed(hash: &mut Sha256, numbers: impl IntoIterator<Item = u64>) {
    numbers.into_iter().for_each(|number| hash.update(number.to_be_bytes()));
}

fn noisy_query(hash: &mut Sha256, noisy_query: &NoisyQuery) {
    query(hash, noisy_query.query());
    let (kind, number) = match noisy_query.style() {
        // No other style has this number, nor two parameters.
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
        QueryKind::Count(bounds) => (0, (0, 0), bounds.as_ref().map_or(Vec::new(), within)),
        QueryKind::Sum(bounds) => (1, (0, 0), within(bounds)),
        QueryKind::Mean(bounds) => (2, (0, 0), within(bounds)),
        QueryKind::Variance(bounds) => (3, (0, 0), within(bounds)),
        QueryKind::Histogram(edges) => (4, (0, 0), edges.to_vec()),
        QueryKind::Quantile { share, candidates } => (5, *share, candidates.to_vec()),
        QueryKind::Proportion(bounds) => (6, (0, 0), within(bounds)),
        QueryKind::Cumulative(edges) => (7, (0, 0), edges.to_vec()),
        // The number of shares separates them from the candidates.
        QueryKind::Quantiles { shares, candidates } => {
            let parts = shares.iter().flat_map(|(part, whole)| [*part, *whole]).map(f64::from);
            let numbers = parts.chain(candidates.iter().copied()).collect();
            (8, (shares.len() as u32, 0), numbers)
        }
        QueryKind::Covariance(x, y) => (16, (0, 0), [within(x), within(y)].concat()),
        QueryKind::Deviation(bounds) => (18, (0, 0), within(bounds)),
        QueryKind::Correlation(x, y) => (19, (0, 0), [within(x), within(y)].concat()),
        QueryKind::Regression { predictors, outcome } => {
            let all = predictors.iter().chain([outcome]);
            (17, (0, 0), all.flat_map(within).collect())
        }
    };
    feed(hash, [kind, part.into(), whole.into(), numbers.len() as u64]);
    feed(hash, numbers.into_iter().map(f64::to_bits));
}
