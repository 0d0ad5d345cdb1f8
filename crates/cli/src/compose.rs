//! `counterpoint compose`.

use anyhow::{Context, Result, anyhow, bail};
use counterpoint::Route;
use counterpoint::ask::{AskError, Asked, Options, PrecisePlan};
use counterpoint::quantity::Bits;
use counterpoint::theorem::Theorem;
use counterpoint::watch::Watch;
use counterpoint::{Epsilon, Plan};
use counterpoint_numerics::fractions::Ratio;
use counterpoint_wire::{Composed, Losses, Question, Written};

use crate::args::ComposeArgs;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

/// The precision of the precise route where none is asked for.
const PRECISE_BITS: u64 = 64;

pub(crate) fn run(args: &ComposeArgs, progress: &Progress) -> Result<Outcome> {
    let bits = bits(args)?;
    outcome(args, bits, progress).with_context(|| input::shown(&args.plan))
}

fn outcome(args: &ComposeArgs, bits: Option<Bits>, progress: &Progress) -> Result<Outcome> {
    let callback = |fraction| progress.at(fraction);
    let watch = Watch::with(&callback);
    if args.losses {
        return losses(args, watch);
    }
    let composed = match bits {
        Some(bits) => as_written(args, bits, watch)?,
        None => in_doubles(args, watch)?,
    };
    if args.json {
        Ok(Outcome::json(composed.compose_json()?))
    } else {
        Ok(Outcome::text(counterpoint_report::compose(&composed), composed.warnings))
    }
}

/// The privacy loss itself; nothing need be asked.
fn losses(args: &ComposeArgs, watch: Watch<'_>) -> Result<Outcome> {
    let plan = input::plan(&args.plan, None)?;
    let (warnings, prepared) = (plan.warnings(), plan.prepare()?);
    let tolerance = args.tolerance.unwrap_or_default();
    let options = Options { tolerance, route: None, watch, ends: Asked::Both };
    let losses = Losses { warnings, ..Losses::of(&prepared, &options)? };
    if args.json {
        return Ok(Outcome::json(losses.json()?));
    }
    Ok(Outcome::text(counterpoint_report::losses(&losses), losses.warnings))
}

/// The answer about the doubles next to what is written.
fn in_doubles(args: &ComposeArgs, watch: Watch<'_>) -> Result<Composed> {
    let plan = input::plan(&args.plan, None)?;
    let question = question(args, plan.question)?;
    let (warnings, prepared) = (plan.warnings(), plan.prepare()?);
    drop(plan);
    let tolerance = args.tolerance.unwrap_or_default();
    let options = Options { tolerance, route: args.route, watch, ends: Asked::Both };
    Ok(Composed { warnings, ..compose(&prepared, question, &options)? })
}

/// The answer in arbitrary precision, about the numbers that are written (MV section 2).
fn as_written(args: &ComposeArgs, bits: Bits, watch: Watch<'_>) -> Result<Composed> {
    let plan = input::plan_as_written(&args.plan)?;
    let question = question(args, plan.question)?;
    let prepared = plan.prepare()?;
    let Some(precise) = plan.exactly()? else { return Err(refused(args, &prepared)) };
    let asked = match (&args.delta, &args.epsilon) {
        (Some(given), _) => given.exact.clone(),
        (None, Some(given)) => given.exact.clone(),
        (None, None) => plan.asked_exactly(),
    };
    let asked = asked.context(AMOUNT)?;
    let composed = precisely(&precise, question, (asked, bits), &Theorem::FORMULAS, watch)?;
    Ok(Composed { warnings: plan.warnings(), ..composed })
}

/// What is said where a number is no amount.
pub(crate) const AMOUNT: &str =
    "--bits needs what is asked as an amount; legal: such as 0.3, 1e-6, 1/3 or 2^-25";

/// The optimum to so many bits, and what theorems charge, for fractions.
pub(crate) fn precisely(
    plan: &PrecisePlan,
    question: Question,
    (asked, bits): (Ratio, Bits),
    theorems: &[Theorem],
    watch: Watch<'_>,
) -> Result<Composed> {
    let (answer, others) = match question {
        Question::EpsilonAt(_) => {
            (plan.epsilon(&asked, bits, watch)?, plan.compare(&asked, theorems)?)
        }
        Question::DeltaAt(_) => {
            (plan.delta(&asked, bits, watch)?, plan.compare_delta(&asked, theorems)?)
        }
    };
    let composed = Composed::precise(question, &answer, others);
    Ok(Composed { given: Written::new(asked), ..composed })
}

/// The bits to compute to, if the precise route is to be taken.
fn bits(args: &ComposeArgs) -> Result<Option<Bits>> {
    match (args.bits, args.route) {
        (Some(_), Some(route)) if route != Route::Precise => {
            bail!("--bits is given with --route {route}; legal: --route precise, or none")
        }
        (Some(bits), _) => Ok(Some(bits)),
        (None, Some(Route::Precise)) => Ok(Some(Bits::new(PRECISE_BITS)?)),
        (None, _) => Ok(None),
    }
}

/// A refusal in the words of the option that was used.
fn refused(args: &ComposeArgs, plan: &Plan) -> anyhow::Error {
    let options = Options { route: Some(Route::Precise), ..Options::default() };
    let forced = Epsilon::new(0.0).map(|epsilon| plan.delta(epsilon, &options));
    match forced {
        Ok(Err(refusal)) if args.route.is_some() => refusal.into(),
        _ => anyhow!("--bits is for (epsilon, delta) guarantees alone; legal: no --bits here"),
    }
}

/// The question on the command line, or else the plan's.
fn question(args: &ComposeArgs, plan: Option<Question>) -> Result<Question> {
    let delta = args.delta.as_ref().map(|given| Question::EpsilonAt(given.value));
    let epsilon = args.epsilon.as_ref().map(|given| Question::DeltaAt(given.value));
    delta
        .or(epsilon)
        .or(plan)
        .context("nothing is asked; legal: delta or epsilon in the plan, or --delta or --epsilon")
}

/// The optimum, and what the named theorems charge.
pub(crate) fn compose(
    plan: &Plan,
    question: Question,
    options: &Options<'_>,
) -> Result<Composed, AskError> {
    let comparison = match question {
        Question::EpsilonAt(delta) => plan.compare(delta, options),
        Question::DeltaAt(epsilon) => plan.compare_delta(epsilon, options),
    };
    comparison.map(|comparison| Composed::new(question, &comparison))
}
