//! `counterpoint compare`.

use anyhow::{Context, Result, bail};
use counterpoint::ask::Options;
use counterpoint::watch::Watch;
use counterpoint::{Delta, Guarantee, Plan};
use counterpoint_wire::{Composed, Question};

use crate::args::CompareArgs;
use crate::compose::compose;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &CompareArgs, progress: &Progress) -> Result<Outcome> {
    match &args.plan {
        Some(path) => planned(path, args, progress).with_context(|| input::shown(path)),
        None => outcome(&described(args)?, Vec::new(), delta(args, None)?, args, progress),
    }
}

fn planned(path: &str, args: &CompareArgs, progress: &Progress) -> Result<Outcome> {
    let plan = input::plan(path, None)?;
    let delta = delta(args, plan.question)?;
    let (prepared, warnings) = (plan.prepare()?, plan.warnings());
    drop(plan);
    outcome(&prepared, warnings, delta, args, progress)
}

fn outcome(
    plan: &Plan,
    warnings: Vec<String>,
    delta: Delta,
    args: &CompareArgs,
    progress: &Progress,
) -> Result<Outcome> {
    let callback = |fraction| progress.at(fraction);
    let options = Options { watch: Watch::with(&callback), ..Options::default() };
    let composed = compose(plan, Question::EpsilonAt(delta), &options)?;
    let composed = Composed { warnings, ..composed };
    if args.json {
        Ok(Outcome::json(composed.compare_json()?))
    } else {
        Ok(Outcome::text(counterpoint_report::compare(&composed), composed.warnings))
    }
}

/// The delta on the command line, or else the plan's.
fn delta(args: &CompareArgs, plan: Option<Question>) -> Result<Delta> {
    let planned = match plan {
        Some(Question::EpsilonAt(delta)) => Some(delta),
        _ => None,
    };
    args.delta.or(planned).context(
        "compare asks for epsilon at a delta, and none is given; \
         legal: delta in the plan, or --delta",
    )
}

/// The releases described on the command line.
fn described(args: &CompareArgs) -> Result<Plan> {
    let (Some(epsilon), Some(count)) = (args.epsilon, args.count) else {
        bail!("nothing to compare is given; legal: a PLAN, or --epsilon, --count and --delta");
    };
    let delta = args.release_delta.map_or(Delta::new(0.0), Ok)?;
    Ok(Plan::new([(Guarantee { epsilon, delta }, count)])?)
}
