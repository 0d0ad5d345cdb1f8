//! Conversion of Rényi divergences to epsilon and delta.
//!
//! With t = a - 1 and T(t) = t times the divergence of order a, for every t > 0 `ln delta(eps) <= T - t eps - ln(1+t) -
//! t ln(1 + 1/t)` (Canonne, Kamath and Steinke, 2020).

mod witness;

pub(crate) use witness::witness;

use crate::composition::leak::Target;
use crate::composition::{Composition, WithCount};
use crate::delta_bounds::{LOOSE, ROUNDED_UP};
use crate::laws::quick_cumulant;
use crate::laws::{LEAST, MOST};
use crate::loss::ValueWithError;
use crate::methods::search::golden_section;
use counterpoint_numerics::{Dd, STEP, Wide};

/// A term of the conversion: a logarithm good to 2^-94 of itself, a product, a quotient and three sums.
const TERM: f64 = 8.0 * STEP;

/// An epsilon at which the pure delta is at most the target, and the order that shows it; `None` if no order does.
pub(crate) fn epsilon(whole: &Composition, target: &Target) -> Option<(f64, f64)> {
    let (ln_room, error) = ln_room(whole, target)?;
    let at = |t: f64| Some(epsilon_at(&total(whole, t)?, ln_room, error, t));
    let t = best_t(whole, |t| at(t).map(|(value, _)| value.hi))?;
    let (value, error) = at(t)?;
    let upper = (value + error.into()).upper();
    upper.is_finite().then_some((upper.max(0.0), 1.0 + t))
}

/// ln of the part of the target that is left for the curves.
fn ln_room(whole: &Composition, target: &Target) -> Option<ValueWithError> {
    let room = target.lower - Wide::from(omitted_mass(whole));
    if !room.is_positive() {
        return None;
    }
    // The subtraction's error is relative to the target.
    let ln_room = room.ln();
    let error = STEP * ((target.lower * room.recip()).upper(LOOSE) + 1.0 + ln_room.hi.abs());
    Some((ln_room, error))
}

/// True if one of a few orders shows that an epsilon is enough. The orders lie around 2 ln(1/delta)/epsilon, the best
/// order for a sum that is nearly normal with negligible mean.
pub(crate) fn shows_epsilon(whole: &Composition, epsilon: f64, target: &Target) -> bool {
    const AROUND: [f64; 5] = [2.0, 1.0, 4.0, 0.5, 8.0];
    let Some((ln_room, error)) = ln_room(whole, target) else { return false };
    let at = |t: f64| {
        let (value, error) = epsilon_at(&total(whole, t)?, ln_room, error, t);
        Some((value + error.into()).upper())
    };
    let most = whole.curves.iter().map(|curve| curve.each.largest_t()).fold(MOST, f64::min);
    let orders = AROUND.map(|share| share * -ln_room.hi / epsilon);
    let mut legal = orders.into_iter().filter(|t| (LEAST..=most).contains(t));
    legal.any(|t| at(t).is_some_and(|upper| upper <= epsilon))
}

/// A bound on the pure delta at an epsilon, and the order that shows it.
pub(crate) fn delta(whole: &Composition, epsilon: f64) -> Option<(Wide, f64)> {
    let at = |t: f64| Some(ln_delta_at(&total(whole, t)?, epsilon, t));
    let t = best_t(whole, |t| at(t).map(|(value, _)| value.hi))?;
    let (value, error) = at(t)?;
    let ln = (value + error.into()).upper();
    if !ln.is_finite() {
        return None;
    }
    // Clamped to the range of the exponential; a larger value is on the safe side, and so is one.
    let delta = Wide::exp(Dd::from(ln.clamp(-1e12, 1.0)));
    let delta = (delta + Wide::from(omitted_mass(whole))) * Wide::from(Dd::sum(1.0, TERM));
    Some((if delta < Wide::ONE { delta } else { Wide::ONE }, 1.0 + t))
}

/// The bound on epsilon, `(T - ln delta - ln(1+t))/t - ln(1 + 1/t)`.
fn epsilon_at(total: &ValueWithError, ln_delta: Dd, ln_error: f64, t: f64) -> ValueWithError {
    let order = Dd::from(t).ln_1p();
    let inverse = (Dd::ONE / t).ln_1p();
    let above = total.0 - ln_delta - order;
    let sizes = total.0.hi.abs() + ln_delta.hi.abs() + order.hi;
    let error = (total.1 + ln_error + TERM * sizes) / t + TERM * inverse.hi;
    (above / t - inverse, ROUNDED_UP * error)
}

/// The bound on ln delta, `T - t eps - ln(1+t) - t ln(1 + 1/t)`.
fn ln_delta_at(total: &ValueWithError, epsilon: f64, t: f64) -> ValueWithError {
    let order = Dd::from(t).ln_1p();
    let inverse = (Dd::ONE / t).ln_1p() * t;
    let reached = Dd::product(t, epsilon);
    let sizes = total.0.hi.abs() + reached.hi + order.hi + inverse.hi;
    (total.0 - reached - order - inverse, ROUNDED_UP * (total.1 + TERM * sizes))
}

/// A bound on the P mass that the cumulants leave out.
fn omitted_mass(whole: &Composition) -> f64 {
    let all = whole.losses.iter().map(|part| part.law().omitted_mass().mass * part.count as f64);
    ROUNDED_UP * all.sum::<f64>()
}

/// T(t) of all parts and curves together.
fn total(whole: &Composition, t: f64) -> Option<ValueWithError> {
    let (mut sum, mut error) = (Dd::ZERO, 0.0);
    let mut add = |(value, slack): ValueWithError, count: u64| {
        let count = count as f64;
        sum = sum + value * count;
        error += count * slack + STEP * (sum.hi.abs() + count * value.hi.abs());
    };
    for part in &whole.losses {
        add(quick_cumulant(part.law(), t)?, part.count);
    }
    for WithCount { each: curve, count } in &whole.curves {
        add(curve.bound(t)?, *count);
    }
    Some((sum, ROUNDED_UP * error))
}

/// A t at which a bound is nearly least: a scan, a golden-section search around its best, and orders that the curves
/// themselves name. Every order is sound.
#[allow(clippy::disallowed_methods)]
fn best_t(whole: &Composition, value: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let rate = |t: f64| value(t).filter(|value| value.is_finite()).unwrap_or(f64::INFINITY);
    let most = whole.curves.iter().map(|curve| curve.each.largest_t()).fold(MOST, f64::min);
    if most < LEAST {
        return None;
    }
    let range = (LEAST.ln(), most.ln());
    const STRIDE: f64 = 1.5;
    let (mut start, mut worse, mut x) = ((f64::INFINITY, range.0), 0, range.0);
    // Upward, because high orders are expensive, until the bound has long been getting worse.
    while x <= range.1 && worse < 5 {
        let value = rate(x.exp().clamp(LEAST, most));
        if value < start.0 {
            (start, worse) = ((value, x), 0);
        } else if start.0.is_finite() {
            worse += 1;
        }
        x += STRIDE;
    }
    let ends = ((start.1 - STRIDE).max(range.0), (start.1 + STRIDE).min(range.1));
    let found =
        golden_section(ends, 28, |x| rate(x.exp().clamp(LEAST, most))).exp().clamp(LEAST, most);
    let special = named_orders(whole, found, most);
    let candidates = special.into_iter().chain([start.1.exp().clamp(LEAST, most), found]);
    let rated = candidates.map(|t| (rate(t), t));
    let (least, t) = rated.fold((f64::INFINITY, found), |a, b| if b.0 < a.0 { b } else { a });
    least.is_finite().then_some(t)
}

/// Orders that the curves name: those nearest to the order found and, from a long list, a few others.
fn named_orders(whole: &Composition, found: f64, most: f64) -> Vec<f64> {
    const NEAR: usize = 16;
    let mut list = vec![most];
    for WithCount { each: curve, .. } in whole.curves.iter().take(NEAR) {
        let listed = curve.listed_ts();
        let middle = listed.partition_point(|&t| t < found);
        let near = middle.saturating_sub(NEAR)..middle + NEAR;
        let stride = listed.len().div_ceil(2 * NEAR);
        for (index, &t) in listed.iter().enumerate() {
            if near.contains(&index) || index % stride == 0 {
                list.push(t);
            }
        }
    }
    list.retain(|&t| (LEAST..=most).contains(&t));
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composition::leak::{self, Remainder};
    use crate::loss::Direction;
    use crate::mechanism::{Adjacency, Mechanism, Release, RenyiCurve};
    use crate::quantity::{Count, GroupSize, NoiseScale, Rate, Rho, Sensitivity};

    use crate::composition::{CountedLoss, Plan};

    fn whole(list: &[(Mechanism, u64)]) -> Composition {
        let plan = Plan::new(list.iter().map(|(m, n)| (m.clone(), Count::new(*n).unwrap())));
        plan.unwrap().compositions.remove(0)
    }

    fn zcdp(rho: f64) -> Mechanism {
        Mechanism::Zcdp { rho: Rho::new(rho).unwrap(), delta: crate::Delta::new(0.0).unwrap() }
    }

    fn response(epsilon: f64) -> Mechanism {
        Mechanism::ApproxDp(crate::Guarantee::new(epsilon, 0.0).unwrap())
    }

    fn target(whole: &Composition, delta: f64) -> Target {
        match leak::remainder(&whole.leaks.above, delta) {
            Remainder::Positive(target) => target,
            _ => panic!("no room"),
        }
    }

    /// The least of the conversion over a fine grid of orders, in plain doubles.
    fn scanned(divergence: impl Fn(f64) -> f64, delta: f64) -> f64 {
        let orders = (1..400_000).map(|i| 1.0 + (f64::from(i) * 1e-4 - 20.0).exp());
        let values =
            orders.map(|a| divergence(a) + (1.0 - 1.0 / a).ln() - (delta * a).ln() / (a - 1.0));
        values.fold(f64::INFINITY, f64::min)
    }

    fn near(found: f64, scanned: f64) {
        // The scan is a little above the least value.
        assert!(found <= scanned * (1.0 + 1e-12), "{found} above {scanned}");
        assert!(found >= scanned * (1.0 - 1e-7), "{found} below {scanned}");
    }

    /// The quick test is sound: no order shows less than the best order, and no largest loss less than itself.
    #[test]
    fn nothing_is_shown_that_does_not_hold() {
        let noise = Mechanism::Gaussian {
            sigma: NoiseScale::new(2.0).unwrap(),
            sensitivity: Sensitivity::new(1.0).unwrap(),
        };
        let mut shown = 0;
        for list in [vec![(zcdp(0.1), 3)], vec![(noise, 5)], vec![(response(0.1), 40)]] {
            let whole = whole(&list);
            for delta in [1e-4, 1e-7, 1e-12] {
                let target = target(&whole, delta);
                let (best, _) = epsilon(&whole, &target).unwrap();
                assert!(!shows_epsilon(&whole, 0.999 * best, &target), "{list:?} at {delta}");
                shown += usize::from(shows_epsilon(&whole, 1.5 * best, &target));
            }
        }
        assert!(shown >= 6, "{shown}");
        let responses = whole(&[(response(0.1), 40)]);
        assert!(responses.is_within(4.0 * (1.0 + 1e-9), 1e-300));
        assert!(!responses.is_within(0.999 * 4.0, 1e-300));
    }

    #[test]
    fn zero_concentrated() {
        let one = whole(&[(zcdp(1.0), 1)]);
        let (found, order) = epsilon(&one, &target(&one, 1e-6)).unwrap();
        assert!((found - 7.766216625).abs() < 1e-9, "{found}");
        assert!(order > 1.0);
        near(found, scanned(|a| a, 1e-6));
        let many = whole(&[(zcdp(1e-4), 10_000)]);
        let (same, _) = epsilon(&many, &target(&many, 1e-6)).unwrap();
        assert!((same - found).abs() < 1e-9);
    }

    #[test]
    fn responses_laplaces_and_curves_together() {
        let laplace = Mechanism::Laplace {
            scale: NoiseScale::new(4.0).unwrap(),
            sensitivity: Sensitivity::new(1.0).unwrap(),
        };
        let all = whole(&[(response(0.1), 100), (laplace, 10), (zcdp(0.01), 3)]);
        let curve = |a: f64| {
            let (e, l): (f64, f64) = (0.1, 0.25);
            let response = (((a * e).exp() + ((1.0 - a) * e).exp()) / (1.0 + e.exp())).ln();
            let up = a / (2.0 * a - 1.0) * ((a - 1.0) * l).exp();
            let laplace = (up + (a - 1.0) / (2.0 * a - 1.0) * (-a * l).exp()).ln();
            (100.0 * response + 10.0 * laplace) / (a - 1.0) + 0.03 * a
        };
        for delta in [1e-2, 1e-6, 1e-12] {
            let (found, order) = epsilon(&all, &target(&all, delta)).unwrap();
            near(found, scanned(curve, delta));
            let a = order;
            let again = curve(a) + (1.0 - 1.0 / a).ln() - (delta * a).ln() / (a - 1.0);
            assert!((found / again - 1.0).abs() < 1e-9, "{found} {again}");
            // And back.
            let (back, _) = super::delta(&all, found).unwrap();
            assert!((back.estimate() / delta - 1.0).abs() < 1e-6, "{}", back.estimate());
        }
    }

    #[test]
    fn one_response_is_what_the_filter_pays() {
        // 100 of eps 0.1 at delta 1e-6 by the best single order.
        let all = whole(&[(response(0.1), 100)]);
        let (found, _) = epsilon(&all, &target(&all, 1e-6)).unwrap();
        assert!((found - 5.0731).abs() < 1e-4, "{found}");
    }

    #[test]
    fn a_table_is_used_at_its_orders() {
        let orders: Vec<f64> = (2..=64).map(f64::from).collect();
        let values: Vec<f64> = orders.iter().map(|a| 0.1 * a).collect();
        let table = RenyiCurve::new(&orders, &values).unwrap();
        let tabled = whole(&[(Mechanism::Rdp(table), 1)]);
        let (found, _) = epsilon(&tabled, &target(&tabled, 1e-6)).unwrap();
        let at = |a: f64| 0.1 * a + (1.0 - 1.0 / a).ln() - (1e-6 * a).ln() / (a - 1.0);
        let listed = orders.iter().map(|&a| at(a)).fold(f64::INFINITY, f64::min);
        assert!(found <= listed * (1.0 + 1e-13), "{found} {listed}");
        let line = whole(&[(zcdp(0.1), 1)]);
        assert!(found >= epsilon(&line, &target(&line, 1e-6)).unwrap().0);
        // The witness is the Gaussian behind the table.
        let parts = witness(&tabled);
        let [CountedLoss { each, count: 1 }] = &parts[..] else { panic!("one Gaussian") };
        let square = each.law().normal_square().unwrap();
        assert!(square.hi <= 0.2 && square.hi > 0.2 - 1e-15);
    }

    #[test]
    fn orders_stay_below_omega() {
        let truncated = |omega: f64| Mechanism::Tcdp {
            rho: Rho::new(0.01).unwrap(),
            omega: crate::quantity::Order::new(omega).unwrap(),
        };
        let tight = whole(&[(truncated(5.0), 1)]);
        let (found, order) = epsilon(&tight, &target(&tight, 1e-6)).unwrap();
        assert!(order <= 5.0);
        let at = |a: f64| 0.01 * a + (1.0 - 1.0 / a).ln() - (1e-6 * a).ln() / (a - 1.0);
        assert!((found / at(5.0) - 1.0).abs() < 1e-9, "{found}");
        let both = whole(&[(truncated(5.0), 1), (truncated(1e12), 1), (zcdp(1.0), 2)]);
        assert!(epsilon(&both, &target(&both, 1e-6)).unwrap().1 <= 5.0);
    }

    #[test]
    fn a_witness_joins_the_gaussians() {
        let gaussian = Mechanism::Gaussian {
            sigma: NoiseScale::new(2.0).unwrap(),
            sensitivity: Sensitivity::new(1.0).unwrap(),
        };
        let mixed = whole(&[(gaussian, 4), (zcdp(0.25), 2), (response(1.0), 1)]);
        let parts = witness(&mixed);
        let squares: Vec<f64> = parts
            .iter()
            .filter_map(|part| Some(part.law().normal_square()?.hi * part.count as f64))
            .collect();
        assert_eq!(squares.len(), 1);
        assert!(squares[0] <= 2.0 && squares[0] > 2.0 - 1e-15);
        assert_eq!(parts.len(), 2);
        assert_eq!(witness(&whole(&[(response(1.0), 1)])).len(), 1);
    }

    #[test]
    fn ten_thousand_sampled_gaussians() {
        let mechanism = Mechanism::Gaussian {
            sigma: NoiseScale::new(2.0).unwrap(),
            sensitivity: Sensitivity::new(1.0).unwrap(),
        };
        let rate = Some(Rate::new(0.01).unwrap());
        let release = Release { mechanism, rate, count: Count::new(10_000).unwrap(), part: None };
        let plan =
            Plan::for_neighbours([release], Some(Adjacency::AddRemove), GroupSize::ONE).unwrap();
        // The optimal epsilons, known elsewhere, are below; not far.
        for whole in &plan.compositions {
            let optimal = match whole.direction {
                Direction::Remove => 2.446734,
                Direction::Add => 2.377821,
            };
            let (found, order) = epsilon(whole, &target(whole, 1e-6)).unwrap();
            assert!(found > optimal && found < 1.15 * optimal, "{found} at order {order}");
            let at_one = super::delta(whole, 1.0).unwrap().0.estimate();
            let exact = match whole.direction {
                Direction::Remove => 0.0102249112,
                Direction::Add => 0.00960554,
            };
            assert!(at_one > exact && at_one < 5.0 * exact, "{at_one}");
        }
    }

    #[test]
    fn nothing_is_ever_below_zero_or_above_one() {
        let one = whole(&[(response(1e-3), 1)]);
        assert!(epsilon(&one, &target(&one, 0.5)).unwrap().0 <= 0.0);
        assert!(super::delta(&whole(&[(response(10.0), 5)]), 0.0).unwrap().0 <= Wide::ONE);
        let far = super::delta(&whole(&[(zcdp(1e-100), 1)]), 1e6).unwrap().0;
        assert!(far.is_positive());
    }
}
