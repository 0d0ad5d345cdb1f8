use counterpoint::audit::Tally;
use counterpoint::quantity::format_number;
use counterpoint_wire::{AuditAnswer, decimal};

use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;
use crate::wording::{self, TABLE_DIGITS};

/// Shows the bound on epsilon, the attacks it rests on, and if it refutes the claim.
#[must_use]
pub fn audit(audited: &AuditAnswer) -> String {
    let audit = &audited.audit;
    let confidence = format_number(audit.confidence.get());
    let head = aligned_rows([
        (
            "epsilon",
            format!("at least {}", wording::trimmed(&decimal::down(audit.epsilon, TABLE_DIGITS))),
        ),
        ("delta", format!("{} (given)", format_number(audit.delta.get()))),
        ("confidence", format!("{confidence}, for all bounds at once")),
        ("claim", claim(audited)),
    ]);
    let heading = ["attack", "errors", "seen", "of", "rate, at most"].map(str::to_owned);
    let attacks = audited.attacks.iter().zip(&audit.rates).enumerate();
    let rows = attacks.flat_map(|(index, (attack, rate))| {
        let row = |first: String, name: &str, tally: Tally, rate: f64| {
            let (seen, of) = (tally.count().to_string(), tally.trials().to_string());
            [first, name.to_owned(), seen, of, decimal::up(rate, TABLE_DIGITS)]
        };
        [
            row((index + 1).to_string(), "false alarms", attack.false_alarms, rate.false_alarm()),
            row(String::new(), "misses", attack.misses, rate.miss()),
        ]
    });
    let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
    format!("{head}\n{}", columns([Left, Left, Right, Right, Right], &rows))
}

fn claim(audited: &AuditAnswer) -> String {
    let Some((name, refutation)) = &audited.claim else { return "none is given".to_owned() };
    let verdict = if refutation.refuted { "refuted" } else { "not refuted" };
    let claimed = match refutation.epsilon {
        Some(bracket) => format!("its epsilon at this delta is {}", wording::certified(bracket)),
        None => "it has no finite epsilon at this delta".to_owned(),
    };
    // A plan can exclude an attack although the attack's bound on this epsilon is not above the plan's epsilon.
    let within = refutation.epsilon.is_some_and(|bracket| audited.audit.epsilon <= bracket.upper);
    let how = if refutation.refuted && within {
        "\nno test of it has both error rates so low at once: see region"
    } else {
        ""
    };
    format!("{verdict}: {name}\n{claimed}{how}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint::Delta;
    use counterpoint::audit::{Attack, audit as certify};
    use counterpoint::quantity::Confidence;

    #[test]
    fn the_bound_comes_first_and_the_observations_last() {
        let tally = |count, trials| Tally::new(count, trials).unwrap();
        let attack = Attack { false_alarms: tally(0, 10), misses: tally(5, 10) };
        let delta = Delta::new(0.0).unwrap();
        let found = certify(&[attack], delta, Confidence::new(0.95).unwrap());
        let audited =
            AuditAnswer { attacks: vec![attack], audit: found, claim: None, warnings: Vec::new() };
        let text = super::audit(&audited);
        assert!(text.starts_with("epsilon     at least 0\ndelta       0 (given)\n"), "{text}");
        // The published bounds for 0 and 5 out of 10: 0.3085 and 0.8129.
        assert!(text.contains("1       false alarms     0  10      0.308"), "{text}");
        assert!(text.contains("misses           5  10      0.812"), "{text}");
        assert!(text.contains("claim       none is given\n"), "{text}");
        assert!(!audited.is_refuted());
    }

    #[test]
    fn a_claim_is_named() {
        let delta = Delta::new(0.0).unwrap();
        let found = certify(&[], delta, Confidence::new(0.95).unwrap());
        let refutation = found.refutes(&plan(), &counterpoint::Options::default()).unwrap();
        let claim = Some(("plan.toml".to_owned(), refutation));
        let audited =
            AuditAnswer { attacks: Vec::new(), audit: found, claim, warnings: Vec::new() };
        let text = super::audit(&audited);
        assert!(text.contains("claim       not refuted: plan.toml\n"), "{text}");
        assert!(
            text.contains("            its epsilon at this delta is 1 (certified, exact)"),
            "{text}"
        );
    }

    fn plan() -> counterpoint::Plan {
        let guarantee = counterpoint::Guarantee::pure(1.0).unwrap();
        counterpoint::Plan::new([(guarantee, counterpoint::Count::ONE)]).unwrap()
    }
}
