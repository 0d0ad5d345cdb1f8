//! Factors on a lattice, tilted to the saddle point.
//!
//! A randomized response has its plus atom at loss +eps and its minus atom 2 eps
//! below. Counting lattice steps downward from the largest loss E of the whole, every
//! plus is at zero exactly, and only the minus atom, 2 eps = (m + r) steps down, has
//! to be moved:
//!
//! - *split* between m and m + 1 steps so that P and Q mass are kept: a mean-preserving
//!   spread of the likelihood ratio, hence a pair that dominates (theorems.md, split);
//! - *merged* onto the nearest step with its true P and Q masses: a post-processing,
//!   hence a pair that is dominated (theorems.md, merge).
//!
//! The composed loss is then E - h Y, Y a sum of independent non-negative integers.

use crate::composition::Factor;
use crate::rounding::{Dd, STEP, UNIT, Wide, expm1};

/// Which lattice, and which of its two distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The split lattice under P.
    Split,
    /// The merged lattice under P.
    MergedP,
    /// The merged lattice under Q.
    MergedQ,
}

/// Equal factors on the lattice: y is 0, `steps` or `steps + 1`, with tilted,
/// normalised masses `high + low`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) steps: u64,
    pub(crate) count: u64,
    pub(crate) high: [f64; 3],
    pub(crate) low: [f64; 3],
}

impl Cell {
    /// Whether the count is so large that doubles would lose too much in the power.
    pub(crate) fn is_heavy(&self) -> bool {
        self.count > LIGHT
    }

    /// A mass in full.
    pub(crate) fn mass(&self, index: usize) -> Dd {
        Dd::sum(self.high[index], self.low[index])
    }
}

/// Up to this count doubles will do.
const LIGHT: u64 = 16;

/// All factors on a lattice, with masses `P(y) e^(-tilt y) / scale`.
#[derive(Clone, Debug)]
pub(crate) struct Tilted {
    /// h, a power of two.
    pub(crate) step: f64,
    /// t h; t itself is exactly `tilt / step`.
    pub(crate) tilt: f64,
    /// The product of the factors' `E[e^(-tilt y)]`.
    pub(crate) scale: Wide,
    pub(crate) cells: Vec<Cell>,
    /// Relative error of a product of masses and the scale: any sum of such products
    /// with non-negative weights has it too.
    pub(crate) error: f64,
    /// The largest Y there is, saturating.
    pub(crate) most_steps: f64,
}

impl Tilted {
    pub(crate) fn new(factors: &[Factor], side: Side, step: f64, tilt: f64) -> Self {
        let mut scale = Wide::ONE;
        let (mut error, mut most_steps) = (0.0, 0.0);
        let mut cells = Vec::with_capacity(factors.len());
        for &factor in factors {
            let (steps, masses) = masses(factor, side, step);
            let (cell, norm) = tilted(steps, factor.count, masses, tilt);
            let count = factor.count as f64;
            scale = scale * if factor.count == 1 { Wide::from(norm) } else { Wide::from(norm).powi(factor.count) };
            error += count * if cell.is_heavy() { 64.0 * STEP } else { 32.0 * UNIT };
            most_steps += count * (steps as f64 + 1.0);
            cells.push(cell);
        }
        Self { step, tilt, scale, cells, error: error + 64.0 * STEP, most_steps }
    }

    /// An upper bound on `E[e^(-tilt y)]` at another tilt.
    pub(crate) fn scale_at(factors: &[Factor], side: Side, step: f64, tilt: f64) -> Wide {
        let mut scale = Wide::ONE;
        for &factor in factors {
            let (steps, masses) = masses(factor, side, step);
            let (_, norm) = tilted(steps, factor.count, masses, tilt);
            scale = scale * Wide::from(norm).powi(factor.count);
        }
        let count: f64 = factors.iter().map(|f| f.count as f64).sum();
        scale * Wide::exp(Dd::from(32.0 * UNIT * (count + 1.0)))
    }
}

/// Where a factor's minus atom goes, and the masses at 0, m and m + 1: relative error
/// at most 12 u, or 8 [`STEP`] for heavy factors.
fn masses(factor: Factor, side: Side, step: f64) -> (u64, [Dd; 3]) {
    let decay = if factor.epsilon < 590.0 { Dd::from(-factor.epsilon).exp() } else { Dd::ZERO };
    let plus = Dd::ONE / (Dd::ONE + decay);
    let minus = decay * plus;
    // Exact: step is a power of two.
    let down = 2.0 * factor.epsilon / step;
    match side {
        Side::MergedP => (down.round() as u64, [plus, minus, Dd::ZERO]),
        Side::MergedQ => (down.round() as u64, [minus, plus, Dd::ZERO]),
        Side::Split => {
            let over = (down - down.floor()) * step;
            let (near, far) = split(over, step, factor.count > LIGHT);
            (down.floor() as u64, [plus, minus * near, minus * far])
        }
    }
}

/// The shares of an atom `over` below the upper of two neighbouring lattice points, a
/// step apart: `(1 - e^-(h-r)) / (1 - e^-h)` stays up, `e^-(h-r) (1 - e^-r) / (1 - e^-h)`
/// goes down.
fn split(over: f64, step: f64, heavy: bool) -> (Dd, Dd) {
    if heavy {
        let fall = |x: f64| -Dd::from(-x).expm1();
        let whole = fall(step);
        let rest = Dd::from(-(step - over)).exp();
        return (fall(step - over) / whole, rest * fall(over) / whole);
    }
    let fall = |x: f64| -expm1(-x);
    let whole = fall(step);
    let near = fall(step - over) / whole;
    let far = (1.0 - fall(step - over)) * fall(over) / whole;
    (Dd::from(near), Dd::from(far))
}

/// Tilts and normalises: relative error at most 8 u more, or 8 [`STEP`] if heavy.
fn tilted(steps: u64, count: u64, masses: [Dd; 3], tilt: f64) -> (Cell, Dd) {
    // Exact products, so that the tilt is the same for every factor.
    let near = Dd::product(tilt, steps as f64);
    let weight = if near.hi < 590.0 { (-near).exp() } else { Dd::ZERO };
    let next = if tilt < 590.0 { Dd::from(-tilt).exp() } else { Dd::ZERO };
    let parts = [masses[0], masses[1] * weight, masses[2] * weight * next];
    let norm = parts[0] + parts[1] + parts[2];
    let parts = parts.map(|part| part / norm);
    let cell = Cell { steps, count, high: parts.map(|x| x.hi), low: parts.map(|x| x.lo) };
    (cell, norm)
}
