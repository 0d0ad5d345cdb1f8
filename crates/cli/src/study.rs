//! `counterpoint study`.

use anyhow::Result;
use counterpoint_studies::draft_study_of_files;

use crate::args::{StudyArgs, StudyCommand, StudyNewArgs};
use crate::output::Outcome;

pub(crate) fn run(args: &StudyArgs) -> Result<Outcome> {
    match &args.command {
        StudyCommand::New(args) => draft(args),
    }
}

fn draft(args: &StudyNewArgs) -> Result<Outcome> {
    let study = draft_study_of_files(&args.data, args.codebook.as_deref())?;
    Ok(Outcome::text(study.text, study.warnings))
}
