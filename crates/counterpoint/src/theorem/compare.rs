//! The optimum beside what the named theorems charge.

use super::{Inapplicable, Theorem};
use crate::ask::{Answer, AskError, Options, delta, epsilon};
use crate::composition::{Composition, Part, Plan, View};
use crate::mechanism::Guarantee;
use crate::quantity::{Count, Delta, Epsilon};
use crate::route::mixed::largest::largest;

/// What one theorem charges.
#[derive(Clone, Debug, PartialEq)]
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

impl Plan {
    /// Epsilon at a delta, and what other theorems charge.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn compare(&self, delta: Delta, options: &Options<'_>) -> Result<Comparison, AskError> {
        let optimal = self.epsilon(delta, options)?;
        if let Some(composition) = self.guarantees() {
            return Ok(beside(optimal, |theorem| theorem.epsilon(composition, delta)));
        }
        let formula = |theorem: Theorem, labels: &Composition| theorem.epsilon(labels, delta);
        Ok(Comparison { optimal, others: self.others(formula, |view| view.renyi_epsilon(delta)) })
    }

    /// Delta at an epsilon, and what other theorems charge.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn compare_delta(
        &self,
        epsilon: Epsilon,
        options: &Options<'_>,
    ) -> Result<Comparison, AskError> {
        let optimal = self.delta(epsilon, options)?;
        if let Some(composition) = self.guarantees() {
            return Ok(beside(optimal, |theorem| theorem.delta(composition, epsilon)));
        }
        let formula = |theorem: Theorem, labels: &Composition| theorem.delta(labels, epsilon);
        Ok(Comparison { optimal, others: self.others(formula, |view| view.renyi_delta(epsilon)) })
    }

    /// The named theorems on the mechanisms' own (epsilon, delta) labels, where they have
    /// such, and the Rényi route.
    fn others(
        &self,
        formula: impl Fn(Theorem, &Composition) -> Result<f64, Inapplicable>,
        renyi: impl Fn(&View) -> Option<f64>,
    ) -> Vec<Bound> {
        let most = |values: Vec<Result<f64, Inapplicable>>| {
            values.into_iter().try_fold(0.0, |most: f64, value| Ok(most.max(value?)))
        };
        let labels: Vec<Option<Composition>> = self.views.iter().map(labels).collect();
        let of_labels = |theorem: Theorem| {
            let value = |labels: &Option<Composition>| match labels {
                Some(labels) => formula(theorem, labels),
                None => Err(Inapplicable::because("not every mechanism has an epsilon of its own")),
            };
            Bound { theorem, value: most(labels.iter().map(value).collect()) }
        };
        let none = || Inapplicable::because("a mechanism has no Rényi curve here");
        let renyi = self.views.iter().map(|view| renyi(view).ok_or_else(none)).collect();
        let mut others: Vec<Bound> = Theorem::FORMULAS.map(of_labels).into();
        others.push(Bound { theorem: Theorem::Renyi, value: most(renyi) });
        others
    }
}

/// The composition of every mechanism's own (epsilon, delta) guarantee, if each has one:
/// its largest loss, rounded up, and its leak.
fn labels(view: &View) -> Option<Composition> {
    if !view.curves.is_empty() {
        return None;
    }
    let mut list = Vec::with_capacity(view.parts.len());
    for part in &view.parts {
        let one = Part { loss: part.loss.clone(), count: 1 };
        let (largest, error) = largest(&[one])?;
        let epsilon = (largest + error.into()).upper();
        list.push((Guarantee::pure(epsilon).ok()?, Count::new(part.count).ok()?));
    }
    for leak in view.above.leaks() {
        let count = Count::new(leak.count).ok()?;
        list.push((Guarantee::new(0.0, leak.delta).ok()?, count));
    }
    Composition::of(list).ok()
}
