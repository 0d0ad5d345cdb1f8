//! `counterpoint figures`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use counterpoint_report::figures::Recipe;
use counterpoint_report::plot::Figure;

use crate::args::FiguresArgs;
use crate::files;
use crate::output::Outcome;
use crate::progress::Progress;

const LEGAL: &str = "legal: a directory that can be written to";

/// Makes every figure, and only then writes them all.
pub(crate) fn run(args: &FiguresArgs, progress: &Progress) -> Result<Outcome> {
    let written = figures(&args.out, progress).with_context(|| args.out.display().to_string())?;
    Ok(Outcome::text(written, Vec::new()))
}

/// The paths of the files that were written, a line each.
fn figures(out: &Path, progress: &Progress) -> Result<String> {
    if out.exists() && !out.is_dir() {
        bail!("is not a directory; {LEGAL}");
    }
    let mut figures: Vec<(&str, Figure)> = Vec::new();
    for (done, recipe) in Recipe::ALL.iter().enumerate() {
        progress.at(done as f64 / Recipe::ALL.len() as f64);
        figures.push((recipe.name, recipe.make().context(recipe.name)?));
    }
    fs::create_dir_all(out)
        .map_err(|error| anyhow::anyhow!("cannot be created: {error}; {LEGAL}"))?;
    let mut written = String::new();
    for (name, figure) in &figures {
        for (kind, content) in [("svg", figure.svg()), ("csv", figure.csv())] {
            let path = out.join(format!("{name}.{kind}"));
            files::write_whole(&path, &content).map_err(|error| {
                anyhow::anyhow!("{name}.{kind} cannot be written: {error}; {LEGAL}")
            })?;
            written.push_str(&format!("{}\n", path.display()));
        }
    }
    Ok(written)
}
