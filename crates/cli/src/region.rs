//! `counterpoint region`.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use counterpoint::ask::Options;
use counterpoint::quantity::Rate;
use counterpoint::watch::Watch;
use counterpoint_wire::{FALSE_ALARMS, PlanRegion, Regions};

use crate::args::RegionArgs;
use crate::files::write_whole;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

pub(crate) fn run(args: &RegionArgs, progress: &Progress) -> Result<Outcome> {
    let mut regions = Regions { plans: Vec::new(), warnings: Vec::new() };
    for path in &args.plans {
        let (region, warnings) =
            plan_region(path, progress).with_context(|| input::input_name(path))?;
        regions.plans.push(region);
        regions.warnings.extend(warnings);
    }
    let mut figure = counterpoint_report::region_figure(&regions);
    figure.plain = args.plain;
    if let Some(path) = &args.svg {
        write(path, figure.svg().as_bytes()).with_context(|| path.display().to_string())?;
    }
    if let Some(path) = &args.pdf {
        write(path, &figure.pdf()?).with_context(|| path.display().to_string())?;
    }
    if args.json {
        return Ok(Outcome::json(regions.json()?));
    }
    Ok(Outcome::text(counterpoint_report::region(&regions), regions.warnings))
}

fn plan_region(path: &str, progress: &Progress) -> Result<(PlanRegion, Vec<String>)> {
    let plan = input::plan(path, None)?;
    let (prepared, warnings) = (plan.prepare()?, plan.warnings());
    drop(plan);
    let callback = |fraction| progress.report(fraction);
    let options = Options { watch: Watch::new(&callback), ..Options::default() };
    let rates: Vec<Rate> = FALSE_ALARMS.into_iter().filter_map(|x| Rate::new(x).ok()).collect();
    let region = prepared.region(&rates, &options)?;
    Ok((PlanRegion { name: input::input_name(path), region }, warnings))
}

fn write(path: &Path, picture: &[u8]) -> Result<()> {
    if path.is_dir() {
        bail!("is a directory; legal: a file to write");
    }
    write_whole(path, picture).map_err(|error| {
        anyhow!("cannot be written: {error}; legal: a path in a folder that can be written to")
    })
}
