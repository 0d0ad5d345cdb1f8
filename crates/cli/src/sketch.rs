//! `counterpoint sketch`: the Johnson-Lindenstrauss mechanism, idealised.

use std::path::Path;

use anyhow::{Context, Result};
use counterpoint_wire::{Format, IDEALISED, SketchFile};

use crate::args::SketchArgs;
use crate::input;
use crate::output::Outcome;

/// A sketch's numbers and answers, with a warning that nothing is charged for them.
pub(crate) fn run(args: &SketchArgs) -> Result<Outcome> {
    outcome(args).with_context(|| input::shown(&args.file))
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
