//! All tests of the crate in one program, which is linked once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

mod interactive;
mod noise;
mod pair_maps;
mod renyi_systems;
mod simulations;
mod sparse_vector;
