//! KOV Theorem III.3: the (epsilon, delta) pairs that describe k-fold composition.

use crate::composition::{Factor, Leak, Plan, leak};
use crate::delta_bounds::DeltaBounds;
use crate::mechanism::Guarantee;
use crate::methods::responses::equal::EqualResponses;
use crate::quantity::Count;
use counterpoint_numerics::Bracket;

/// A pair that holds for the composition: it is (epsilon, delta.upper)-private, and it is not private with a delta
/// below `delta.lower`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompositionGuarantee {
    /// (k - 2i) eps, rounded up.
    pub epsilon: f64,
    /// `1 - (1 - d)^k (1 - d_i)` at that epsilon.
    pub delta: Bracket,
}

/// Returns the pairs for i = 0, 1, ..., k/2, from the largest epsilon down. The privacy region of the composition is
/// the intersection of their regions.
///
/// ```
/// use counterpoint::{Count, Guarantee, theorem::lattice};
/// let pairs: Vec<_> =
///     lattice::guarantees(Guarantee::pure(0.1)?, Count::new(4)?).collect();
/// assert_eq!(pairs.len(), 3);
/// assert_eq!(pairs[0].epsilon, 0.4);
/// assert_eq!(pairs[0].delta.upper, 0.0);
/// # Ok::<(), counterpoint::OutOfRangeError>(())
/// ```
pub fn guarantees(
    guarantee: Guarantee,
    count: Count,
) -> impl Iterator<Item = CompositionGuarantee> {
    let epsilon = guarantee.epsilon.get();
    let factor = Factor { each: epsilon, count: count.get() };
    let mut equal = (epsilon > 0.0).then(|| EqualResponses::new(factor));
    let leak = Leak { each: guarantee.delta.get(), count: count.get() };
    let leaks = if leak.each > 0.0 { vec![leak] } else { Vec::new() };
    let last = if epsilon > 0.0 { count.get() / 2 } else { 0 };
    let legal = Plan::new([(guarantee, count)]).is_ok();
    (0..if legal { last + 1 } else { 0 }).map(move |i| {
        let at = equal.as_ref().map_or(0.0, |equal| equal.loss(i as f64).upper());
        let DeltaBounds { lower, upper } = match &mut equal {
            Some(equal) if i > 0 => equal.tail(at).delta(at),
            _ => DeltaBounds::ZERO,
        };
        CompositionGuarantee { epsilon: at, delta: leak::with_leaks(&leaks, lower, upper) }
    })
}
