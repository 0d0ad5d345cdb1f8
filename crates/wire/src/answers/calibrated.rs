//! Answers of `calibrate`: a value that meets the target and the changes that it makes, or the reason why no value
//! does.

use counterpoint::Route;
use counterpoint::ask::{Calibration, Unknown};
use counterpoint::theorem::Theorem;
use counterpoint::{Bracket, Delta, Epsilon};

use super::composed::width;
use crate::plan::{Plan, unknown_field_name};
use crate::text::decimal::{self, FULL_DIGITS};
use crate::text::object::{Decimal, Object, SpentSetting, bracket_object};

/// A value that meets a target, and the next value, which does not.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationAnswer {
    /// The kind of number that was unknown.
    pub unknown: Unknown,
    /// The largest epsilon that all releases together may cost.
    pub target: Epsilon,
    /// The value that was found.
    pub value: f64,
    /// The epsilon of all releases with this value.
    pub epsilon: Bracket,
    /// The delta at which epsilon is measured.
    pub delta: Delta,
    /// The next value on the unsafe side, and its epsilon; `None` at the end of the range.
    pub beyond: Option<(f64, Bracket)>,
    /// The nearest value that provably misses the target, and its epsilon.
    pub failing: Option<(f64, Bracket)>,
    /// The route by which epsilon was computed.
    pub route: Route,
    /// The theorem that licenses epsilon.
    pub theorem: Theorem,
    /// The relative width of the bracket of epsilon, if it is wider than the tolerance.
    pub wide: Option<f64>,
    /// The releases that got the value, in the order of the plan.
    pub changes: Vec<Change>,
    /// The number of releases of the plan.
    pub releases: usize,
    /// Warnings that belong to the answer.
    pub warnings: Vec<String>,
}

/// A release that got the value.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The number of the release, from 1.
    pub release: usize,
    /// The name of the release.
    pub name: Option<Box<str>>,
    /// The new value.
    pub value: f64,
    /// The old value; `None` if the field was left out.
    pub was: Option<f64>,
    /// The sampling rate, if the release runs on a sample.
    pub rate: Option<f64>,
    /// The number of times that the release is made.
    pub count: u64,
}

/// A target that no value meets.
#[derive(Clone, Debug, PartialEq)]
pub struct UnreachableTarget {
    /// The kind of number that was unknown.
    pub unknown: Unknown,
    /// The delta at which epsilon is measured.
    pub delta: Delta,
    /// The reason why no value meets the target.
    pub reason: String,
}

impl CalibrationAnswer {
    /// The answer of a search.
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

    /// Puts the value into the plan, and adds the changed releases to the answer.
    #[must_use]
    pub fn of_plan(self, plan: &mut Plan, found: &Calibration) -> Self {
        let mut changes = Vec::with_capacity(found.varied.len());
        for &index in &found.varied {
            let (Some(release), Some(is)) =
                (plan.releases.get_mut(index), found.releases.get(index))
            else {
                continue;
            };
            let before = release.without_bundle();
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
            Object::new().field("value", self.number(value)).field("epsilon", bracket_object(cost))
        };
        let changed: Vec<_> = self.changes.iter().map(|change| self.changed(change)).collect();
        Object::new()
            .field("for", unknown_field_name(self.unknown))
            .field("value", self.number(self.value))
            .field("epsilon", bracket_object(self.epsilon))
            .field("delta", Decimal::shortest(self.delta.get()))
            .some("wide", self.wide.map(|_| true))
            .some("width", self.wide)
            .field("beyond", self.beyond.map(there))
            .field("failing", self.failing.map(there))
            .some("gap", self.gap())
            .field("route", self.route.name())
            .field("theorem", self.theorem.source())
            .field("setting", SpentSetting::from(self.theorem.setting()))
            .list("changed", &changed)
            .list("warnings", &self.warnings)
            .json()
    }

    /// A release that got the value; absent numbers are null.
    fn changed(&self, change: &Change) -> Object {
        Object::new()
            .field("release", change.release)
            .field("name", change.name.as_deref())
            .field("value", self.number(change.value))
            .field("was", change.was.map(|was| self.number(was)))
            .field("rate", change.rate)
            .field("count", change.count)
    }

    fn number(&self, value: f64) -> Decimal {
        Decimal(self.text(value))
    }

    /// The relative distance between the value and the nearest value that provably fails.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let (failing, _) = self.failing?;
        Some((failing - self.value).abs() / self.value.max(failing))
    }

    /// Writes a value as text that is read back as the same number.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        match self.unknown {
            Unknown::Count => value.to_string(),
            _ => decimal::nearest(value, FULL_DIGITS),
        }
    }
}

impl UnreachableTarget {
    /// The `calibrate --json` object.
    ///
    /// # Errors
    /// None in practice: delta is a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        Object::new()
            .field("for", unknown_field_name(self.unknown))
            .field("value", None::<f64>)
            .field("delta", Decimal::shortest(self.delta.get()))
            .field("reason", &self.reason)
            .json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calibrate_object_has_its_fields_in_order() {
        let mut found = CalibrationAnswer {
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
        let json = UnreachableTarget { unknown, delta, reason: "it is".into() }.json().unwrap();
        assert_eq!(json, r#"{"for":"scale","value":null,"delta":1e-6,"reason":"it is"}"#);
    }
}
