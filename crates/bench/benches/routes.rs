//! The routes side by side: `cargo bench -p counterpoint-bench`.
#![allow(clippy::unwrap_used)]

use counterpoint::Route;
use counterpoint::{Count, Delta, Guarantee, Options, Plan, Tolerance};
use divan::Bencher;

fn main() {
    divan::main();
}

fn equal(epsilon: f64, count: u64) -> Plan {
    let guarantee = Guarantee::pure(epsilon).unwrap();
    Plan::new([(guarantee, Count::new(count).unwrap())]).unwrap()
}

/// eps_i = 0.01 + 0.19 frac(0.6180339887 i).
fn distinct(k: usize) -> Plan {
    let each = (1..=k).map(|i| 0.01 + 0.19 * (0.618_033_988_7 * i as f64).fract());
    Plan::new(each.map(|e| (Guarantee::pure(e).unwrap(), Count::ONE))).unwrap()
}

fn run(bencher: Bencher<'_, '_>, plan: &Plan, route: Option<Route>, tolerance: f64) {
    let tolerance = Tolerance::new(tolerance).unwrap();
    let options = Options { route, tolerance, ..Options::default() };
    let delta = Delta::new(1e-6).unwrap();
    bencher.bench_local(|| divan::black_box(plan).epsilon(delta, &options).unwrap());
}

#[divan::bench(args = [100, 1000, 10_000, 1_000_000, 1_000_000_000])]
fn equal_guarantees(bencher: Bencher<'_, '_>, k: u64) {
    run(bencher, &equal(10.0 / (k as f64).sqrt().max(100.0), k), None, 1e-6);
}

#[divan::bench(args = [10, 20, 30, 40], sample_count = 10)]
fn halves(bencher: Bencher<'_, '_>, k: usize) {
    run(bencher, &distinct(k), Some(Route::Halves), 1e-6);
}

#[divan::bench(args = [100, 1000, 10_000, 100_000, 1_000_000], sample_count = 10)]
fn contour(bencher: Bencher<'_, '_>, k: usize) {
    run(bencher, &distinct(k), Some(Route::Contour), 1e-6);
}

#[divan::bench(args = [1000, 10_000, 100_000], sample_count = 10)]
fn contour_to_nine_digits(bencher: Bencher<'_, '_>, k: usize) {
    run(bencher, &distinct(k), Some(Route::Contour), 1e-9);
}

#[divan::bench(args = [40, 100, 400], sample_count = 3)]
fn convolution(bencher: Bencher<'_, '_>, k: usize) {
    run(bencher, &distinct(k), Some(Route::Convolution), 1e-6);
}
