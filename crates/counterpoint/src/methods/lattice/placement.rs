//! Atoms on a lattice, tilted and folded to one period.
//!
//! A loss is counted in steps from its own offset, so that only differences of losses have to fit the lattice. For the
//! upper bound an atom is split between its neighbours so that P and Q mass are kept; for the lower bound it moves to
//! the nearest place with its true P and Q mass (theory 3.12).

use crate::laws::Law;
use crate::laws::cells::{CellAtom, CellFineness, Domination, MASS_ERROR};
use counterpoint_numerics::{Dd, UNIT, Wide, exp, exp_rounded, expm1};

/// A lattice, and a tilt for the laws on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// h.
    pub(super) step: f64,
    /// t h.
    pub(super) tilt: f64,
    /// The number of places in a period, as a power of two.
    pub(super) bits: u32,
}

/// A loss to be placed on the lattice.
#[derive(Clone, Copy)]
pub(super) struct PlacedLoss<'a> {
    pub(super) law: &'a dyn Law,
    pub(super) count: u64,
    pub(super) offset: Dd,
    pub(super) cut: CellFineness<'a>,
    /// Approximately the logarithm of the tilted mass; masses are relative to e^reference.
    pub(super) reference: f64,
    /// Approximately the mean place under the tilted law.
    pub(super) centre: f64,
}

/// Tilted masses `mass e^(tilt i - reference) / norm`, folded to a period.
pub(super) struct PlacedWeights {
    pub(super) list: Vec<f64>,
    pub(super) norm: Dd,
    pub(super) reference: f64,
    pub(super) count: u64,
    /// The lowest and the highest place.
    pub(super) first: f64,
    pub(super) last: f64,
    /// The relative error of every weight.
    pub(super) error: f64,
    runs: Runs,
}

/// A merged loss: its laws under P and Q, and the moments and bias of the merge.
pub(super) struct MergedLaws {
    pub(super) p: PlacedWeights,
    pub(super) q: PlacedWeights,
    /// `E[e^(s (i - centre))]` under the tilted P, from above, for the given exponents s.
    pub(super) moments: [f64; 2],
    /// The mean upward move in the tilted law.
    pub(super) bias: f64,
}

/// Counts the atoms in a row that fall into one place; adding them up costs a unit each.
#[derive(Default)]
struct Runs {
    place: f64,
    run: f64,
    longest: f64,
}

impl Runs {
    fn see(&mut self, place: f64) {
        let same = (place - self.place).abs() < 0.5;
        self.run = if same { self.run + 1.0 } else { 1.0 };
        self.place = place;
        self.longest = self.longest.max(self.run);
    }
}

/// Masses that underflow are raised to this value, above e^-700, where they must not be too small.
const FLOOR: f64 = 1e-304;

/// More than any product loses to underflow.
const TINY: f64 = 1e-305;

/// The lower bound leaves out atoms with less than this share of the tilted P mass, over all losses of the kind: far
/// atoms would spoil the bounds on folded mass.
pub(super) const LEFT_OUT: f64 = 1e-20;

/// A bound on the absolute error of a loss, relative to max(1, |loss|): 2^-88. It consists of 2^-90 for an atom (2^-94
/// for a parameter), as much again for a mixture, and differences at 2^-102.
const LOSS_ERROR: f64 = 3.3e-27;

/// e^x is at most 1 + 1.01 x, and e^-x at least 1 - 1.01 x, for errors x of a loss: below 0.01.
const FIRST_ORDER: f64 = 1.01;

/// An atom's mass, and the share of it that moves: each has the error [`MASS_ERROR`].
const SHARED: f64 = 2.0 * MASS_ERROR;

/// Sums of up to 2^23 positive doubles, at u each: 10^-9. So weights sum to one within this.
pub(super) const TOTALS: f64 = 1e-8;

/// An addition to a place, and the one before, for each atom of a run; the tilt and the floor.
const ADDED: f64 = 2.0;
const PLACED: f64 = 4.0;

impl PlacedWeights {
    fn new(placed: &PlacedLoss<'_>, bits: u32) -> Self {
        Self {
            list: vec![0.0; 1 << bits],
            norm: Dd::ONE,
            reference: placed.reference,
            count: placed.count,
            first: f64::INFINITY,
            last: f64::NEG_INFINITY,
            error: 0.0,
            runs: Runs::default(),
        }
    }

    fn add(&mut self, place: f64, weight: f64) {
        self.first = self.first.min(place);
        self.last = self.last.max(place);
        let period = self.list.len() as i64;
        if let Some(slot) = self.list.get_mut((place as i64).rem_euclid(period) as usize) {
            *slot += weight;
        }
    }

    /// Divides by the sum. Atoms are in order, except for three: a place gets at most two runs of them for each period.
    fn normalise(mut self) -> Self {
        let rounds = (self.last - self.first) / self.list.len() as f64 + 2.0;
        self.error = SHARED + UNIT * (ADDED * self.runs.longest + PLACED) * rounds;
        // Every divisor is sound; with this one the weights sum to one within 1e-8.
        let norm = self.list.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        self.norm = Dd::from(norm);
        for weight in &mut self.list {
            *weight /= norm;
        }
        self
    }
}

/// e^x for a weight.
fn weight(x: Dd, floor: f64) -> f64 {
    if x.hi < -700.0 { floor } else { exp_rounded(x) }
}

/// The number of whole steps from the offset to a loss, the distance above them, and the distance below one step more.
fn place(loss: Dd, offset: Dd, step: f64) -> (f64, f64, f64) {
    let gap = loss - offset;
    let over = |place: f64| gap - Dd::product(place, step);
    let mut place = (gap.hi / step).floor();
    if over(place).is_negative() {
        place -= 1.0;
    }
    if !over(place + 1.0).is_negative() {
        place += 1.0;
    }
    (place, over(place).hi.max(0.0), -over(place + 1.0).hi.min(0.0))
}

/// The dominating law, and the P mass left out; `None` if it is too much work.
pub(super) fn split(placed: &PlacedLoss<'_>, frame: &Frame) -> Option<(PlacedWeights, Wide)> {
    let mut weights = PlacedWeights::new(placed, frame.bits);
    let whole = -expm1(-frame.step);
    let whole_up = expm1(frame.step);
    let next = exp(frame.tilt);
    let mut put = |point: CellAtom| {
        // The loss may be slightly larger than computed; a larger one dominates.
        let error = LOSS_ERROR * point.loss.hi.abs().max(1.0) + point.error;
        let loss = point.loss + Dd::from(error);
        let (place, over, under) = place(loss, placed.offset, frame.step);
        let up = -expm1(-over) / whole;
        let stays = expm1(under) / whole_up;
        let tilted = point.scale + Dd::product(frame.tilt, place) - Dd::from(placed.reference);
        let mass = point.p * (1.0 + FIRST_ORDER * point.error) * weight(tilted, FLOOR);
        weights.runs.see(place);
        weights.add(place, mass * stays + TINY);
        weights.add(place + 1.0, mass * next * up + TINY);
    };
    let lost = placed.law.points(Domination::Above, Some(&placed.cut), &mut put)?;
    Some((weights.normalise(), lost))
}

/// The dominated laws; `None` if it is too much work.
pub(super) fn merge(
    placed: &PlacedLoss<'_>,
    frame: &Frame,
    exponents: [f64; 2],
) -> Option<MergedLaws> {
    let mut p = PlacedWeights::new(placed, frame.bits);
    let mut q = PlacedWeights::new(placed, frame.bits);
    let tilt_under_q = frame.tilt + frame.step;
    let least = LEFT_OUT / placed.count as f64;
    let (mut moments, mut bias) = ([0.0; 2], 0.0);
    let mut put = |point: CellAtom| {
        let gap = (point.loss - placed.offset).hi + (point.p / point.q - 1.0);
        let place = (gap / frame.step).round();
        let reference = Dd::from(placed.reference);
        let under_p = point.scale + Dd::product(frame.tilt, place) - reference;
        let lower = point.p * (1.0 - FIRST_ORDER * point.error);
        let mass = lower * weight(under_p, 0.0);
        let under_q = point.scale - point.loss + Dd::product(tilt_under_q, place) - reference;
        p.runs.see(place);
        q.runs.see(place);
        q.add(place, point.q * (1.0 + FIRST_ORDER * point.error) * weight(under_q, FLOOR) + TINY);
        if mass > least {
            p.add(place, mass);
            bias += mass * (place * frame.step - gap);
            for (moment, exponent) in moments.iter_mut().zip(exponents) {
                let further = Dd::from(exponent * (place - placed.centre));
                *moment += lower * exp_rounded(under_p + further) + FLOOR;
            }
        }
    };
    placed.law.points(Domination::Below, Some(&placed.cut), &mut put)?;
    let (p, q) = (p.normalise(), q.normalise());
    let moments = moments.map(|moment| moment / p.norm.hi * (1.0 + TOTALS));
    let bias = bias / p.norm.hi;
    Some(MergedLaws { p, q, moments, bias })
}
