//! Any plan: the boundary from the profile at finitely many slopes.
//!
//! In one direction let f(x) be the profile at x = e^epsilon >= 1. It falls, it is convex, and
//! it is known at some x_j to be between l_j and u_j. The outer polygon is where
//! `miss + x_j false_alarm >= 1 - u_j` for all j. For the inner one f is bounded from below
//! between the x_j too, by the lines through its neighbours (docs/theorems.md, regions).

use super::boundary::{Boundary, LEAST};
use super::{EVERYWHERE, Point};
use crate::ask::curves::witness_view;
use crate::ask::{AskError, Options};
use crate::loss::Direction;
use crate::quantity::{Epsilon, Rate};
use crate::rounding::{Dd, STEP, exp};
use crate::route::closed;
use crate::view::Plan;

/// The profile at one epsilon.
#[derive(Clone, Copy, Debug)]
struct Known {
    epsilon: f64,
    lower: f64,
    upper: f64,
}

/// A half-plane `miss + e^epsilon false_alarm >= 1 - delta`, or the same with the rates
/// exchanged.
#[derive(Clone, Copy, Debug)]
struct HalfPlane {
    epsilon: f64,
    delta: f64,
    /// For an inner one between two known epsilons: which interval, and how much lower than
    /// the outer boundary it may be. None at a known epsilon.
    between: Option<(usize, f64)>,
}

/// One direction: where the trade-off curve is steeper than one, or flatter.
struct Half<'a> {
    plan: &'a Plan,
    direction: Direction,
    /// By rising epsilon, the first being zero.
    known: Vec<Known>,
    /// What the leaks make of delta at any epsilon, from below.
    leak: f64,
    /// Whether upper ends stand for the lower ones, so that only the outer polygon holds.
    outer_only: bool,
}

/// At most this many slopes in each direction.
const MOST: usize = 2000;
/// At most this many for each rate.
const MOST_AT_RATE: usize = 60;

/// The outer and the inner boundary, close everywhere and closer at some false-alarm rates.
///
/// Where the plan's lower ends are those of a witness, the inner boundary is the witness's,
/// whose profile is convex by itself; and the outer one is taken as if it were exact.
pub(super) fn boundaries(
    plan: &Plan,
    rates: &[Rate],
    tolerance: f64,
    options: &Options<'_>,
) -> Result<(Boundary, Boundary), AskError> {
    let witness: Vec<_> = plan
        .views
        .iter()
        .map(|view| (view, witness_view(view)))
        .map(|(view, witness)| witness.unwrap_or_else(|| view.clone()))
        .collect();
    if witness == plan.views {
        return polygons(plan, rates, tolerance, false, options);
    }
    let (outer, _) = polygons(plan, rates, tolerance, true, options)?;
    let (_, inner) = polygons(&Plan { views: witness }, rates, tolerance, false, options)?;
    Ok((outer, inner))
}

/// Both polygons of a plan; the outer one alone holds if the lower ends are left out.
fn polygons(
    plan: &Plan,
    rates: &[Rate],
    tolerance: f64,
    outer_only: bool,
    options: &Options<'_>,
) -> Result<(Boundary, Boundary), AskError> {
    let half = |direction| Half::new(plan, direction, outer_only, options);
    let mut remove = half(Direction::Remove)?;
    let mut add = match plan.sides().iter().all(|(remove, add)| std::ptr::eq(*remove, *add)) {
        true => None,
        false => Some(half(Direction::Add)?),
    };
    let most = remove.known.first().map_or(0.0, |first| first.upper);
    let (everywhere, at_rates) = (EVERYWHERE.max(tolerance) * most, tolerance * most);
    loop {
        let across = add.as_ref().unwrap_or(&remove).known.get(1).copied();
        let mut done = remove.refine(across, everywhere, options)?;
        if let Some(add) = &mut add {
            done &= add.refine(remove.known.get(1).copied(), everywhere, options)?;
        }
        if done {
            break;
        }
    }
    for rate in rates {
        for _ in 0..MOST_AT_RATE {
            if !sharpen(&mut remove, add.as_mut(), rate.get(), at_rates, options)? {
                break;
            }
        }
    }
    let add = add.as_ref().unwrap_or(&remove);
    let (steep, flat) = (remove.inner(add.known.get(1)), add.inner(remove.known.get(1)));
    let mut outer = remove.outer_vertices();
    outer.extend(add.outer_vertices().into_iter().map(Point::mirrored));
    let mut inner = inner_vertices(&steep, &flat);
    inner.extend(inner_vertices(&flat, &steep).into_iter().map(Point::mirrored));
    Ok((Boundary::new(outer), Boundary::new(inner)))
}

/// Asks at the epsilon that decides the inner boundary at a false-alarm rate; false if the
/// boundaries are close enough there, or no epsilon is left to ask at.
fn sharpen<'a>(
    remove: &mut Half<'a>,
    add: Option<&mut Half<'a>>,
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
    let Some(HalfPlane { epsilon, between: Some(_), .. }) = plane else { return Ok(false) };
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
    half.ask(epsilon, options)
}

impl<'a> Half<'a> {
    /// Asks at zero and at ever larger epsilons, until nothing much is left but the leaks.
    fn new(
        plan: &'a Plan,
        direction: Direction,
        outer_only: bool,
        options: &Options<'_>,
    ) -> Result<Self, AskError> {
        let views: Vec<_> = plan
            .sides()
            .into_iter()
            .map(|(remove, add)| if direction == Direction::Add { add } else { remove })
            .collect();
        let leaked = |view: &&crate::view::View| {
            let none = crate::rounding::Wide::ZERO;
            crate::leak::with_leaks(&view.below, none, none).0
        };
        let leak = views.iter().map(leaked).fold(0.0, f64::max);
        // At the largest loss, if there is one, nothing is left.
        let largest = views.iter().try_fold(0.0, |most: f64, view| {
            let (largest, error) = closed::largest(&view.parts)?;
            view.curves.is_empty().then_some(most.max((largest + error.into()).upper()))
        });
        let largest = largest.unwrap_or(f64::INFINITY).min(1e6);
        let mut half = Self { plan, direction, known: Vec::new(), leak, outer_only };
        half.ask(0.0, options)?;
        let most = half.known.first().map_or(0.0, |first| first.upper);
        // A total variation of tanh(epsilon/2) takes an epsilon of twice that at least.
        let mut epsilon = (2.0 * most).clamp(1e-99, 1.0);
        while epsilon < largest {
            half.ask(epsilon, options)?;
            let last = half.known.last().map_or(0.0, |last| last.upper);
            if last - leak <= 0.25 * EVERYWHERE * most {
                return Ok(half);
            }
            epsilon *= 2.0;
        }
        half.ask(largest, options)?;
        Ok(half)
    }

    /// Asks at an epsilon; false if it is one that is known, or not legal.
    fn ask(&mut self, epsilon: f64, options: &Options<'_>) -> Result<bool, AskError> {
        let at = self.known.partition_point(|known| known.epsilon < epsilon);
        let beside = |known: Option<&Known>| {
            known.is_some_and(|known| (known.epsilon - epsilon).abs() <= 1e-9 * epsilon)
        };
        let taken = beside(self.known.get(at))
            || beside(at.checked_sub(1).and_then(|at| self.known.get(at)));
        let Ok(legal) = Epsilon::new(epsilon) else { return Ok(false) };
        if taken {
            return Ok(false);
        }
        let bracket = self.plan.delta_towards(self.direction, legal, options)?.bracket;
        let lower = if self.outer_only { bracket.upper } else { bracket.lower };
        self.known.insert(at, Known { epsilon, lower, upper: bracket.upper });
        self.fall();
        Ok(true)
    }

    /// The profile falls: each bound holds for the neighbours on its side too.
    fn fall(&mut self) {
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

    /// Asks where the inner boundary is too far from the outer one; true if nowhere.
    fn refine(
        &mut self,
        across: Option<Known>,
        tolerance: f64,
        options: &Options<'_>,
    ) -> Result<bool, AskError> {
        let wanted: Vec<f64> = self
            .inner(across.as_ref())
            .iter()
            .filter_map(|plane| {
                let (interval, gap) = plane.between?;
                let width = |at: usize| self.known.get(at).map_or(0.0, |k| k.upper - k.lower);
                // No use where the profile itself is no better known.
                let hopeless = 4.0 * width(interval).max(width(interval + 1));
                (gap > tolerance.max(hopeless)).then_some(plane.epsilon)
            })
            .collect();
        let mut done = true;
        for epsilon in wanted {
            if self.known.len() >= MOST {
                return Ok(true);
            }
            done &= !self.ask(epsilon, options)?;
            options.watch.at(self.known.len() as f64 / (self.known.len() as f64 + 50.0))?;
        }
        Ok(done)
    }

    /// The vertices of the outer polygon in this half, in its own orientation: where the lines
    /// of neighbouring slopes meet, rounded down.
    fn outer_vertices(&self) -> Vec<Point> {
        let mut points: Vec<Point> = self.known.windows(2).filter_map(outer_vertex).collect();
        if let Some(last) = self.known.last() {
            points.push(Point::raw(0.0, Dd::sum(1.0, -last.upper).lower().max(0.0)));
        }
        points
    }

    /// The half-planes of the inner polygon: the known lower bounds, and between two epsilons
    /// one where the lines that bound the profile from below meet. `across` is the second point
    /// of the other direction.
    fn inner(&self, across: Option<&Known>) -> Vec<HalfPlane> {
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
            // Beyond, only the leaks are sure.
            planes.push(HalfPlane { epsilon: last.epsilon, delta: self.leak, between: None });
        }
        planes
    }
}

/// A point of the other direction's profile in this one's: with x = e^-epsilon it is
/// `1 - x + x delta`, from above. (The second number is an upper bound of the profile.)
fn reflected(known: &Known) -> (Dd, f64) {
    let x = falling(Dd::from(known.epsilon));
    let value = Dd::ONE - x * Dd::sum(1.0, -known.upper);
    (Dd::from(-known.epsilon), (value + Dd::from(8.0 * STEP)).upper())
}

/// Where the profile between two epsilons is least known: an epsilon, a lower bound there, and
/// how much higher the outer boundary allows it to be.
///
/// To the right of x_j the profile lies above the line from (x_(j-1), u_(j-1)) through
/// (x_j, l_j), and its slope is at least -1/x; to the left of x_(j+1) above the line from
/// (x_(j+2), u_(j+2)) through (x_(j+1), l_(j+1)), and it falls. At any x between let v be
/// the lesser of the two lines: then the profile is above the chain l_j, v, l_(j+1).
fn kink(
    before: Option<(Dd, f64)>,
    left: Known,
    right: Known,
    after: Option<&Known>,
) -> (f64, f64, f64) {
    let width = Dd::sum(right.epsilon, -left.epsilon);
    // In units of x_j: how steep the profile may fall after x_j. (Rounded up.)
    let steep = before.map_or(Dd::ONE, |(epsilon, upper)| {
        let run = -growth(epsilon - Dd::from(left.epsilon));
        let fall = (Dd::sum(upper, -left.lower) + Dd::from(STEP)) / run;
        let fall = fall + fall * (16.0 * STEP);
        if fall < Dd::ONE { fall } else { Dd::ONE }
    });
    // In units of x_(j+1): how steep it surely falls before x_(j+1). (Rounded down.)
    let gentle = after.map_or(Dd::ZERO, |after| {
        let run = growth(Dd::sum(after.epsilon, -right.epsilon));
        let fall = (Dd::sum(right.lower, -after.upper) - Dd::from(STEP)) / run;
        let fall = fall - fall * (16.0 * STEP);
        if fall.is_positive() { fall } else { Dd::ZERO }
    });
    // Where the two lines meet, about; any epsilon between is sound.
    let whole = growth(width);
    let shrink = falling(width);
    let fall = left.lower - right.lower - gentle.hi * (1.0 - shrink.hi);
    let meet = (fall / (steep.hi - gentle.hi * shrink.hi)).ln_1p();
    let step = if meet.is_finite() { meet } else { 0.5 * width.hi };
    let step = step.clamp(1e-7 * width.hi, (1.0 - 1e-7) * width.hi).min(500.0);
    let epsilon = left.epsilon + step;
    let from_left = growth(Dd::sum(epsilon, -left.epsilon));
    let to_right = Dd::ONE - falling(Dd::sum(right.epsilon, -epsilon));
    let by_left = Dd::from(left.lower) - steep * from_left;
    let by_right = Dd::from(right.lower) + gentle * to_right;
    let value = if by_left < by_right { by_left } else { by_right };
    let size = 1.0 + (steep * from_left).hi.abs();
    let value = (value - Dd::from(64.0 * STEP * size)).lower();
    let share = from_left.hi / whole.hi;
    let outer = left.upper - (left.upper - right.upper) * share.clamp(0.0, 1.0);
    (epsilon, value, outer - value)
}

/// e^x - 1; beyond what a double-double holds, as large as can be.
fn growth(x: Dd) -> Dd {
    if x.hi > 590.0 { Dd::from(1e256) } else { x.expm1() }
}

/// e^-x; zero where that is next to nothing.
fn falling(x: Dd) -> Dd {
    if x.hi > 590.0 { Dd::ZERO } else { (-x).exp() }
}

/// Where the outer lines at two epsilons meet, rounded down: on `a + e^e b >= 1 - u`
/// `b = (u - u') e^-e / (e^(e'-e) - 1)` and `a = 1 - u - (u - u') / (e^(e'-e) - 1)`.
fn outer_vertex(pair: &[Known]) -> Option<Point> {
    let [first, second] = pair else { return None };
    let (rate, miss) = meeting((first.epsilon, first.upper), (second.epsilon, second.upper));
    let rate = (rate - rate * (64.0 * STEP)).lower();
    let miss = (miss - Dd::from(64.0 * STEP)).lower();
    let rate = if rate < LEAST { 0.0 } else { rate };
    if miss >= 0.0 {
        return Some(Point::raw(rate, miss));
    }
    // Where each line meets the axis instead.
    let ends = [first, second].map(|known| {
        let end = Dd::sum(1.0, -known.upper) * falling(Dd::from(known.epsilon));
        (end - end * (64.0 * STEP)).lower()
    });
    let end = ends[0].min(ends[1]);
    Some(Point::raw(if end < LEAST { 0.0 } else { end }, 0.0))
}

/// Where the lines `miss + e^e rate = 1 - delta` at two epsilons meet: the rate to a relative
/// error of 2^-90, the miss to an absolute one.
fn meeting((epsilon, delta): (f64, f64), (next, next_delta): (f64, f64)) -> (Dd, Dd) {
    let share = Dd::sum(delta, -next_delta) / growth(Dd::sum(next, -epsilon));
    (share * falling(Dd::from(epsilon)), Dd::sum(1.0, -delta) - share)
}

/// The vertices of the inner polygon in one half, in its own orientation. Each is moved up
/// until it satisfies every half-plane of both halves: nothing else is needed for them and
/// their hull to be in the region.
fn inner_vertices(own: &[HalfPlane], others: &[HalfPlane]) -> Vec<Point> {
    let mut chain: Vec<HalfPlane> = Vec::with_capacity(own.len());
    let rate = |a: &HalfPlane, b: &HalfPlane| meeting((a.epsilon, a.delta), (b.epsilon, b.delta)).0;
    for plane in own.iter().filter(|plane| plane.delta.is_finite()) {
        if let Some(last) = chain.last_mut().filter(|last| last.epsilon >= plane.epsilon) {
            last.delta = last.delta.min(plane.delta);
            continue;
        }
        // Leave out half-planes that others imply: rates must fall as slopes rise.
        while let [.., before, last] = chain.as_slice() {
            if rate(last, plane) < rate(before, last) {
                break;
            }
            chain.pop();
        }
        chain.push(*plane);
    }
    let mut points: Vec<Point> = chain
        .windows(2)
        .filter_map(|pair| {
            let [a, b] = pair else { return None };
            let (rate, miss) = meeting((a.epsilon, a.delta), (b.epsilon, b.delta));
            let rate = (rate + rate * (64.0 * STEP)).upper().clamp(LEAST, 1.0);
            Some(Point::raw(rate, (miss + Dd::from(64.0 * STEP)).upper().clamp(0.0, 1.0)))
        })
        .collect();
    points.push(Point::raw(0.0, 0.0));
    points.iter().map(|&point| lifted(point, own, others)).collect()
}

/// The point with the least miss rate, not below the one given, that satisfies all half-planes.
fn lifted(point: Point, own: &[HalfPlane], others: &[HalfPlane]) -> Point {
    const MARGIN: f64 = 1e-15;
    let rate = point.false_alarm;
    let steep = own.iter().map(|plane| {
        let alarms = if rate > 0.0 { exp(plane.epsilon) * rate * (1.0 - MARGIN) } else { 0.0 };
        let miss = 1.0 - plane.delta - alarms;
        miss + MARGIN * alarms.min(2.0)
            + if plane.delta > 0.0 || alarms > 0.0 { MARGIN } else { 0.0 }
    });
    let flat = others
        .iter()
        .map(|plane| (1.0 - plane.delta - rate + MARGIN) * exp(-plane.epsilon) * (1.0 + MARGIN));
    let miss = steep.chain(flat).fold(point.miss, f64::max);
    Point::raw(rate, miss.min(1.0))
}
