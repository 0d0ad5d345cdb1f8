//! What the statistical tests share. Nothing here is derived from the crate's own code.

pub(crate) mod attack;
pub(crate) mod chance;
pub(crate) mod fit;
