//! Splines and sums of splines at one fraction and all whole numbers above it.

use super::{LEFT_OUT, UNDERFLOW};
use crate::methods::Failure;
use counterpoint_numerics::Dd;

/// The weights of steps down the lattice and of draws.
#[derive(Clone, Copy)]
pub(super) struct StepWeights {
    pub(super) epsilon: f64,
    pub(super) step: f64,
    pub(super) draw: f64,
}

/// The number of terms of the hyperbolic sine needed up to an x, and the relative size of the rest.
pub(super) fn terms(x: f64) -> Result<(usize, f64), Failure> {
    let (mut n, mut missing) = (0, 1.0);
    while missing > 1e-18 {
        n += 1;
        let m = 2.0 * n as f64;
        missing *= x * x / (m * (m - 1.0));
        if missing > 1e300 {
            return Err(Failure::TooMuch);
        }
    }
    Ok((n, 2.0 * missing))
}

/// F_c at a fraction and all whole numbers above it, one row for each number of draws.
pub(super) struct SplineTable {
    pub(super) steps: usize,
    /// The rows, one after the other.
    pub(super) rows: Vec<f64>,
    /// For each row, a bound on the effect of underflow on an entry.
    pub(super) lost: Vec<f64>,
}

impl SplineTable {
    pub(super) fn new(
        weights: StepWeights,
        part: Dd,
        (kept, levels, steps): (usize, usize, usize),
    ) -> Self {
        let bases = Bases::new(weights, part, (levels + 2, steps));
        let StepWeights { epsilon: e, step: r, draw } = weights;
        let (own, base) = (draw * draw * e * e, 2.0 * e * draw * draw);
        // Only two rows are needed at a time: one of even, one of odd level.
        let mut pair = [vec![0.0; steps], vec![0.0; steps]];
        let mut pair_lost = [0.0, 0.0];
        let (mut rows, mut lost) = (vec![0.0; kept * steps], vec![0.0; kept]);
        let n = steps as f64;
        let reach = (n * n).min(1.0 / ((1.0 - r) * (1.0 - r)).max(1e-300));
        for level in (0..levels).rev() {
            let row = &mut pair[level % 2];
            summed_twice(row, bases.row(level + 2), (own, base), r);
            let row_lost = &mut pair_lost[level % 2];
            let from = own * *row_lost + base * bases.lost[level + 2];
            *row_lost = LEFT_OUT * (reach * (from + 4.0 * UNDERFLOW) + n * UNDERFLOW);
            if level < kept {
                rows[level * steps..][..steps].copy_from_slice(row);
                lost[level] = *row_lost;
            }
        }
        Self { steps, rows, lost }
    }
}

/// F_c from F_(c+2) and the spline: the sum is weighted step by step, twice.
fn summed_twice(row: &mut [f64], spline: &[f64], (own, base): (f64, f64), step: f64) {
    let (mut once, mut twice) = (0.0, 0.0);
    let (head, tail) = row.split_at_mut(spline.len());
    for (value, spline) in head.iter_mut().zip(spline) {
        once = step * once + (own * *value + base * spline);
        twice = step * twice + once;
        *value = twice;
    }
    for value in tail {
        once = step * once + own * *value;
        twice = step * twice + once;
        *value = twice;
    }
}

/// Weighted cardinal splines at a fraction and all whole numbers above it.
struct Bases {
    steps: usize,
    values: Vec<f64>,
    lost: Vec<f64>,
}

impl Bases {
    /// de Boor's recursion for sums of up to `levels` draws; the spline of one draw is one.
    fn new(weights: StepWeights, part: Dd, (levels, steps): (usize, usize)) -> Self {
        let StepWeights { step: r, draw, .. } = weights;
        let (part, rest) = (part.hi, (Dd::ONE - part).hi);
        let start = |c: usize| Self::start(c, steps);
        let mut values = vec![0.0; start(levels + 1)];
        let mut lost = vec![0.0; levels + 1];
        if steps > 0 {
            values[0] = 1.0;
        }
        for c in 2..=levels {
            let (before, now) = values.split_at_mut(start(c));
            let before = &before[start(c - 1)..];
            let over = 1.0 / ((c - 1) as f64 * draw);
            let many = c.min(steps);
            let at = |i: usize| before.get(i).copied().unwrap_or(0.0);
            for (i, value) in now[..many].iter_mut().enumerate() {
                let low = if i > 0 { at(i - 1) } else { 0.0 };
                let (y, above) = (part + i as f64, (c - 1 - i) as f64 + rest);
                *value = (y * at(i) + above * (r * low)) * over;
            }
            let most = (many as f64 + c as f64 * r) * over;
            lost[c] = LEFT_OUT * (most * (lost[c - 1] + 4.0 * UNDERFLOW)) + UNDERFLOW;
        }
        Self { steps, values, lost }
    }

    /// The start of a row; each earlier row c has min(c, steps) entries.
    fn start(c: usize, steps: usize) -> usize {
        let full = c.saturating_sub(1);
        let short = full.min(steps);
        short * (short + 1) / 2 + (full - short) * steps
    }

    fn row(&self, c: usize) -> &[f64] {
        &self.values[Self::start(c, self.steps)..Self::start(c + 1, self.steps)]
    }
}
