//! Answers, and the JSON objects that carry them.

use counterpoint::Bracket;
use counterpoint::Route;
use counterpoint::ask::PreciseAnswer;
use counterpoint::theorem::lattice::Pair;
use counterpoint::theorem::{Bound, Comparison, Theorem};

use crate::plan::Question;
use crate::text::decimal::FULL_DIGITS;
use crate::text::object::{Decimal, Object, SpentSetting, between, ends, exactly};
use crate::text::written::Written;

/// A question about a composition with its certified answer, and what the named
/// theorems answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Composed {
    /// What was asked.
    pub question: Question,
    /// The answer.
    pub asked: Asked,
    /// How it was computed.
    pub route: Route,
    /// Which theorem licenses it.
    pub theorem: Theorem,
    /// How wide the bracket is, relative to its upper end, if that is more than was aimed at.
    pub wide: Option<f64>,
    /// Which exponential mechanisms meet the lower end, where it is theirs: the share of its range that
    /// the larger of each one's two losses is.
    pub share: Option<f64>,
    /// What the named theorems answer.
    pub others: Vec<Bound>,
    /// What one should know before relying on it.
    pub warnings: Vec<String>,
    /// The given side as it is written, where that is no double.
    pub given: Option<Written>,
    /// The pairs of KOV Theorem III.3, if they are wanted.
    pub pairs: Vec<Pair>,
}

/// The side that was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// In double precision.
    Bracket(Bracket),
    /// In any precision: decimal numbers, rounded outward.
    Digits {
        /// Never above the truth.
        lower: String,
        /// Never below the truth.
        upper: String,
    },
}

impl Composed {
    /// The answer of a comparison.
    #[must_use]
    pub fn new(question: Question, comparison: &Comparison) -> Self {
        Self {
            question,
            asked: Asked::Bracket(comparison.optimal.bracket),
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
            asked: Asked::Digits { lower, upper },
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

    /// The `compare --json` object: as [`Composed::compose_json`], with the ratio
    /// of each theorem's charge to the certified optimum.
    ///
    /// # Errors
    /// If a bound is not a finite number.
    pub fn compare_json(&self) -> Result<String, serde_json::Error> {
        self.json(|charge| self.ratio(charge))
    }

    /// How many times the certified optimum a theorem charges; `None` if it does
    /// not apply, or the optimum is zero.
    #[must_use]
    pub fn ratio(&self, charge: &Bound) -> Option<f64> {
        let ratio = *charge.value.as_ref().ok()? / self.asked.upper();
        ratio.is_finite().then_some(ratio)
    }

    fn json(&self, ratio: impl Fn(&Bound) -> Option<f64>) -> Result<String, serde_json::Error> {
        let (epsilon, delta) = match self.question {
            Question::EpsilonAt(delta) => (self.asked.ends(), self.given(delta.get())),
            Question::DeltaAt(epsilon) => (self.given(epsilon.get()), self.asked.ends()),
        };
        // Mechanisms with two outcomes: of range eta, losses of share eta and share eta - eta.
        let met_by = |share| Object::new().field("mechanism", "exponential").field("share", share);
        let others = self.others.iter().map(|charge| self.other(charge, ratio(charge)));
        // The composition is private with the upper delta, and not with one below the lower.
        let pairs = self.pairs.iter().map(|pair| {
            let epsilon = Decimal::up(pair.epsilon).trimmed();
            Object::new().field("epsilon", epsilon).field("delta", ends(pair.delta))
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

    /// The given side is echoed: as it is written where decimals can say it, else in decimals around it.
    fn given(&self, double: f64) -> Object {
        let Some(number) = &self.given else { return exactly(double) };
        let (lower, upper) = number.around(FULL_DIGITS);
        between(Decimal(lower), Decimal(upper))
    }

    /// Of epsilon and delta the asked one is there, null if the theorem is silent.
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

impl Asked {
    /// The upper end, to the nearest f64.
    #[must_use]
    pub fn upper(&self) -> f64 {
        match self {
            Self::Bracket(bracket) => bracket.upper,
            Self::Digits { upper, .. } => upper.parse().unwrap_or(f64::NAN),
        }
    }

    fn ends(&self) -> Object {
        match self {
            Self::Bracket(bracket) => ends(*bracket),
            Self::Digits { lower, upper } => {
                between(Decimal(lower.clone()), Decimal(upper.clone()))
            }
        }
    }
}

/// The relative width of an answer that is marked as wide.
pub(crate) fn width(answer: &counterpoint::Answer) -> Option<f64> {
    answer.wide.then(|| answer.bracket.relative_width())
}

/// The bounds as they can be written down.
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

    fn composed(question: Question) -> Composed {
        Composed {
            question,
            asked: Asked::Bracket(Bracket { lower: 4.75, upper: 5.0 }),
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
        let json = Composed { wide: Some(0.05), ..composed }.compose_json().unwrap();
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
        composed.asked = Asked::Digits { lower: lower.clone(), upper: "5.1".into() };
        assert!(composed.compose_json().unwrap().contains(&lower));
        composed.asked = Asked::Digits { lower, upper: "inf".into() };
        assert!(composed.compose_json().is_err());
    }
}
