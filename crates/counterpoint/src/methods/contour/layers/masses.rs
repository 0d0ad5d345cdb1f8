//! A layer on the axis: its moment generating function at real tilts.

use super::axis::{Axis, AxisNode, CUT};
use super::complex::expm1;
use super::steps::Layer;
use crate::delta_bounds::DOUBLES;
use crate::methods::Failure;
use crate::methods::saddle::Saddle;
use crate::methods::search::golden_section;
use crate::watch::Watch;
use counterpoint_numerics::{UNIT, exp, ln_1p_rounded, ln_rounded};

/// Errors in units of u: of functions and products, and of arguments for each unit of theirs.
pub(super) const FUNCTION: f64 = 128.0;
pub(super) const ARGUMENT: f64 = 64.0;
/// The normal density, for each unit of x^2.
const DENSITY: f64 = 4.0;
/// The rule's error on the axis, at the steepest tilts, relative to the mass.
const RULE: f64 = 1e-18;
/// e^-kappa counts as zero beyond this kappa, and tilts must not outweigh it.
const NOTHING: f64 = 500.0;
const OUTWEIGHED: f64 = 100.0;

/// The part of one loss's law that a layer keeps.
pub(super) struct Masses {
    many: f64,
    most_tilt: f64,
    has_low: bool,
    pub(super) list: Vec<Mass>,
}

pub(super) struct Mass {
    pub(super) loss: f64,
    pub(super) mass: f64,
    /// kappa of the high cut, the share below the cut, and the rest.
    pub(super) high: f64,
    kept: f64,
    gone: f64,
    /// The error of the rest, in units of u.
    gone_carried: f64,
    /// The share of the kept part that is above the low cut.
    between: f64,
    /// The errors of the masses, and of the share between the cuts, in units of u.
    carried: f64,
    steep: f64,
}

/// The sums of a tilted layer for one step.
#[derive(Clone, Copy)]
pub(super) struct LayerSums {
    /// ln of the mass below the high cut, and its absolute error.
    pub(super) below: (f64, f64),
    /// The part of that mass above the low cut, relative to it, and its relative error; one if there is no low cut.
    pub(super) window: f64,
    pub(super) window_error: f64,
}

impl Masses {
    pub(super) fn new(axis: &Axis, layer: Layer) -> Self {
        let one = |node: &AxisNode| {
            let high = layer.high.map_or(0.0, |cut| axis.kappa(cut, node.x));
            let low = layer.low.map(|cut| axis.kappa(cut, node.x));
            let around = ARGUMENT * (1.0 + node.x.abs());
            let below = around * axis.slope_below(layer.high, node.x);
            Mass {
                loss: node.loss,
                mass: node.mass,
                high,
                kept: exp(-high.min(600.0)),
                gone: -expm1(-high),
                gone_carried: around
                    * axis.steepness(Layer { low: layer.high, high: None }, node.x),
                between: low.map_or(1.0, |low| -expm1(-(low - high).max(0.0))),
                carried: FUNCTION + DENSITY * node.x * node.x + below,
                steep: low.map_or(0.0, |_| around * axis.steepness(layer, node.x)),
            }
        };
        // A cut within the axis ends every tilted law.
        let is_cut = layer.high.is_some_and(|cut| axis.reaches(cut));
        let most_tilt = if is_cut { f64::INFINITY } else { axis.steps.most_tilt() };
        let list = axis.nodes.iter().map(one).collect();
        Self { many: axis.steps.many(), most_tilt, has_low: layer.low.is_some(), list }
    }

    /// Returns `None` if the tilt outweighs the part that is cut off.
    pub(super) fn sums(&self, t: f64) -> Option<LayerSums> {
        if t > self.most_tilt {
            return None;
        }
        let (mut excess, mut error, mut window, mut window_error) = (0.0_f64, 0.0, 0.0, 0.0);
        for node in &self.list {
            let tilted = t * node.loss;
            if node.high > NOTHING {
                if tilted > node.high - OUTWEIGHED {
                    return None;
                }
                excess -= node.mass;
                error += node.mass * FUNCTION + excess.abs();
                continue;
            }
            if tilted > NOTHING {
                return None;
            }
            let growth = expm1(tilted);
            let carried = node.carried + ARGUMENT * tilted.abs();
            let moved = growth * node.kept;
            excess += node.mass * (moved - node.gone);
            let parts = moved.abs() * carried + node.gone * (carried + node.gone_carried);
            // Plus the running sum's rounding.
            error += node.mass * parts + excess.abs();
            let part = node.mass * exp(tilted) * node.kept * node.between;
            window += part;
            window_error += part * (carried + node.steep);
        }
        self.layer_sums(excess, UNIT * error, (window, UNIT * window_error))
    }

    fn layer_sums(
        &self,
        excess: f64,
        error: f64,
        (window, window_error): (f64, f64),
    ) -> Option<LayerSums> {
        let below = 1.0 + excess;
        if !(below > 0.3 && window > 0.0) {
            return None;
        }
        let additions = UNIT * self.list.len() as f64;
        let error = (error + CUT * (1.0 + below)) / below;
        let relative = window_error / window + additions + CUT * below / window;
        let ln_below = if excess < -0.5 { ln_rounded(below) } else { ln_1p_rounded(excess) };
        Some(LayerSums {
            below: (ln_below, 2.0 * error + FUNCTION * UNIT * ln_below.abs()),
            window: if self.has_low { window / below } else { 1.0 },
            window_error: 2.0 * (relative + error) + FUNCTION * UNIT,
        })
    }

    /// An upper bound on ln of the layer's moment generating function.
    pub(super) fn ln_moment(&self, t: f64) -> Option<f64> {
        let sums = self.sums(t)?;
        let below = sums.below.0 + sums.below.1 + RULE;
        if !self.has_low {
            return Some(self.many * below);
        }
        // a^n - (a - b)^n is at most a^n, and at most n b a^(n-1).
        let first = ln_rounded(self.many * sums.window * (1.0 + sums.window_error)) + DOUBLES;
        Some(self.many * below + first.min(0.0))
    }

    /// The tilt at which the integrand is least, and an estimate of ln delta.
    pub(super) fn saddle(&self, epsilon: f64, watch: &Watch<'_>) -> Result<Saddle, Failure> {
        let height = |ln_t: f64| -> f64 {
            let t = exp(ln_t);
            let at = |k: f64| k - t * epsilon - ln_t - ln_1p_rounded(t);
            self.ln_moment(t).map_or(f64::INFINITY, at)
        };
        watch.check(0.2)?;
        let middle = golden_section((-7.0, ln_rounded(self.most_tilt.min(1e11))), 16, height);
        let (low, least) = (height(middle), exp(middle));
        if low.is_infinite() {
            return Err(Failure::TooMuch);
        }
        let step = 0.05;
        let bend = (height(middle + step) + height(middle - step) - 2.0 * low) / (step * step);
        let curvature = if bend > 1e-3 && bend.is_finite() { bend } else { 1.0 } / (least * least);
        let ln_delta = low - 0.5 * ln_rounded(std::f64::consts::TAU * curvature);
        Ok(Saddle { tilt: least, epsilon, ln_delta, variance: curvature })
    }

    /// The least of Chernoff's bounds on the layer's delta at an epsilon: its logarithm, and its tilt.
    pub(super) fn chernoff(&self, epsilon: f64) -> (f64, f64) {
        let mut best = (f64::INFINITY, 1.0);
        let mut t = 0.5 / epsilon.max(1e-12);
        for _ in 0..24 {
            let Some(k) = self.ln_moment(t) else { break };
            let height = k - t * epsilon - ln_1p_rounded(t);
            if height < best.0 {
                best = (height, t);
            } else if height > best.0 + 10.0 {
                break;
            }
            t *= 1.35;
        }
        best
    }
}
