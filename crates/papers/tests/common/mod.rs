//! Helpers of these tests.

pub(crate) mod fractions;
pub(crate) mod pairs;
pub(crate) mod tree;

pub(crate) use counterpoint_testing::is_full;
