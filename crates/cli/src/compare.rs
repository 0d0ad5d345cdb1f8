//! `counterpoint compare`.

use anyhow::{Context, Result, bail};
use counterpoint::ask::Options;
use counterpoint::theorem::lattice::{self, Pair};
use counterpoint::theorem::{Bound, Theorem};
use counterpoint::watch::Watch;
use counterpoint::{Count, Delta, Guarantee, Plan};
use counterpoint_wire::Question;

use crate::args::CompareArgs;
use crate::compose::compose;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &CompareArgs, progress: &Progress) -> Result<Outcome> {
    match &args.plan {
        Some(path) => planned(path, args, progress).with_context(|| input::shown(path)),
        None => {
            let (each, count) = described(args)?;
            let plan = Plan::new([(each, count)])?;
            let pairs = pairs(args, Some((each, count)))?;
            outcome(&plan, (Vec::new(), pairs), delta(args, None)?, args, progress)
        }
    }
}

fn planned(path: &str, args: &CompareArgs, progress: &Progress) -> Result<Outcome> {
    let plan = input::plan(path, None)?;
    let delta = delta(args, plan.question)?;
    let (prepared, warnings) = (plan.prepare()?, plan.warnings());
    let pairs = pairs(args, plan.equal_guarantees())?;
    drop(plan);
    outcome(&prepared, (warnings, pairs), delta, args, progress)
}

fn outcome(
    plan: &Plan,
    (warnings, pairs): (Vec<String>, Vec<Pair>),
    delta: Delta,
    args: &CompareArgs,
    progress: &Progress,
) -> Result<Outcome> {
    let callback = |fraction| progress.at(fraction);
    let options = Options { watch: Watch::with(&callback), ..Options::default() };
    let mut composed = compose(plan, Question::EpsilonAt(delta), &options)?;
    (composed.warnings, composed.pairs) = (warnings, pairs);
    let simplified = Theorem::KovSimplified;
    let value = simplified.epsilon(plan, delta);
    composed.others.push(Bound { theorem: simplified, value });
    if let Some(eta) = args.eta {
        composed.others.push(Bound::within(plan, delta, eta, options.watch)?);
    }
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

/// So many guarantees have no more pairs than people look at.
const MOST_PAIRS: u64 = 20_000;

/// The pairs of KOV Theorem III.3, if they are wanted.
fn pairs(args: &CompareArgs, equal: Option<(Guarantee, Count)>) -> Result<Vec<Pair>> {
    if !args.pairs {
        return Ok(Vec::new());
    }
    let (each, count) = equal
        .context("--pairs is for equal guarantees; legal: one (epsilon, delta) for all releases")?;
    if count.get() > MOST_PAIRS {
        bail!(
            "--pairs is for few releases, and there are {count}; legal: at most {MOST_PAIRS}",
            count = count.get()
        );
    }
    Ok(lattice::pairs(each, count).collect())
}

/// The releases described on the command line.
fn described(args: &CompareArgs) -> Result<(Guarantee, Count)> {
    let (Some(epsilon), Some(count)) = (args.epsilon, args.count) else {
        bail!("nothing to compare is given; legal: a PLAN, or --epsilon, --count and --delta");
    };
    let delta = args.release_delta.map_or(Delta::new(0.0), Ok)?;
    Ok((Guarantee { epsilon, delta }, count))
}
