//! `counterpoint compose`.

use anyhow::{Context, Result, bail};
use counterpoint::ask::{self, AskError, Bits, Options, PreciseAnswer};
use counterpoint::route::Route;
use counterpoint::theorem::Theorem;
use counterpoint::watch::Watch;
use counterpoint::{Composition, Plan};
use counterpoint_wire::{Charge, Composed, Question};

use crate::args::ComposeArgs;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

/// The precision of the precise route where none is asked for.
const PRECISE_BITS: u64 = 64;

/// The routes that are for plans of any mechanisms; the rest is for guarantees.
const MECHANISM_ROUTES: [Route; 3] = [Route::Contour, Route::Lattice, Route::Renyi];

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
        Some(bits) => to_bits(&prepared, question, bits, watch)?,
        None => compose(&prepared, question, &Options { tolerance, route: args.route, watch })?,
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
    if let Some(route) = options.route.filter(|route| !MECHANISM_ROUTES.contains(route)) {
        guarantees(plan, route)?;
    }
    let comparison = match question {
        Question::EpsilonAt(delta) => plan.compare(delta, options),
        Question::DeltaAt(epsilon) => plan.compare_delta(epsilon, options),
    };
    comparison.map(|comparison| Composed::new(question, &comparison))
}

/// The plan as (epsilon, delta) guarantees, which some routes need.
fn guarantees(plan: &Plan, route: Route) -> Result<&Composition, AskError> {
    plan.guarantees().ok_or_else(|| AskError::RouteDoesNotApply {
        route,
        reason: "the plan has more than (epsilon, delta) guarantees; legal: contour, lattice"
            .into(),
    })
}

/// The optimum in arbitrary precision, and what the named theorems charge.
fn to_bits(
    plan: &Plan,
    question: Question,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<Composed, AskError> {
    let composition = guarantees(plan, Route::Precise)?;
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
