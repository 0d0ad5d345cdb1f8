//! The map of Blackwell's theorem.
//!
//! The test curve of a pair joins the vectors (q, p) of its outcomes end to end, by falling likelihood ratio p/q. It is
//! concave, from (0, 0) to (1, 1). One pair dominates another if its curve is nowhere below the other's. The
//! construction walks along the target's edges. The line through an edge meets the source's curve again at or beyond
//! the edge's end. The chord up to that point is the sum of the source's outcomes up to there, and the edge is the
//! beginning of the chord. So the construction pools the source's outcomes up to the line and gives the edge its share
//! of the pool. The rest stays in the pool for the next edge, whose line is flatter.

use super::{Map, MapError, Pair, Violation};
use counterpoint_numerics::fractions::Ratio;
use std::cmp::Ordering;

/// Computes the map that carries a dominating pair onto a dominated one, exactly.
///
/// # Errors
/// [`MapError::Violated`] with the ratio at which the target's profile is larger; [`MapError::Input`] if the map would
/// be too large: more than 250,000 entries, or more than 2^30 bits.
pub fn simulate(source: &Pair, target: &Pair) -> Result<Map, MapError> {
    let map = Map::zero(source, target)?;
    match violation(source, target) {
        Some(violation) => Err(MapError::Violated(Box::new(violation))),
        None => Ok(pooled(source, target, map)),
    }
}

/// Finds the ratio at which the target's profile exceeds the source's most; `None` if it never does.
///
/// Between two ratios of its outcomes, the source's profile is a line in x, and the target's is convex. So the excess
/// is largest at an end: at one of those ratios, or at x = 0, where both profiles are 1. Beyond the largest finite
/// ratio, the source's profile is constant and the target's falls.
#[must_use]
pub fn violation(source: &Pair, target: &Pair) -> Option<Violation> {
    let targets = by_ratio(target);
    let mut targets = targets.iter().map(|(_, outcome)| *outcome).peekable();
    // The outcomes of both pairs whose ratio is above the current one.
    let (mut source_above, mut target_above) = (Line::default(), Line::default());
    let mut worst: Option<Violation> = None;
    for (_, outcome) in by_ratio(source) {
        let [p, q] = outcome;
        if !q.is_zero() {
            while let Some(above) = targets.next_if(|target| turn(target, outcome).is_gt()) {
                target_above.add(above);
            }
            let ratio = p / q;
            let (source, target) = (source_above.at(&ratio), target_above.at(&ratio));
            let violation = Violation { ratio, source, target };
            if violation.excess() > worst.as_ref().map_or(Ratio::ZERO, Violation::excess) {
                worst = Some(violation);
            }
        }
        source_above.add(outcome);
    }
    worst
}

/// P(A) - x Q(A) for an event A, as a function of x: the profile, between two ratios.
#[derive(Default)]
struct Line([Ratio; 2]);

impl Line {
    fn add(&mut self, outcome: &[Ratio; 2]) {
        for (sum, mass) in self.0.iter_mut().zip(outcome) {
            *sum += mass;
        }
    }

    fn at(&self, ratio: &Ratio) -> Ratio {
        &self.0[0] - ratio * &self.0[1]
    }
}

/// The outcomes that occur, by falling likelihood ratio.
fn by_ratio(pair: &Pair) -> Vec<(usize, &[Ratio; 2])> {
    let occurs = |(_, [p, q]): &(usize, &[Ratio; 2])| !(p.is_zero() && q.is_zero());
    let mut list: Vec<_> = pair.outcomes().iter().enumerate().filter(occurs).collect();
    list.sort_by(|(_, a), (_, b)| turn(b, a));
    list
}

/// Compares the ratios p/q of two vectors.
fn turn(a: &[Ratio; 2], b: &[Ratio; 2]) -> Ordering {
    cross(a, b).cmp(&Ratio::ZERO)
}

/// The cross product: positive if a's ratio p/q is larger than b's.
pub(crate) fn cross(a: &[Ratio; 2], b: &[Ratio; 2]) -> Ratio {
    &a[0] * &b[1] - &b[0] * &a[1]
}

/// Builds the map by the construction above, for a source that dominates the target.
fn pooled(source: &Pair, target: &Pair, mut map: Map) -> Map {
    let mut waiting = by_ratio(source).into_iter().map(|(i, v)| (i, v, Ratio::ONE)).peekable();
    let mut pool = Pool::default();
    for (output, edge) in by_ratio(target) {
        // Pools outcomes up to the line through this edge, that is, as long as the ratio of the pool is larger than
        // that of the edge.
        while let Some((input, outcome, left)) = waiting.peek_mut() {
            let (above, falls) = (cross(&pool.sum, edge), -cross(outcome, edge) * &*left);
            if falls <= above {
                pool.add(*input, outcome, left.clone());
                waiting.next();
            } else {
                let share = &*left * (above / falls);
                *left -= &share;
                pool.add(*input, outcome, share);
                break;
            }
        }
        for (input, share) in pool.take(edge) {
            map.add(input, output, share);
        }
    }
    // An outcome that never occurs may have any row.
    for (input, [p, q]) in source.outcomes().iter().enumerate() {
        if p.is_zero() && q.is_zero() {
            map.add(input, 0, Ratio::ONE);
        }
    }
    map
}

/// Shares of the source's outcomes, and the sum of their vectors.
#[derive(Default)]
struct Pool {
    shares: Vec<(usize, Ratio)>,
    sum: [Ratio; 2],
}

impl Pool {
    fn add(&mut self, input: usize, outcome: &[Ratio; 2], share: Ratio) {
        for (sum, mass) in self.sum.iter_mut().zip(outcome) {
            *sum += mass * &share;
        }
        if !share.is_zero() {
            self.shares.push((input, share));
        }
    }

    /// Takes the share of the pool whose vector is this edge.
    fn take(&mut self, edge: &[Ratio; 2]) -> Vec<(usize, Ratio)> {
        let whole = &self.sum[0] + &self.sum[1];
        if whole.is_zero() {
            return Vec::new();
        }
        let part = (&edge[0] + &edge[1]) / whole;
        let taken = self.shares.iter().map(|(input, share)| (*input, share * &part)).collect();
        let kept = Ratio::ONE - part;
        for share in self.shares.iter_mut().map(|(_, share)| share).chain(&mut self.sum) {
            *share *= &kept;
        }
        self.shares.retain(|(_, share)| !share.is_zero());
        taken
    }
}
