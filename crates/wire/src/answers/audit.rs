//! Audits, and the JSON object that carries them.

use counterpoint::audit::{Attack, Audit, Refutation, Tally};

use crate::text::object::{Decimal, Object, ends};

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
        let rates = self.attacks.iter().zip(&self.audit.rates).map(|(attack, rate)| {
            Object::new()
                .field("false_alarms", observed(attack.false_alarms, rate.false_alarm()))
                .field("misses", observed(attack.misses, rate.miss()))
        });
        let claim = self.claim.as_ref().map(|(plan, refutation)| {
            Object::new()
                .field("plan", plan)
                .field("refuted", refutation.refuted)
                .field("epsilon", refutation.epsilon.map(ends))
        });
        Object::new()
            .field("epsilon", Object::new().field("lower", Decimal::down(self.audit.epsilon)))
            .field("delta", Decimal::shortest(self.audit.delta.get()))
            .field("confidence", Decimal::shortest(self.audit.confidence.get()))
            .field("attacks", rates.collect::<Vec<_>>())
            .some("claim", claim)
            .list("warnings", &self.warnings)
            .json()
    }
}

fn observed(tally: Tally, rate: f64) -> Object {
    Object::new()
        .field("count", tally.count())
        .field("trials", tally.trials())
        .field("rate", Object::new().field("upper", Decimal::up(rate)))
}
