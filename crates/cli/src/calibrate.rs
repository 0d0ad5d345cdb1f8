//! `counterpoint calibrate`.

use anyhow::{Context, Result, anyhow, bail};
use counterpoint::ask::{AskError, CalibrateError, Options, Search, calibrate};
use counterpoint::watch::Watch;
use counterpoint::{Delta, Epsilon, Release};
use counterpoint_wire::{Blank, Calibrated, OutOfReach, Plan, Question, Target};

use crate::args::CalibrateArgs;
use crate::files;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &CalibrateArgs, progress: &Progress) -> Result<Outcome> {
    outcome(args, progress).with_context(|| input::shown(&args.plan))
}

fn outcome(args: &CalibrateArgs, progress: &Progress) -> Result<Outcome> {
    let unknown = args.unknown;
    let blank = Blank { unknown, release: args.release.as_deref() };
    let mut plan = input::plan(&args.plan, Some(blank))?;
    let (epsilon, delta) = target(args, &plan)?;
    let varying = varying(args, &plan)?;
    let releases: Vec<Release> = plan.singles()?;
    let (adjacency, group) = (plan.adjacency, plan.group);
    let search = Search { releases: &releases, varying: &varying, unknown, adjacency, group };
    let callback = |fraction| progress.at(fraction);
    let options = Options { watch: Watch::with(&callback), ..Options::default() };
    match calibrate(&search, epsilon, delta, &options) {
        Ok(calibration) => {
            let calibrated = Calibrated::new(unknown, (epsilon, delta), &calibration);
            let calibrated = calibrated.of_plan(&mut plan, &calibration);
            let calibrated = Calibrated { warnings: plan.warnings(), ..calibrated };
            let mut outcome = match args.json {
                true => Outcome::json(calibrated.json()?),
                false => {
                    let text = counterpoint_report::calibrate(&calibrated);
                    Outcome::text(text, calibrated.warnings)
                }
            };
            if let Some(out) = &args.out {
                plan.question = Some(Question::EpsilonAt(delta));
                plan.target = Some(Target { epsilon, delta: Some(delta) });
                outcome.remark(files::write_plan(out, &plan)?);
            }
            Ok(outcome)
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

/// The target on the command line, or else the plan's; the plan's question is one half of it.
fn target(args: &CalibrateArgs, plan: &Plan) -> Result<(Epsilon, Delta)> {
    let (epsilon, delta) = match plan.question {
        Some(Question::EpsilonAt(delta)) => (None, Some(delta)),
        Some(Question::DeltaAt(epsilon)) => (Some(epsilon), None),
        None => (None, None),
    };
    let missing = |name| {
        move || {
            anyhow!("the target has no {name}; legal: {name} in the plan's [target], or --{name}")
        }
    };
    let of_target = plan.target.map(|target| target.epsilon);
    let epsilon = args.epsilon.or(of_target).or(epsilon).with_context(missing("epsilon"))?;
    let of_target = plan.target.and_then(|target| target.delta);
    Ok((epsilon, args.delta.or(of_target).or(delta).with_context(missing("delta"))?))
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
