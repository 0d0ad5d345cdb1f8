//! `counterpoint compose`.

use anyhow::{Context, Result, anyhow, bail};
use counterpoint::Route;
use counterpoint::ask::{AskError, Options, PrecisePlan, RequestedEnds};
use counterpoint::quantity::Bits;
use counterpoint::region::Assumptions;
use counterpoint::theorem::Theorem;
use counterpoint::watch::Watch;
use counterpoint::{Epsilon, Plan};
use counterpoint_numerics::fractions::Ratio;
use counterpoint_wire::{ExactNumber, Losses, PlanAnswer, PlanReadings, Question};

use crate::args::ComposeArgs;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

/// The default precision of the precise route.
const PRECISE_BITS: u64 = 64;

pub(crate) fn run(args: &ComposeArgs, progress: &Progress) -> Result<Outcome> {
    let bits = bits(args)?;
    outcome(args, bits, progress).with_context(|| input::input_name(&args.plan))
}

fn outcome(args: &ComposeArgs, bits: Option<Bits>, progress: &Progress) -> Result<Outcome> {
    let callback = |fraction| progress.report(fraction);
    let watch = Watch::new(&callback);
    if args.losses {
        return losses(args, watch);
    }
    if args.readings {
        return readings(args, watch);
    }
    let composed = match bits {
        Some(bits) => compose_exactly(args, bits, watch)?,
        None => compose_doubles(args, watch)?,
    };
    if args.json {
        Ok(Outcome::json(composed.compose_json()?))
    } else {
        Ok(Outcome::text(counterpoint_report::compose(&composed), composed.warnings))
    }
}

/// Describes the privacy loss. Needs no question.
fn losses(args: &ComposeArgs, watch: Watch<'_>) -> Result<Outcome> {
    let plan = input::plan(&args.plan, None)?;
    let (warnings, prepared) = (plan.warnings(), plan.prepare()?);
    let tolerance = args.tolerance.unwrap_or_default();
    let options = Options { tolerance, route: None, watch, ends: RequestedEnds::Both };
    let losses = Losses { warnings, ..Losses::of(&prepared, &options)? };
    if args.json {
        return Ok(Outcome::json(losses.json()?));
    }
    Ok(Outcome::text(counterpoint_report::losses(&losses), losses.warnings))
}

/// Says what the plan means for people. Needs no question.
fn readings(args: &ComposeArgs, watch: Watch<'_>) -> Result<Outcome> {
    let plan = input::plan(&args.plan, None)?;
    let (warnings, prepared) = (plan.warnings(), plan.prepare()?);
    let tolerance = args.tolerance.unwrap_or_default();
    let options = Options { tolerance, route: None, watch, ends: RequestedEnds::Both };
    let assumptions = Assumptions {
        prior: args.prior.unwrap_or(Assumptions::default().prior),
        chance: args.chance.unwrap_or(Assumptions::default().chance),
        floor: args.floor.unwrap_or_default(),
    };
    let readings = PlanReadings { readings: prepared.readings(assumptions, &options)?, warnings };
    if args.json {
        return Ok(Outcome::json(readings.json()?));
    }
    Ok(Outcome::text(counterpoint_report::readings(&readings), readings.warnings))
}

/// Answers for the doubles nearest to the written numbers.
fn compose_doubles(args: &ComposeArgs, watch: Watch<'_>) -> Result<PlanAnswer> {
    let plan = input::plan(&args.plan, None)?;
    let question = question(args, plan.question)?;
    let (warnings, prepared) = (plan.warnings(), plan.prepare()?);
    drop(plan);
    let tolerance = args.tolerance.unwrap_or_default();
    let options = Options { tolerance, route: args.route, watch, ends: RequestedEnds::Both };
    Ok(PlanAnswer { warnings, ..compose(&prepared, question, &options)? })
}

/// Answers in arbitrary precision for the written numbers (MV section 2).
fn compose_exactly(args: &ComposeArgs, bits: Bits, watch: Watch<'_>) -> Result<PlanAnswer> {
    let plan = input::exact_numbers_plan(&args.plan)?;
    let question = question(args, plan.question)?;
    let prepared = plan.prepare()?;
    let Some(precise) = plan.precise_plan()? else {
        return Err(precise_route_error(args, &prepared));
    };
    let asked = match (&args.delta, &args.epsilon) {
        (Some(given), _) => given.exact.clone(),
        (None, Some(given)) => given.exact.clone(),
        (None, None) => plan.exact_question_number(),
    };
    let asked = asked.context(NOT_AN_AMOUNT)?;
    let composed = compose_precisely(&precise, question, (asked, bits), &Theorem::FORMULAS, watch)?;
    Ok(PlanAnswer { warnings: plan.warnings(), ..composed })
}

/// The error for a number that is not an amount.
pub(crate) const NOT_AN_AMOUNT: &str = "--bits requires an exact epsilon or delta; legal: a decimal, a fraction or a power, such as 0.3, 1e-6, 1/3 or 2^-25";

/// Computes the optimum to `bits`, and the theorems' costs, from fractions.
pub(crate) fn compose_precisely(
    plan: &PrecisePlan,
    question: Question,
    (asked, bits): (Ratio, Bits),
    theorems: &[Theorem],
    watch: Watch<'_>,
) -> Result<PlanAnswer> {
    let (answer, others) = match question {
        Question::EpsilonAt(_) => {
            (plan.epsilon(&asked, bits, watch)?, plan.compare(&asked, theorems)?)
        }
        Question::DeltaAt(_) => {
            (plan.delta(&asked, bits, watch)?, plan.compare_delta(&asked, theorems)?)
        }
    };
    let composed = PlanAnswer::precise(question, &answer, others);
    Ok(PlanAnswer { given: ExactNumber::new(asked), ..composed })
}

/// The precision for the precise route, if that route was chosen.
fn bits(args: &ComposeArgs) -> Result<Option<Bits>> {
    match (args.bits, args.route) {
        (Some(_), Some(route)) if route != Route::Precise => {
            bail!("--bits is given with --route {route}; legal: --route precise, or no --route")
        }
        (Some(bits), _) => Ok(Some(bits)),
        (None, Some(Route::Precise)) => Ok(Some(Bits::new(PRECISE_BITS)?)),
        (None, _) => Ok(None),
    }
}

/// The error for a plan that the precise route cannot compose; it names the option that was used.
fn precise_route_error(args: &ComposeArgs, plan: &Plan) -> anyhow::Error {
    let options = Options { route: Some(Route::Precise), ..Options::default() };
    let forced = Epsilon::new(0.0).map(|epsilon| plan.delta(epsilon, &options));
    match forced {
        Ok(Err(refusal)) if args.route.is_some() => refusal.into(),
        _ => anyhow!(
            "--bits is given with a plan that has other mechanisms than (epsilon, delta) guarantees; legal: no --bits"
        ),
    }
}

/// The question on the command line, or else the plan's.
fn question(args: &ComposeArgs, plan: Option<Question>) -> Result<Question> {
    let delta = args.delta.as_ref().map(|given| Question::EpsilonAt(given.value));
    let epsilon = args.epsilon.as_ref().map(|given| Question::DeltaAt(given.value));
    delta
        .or(epsilon)
        .or(plan)
        .context("neither delta nor epsilon is given; legal: delta or epsilon in the plan, or --delta or --epsilon")
}

/// Computes the optimum and the costs by named theorems.
pub(crate) fn compose(
    plan: &Plan,
    question: Question,
    options: &Options<'_>,
) -> Result<PlanAnswer, AskError> {
    let comparison = match question {
        Question::EpsilonAt(delta) => plan.compare(delta, options),
        Question::DeltaAt(epsilon) => plan.compare_delta(epsilon, options),
    };
    comparison.map(|comparison| PlanAnswer::new(question, &comparison))
}
