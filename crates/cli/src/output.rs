//! Standard output, standard error and the exit status.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind as Usage;

/// The exit status of an error.
pub(crate) fn failure_status() -> ExitCode {
    ExitCode::from(2)
}

/// The result of a command.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Text for standard output.
    answer: String,
    /// Lines for standard error.
    remarks: Vec<String>,
    /// True if the answer is a definite no.
    is_no: bool,
}

impl Outcome {
    /// A text answer, with warnings for standard error.
    pub(crate) fn text(answer: String, warnings: Vec<String>) -> Self {
        let remarks = warnings.iter().map(|warning| format!("warning: {warning}")).collect();
        Self { answer, remarks, is_no: false }
    }

    /// An answer as one JSON object.
    pub(crate) fn json(object: String) -> Self {
        Self { answer: object + "\n", ..Self::default() }
    }

    /// Marks the answer as a definite no.
    pub(crate) fn into_no(self) -> Self {
        Self { is_no: true, ..self }
    }

    /// Adds a line for standard error.
    pub(crate) fn remark(&mut self, line: String) {
        self.remarks.push(line);
    }

    /// A definite no with its reason, or with a JSON object instead.
    pub(crate) fn definite_no(reason: String, json: Option<String>) -> Self {
        match json {
            Some(object) => Self { is_no: true, ..Self::json(object) },
            None => Self { remarks: vec![reason], is_no: true, ..Self::default() },
        }
    }
}

/// Streams an answer to standard output, for answers that may be too long for memory.
#[cfg(feature = "ledger")]
pub(crate) fn stream(
    write: impl FnOnce(&mut io::BufWriter<io::StdoutLock<'static>>) -> Result<()>,
) -> Result<Outcome> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let done = write(&mut out).and_then(|()| Ok(out.flush()?));
    let is_closed = |error: &anyhow::Error| {
        error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    };
    match done {
        // The reader closed the pipe.
        Err(error) if is_closed(&error) => Ok(Outcome::default()),
        done => done.map(|()| Outcome::default()),
    }
}

/// Prints the outcome, or one line about the error.
pub(crate) fn finish(outcome: Result<Outcome>) -> ExitCode {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return fail(&format!("{error:#}")),
    };
    outcome.remarks.iter().for_each(|remark| write_line(remark));
    let printed = print(&outcome.answer);
    if outcome.is_no && printed == ExitCode::SUCCESS { ExitCode::from(1) } else { printed }
}

/// Prints help, or one line about an error of the command line.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    match error.kind() {
        Usage::DisplayHelp | Usage::DisplayVersion => print(&text),
        Usage::DisplayHelpOnMissingArgumentOrSubcommand => fail(
            "no command is given; legal: compose, compare, calibrate, plan, release, study, serve, token, region, audit, convert, noise, simulate, sketch, figures, ledger, completions, --help, --version",
        ),
        _ => fail(&usage_line(&text)),
    }
}

/// Puts clap's message into one line, without the advice at its end.
fn usage_line(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.filter(|line| !line.starts_with("For more information"));
    let line = lines.collect::<Vec<_>>().join(" ");
    line.replace(" Usage: ", "; usage: ").replace(" tip: ", "; tip: ")
}

/// Prints a line at once, before the command has finished.
#[cfg(feature = "serve")]
pub(crate) fn announce(line: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let printed = writeln!(out, "{line}").and_then(|()| out.flush());
    printed.map_err(|error| anyhow::anyhow!("standard output cannot be written: {error}"))
}

fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => fail(&format!("standard output cannot be written: {error}")),
    }
}

fn fail(message: &str) -> ExitCode {
    write_error(message);
    failure_status()
}

/// Writes one line about an error.
pub(crate) fn write_error(message: &str) {
    write_line(&format!("error: {message}"));
}

/// Writes one line to standard error; control characters are escaped.
fn write_line(message: &str) {
    let line = message.chars().fold(String::new(), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default())
        } else {
            line.push(c)
        }
        line
    });
    // An error of standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "{line}");
}
