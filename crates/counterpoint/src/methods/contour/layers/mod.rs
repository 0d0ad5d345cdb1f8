//! Rare large losses of a Gaussian on a Poisson sample, layer by layer.
//!
//! At small rates nearly all losses are negligible, and a few are large. One contour would have to resolve the small
//! ones over a period that spans the large ones, and the small ones' part of the sum cancels. So the law P of a loss is
//! cut. Let rho = r - (1 - q), which the sampled person adds to r, y = rho/c and kappa = y^4 e^(-y^-4). The part below
//! c is A_c = e^-kappa P; almost none of it is above 3c, and almost none of the rest is below c/2. For cuts c < d the
//! measures A_c^n, A_d^n - A_c^n and P^n - A_d^n are not negative and add up to P^n, and delta is the sum of their
//! contributions. Each is a layer with its own contour. The lowest is left out if it cannot reach epsilon, by
//! Chernoff's bound, and the highest if its mass is negligible (theory 4.13).

mod axis;
mod complex;
mod envelope;
mod masses;
mod split;
mod steps;
mod turned;

use super::line::period_of;
use super::points::{Contour, PointValue, alias_of};
use crate::delta_bounds::{DOUBLES, DeltaBounds};
use crate::laws::Direction;
use crate::laws::transform::contour_point::ContourPoint;
use crate::methods::Failure;
use crate::methods::saddle::Saddle;
use crate::watch::Watch;
use axis::{Axis, AxisNode};
use complex::expm1;
use counterpoint_numerics::{Dd, UNIT, Wide, exp, ln_1p_rounded, ln_rounded};
use envelope::Envelope;
use masses::Masses;
use steps::Layer;
pub(super) use steps::Steps;
use turned::TurnedTransform;

/// The error of a logarithm in doubles, of up to 10^6, of a sum of doubles.
const LOGARITHM: f64 = 1e-9;
/// The rounding of ln of a scale, for each unit.
const SCALE: f64 = 64.0 * UNIT;
/// An error of a value, including its second-order part.
const SECOND_ORDER: f64 = 2.0;
const MOST_LAYERS: usize = 12;
/// The largest number of nodes times points.
const MOST_WORK: f64 = 4e8;
/// The largest number of points. Powers of large losses soon vanish, and then cost nothing.
const MOST_POINTS: u64 = 100_000;
/// The possible places of the lowest cut, relative to epsilon, from the highest.
const CUTS: [f64; 5] = [0.45, 0.35, 0.27, 0.2, 0.15];
/// Lower places, used while losses there are not small; a layer between them would be nearly zero.
const LOW_CUTS: [f64; 4] = [0.1, 0.06, 0.03, 0.015];
const NOT_SMALL: f64 = 0.5;
/// A layer without a high cut is computed if its tilt times its reach exceeds this; else another layer is put below it.
const STEEP: f64 = 1.5;
const STRIDE: f64 = 6.0;
/// Tilts that bound aliases, relative to the saddle point's.
const TILTS: [f64; 21] = [
    0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0,
    2.5, 3.0, 4.0,
];

/// All layers that matter, for questions near one epsilon.
pub(super) struct Layers {
    contours: Vec<Contour>,
    /// The tilts and factors of Chernoff's bounds on layers that are left out.
    omitted_mass: Vec<(f64, Wide)>,
    /// The mass above the highest cut.
    above: Wide,
}

/// The question for which the layers are computed.
#[derive(Clone, Copy)]
struct Goal {
    epsilon: f64,
    ln_delta: f64,
    /// The error that may be neglected, relative to delta.
    negligible: f64,
}

impl Goal {
    /// ln of the error that may be neglected.
    fn ln_negligible(&self) -> f64 {
        self.ln_delta + ln_rounded(self.negligible) - 3.0
    }
}

impl Layers {
    pub(super) fn new(
        steps: Steps,
        (epsilon, ln_delta): (f64, f64),
        negligible: f64,
        watch: &Watch<'_>,
    ) -> Result<Self, Failure> {
        let axis = Axis::new(steps)?;
        let goal = Goal { epsilon, ln_delta, negligible };
        let mut layers = Self { contours: Vec::new(), omitted_mass: Vec::new(), above: Wide::ZERO };
        if steps.direction == Direction::Add {
            // In this direction no loss is large.
            layers.add(&axis, Layer { low: None, high: None }, goal, watch)?;
            return Ok(layers);
        }
        let place = |loss: f64| steps.place(expm1(loss) + steps.rate);
        let mut low = layers.lowest(&axis, goal, watch)?;
        let mut reach = epsilon.max(steps.rate);
        if low.is_none() {
            reach *= 2.0;
            let high = Some(place(reach));
            layers.add(&axis, Layer { low, high }, goal, watch)?;
            low = high;
        }
        for _ in 0..MOST_LAYERS {
            let above = low.map_or(1.0, |cut| axis.mass_above(cut));
            if ln_rounded(above) < goal.ln_negligible() {
                layers.above = Wide::from(above);
                return Ok(layers);
            }
            let open = Layer { low, high: None };
            if Masses::new(&axis, open).saddle(epsilon, watch)?.tilt * reach > STEEP {
                match layers.add(&axis, open, goal, watch) {
                    // Another cut may help.
                    Err(Failure::TooMuch) => {}
                    outcome => return outcome.map(|()| layers),
                }
            }
            reach *= STRIDE;
            let high = place(reach);
            layers.add(&axis, Layer { low, high: Some(high) }, goal, watch)?;
            low = Some(high);
        }
        Err(Failure::TooMuch)
    }

    /// The highest cut below which no loss reaches epsilon, if there is one.
    fn lowest(
        &mut self,
        axis: &Axis,
        goal: Goal,
        watch: &Watch<'_>,
    ) -> Result<Option<f64>, Failure> {
        let low = LOW_CUTS.into_iter().filter(|share| share * goal.epsilon > NOT_SMALL);
        for share in CUTS.into_iter().chain(low) {
            watch.check(0.1)?;
            let cut = axis.steps.place(expm1(share * goal.epsilon) + axis.steps.rate);
            let masses = Masses::new(axis, Layer { low: None, high: Some(cut) });
            let (height, tilt) = masses.chernoff(goal.epsilon);
            if height < goal.ln_negligible() {
                self.leave_out(height + tilt * goal.epsilon, tilt);
                return Ok(Some(cut));
            }
        }
        Ok(None)
    }

    /// Leaves out a layer whose delta is at most e^k e^(-t e).
    fn leave_out(&mut self, k: f64, tilt: f64) {
        self.omitted_mass.push((tilt, Wide::exp(Dd::from(k + LOGARITHM * (1.0 + k.abs())))));
    }

    fn add(
        &mut self,
        axis: &Axis,
        layer: Layer,
        goal: Goal,
        watch: &Watch<'_>,
    ) -> Result<(), Failure> {
        let masses = Masses::new(axis, layer);
        let saddle = masses.saddle(goal.epsilon, watch)?;
        let rate = |c: &f64| {
            let t = c * saddle.tilt;
            masses.ln_moment(t).map(|k| (t, k - t * goal.epsilon))
        };
        let rates: Vec<(f64, f64)> = TILTS.iter().filter_map(rate).collect();
        // c(t) is at most 1/(1 + t).
        let bound = |&(t, rate): &(f64, f64)| (rate - ln_1p_rounded(t), t);
        let less = |a: (f64, f64), b: (f64, f64)| if b.0 < a.0 { b } else { a };
        let (height, tilt) = rates.iter().map(bound).fold((f64::INFINITY, 1.0), less);
        if height < goal.ln_negligible() {
            self.leave_out(height + tilt * goal.epsilon, tilt);
            return Ok(());
        }
        let line = period_of(&rates, saddle.tilt, &saddle, goal.ln_negligible());
        let (period, others) = line.ok_or(Failure::TooMuch)?;
        let mut contour = contour(axis, (layer, &masses), &saddle, (period, goal), watch)?;
        for (slot, other) in contour.aliases.iter_mut().zip(others) {
            let k = masses.ln_moment(other).ok_or(Failure::TooMuch)?;
            let known = (Dd::from(k), LOGARITHM * (1.0 + k.abs()));
            *slot = alias_of(known, other, saddle.tilt, period).ok_or(Failure::TooMuch)?;
        }
        self.contours.push(contour);
        Ok(())
    }

    /// Bounds on delta.
    pub(super) fn ends(&self, epsilon: f64) -> DeltaBounds {
        let omitted_mass = self.omitted_mass.iter().fold(self.above, |sum, &(tilt, factor)| {
            sum + factor * Wide::exp(Dd::product(-tilt, epsilon))
        });
        let mut ends = DeltaBounds::new(Wide::ZERO, omitted_mass);
        for contour in &self.contours {
            let DeltaBounds { lower, upper } = contour.ends(epsilon);
            ends = DeltaBounds::new(ends.lower + lower, ends.upper + upper);
        }
        ends
    }
}

/// A layer's contour without its aliases: points are evaluated until the envelope bounds the rest.
fn contour(
    axis: &Axis,
    (layer, masses): (Layer, &Masses),
    saddle: &Saddle,
    (period, goal): (f64, Goal),
    watch: &Watch<'_>,
) -> Result<Contour, Failure> {
    let t = saddle.tilt;
    let sums = masses.sums(t).ok_or(Failure::TooMuch)?;
    let (many, unit) = (axis.steps.many(), std::f64::consts::TAU / period);
    let ln_scale = many * sums.below.0;
    let scale_error = SECOND_ORDER * many * sums.below.1 + SCALE * (1.0 + ln_scale.abs());
    if scale_error.is_nan() || scale_error > 0.5 {
        return Err(Failure::TooMuch);
    }
    // An estimate of delta relative to the sum, and the error that may be left out.
    let ln_sum = goal.ln_delta + t * goal.epsilon - ln_scale + ln_rounded(period);
    let allowance = 0.1 * goal.negligible * exp(ln_sum.clamp(-600.0, 600.0));
    let mut transform = TurnedTransform::new(axis, layer, (t, sums), unit);
    let (mut points, mut spent, mut check) = (Vec::new(), 0.0, 32);
    let mut bounds = None;
    for index in 0..MOST_POINTS {
        if index % 16 == 0 {
            watch.check(0.5)?;
        }
        let (value, error) = transform.value();
        if error.is_nan() || error >= 0.25 {
            return Err(Failure::TooMuch);
        }
        points.push(PointValue::new(
            ContourPoint { index, period },
            t,
            value,
            SECOND_ORDER * error,
        )?);
        if index == check {
            let w = transform.frequency();
            // |(a + b)^n - a^n| is at most n |b|, and |b|^n if a is zero.
            let bound = if layer.low.is_some() {
                many * transform.most()
            } else {
                let new = || Envelope::new(axis, layer, masses, (t, sums.below));
                power(bounds.get_or_insert_with(new).at(w), many)
            };
            let rest = 2.0 * bound / (unit * w) * (1.0 + DOUBLES);
            if rest <= allowance {
                let scale = Wide::exp(Dd::from(ln_scale));
                return Ok(Contour::of_points((t, period), scale, scale_error, points, rest));
            }
            check += check / 4;
        }
        spent += transform.work();
        if spent > MOST_WORK {
            break;
        }
        transform.advance();
    }
    Err(Failure::TooMuch)
}

/// An upper bound on x^n, for x up to one.
fn power(x: f64, n: f64) -> f64 {
    let logarithm = n * Dd::from(x.clamp(1e-300, 1.0)).ln().upper();
    exp((logarithm + DOUBLES).clamp(-690.0, 0.1))
}

impl Steps {
    /// An epsilon to start from: the one at which a single large loss gives delta, or a few standard deviations of the
    /// other losses.
    pub(super) fn guess(&self, ln_delta: f64) -> Result<f64, Failure> {
        let axis = Axis::new(*self)?;
        let delta = exp(ln_delta.max(-600.0));
        let one = |epsilon: f64| -> f64 {
            let part = |node: &AxisNode| node.mass * -expm1((epsilon - node.loss).min(0.0));
            self.many() * axis.nodes.iter().map(part).sum::<f64>()
        };
        let (mut low, mut high) = (-25.0_f64, 8.0_f64);
        while high - low > 0.02 {
            let middle = 0.5 * (low + high);
            if one(exp(middle)) > delta { low = middle } else { high = middle }
        }
        let single = exp(low);
        let square = |node: &AxisNode| {
            let small = node.loss < 10.0 * self.rate.max(single);
            if small { node.mass * node.loss * node.loss } else { 0.0 }
        };
        let spread = (self.many() * axis.nodes.iter().map(square).sum::<f64>()).sqrt();
        Ok(single.max(spread * (-0.5 * ln_delta).max(1.0).sqrt()))
    }
}
