//! What is asked of 10^6 rows, beside the plain loop that whoever has no privacy to keep would write:
//! `cargo bench -p counterpoint-bench --bench rows`.
#![allow(clippy::unwrap_used)]

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Bounds, Data, KeyQuery, KeyedData, Measurement, Query};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const ROWS: usize = 1_000_000;
const BINS: [usize; 3] = [10, 100, 10_000];

/// From -5 to 15, in no order.
fn rows() -> Vec<f64> {
    let mut state = 1_u64;
    let next = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 20.0 - 5.0
    };
    (0..ROWS).map(next).collect()
}

fn bounds() -> Bounds {
    Bounds::new(0.0, 10.0).unwrap()
}

fn edges(bins: usize) -> Vec<f64> {
    (0..=bins).map(|k| 10.0 * k as f64 / bins as f64).collect()
}

fn plain(bencher: Bencher<'_, '_>, add: impl Fn(&[f64]) -> f64) {
    let rows = rows();
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| add(black_box(&rows)));
}

fn ours(bencher: Bencher<'_, '_>, query: &Query) {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let measurement: Measurement = match query.exponential(1.0) {
        Ok(recipe) => recipe.under(relation).unwrap(),
        Err(_) => query.laplace(1.0).unwrap().under(relation).unwrap(),
    };
    let data = Data::new(relation, rows());
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench_local(|| measurement.tally(black_box(&data)).unwrap());
}

#[divan::bench]
fn count_plain(bencher: Bencher<'_, '_>) {
    plain(bencher, |rows| rows.iter().filter(|&&x| (0.0..=10.0).contains(&x)).count() as f64);
}

#[divan::bench]
fn count_ours(bencher: Bencher<'_, '_>) {
    ours(bencher, &Query::count_within(bounds()));
}

#[divan::bench]
fn sum_plain(bencher: Bencher<'_, '_>) {
    plain(bencher, |rows| rows.iter().map(|x| x.clamp(0.0, 10.0)).sum());
}

#[divan::bench]
fn sum_ours(bencher: Bencher<'_, '_>) {
    ours(bencher, &Query::sum(bounds()));
}

#[divan::bench]
fn mean_ours(bencher: Bencher<'_, '_>) {
    ours(bencher, &Query::mean(bounds()));
}

#[divan::bench]
fn variance_plain(bencher: Bencher<'_, '_>) {
    plain(bencher, |rows| {
        let (mut sum, mut squares) = (0.0, 0.0);
        for x in rows {
            let x = x.clamp(0.0, 10.0);
            sum += x;
            squares += x * x;
        }
        squares - sum * sum / rows.len() as f64
    });
}

#[divan::bench]
fn variance_ours(bencher: Bencher<'_, '_>) {
    ours(bencher, &Query::variance(bounds()));
}

#[divan::bench(args = BINS)]
fn histogram_plain(bencher: Bencher<'_, '_>, bins: usize) {
    plain(bencher, |rows| {
        let mut counts = vec![0_u64; bins];
        for x in rows {
            let bin = (x.clamp(0.0, 10.0) * (bins as f64 / 10.0)) as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        counts[bins / 2] as f64
    });
}

#[divan::bench(args = BINS)]
fn histogram_ours(bencher: Bencher<'_, '_>, bins: usize) {
    ours(bencher, &Query::histogram(&edges(bins)).unwrap());
}

#[divan::bench]
fn proportion_plain(bencher: Bencher<'_, '_>) {
    plain(bencher, |rows| {
        let within = rows.iter().filter(|&&x| (0.0..=10.0).contains(&x)).count();
        within as f64 / rows.len() as f64
    });
}

#[divan::bench]
fn proportion_ours(bencher: Bencher<'_, '_>) {
    ours(bencher, &Query::proportion(bounds()));
}

#[divan::bench(args = BINS)]
fn cumulative_plain(bencher: Bencher<'_, '_>, bins: usize) {
    plain(bencher, |rows| {
        let mut counts = vec![0_u64; bins + 1];
        for x in rows {
            let bin = (x.clamp(0.0, 10.0) * (bins as f64 / 10.0)) as usize;
            counts[bin.min(bins)] += 1;
        }
        let mut below = 0;
        counts.iter_mut().for_each(|count| {
            below += *count;
            *count = below;
        });
        counts[bins / 2] as f64
    });
}

#[divan::bench(args = BINS)]
fn cumulative_ours(bencher: Bencher<'_, '_>, bins: usize) {
    ours(bencher, &Query::cumulative(&edges(bins)).unwrap());
}

#[divan::bench(args = BINS)]
fn quantiles_ours(bencher: Bencher<'_, '_>, candidates: usize) {
    let shares = [(1, 4), (1, 2), (3, 4)];
    ours(bencher, &Query::quantiles(&shares, &edges(candidates)).unwrap());
}

#[divan::bench(args = BINS)]
fn quantile_ours(bencher: Bencher<'_, '_>, candidates: usize) {
    ours(bencher, &Query::quantile((1, 2), &edges(candidates)).unwrap());
}

/// Ten thousand keys, of two hundred thousand people, all of them counted at first.
fn keys() -> (Vec<u64>, Vec<String>) {
    let people = rows().iter().map(|x| (x * 1e4) as i64 as u64).collect();
    (people, rows().iter().map(|x| format!("key {}", (x.fract() * 1e4) as i64)).collect())
}

#[divan::bench]
fn keys_counted(bencher: Bencher<'_, '_>) {
    let (relation, (people, keys)) = (Relation::new(Adjacency::AddRemove, 2).unwrap(), keys());
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        KeyedData::of_people(relation, black_box(&people), black_box(&keys), &[1; 32]).unwrap()
    });
}

#[divan::bench]
fn keys_released(bencher: Bencher<'_, '_>) {
    let (relation, (people, keys)) = (Relation::new(Adjacency::AddRemove, 2).unwrap(), keys());
    let keyed = KeyedData::of_people(relation, &people, &keys, &[1; 32]).unwrap();
    let ready = KeyQuery::laplace(1.0, 1e-8).unwrap().under(relation).unwrap();
    bencher.bench_local(|| ready.run(black_box(&keyed)).unwrap());
}

/// Six columns, five of which explain the last.
fn regression() -> (Measurement, Data) {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let line = Query::regression(&[bounds(); 5], bounds()).unwrap();
    let data = Data::table(
        relation,
        (0..6).map(|place| {
            let mut rows = rows();
            rows.rotate_left(place * 777);
            rows
        }),
    );
    (line.laplace(1.0).unwrap().under(relation).unwrap(), data.unwrap())
}

#[divan::bench]
fn covariance_ours(bencher: Bencher<'_, '_>) {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let query = Query::covariance(bounds(), bounds());
    let measurement = query.laplace(1.0).unwrap().under(relation).unwrap();
    let data = Data::table(relation, [rows(), rows()]).unwrap();
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench_local(|| measurement.tally(black_box(&data)).unwrap());
}

#[divan::bench]
fn regression_ours(bencher: Bencher<'_, '_>) {
    let (measurement, data) = regression();
    bencher
        .counter(ItemsCount::new(ROWS))
        .bench_local(|| measurement.tally(black_box(&data)).unwrap());
}

/// How far its coefficients are off, tried out: the pass over the rows included.
#[divan::bench(sample_count = 3)]
fn regression_half_widths(bencher: Bencher<'_, '_>) {
    let (measurement, data) = regression();
    bencher.bench_local(|| measurement.half_widths_on(black_box(&data), 0.95).unwrap());
}
