//! `counterpoint audit`.

use anyhow::{Context, Result, bail};
use counterpoint::ask::Options;
use counterpoint::audit::{Attack, Audit, Refutation, audit};
use counterpoint::watch::Watch;
use counterpoint_wire::AuditAnswer;

use crate::args::AuditArgs;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &AuditArgs, progress: &Progress) -> Result<Outcome> {
    let attacks = attacks(args)?;
    let found = audit(&attacks, args.delta, args.confidence);
    let (claim, warnings) = match &args.claim {
        None => (None, Vec::new()),
        Some(path) => {
            let tested =
                test_claim(path, &found, progress).with_context(|| input::input_name(path));
            let (refutation, warnings) = tested?;
            (Some((input::input_name(path), refutation)), warnings)
        }
    };
    let audited = AuditAnswer { attacks, audit: found, claim, warnings };
    let refuted = audited.is_refuted();
    let outcome = if args.json {
        Outcome::json(audited.json()?)
    } else {
        Outcome::text(counterpoint_report::audit(&audited), audited.warnings)
    };
    Ok(if refuted { outcome.into_no() } else { outcome })
}

/// The attacks, each with its false alarms and its misses.
fn attacks(args: &AuditArgs) -> Result<Vec<Attack>> {
    let (alarms, misses) = (&args.false_alarms, &args.misses);
    if alarms.len() != misses.len() {
        bail!(
            "--false-alarms is given {} times and --misses {} times; legal: the same number of times",
            alarms.len(),
            misses.len()
        );
    }
    let both = alarms.iter().zip(misses);
    Ok(both.map(|(&false_alarms, &misses)| Attack { false_alarms, misses }).collect())
}

/// Tests the claimed plan.
fn test_claim(path: &str, found: &Audit, progress: &Progress) -> Result<(Refutation, Vec<String>)> {
    let plan = input::plan(path, None)?;
    let (prepared, warnings) = (plan.prepare()?, plan.warnings());
    drop(plan);
    let callback = |fraction| progress.report(fraction);
    let options = Options { watch: Watch::new(&callback), ..Options::default() };
    Ok((found.refutes(&prepared, &options)?, warnings))
}
