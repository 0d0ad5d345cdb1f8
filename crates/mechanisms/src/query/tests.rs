//! Charges and answers agree with arithmetic.

use super::*;
use crate::sample::script;
use crate::{Data, Error, Reply};
use counterpoint::Mechanism;

/// Both adjacencies, with these numbers of records per person.
fn relations(records: [u64; 2]) -> impl Iterator<Item = Relation> {
    let both = [Adjacency::AddRemove, Adjacency::Replace];
    let each = move |adjacency| records.map(|records| Relation::new(adjacency, records).unwrap());
    both.into_iter().flat_map(each)
}

/// The charge for a histogram or a sum is the sum of its parts, and at most the requested cost.
#[test]
fn a_charge_is_what_was_asked_for() {
    let bounds = Bounds::new(-3.0, 10.0).unwrap();
    let epsilon = |mechanism: &Mechanism| match mechanism {
        Mechanism::Geometric { scale, sensitivity } => sensitivity.get() as f64 / scale.get(),
        Mechanism::Laplace { scale, sensitivity } => sensitivity.get() / scale.get(),
        Mechanism::Staircase { epsilon, .. } | Mechanism::Exponential { epsilon } => epsilon.get(),
        Mechanism::ApproxDp(guarantee) => guarantee.epsilon.get(),
        other => panic!("{other:?}"),
    };
    for relation in relations([1, 3]) {
        let edges: Vec<f64> = (0..9).map(f64::from).collect();
        let queries = [
            Query::count(),
            Query::sum(bounds),
            Query::mean(bounds),
            Query::variance(bounds),
            Query::proportion(bounds),
            Query::histogram(&edges).unwrap(),
            Query::cumulative(&edges).unwrap(),
        ];
        for query in queries {
            let measurement = query.laplace(0.7).unwrap().under(relation).unwrap();
            let total: f64 = (measurement.releases().iter())
                .map(|release| release.count.get() as f64 * epsilon(&release.mechanism))
                .sum();
            assert!((0.69..=0.7 + 1e-12).contains(&total), "{query:?}: {total}");
        }
        let quantiles = Query::quantiles(&[(1, 7), (1, 2), (3, 4)], &edges).unwrap();
        let quantiles = quantiles.exponential(0.7).unwrap().under(relation).unwrap();
        let [release] = quantiles.releases() else { panic!() };
        let total = release.count.get() as f64 * epsilon(&release.mechanism);
        assert!(release.count.get() == 3 && (total - 0.7).abs() < 1e-12, "{total}");
    }
}

/// Answers without noise are exact.
#[test]
fn answers_without_noise() {
    let data = [1.0, 2.5, 4.0, 11.0, f64::NAN, -7.0];
    let bounds = Bounds::new(0.0, 10.0).unwrap();
    // Clamped: 1, 2.5, 4, 10, 0, 0.
    let (sum, squares) = (17.5, 1.0 + 6.25 + 16.0 + 100.0);
    let mean: f64 = sum / 6.0;
    for relation in relations([1, 4]) {
        let data = Data::new(relation, data);
        let cases = [
            (Query::count(), 6.0),
            (Query::count_within(bounds), 3.0),
            (Query::sum(bounds), sum),
            (Query::mean(bounds), mean),
            (Query::variance(bounds), squares / 6.0 - mean * mean),
            (Query::proportion(bounds), 0.5),
            (Query::proportion(Bounds::new(0.0, 20.0).unwrap()), 4.0 / 6.0),
        ];
        for (query, expected) in cases {
            let measurement = query.laplace(1.0).unwrap().under(relation).unwrap();
            let found = script::with(&[0; 3], || measurement.run(&data)).unwrap();
            let found = found.number().unwrap();
            assert!((found - expected).abs() < 1e-6, "{query:?}: {found}, {expected}");
        }
        let histogram = Query::histogram(&[0.0, 2.0, 4.0, 20.0]).unwrap();
        let histogram = histogram.laplace(1.0).unwrap().under(relation).unwrap();
        let table = script::with(&[0; 3], || histogram.run(&data));
        assert_eq!(table, Ok(Reply::Table(vec![1.0, 1.0, 2.0])));
        // The numbers in order: NaN, -7, 1, 2.5, 4, 11.
        let median = Query::quantile((1, 2), &[0.0, 2.0, 3.0, 9.0]).unwrap();
        let median = median.exponential(1.0).unwrap().under(relation).unwrap();
        assert_eq!(script::with(&[1], || median.run(&data)), Ok(Reply::Number(2.0)));
        // NaN is below all edges.
        let edges = [-10.0, 1.0, 2.5, 4.0, 11.0, 20.0];
        let cumulative = Query::cumulative(&edges).unwrap().laplace(1.0).unwrap();
        let cumulative = cumulative.under(relation).unwrap();
        let table = script::with(&[0; 6], || cumulative.run(&data));
        assert_eq!(table, Ok(Reply::Table(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])));
        // Each prefix has the noise of its nodes: 1, 2, 2 + 3, 4, 4 + 5, 4 + 6.
        let table = script::with(&[1, 10, 100, 1000, 10_000, 100_000], || cumulative.run(&data));
        let noisy = vec![2.0, 12.0, 113.0, 1004.0, 11_005.0, 101_006.0];
        assert_eq!(table, Ok(Reply::Table(noisy)));
        let both = Query::quantiles(&[(1, 3), (1, 2)], &[0.0, 2.0, 3.0, 9.0]).unwrap();
        let both = both.exponential(1.0).unwrap().under(relation).unwrap();
        let table = script::with(&[3, 1], || both.run(&data));
        assert_eq!(table, Ok(Reply::Table(vec![9.0, 2.0])));
    }
}

/// No records, one edge, infinities, any order of rows.
#[test]
fn odd_data_and_few_edges() {
    let odd = [f64::INFINITY, 2.0, f64::NEG_INFINITY, f64::NAN, 2.0_f64.next_down(), 7.0];
    let mut turned = odd;
    turned.reverse();
    for relation in relations([1, 2]) {
        let table = |query: &Query, data: &[f64]| {
            let noisy_query = query.laplace(1.0).or_else(|_| query.exponential(1.0)).unwrap();
            let ready = noisy_query.under(relation).unwrap();
            let data = Data::new(relation, data);
            (ready.tally(&data).unwrap().numbers, script::with(&[0; 9], || ready.run(&data)))
        };
        let one = Query::cumulative(&[2.0]).unwrap();
        assert_eq!(table(&one, &odd), (vec![3], Ok(Reply::Table(vec![3.0]))));
        assert_eq!(table(&one, &[]), (vec![0], Ok(Reply::Table(vec![0.0]))));
        let within = Query::proportion(Bounds::new(2.0, 7.0).unwrap());
        let Ok(Reply::Number(share)) = table(&within, &odd).1 else { panic!() };
        assert!((share - 1.0 / 3.0).abs() < 1e-9, "{share}");
        let empty = if relation.is_length_public() { 0.0 } else { 0.5 };
        assert_eq!(table(&within, &[]).1, Ok(Reply::Number(empty)));
        let quantiles = Query::quantiles(&[(1, 2), (2, 3)], &[1.0, 3.0]).unwrap();
        assert_eq!(table(&quantiles, &[]).1, Ok(Reply::Table(vec![1.0, 1.0])));
        let more = Query::cumulative(&[-1.0, 2.0, 3.0]).unwrap();
        for query in [one, within, quantiles, more] {
            assert_eq!(table(&query, &odd), table(&query, &turned));
        }
    }
}

/// The largest legal number of edges.
#[test]
fn a_million_edges() {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let edges: Vec<f64> = (1..=1_000_000).map(f64::from).collect();
    let query = Query::cumulative(&edges).unwrap();
    assert_eq!(query.answer_length(), 1_000_000);
    let ready = query.laplace(1.0).unwrap().under(relation).unwrap();
    assert_eq!(ready.releases()[0].count.get(), 20);
    let data = Data::new(relation, [0.5, 999_999.5, 3.0, 2e6]);
    let numbers = ready.tally(&data).unwrap().numbers;
    let sums = super::prefixes::sums(&super::prefixes::nodes(&numbers));
    assert_eq!([sums[0], sums[2], sums[3], sums[999_998], sums[999_999]], [1, 1, 2, 2, 3]);
    let [one, all] = [ready.half_width(0, 0.95), ready.half_width_all(0, 0.95)].map(Result::unwrap);
    // Scale 20, up to 19 noises.
    assert!(one > 150.0 && one < 300.0 && all > 500.0 && all < 1000.0, "{one} {all}");
    // The sum of nineteen noises is nearly normal; all are within the bound of the sum of their probabilities.
    let ready = query.gaussian(100.0).unwrap().under(relation).unwrap();
    let [one, all] = [ready.half_width(0, 0.95), ready.half_width_all(0, 0.95)].map(Result::unwrap);
    let sigma = 100.0 * (20.0_f64 * 19.0).sqrt();
    assert!((one / (1.959_964 * sigma) - 1.0).abs() < 5e-3, "{one}");
    assert!(all > 1.5 * one && all < 5.5 * sigma, "{all}");
    let expected = sigma * (2.0 / std::f64::consts::PI).sqrt();
    assert!((ready.expected_error(0) / expected - 1.0).abs() < 5e-3);
    let more: Vec<f64> = (0..=1_000_000).map(f64::from).collect();
    assert!(matches!(Query::cumulative(&more), Err(Error::Length { .. })));
}

/// Many small numbers on a coarse grid: the sum is rounded, not each number.
#[test]
fn rounding_does_not_add_up() {
    let bounds = Bounds::new(0.0, 1e7).unwrap();
    for relation in relations([1, 1]) {
        let sum = Query::sum(bounds).gaussian(3.0).unwrap().under(relation).unwrap();
        let step = sum.noises()[0].grid().step();
        assert!(step > 1.0, "{step}");
        for value in [0.1, 1.0, 333.3, 999.9] {
            let data = Data::new(relation, [value; 10_000]);
            let found = script::with(&[0], || sum.run(&data)).unwrap();
            let off = (found.number().unwrap() - 10_000.0 * value).abs();
            assert!(off <= 0.51 * step, "{value}: {off}");
        }
    }
}

#[test]
fn bad_parameters_are_named() {
    let nan = f64::NAN;
    assert!(Bounds::new(1.0, 1.0).is_err() && Bounds::new(nan, 1.0).is_err());
    assert!(Bounds::new(0.0, f64::INFINITY).is_err());
    let text = Bounds::new(2.0, 1.0).unwrap_err().to_string();
    assert_eq!(text, "bounds is 2 to 1; legal: finite numbers, the first below the second");
    let query = Query::count();
    for bad in [0.0, -1.0, nan, f64::INFINITY, 501.0] {
        assert!(query.laplace(bad).is_err() && query.staircase(bad).is_err());
    }
    assert!(query.gaussian(nan).is_err() && query.gaussian(0.001).is_err());
    assert!(matches!(query.exponential(1.0), Err(Error::Unsuited { .. })));
    assert!(Query::histogram(&[1.0]).is_err());
    assert!(Query::histogram(&[1.0, 1.0]).is_err());
    assert!(Query::histogram(&[1.0, nan]).is_err());
    assert!(Query::quantile((0, 2), &[1.0]).is_err());
    assert!(Query::quantile((1, 2), &[nan]).is_err());
    assert!(Query::cumulative(&[]).is_err() && Query::cumulative(&[2.0, 1.0]).is_err());
    assert!(Query::quantiles(&[], &[1.0]).is_err() && Query::quantiles(&[(1, 2)], &[]).is_err());
    assert!(Query::quantiles(&[(1, 2), (2, 4)], &[1.0]).is_err());
    assert!(Query::quantiles(&[(1, 2), (2, 2)], &[1.0]).is_err());
    assert!(Query::quantiles(&[(1, 2); 101], &[1.0]).is_err());
    let two = Query::quantiles(&[(1, 3), (1, 2)], &[1.0]).unwrap();
    assert!(two.exponential(2.0_f64.powi(-20)).is_err());
    assert!(two.exponential(2.0_f64.powi(-19)).is_ok() && two.laplace(1.0).is_err());
    let [one, several] = [1, 2].map(|records| Relation::new(Adjacency::Replace, records).unwrap());
    assert!(query.laplace(1.0).unwrap().under(one).unwrap().half_width(1, 0.0).is_err());
    let histogram = Query::histogram(&[1.0, 2.0]).unwrap().staircase(1.0).unwrap();
    assert!(histogram.under(one).is_ok());
    assert!(matches!(histogram.under(several), Err(Error::Unsuited { .. })));
    let cumulative = Query::cumulative(&[1.0, 2.0]).unwrap().staircase(1.0).unwrap();
    assert!(cumulative.under(one).is_ok());
    assert!(matches!(cumulative.under(several), Err(Error::Unsuited { .. })));
}

/// Numbers that were added up elsewhere, by the summands, give the same answers as data.
#[test]
fn numbers_from_elsewhere() {
    let values = [0.25, 3.0, -1.0, 9.5, f64::NAN, 12.0, 7.125];
    let bounds = Bounds::new(-2.0, 10.0).unwrap();
    let edges = [0.0, 3.0, 9.5, 20.0];
    for relation in relations([1, 2]) {
        let data = Data::new(relation, values);
        for query in [
            Query::count(),
            Query::count_within(bounds),
            Query::sum(bounds),
            Query::mean(bounds),
            Query::variance(bounds),
            Query::histogram(&edges).unwrap(),
            Query::quantile((1, 3), &edges).unwrap(),
            Query::proportion(bounds),
            Query::cumulative(&edges).unwrap(),
            Query::quantiles(&[(1, 3), (1, 2)], &edges).unwrap(),
        ] {
            let measurement = match query.kind {
                QueryKind::Quantile { .. } | QueryKind::Quantiles { .. } => {
                    query.exponential(1.0).unwrap().under(relation).unwrap()
                }
                _ => query.gaussian(2.0).unwrap().under(relation).unwrap(),
            };
            let numbers = match query.kind {
                QueryKind::Histogram(_) => vec![1, 2, 2],
                QueryKind::Quantile { .. } | QueryKind::Quantiles { .. } => vec![2, 1, 2, 2, 0],
                QueryKind::Cumulative(_) => vec![2, 1, 2, 2],
                _ => measurement.summands().iter().map(|one| elsewhere(one, &values)).collect(),
            };
            let (here, there) =
                (measurement.tally(&data), measurement.tally_from_numbers(7, numbers.clone()));
            assert_eq!(here, there, "{query:?}");
            let there = script::with(&[1; 4], || measurement.release(&there.unwrap()));
            assert_eq!(there, script::with(&[1; 4], || measurement.run(&data)), "{query:?}");
            let fewer = measurement.tally_from_numbers(7, numbers[1..].to_vec());
            assert!(matches!(fewer, Err(Error::Length { .. })), "{query:?}");
            assert!(!format!("{here:?}").contains(&format!("{numbers:?}")));
            // Every number from an engine is answered.
            for odd in [i128::MIN, i128::MAX] {
                let tally =
                    measurement.tally_from_numbers(u64::MAX, vec![odd; numbers.len()]).unwrap();
                assert!(measurement.release(&tally).is_ok(), "{query:?}");
            }
        }
    }
}

/// The sum of multiples of the unit, each clamped to the ends and rounded in a different way: halves to even.
fn elsewhere(summand: &Summand, values: &[f64]) -> i128 {
    let (low, high) = summand.ends();
    let one = |&x: &f64| {
        let of =
            |bounds: Bounds| if x.is_nan() { bounds.low } else { x.clamp(bounds.low, bounds.high) };
        let value = match summand.term() {
            Term::Ones(None) => 1.0,
            Term::Ones(Some(bounds)) => f64::from(u8::from(bounds.low <= x && x <= bounds.high)),
            Term::Values(bounds) => of(bounds),
            Term::Offsets(bounds) => of(bounds) - bounds.center(),
            Term::Squares(bounds) => (of(bounds) - bounds.center()).powi(2),
            Term::Sides(bounds) => f64::from(u8::from(bounds.low <= x && x <= bounds.high)) - 0.5,
            Term::Products(..) => panic!("of two columns"),
        };
        i128::from(((value / summand.unit()).round_ties_even() as i64).clamp(low, high))
    };
    values.iter().map(one).sum()
}

/// A tally is valid only for its query, on its noise's grid.
#[test]
fn tallies_are_not_exchanged() {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let data = Data::new(relation, [1.0, 2.0]);
    let of = |high: f64, multiplier: f64| {
        let sum = Query::sum(Bounds::new(0.0, high).unwrap());
        sum.gaussian(multiplier).unwrap().under(relation).unwrap()
    };
    let tally = of(10.0, 1.0).tally(&data).unwrap();
    assert!(of(10.0, 1.0).release(&tally).is_ok());
    for other in [of(11.0, 1.0), of(10.0, 900.0)] {
        assert!(matches!(other.release(&tally), Err(Error::Question { .. })), "{other:?}");
    }
    let replaced = Data::new(Relation::single_record(Adjacency::Replace), [1.0]);
    assert!(matches!(of(10.0, 1.0).tally(&replaced), Err(Error::Relation { .. })));
    // Tallies for ten records must not be released at the tenth of the cost for one.
    let ten = Relation::new(Adjacency::AddRemove, 10).unwrap();
    let cumulative = Query::cumulative(&[5.0]).unwrap();
    for query in [Query::count(), Query::histogram(&[0.0, 5.0]).unwrap(), cumulative] {
        let [one, many] = [relation, ten].map(|of| query.gaussian(1.0).unwrap().under(of).unwrap());
        let tallies = [
            many.tally(&Data::new(ten, [1.0; 10])).unwrap(),
            many.tally_from_numbers(10, vec![10]).unwrap(),
        ];
        for tally in tallies {
            assert!(many.release(&tally).is_ok());
            assert!(matches!(one.release(&tally), Err(Error::Relation { .. })), "{query:?}");
        }
    }
}

/// Gaussian noise has standard deviation s on the sum of 10^6 numbers and z on their count. A mean at the end of the
/// bounds, from -1 to 1, has the error (s - z m)/n with one sign possible, and a mean in the middle s/n with both
/// signs. The worst is m = 1 - h, next to the end, with both signs possible. By the normal law, except for the grid.
#[test]
fn a_mean_with_a_shared_count_is_as_close_as_the_normal_law_says() {
    use crate::query::Contribution;
    let relation = Relation::single_record(Adjacency::AddRemove);
    let contribution = Contribution::Rows(relation);
    let mean = Query::mean(Bounds::new(-1.0, 1.0).unwrap());
    for (sum, ones) in [(20.0, 5.0), (20.0, 20.0), (10.0, 40.0)] {
        let count = Query::count().gaussian(ones).unwrap().under(relation).unwrap();
        let noisy_query = mean.gaussian(sum).unwrap();
        let measurement = noisy_query.bounded_with_count(contribution, &count).unwrap();
        let rows = 1_000_000_u64;
        let expected = 1.959_964 * (sum * sum + ones * ones).sqrt() / rows as f64;
        let found = measurement.half_width(rows, 0.95).unwrap();
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
        // Its own count would have taken half of the cost.
        let own = noisy_query.under(relation).unwrap().half_width(rows, 0.95).unwrap();
        let separate = 1.959_964 * 2.0 * sum / rows as f64;
        assert!((own / separate - 1.0).abs() < 0.01, "{own} {separate}");
    }
}

/// Queries that cannot share a count, measurements that are not plain counts, and runs without the count are refused.
#[test]
fn what_cannot_share_a_count_is_refused() {
    use crate::query::{Contribution, GroupLimits};
    let bounds = Bounds::new(-1.0, 1.0).unwrap();
    let relation = Relation::single_record(Adjacency::AddRemove);
    let rows = Contribution::Rows(relation);
    let count = Query::count().laplace(1.0).unwrap().under(relation).unwrap();
    let laplace = |query: Query| query.laplace(1.0).unwrap();
    for query in [Query::sum(bounds), Query::count(), Query::histogram(&[0.0, 1.0]).unwrap()] {
        let refused = laplace(query).bounded_with_count(rows, &count).unwrap_err();
        assert!(refused.to_string().starts_with("a shared count for"), "{refused}");
    }
    let mean = laplace(Query::mean(bounds));
    // The number of records is public.
    let public = Relation::single_record(Adjacency::Replace);
    let everybody = laplace(Query::count()).under(public).unwrap();
    assert!(mean.bounded_with_count(Contribution::Rows(public), &everybody).is_err());
    // Counts under another relation.
    assert!(mean.bounded_with_count(Contribution::Rows(public.filtered()), &count).is_err());
    let some = laplace(Query::count_within(bounds)).under(relation).unwrap();
    assert!(mean.bounded_with_count(rows, &some).is_err());
    assert!(mean.bounded_with_count(rows, &mean.under(relation).unwrap()).is_err());
    let groups = Contribution::Groups(relation, GroupLimits::new(2, 1, 2).unwrap());
    assert!(mean.bounded_with_count(groups, &count).is_err());
    let shared = mean.bounded_with_count(rows, &count).unwrap();
    let data = Data::new(relation, [0.5]);
    let tally = shared.tally(&data).unwrap();
    assert!(shared.run(&data).is_err() && shared.draw(&tally).is_err());
    let own = mean.under(relation).unwrap();
    assert!(own.draw_with_count(&own.tally(&data).unwrap(), 1.0).is_err());
    assert!(shared.draw_with_count(&own.tally(&data).unwrap(), 1.0).is_err());
}
