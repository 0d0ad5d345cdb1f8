//! `counterpoint compare`.

use anyhow::{Context, Result, bail};
use counterpoint::ask::PreciseGuarantee;
use counterpoint::ask::{Options, PrecisePlan};
use counterpoint::quantity::Bits;
use counterpoint::theorem::lattice::{self, CompositionGuarantee};
use counterpoint::theorem::{Bound, Theorem};
use counterpoint::watch::Watch;
use counterpoint::{Count, Delta, Guarantee, Plan};
use counterpoint_numerics::fractions::Ratio;
use counterpoint_wire::{PlanAnswer, Question};

use crate::args::{CompareArgs, WrittenNumber};
use crate::compose::{self, NOT_AN_AMOUNT};
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &CompareArgs, progress: &Progress) -> Result<Outcome> {
    let composed = match &args.plan {
        Some(path) => compare_plan(path, args, progress).with_context(|| input::input_name(path)),
        None => compare_guarantees(args, progress),
    }?;
    if args.json {
        Ok(Outcome::json(composed.compare_json()?))
    } else {
        Ok(Outcome::text(counterpoint_report::compare(&composed), composed.warnings))
    }
}

fn compare_plan(path: &str, args: &CompareArgs, progress: &Progress) -> Result<PlanAnswer> {
    if let Some(bits) = args.bits {
        let plan = input::exact_numbers_plan(path)?;
        let delta = delta(args, plan.question)?;
        let precise = plan
            .precise_plan()?
            .context("--bits is given with a plan that has other mechanisms than (epsilon, delta) guarantees; legal: no --bits")?;
        let asked = args.delta.as_ref().map_or_else(|| plan.exact_question_number(), exact_value);
        let composed = compose_precisely(&precise, delta, (asked, bits), progress)?;
        return Ok(PlanAnswer { warnings: plan.warnings(), ..composed });
    }
    let plan = input::plan(path, None)?;
    let delta = delta(args, plan.question)?;
    let (prepared, warnings) = (plan.prepare()?, plan.warnings());
    let pairs = pairs(args, plan.equal_guarantees())?;
    drop(plan);
    Ok(PlanAnswer { warnings, pairs, ..compose_doubles(&prepared, delta, args, progress)? })
}

/// The releases described on the command line.
fn compare_guarantees(args: &CompareArgs, progress: &Progress) -> Result<PlanAnswer> {
    let (Some(epsilon), Some(count)) = (&args.epsilon, args.count) else {
        bail!(
            "neither a plan nor a guarantee is given; legal: PLAN, or --epsilon, --count and --delta"
        );
    };
    let asked = delta(args, None)?;
    if let Some(bits) = args.bits {
        let release_delta = args.release_delta.as_ref().map_or(Some(Ratio::ZERO), exact_value);
        let each = PreciseGuarantee {
            epsilon: exact_value(epsilon).context(NOT_AN_AMOUNT)?,
            delta: release_delta.context(NOT_AN_AMOUNT)?,
            count: count.get(),
        };
        let exact = args.delta.as_ref().and_then(exact_value);
        return compose_precisely(&PrecisePlan::new([each])?, asked, (exact, bits), progress);
    }
    let delta = args.release_delta.as_ref().map_or(Delta::new(0.0), |given| Ok(given.value))?;
    let each = Guarantee { epsilon: epsilon.value, delta };
    let pairs = pairs(args, Some((each, count)))?;
    let plan = Plan::new([(each, count)])?;
    Ok(PlanAnswer { pairs, ..compose_doubles(&plan, asked, args, progress)? })
}

fn exact_value<T>(given: &WrittenNumber<T>) -> Option<Ratio> {
    given.exact.clone()
}

/// Computes the optimum and the theorems' costs from the written numbers.
fn compose_precisely(
    plan: &PrecisePlan,
    delta: Delta,
    (asked, bits): (Option<Ratio>, Bits),
    progress: &Progress,
) -> Result<PlanAnswer> {
    let callback = |fraction| progress.report(fraction);
    let theorems = [&Theorem::FORMULAS[..], &[Theorem::KovSimplified]].concat();
    let asked = (asked.context(NOT_AN_AMOUNT)?, bits);
    let question = Question::EpsilonAt(delta);
    compose::compose_precisely(plan, question, asked, &theorems, Watch::new(&callback))
}

/// Computes the optimum and the theorems' costs from the nearest doubles.
fn compose_doubles(
    plan: &Plan,
    delta: Delta,
    args: &CompareArgs,
    progress: &Progress,
) -> Result<PlanAnswer> {
    let callback = |fraction| progress.report(fraction);
    let options = Options { watch: Watch::new(&callback), ..Options::default() };
    let mut composed = compose::compose(plan, Question::EpsilonAt(delta), &options)?;
    let simplified = Theorem::KovSimplified;
    let value = simplified.epsilon(plan, delta);
    composed.others.push(Bound { theorem: simplified, value });
    if let Some(eta) = args.eta {
        composed.others.push(Bound::approximation(plan, delta, eta, options.watch)?);
    }
    Ok(composed)
}

/// The delta on the command line, or else the plan's.
fn delta(args: &CompareArgs, plan: Option<Question>) -> Result<Delta> {
    let planned = match plan {
        Some(Question::EpsilonAt(delta)) => Some(delta),
        _ => None,
    };
    args.delta
        .as_ref()
        .map(|given| given.value)
        .or(planned)
        .context("delta is missing; legal: delta in the plan, or --delta")
}

/// The most guarantees whose pairs are listed.
const MAX_PAIRS: u64 = 20_000;

/// The pairs of KOV Theorem III.3, if they were requested.
fn pairs(
    args: &CompareArgs,
    equal: Option<(Guarantee, Count)>,
) -> Result<Vec<CompositionGuarantee>> {
    if !args.pairs {
        return Ok(Vec::new());
    }
    let (each, count) = equal
        .context("--pairs is given with releases that differ; legal: the same (epsilon, delta) for all releases")?;
    if count.get() > MAX_PAIRS {
        bail!(
            "--pairs is given with {count} releases; legal: at most {MAX_PAIRS}",
            count = count.get()
        );
    }
    Ok(lattice::guarantees(each, count).collect())
}
