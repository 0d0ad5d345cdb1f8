//! The boundary of the error rates that an adversary can reach, from (epsilon, delta) pairs, with the precision of a
//! drawing.

use counterpoint::theorem::Theorem;
use counterpoint::{Delta, Plan};

use crate::plot::{Area, Axis, Chart, Color};

/// An epsilon and a delta.
pub(super) type Pair = (f64, f64);

/// The lower boundary of the intersection of the pairs' regions (KOV (2)): its corners, from
/// the vertical axis to the horizontal one. Each pair gives the two lines
/// `P_FA = 1 - delta - e^epsilon P_MD` and its mirror image; the boundary is their upper
/// envelope.
pub(super) fn boundary(pairs: &[Pair]) -> Vec<(f64, f64)> {
    let mut lines: Vec<(f64, f64)> = Vec::new();
    for &(epsilon, delta) in pairs {
        let slope = epsilon.exp();
        lines.push((-slope, 1.0 - delta));
        lines.push((-1.0 / slope, (1.0 - delta) / slope));
    }
    // Error rates are at least zero.
    lines.push((0.0, 0.0));
    let hull = envelope(lines);
    let first = hull.first().map(|line| (0.0, line.1));
    let crossings = hull.windows(2).map(|two| {
        let x = crossing(two[0], two[1]);
        (x, (two[1].0 * x + two[1].1).max(0.0))
    });
    first.into_iter().chain(crossings).collect()
}

/// The lines (slope, intercept) that are highest somewhere right of zero, steepest first.
fn envelope(mut lines: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    lines.dedup_by(|next, kept| next.0 <= kept.0);
    let mut hull: Vec<(f64, f64)> = Vec::new();
    for line in lines {
        while let Some(&last) = hull.last() {
            let since = hull.len().checked_sub(2).map_or(0.0, |n| crossing(hull[n], last));
            if crossing(last, line) > since {
                break;
            }
            hull.pop();
        }
        hull.push(line);
    }
    hull
}

/// The x from which the second line, which is less steep, is higher.
fn crossing(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.1 - b.1) / (b.0 - a.0)
}

/// The height of the boundary at x.
pub(super) fn height(boundary: &[(f64, f64)], x: f64) -> f64 {
    let side = boundary.windows(2).find(|two| (two[0].0..=two[1].0).contains(&x));
    side.map_or(0.0, |two| {
        let [(x0, y0), (x1, y1)] = [two[0], two[1]];
        if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y0 }
    })
}

/// The error rate at which both errors on the boundary are equal.
pub(super) fn balanced(boundary: &[(f64, f64)]) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if height(boundary, middle) > middle { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The pairs that a formula certifies, for deltas between the least possible one and 1.
pub(super) fn certified(theorem: Theorem, plan: &Plan, least: f64) -> Vec<Pair> {
    let slack = |n: i32| (f64::from(n) / 8.0 * std::f64::consts::LN_10).exp();
    let deltas = (-120..0).map(|n| least + slack(n));
    let pair = |delta: f64| {
        let epsilon = theorem.epsilon(plan, Delta::new(delta).ok()?).ok()?;
        Some((epsilon, delta))
    };
    deltas.filter_map(pair).collect()
}

/// Axes for errors.
pub(super) fn chart(title: impl Into<String>) -> Chart {
    let axis = |label: &str| Axis::new(label).range(0.0, 1.0);
    let (misses, alarms) =
        (axis("probability of a missed detection"), axis("probability of a false alarm"));
    Chart::new(misses, alarms).title(title).square()
}

/// The area between a boundary and the line of guessing.
pub(super) fn area(name: &str, boundary: &[(f64, f64)], color: Color) -> Area {
    let corners = std::iter::once((0.0, 1.0)).chain(boundary.iter().copied()).chain([(1.0, 0.0)]);
    Area::new(name, corners, color)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: the highest line at x.
    fn highest(pairs: &[Pair], x: f64) -> f64 {
        let steep = pairs.iter().map(|(e, d)| 1.0 - d - e.exp() * x);
        let flat = pairs.iter().map(|(e, d)| (1.0 - d - x) * (-e).exp());
        steep.chain(flat).fold(0.0, f64::max)
    }

    #[test]
    fn the_boundary_is_the_highest_line() {
        let lists: [&[Pair]; 4] = [
            &[(1.0, 0.1)],
            &[(0.0, 0.2)],
            &[(2.0, 0.0), (1.2, 0.05), (0.4, 0.2), (0.0, 0.4)],
            &[(0.5, 0.3), (0.5, 0.2), (3.0, 0.25), (1.0, 0.9)],
        ];
        for pairs in lists {
            let boundary = boundary(pairs);
            for n in 0..=1000 {
                let x = f64::from(n) / 1000.0;
                let (own, expected) = (height(&boundary, x), highest(pairs, x));
                assert!((own - expected).abs() < 1e-12, "{pairs:?} at {x}: {own} {expected}");
            }
        }
    }

    #[test]
    fn one_pair_has_three_corners() {
        // KOV Figure 1: both sides err with probability (1 - delta)/(1 + e^epsilon).
        let corners = boundary(&[(1.0, 0.1)]);
        let middle = 0.9 / (1.0 + 1_f64.exp());
        let expected = [(0.0, 0.9), (middle, middle), (0.9, 0.0)];
        assert_eq!(corners.len(), 3);
        for (own, expected) in std::iter::zip(&corners, expected) {
            assert!((own.0 - expected.0).abs() < 1e-15 && (own.1 - expected.1).abs() < 1e-15);
        }
        assert!((balanced(&corners) - middle).abs() < 1e-12);
    }
}
