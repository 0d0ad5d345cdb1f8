//! All tests of the crate in one program, which is linked once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod simulations;
mod sketches;
mod studies;
mod study_new;
