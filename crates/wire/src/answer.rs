//! Answers, and the JSON objects that carry them.

use counterpoint::ask::{Calibration, PreciseAnswer, Unknown};
use counterpoint::route::Route;
use counterpoint::theorem::{Bound, Comparison, Parameters, Setting, Theorem};
use counterpoint::{Bracket, Delta, Epsilon};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::decimal::{self, FULL_DIGITS};
use crate::plan::{Plan, Question, name_of};

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

/// A value that meets a target, and the next one, that does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// What was to be found.
    pub unknown: Unknown,
    /// What all releases together may cost.
    pub target: Epsilon,
    /// What was found.
    pub value: f64,
    /// What it costs.
    pub epsilon: Bracket,
    /// At this delta.
    pub delta: Delta,
    /// The next value on the unsafe side and what it costs; `None` at the end of the range.
    pub beyond: Option<(f64, Bracket)>,
    /// The nearest value found that provably does not meet the target, and what it costs.
    pub failing: Option<(f64, Bracket)>,
    /// How the cost was computed.
    pub route: Route,
    /// Which theorem licenses it.
    pub theorem: Theorem,
    /// How wide its cost's bracket is, relative to its upper end, if that is more than was aimed at.
    pub wide: Option<f64>,
    /// The releases it was filled in, in order.
    pub changes: Vec<Change>,
    /// How many releases the plan has.
    pub releases: usize,
    /// What one should know before relying on it.
    pub warnings: Vec<String>,
}

/// A release that a value was filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Which one, from 1.
    pub release: usize,
    /// What people call it.
    pub name: Option<Box<str>>,
    /// What it has now.
    pub value: f64,
    /// What it had; `None` if that was left out.
    pub was: Option<f64>,
    /// The rate at which it samples the data, if it does.
    pub rate: Option<f64>,
    /// How many times it is made.
    pub count: u64,
}

/// A target that no value meets.
#[derive(Clone, Debug, PartialEq)]
pub struct OutOfReach {
    /// What was to be found.
    pub unknown: Unknown,
    /// Where epsilon is measured.
    pub delta: Delta,
    /// Why there is none.
    pub reason: String,
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
            Question::EpsilonAt(delta) => (self.asked.ends()?, given(delta.get())?),
            Question::DeltaAt(epsilon) => (given(epsilon.get())?, self.asked.ends()?),
        };
        let others = self.others.iter().map(|charge| self.other(charge, ratio(charge)));
        serde_json::to_string(&Answer {
            epsilon,
            delta,
            wide: self.wide.map(|_| true),
            width: self.wide,
            lower_met_by: self.share.map(|share| MetBy { mechanism: "exponential", share }),
            route: self.route.name(),
            theorem: self.theorem.source(),
            setting: setting(self.theorem.setting()),
            others: others.collect::<Result<_, _>>()?,
            warnings: &self.warnings,
        })
    }

    fn other<'a>(
        &self,
        charge: &'a Bound,
        ratio: Option<f64>,
    ) -> Result<Other<'a>, serde_json::Error> {
        let text = |&number: &f64| decimal::trimmed(&decimal::up(number, FULL_DIGITS));
        let value = charge.value.as_ref().ok().map(text).map(number).transpose()?;
        let (epsilon, delta) = match self.question {
            Question::EpsilonAt(_) => (Some(value), None),
            Question::DeltaAt(_) => (None, Some(value)),
        };
        let reason = charge.value.as_ref().err().map(|none| none.reason.as_str());
        Ok(Other { theorem: charge.theorem.name(), epsilon, delta, ratio, reason })
    }
}

impl Calibrated {
    /// What a search came to.
    #[must_use]
    pub fn new(unknown: Unknown, (target, delta): (Epsilon, Delta), found: &Calibration) -> Self {
        let Calibration { value, cost, beyond, failing, .. } = found;
        Self {
            unknown,
            target,
            value: *value,
            epsilon: cost.bracket,
            delta,
            beyond: beyond.as_ref().map(|(value, cost)| (*value, cost.bracket)),
            failing: failing.as_ref().map(|(value, cost)| (*value, cost.bracket)),
            route: cost.route,
            theorem: cost.theorem,
            wide: width(cost),
            changes: Vec::new(),
            releases: found.releases.len(),
            warnings: Vec::new(),
        }
    }

    /// The same, with what was changed in the plan that was read, and that plan finished.
    #[must_use]
    pub fn of_plan(self, plan: &mut Plan, found: &Calibration) -> Self {
        let mut changes = Vec::with_capacity(found.varied.len());
        for &index in &found.varied {
            let (Some(release), Some(is)) =
                (plan.releases.get_mut(index), found.releases.get(index))
            else {
                continue;
            };
            let before = counterpoint::Release::from(&*release);
            let was = self.unknown.value(&before).filter(|_| !plan.blanks.contains(&index));
            release.mechanism = is.mechanism.clone();
            release.count = is.count;
            changes.push(Change {
                release: index + 1,
                name: release.name.clone(),
                value: self.unknown.value(is).unwrap_or(self.value),
                was,
                rate: is.rate.map(|rate| rate.get()),
                count: is.count.get(),
            });
        }
        plan.blanks.clear();
        Self { changes, ..self }
    }

    /// The `calibrate --json` object.
    ///
    /// # Errors
    /// If a bound is not a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let there = |(value, cost): (f64, Bracket)| {
            let epsilon = Asked::Bracket(cost).ends()?;
            Ok::<_, serde_json::Error>(Beyond { value: number(self.text(value))?, epsilon })
        };
        serde_json::to_string(&Found {
            unknown: name_of(self.unknown),
            value: number(self.text(self.value))?,
            epsilon: Asked::Bracket(self.epsilon).ends()?,
            delta: number(decimal::shortest(self.delta.get()))?,
            wide: self.wide.map(|_| true),
            width: self.wide,
            beyond: self.beyond.map(there).transpose()?,
            failing: self.failing.map(there).transpose()?,
            gap: self.gap(),
            route: self.route.name(),
            theorem: self.theorem.source(),
            setting: setting(self.theorem.setting()),
            changed: self
                .changes
                .iter()
                .map(|change| self.changed(change))
                .collect::<Result<_, _>>()?,
            warnings: &self.warnings,
        })
    }

    fn changed<'a>(&self, change: &'a Change) -> Result<Changed<'a>, serde_json::Error> {
        let text = |value: f64| number(self.text(value));
        Ok(Changed {
            release: change.release,
            name: change.name.as_deref(),
            value: text(change.value)?,
            was: change.was.map(text).transpose()?,
            rate: change.rate,
            count: change.count,
        })
    }

    /// How far apart, relatively, the value and the one that provably fails are.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let (failing, _) = self.failing?;
        Some((failing - self.value).abs() / self.value.max(failing))
    }

    /// A value as text that is read back as the same number.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        match self.unknown {
            Unknown::Count => value.to_string(),
            _ => decimal::nearest(value, FULL_DIGITS),
        }
    }
}

impl OutOfReach {
    /// The `calibrate --json` object.
    ///
    /// # Errors
    /// None that can be named: delta is a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&NotFound {
            unknown: name_of(self.unknown),
            value: None,
            delta: number(decimal::shortest(self.delta.get()))?,
            reason: &self.reason,
        })
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

    fn ends(&self) -> Result<Ends, serde_json::Error> {
        let (lower, upper) = match self {
            Self::Bracket(bracket) => {
                (decimal::down(bracket.lower, FULL_DIGITS), decimal::up(bracket.upper, FULL_DIGITS))
            }
            Self::Digits { lower, upper } => (lower.clone(), upper.clone()),
        };
        Ok(Ends { lower: number(lower)?, upper: number(upper)? })
    }
}

/// The object, its fields in the order they are written.
#[derive(Serialize)]
struct Answer<'a> {
    epsilon: Ends,
    delta: Ends,
    #[serde(skip_serializing_if = "Option::is_none")]
    wide: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_met_by: Option<MetBy>,
    route: &'a str,
    theorem: &'a str,
    setting: InSetting,
    others: Vec<Other<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Found<'a> {
    #[serde(rename = "for")]
    unknown: &'a str,
    value: Box<RawValue>,
    epsilon: Ends,
    delta: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wide: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<f64>,
    beyond: Option<Beyond>,
    failing: Option<Beyond>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
    route: &'a str,
    theorem: &'a str,
    setting: InSetting,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<Changed<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

/// A release that a value was filled in; what is not there is null.
#[derive(Serialize)]
struct Changed<'a> {
    release: usize,
    name: Option<&'a str>,
    value: Box<RawValue>,
    was: Option<Box<RawValue>>,
    rate: Option<f64>,
    count: u64,
}

#[derive(Serialize)]
struct NotFound<'a> {
    #[serde(rename = "for")]
    unknown: &'a str,
    value: Option<f64>,
    delta: Box<RawValue>,
    reason: &'a str,
}

/// Mechanisms with two outcomes: of range eta, losses of share eta and share eta - eta.
#[derive(Serialize)]
struct MetBy {
    mechanism: &'static str,
    share: f64,
}

#[derive(Serialize)]
struct Beyond {
    value: Box<RawValue>,
    epsilon: Ends,
}

#[derive(Serialize)]
pub(crate) struct Ends {
    lower: Box<RawValue>,
    upper: Box<RawValue>,
}

#[derive(Serialize)]
pub(crate) struct InSetting {
    parameters: &'static str,
    concurrent: bool,
}

impl Ends {
    /// Rounded outward.
    pub(crate) fn of(bracket: Bracket) -> Result<Self, serde_json::Error> {
        Asked::Bracket(bracket).ends()
    }
}

/// Of epsilon and delta the asked one is there, null if the theorem is silent.
#[derive(Serialize)]
struct Other<'a> {
    theorem: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<Option<Box<RawValue>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Option<Box<RawValue>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// The relative width of an answer that is marked as wide.
fn width(answer: &counterpoint::Answer) -> Option<f64> {
    answer.wide.then(|| answer.bracket.relative_width())
}

/// A decimal number as it stands; anything else is an error.
pub(crate) fn number(text: String) -> Result<Box<RawValue>, serde_json::Error> {
    // A number's text is a number's JSON, unless it is `inf` or `NaN`.
    serde_json::from_str::<f64>(&text)?;
    RawValue::from_string(text)
}

fn given(value: f64) -> Result<Ends, serde_json::Error> {
    let text = decimal::shortest(value);
    Ok(Ends { lower: number(text.clone())?, upper: number(text)? })
}

pub(crate) fn setting(setting: Setting) -> InSetting {
    let parameters = match setting.parameters {
        Parameters::Adaptive => "adaptive",
        // Promising less than is true is safe.
        _ => "fixed",
    };
    InSetting { parameters, concurrent: setting.concurrent }
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

    #[test]
    fn the_calibrate_object_has_its_fields_in_order() {
        let mut found = Calibrated {
            unknown: Unknown::Sigma,
            target: Epsilon::new(2.0).unwrap(),
            value: 0.1,
            epsilon: Bracket { lower: 1.5, upper: 1.75 },
            delta: Delta::new(1e-6).unwrap(),
            beyond: Some((0.5, Bracket { lower: 2.5, upper: 2.75 })),
            failing: Some((0.5, Bracket { lower: 2.5, upper: 2.75 })),
            route: Route::Contour,
            theorem: Theorem::Optimal,
            wide: None,
            changes: Vec::new(),
            releases: 1,
            warnings: Vec::new(),
        };
        let parts = [
            r#"{"for":"sigma","value":0.10000000000000001,"#,
            r#""epsilon":{"lower":1.5000000000000000,"upper":1.7500000000000000},"delta":1e-6,"#,
            r#""beyond":{"value":0.50000000000000000,"#,
            r#""epsilon":{"lower":2.5000000000000000,"upper":2.7500000000000000}},"#,
            r#""failing":{"value":0.50000000000000000,"#,
            r#""epsilon":{"lower":2.5000000000000000,"upper":2.7500000000000000}},"gap":0.8,"#,
            r#""route":"contour","theorem":""#,
            Theorem::Optimal.source(),
            r#"","setting":{"parameters":"fixed","concurrent":true}}"#,
        ];
        assert_eq!(found.json().unwrap(), parts.concat());
        (found.unknown, found.value, found.beyond) = (Unknown::Count, 1e12, None);
        found.failing = None;
        found.warnings = vec!["beware".into()];
        let json = found.json().unwrap();
        assert!(json.starts_with(r#"{"for":"count","value":1000000000000,"#), "{json}");
        assert!(
            json.contains(r#""beyond":null,"failing":null,"route""#)
                && json.ends_with(r#""warnings":["beware"]}"#)
        );
    }

    #[test]
    fn a_target_out_of_reach_has_a_reason_and_no_value() {
        let (unknown, delta) = (Unknown::Scale, Delta::new(1e-6).unwrap());
        let json = OutOfReach { unknown, delta, reason: "it is".into() }.json().unwrap();
        assert_eq!(json, r#"{"for":"scale","value":null,"delta":1e-6,"reason":"it is"}"#);
    }
}
