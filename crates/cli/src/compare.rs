//! `counterpoint compare`.

use anyhow::{Context, Result, bail};
use counterpoint::ask::PreciseGuarantee;
use counterpoint::ask::{Options, PrecisePlan};
use counterpoint::quantity::Bits;
use counterpoint::theorem::lattice::{self, Pair};
use counterpoint::theorem::{Bound, Theorem};
use counterpoint::watch::Watch;
use counterpoint::{Count, Delta, Guarantee, Plan};
use counterpoint_numerics::fractions::Ratio;
use counterpoint_wire::{Composed, Question};

use crate::args::{CompareArgs, Given};
use crate::compose::{self, AMOUNT};
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &CompareArgs, progress: &Progress) -> Result<Outcome> {
    let composed = match &args.plan {
        Some(path) => planned(path, args, progress).with_context(|| input::shown(path)),
        None => described(args, progress),
    }?;
    if args.json {
        Ok(Outcome::json(composed.compare_json()?))
    } else {
        Ok(Outcome::text(counterpoint_report::compare(&composed), composed.warnings))
    }
}

fn planned(path: &str, args: &CompareArgs, progress: &Progress) -> Result<Composed> {
    if let Some(bits) = args.bits {
        let plan = input::plan_as_written(path)?;
        let delta = delta(args, plan.question)?;
        let precise = plan
            .exactly()?
            .context("--bits is for (epsilon, delta) guarantees alone; legal: no --bits here")?;
        let asked = args.delta.as_ref().map_or_else(|| plan.asked_exactly(), exactly);
        let composed = precisely(&precise, delta, (asked, bits), progress)?;
        return Ok(Composed { warnings: plan.warnings(), ..composed });
    }
    let plan = input::plan(path, None)?;
    let delta = delta(args, plan.question)?;
    let (prepared, warnings) = (plan.prepare()?, plan.warnings());
    let pairs = pairs(args, plan.equal_guarantees())?;
    drop(plan);
    Ok(Composed { warnings, pairs, ..in_doubles(&prepared, delta, args, progress)? })
}

/// The releases described on the command line.
fn described(args: &CompareArgs, progress: &Progress) -> Result<Composed> {
    let (Some(epsilon), Some(count)) = (&args.epsilon, args.count) else {
        bail!("nothing to compare is given; legal: a PLAN, or --epsilon, --count and --delta");
    };
    let asked = delta(args, None)?;
    if let Some(bits) = args.bits {
        let release_delta = args.release_delta.as_ref().map_or(Some(Ratio::ZERO), exactly);
        let each = PreciseGuarantee {
            epsilon: exactly(epsilon).context(AMOUNT)?,
            delta: release_delta.context(AMOUNT)?,
            count: count.get(),
        };
        let exact = args.delta.as_ref().and_then(exactly);
        return precisely(&PrecisePlan::new([each])?, asked, (exact, bits), progress);
    }
    let delta = args.release_delta.as_ref().map_or(Delta::new(0.0), |given| Ok(given.value))?;
    let each = Guarantee { epsilon: epsilon.value, delta };
    let pairs = pairs(args, Some((each, count)))?;
    let plan = Plan::new([(each, count)])?;
    Ok(Composed { pairs, ..in_doubles(&plan, asked, args, progress)? })
}

fn exactly<T>(given: &Given<T>) -> Option<Ratio> {
    given.exact.clone()
}

/// The optimum and the theorems about the numbers that are written.
fn precisely(
    plan: &PrecisePlan,
    delta: Delta,
    (asked, bits): (Option<Ratio>, Bits),
    progress: &Progress,
) -> Result<Composed> {
    let callback = |fraction| progress.at(fraction);
    let theorems = [&Theorem::FORMULAS[..], &[Theorem::KovSimplified]].concat();
    let asked = (asked.context(AMOUNT)?, bits);
    let question = Question::EpsilonAt(delta);
    compose::precisely(plan, question, asked, &theorems, Watch::with(&callback))
}

/// The optimum and the theorems about the doubles next to them.
fn in_doubles(
    plan: &Plan,
    delta: Delta,
    args: &CompareArgs,
    progress: &Progress,
) -> Result<Composed> {
    let callback = |fraction| progress.at(fraction);
    let options = Options { watch: Watch::with(&callback), ..Options::default() };
    let mut composed = compose::compose(plan, Question::EpsilonAt(delta), &options)?;
    let simplified = Theorem::KovSimplified;
    let value = simplified.epsilon(plan, delta);
    composed.others.push(Bound { theorem: simplified, value });
    if let Some(eta) = args.eta {
        composed.others.push(Bound::within(plan, delta, eta, options.watch)?);
    }
    Ok(composed)
}

/// The delta on the command line, or else the plan's.
fn delta(args: &CompareArgs, plan: Option<Question>) -> Result<Delta> {
    let planned = match plan {
        Some(Question::EpsilonAt(delta)) => Some(delta),
        _ => None,
    };
    args.delta.as_ref().map(|given| given.value).or(planned).context(
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
