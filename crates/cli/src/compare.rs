//! `counterpoint compare`.

use anyhow::{Context, Result, bail};
use counterpoint::ask::Options;
use counterpoint::watch::Watch;
use counterpoint::{Composition, Delta, Guarantee};
use counterpoint_wire::Question;

use crate::args::CompareArgs;
use crate::compose::compose;
use crate::input;
use crate::progress::Progress;

pub(crate) fn run(args: &CompareArgs, progress: &Progress) -> Result<String> {
    match &args.plan {
        Some(path) => planned(path, args, progress).with_context(|| input::shown(path)),
        None => text(&described(args)?, delta(args, None)?, args, progress),
    }
}

fn planned(path: &str, args: &CompareArgs, progress: &Progress) -> Result<String> {
    let plan = input::plan(path)?;
    let delta = delta(args, plan.question)?;
    let composition = plan.composition()?;
    drop(plan);
    text(&composition, delta, args, progress)
}

fn text(
    composition: &Composition,
    delta: Delta,
    args: &CompareArgs,
    progress: &Progress,
) -> Result<String> {
    let callback = |fraction| progress.at(fraction);
    let options = Options { watch: Watch::with(&callback), ..Options::default() };
    let composed = compose(composition, Question::EpsilonAt(delta), &options)?;
    if args.json {
        Ok(composed.compare_json()? + "\n")
    } else {
        Ok(counterpoint_report::compare(&composed))
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
fn described(args: &CompareArgs) -> Result<Composition> {
    let (Some(epsilon), Some(count)) = (args.epsilon, args.count) else {
        bail!("nothing to compare is given; legal: a PLAN, or --epsilon, --count and --delta");
    };
    let delta = args.release_delta.map_or(Delta::new(0.0), Ok)?;
    Ok(Composition::new([(Guarantee { epsilon, delta }, count)])?)
}
