//! `counterpoint release`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use counterpoint::ask::Options;
use counterpoint::quantity::format_number;
use counterpoint::watch::{Control, Watch};
use counterpoint_curator::{
    ReleaseError, ReleaseJob, ReleaseRows, StudyRelease, rehearse_release, release_ledger,
    run_release, table_of,
};
use counterpoint_ledger::{Ledger, OpenOptions, Url};
use counterpoint_planner::{PlanningError, plan};
use counterpoint_studies::{PlannedStudy, StudyFile, locate_study_error, read_study_file};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use counterpoint_wire::publication::Publication;

use crate::files;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// Study file in TOML or JSON; - for standard input
    #[arg(value_name = "STUDY")]
    pub(crate) study: String,

    /// Read the rows from this file instead of the study's source
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,

    /// Use this plan of the study, as written by plan --out, instead of planning again
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<PathBuf>,

    /// Ledger to charge: sqlite:PATH or postgres://... [default: DIR/ledger.db]
    #[arg(long, value_name = "URL")]
    pub(crate) ledger: Option<Url>,

    /// Release made-up rows: reads no data and charges nothing
    #[arg(long, conflicts_with_all = ["changed", "ledger"])]
    pub(crate) dry_run: bool,

    /// Release the rows although they differ from those of earlier releases: people who are in both versions are charged
    /// twice
    #[arg(long)]
    pub(crate) changed: bool,

    /// Write release.csv, release.json, report.html and metadata.json to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// The file with the released numbers and the place of their charge in the ledger.
const JSON: &str = "release.json";
/// The free space, in bytes, that a release requires.
const FREE_BYTES: usize = 4_000_000;

pub(crate) fn run(args: &ReleaseArgs, progress: &Progress) -> Result<Outcome> {
    let input_name = || input::input_name(&args.study);
    let bytes = input::bytes(&args.study).with_context(input_name)?;
    let path = Path::new(&args.study);
    let study =
        read_study_file(&bytes, Format::detect(Some(path), &bytes)).with_context(input_name)?;
    let plan = match &args.plan {
        Some(file) => read_plan(file).with_context(|| file.display().to_string())?,
        None => {
            match plan_study(&study, &|fraction| progress.report(fraction))
                .with_context(input_name)?
            {
                Ok(plan) => plan,
                Err(no) => {
                    return Ok(Outcome::definite_no(format!("{}: {no}", input_name()), None));
                }
            }
        }
    };
    let title = path.file_stem().map_or_else(|| "study".into(), |stem| stem.to_string_lossy());
    if args.dry_run {
        refuse_to_overwrite(&args.out)?;
    }
    match publish(args, &study, &plan, &title).with_context(input_name) {
        Ok(published) => {
            make_folder(&args.out)?;
            write_files(&args.out, &published)?;
            Ok(summary(&args.out, &published))
        }
        Err(error) => match error.downcast_ref::<ReleaseError>() {
            Some(no) if no.is_refusal() => {
                Ok(Outcome::definite_no(format!("{}: {no}", input_name()), None))
            }
            _ => Err(error),
        },
    }
}

/// Plans a study. The inner error says that the budget is too small.
pub(crate) fn plan_study(
    study: &StudyFile,
    watch: &dyn Fn(f64) -> Control,
) -> Result<Result<ExactPlan, PlanningError>> {
    let options = Options { watch: Watch::new(watch), ..Options::default() };
    match plan(&study.study, &options) {
        Ok(planned) => Ok(Ok(PlannedStudy::new(&study.study, planned).exact_plan()?)),
        Err(PlanningError::Study(error)) => Err(locate_study_error(&study.study, &error).into()),
        Err(error @ PlanningError::OverBudget { .. }) => Ok(Err(error)),
        Err(error) => Err(error.into()),
    }
}

fn read_plan(file: &Path) -> Result<ExactPlan> {
    let bytes = input::bytes(&file.display().to_string())?;
    Ok(ExactPlan::parse(&bytes, Format::detect(Some(file), &bytes))?)
}

/// Releases a planned study, or rehearses it.
pub(crate) fn publish(
    args: &ReleaseArgs,
    study: &StudyFile,
    plan: &ExactPlan,
    title: &str,
) -> Result<Publication> {
    let job = StudyJob { args, study, plan, title };
    if args.dry_run { job.rehearse() } else { job.release() }
}

/// Refuses a dry run that would overwrite released numbers.
fn refuse_to_overwrite(folder: &Path) -> Result<()> {
    if earlier_publication(folder).is_some_and(|earlier| !earlier.made_up) {
        let json = folder.join(JSON);
        bail!("{} was computed from real rows; legal: another --out for a dry run", json.display());
    }
    Ok(())
}

/// The earlier publication in a folder, if it can be read.
fn earlier_publication(folder: &Path) -> Option<Publication> {
    let bytes = fs::read(folder.join(JSON)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// A release as the command line describes it.
struct StudyJob<'a> {
    args: &'a ReleaseArgs,
    study: &'a StudyFile,
    plan: &'a ExactPlan,
    title: &'a str,
}

impl StudyJob<'_> {
    fn rehearse(&self) -> Result<Publication> {
        Ok(rehearse_release(&self.study_release("made-up rows"))?)
    }

    fn release(&self) -> Result<Publication> {
        let folder = Path::new(&self.args.study).parent().unwrap_or(Path::new(""));
        let rows = ReleaseRows::of(self.study, folder, self.args.data.as_deref())?;
        let name = rows.name();
        let paying = release_ledger(self.args.ledger.as_ref(), Some(&self.args.out));
        let (ledger, secret) = paying.context("ledger is missing; legal: --ledger URL")?;
        let job = ReleaseJob {
            release: self.study_release(&name),
            rows: &rows,
            dataset: table_of(self.study)?.name(),
            ledger: &ledger,
            options: &OpenOptions::default(),
            secret: &secret,
            changed: self.args.changed,
            watch: Watch::none(),
        };
        make_folder(&self.args.out)?;
        check_free_space(&self.args.out)?;
        self.check_recorded(&ledger)?;
        Ok(run_release(&job)?)
    }

    /// Refuses unless the ledger records the earlier publication in this folder. With an older copy of the ledger,
    /// noise would be drawn again.
    fn check_recorded(&self, ledger: &Url) -> Result<()> {
        let Some(place) = earlier_publication(&self.args.out).and_then(|earlier| earlier.ledger)
        else {
            return Ok(());
        };
        let expect = Some(place.head.parse()?);
        let options = OpenOptions { read_only: true, expect };
        Ledger::open_with(ledger, &options).map(drop).with_context(|| {
            let json = self.args.out.join(JSON);
            format!(
                "{} was published before, and its charge is not in this ledger, which is missing, another ledger or an older copy; legal: the ledger that was charged, or another --out",
                json.display()
            )
        })
    }

    fn study_release<'a>(&'a self, source: &'a str) -> StudyRelease<'a> {
        StudyRelease { study: self.study, plan: self.plan, title: self.title, source }
    }
}

/// Checks the free space for the ledger and the files before anything is charged.
fn check_free_space(folder: &Path) -> Result<()> {
    let draft = folder.join(format!(".room.{}.part", std::process::id()));
    let written = files::write_whole(&draft, &vec![0; FREE_BYTES]);
    // The file is removed, even if it is incomplete.
    let _ = fs::remove_file(&draft);
    let folder = folder.display();
    written.with_context(|| format!("{folder} has no room for 4 MB; nothing was charged"))
}

pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))
}

/// Writes the files of a publication to a folder.
pub(crate) fn write_files(folder: &Path, published: &Publication) -> Result<()> {
    for (name, text) in counterpoint_report::publication_files(published)? {
        let path = folder.join(name);
        files::write_whole(&path, text.as_bytes())
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

fn summary(folder: &Path, published: &Publication) -> Outcome {
    let count = published.statistics.len();
    let numbers: usize = published.statistics.iter().map(|one| one.numbers.len()).sum();
    let (epsilon, delta) = (published.privacy.epsilon, published.privacy.delta);
    let folder = folder.display();
    let statistics = if count == 1 { "statistic" } else { "statistics" };
    let numbers = if numbers == 1 { "1 number".to_owned() } else { format!("{numbers} numbers") };
    let head = if published.made_up {
        format!("{count} {statistics} from MADE-UP rows, {numbers}; nothing was charged")
    } else {
        let delta = format_number(delta);
        format!("{count} {statistics}, {numbers}: epsilon {epsilon:.6} at delta {delta}")
    };
    let text = format!(
        "{head}\nnumbers   {folder}/release.csv, {folder}/release.json\nreport    {folder}/report.html\nmetadata  \
         {folder}/metadata.json\n"
    );
    Outcome::text(text, Vec::new())
}
