//! Rényi divergences of losses, and what they say about epsilon and delta.
//!
//! The divergence of order a of a pair is K(a - 1)/(a - 1), where K(t) = ln E[e^(t L)]
//! is the loss's cumulant. Divergences of one order add up. Any order gives a sound
//! answer, so the search for a good one needs no proof: only its last step is certified.

mod convert;
mod cumulant;
mod sampled;
mod witness;

#[allow(unused_imports)]
pub(crate) use convert::{bound, delta, epsilon};
#[allow(unused_imports)]
pub(crate) use cumulant::{cumulant, cut};
#[allow(unused_imports)]
pub(crate) use witness::witness;
