//! Factors on a lattice, tilted to the saddle point.
//!
//! A randomized response has its plus atom at loss +eps and its minus atom 2 eps below. Steps are counted downward from
//! the largest loss E of the composition. So every plus is at zero exactly, and only the minus atom, 2 eps = (m + r)
//! steps down, has to be moved:
//!
//! - *split* between m and m + 1 steps so that P and Q mass are kept: a mean-preserving
//!   spread of the likelihood ratio, hence a pair that dominates (theory 3.1);
//! - *merged* onto the nearest step with its true P and Q masses: a post-processing,
//!   hence a pair that is dominated (theory 3.2).
//!
//! The composed loss is then E - h Y, where Y is a sum of independent non-negative integers.

use crate::composition::Factor;
use crate::delta_bounds::UNCOUNTED;
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::{Dd, STEP, UNIT, Wide, exp_neg, expm1};

/// The lattice, and its distribution P or Q.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LatticeLaw {
    /// The split lattice under P.
    Split,
    /// The merged lattice under P.
    MergedP,
    /// The merged lattice under Q.
    MergedQ,
}

/// The weight of a loss in the sum over the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The mass itself.
    Mass,
    /// The mass times 1 - e^(eps - loss).
    Profile,
}

/// Equal factors on the lattice: y is 0, `steps` or `steps + 1`, with tilted, normalised masses `high + low`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LatticeCell {
    pub(crate) steps: u64,
    pub(crate) count: u64,
    pub(crate) high: [f64; 3],
    pub(crate) low: [f64; 3],
}

impl LatticeCell {
    /// True if the count is so large that doubles would lose too much in the power.
    pub(crate) fn is_heavy(&self) -> bool {
        self.count > LIGHT
    }

    /// A mass as a double-double.
    pub(crate) fn mass(&self, index: usize) -> Dd {
        Dd::sum(self.high[index], self.low[index])
    }
}

/// From this epsilon on e^-eps counts as zero.
const LARGE: f64 = 590.0;

/// From this exponent on e^-x is not multiplied by masses, which may be tiny themselves.
const EXTREME: f64 = 100.0;

/// A light cell's masses and norm, 24 u, and a heavy one's, 32 steps; with the norm's power.
const LIGHT_MASS: f64 = 32.0 * UNIT;
const HEAVY_MASS: f64 = 64.0 * STEP;

/// The largest count for which doubles are enough.
const LIGHT: u64 = 16;

/// All factors on a lattice, with masses `P(y) e^(-tilt y) / scale`.
#[derive(Clone, Debug)]
pub(crate) struct TiltedLattice {
    /// h.
    pub(crate) step: f64,
    /// t h.
    pub(crate) tilt: f64,
    /// The product of the factors' `E[e^(-tilt y)]`.
    pub(crate) scale: Wide,
    pub(crate) cells: Vec<LatticeCell>,
    /// The relative error of a product of masses and the scale; any sum of such products with non-negative weights has
    /// the same bound.
    pub(crate) error: f64,
    /// The largest possible Y, saturating.
    pub(crate) most_steps: f64,
}

impl TiltedLattice {
    /// The work of evaluating the characteristic function at one point, in units of a light cell's work.
    pub(crate) fn point_work(&self) -> f64 {
        self.cells.iter().map(|cell| if cell.is_heavy() { 300.0 } else { 1.0 }).sum()
    }
}

/// Factors with the probabilities of a plus and of a minus, computed once.
#[derive(Clone, Debug)]
pub(crate) struct LatticeResponses {
    list: Vec<LatticeResponse>,
    pub(crate) count: f64,
}

#[derive(Clone, Copy, Debug)]
struct LatticeResponse {
    epsilon: f64,
    count: u64,
    plus: Dd,
    minus: Dd,
}

impl LatticeResponses {
    /// Computes the probabilities, to a relative error of at most u, or 2^-96 for heavy factors.
    pub(crate) fn new(factors: &[Factor], watch: &Watch<'_>) -> Result<Self, StopRequest> {
        let list = factors.iter().enumerate().map(|(done, factor)| {
            call_watch(done, watch)?;
            let decay = exp_neg(Dd::from(factor.each));
            let plus = Dd::ONE / (Dd::ONE + decay);
            let minus = decay * plus;
            Ok(LatticeResponse { epsilon: factor.each, count: factor.count, plus, minus })
        });
        let count = factors.iter().map(|factor| factor.count as f64).sum();
        Ok(Self { list: list.collect::<Result<_, StopRequest>>()?, count })
    }

    /// Puts the factors on a lattice.
    pub(crate) fn on_lattice(
        &self,
        side: LatticeLaw,
        step: f64,
        tilt: f64,
        watch: &Watch<'_>,
    ) -> Result<TiltedLattice, StopRequest> {
        let mut tilting = TiltWeights::new(tilt);
        let whole = -expm1(-step);
        let mut scale = Wide::ONE;
        let (mut error, mut most_steps) = (UNCOUNTED * STEP, 0.0);
        let mut cells = Vec::with_capacity(self.list.len());
        for (done, response) in self.list.iter().enumerate() {
            call_watch(done, watch)?;
            let (cell, norm) = response.cell(side, step, whole, &mut tilting);
            scale = scale * norm;
            let count = response.count as f64;
            error += count * if cell.is_heavy() { HEAVY_MASS } else { LIGHT_MASS };
            most_steps += count * (cell.steps as f64 + 1.0);
            cells.push(cell);
        }
        Ok(TiltedLattice { step, tilt, scale, cells, error, most_steps })
    }

    /// An upper bound on `E[e^(-tilt Y)]`.
    pub(crate) fn scale(
        &self,
        side: LatticeLaw,
        step: f64,
        tilt: f64,
        watch: &Watch<'_>,
    ) -> Result<Wide, StopRequest> {
        let mut tilting = TiltWeights::new(tilt);
        let whole = -expm1(-step);
        let mut product = Wide::ONE;
        for (done, response) in self.list.iter().enumerate() {
            call_watch(done, watch)?;
            product = product * response.cell(side, step, whole, &mut tilting).1;
        }
        Ok(product * Wide::exp(Dd::from(LIGHT_MASS * (self.count + 1.0))))
    }
}

/// Calls the watch now and then in a long list.
fn call_watch(done: usize, watch: &Watch<'_>) -> Result<(), StopRequest> {
    if done.is_multiple_of(8192) { watch.check(0.0) } else { Ok(()) }
}

impl LatticeResponse {
    /// Places the minus atom: returns the tilted masses at 0, m and m + 1, and the norm to the power of the count, to a
    /// relative error of at most 24 u each, or 32 [`STEP`] if heavy.
    fn cell(
        &self,
        side: LatticeLaw,
        step: f64,
        whole: f64,
        tilting: &mut TiltWeights,
    ) -> (LatticeCell, Wide) {
        let place = StepPosition::new(2.0 * self.epsilon, step);
        let steps = if side == LatticeLaw::Split { place.steps } else { place.nearest() };
        let extreme = self.epsilon >= LARGE || tilting.tilt * steps >= EXTREME;
        if side == LatticeLaw::MergedQ && extreme {
            return self.extreme_cell_under_q(steps, tilting.tilt);
        }
        let weights = tilting.weights(steps);
        if self.count > LIGHT {
            let masses = match side {
                LatticeLaw::MergedP => [self.plus, self.minus, Dd::ZERO],
                LatticeLaw::MergedQ => [self.minus, self.plus, Dd::ZERO],
                LatticeLaw::Split => {
                    let (near, far) = precise_split(&place, step);
                    [self.plus, self.minus * near, self.minus * far]
                }
            };
            return heavy_cell(steps as u64, self.count, masses, weights);
        }
        let (plus, minus) = (self.plus.hi, self.minus.hi);
        let masses = match side {
            LatticeLaw::MergedP => [plus, minus, 0.0],
            LatticeLaw::MergedQ => [minus, plus, 0.0],
            LatticeLaw::Split => {
                // (1 - e^-(h-r)) / (1 - e^-h) stays up, the rest goes down.
                let kept = -expm1(-place.under.hi);
                let lost = (1.0 - kept) * -expm1(-place.over.hi);
                [plus, minus * (kept / whole), minus * (lost / whole)]
            }
        };
        light_cell(steps as u64, self.count, masses, weights)
    }
}

impl LatticeResponse {
    /// The merged cell under Q where e^-eps or the weight of the minus underflows. All masses are relative to the plus,
    /// whose Q mass goes into the scale.
    fn extreme_cell_under_q(&self, steps: f64, tilt: f64) -> (LatticeCell, Wide) {
        let ratio = exp_neg(Dd::product(tilt, steps) - Dd::from(self.epsilon));
        let norm = Dd::ONE + ratio;
        let parts = [Dd::ONE / norm, ratio / norm, Dd::ZERO];
        let cell = LatticeCell {
            steps: steps as u64,
            count: self.count,
            high: parts.map(|x| x.hi),
            low: parts.map(|x| x.lo),
        };
        let scale = Wide::exp(Dd::from(-self.epsilon)) * Wide::from(self.plus * norm);
        (cell, scale.powi(self.count))
    }
}

/// The position of a distance between two multiples of a step.
struct StepPosition {
    /// The number of whole steps.
    steps: f64,
    /// The excess over the whole steps, and the lack to one more step: not negative, with relative errors of 2^-100.
    over: Dd,
    under: Dd,
}

impl StepPosition {
    /// Requires a distance of less than 2^53 steps.
    fn new(distance: f64, step: f64) -> Self {
        let over = |steps: f64| Dd::from(distance) - Dd::product(steps, step);
        let guess = (distance / step).floor();
        let steps = if over(guess).is_negative() {
            guess - 1.0
        } else if over(guess + 1.0).is_negative() {
            guess
        } else {
            guess + 1.0
        };
        Self { steps, over: over(steps), under: -over(steps + 1.0) }
    }

    fn nearest(&self) -> f64 {
        if self.over < self.under { self.steps } else { self.steps + 1.0 }
    }
}

/// e^(-tilt m), reused while m stays the same; factors are sorted.
struct TiltWeights {
    tilt: f64,
    next: Dd,
    last: (f64, Dd),
}

impl TiltWeights {
    fn new(tilt: f64) -> Self {
        Self { tilt, next: exp_neg(Dd::from(tilt)), last: (0.0, Dd::ONE) }
    }

    /// The weights at m and m + 1 steps. The product with the tilt is exact, so the tilt is the same for every factor.
    fn weights(&mut self, steps: f64) -> [Dd; 2] {
        if steps.to_bits() != self.last.0.to_bits() {
            self.last = (steps, exp_neg(Dd::product(self.tilt, steps)));
        }
        [self.last.1, self.last.1 * self.next]
    }
}

/// The shares of the upper and the lower neighbour, in double-doubles.
fn precise_split(place: &StepPosition, step: f64) -> (Dd, Dd) {
    let fall = |x: Dd| -(-x).expm1();
    let whole = fall(Dd::from(step));
    let rest = (-place.under).exp();
    (fall(place.under) / whole, rest * fall(place.over) / whole)
}

fn light_cell(steps: u64, count: u64, masses: [f64; 3], weights: [Dd; 2]) -> (LatticeCell, Wide) {
    let parts = [masses[0], masses[1] * weights[0].hi, masses[2] * weights[1].hi];
    let norm = parts[0] + parts[1] + parts[2];
    let high = parts.map(|part| part / norm);
    let scale = Wide::from(norm);
    let scale = if count == 1 { scale } else { scale.powi(count) };
    (LatticeCell { steps, count, high, low: [0.0; 3] }, scale)
}

fn heavy_cell(steps: u64, count: u64, masses: [Dd; 3], weights: [Dd; 2]) -> (LatticeCell, Wide) {
    let parts = [masses[0], masses[1] * weights[0], masses[2] * weights[1]];
    let norm = parts[0] + parts[1] + parts[2];
    let parts = parts.map(|part| part / norm);
    let cell = LatticeCell { steps, count, high: parts.map(|x| x.hi), low: parts.map(|x| x.lo) };
    (cell, Wide::from(norm).powi(count))
}

impl TiltedLattice {
    /// Randomized responses whose epsilons are multiples of a unit, on the lattice of twice the unit: every minus is
    /// then as many steps down as its multiple.
    pub(crate) fn on_multiples(multiples: &[(u64, u64)], unit: Dd, tilt: f64) -> Self {
        let mut tilting = TiltWeights::new(tilt);
        let mut scale = Wide::ONE;
        let (mut error, mut most_steps) = (UNCOUNTED * STEP, 0.0);
        let mut cells = Vec::with_capacity(multiples.len());
        for &(multiple, count) in multiples {
            let decay = exp_neg(unit * multiple as f64);
            let plus = Dd::ONE / (Dd::ONE + decay);
            let masses = [plus.hi, (decay * plus).hi, 0.0];
            let (cell, norm) =
                light_cell(multiple, count, masses, tilting.weights(multiple as f64));
            scale = scale * norm;
            error += LIGHT_MASS * count as f64;
            most_steps += count as f64 * (multiple as f64 + 1.0);
            cells.push(cell);
        }
        Self { step: unit.scaled(2.0).hi, tilt, scale, cells, error, most_steps }
    }
}
