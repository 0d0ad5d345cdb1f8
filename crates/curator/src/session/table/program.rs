//! Mechanisms that owners register: programs that read a state and a question, and write a reply and the next state.

use crate::engine::EngineError;
use crate::session::custom::{CustomMechanism, Step};
use counterpoint_ledger::MAX_RESPONSE_BYTES;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A mechanism that the owner registered.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredMechanism {
    /// The mechanism's name and guarantee.
    pub mechanism: CustomMechanism,
    /// The table whose data set is charged.
    pub table: String,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// The folder that the program runs in.
    pub folder: PathBuf,
}

/// The program's standard input.
#[derive(Serialize)]
struct Input<'a> {
    /// `null` before the first question.
    state: Option<&'a RawValue>,
    question: &'a RawValue,
}

/// The program's standard output.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    reply: Box<RawValue>,
    /// `null` after the last reply.
    state: Option<Box<RawValue>>,
}

/// The time that a program has to exit after its output.
const EXIT_TIME: Duration = Duration::from_secs(1);

/// A program made no step.
pub(super) enum ProgramError {
    /// The program was not started and saw nothing.
    NotStarted(EngineError),
    /// The program failed.
    Failed(EngineError),
}

impl From<EngineError> for ProgramError {
    fn from(failed: EngineError) -> Self {
        Self::Failed(failed)
    }
}

/// Runs one step of a mechanism. The state and the question are JSON.
pub(super) fn step(
    mechanism: &RegisteredMechanism,
    state: Option<&str>,
    question: &str,
    deadline: Instant,
) -> Result<Step, ProgramError> {
    let raw = |text| serde_json::from_str::<&RawValue>(text).map_err(EngineError::new);
    let input = Input { state: state.map(raw).transpose()?, question: raw(question)? };
    let input = serde_json::to_vec(&input).map_err(EngineError::new)?;
    let output = run(mechanism, input, deadline)?;
    let Output { reply, state } = serde_json::from_slice(&output).map_err(EngineError::new)?;
    let state = state.map(|state| state.get().to_owned());
    Ok(Step { reply: reply.get().to_owned(), state })
}

fn run(
    mechanism: &RegisteredMechanism,
    input: Vec<u8>,
    deadline: Instant,
) -> Result<Vec<u8>, ProgramError> {
    let (program, arguments) =
        mechanism.program.split_first().ok_or_else(|| EngineError::new("the program is empty"))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&mechanism.folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    // A signal to the service's process group must not reach the program: the service waits for it, and an interrupted
    // program would count as failed.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child =
        command.spawn().map_err(|error| ProgramError::NotStarted(EngineError::new(error)))?;
    let output = exchange(&mut child, input, deadline);
    let status = wait_or_kill(&mut child, deadline.min(Instant::now() + EXIT_TIME));
    match (output, status) {
        (Ok(output), Some(status)) if status.success() => Ok(output),
        (Ok(_), Some(status)) => Err(EngineError::new(format!("{program}: {status}")).into()),
        (Ok(_), None) => {
            Err(EngineError::new(format!("{program} did not exit after its reply")).into())
        }
        (Err(failed), _) => Err(failed.into()),
    }
}

/// Writes the input and reads the output in two threads, so that neither waits for the other.
fn exchange(child: &mut Child, input: Vec<u8>, deadline: Instant) -> Result<Vec<u8>, EngineError> {
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(EngineError::new("there are no pipes"));
    };
    let (send, receive) = mpsc::channel();
    // A program may answer without reading all of its input.
    std::thread::spawn(move || to.write_all(&input));
    std::thread::spawn(move || {
        let mut output = Vec::new();
        // Reads at least twice as much as can be stored; a longer reply is refused when it is stored.
        let read = from.take(4 * MAX_RESPONSE_BYTES as u64).read_to_end(&mut output);
        let _ = send.send(read.map(|_| output));
    });
    let left = deadline.saturating_duration_since(Instant::now());
    let output = receive
        .recv_timeout(left)
        .map_err(|_| EngineError::new("the program did not answer in time"))?;
    output.map_err(EngineError::new)
}

/// Waits for the program to exit; kills it at the deadline.
fn wait_or_kill(child: &mut Child, deadline: Instant) -> Option<std::process::ExitStatus> {
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
