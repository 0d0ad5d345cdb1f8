//! Exact domination of finite pairs, by their ROC curves: detection over false alarms.
//!
//! The best test of P against Q with false-alarm rate x detects P with probability g(x). g is the concave chain through
//! the running sums of (q, p), with outcomes sorted by decreasing p/q. One pair dominates another iff its g is nowhere
//! below the other's (KOV Theorem II.5, after Blackwell), which holds iff it holds at the other's corners. Doubles are
//! rationals, so every comparison below is exact.

use crate::amount::Amount;
use counterpoint::mechanism::FinitePair;

/// The largest number of outcomes; with more, the comparison is undecided.
const MOST: usize = 2000;

/// The Q mass and the P mass at a corner.
type Corner = (Amount, Amount);

/// True if the first pair dominates the second; `None` if there are too many outcomes.
pub(super) fn dominates(slot: &FinitePair, opened: &FinitePair) -> Option<bool> {
    if slot.outcomes().len().max(opened.outcomes().len()) > MOST {
        return None;
    }
    let (above, below) = (corners(slot)?, corners(opened)?);
    let (all_above, all_below) = (above.last()?.clone(), below.last()?.clone());
    // The masses of each pair are shares of their sum. Multiplied by the other pair's sum, they can be compared.
    let scaled = |list: Vec<Corner>, by: &Corner| -> Vec<Corner> {
        list.iter().map(|(x, y)| (x * &by.0, y * &by.1)).collect()
    };
    let (above, below) = (scaled(above, &all_below), scaled(below, &all_above));
    Some(below.iter().all(|corner| is_under(&above, corner)))
}

/// The running sums, starting at (0, 0).
fn corners(pair: &FinitePair) -> Option<Vec<Corner>> {
    let exact = |&(p, q): &(f64, f64)| Some((Amount::from_f64(q)?, Amount::from_f64(p)?));
    let mut steps: Vec<Corner> = pair.outcomes().iter().map(exact).collect::<Option<_>>()?;
    // Outcomes that never happen have no ratio by which they could be sorted.
    steps.retain(|(q, p)| !(q.is_zero() && p.is_zero()));
    // Decreasing p/q: p1 q2 against p2 q1.
    steps.sort_by(|a, b| (&b.1 * &a.0).cmp(&(&a.1 * &b.0)));
    let mut list = vec![(Amount::ZERO, Amount::ZERO)];
    for (q, p) in &steps {
        let (x, y) = list.last()?;
        list.push((x + q, y + p));
    }
    Some(list)
}

/// True if a corner is on or under a concave chain of corners.
fn is_under(chain: &[Corner], (x, y): &Corner) -> bool {
    let next = chain.partition_point(|corner| corner.0 <= *x);
    let Some(left) = next.checked_sub(1).and_then(|last| chain.get(last)) else { return false };
    let Some(rise) = y.checked_sub(&left.1) else { return true };
    let Some(right) = chain.get(next) else { return rise.is_zero() };
    let step = |a: &Amount, b: &Amount| a.checked_sub(b).unwrap_or_default();
    let (run, width) = (step(x, &left.0), step(&right.0, &left.0));
    &rise * &width <= &step(&right.1, &left.1) * &run
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(p: &[f64], q: &[f64]) -> FinitePair {
        FinitePair::new(p, q).unwrap()
    }

    #[test]
    fn merging_outcomes_loses_and_a_pair_equals_itself() {
        let fine = pair(&[0.5, 0.25, 0.25, 0.0], &[0.0, 0.125, 0.375, 0.5]);
        let merged = pair(&[0.75, 0.25], &[0.125, 0.875]);
        let split = pair(&[0.25, 0.25, 0.25, 0.25, 0.0], &[0.0, 0.0, 0.125, 0.375, 0.5]);
        assert_eq!(dominates(&fine, &merged), Some(true));
        assert_eq!(dominates(&merged, &fine), Some(false));
        assert_eq!(dominates(&fine, &split), Some(true));
        assert_eq!(dominates(&split, &fine), Some(true));
        assert_eq!(dominates(&fine, &fine), Some(true));
    }

    #[test]
    fn one_unit_in_the_last_place_decides() {
        let p: f64 = 0.75;
        let more = pair(&[p.next_up(), 1.0 - p.next_up()], &[0.25, 0.75]);
        let less = pair(&[p, 1.0 - p], &[0.25, 0.75]);
        assert_eq!(dominates(&more, &less), Some(true));
        assert_eq!(dominates(&less, &more), Some(false));
    }

    /// Neither of two crossing curves dominates.
    #[test]
    fn crossing_pairs_are_not_comparable() {
        let leaky = pair(&[0.25, 0.75], &[0.0, 1.0]);
        let even = pair(&[0.75, 0.25], &[0.25, 0.75]);
        assert_eq!(dominates(&leaky, &even), Some(false));
        assert_eq!(dominates(&even, &leaky), Some(false));
    }
}
