//! The one generator of all tests.

pub(crate) use counterpoint_testing::Random;
