//! All tests of the crate in one program, which is linked once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
mod reference;

mod allocation;
mod audits;
mod batches;
mod calibrate;
mod cells;
mod charges;
mod corners;
mod covers;
mod curve_slots;
mod curve_teeth;
mod declared;
mod effort;
mod few_steps;
mod filters;
mod fractions;
mod games;
mod laplace;
mod loss_view;
mod many;
mod matrices;
mod mechanism_laws;
mod mechanism_teeth;
mod mechanisms;
mod metamorphic;
mod mixtures;
mod noisy_max;
mod odometer;
mod outcomes;
mod partitions;
mod plans_only;
mod rare_losses;
mod references;
mod readings;
mod regions;
mod rounding;
mod routes;
mod sampled_pairs;
mod selections;
mod shuffled;
mod soundness;
mod sparse_vector;
mod subsets;
mod teeth;
mod theorems;
mod unsound_rules;
