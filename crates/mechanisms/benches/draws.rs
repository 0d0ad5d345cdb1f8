//! Our draws beside the sampler library's own, and sparse vector beside its noise:
//! `cargo bench -p counterpoint-mechanisms`.
#![allow(clippy::unwrap_used)]

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Data, Grid, Interactive, Noise, Query, Question, SparseVector};
use dashu_ratio::RBig;
use divan::{Bencher, black_box};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};

fn main() {
    divan::main();
}

const SCALES: [f64; 3] = [1.0, 10.5, 1e6];
const SIGMAS: [f64; 3] = [1.0, 10.5, 1500.0];

fn ratio(x: f64) -> RBig {
    RBig::try_from(x).unwrap()
}

#[divan::bench(args = SCALES, sample_size = 1000)]
fn laplace_library(bencher: Bencher<'_, '_>, scale: f64) {
    let scale = ratio(scale);
    bencher.bench_local(|| sample_discrete_laplace(black_box(&scale).clone()).unwrap());
}

#[divan::bench(args = SCALES, sample_size = 1000)]
fn laplace_ours(bencher: Bencher<'_, '_>, scale: f64) {
    let noise = Noise::geometric(scale, 1).unwrap();
    bencher.bench_local(|| noise.add(black_box(12)).unwrap());
}

#[divan::bench(args = SCALES, sample_size = 1000)]
fn laplace_ours_on_a_grid(bencher: Bencher<'_, '_>, scale: f64) {
    let noise = Noise::laplace(scale, 1.0, Grid::WHOLE).unwrap();
    bencher.bench_local(|| noise.release(black_box(12.25)).unwrap());
}

#[divan::bench(args = SIGMAS, sample_size = 1000)]
fn gaussian_library(bencher: Bencher<'_, '_>, sigma: f64) {
    let sigma = ratio(sigma);
    bencher.bench_local(|| sample_discrete_gaussian(black_box(&sigma).clone()).unwrap());
}

#[divan::bench(args = SIGMAS, sample_size = 1000)]
fn gaussian_ours(bencher: Bencher<'_, '_>, sigma: f64) {
    let noise = Noise::discrete_gaussian(sigma, 1).unwrap();
    bencher.bench_local(|| noise.add(black_box(12)).unwrap());
}

/// What one query of the gate below needs.
#[divan::bench(sample_size = 1000)]
fn sparse_vector_noise_alone(bencher: Bencher<'_, '_>) {
    let scale = ratio(10.0);
    bencher.bench_local(|| sample_discrete_laplace(black_box(&scale).clone()).unwrap());
}

/// A hundred records, ten answers above, a threshold no query reaches.
#[divan::bench(sample_size = 1000)]
fn sparse_vector_query(bencher: Bencher<'_, '_>) {
    let data: Vec<f64> = (0..100).map(f64::from).collect();
    let data = Data::new(Relation::one(Adjacency::AddRemove), data);
    let gate = SparseVector::new(1.0, 10, 1e15).unwrap();
    let session = Interactive::from(gate).open(&data).unwrap();
    let question = Question::Above(Query::count());
    bencher.bench_local(|| session.ask(black_box(&question)).unwrap());
}
