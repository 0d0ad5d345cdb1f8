//! Factors on a lattice, tilted to the saddle point.
//!
//! A randomized response has its plus atom at loss +eps and its minus atom 2 eps
//! below. Counting lattice steps downward from the largest loss E of the whole, every
//! plus is at zero exactly, and only the minus atom, 2 eps = (m + r) steps down, has
//! to be moved:
//!
//! - *split* between m and m + 1 steps so that P and Q mass are kept: a mean-preserving
//!   spread of the likelihood ratio, hence a pair that dominates (theory 3.1);
//! - *merged* onto the nearest step with its true P and Q masses: a post-processing,
//!   hence a pair that is dominated (theory 3.2).
//!
//! The composed loss is then E - h Y, Y a sum of independent non-negative integers.

use crate::composition::Factor;
use crate::ends::UNCOUNTED;
use crate::watch::{Stopped, Watch};
use counterpoint_numerics::{Dd, STEP, UNIT, Wide, expm1, falling};

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

/// What is summed up over the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The mass itself.
    Mass,
    /// The mass times 1 - e^(eps - loss).
    Profile,
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

/// From this epsilon on e^-eps is taken to be zero.
const LARGE: f64 = 590.0;

/// From this exponent on e^-x is not multiplied by masses that may be tiny themselves.
const EXTREME: f64 = 100.0;

/// A light cell's masses and norm, 24 u, and a heavy one's, 32 steps; with the norm's power.
const LIGHT_MASS: f64 = 32.0 * UNIT;
const HEAVY_MASS: f64 = 64.0 * STEP;

/// Up to this count doubles will do.
const LIGHT: u64 = 16;

/// All factors on a lattice, with masses `P(y) e^(-tilt y) / scale`.
#[derive(Clone, Debug)]
pub(crate) struct Tilted {
    /// h.
    pub(crate) step: f64,
    /// t h.
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
    /// The work of evaluating the characteristic function at one point, in units of a
    /// light cell's.
    pub(crate) fn point_work(&self) -> f64 {
        self.cells.iter().map(|cell| if cell.is_heavy() { 300.0 } else { 1.0 }).sum()
    }
}

/// Factors with the probability of a plus and of a minus, computed once.
#[derive(Clone, Debug)]
pub(crate) struct Responses {
    list: Vec<Response>,
    pub(crate) count: f64,
}

#[derive(Clone, Copy, Debug)]
struct Response {
    epsilon: f64,
    count: u64,
    plus: Dd,
    minus: Dd,
}

impl Responses {
    /// Relative error at most u, or 2^-96 for heavy factors.
    pub(crate) fn new(factors: &[Factor], watch: &Watch<'_>) -> Result<Self, Stopped> {
        let list = factors.iter().enumerate().map(|(done, factor)| {
            watched(done, watch)?;
            let decay = falling(Dd::from(factor.each));
            let plus = Dd::ONE / (Dd::ONE + decay);
            let minus = decay * plus;
            Ok(Response { epsilon: factor.each, count: factor.count, plus, minus })
        });
        let count = factors.iter().map(|factor| factor.count as f64).sum();
        Ok(Self { list: list.collect::<Result<_, Stopped>>()?, count })
    }

    /// Puts the factors on a lattice.
    pub(crate) fn tilted(
        &self,
        side: Side,
        step: f64,
        tilt: f64,
        watch: &Watch<'_>,
    ) -> Result<Tilted, Stopped> {
        let mut tilting = Tilting::new(tilt);
        let whole = -expm1(-step);
        let mut scale = Wide::ONE;
        let (mut error, mut most_steps) = (UNCOUNTED * STEP, 0.0);
        let mut cells = Vec::with_capacity(self.list.len());
        for (done, response) in self.list.iter().enumerate() {
            watched(done, watch)?;
            let (cell, norm) = response.cell(side, step, whole, &mut tilting);
            scale = scale * norm;
            let count = response.count as f64;
            error += count * if cell.is_heavy() { HEAVY_MASS } else { LIGHT_MASS };
            most_steps += count * (cell.steps as f64 + 1.0);
            cells.push(cell);
        }
        Ok(Tilted { step, tilt, scale, cells, error, most_steps })
    }

    /// An upper bound on `E[e^(-tilt Y)]`.
    pub(crate) fn scale(
        &self,
        side: Side,
        step: f64,
        tilt: f64,
        watch: &Watch<'_>,
    ) -> Result<Wide, Stopped> {
        let mut tilting = Tilting::new(tilt);
        let whole = -expm1(-step);
        let mut product = Wide::ONE;
        for (done, response) in self.list.iter().enumerate() {
            watched(done, watch)?;
            product = product * response.cell(side, step, whole, &mut tilting).1;
        }
        Ok(product * Wide::exp(Dd::from(LIGHT_MASS * (self.count + 1.0))))
    }
}

/// Asks the watcher now and then on the way through a long list.
fn watched(done: usize, watch: &Watch<'_>) -> Result<(), Stopped> {
    if done.is_multiple_of(8192) { watch.at(0.0) } else { Ok(()) }
}

impl Response {
    /// Where the minus atom goes, with tilted masses at 0, m and m + 1, and the norm to
    /// the power of the count: relative error at most 24 u each, or 32 [`STEP`] if heavy.
    fn cell(&self, side: Side, step: f64, whole: f64, tilting: &mut Tilting) -> (Cell, Wide) {
        let place = Place::new(2.0 * self.epsilon, step);
        let steps = if side == Side::Split { place.steps } else { place.nearest() };
        let extreme = self.epsilon >= LARGE || tilting.tilt * steps >= EXTREME;
        if side == Side::MergedQ && extreme {
            return self.extreme_cell_under_q(steps, tilting.tilt);
        }
        let weights = tilting.weights(steps);
        if self.count > LIGHT {
            let masses = match side {
                Side::MergedP => [self.plus, self.minus, Dd::ZERO],
                Side::MergedQ => [self.minus, self.plus, Dd::ZERO],
                Side::Split => {
                    let (near, far) = precise_split(&place, step);
                    [self.plus, self.minus * near, self.minus * far]
                }
            };
            return heavy_cell(steps as u64, self.count, masses, weights);
        }
        let (plus, minus) = (self.plus.hi, self.minus.hi);
        let masses = match side {
            Side::MergedP => [plus, minus, 0.0],
            Side::MergedQ => [minus, plus, 0.0],
            Side::Split => {
                // (1 - e^-(h-r)) / (1 - e^-h) stays up, the rest goes down.
                let kept = -expm1(-place.under.hi);
                let lost = (1.0 - kept) * -expm1(-place.over.hi);
                [plus, minus * (kept / whole), minus * (lost / whole)]
            }
        };
        light_cell(steps as u64, self.count, masses, weights)
    }
}

impl Response {
    /// The merged cell under Q where e^-eps or the minus' weight underflows: everything
    /// relative to the plus, whose Q mass goes into the scale.
    fn extreme_cell_under_q(&self, steps: f64, tilt: f64) -> (Cell, Wide) {
        let ratio = falling(Dd::product(tilt, steps) - Dd::from(self.epsilon));
        let norm = Dd::ONE + ratio;
        let parts = [Dd::ONE / norm, ratio / norm, Dd::ZERO];
        let cell = Cell {
            steps: steps as u64,
            count: self.count,
            high: parts.map(|x| x.hi),
            low: parts.map(|x| x.lo),
        };
        let scale = Wide::exp(Dd::from(-self.epsilon)) * Wide::from(self.plus * norm);
        (cell, scale.powi(self.count))
    }
}

/// Where a distance lies between two multiples of a step.
struct Place {
    /// How many whole steps it is.
    steps: f64,
    /// What it exceeds them by, and what it lacks of one more: not negative, with
    /// relative errors of 2^-100.
    over: Dd,
    under: Dd,
}

impl Place {
    /// The distance is less than 2^53 steps.
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

/// e^(-tilt m), remembered while m stays the same: factors come sorted.
struct Tilting {
    tilt: f64,
    next: Dd,
    last: (f64, Dd),
}

impl Tilting {
    fn new(tilt: f64) -> Self {
        Self { tilt, next: falling(Dd::from(tilt)), last: (0.0, Dd::ONE) }
    }

    /// The weights at m and m + 1 steps. The product with the tilt is exact, so that
    /// the tilt is the same for every factor.
    fn weights(&mut self, steps: f64) -> [Dd; 2] {
        if steps.to_bits() != self.last.0.to_bits() {
            self.last = (steps, falling(Dd::product(self.tilt, steps)));
        }
        [self.last.1, self.last.1 * self.next]
    }
}

/// The shares of the upper and the lower neighbour, in double-doubles.
fn precise_split(place: &Place, step: f64) -> (Dd, Dd) {
    let fall = |x: Dd| -(-x).expm1();
    let whole = fall(Dd::from(step));
    let rest = (-place.under).exp();
    (fall(place.under) / whole, rest * fall(place.over) / whole)
}

fn light_cell(steps: u64, count: u64, masses: [f64; 3], weights: [Dd; 2]) -> (Cell, Wide) {
    let parts = [masses[0], masses[1] * weights[0].hi, masses[2] * weights[1].hi];
    let norm = parts[0] + parts[1] + parts[2];
    let high = parts.map(|part| part / norm);
    let scale = Wide::from(norm);
    let scale = if count == 1 { scale } else { scale.powi(count) };
    (Cell { steps, count, high, low: [0.0; 3] }, scale)
}

fn heavy_cell(steps: u64, count: u64, masses: [Dd; 3], weights: [Dd; 2]) -> (Cell, Wide) {
    let parts = [masses[0], masses[1] * weights[0], masses[2] * weights[1]];
    let norm = parts[0] + parts[1] + parts[2];
    let parts = parts.map(|part| part / norm);
    let cell = Cell { steps, count, high: parts.map(|x| x.hi), low: parts.map(|x| x.lo) };
    (cell, Wide::from(norm).powi(count))
}

impl Tilted {
    /// Randomized responses whose epsilons are multiples of a unit, on the lattice of
    /// twice the unit: every minus is then as many steps down as its multiple says.
    pub(crate) fn on_multiples(multiples: &[(u64, u64)], unit: Dd, tilt: f64) -> Self {
        let mut tilting = Tilting::new(tilt);
        let mut scale = Wide::ONE;
        let (mut error, mut most_steps) = (UNCOUNTED * STEP, 0.0);
        let mut cells = Vec::with_capacity(multiples.len());
        for &(multiple, count) in multiples {
            let decay = falling(unit * multiple as f64);
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
