//! Mechanisms that owners register: programs that are told a state and a question, and tell a reply and the state after it.

use crate::engine::Failed;
use crate::session::own::{Own, Step};
use counterpoint_ledger::MOST_RESPONSE;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A mechanism that the owner registered.
#[derive(Clone, Debug, PartialEq)]
pub struct Registered {
    /// Its name and its guarantee.
    pub own: Own,
    /// The table whose data set is charged.
    pub table: String,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// The folder that it runs in.
    pub folder: PathBuf,
}

/// What the program is told, on its standard input.
#[derive(Serialize)]
struct Input<'a> {
    /// `null` before the first question.
    state: Option<&'a RawValue>,
    question: &'a RawValue,
}

/// What it tells, on its standard output.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    reply: Box<RawValue>,
    /// `null` after the last answer.
    state: Option<Box<RawValue>>,
}

/// How long a program that has said everything has to end.
const END: Duration = Duration::from_secs(1);

/// Why a program made no step.
pub(super) enum Fault {
    /// It was not started, and saw nothing.
    NotStarted(Failed),
    /// It failed.
    Failed(Failed),
}

impl From<Failed> for Fault {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// One step of a mechanism, state and question as JSON.
pub(super) fn step(
    registered: &Registered,
    state: Option<&str>,
    question: &str,
    deadline: Instant,
) -> Result<Step, Fault> {
    let raw = |text| serde_json::from_str::<&RawValue>(text).map_err(Failed::new);
    let input = Input { state: state.map(raw).transpose()?, question: raw(question)? };
    let input = serde_json::to_vec(&input).map_err(Failed::new)?;
    let said = run(registered, input, deadline)?;
    let Output { reply, state } = serde_json::from_slice(&said).map_err(Failed::new)?;
    let state = state.map(|state| state.get().to_owned());
    Ok(Step { reply: reply.get().to_owned(), state })
}

fn run(registered: &Registered, input: Vec<u8>, deadline: Instant) -> Result<Vec<u8>, Fault> {
    let (program, arguments) =
        registered.program.split_first().ok_or_else(|| Failed::new("none"))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&registered.folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    // Whoever stops the service stops it alone: it waits for what runs, which is not to be taken for a failure.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| Fault::NotStarted(Failed::new(error)))?;
    let said = talk(&mut child, input, deadline);
    let status = end(&mut child, deadline.min(Instant::now() + END));
    match (said, status) {
        (Ok(said), Some(status)) if status.success() => Ok(said),
        (Ok(_), Some(status)) => Err(Failed::new(format!("{program}: {status}")).into()),
        (Ok(_), None) => Err(Failed::new(format!("{program} did not end")).into()),
        (Err(failed), _) => Err(failed.into()),
    }
}

/// Writes what the program is told and reads what it says, each by a thread: neither waits for the other.
fn talk(child: &mut Child, input: Vec<u8>, deadline: Instant) -> Result<Vec<u8>, Failed> {
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Failed::new("there are no pipes"));
    };
    let (send, receive) = mpsc::channel();
    // A program that does not read to the end may answer all the same.
    std::thread::spawn(move || to.write_all(&input));
    std::thread::spawn(move || {
        let mut said = Vec::new();
        // Twice what is stored, and a reply that is too long is refused there.
        let read = from.take(4 * MOST_RESPONSE as u64).read_to_end(&mut said);
        let _ = send.send(read.map(|_| said));
    });
    let left = deadline.saturating_duration_since(Instant::now());
    let said = receive.recv_timeout(left).map_err(|_| Failed::new("the time was up"))?;
    said.map_err(Failed::new)
}

/// How the program ended; it is killed if it has not by then.
fn end(child: &mut Child, deadline: Instant) -> Option<std::process::ExitStatus> {
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
