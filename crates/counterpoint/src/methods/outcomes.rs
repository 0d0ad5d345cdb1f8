//! The lists of outcomes that exact methods make.

use counterpoint_numerics::{Dd, Wide};

/// All outcomes of a composition without its leaks.
pub(crate) struct Outcomes {
    /// Loss, P mass and Q mass, by decreasing loss; Q masses as if nothing leaked.
    pub(crate) list: Vec<(Dd, Wide, Wide)>,
    /// The masses' relative error.
    pub(crate) slack: f64,
    /// An upper bound on the P mass that is not listed.
    pub(crate) cut: f64,
}
