//! Audits, and the JSON object that carries them.

use counterpoint::audit::{Attack, Audit, Refutation, Tally};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answer::{Ends, number};
use crate::decimal::{self, FULL_DIGITS};

/// What attacks did, what they say about epsilon, and whether they refute a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Audited {
    /// What was observed.
    pub attacks: Vec<Attack>,
    /// What it says.
    pub audit: Audit,
    /// What was claimed, by what it is called, and whether it is refuted.
    pub claim: Option<(String, Refutation)>,
    /// What one should know before relying on it.
    pub warnings: Vec<String>,
}

impl Audited {
    /// Whether there is a claim and it is refuted.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        self.claim.as_ref().is_some_and(|(_, refutation)| refutation.refuted)
    }

    /// The `audit --json` object.
    ///
    /// # Errors
    /// If a bound is not a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let rates = self.attacks.iter().zip(&self.audit.rates);
        let attacks = rates.map(|(attack, rate)| {
            Ok(Attacked {
                false_alarms: Observed::new(attack.false_alarms, rate.false_alarm())?,
                misses: Observed::new(attack.misses, rate.miss())?,
            })
        });
        let claim = self.claim.as_ref().map(|(plan, refutation)| {
            let epsilon = refutation.epsilon.map(Ends::of).transpose()?;
            Ok(Claim { plan, refuted: refutation.refuted, epsilon })
        });
        serde_json::to_string(&Object {
            epsilon: Lower { lower: number(decimal::down(self.audit.epsilon, FULL_DIGITS))? },
            delta: number(decimal::shortest(self.audit.delta.get()))?,
            confidence: number(decimal::shortest(self.audit.confidence.get()))?,
            attacks: attacks.collect::<Result<_, serde_json::Error>>()?,
            claim: claim.transpose()?,
            warnings: &self.warnings,
        })
    }
}

/// The object, its fields in the order they are written.
#[derive(Serialize)]
struct Object<'a> {
    epsilon: Lower,
    delta: Box<RawValue>,
    confidence: Box<RawValue>,
    attacks: Vec<Attacked>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<Claim<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

/// A bound from one side only.
#[derive(Serialize)]
struct Lower {
    lower: Box<RawValue>,
}

#[derive(Serialize)]
struct Attacked {
    false_alarms: Observed,
    misses: Observed,
}

#[derive(Serialize)]
struct Observed {
    count: u64,
    trials: u64,
    rate: Upper,
}

#[derive(Serialize)]
struct Upper {
    upper: Box<RawValue>,
}

impl Observed {
    fn new(tally: Tally, rate: f64) -> Result<Self, serde_json::Error> {
        let rate = Upper { upper: number(decimal::up(rate, FULL_DIGITS))? };
        Ok(Self { count: tally.count(), trials: tally.trials(), rate })
    }
}

#[derive(Serialize)]
struct Claim<'a> {
    plan: &'a str,
    refuted: bool,
    epsilon: Option<Ends>,
}
