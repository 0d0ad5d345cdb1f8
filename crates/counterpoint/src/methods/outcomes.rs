//! What the exact routes list, where outcomes are few.

use counterpoint_numerics::{Dd, Wide};

/// All outcomes of a view without its leaks.
pub(crate) struct Outcomes {
    /// Loss, P mass and Q mass, by falling loss; Q's as if nothing leaked.
    pub(crate) list: Vec<(Dd, Wide, Wide)>,
    /// The masses' relative error.
    pub(crate) slack: f64,
    /// At most this much P mass is not listed.
    pub(crate) cut: f64,
}
