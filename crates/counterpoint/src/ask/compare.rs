use super::{Answer, AskError, Options, delta, epsilon};
use crate::composition::Composition;
use crate::quantity::{Delta, Epsilon};
use crate::theorem::{Inapplicable, Theorem};

/// What one theorem charges.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// The theorem.
    pub theorem: Theorem,
    /// The epsilon (or delta) it certifies, rounded up, or why it certifies none.
    pub value: Result<f64, Inapplicable>,
}

/// The optimum beside what the named theorems charge.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The certified optimum.
    pub optimal: Answer,
    /// The named theorems, in the order basic, advanced, strong, KOV closed form.
    pub others: Vec<Bound>,
}

/// Epsilon at a delta: the optimum and the named theorems.
///
/// ```
/// use counterpoint::{Composition, Count, Delta, Guarantee, Options, compare};
///
/// let plan = Composition::new([(Guarantee::pure(0.005)?, Count::new(100)?)])?;
/// let comparison = compare(&plan, Delta::new(2_f64.powi(-25))?, &Options::default())?;
/// let optimal = comparison.optimal.bracket.upper;
/// let ratios: Vec<f64> =
///     comparison.others.iter().map(|bound| bound.value.clone().unwrap() / optimal).collect();
/// // MV section 6: advanced composition costs 30-40 % more, KOV's closed form about 20 %.
/// assert!((ratios[1] - 1.326).abs() < 5e-4 && (ratios[3] - 1.201).abs() < 5e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`AskError`].
pub fn compare(
    composition: &Composition,
    delta: Delta,
    options: &Options<'_>,
) -> Result<Comparison, AskError> {
    let optimal = epsilon(composition, delta, options)?;
    Ok(beside(optimal, |theorem| theorem.epsilon(composition, delta)))
}

/// Delta at an epsilon: the optimum and the named theorems.
///
/// # Errors
/// See [`AskError`].
pub fn compare_delta(
    composition: &Composition,
    epsilon: Epsilon,
    options: &Options<'_>,
) -> Result<Comparison, AskError> {
    let optimal = delta(composition, epsilon, options)?;
    Ok(beside(optimal, |theorem| theorem.delta(composition, epsilon)))
}

fn beside(optimal: Answer, value: impl Fn(Theorem) -> Result<f64, Inapplicable>) -> Comparison {
    let others = Theorem::FORMULAS.map(|theorem| Bound { theorem, value: value(theorem) });
    Comparison { optimal, others: others.into() }
}
