//! The largest Rényi divergence that an adversary reaches, and the adversary (L section 4.2).
//!
//! For a transcript (queries and answers) the moment E_Q[(P/Q)^a] is a sum of p^a q^(1-a), and p and q are products
//! over the answers. So the moment factorises along the tree: at a state it is the sum, over the answers to the query,
//! of p^a q^(1-a) times the moment of the rest. The best adversary makes, at each state, the query for which this sum
//! is largest.
//!
//! Deterministic adversaries are enough. If an adversary tosses coins first, the moment of coins and transcript is the
//! mean of deterministic adversaries' moments over the coins, which is at most the largest of them. Hiding the coins
//! only lowers the moment, because (P, Q) -> sum of P^a Q^(1-a) is jointly convex.

use super::attack::Adversary;
use super::{Branch, System};
use counterpoint::quantity::{Order, OutOfRangeError};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::fractions::{self, ExactError, Ratio};
use counterpoint_numerics::{Dd, STEP, Wide};

/// The largest order whose moments are bracketed: 2^29.
const MOST_ORDER: f64 = 536_870_912.0;
/// The largest whole order whose moments are computed in fractions.
const MOST_WHOLE_ORDER: u32 = 1_000;

/// The success of an adversary, measured by a Rényi divergence of real order.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RenyiAttack {
    /// A bracket of the largest D_a(b = 0 || b = 1). It is infinite if an answer is impossible under b = 1 alone.
    pub divergence: Bracket,
    /// An adversary that reaches at least the lower end.
    pub adversary: Adversary,
}

/// The success of an adversary, measured by a moment of whole order, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MomentAttack {
    /// The largest E[(P/Q)^a] over b = 1, which is e^((a - 1) D_a); `None` if it is infinite.
    pub moment: Option<Ratio>,
    /// An adversary that reaches the moment.
    pub adversary: Adversary,
}

impl System {
    /// Finds the adversary with the largest Rényi divergence D_a of b = 0 from b = 1, and brackets the divergence. For
    /// the other direction, attack [`System::swapped`].
    ///
    /// ```
    /// use counterpoint::quantity::Order;
    /// use counterpoint_numerics::fractions::Ratio;
    /// use counterpoint_papers::interactive::System;
    /// use counterpoint_papers::pair::Pair;
    ///
    /// // Randomized response at e^epsilon = 3: p/q is 3 or 1/3.
    /// let (x, none): (Ratio, Ratio) = ("3".parse()?, "0".parse()?);
    /// let system = System::from(&Pair::response(&x, &none)?);
    /// let divergence = system.renyi_attack(Order::new(2.5)?)?.divergence;
    /// let sum = 0.25 * 3.0_f64.powf(2.5) + 0.75 * 3.0_f64.powf(-2.5);
    /// assert!(divergence.lower <= divergence.upper && divergence.width() < 1e-15);
    /// assert!((divergence.upper - sum.ln() / 1.5).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OutOfRangeError`] if the order is above 2^29.
    pub fn renyi_attack(&self, order: Order) -> Result<RenyiAttack, OutOfRangeError> {
        let (value, legal) = (order.get(), "a number above 1, at most 2^29 for a system");
        if value > MOST_ORDER {
            return Err(OutOfRangeError { quantity: "order", value, legal });
        }
        let t = value - 1.0;
        let (values, choices) = self.backwards(
            Some(MomentBounds::ONE),
            |query, values| enclosed_sum(query, values, t),
            |best, new| {
                larger_of(best, new, |best, new| {
                    let upper = if new.upper > best.upper { new.upper } else { best.upper };
                    let is_new = new.lower > best.lower;
                    let lower = if is_new { new.lower } else { best.lower };
                    (MomentBounds { lower, upper }, is_new)
                })
            },
        );
        let finite = values.into_iter().next().flatten();
        let divergence = finite.map_or(Bracket::exact(f64::INFINITY), |m| m.divergence(t));
        Ok(RenyiAttack { divergence, adversary: Adversary { choices } })
    }

    /// The largest Rényi divergence of an order, in both directions, against every adversary. The system is (order,
    /// divergence)-Rényi close (L Definition 3).
    ///
    /// # Errors
    /// [`OutOfRangeError`] if the order is above 2^29.
    pub fn divergence(&self, order: Order) -> Result<Bracket, OutOfRangeError> {
        let zero = self.renyi_attack(order)?.divergence;
        let one = self.swapped().renyi_attack(order)?.divergence;
        Ok(Bracket { lower: zero.lower.max(one.lower), upper: zero.upper.max(one.upper) })
    }

    /// Finds the adversary with the largest moment of b = 0 over b = 1, for a whole order, exactly.
    ///
    /// ```
    /// use counterpoint_numerics::fractions::Ratio;
    /// use counterpoint_papers::interactive::System;
    /// use counterpoint_papers::pair::Pair;
    ///
    /// let (x, none): (Ratio, Ratio) = ("3".parse()?, "0".parse()?);
    /// let system = System::from(&Pair::response(&x, &none)?);
    /// // 1/4 * 3^2 + 3/4 * (1/3)^2 = 7/3.
    /// assert_eq!(system.moment_attack(2)?.moment, Some("7/3".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ExactError::Size`] unless the order is from 2 to 1000 and the fractions fit in memory.
    pub fn moment_attack(&self, order: u32) -> Result<MomentAttack, ExactError> {
        let (mut values, choices) = self.moments(order)?;
        Ok(MomentAttack { moment: values.swap_remove(0), adversary: Adversary { choices } })
    }

    /// Returns for each state the largest moment of the rest, and the query that reaches it.
    pub(super) fn moments(
        &self,
        order: u32,
    ) -> Result<(Vec<Option<Ratio>>, Vec<usize>), ExactError> {
        let range = (2, u128::from(MOST_WHOLE_ORDER));
        fractions::check_size("the order is", u128::from(order), range)?;
        fractions::check_bits("bits of all states' moments", 1, self.moment_bits(order))?;
        Ok(self.backwards(
            Some(Ratio::ONE),
            |query, values| moment_sum(query, values, order),
            |best, new| larger_of(best, new, larger),
        ))
    }

    /// Returns an upper bound on the total bits of the denominators of all states' moments. The bits of the answers to
    /// a query add up; of several queries, the one with the most bits counts.
    fn moment_bits(&self, order: u32) -> u128 {
        let long = |value: &Ratio| fractions::bits_of(value) as u128 * u128::from(order);
        let (sizes, _) = self.backwards(
            1_u128,
            |query, sizes| {
                let one =
                    |b: &Branch| b.probabilities.iter().map(long).sum::<u128>() + sizes[b.next];
                query.iter().map(one).fold(0, u128::saturating_add)
            },
            larger,
        );
        sizes.into_iter().fold(0, u128::saturating_add)
    }

    /// Computes a value for each state, from the last state to the first. The value is `over` if the interaction is
    /// over. Otherwise it is the best value over the queries, with the first query that reaches it. `better` returns
    /// the better of two values, and true if this is the second.
    fn backwards<V: Clone>(
        &self,
        over: V,
        asked: impl Fn(&[Branch], &[V]) -> V,
        better: impl Fn(V, V) -> (V, bool),
    ) -> (Vec<V>, Vec<usize>) {
        let mut values = vec![over; self.states.len()];
        let mut choices = vec![0; self.states.len()];
        for (index, state) in self.states.iter().enumerate().rev() {
            let all = state.queries.iter().map(|query| asked(query, &values)).enumerate();
            let best = all.reduce(|(choice, best), (query, new)| {
                let (value, is_new) = better(best, new);
                (if is_new { query } else { choice }, value)
            });
            if let Some((choice, value)) = best {
                (choices[index], values[index]) = (choice, value);
            }
        }
        (values, choices)
    }
}

/// Returns the larger of two values, and true if this is the second.
fn larger<V: PartialOrd>(best: V, new: V) -> (V, bool) {
    if new > best { (new, true) } else { (best, false) }
}

/// Returns the larger of two values, and true if this is the second. `None` is infinite.
fn larger_of<V>(
    best: Option<V>,
    new: Option<V>,
    finite: impl Fn(V, V) -> (V, bool),
) -> (Option<V>, bool) {
    match (best, new) {
        (Some(best), Some(new)) => {
            let (value, is_new) = finite(best, new);
            (Some(value), is_new)
        }
        (best, _) => (None, best.is_some()),
    }
}

/// p^a q^(1-a); `None` if it is infinite.
pub(super) fn factor([p, q]: &[Ratio; 2], order: u32) -> Option<Ratio> {
    let power = order as i32;
    match (p.is_zero(), q.is_zero()) {
        (true, _) => Some(Ratio::ZERO),
        (false, true) => None,
        (false, false) => Some(p.pow(power) / q.pow(power - 1)),
    }
}

/// The sum over answers of p^a q^(1-a) times the moment of the rest. An answer that is impossible under b = 0 adds
/// nothing.
fn moment_sum(query: &[Branch], values: &[Option<Ratio>], order: u32) -> Option<Ratio> {
    let mut sum = Ratio::ZERO;
    for branch in query {
        let factor = factor(&branch.probabilities, order)?;
        if !factor.is_zero() {
            sum += factor * values[branch.next].as_ref()?;
        }
    }
    Some(sum)
}

/// Bounds on a finite moment.
#[derive(Clone, Copy)]
struct MomentBounds {
    lower: Wide,
    upper: Wide,
}

impl MomentBounds {
    const ZERO: Self = Self { lower: Wide::ZERO, upper: Wide::ZERO };
    const ONE: Self = Self { lower: Wide::ONE, upper: Wide::ONE };

    /// Moves both ends outward by a relative share.
    fn widened(self, share: f64) -> Self {
        let by = |sign: f64| Wide::from(Dd::sum(1.0, sign * share));
        Self { lower: self.lower * by(-1.0), upper: self.upper * by(1.0) }
    }

    /// Adds a number times another moment, in two operations.
    fn plus(self, factor: Wide, then: Self) -> Self {
        Self { lower: self.lower + factor * then.lower, upper: self.upper + factor * then.upper }
    }

    /// The logarithm of the moment over t, not below zero (D_a >= 0).
    fn divergence(self, t: f64) -> Bracket {
        let end = |moment: Wide, sign: f64| {
            let ln = moment.ln();
            // The error of the logarithm, the sum and the quotient.
            let error = 4.0 * STEP * (1.0 + ln.hi.abs());
            (ln + Dd::from(sign * error)) / t
        };
        // One step outward is more than the rest of the quotient's error.
        let lower = end(self.lower, -1.0).lower().next_down().max(0.0);
        Bracket { lower, upper: end(self.upper, 1.0).upper().next_up().max(0.0) }
    }
}

/// Computes [`moment_sum`] for a real order 1 + t: the sum of p e^(t ln(p/q)) times the moment of the rest.
fn enclosed_sum(query: &[Branch], values: &[Option<MomentBounds>], t: f64) -> Option<MomentBounds> {
    let mut sum = MomentBounds::ZERO;
    for Branch { probabilities: [p, q], next } in query {
        if p.is_zero() {
            continue;
        }
        if q.is_zero() {
            return None;
        }
        let ln = fractions::to_wide(&(p / q)).ln();
        // The absolute error of the exponent is the relative error of the exponential. The errors of two conversions,
        // an exponential, three products and a sum are added to it.
        let share = 4.0 * STEP * t * (1.0 + ln.hi.abs()) + 8.0 * STEP;
        let factor = fractions::to_wide(p) * Wide::exp(ln * t);
        sum = sum.plus(factor, values[*next]?.widened(share));
    }
    // The errors of the sums and of the comparisons of ends.
    Some(sum.widened((query.len() as f64 + 4.0) * STEP))
}
