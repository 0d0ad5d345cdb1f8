//! `counterpoint figures`.

use std::fs;

use anyhow::{Context, Result, bail};
use counterpoint_report::figures::{FigureSpec, Parameters};
use counterpoint_report::plot::Figure;

use crate::args::FiguresArgs;
use crate::files;
use crate::output::Outcome;
use crate::progress::Progress;

const LEGAL: &str = "legal: a directory that can be written to";

/// Makes all figures before it writes any.
pub(crate) fn run(args: &FiguresArgs, progress: &Progress) -> Result<Outcome> {
    let written = figures(args, progress).with_context(|| args.out.display().to_string())?;
    Ok(Outcome::text(written, Vec::new()))
}

/// Returns the paths of the written files, one per line.
fn figures(args: &FiguresArgs, progress: &Progress) -> Result<String> {
    let out = args.out.as_path();
    if out.exists() && !out.is_dir() {
        bail!("is not a directory; {LEGAL}");
    }
    let mut figures: Vec<(&str, Figure)> = Vec::new();
    let is_wanted = |recipe: &&FigureSpec| match args.only.as_slice() {
        [] => recipe.is_default(),
        only => only.iter().any(|name| name == recipe.name),
    };
    let given = Parameters::new(args.epsilon, args.delta, args.releases);
    if given != Parameters::default() && args.only.is_empty() {
        bail!(
            "--epsilon, --delta or --releases is given without --only; legal: these options together with --only NAME"
        );
    }
    let wanted: Vec<&FigureSpec> = FigureSpec::ALL.iter().filter(is_wanted).collect();
    for (done, recipe) in wanted.iter().enumerate() {
        progress.report(done as f64 / wanted.len() as f64);
        let mut figure = recipe.make(&given).context(recipe.name)?;
        figure.plain = args.plain;
        figures.push((recipe.name, figure));
    }
    fs::create_dir_all(out)
        .map_err(|error| anyhow::anyhow!("cannot be created: {error}; {LEGAL}"))?;
    let mut written = String::new();
    for (name, figure) in &figures {
        let contents = [
            ("svg", figure.svg().into_bytes()),
            ("pdf", figure.pdf()?),
            ("csv", figure.csv().into_bytes()),
        ];
        for (kind, content) in contents {
            let path = out.join(format!("{name}.{kind}"));
            files::write_whole(&path, &content).map_err(|error| {
                anyhow::anyhow!("{name}.{kind} cannot be written: {error}; {LEGAL}")
            })?;
            written.push_str(&format!("{}\n", path.display()));
        }
    }
    Ok(written)
}
