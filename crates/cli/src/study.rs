//! `counterpoint study`.

use anyhow::Result;
use counterpoint_wire::new_study;

use crate::args::{StudyArgs, StudyCommand, StudyNewArgs};
use crate::output::Outcome;

pub(crate) fn run(args: &StudyArgs) -> Result<Outcome> {
    match &args.command {
        StudyCommand::New(args) => begin(args),
    }
}

fn begin(args: &StudyNewArgs) -> Result<Outcome> {
    let study = new_study(&args.data, args.codebook.as_deref())?;
    Ok(Outcome::text(study.text, study.warnings))
}
