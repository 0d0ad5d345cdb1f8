//! `counterpoint calibrate`.

use anyhow::{Context, Result, anyhow, bail};
use counterpoint::ask::{AskError, CalibrateError, Options, Search, calibrate};
use counterpoint::watch::Watch;
use counterpoint::{Delta, Epsilon, Release};
use counterpoint_wire::{Blank, CalibrationAnswer, Plan, Question, Target, UnreachableTarget};

use crate::args::CalibrateArgs;
use crate::files;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &CalibrateArgs, progress: &Progress) -> Result<Outcome> {
    outcome(args, progress).with_context(|| input::input_name(&args.plan))
}

fn outcome(args: &CalibrateArgs, progress: &Progress) -> Result<Outcome> {
    let unknown = args.unknown;
    let blank = Blank { unknown, release: args.release.as_deref() };
    let mut plan = input::plan(&args.plan, Some(blank))?;
    let (epsilon, delta) = target(args, &plan)?;
    let varying = varying(args, &plan)?;
    let releases: Vec<Release> = plan.single_releases()?;
    let (adjacency, group) = (plan.adjacency, plan.group);
    let search = Search { releases: &releases, varying: &varying, unknown, adjacency, group };
    let callback = |fraction| progress.report(fraction);
    let options = Options { watch: Watch::new(&callback), ..Options::default() };
    match calibrate(&search, epsilon, delta, &options) {
        Ok(calibration) => {
            let calibrated = CalibrationAnswer::new(unknown, (epsilon, delta), &calibration);
            let calibrated = calibrated.of_plan(&mut plan, &calibration);
            let calibrated = CalibrationAnswer { warnings: plan.warnings(), ..calibrated };
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
            let line = format!("{}: {reason}", input::input_name(&args.plan));
            let object = UnreachableTarget { unknown, delta, reason };
            Ok(Outcome::definite_no(line, args.json.then(|| object.json()).transpose()?))
        }
        Err(CalibrateError::Plan(error)) => Err(plan.locate_error(&error).into()),
        Err(error) => Err(error.into()),
    }
}

/// True if no legal value meets the target.
fn is_no(error: &CalibrateError) -> bool {
    use AskError::{BelowLeak, Unbounded};
    matches!(
        error,
        CalibrateError::OutOfReach { .. }
            | CalibrateError::Ask(BelowLeak { .. } | Unbounded { .. })
    )
}

/// The target on the command line, or else the plan's. The plan's question supplies one half of a target.
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

/// The releases that vary: the named ones, or else those that leave out the unknown. If there are none, all releases
/// with this parameter vary.
fn varying(args: &CalibrateArgs, plan: &Plan) -> Result<Vec<usize>> {
    let Some(name) = args.release.as_deref() else { return Ok(plan.blanks.clone()) };
    let named = |(index, release): (usize, &counterpoint_wire::Release)| {
        (release.name.as_deref() == Some(name)).then_some(index)
    };
    let varying: Vec<usize> = plan.releases.iter().enumerate().filter_map(named).collect();
    if varying.is_empty() {
        bail!("no release is named {name:?}; legal: the name of a release in the plan");
    }
    Ok(varying)
}
