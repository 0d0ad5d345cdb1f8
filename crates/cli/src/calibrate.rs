//! `counterpoint calibrate`.

use anyhow::{Context, Result, anyhow, bail};
use counterpoint::ask::{AskError, CalibrateError, Options, Search, calibrate};
use counterpoint::watch::Watch;
use counterpoint::{Delta, Epsilon, Release};
use counterpoint_wire::{Blank, Calibrated, OutOfReach, Plan, Question};

use crate::args::CalibrateArgs;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &CalibrateArgs, progress: &Progress) -> Result<Outcome> {
    outcome(args, progress).with_context(|| input::shown(&args.plan))
}

fn outcome(args: &CalibrateArgs, progress: &Progress) -> Result<Outcome> {
    let unknown = args.unknown;
    let blank = Blank { unknown, release: args.release.as_deref() };
    let plan = input::plan(&args.plan, Some(blank))?;
    let (epsilon, delta) = target(args, plan.question)?;
    let varying = varying(args, &plan)?;
    let releases: Vec<Release> = plan.releases.iter().map(Release::from).collect();
    let (adjacency, group) = (plan.adjacency, plan.group);
    let search = Search { releases: &releases, varying: &varying, unknown, adjacency, group };
    let callback = |fraction| progress.at(fraction);
    let options = Options { watch: Watch::with(&callback), ..Options::default() };
    match calibrate(&search, epsilon, delta, &options) {
        Ok(calibration) => {
            let calibrated = Calibrated::new(unknown, (epsilon, delta), &calibration);
            let calibrated = Calibrated { warnings: plan.warnings(), ..calibrated };
            if args.json {
                return Ok(Outcome::json(calibrated.json()?));
            }
            Ok(Outcome::text(counterpoint_report::calibrate(&calibrated), calibrated.warnings))
        }
        Err(error) if is_no(&error) => {
            let reason = error.to_string();
            let line = format!("{}: {reason}", input::shown(&args.plan));
            let object = OutOfReach { unknown, delta, reason };
            Ok(Outcome::no(line, args.json.then(|| object.json()).transpose()?))
        }
        Err(CalibrateError::Plan(error)) => Err(plan.place(&error).into()),
        Err(error) => Err(error.into()),
    }
}

/// Whether nothing that is legal meets the target.
fn is_no(error: &CalibrateError) -> bool {
    use AskError::{BelowLeak, Unbounded};
    matches!(
        error,
        CalibrateError::OutOfReach { .. }
            | CalibrateError::Ask(BelowLeak { .. } | Unbounded { .. })
    )
}

/// The target on the command line; the plan's question is one half of it.
fn target(args: &CalibrateArgs, plan: Option<Question>) -> Result<(Epsilon, Delta)> {
    let (epsilon, delta) = match plan {
        Some(Question::EpsilonAt(delta)) => (None, Some(delta)),
        Some(Question::DeltaAt(epsilon)) => (Some(epsilon), None),
        None => (None, None),
    };
    let missing =
        |name| move || anyhow!("the target has no {name}; legal: {name} in the plan, or --{name}");
    let epsilon = args.epsilon.or(epsilon).with_context(missing("epsilon"))?;
    Ok((epsilon, args.delta.or(delta).with_context(missing("delta"))?))
}

/// Which releases vary: those that were named, or else those that leave out what is to be
/// found. If there are none, all that have it do.
fn varying(args: &CalibrateArgs, plan: &Plan) -> Result<Vec<usize>> {
    let Some(name) = args.release.as_deref() else { return Ok(plan.blanks.clone()) };
    let named = |(index, release): (usize, &counterpoint_wire::Release)| {
        (release.name.as_deref() == Some(name)).then_some(index)
    };
    let varying: Vec<usize> = plan.releases.iter().enumerate().filter_map(named).collect();
    if varying.is_empty() {
        bail!("no release is named {name:?}; legal: the name of one in the plan");
    }
    Ok(varying)
}
