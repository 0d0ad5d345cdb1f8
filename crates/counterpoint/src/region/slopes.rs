//! The boundary of any plan, from the profile at finitely many slopes.
//!
//! In one direction let f(x) be the profile at x = e^epsilon >= 1. It falls, it is convex, and at some x_j it is known
//! to lie between l_j and u_j. The outer polygon is where `miss + x_j false_alarm >= 1 - u_j` for all j. For the inner
//! polygon f is also bounded from below between the x_j, by the lines through their neighbours (theory 9.5).

use super::boundary::Boundary;
use super::lines::{HalfPlane, ProfilePoint, inner_vertices, kink, outer_vertex, reflected};
use super::{BOUNDARY_TOLERANCE, ErrorRates};
use crate::ask::witness::witness_of;
use crate::ask::{AskError, Options};
use crate::composition::leak;
use crate::composition::{Composition, Plan};
use crate::loss::Direction;
use crate::methods::largest::largest;
use crate::quantity::{Epsilon, Rate, Tolerance};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, Wide, exp};

/// The part of the boundary in one direction: where the trade-off curve is steeper than one, or flatter.
struct HalfBoundary<'a> {
    plan: &'a Plan,
    direction: Direction,
    /// Points of the profile by rising epsilon; the first epsilon is zero.
    known: Vec<ProfilePoint>,
    /// A lower bound on delta at any epsilon, from the leaks.
    leak: f64,
    /// True if lower bounds are replaced by upper ones, so that only the outer polygon is valid.
    outer_only: bool,
}

/// The largest number of slopes in each direction.
const MOST: usize = 2000;
/// The largest number of slopes for each rate.
const MOST_AT_RATE: usize = 60;

/// Returns the outer and the inner boundary, close everywhere and closer at the given false-alarm rates.
///
/// If the plan's lower bounds are those of a witness, the inner boundary is the witness's, whose profile is convex by
/// itself; the outer boundary is computed as if the upper bounds were exact.
pub(super) fn boundaries(
    plan: &Plan,
    rates: &[Rate],
    options: &Options<'_>,
) -> Result<(Boundary, Boundary), AskError> {
    let witness: Vec<_> = plan
        .compositions
        .iter()
        .map(Composition::lower_composition)
        .map(|whole| (whole, witness_of(whole)))
        .map(|(whole, witness)| witness.unwrap_or_else(|| whole.clone()))
        .collect();
    if witness == plan.compositions {
        return polygons(plan, rates, false, options);
    }
    let most = Plan {
        compositions: plan.compositions.iter().map(Composition::upper_composition).collect(),
    };
    let (outer, _) = polygons(&most, rates, true, options)?;
    let (_, inner) = polygons(&Plan { compositions: witness }, rates, false, options)?;
    Ok((outer, inner))
}

/// Returns both polygons of a plan; with `outer_only` only the outer one is valid.
fn polygons(
    plan: &Plan,
    rates: &[Rate],
    outer_only: bool,
    options: &Options<'_>,
) -> Result<(Boundary, Boundary), AskError> {
    let tolerance = options.tolerance.get();
    let (coarse, fine) =
        (narrower(BOUNDARY_TOLERANCE.max(tolerance), options), narrower(tolerance, options));
    let half = |direction| HalfBoundary::new(plan, direction, outer_only, &coarse);
    let mut remove = half(Direction::Remove)?;
    let mut add =
        match plan.parts_by_direction().iter().all(|(remove, add)| std::ptr::eq(*remove, *add)) {
            true => None,
            false => Some(half(Direction::Add)?),
        };
    let most = remove.known.first().map_or(0.0, |first| first.upper);
    let (everywhere, at_rates) = (BOUNDARY_TOLERANCE.max(tolerance) * most, tolerance * most);
    loop {
        let across = add.as_ref().unwrap_or(&remove).known.get(1).copied();
        let mut done = remove.refine(across, everywhere, &coarse)?;
        if let Some(add) = &mut add {
            done &= add.refine(remove.known.get(1).copied(), everywhere, &coarse)?;
        }
        if done {
            break;
        }
    }
    for rate in rates {
        for _ in 0..MOST_AT_RATE {
            if !sharpen(&mut remove, add.as_mut(), rate.get(), at_rates, &fine)? {
                break;
            }
        }
    }
    let add = add.as_ref().unwrap_or(&remove);
    let (steep, flat) = (remove.inner(add.known.get(1)), add.inner(remove.known.get(1)));
    let mut outer = remove.outer_vertices();
    outer.extend(add.outer_vertices().into_iter().map(ErrorRates::mirrored));
    let mut inner = inner_vertices(&steep, &flat);
    inner.extend(inner_vertices(&flat, &steep).into_iter().map(ErrorRates::mirrored));
    Ok((Boundary::new(outer), Boundary::new(inner)))
}

/// Returns options for computing deltas, given the distance of the polygons: the lines between neighbouring deltas lose
/// some digits.
fn narrower<'a>(tolerance: f64, options: &Options<'a>) -> Options<'a> {
    let tolerance = Tolerance::new((tolerance / 64.0).max(1e-13));
    Options { tolerance: tolerance.unwrap_or(options.tolerance), ..*options }
}

/// Computes the profile at the epsilon that decides the inner boundary at a false-alarm rate. Returns false if the
/// boundaries are close enough there, or if no epsilon is left.
fn sharpen<'a>(
    remove: &mut HalfBoundary<'a>,
    add: Option<&mut HalfBoundary<'a>>,
    rate: f64,
    tolerance: f64,
    options: &Options<'_>,
) -> Result<bool, AskError> {
    let other = add.as_deref().unwrap_or(remove);
    let (steep, flat) = (remove.inner(other.known.get(1)), other.inner(remove.known.get(1)));
    let least = |(best, at): (f64, Option<HalfPlane>), (miss, plane): (f64, HalfPlane)| {
        if miss > best { (miss, Some(plane)) } else { (best, at) }
    };
    let in_steep = |plane: &HalfPlane| (1.0 - plane.delta - exp(plane.epsilon) * rate, *plane);
    let in_flat = |plane: &HalfPlane| ((1.0 - plane.delta - rate) * exp(-plane.epsilon), *plane);
    let by_steep = steep.iter().map(in_steep).fold((0.0, None), least);
    let by_flat = flat.iter().map(in_flat).fold((0.0, None), least);
    let is_flat = by_flat.0 > by_steep.0;
    let (inner, plane) = if is_flat { by_flat } else { by_steep };
    let Some(HalfPlane { epsilon, between, .. }) = plane else { return Ok(false) };
    let outer_steep = remove.known.iter().map(|k| 1.0 - k.upper - exp(k.epsilon) * rate);
    let outer_flat = other.known.iter().map(|k| (1.0 - k.upper - rate) * exp(-k.epsilon));
    let outer = outer_steep.chain(outer_flat).fold(0.0, f64::max);
    if inner - outer <= tolerance {
        return Ok(false);
    }
    let half = match add {
        Some(add) if is_flat => add,
        _ => remove,
    };
    let beyond = between.is_some_and(|(interval, _)| interval + 1 == half.known.len());
    half.evaluate(if beyond { 2.0 * epsilon } else { epsilon }, options)
}

impl<'a> HalfBoundary<'a> {
    /// Computes the profile at zero and at ever larger epsilons, until little is left but the leaks.
    fn new(
        plan: &'a Plan,
        direction: Direction,
        outer_only: bool,
        options: &Options<'_>,
    ) -> Result<Self, AskError> {
        let views: Vec<_> = plan
            .parts_by_direction()
            .into_iter()
            .map(|(remove, add)| if direction == Direction::Add { add } else { remove })
            .collect();
        let leaked = |whole: &&Composition| {
            leak::with_leaks(&whole.leaks.below, Wide::ZERO, Wide::ZERO).lower
        };
        let leak = views.iter().map(leaked).fold(0.0, f64::max);
        // At the largest loss, if there is one, only the leaks are left.
        let largest = views.iter().try_fold(0.0, |most: f64, whole| {
            let (largest, error) = largest(&whole.losses)?;
            whole.curves.is_empty().then_some(most.max((largest + error.into()).upper()))
        });
        let largest = largest.unwrap_or(f64::INFINITY).min(1e6);
        let mut half = Self { plan, direction, known: Vec::new(), leak, outer_only };
        half.evaluate(0.0, options)?;
        let most = half.known.first().map_or(0.0, |first| first.upper);
        // At epsilon the total variation is at most tanh(epsilon/2), so epsilon is at least twice the total variation.
        let mut epsilon = (2.0 * most).clamp(1e-99, 1.0);
        while epsilon < largest {
            half.evaluate(epsilon, options)?;
            let last = half.known.last().map_or(0.0, |last| last.upper);
            if last - leak <= 0.25 * BOUNDARY_TOLERANCE * most {
                return Ok(half);
            }
            epsilon *= 2.0;
        }
        half.evaluate(largest, options)?;
        Ok(half)
    }

    /// Computes the profile at an epsilon; returns false if the epsilon is known or not legal.
    fn evaluate(&mut self, epsilon: f64, options: &Options<'_>) -> Result<bool, AskError> {
        let Ok(legal) = Epsilon::new(epsilon) else { return Ok(false) };
        let tolerance = options.tolerance.get();
        let is_beside = |known: &ProfilePoint| (known.epsilon - epsilon).abs() <= 1e-9 * epsilon;
        if let Some(known) = self.known.iter().find(|known| is_beside(known)) {
            // A known epsilon is computed again only if its tolerance was larger.
            if known.tolerance <= tolerance || known.epsilon.to_bits() != epsilon.to_bits() {
                return Ok(false);
            }
        }
        let Bracket { lower, upper } = self.delta(legal, options)?;
        let lower = if self.outer_only { upper } else { lower };
        let new = ProfilePoint { epsilon, lower, upper, tolerance };
        let at = self.known.partition_point(|known| known.epsilon < epsilon);
        match self.known.get_mut(at).filter(|known| known.epsilon.to_bits() == epsilon.to_bits()) {
            Some(known) => *known = new,
            None => self.known.insert(at, new),
        }
        self.apply_monotonicity();
        Ok(true)
    }

    /// Returns bounds on the profile at an epsilon, as close as the methods permit.
    fn delta(&self, epsilon: Epsilon, options: &Options<'_>) -> Result<Bracket, AskError> {
        let options = Options { tolerance: options.tolerance.as_aim(), ..*options };
        Ok(self.plan.delta_towards(self.direction, epsilon, &options)?.bracket)
    }

    /// Improves the bounds by monotonicity: each bound also holds for the neighbours on its side.
    fn apply_monotonicity(&mut self) {
        let (mut most, mut least) = (1.0_f64, 0.0_f64);
        for known in &mut self.known {
            most = most.min(known.upper);
            known.upper = most;
        }
        for known in self.known.iter_mut().rev() {
            least = least.max(known.lower);
            known.lower = least;
        }
    }

    /// Computes the profile where the inner boundary is too far from the outer one; returns true if that is nowhere.
    fn refine(
        &mut self,
        across: Option<ProfilePoint>,
        tolerance: f64,
        options: &Options<'_>,
    ) -> Result<bool, AskError> {
        let wanted: Vec<f64> = self
            .inner(across.as_ref())
            .iter()
            .filter_map(|plane| {
                let (interval, gap) = plane.between?;
                let width = |at: usize| self.known.get(at).map_or(0.0, |k| k.upper - k.lower);
                // A further epsilon is useless where the profile itself is not known better.
                let hopeless = 4.0 * width(interval).max(width(interval + 1));
                (gap > tolerance.max(hopeless)).then_some(plane.epsilon)
            })
            .collect();
        let mut done = true;
        for epsilon in wanted {
            if self.known.len() >= MOST {
                return Ok(true);
            }
            done &= !self.evaluate(epsilon, options)?;
            options.watch.check(self.known.len() as f64 / (self.known.len() as f64 + 50.0))?;
        }
        Ok(done)
    }

    /// Returns the vertices of the outer polygon in this half, in its own orientation: the meeting points of the lines
    /// of neighbouring slopes, rounded down.
    fn outer_vertices(&self) -> Vec<ErrorRates> {
        let mut points: Vec<ErrorRates> = self.known.windows(2).filter_map(outer_vertex).collect();
        if let Some(last) = self.known.last() {
            points.push(ErrorRates::raw(0.0, Dd::sum(1.0, -last.upper).lower().max(0.0)));
        }
        points
    }

    /// Returns the half-planes of the inner polygon: the known lower bounds and, between two epsilons, one where the
    /// lines that bound the profile from below meet. `across` is the second point of the other direction.
    fn inner(&self, across: Option<&ProfilePoint>) -> Vec<HalfPlane> {
        let mut planes = Vec::with_capacity(2 * self.known.len() + 1);
        let mut before = across.map(reflected);
        for (index, known) in self.known.iter().enumerate() {
            planes.push(HalfPlane { epsilon: known.epsilon, delta: known.lower, between: None });
            if let Some(next) = self.known.get(index + 1) {
                let after = self.known.get(index + 2);
                let (epsilon, delta, gap) = kink(before, *known, *next, after);
                planes.push(HalfPlane { epsilon, delta, between: Some((index, gap)) });
            }
            before = Some((Dd::from(known.epsilon), known.upper));
        }
        if let Some(last) = self.known.last() {
            // Beyond the last epsilon only the leaks are certain.
            let between = Some((self.known.len() - 1, last.upper - self.leak));
            planes.push(HalfPlane { epsilon: last.epsilon, delta: self.leak, between });
        }
        planes
    }
}
