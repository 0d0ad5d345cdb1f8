//! `counterpoint compose`.

use anyhow::{Context, Result, anyhow, bail};
use counterpoint::Plan;
use counterpoint::ask::{AskError, Asked, Options};
use counterpoint::quantity::Bits;
use counterpoint::route::Route;
use counterpoint::theorem::{Bound, Theorem};
use counterpoint::watch::Watch;
use counterpoint_wire::{Composed, Question};

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
    let plan = input::plan(&args.plan, None)?;
    let question = question(args, plan.question)?;
    let warnings = plan.warnings();
    let prepared = plan.prepare()?;
    drop(plan);
    let callback = |fraction| progress.at(fraction);
    let watch = Watch::with(&callback);
    let tolerance = args.tolerance.unwrap_or_default();
    let composed = match bits {
        Some(bits) => to_bits(&prepared, question, bits, watch)
            .map_err(|error| in_bits(args, error, &prepared))?,
        None => compose(
            &prepared,
            question,
            &Options { tolerance, route: args.route, watch, ends: Asked::Both },
        )?,
    };
    let composed = Composed { warnings, ..composed };
    if args.json {
        Ok(Outcome::json(composed.compose_json()?))
    } else {
        Ok(Outcome::text(counterpoint_report::compose(&composed), composed.warnings))
    }
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
fn in_bits(args: &ComposeArgs, error: AskError, plan: &Plan) -> anyhow::Error {
    match error {
        AskError::RouteDoesNotApply { .. } if args.route.is_none() && !plan.is_guarantees() => {
            anyhow!("--bits is for (epsilon, delta) guarantees alone; legal: no --bits here")
        }
        error => error.into(),
    }
}

/// The question on the command line, or else the plan's.
fn question(args: &ComposeArgs, plan: Option<Question>) -> Result<Question> {
    let asked = args.delta.map(Question::EpsilonAt).or(args.epsilon.map(Question::DeltaAt));
    asked
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

/// The optimum in arbitrary precision, and what the named theorems charge.
fn to_bits(
    plan: &Plan,
    question: Question,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<Composed, AskError> {
    let answer = match question {
        Question::EpsilonAt(delta) => plan.epsilon_to_bits(delta, bits, watch),
        Question::DeltaAt(epsilon) => plan.delta_to_bits(epsilon, bits, watch),
    }?;
    let charge = |theorem: Theorem| Bound {
        theorem,
        value: match question {
            Question::EpsilonAt(delta) => theorem.epsilon(plan, delta),
            Question::DeltaAt(epsilon) => theorem.delta(plan, epsilon),
        },
    };
    Ok(Composed::precise(question, &answer, Theorem::FORMULAS.map(charge).into()))
}
