//! `counterpoint release`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use counterpoint::ask::Options;
use counterpoint::watch::{Go, Watch};
use counterpoint_curator::{
    Job, Release, ReleaseError, ReleaseRows, rehearse_release, release_ledger, run_release,
    table_of,
};
use counterpoint_ledger::{Ledger, OpenOptions, Url};
use counterpoint_planner::{PlanningError, plan};
use counterpoint_wire::ledger::ExactPlan;
use counterpoint_wire::publication::Publication;
use counterpoint_wire::{Format, Planned, StudyFile, placed_in_study, read_study_file};

use crate::files;
use crate::input;
use crate::output::Outcome;
use crate::progress::Progress;

#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// Study file in TOML or JSON
    #[arg(value_name = "STUDY")]
    pub(crate) study: String,

    /// Read the rows from this file, not from the study's source
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Option<PathBuf>,

    /// Release what this plan of the study says, as plan --out wrote it
    #[arg(long, value_name = "PLAN")]
    pub(crate) plan: Option<PathBuf>,

    /// Charge this ledger: sqlite:PATH or postgres://...; DIR/ledger.db if it is not given
    #[arg(long, value_name = "URL")]
    pub(crate) ledger: Option<Url>,

    /// Release made-up rows: nothing is charged, and no rows are read
    #[arg(long, conflicts_with_all = ["changed", "ledger"])]
    pub(crate) dry_run: bool,

    /// Release rows that are not those of earlier releases: people who are in both are charged twice
    #[arg(long)]
    pub(crate) changed: bool,

    /// Write release.csv, release.json, report.html and metadata.json to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

/// The numbers, and where the ledger recorded them.
const JSON: &str = "release.json";
/// So many bytes have to be free.
const ROOM: usize = 4_000_000;

pub(crate) fn run(args: &ReleaseArgs, progress: &Progress) -> Result<Outcome> {
    let shown = || input::shown(&args.study);
    let bytes = input::bytes(&args.study).with_context(shown)?;
    let path = Path::new(&args.study);
    let study = read_study_file(&bytes, Format::detect(Some(path), &bytes)).with_context(shown)?;
    let plan = match &args.plan {
        Some(file) => given_plan(file).with_context(|| file.display().to_string())?,
        None => match planned(&study, &|fraction| progress.at(fraction)).with_context(shown)? {
            Ok(plan) => plan,
            Err(no) => return Ok(Outcome::no(format!("{}: {no}", shown()), None)),
        },
    };
    let title = path.file_stem().map_or_else(|| "study".into(), |stem| stem.to_string_lossy());
    if args.dry_run {
        keep_real_rows(&args.out)?;
    }
    match publish(args, &study, &plan, &title).with_context(shown) {
        Ok(published) => {
            make_folder(&args.out)?;
            write_files(&args.out, &published)?;
            Ok(told(&args.out, &published))
        }
        Err(error) => match error.downcast_ref::<ReleaseError>() {
            Some(no) if no.is_refusal() => Ok(Outcome::no(format!("{}: {no}", shown()), None)),
            _ => Err(error),
        },
    }
}

/// The plan of a study; or that its budget allows none.
pub(crate) fn planned(
    study: &StudyFile,
    watch: &dyn Fn(f64) -> Go,
) -> Result<Result<ExactPlan, PlanningError>> {
    let options = Options { watch: Watch::with(watch), ..Options::default() };
    match plan(&study.study, &options) {
        Ok(planned) => Ok(Ok(Planned::new(&study.study, planned).exact_plan()?)),
        Err(PlanningError::Study(error)) => Err(placed_in_study(&study.study, &error).into()),
        Err(error @ PlanningError::OverBudget { .. }) => Ok(Err(error)),
        Err(error) => Err(error.into()),
    }
}

fn given_plan(file: &Path) -> Result<ExactPlan> {
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
    let asked = Asked { args, study, plan, title };
    if args.dry_run { asked.rehearsed() } else { asked.released() }
}

/// A dry run writes over no numbers of real rows.
fn keep_real_rows(folder: &Path) -> Result<()> {
    if earlier(folder).is_some_and(|earlier| !earlier.made_up) {
        let json = folder.join(JSON);
        bail!("{} is of real rows; legal: another --out for a dry run", json.display());
    }
    Ok(())
}

/// What was written to a folder before, if that can be read.
fn earlier(folder: &Path) -> Option<Publication> {
    let bytes = fs::read(folder.join(JSON)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// What is asked for.
struct Asked<'a> {
    args: &'a ReleaseArgs,
    study: &'a StudyFile,
    plan: &'a ExactPlan,
    title: &'a str,
}

impl Asked<'_> {
    fn rehearsed(&self) -> Result<Publication> {
        Ok(rehearse_release(&self.release("made-up rows"))?)
    }

    fn released(&self) -> Result<Publication> {
        let folder = Path::new(&self.args.study).parent().unwrap_or(Path::new(""));
        let rows = ReleaseRows::of(self.study, folder, self.args.data.as_deref())?;
        let name = rows.name();
        let paying = release_ledger(self.args.ledger.as_ref(), Some(&self.args.out));
        let (ledger, secret) = paying.context("ledger is missing; legal: --ledger URL")?;
        let job = Job {
            release: self.release(&name),
            rows: &rows,
            dataset: table_of(self.study)?.name(),
            ledger: &ledger,
            options: &OpenOptions::default(),
            secret: &secret,
            changed: self.args.changed,
            watch: Watch::none(),
        };
        make_folder(&self.args.out)?;
        has_room(&self.args.out)?;
        self.is_recorded(&ledger)?;
        Ok(run_release(&job)?)
    }

    /// An error unless the ledger holds what was written here before: of an older copy of the ledger the numbers would be drawn again.
    fn is_recorded(&self, ledger: &Url) -> Result<()> {
        let Some(place) = earlier(&self.args.out).and_then(|earlier| earlier.ledger) else {
            return Ok(());
        };
        let expect = Some(place.head.parse()?);
        let options = OpenOptions { read_only: true, expect };
        Ledger::open_with(ledger, &options).map(drop).with_context(|| {
            let json = self.args.out.join(JSON);
            format!(
                "{} was charged to another ledger, or this one is older by now; legal: the ledger as it was left, or another --out",
                json.display()
            )
        })
    }

    fn release<'a>(&'a self, source: &'a str) -> Release<'a> {
        Release { study: self.study, plan: self.plan, title: self.title, source }
    }
}

/// An error unless there is room for the ledger and what is written: before anything is charged, not after it.
fn has_room(folder: &Path) -> Result<()> {
    let draft = folder.join(format!(".room.{}.part", std::process::id()));
    let written = files::write_whole(&draft, &vec![0; ROOM]);
    // It is a draft in any case.
    let _ = fs::remove_file(&draft);
    let folder = folder.display();
    written.with_context(|| format!("{folder} has no room for 4 MB, and nothing was charged"))
}

pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))
}

/// Writes what is published to a folder.
pub(crate) fn write_files(folder: &Path, published: &Publication) -> Result<()> {
    for (name, text) in counterpoint_report::publication_files(published)? {
        let path = folder.join(name);
        files::write_whole(&path, text.as_bytes())
            .with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

fn told(folder: &Path, published: &Publication) -> Outcome {
    let count = published.statistics.len();
    let numbers: usize = published.statistics.iter().map(|one| one.numbers.len()).sum();
    let (epsilon, delta) = (published.privacy.epsilon, published.privacy.delta);
    let folder = folder.display();
    let head = if published.made_up {
        format!("{count} statistics of MADE-UP rows, {numbers} numbers; nothing was charged")
    } else {
        format!("{count} statistics, {numbers} numbers: epsilon {epsilon:.6} at delta {delta:e}")
    };
    let text = format!(
        "{head}\nnumbers   {folder}/release.csv, {folder}/release.json\nreport    {folder}/report.html\nmetadata  \
         {folder}/metadata.json\n"
    );
    Outcome::text(text, Vec::new())
}
