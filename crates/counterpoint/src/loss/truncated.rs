//! Laplace noise within bounds: theory 5.16.

use super::lists::{outcomes_loss, sampled_outcomes};
use super::{Direction, LossError, PairLoss, check_loss_range};
use crate::quantity::{GroupSize, NoiseBound, NoiseScale, Sensitivity};
use counterpoint_numerics::{Dd, exp_neg, one_minus_exp_neg};

/// The number of cells of the losses between the largest and the smallest.
const CELLS: u32 = 4096;

/// Laplace noise within bounds, in units of its scale.
pub(super) struct TruncatedLaplace {
    shift: Dd,
    bound: Dd,
}

impl TruncatedLaplace {
    pub(super) fn new(
        scale: NoiseScale,
        sensitivity: Sensitivity,
        bound: NoiseBound,
        group: GroupSize,
    ) -> Result<Self, LossError> {
        let shift = Dd::from(sensitivity.get()) / scale.get() * group.get() as f64;
        let shift = check_loss_range("sensitivity / scale", shift)?;
        let bound = check_loss_range("bound / scale", Dd::from(bound.get()) / scale.get())?;
        if !(bound.scaled(1.999) - shift).is_positive() {
            let (what, legal) = ("sensitivity / bound", "less than 1.999");
            return Err(LossError::Range { what, value: (shift / bound).hi, legal });
        }
        Ok(Self { shift, bound })
    }

    /// The loss, and that of a pair that is dominated.
    pub(super) fn loss(&self, rate: f64, direction: Direction) -> Result<PairLoss, LossError> {
        let loss = |between: Vec<(Dd, Dd)>| {
            let outcomes: Vec<(Dd, Dd)> = self.ends().into_iter().chain(between).collect();
            match rate < 1.0 {
                true => sampled_outcomes(&outcomes, rate, direction),
                false => outcomes_loss(&outcomes, direction),
            }
        };
        let [split, merged] = self.between();
        Ok(loss(split)?.with_lower_pair(loss(merged)?))
    }

    /// Twice the probability that noise without bounds is within them.
    fn norm(&self) -> Dd {
        one_minus_exp_neg(self.bound).scaled(2.0)
    }

    /// The masses of the outcomes with the largest and the smallest loss, and of those that are possible on one data
    /// set only.
    fn ends(&self) -> Vec<(Dd, Dd)> {
        let beyond = self.bound - self.shift;
        if beyond.is_positive() {
            let (leak, most) = (one_minus_exp_neg(self.shift), one_minus_exp_neg(beyond));
            let (leak, most) = (leak * exp_neg(beyond) / self.norm(), most / self.norm());
            let least = most * exp_neg(self.shift);
            return vec![(leak, Dd::ZERO), (Dd::ZERO, leak), (most, least), (least, most)];
        }
        let leak = Dd::from(0.5) + one_minus_exp_neg(-beyond) / self.norm();
        vec![(leak, Dd::ZERO), (Dd::ZERO, leak)]
    }

    /// The outcomes between, whose losses l have the density e^((l - shift)/2)/(4 Z) under P, in cells of equal width:
    /// each split into its ends, and each as one outcome.
    fn between(&self) -> [Vec<(Dd, Dd)>; 2] {
        let other = self.bound.scaled(2.0) - self.shift;
        let most = if other < self.shift { other } else { self.shift };
        let half = most / f64::from(CELLS);
        let within = one_minus_exp_neg(half) / self.norm();
        let mass = |loss: Dd| within * exp_neg((self.shift - loss).scaled(0.5));
        let upper_share = Dd::ONE / (Dd::ONE + exp_neg(half));
        let (mut split, mut merged) = (Vec::new(), Vec::new());
        for cell in 0..CELLS {
            // The cell's largest loss, and the negative of its smallest.
            let high = most - half * (2.0 * f64::from(cell));
            let low = half * (2.0 * f64::from(cell) + 2.0) - most;
            let (p, q) = (mass(high), mass(low));
            merged.push((p, q));
            let (up, down) = (p * upper_share, q * upper_share);
            split.push((up, up * exponential(-high)));
            split.push((down * exponential(-low), down));
        }
        [split, merged]
    }
}

fn exponential(x: Dd) -> Dd {
    if x.is_positive() { x.exp() } else { exp_neg(-x) }
}
