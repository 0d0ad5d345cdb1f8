//! All tests of the crate in one program, which is linked once; but for `fork`, which must not have
//! threads.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod planted;

mod accuracy;
mod charges;
mod distributions;
mod grid;
mod keys;
mod moments;
mod privacy;
mod ranges;
mod refusals;
mod sketch;
mod threads;
mod written;
