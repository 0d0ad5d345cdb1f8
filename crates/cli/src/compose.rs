//! `counterpoint compose`.

use anyhow::{Context, Result, bail};
use counterpoint::Composition;
use counterpoint::ask::{self, AskError, Bits, Options, PreciseAnswer};
use counterpoint::route::Route;
use counterpoint::theorem::Theorem;
use counterpoint::watch::Watch;
use counterpoint_wire::{Charge, Composed, Question};

use crate::args::ComposeArgs;
use crate::input;
use crate::progress::Progress;

/// The precision of the precise route where none is asked for.
const PRECISE_BITS: u64 = 64;

pub(crate) fn run(args: &ComposeArgs, progress: &Progress) -> Result<String> {
    let bits = bits(args)?;
    text(args, bits, progress).with_context(|| input::shown(&args.plan))
}

fn text(args: &ComposeArgs, bits: Option<Bits>, progress: &Progress) -> Result<String> {
    let plan = input::plan(&args.plan)?;
    let question = question(args, plan.question)?;
    let composition = plan.composition()?;
    drop(plan);
    let callback = |fraction| progress.at(fraction);
    let watch = Watch::with(&callback);
    let tolerance = args.tolerance.unwrap_or_default();
    let composed = match bits {
        Some(bits) => to_bits(&composition, question, bits, watch)?,
        None => compose(&composition, question, &Options { tolerance, route: args.route, watch })?,
    };
    if args.json {
        Ok(composed.compose_json()? + "\n")
    } else {
        Ok(counterpoint_report::compose(&composed))
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

/// The question on the command line, or else the plan's.
fn question(args: &ComposeArgs, plan: Option<Question>) -> Result<Question> {
    let asked = args.delta.map(Question::EpsilonAt).or(args.epsilon.map(Question::DeltaAt));
    asked
        .or(plan)
        .context("nothing is asked; legal: delta or epsilon in the plan, or --delta or --epsilon")
}

/// The optimum, and what the named theorems charge.
pub(crate) fn compose(
    composition: &Composition,
    question: Question,
    options: &Options<'_>,
) -> Result<Composed, AskError> {
    let comparison = match question {
        Question::EpsilonAt(delta) => ask::compare(composition, delta, options),
        Question::DeltaAt(epsilon) => ask::compare_delta(composition, epsilon, options),
    };
    comparison.map(|comparison| Composed::new(question, &comparison))
}

/// The optimum in arbitrary precision, and what the named theorems charge.
fn to_bits(
    composition: &Composition,
    question: Question,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<Composed, AskError> {
    let answer = precise(composition, question, bits, watch)?;
    let others = Theorem::FORMULAS.map(|theorem| Charge {
        theorem,
        value: match question {
            Question::EpsilonAt(delta) => theorem.epsilon(composition, delta),
            Question::DeltaAt(epsilon) => theorem.delta(composition, epsilon),
        }
        .map_err(|inapplicable| inapplicable.reason),
    });
    Ok(Composed::precise(question, &answer, others.into()))
}

fn precise(
    composition: &Composition,
    question: Question,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<PreciseAnswer, AskError> {
    match question {
        Question::EpsilonAt(delta) => ask::epsilon_to_bits(composition, delta, bits, watch),
        Question::DeltaAt(epsilon) => ask::delta_to_bits(composition, epsilon, bits, watch),
    }
}
