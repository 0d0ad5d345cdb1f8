//! `counterpoint sketch`: the Johnson-Lindenstrauss mechanism, idealised.

use std::path::Path;

use anyhow::{Context, Result};
use counterpoint_studies::{IDEALISED, SketchFile};
use counterpoint_wire::Format;

use crate::args::SketchArgs;
use crate::input;
use crate::output::Outcome;

/// Prints a sketch and its answers, with a warning that it is idealised and never charged.
pub(crate) fn run(args: &SketchArgs) -> Result<Outcome> {
    outcome(args).with_context(|| input::input_name(&args.file))
}

fn outcome(args: &SketchArgs) -> Result<Outcome> {
    let bytes = input::bytes(&args.file)?;
    let name = (args.file != "-").then(|| Path::new(&args.file));
    let sketched = SketchFile::parse(&bytes, Format::detect(name, &bytes))?.sketch()?;
    if args.json {
        return Ok(Outcome::json(sketched.json()?));
    }
    Ok(Outcome::text(counterpoint_report::sketch(&sketched), vec![IDEALISED.to_owned()]))
}
