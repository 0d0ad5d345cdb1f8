//! Sparse vector above a threshold: a pair that is worse than it, and better than randomized response.
//!
//! Given the threshold's noise, moved along with the threshold, no answer is more than e^e2 times
//! as likely on one data set as on the other. So the profile is at most that of the moved noise,
//! e2 further on: delta(e) <= delta1(e - e2), in both directions. The noise is pure e1 and nothing
//! else need be known of it. Together with delta(e1 + e2) = 0 that is a profile with four corners
//! (theory 5.9).

use super::{LossError, Meaning, legal, response};
use crate::laws::{Atom, Atoms};
use counterpoint_numerics::{Dd, falling};

/// The loss of a sparse vector of which the threshold spends the one and the queries the other.
pub(super) fn sparse(threshold: Dd, queries: Dd) -> Result<Meaning, LossError> {
    let is_split = threshold.is_positive() && queries.is_positive();
    if !is_split {
        return response(threshold + queries);
    }
    Ok(sparse_list(threshold, queries)?.into())
}

/// Losses of plus and minus e1 + e2 and |e1 - e2|. Which of the two is larger makes no difference.
///
/// With u = e^-(the smaller), v = e^-(the larger) and w = v/u the masses are, by falling loss,
/// 1, (1-v)u/(1+w), (1-v)uw/(1+w) and uv, all over 1 + u.
pub(super) fn sparse_list(threshold: Dd, queries: Dd) -> Result<Atoms, LossError> {
    let top = legal("epsilon", threshold + queries)?;
    let (small, large) =
        if threshold < queries { (threshold, queries) } else { (queries, threshold) };
    let between = large - small;
    let (u, v, w) = (falling(small), falling(large), falling(between));
    let whole = Dd::ONE + u;
    let middle = -(-large).expm1() * u / (Dd::ONE + w) / whole;
    let list = vec![
        Atom { loss: top, mass: Dd::ONE / whole },
        Atom { loss: between, mass: middle },
        Atom { loss: -between, mass: middle * w },
        Atom { loss: -top, mass: u * v / whole },
    ];
    Ok(Atoms::mirrored(list))
}
