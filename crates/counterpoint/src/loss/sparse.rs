//! Sparse vector with answers above a threshold: its pair dominates the mechanism, and randomized response dominates
//! its pair.
//!
//! Let the threshold's noise be given, and let it be shifted by the sensitivity on the other data set. Then no
//! transcript is more than e^e2 times as likely on one data set as on the other. So delta(e) <= delta1(e - e2) in both
//! directions, where delta1 is the profile of the noise and the shifted noise. Of the noise only its pure guarantee e1
//! is used. With delta(e1 + e2) = 0 this gives a profile with four corners (theory 5.9).

use super::{LossError, PairLoss, check_loss_range, response};
use crate::laws::{Atom, Atoms};
use counterpoint_numerics::{Dd, exp_neg};

/// The loss of a sparse vector whose threshold and queries have these epsilons.
pub(super) fn sparse_vector_loss(threshold: Dd, queries: Dd) -> Result<PairLoss, LossError> {
    let is_split = threshold.is_positive() && queries.is_positive();
    if !is_split {
        return response(threshold + queries);
    }
    Ok(sparse_vector_atoms(threshold, queries)?.into())
}

/// The atoms, at losses of plus and minus e1 + e2 and |e1 - e2|. The pair is symmetric in e1 and e2.
///
/// With u = e^-(the smaller), v = e^-(the larger) and w = v/u the masses are, by falling loss, 1, (1-v)u/(1+w),
/// (1-v)uw/(1+w) and uv, all over 1 + u.
pub(super) fn sparse_vector_atoms(threshold: Dd, queries: Dd) -> Result<Atoms, LossError> {
    let top = check_loss_range("epsilon", threshold + queries)?;
    let (small, large) =
        if threshold < queries { (threshold, queries) } else { (queries, threshold) };
    let between = large - small;
    let (u, v, w) = (exp_neg(small), exp_neg(large), exp_neg(between));
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
