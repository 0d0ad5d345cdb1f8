//! Our draws beside those of opendp's samplers, what it takes to make a sampler, the exponential mechanism on
//! many scores, and sparse vector beside its noise: `cargo bench -p counterpoint-bench --bench draws`.
#![allow(clippy::unwrap_used)]

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{
    Data, Exponential, Grid, InteractiveMechanism, Noise, Query, RandomizedResponse, SessionQuery,
    SparseVector,
};
use dashu_ratio::RBig;
use divan::{Bencher, black_box};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};

fn main() {
    divan::main();
}

const SCALES: [f64; 3] = [1.0, 10.5, 1e6];
const SIGMAS: [f64; 4] = [1.0, 10.5, 1500.0, 1_234.567_890_123];

fn ratio(x: f64) -> RBig {
    RBig::try_from(x).unwrap()
}

#[divan::bench(args = SCALES, sample_size = 1000)]
fn laplace_opendp(bencher: Bencher<'_, '_>, scale: f64) {
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
fn gaussian_opendp(bencher: Bencher<'_, '_>, sigma: f64) {
    let sigma = ratio(sigma);
    bencher.bench_local(|| sample_discrete_gaussian(black_box(&sigma).clone()).unwrap());
}

#[divan::bench(args = SIGMAS, sample_size = 1000)]
fn gaussian_ours(bencher: Bencher<'_, '_>, sigma: f64) {
    let noise = Noise::discrete_gaussian(sigma, 1).unwrap();
    bencher.bench_local(|| noise.add(black_box(12)).unwrap());
}

#[divan::bench(args = [0.1, 1.0, 40.0, 500.0], sample_size = 1000)]
fn staircase_ours(bencher: Bencher<'_, '_>, epsilon: f64) {
    let noise = Noise::staircase(epsilon, None, 100.0, Grid::WHOLE).unwrap();
    bencher.bench_local(|| noise.add(black_box(12)).unwrap());
}

#[divan::bench(args = [2, 4, 1000], sample_size = 1000)]
fn response_ours(bencher: Bencher<'_, '_>, buckets: u64) {
    let response = RandomizedResponse::new(1.0, buckets).unwrap();
    bencher.bench_local(|| response.release(black_box(1)).unwrap());
}

/// One best score, far above all others.
#[divan::bench(args = [10, 1000, 1_000_000], sample_size = 1, sample_count = 20)]
fn exponential_ours(bencher: Bencher<'_, '_>, count: usize) {
    let choice = Exponential::new(1.0, 1).unwrap();
    let mut scores = vec![0; count];
    scores[count / 2] = 1_000_000;
    bencher.bench_local(|| choice.release(black_box(&scores)).unwrap());
}

/// With the first draw, at which thresholds are made.
#[divan::bench(args = [1.0, 1e6, 1e9, 1e24], sample_size = 100)]
fn laplace_made(bencher: Bencher<'_, '_>, scale: f64) {
    bencher.bench_local(|| Noise::geometric(black_box(scale), 1).unwrap().add(12).unwrap());
}

#[divan::bench(args = SIGMAS, sample_size = 100)]
fn gaussian_made(bencher: Bencher<'_, '_>, sigma: f64) {
    bencher.bench_local(|| Noise::discrete_gaussian(black_box(sigma), 1).unwrap().add(12).unwrap());
}

#[divan::bench(sample_size = 100)]
fn exponential_made(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| Exponential::new(black_box(0.3), 7).unwrap());
}

/// What one query of the gate below needs.
#[divan::bench(sample_size = 1000)]
fn sparse_vector_noise_alone(bencher: Bencher<'_, '_>) {
    let noise = Noise::geometric(10.0, 1).unwrap();
    bencher.bench_local(|| noise.add(black_box(12)).unwrap());
}

/// A hundred records, ten answers above, a threshold no query reaches.
#[divan::bench(sample_size = 1000)]
fn sparse_vector_query(bencher: Bencher<'_, '_>) {
    let data: Vec<f64> = (0..100).map(f64::from).collect();
    let data = Data::new(Relation::single_record(Adjacency::AddRemove), data);
    let gate = SparseVector::new(1.0, 10, 1e15).unwrap();
    let session = InteractiveMechanism::from(gate).open(&data).unwrap();
    let question = SessionQuery::Above(Query::count());
    bencher.bench_local(|| session.ask(black_box(&question)).unwrap());
}
