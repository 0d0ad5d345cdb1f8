//! Losses of any kind: formulas for one, contours and grids for many, Rényi curves where no
//! loss is known.

pub(crate) mod closed;
pub(crate) mod cumulant;
pub(crate) mod edge;
pub(crate) mod faint;
pub(crate) mod grid;
pub(crate) mod knots;
pub(crate) mod laplace;
pub(crate) mod largest;
pub(crate) mod listed;
pub(crate) mod renyi;
pub(crate) mod smooth;
