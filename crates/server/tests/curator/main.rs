//! The curator over plain TCP, as analysts and attackers use it: answers, charges and refusals.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod attacks;
mod authentication;
mod crash;
mod engines;
mod operation;
mod owner;
mod pages;
mod queues;
mod recut;
mod refusals;
mod service;
mod sessions;
mod several;
mod storm;
mod timing;
