//! Compares the optimum with the bounds of the named theorems.

use super::sums::{self, GuaranteeSums, SpareDelta};
use super::{InapplicableError, Theorem};
use crate::ask::{Answer, AskError, Options};
use crate::composition::leak::with_leaks;
use crate::composition::{
    Composition, CountedLoss, Guarantees, Plan, RoundingDirection, WithCount, factors, sorted,
};
use crate::methods::largest::largest;
use crate::quantity::{Delta, Epsilon};

/// The bound of one theorem.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The theorem.
    pub theorem: Theorem,
    /// The epsilon (or delta) that the theorem certifies, rounded up, or the reason why it certifies none.
    pub value: Result<f64, InapplicableError>,
}

/// The optimum and the bounds of the named theorems.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// The certified optimum.
    pub optimal: Answer,
    /// The named theorems, in the order basic, advanced, strong, KOV closed form.
    pub others: Vec<Bound>,
}

impl Plan {
    /// Compares the epsilon at a delta with the bounds of other theorems.
    ///
    /// ```
    /// use counterpoint::{Count, Delta, Guarantee, Options, Plan};
    ///
    /// let plan = Plan::new([(Guarantee::pure(0.005)?, Count::new(100)?)])?;
    /// let comparison = plan.compare(Delta::new(2_f64.powi(-25))?, &Options::default())?;
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
    pub fn compare(&self, delta: Delta, options: &Options<'_>) -> Result<Comparison, AskError> {
        let optimal = self.epsilon(delta, options)?;
        let others = TheoremInputs::new(self);
        Ok(Comparison { optimal, others: others.bounds(|theorem| others.epsilon(theorem, delta)) })
    }

    /// Compares the delta at an epsilon with the bounds of other theorems.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn compare_delta(
        &self,
        epsilon: Epsilon,
        options: &Options<'_>,
    ) -> Result<Comparison, AskError> {
        let optimal = self.delta(epsilon, options)?;
        let others = TheoremInputs::new(self);
        Ok(Comparison { optimal, others: others.bounds(|theorem| others.delta(theorem, epsilon)) })
    }
}

/// The inputs of the named theorems: a plan, and its mechanisms' own (epsilon, delta) guarantees.
pub(super) struct TheoremInputs<'a> {
    plan: &'a Plan,
    /// The guarantees of each composition, and their sums; `None` if a mechanism has no guarantee.
    labels: Option<Vec<(Guarantees<'a>, GuaranteeSums)>>,
}

impl<'a> TheoremInputs<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let summed = |labels: Guarantees<'a>| {
            let sums = GuaranteeSums::new(&labels);
            (labels, sums)
        };
        let all = plan.compositions.iter().map(|whole| own_guarantees(whole).map(summed));
        Self { plan, labels: all.collect() }
    }

    pub(super) fn epsilon(&self, theorem: Theorem, delta: Delta) -> Result<f64, InapplicableError> {
        match theorem {
            Theorem::Renyi => self.renyi(|whole| whole.renyi_epsilon(delta)),
            _ => self.formula(|(labels, sums)| {
                sums::epsilon(theorem, sums, &SpareDelta::new(labels, sums, delta.get()))
            }),
        }
    }

    pub(super) fn delta(
        &self,
        theorem: Theorem,
        epsilon: Epsilon,
    ) -> Result<f64, InapplicableError> {
        match theorem {
            Theorem::Renyi => self.renyi(|whole| whole.renyi_delta(epsilon)),
            _ => self.formula(|(labels, sums)| {
                let whole = |slack| with_leaks(labels.leaks, slack, slack).upper;
                sums::delta(theorem, &sums::DeltaQuery::new(sums, epsilon.get(), &whole))
            }),
        }
    }

    /// Returns all bounds. Rényi curves add nothing if all releases are (epsilon, delta) guarantees.
    fn bounds(&self, value: impl Fn(Theorem) -> Result<f64, InapplicableError>) -> Vec<Bound> {
        let renyi = self.plan.guarantees().is_none().then_some(Theorem::Renyi);
        let all = Theorem::FORMULAS.into_iter().chain(renyi);
        all.map(|theorem| Bound { theorem, value: value(theorem) }).collect()
    }

    fn formula(
        &self,
        value: impl Fn((&Guarantees<'_>, &GuaranteeSums)) -> Result<f64, InapplicableError>,
    ) -> Result<f64, InapplicableError> {
        let none = || {
            InapplicableError::because(
                "not every mechanism has an (epsilon, delta) guarantee with a finite epsilon",
            )
        };
        let labels = self.labels.as_ref().ok_or_else(none)?;
        most(labels.iter().map(|(labels, sums)| value((labels, sums))))
    }

    fn renyi(&self, value: impl Fn(&Composition) -> Option<f64>) -> Result<f64, InapplicableError> {
        let none =
            || InapplicableError::because("no Rényi curve is known for one of the mechanisms");
        most(self.plan.compositions.iter().map(|whole| value(whole).ok_or_else(none)))
    }
}

fn most(
    values: impl Iterator<Item = Result<f64, InapplicableError>>,
) -> Result<f64, InapplicableError> {
    let mut values = values;
    values.try_fold(0.0, |most: f64, value| Ok(most.max(value?)))
}

/// Returns every mechanism's own (epsilon, delta) guarantee, if each has one: its largest loss, rounded up, and its
/// leak.
fn own_guarantees(whole: &Composition) -> Option<Guarantees<'_>> {
    let label = |part: &CountedLoss| {
        let one = [WithCount { count: 1, ..part.clone() }];
        let each = match factors(&one, RoundingDirection::Up).as_deref() {
            Some([factor]) => factor.each,
            _ => {
                let (largest, error) = largest(&one)?;
                (largest + error.into()).upper()
            }
        };
        Some(WithCount { each, count: part.count })
    };
    let labels = whole.losses.iter().map(label).collect::<Option<_>>()?;
    let factors = sorted(labels);
    whole.curves.is_empty().then_some(Guarantees { factors, leaks: &whole.leaks.above })
}
