//! Answers to the question of a plan, as JSON.

use counterpoint::Bracket;
use counterpoint::Route;
use counterpoint::ask::PreciseAnswer;
use counterpoint::theorem::lattice::CompositionGuarantee;
use counterpoint::theorem::{Bound, Comparison, Theorem};

use crate::plan::Question;
use crate::text::decimal::FULL_DIGITS;
use crate::text::object::{
    Decimal, Object, SpentSetting, bounds_object, bracket_object, exact_object,
};
use crate::text::written::ExactNumber;

/// A question about a composition, its certified answer, and the answers of the named theorems.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanAnswer {
    /// The question.
    pub question: Question,
    /// The answer.
    pub value: AnswerValue,
    /// The route by which the answer was computed.
    pub route: Route,
    /// The theorem that licenses the answer.
    pub theorem: Theorem,
    /// The relative width of the bracket, if it is wider than the tolerance.
    pub wide: Option<f64>,
    /// The exponential mechanisms that reach the lower end, if it is reached by such mechanisms: the larger of their
    /// two losses, as a share of their range.
    pub share: Option<f64>,
    /// The answers of the named theorems.
    pub others: Vec<Bound>,
    /// Warnings that belong to the answer.
    pub warnings: Vec<String>,
    /// The exact number of the given side, if no double equals it.
    pub given: Option<ExactNumber>,
    /// The pairs of KOV Theorem III.3, if they were requested.
    pub pairs: Vec<CompositionGuarantee>,
}

/// The answer: the epsilon or delta that the question asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerValue {
    /// The bracket in double precision.
    Bracket(Bracket),
    /// The bracket in arbitrary precision: decimal numbers, rounded outward.
    Digits {
        /// A number that is never above the truth.
        lower: String,
        /// A number that is never below the truth.
        upper: String,
    },
}

impl PlanAnswer {
    /// The answer of a comparison.
    #[must_use]
    pub fn new(question: Question, comparison: &Comparison) -> Self {
        Self {
            question,
            value: AnswerValue::Bracket(comparison.optimal.bracket),
            route: comparison.optimal.route,
            theorem: comparison.optimal.theorem,
            wide: width(&comparison.optimal),
            share: comparison.optimal.share,
            others: finite(&comparison.others),
            warnings: Vec::new(),
            given: None,
            pairs: Vec::new(),
        }
    }

    /// An answer in arbitrary precision.
    #[must_use]
    pub fn precise(question: Question, answer: &PreciseAnswer, others: Vec<Bound>) -> Self {
        let (lower, upper) = (answer.lower.clone(), answer.upper.clone());
        Self {
            question,
            value: AnswerValue::Digits { lower, upper },
            route: Route::Precise,
            theorem: answer.theorem,
            wide: None,
            share: None,
            others,
            warnings: Vec::new(),
            given: None,
            pairs: Vec::new(),
        }
    }

    /// The `compose --json` object.
    ///
    /// # Errors
    /// If a bound is not a finite number.
    pub fn compose_json(&self) -> Result<String, serde_json::Error> {
        self.json(|_| None)
    }

    /// The `compare --json` object: [`PlanAnswer::compose_json`] with the ratio of each theorem's charge to the
    /// certified optimum.
    ///
    /// # Errors
    /// If a bound is not a finite number.
    pub fn compare_json(&self) -> Result<String, serde_json::Error> {
        self.json(|charge| self.ratio(charge))
    }

    /// The ratio of a theorem's charge to the certified optimum; `None` if the theorem does not apply, or the optimum
    /// is zero.
    #[must_use]
    pub fn ratio(&self, charge: &Bound) -> Option<f64> {
        let ratio = *charge.value.as_ref().ok()? / self.value.upper();
        ratio.is_finite().then_some(ratio)
    }

    fn json(&self, ratio: impl Fn(&Bound) -> Option<f64>) -> Result<String, serde_json::Error> {
        let (epsilon, delta) = match self.question {
            Question::EpsilonAt(delta) => (self.value.bracket_object(), self.given(delta.get())),
            Question::DeltaAt(epsilon) => (self.given(epsilon.get()), self.value.bracket_object()),
        };
        // These mechanisms have range eta and two outcomes, with losses of share eta and share eta - eta.
        let met_by = |share| Object::new().field("mechanism", "exponential").field("share", share);
        let others = self.others.iter().map(|charge| self.other(charge, ratio(charge)));
        // The composition is private with the upper delta, and is not private with any delta below the lower.
        let pairs = self.pairs.iter().map(|pair| {
            let epsilon = Decimal::up(pair.epsilon).trimmed();
            Object::new().field("epsilon", epsilon).field("delta", bracket_object(pair.delta))
        });
        Object::new()
            .field("epsilon", epsilon)
            .field("delta", delta)
            .some("wide", self.wide.map(|_| true))
            .some("width", self.wide)
            .some("lower_met_by", self.share.map(met_by))
            .field("route", self.route.name())
            .field("theorem", self.theorem.source())
            .field("setting", SpentSetting::from(self.theorem.setting()))
            .field("others", others.collect::<Vec<_>>())
            .list("pairs", &pairs.collect::<Vec<_>>())
            .list("warnings", &self.warnings)
            .json()
    }

    /// Writes the given side: exactly if it is a decimal, else as decimals below and above.
    fn given(&self, double: f64) -> Object {
        let Some(number) = &self.given else { return exact_object(double) };
        let (lower, upper) = number.decimal_bounds(FULL_DIGITS);
        bounds_object(Decimal(lower), Decimal(upper))
    }

    /// Writes a theorem's answer. The epsilon or delta that was asked for is null if the theorem does not apply.
    fn other(&self, charge: &Bound, ratio: Option<f64>) -> Object {
        let asked = match self.question {
            Question::EpsilonAt(_) => "epsilon",
            Question::DeltaAt(_) => "delta",
        };
        let value = charge.value.as_ref().ok().map(|&number| Decimal::up(number).trimmed());
        let reason = charge.value.as_ref().err().map(|none| none.reason.as_str());
        Object::new()
            .field("theorem", charge.theorem.name())
            .field(asked, value)
            .some("ratio", ratio)
            .some("reason", reason)
    }
}

impl AnswerValue {
    /// The upper end of the answer, as the nearest f64.
    #[must_use]
    pub fn upper(&self) -> f64 {
        match self {
            Self::Bracket(bracket) => bracket.upper,
            Self::Digits { upper, .. } => upper.parse().unwrap_or(f64::NAN),
        }
    }

    fn bracket_object(&self) -> Object {
        match self {
            Self::Bracket(bracket) => bracket_object(*bracket),
            Self::Digits { lower, upper } => {
                bounds_object(Decimal(lower.clone()), Decimal(upper.clone()))
            }
        }
    }
}

/// The relative width of an answer that is marked as wide.
pub(crate) fn width(answer: &counterpoint::Answer) -> Option<f64> {
    answer.wide.then(|| answer.bracket.relative_width())
}

/// Replaces infinite bounds, which JSON cannot hold, by the reason why there is no bound.
fn finite(bounds: &[Bound]) -> Vec<Bound> {
    let value = |bound: &Bound| match &bound.value {
        Ok(number) if !number.is_finite() => Err("its bound is not finite".into()),
        value => value.clone(),
    };
    bounds.iter().map(|bound| Bound { theorem: bound.theorem, value: value(bound) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint::{Delta, Epsilon};

    fn composed(question: Question) -> PlanAnswer {
        PlanAnswer {
            question,
            value: AnswerValue::Bracket(Bracket { lower: 4.75, upper: 5.0 }),
            route: Route::Contour,
            theorem: Theorem::Optimal,
            wide: None,
            share: None,
            others: vec![
                Bound { theorem: Theorem::Basic, value: Ok(10.0) },
                Bound { theorem: Theorem::Strong, value: Err("the \"epsilons\" differ".into()) },
            ],
            warnings: Vec::new(),
            given: None,
            pairs: Vec::new(),
        }
    }

    #[test]
    fn the_compose_object_has_its_fields_in_order() {
        let composed = composed(Question::EpsilonAt(Delta::new(1e-6).unwrap()));
        let parts = [
            r#"{"epsilon":{"lower":4.7500000000000000,"upper":5.0000000000000000},"#,
            r#""delta":{"lower":1e-6,"upper":1e-6},"route":"contour","theorem":""#,
            Theorem::Optimal.source(),
            r#"","setting":{"parameters":"fixed","concurrent":true},"others":["#,
            r#"{"theorem":"basic","epsilon":10.0},"#,
            r#"{"theorem":"strong","epsilon":null,"reason":"the \"epsilons\" differ"}]}"#,
        ];
        assert_eq!(composed.compose_json().unwrap(), parts.concat());
    }

    #[test]
    fn a_wide_bracket_says_so_and_how_wide() {
        let composed = composed(Question::EpsilonAt(Delta::new(1e-6).unwrap()));
        assert!(!composed.compose_json().unwrap().contains("wid"));
        let json = PlanAnswer { wide: Some(0.05), ..composed }.compose_json().unwrap();
        assert!(json.contains(r#""upper":1e-6},"wide":true,"width":0.05,"route":"#), "{json}");
    }

    #[test]
    fn others_hold_delta_when_delta_was_asked() {
        let json = composed(Question::DeltaAt(Epsilon::new(1.0).unwrap())).compose_json().unwrap();
        assert!(json.starts_with(r#"{"epsilon":{"lower":1.0,"upper":1.0},"delta":{"lower":4.75"#));
        assert!(json.contains(r#"{"theorem":"basic","delta":10.0}"#));
    }

    #[test]
    fn compare_adds_the_ratio_where_there_is_one() {
        let composed = composed(Question::EpsilonAt(Delta::new(1e-6).unwrap()));
        let json = composed.compare_json().unwrap();
        assert!(json.contains(r#"{"theorem":"basic","epsilon":10.0,"ratio":2.0}"#));
        assert!(json.contains(r#"{"theorem":"strong","epsilon":null,"reason""#));
    }

    #[test]
    fn digits_beyond_double_precision_are_kept() {
        let mut composed = composed(Question::EpsilonAt(Delta::new(1e-6).unwrap()));
        let lower = "4.774567588108123456789012345678901234567".to_owned();
        composed.value = AnswerValue::Digits { lower: lower.clone(), upper: "5.1".into() };
        assert!(composed.compose_json().unwrap().contains(&lower));
        composed.value = AnswerValue::Digits { lower, upper: "inf".into() };
        assert!(composed.compose_json().is_err());
    }
}
