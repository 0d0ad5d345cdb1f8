//! The releases of a plan, in canonical order. Counts are applied here and
//! nowhere else.

use crate::mechanism::Guarantee;
use crate::quantity::Count;

/// Equal randomized responses: the finite part of the losses of (epsilon, delta)
/// guarantees. Leaky randomized response dominates every mechanism with its guarantee (MV
/// Lemma 3.2, KOV section IV): with probability delta the loss is infinite, otherwise it is
/// `+epsilon` with probability `e^epsilon/(1+e^epsilon)` and `-epsilon` with the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The loss is plus or minus this; positive.
    pub epsilon: f64,
    /// How many of them.
    pub count: u64,
}

/// Equal leaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leak {
    /// The probability that one of them leaks; positive.
    pub delta: f64,
    /// How many of them.
    pub count: u64,
}

/// Many releases about the same data, as plain data: factors sorted by epsilon,
/// leaks sorted by delta, equal ones counted together.
///
/// The order of the releases, splitting a count in two and adding a (0, 0)
/// release make no difference at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    factors: Vec<Factor>,
    leaks: Vec<Leak>,
    releases: u64,
    uniform: bool,
}

/// Why releases could not be put together.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompositionError {
    /// There is nothing to compose.
    #[error("there are no releases; legal: at least one")]
    Empty,
    /// The counts add up to too much.
    #[error("the counts add up to {total}; legal: at most 10^15 in all")]
    TooMany {
        /// What they add up to, at least.
        total: u64,
    },
    /// The epsilons add up to too much to tell neighbouring answers apart.
    #[error("the epsilons add up to {total:e}; legal: at most 10^12 in all")]
    TooLarge {
        /// What they add up to.
        total: f64,
    },
}

const MOST_RELEASES: u64 = 1_000_000_000_000_000;
const MOST_EPSILON: f64 = 1e12;

impl Composition {
    /// Puts releases together.
    ///
    /// # Errors
    /// [`CompositionError`] if there are none, or absurdly many.
    pub fn new(
        releases: impl IntoIterator<Item = (Guarantee, Count)>,
    ) -> Result<Self, CompositionError> {
        let composition = Self::of(releases)?;
        if composition.releases == 0 { Err(CompositionError::Empty) } else { Ok(composition) }
    }

    /// The same, of nothing too.
    pub(crate) fn of(
        releases: impl IntoIterator<Item = (Guarantee, Count)>,
    ) -> Result<Self, CompositionError> {
        let mut factors = Vec::new();
        let mut leaks = Vec::new();
        let mut total = 0_u64;
        let mut first = None;
        let mut uniform = true;
        for (guarantee, count) in releases {
            let (epsilon, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
            let count = count.get();
            total = total.saturating_add(count);
            if total > MOST_RELEASES {
                return Err(CompositionError::TooMany { total });
            }
            if epsilon > 0.0 || delta > 0.0 {
                uniform &= *first.get_or_insert(guarantee) == guarantee;
            }
            if epsilon > 0.0 {
                factors.push((epsilon, count));
            }
            if delta > 0.0 {
                leaks.push((delta, count));
            }
        }
        let factors = grouped(factors).map(|(epsilon, count)| Factor { epsilon, count }).collect();
        let leaks = grouped(leaks).map(|(delta, count)| Leak { delta, count }).collect();
        let composition = Self { factors, leaks, releases: total, uniform };
        let sum = composition.factors.iter().map(|f| f.epsilon * f.count as f64).sum();
        if sum > MOST_EPSILON {
            return Err(CompositionError::TooLarge { total: sum });
        }
        Ok(composition)
    }

    /// The finite losses, by increasing epsilon, each epsilon once.
    #[must_use]
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The leaks, by increasing delta, each delta once.
    #[must_use]
    pub fn leaks(&self) -> &[Leak] {
        &self.leaks
    }

    /// How many releases there are, counts included.
    #[must_use]
    pub fn releases(&self) -> u64 {
        self.releases
    }

    /// The guarantee all releases share, as (epsilon, delta, count), if they do.
    /// Releases that promise (0, 0) cost nothing and are passed over.
    #[must_use]
    pub fn shared_guarantee(&self) -> Option<(f64, f64, u64)> {
        let (epsilon, of_factor) = self.factors.first().map_or((0.0, 0), |f| (f.epsilon, f.count));
        let (delta, of_leak) = self.leaks.first().map_or((0.0, 0), |l| (l.delta, l.count));
        self.uniform.then_some((epsilon, delta, of_factor.max(of_leak)))
    }
}

/// Sorts by value and adds up the counts of equal values.
fn grouped(mut items: Vec<(f64, u64)>) -> impl Iterator<Item = (f64, u64)> {
    items.sort_by(|a, b| a.0.total_cmp(&b.0));
    items.dedup_by(|next, kept| {
        let same = next.0.to_bits() == kept.0.to_bits();
        if same {
            kept.1 += next.1;
        }
        same
    });
    items.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Guarantee;

    fn compose(list: &[(f64, f64, u64)]) -> Composition {
        Composition::new(
            list.iter().map(|&(e, d, n)| (Guarantee::new(e, d).unwrap(), Count::new(n).unwrap())),
        )
        .unwrap()
    }

    #[test]
    fn order_and_split_counts_do_not_matter() {
        let a = compose(&[(0.1, 0.0, 3), (0.2, 1e-7, 2)]);
        let b = compose(&[(0.2, 1e-7, 1), (0.1, 0.0, 1), (0.2, 1e-7, 1), (0.1, 0.0, 2)]);
        assert_eq!(a, b);
    }

    #[test]
    fn nothing_and_too_much_are_errors() {
        let none: [(Guarantee, Count); 0] = [];
        assert_eq!(Composition::new(none), Err(CompositionError::Empty));
        let huge = (Guarantee::pure(1e6).unwrap(), Count::new(10_000_000).unwrap());
        assert!(matches!(Composition::new([huge]), Err(CompositionError::TooLarge { .. })));
    }
}
