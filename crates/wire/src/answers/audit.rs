//! Audits as JSON.

use counterpoint::audit::{Attack, Audit, Refutation, Tally};

use crate::text::object::{Decimal, Object, bracket_object};

/// Observed attacks, the epsilon that they prove, and a claim that they may refute.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditAnswer {
    /// The observed attacks.
    pub attacks: Vec<Attack>,
    /// The epsilon that the attacks prove.
    pub audit: Audit,
    /// The name of the claim, and the evidence against it.
    pub claim: Option<(String, Refutation)>,
    /// Warnings that belong to the audit.
    pub warnings: Vec<String>,
}

impl AuditAnswer {
    /// True if there is a claim and the attacks refute it.
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
                .field("epsilon", refutation.epsilon.map(bracket_object))
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
