//! Pairs known by cells: those of mechanisms that are known exactly lie between what is said of their cells.

use crate::common;

use common::Question;
use common::laws::Law;
use common::mechanisms::*;
use counterpoint::mechanism::{CellPair, ListError};
use counterpoint::quantity::{GroupSize, Rate};
use counterpoint::{
    Adjacency, AskError, Bracket, Delta, Epsilon, Mechanism, Options, Plan, Release,
};

fn ask_one(release: Release, question: Question) -> Bracket {
    ask_best(&plan(&[release]), question, 1e-5).unwrap().bracket
}

/// Laplace noise in pieces: atoms at both ends, and equal steps of the loss between.
fn laplace_cells(epsilon: f64, pieces: u32) -> Vec<[f64; 4]> {
    // The person's data move it down; P(loss <= y) has the density e^((y - epsilon)/2)/4.
    let up_to = |y: f64| 0.5 * (0.5 * (y - epsilon)).exp();
    let place = |piece: u32| -epsilon + 2.0 * epsilon * f64::from(piece) / f64::from(pieces);
    let mut list = vec![
        [0.5, 0.5 * (-epsilon).exp(), epsilon, epsilon],
        [0.5 * (-epsilon).exp(), 0.5, -epsilon, -epsilon],
    ];
    for piece in 0..pieces {
        let (low, high) = (place(piece), place(piece + 1));
        let (p, q) = (up_to(high) - up_to(low), up_to(-low) - up_to(-high));
        list.push([p, q, low, high]);
    }
    list
}

const QUESTIONS: [Question; 4] =
    [Question::Delta(0.1), Question::Delta(1.0), Question::Epsilon(1e-3), Question::Epsilon(1e-6)];

#[test]
fn laplace_noise_lies_between_its_cells() {
    for count in [1, 8] {
        for rate in [1.0, 0.3] {
            for question in QUESTIONS {
                let mut last = f64::INFINITY;
                for pieces in [4, 32, 256] {
                    let truth = ask_one(sampled(count, laplace(1.0, 0.5), rate), question);
                    let mechanism = cells(&laplace_cells(0.5, pieces));
                    let bracket = ask_one(sampled(count, mechanism, rate), question);
                    let what = format!("{count} at {rate}, {pieces}: {bracket} and {truth}");
                    assert!(bracket.lower <= truth.upper && truth.lower <= bracket.upper, "{what}");
                    let slack = 2e-5 * truth.upper;
                    assert!(bracket.width() <= last + slack, "{what}");
                    last = bracket.width();
                }
                // Second order in their width.
                assert!(last <= 1e-3, "{count} at {rate}: {last}");
            }
        }
    }
}

/// Both ends are attained: the cells as outcomes, and their bounds as outcomes, written out.
#[test]
fn both_ends_are_those_of_finite_pairs() {
    let list = [[0.5, 0.3, 0.3, 0.9], [0.3, 0.3, -0.4, 0.2], [0.2, 0.4, -1.5, -0.1]];
    let merged = Law::of(list.iter().map(|&[p, q, _, _]| (p, q)).collect());
    // Solved by Cramer's rule: up + low = p, up e^-u + low e^-l = q.
    let spread = Law::of(
        list.iter()
            .flat_map(|&[p, q, low, high]| {
                let (a, b) = ((-high).exp(), (-low).exp());
                let up = (p * b - q) / (b - a);
                [(up, up * a), (p - up, (p - up) * b)]
            })
            .collect(),
    );
    for rate in [1.0, 0.4] {
        let of = |law: &Law| if rate < 1.0 { law.sampled(rate) } else { law.clone() };
        let (least, most) = (of(&merged), of(&spread));
        let (least, most) = (least.and(&least).unwrap(), most.and(&most).unwrap());
        for epsilon in [0.0, 0.1, 0.5, 1.0] {
            let bracket = ask_one(sampled(2, cells(&list), rate), Question::Delta(epsilon));
            let worst = |law: &Law| law.delta(false, epsilon).max(law.delta(true, epsilon));
            let (lower, upper) = (worst(&least), worst(&most));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b + 1e-15;
            assert!(near(bracket.lower, lower), "{epsilon}: {bracket} not {lower}");
            assert!(near(bracket.upper, upper), "{epsilon}: {bracket} not {upper}");
        }
    }
}

/// Cells without an upper bound leak, from above only; cells without a lower bound leak in the other direction.
#[test]
fn bounds_that_are_none_leak() {
    let inf = f64::INFINITY;
    let list = [[0.6, 0.4, 0.1, inf], [0.4, 0.6, -inf, -0.1]];
    let bracket = ask_one(times(1, cells(&list)), Question::Delta(5.0));
    // 0.6 - 0.4 e^0.1 at least, the rest of P being at the lower bound.
    let leak = 0.6 - 0.4 * 0.1_f64.exp();
    assert!(bracket.lower <= 0.0 && (bracket.upper / leak - 1.0).abs() < 1e-9, "{bracket}");
    let plan = plan(&[times(1, cells(&list))]);
    let error = plan.epsilon(Delta::new(1e-3).unwrap(), &Options::default()).unwrap_err();
    assert!(matches!(error, AskError::BelowLeak { .. }), "{error}");
    // Outcomes that the other never has leak for certain.
    let list = [[0.1, 0.0, 0.0, inf], [0.9, 0.9, -0.2, 0.2], [0.0, 0.1, -inf, 0.0]];
    let bracket = ask_one(times(1, cells(&list)), Question::Delta(5.0));
    assert!((bracket.lower / 0.1 - 1.0).abs() < 1e-9 && (bracket.upper / 0.1 - 1.0).abs() < 1e-9);
}

/// Beside other mechanisms, and with parts.
#[test]
fn mixed_with_others() {
    let with = |mechanism: Mechanism| {
        let list =
            [times(3, mechanism), times(5, gaussian(4.0, 1.0)), times(1, approximate(0.1, 1e-9))];
        ask(&plan(&list), Question::Epsilon(1e-5), 1e-5).unwrap().bracket
    };
    let (one, truth) = (with(cells(&laplace_cells(0.5, 200))), with(laplace(1.0, 0.5)));
    assert!(one.lower <= truth.upper && truth.lower <= one.upper, "{one} and {truth}");
    assert!(one.relative_width() < 1e-3, "{one}");
    let releases =
        [on("a", times(3, cells(&laplace_cells(0.5, 200)))), on("b", times(1, laplace(9.0, 1.0)))];
    let parts = ask(&plan(&releases), Question::Epsilon(1e-5), 1e-5).unwrap().bracket;
    let alone = ask_one(times(3, cells(&laplace_cells(0.5, 200))), Question::Epsilon(1e-5));
    assert_eq!(
        (parts.lower.to_bits(), parts.upper.to_bits()),
        (alone.lower.to_bits(), alone.upper.to_bits())
    );
}

/// Regions: the outer polygon is the dominating pair's, the inner one that of the dominated.
#[test]
fn regions_of_cells() {
    let list = [[0.5, 0.3, 0.3, 0.9], [0.3, 0.3, -0.4, 0.2], [0.2, 0.4, -1.5, -0.1]];
    let region = plan(&[times(1, cells(&list))]).region(&[], &Options::default()).unwrap();
    let merged = finite(&[0.5, 0.3, 0.2], &[0.3, 0.3, 0.4]);
    let truth = plan(&[times(1, merged)]).region(&[], &Options::default()).unwrap();
    let tv = region.total_variation();
    assert!(tv.lower <= 0.2 + 1e-12 && tv.upper > 0.2 + 1e-3, "{tv}");
    for rate in [0.1, 0.3, 0.5, 0.7] {
        let (bracket, merged) =
            [&region, &truth].map(|region| region.least_miss(Rate::new(rate).unwrap())).into();
        let what = format!("{rate}: {bracket} {merged}");
        assert!(bracket.lower <= merged.upper && merged.lower <= bracket.upper, "{what}");
        assert!(bracket.upper <= merged.upper + 1e-3, "{what}");
        // Between cells the two meet, within one they do not.
        assert!((rate - 0.3_f64).abs() < 1e-9 || bracket.lower < merged.lower - 1e-3, "{what}");
    }
}

#[test]
fn what_is_refused() {
    let pair = |list: &[[f64; 4]]| {
        let column = |at: usize| list.iter().map(|cell| cell[at]).collect::<Vec<_>>();
        CellPair::new(&column(0), &column(1), &column(2), &column(3))
    };
    assert!(matches!(pair(&[[0.5, 1.0, -1.0, 0.0]]), Err(ListError::Sum { .. })));
    assert!(matches!(pair(&[[1.0, 1.0, 0.1, 1.0]]), Err(ListError::Number { field: "lower", .. })));
    assert!(matches!(
        pair(&[[1.0, 1.0, -1.0, -0.1]]),
        Err(ListError::Number { field: "upper", .. })
    ));
    assert!(matches!(pair(&[[1.0, 1.0, f64::NAN, 0.1]]), Err(ListError::Number { .. })));
    assert!(matches!(pair(&[[1.0, 1.0, 0.0, f64::NAN]]), Err(ListError::Number { .. })));
    let mechanism = || cells(&[[1.0, 1.0, -0.1, 0.1]]);
    let with = |adjacency, group| {
        let group = GroupSize::new(group).unwrap();
        Plan::for_neighbours([times(1, mechanism())], adjacency, group).unwrap_err().to_string()
    };
    assert!(with(None, 1).contains("adjacency is missing"));
    assert!(with(Some(Adjacency::Replace), 1).contains("p and q differ when exchanged"));
    assert!(with(Some(Adjacency::AddRemove), 2).contains("group is 2 for cells"));
    assert_eq!(plan(&[times(1, mechanism())]).losses().unwrap_err(), AskError::NoDistribution);
    let answer =
        plan(&[times(1, mechanism())]).delta(Epsilon::new(0.0).unwrap(), &Options::default());
    assert!(answer.unwrap().bracket.lower <= 0.0);
}
