//! The curator as analysts and attackers meet it, over plain TCP: what is answered, what is charged, what is refused.
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
