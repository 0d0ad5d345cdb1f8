//! `counterpoint plan`.

use anyhow::{Context, Result};
use counterpoint::ask::Options;
use counterpoint::watch::Watch;
use counterpoint_planner::{PlanningError, bound_sum, plan};
use counterpoint_studies::{PlannedStudy, locate_study_error, read_study};
use counterpoint_wire::Format;
use std::path::Path;

use crate::args::PlanArgs;
use crate::files;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &PlanArgs, progress: &Progress) -> Result<Outcome> {
    outcome(args, progress).with_context(|| input::input_name(&args.study))
}

fn outcome(args: &PlanArgs, progress: &Progress) -> Result<Outcome> {
    let bytes = input::bytes(&args.study)?;
    let name = (args.study != "-").then(|| Path::new(&args.study));
    let study = read_study(&bytes, Format::detect(name, &bytes))?;
    let callback = |fraction| progress.report(fraction);
    let options = Options { watch: Watch::new(&callback), ..Options::default() };
    let planned = match plan(&study, &options) {
        Ok(mut planned) => {
            if args.prove {
                planned.sum_bound = bound_sum(&study, &planned, &options)?;
            }
            PlannedStudy::new(&study, planned)
        }
        Err(PlanningError::Study(error)) => return Err(locate_study_error(&study, &error).into()),
        Err(error @ PlanningError::OverBudget { .. }) => {
            let line = format!("{}: {error}", input::input_name(&args.study));
            let object = serde_json::json!({ "epsilon": null, "reason": error.to_string() });
            return Ok(Outcome::definite_no(line, args.json.then(|| object.to_string())));
        }
        Err(error) => return Err(error.into()),
    };
    let mut outcome = if args.json {
        Outcome::json(planned.json()?)
    } else {
        Outcome::text(counterpoint_report::plan(&planned), Vec::new())
    };
    if let Some(out) = &args.out {
        outcome.remark(files::write_plan(out, &planned.plan())?);
    }
    if let Some(path) = &args.svg {
        files::write_whole(path, counterpoint_report::plan_figure(&planned).svg().as_bytes())
            .with_context(|| format!("{} cannot be written", path.display()))?;
        outcome.remark(format!("the picture was written to {}", path.display()));
    }
    Ok(outcome)
}
