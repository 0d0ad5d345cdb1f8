//! Processes that tests start, watch and kill: this test program once more.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use counterpoint_ledger::database::Access;
use counterpoint_ledger::{Ledger, LedgerError, OpenOptions, Pool, Request};

use crate::watch::{self, Event};
use crate::{Place, release, sessions};

/// Where a release may be killed, in the order it gets there.
pub(crate) const POINTS: &str = "reserve:begin, reserve:locked, reserve:entry, reserve:key, reserve:balance, \
    reserve:head, reserve:written, reserve:durable, acknowledged, drawn, commit:begin, commit:locked, commit:entry, \
    commit:response, commit:head, commit:written, commit:durable, stored, shown";

/// Where a session may be killed, in the order it gets there; then between two of them, with the state of the first in hand.
pub(crate) const SESSION_POINTS: &str = "reserve:begin, reserve:locked, reserve:entry, reserve:key, reserve:balance, \
    reserve:head, reserve:written, reserve:durable, reserved, drawn, begin:begin, begin:locked, begin:entry, begin:head, \
    begin:session, begin:state, begin:written, begin:durable, begun, first:begin, first:locked, first:entry, first:head, \
    first:count, first:answer, first:new state, first:written, first:durable, stored, shown, second:begin, \
    second:locked, second:entry, second:head, second:count, second:answer, second:ended, second:forgotten, \
    second:written, second:durable, stored second, shown second, first, second, reserve, begin";

/// A running child; killed when dropped.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
}

/// Starts a child with its orders, in lines.
pub(crate) fn start(orders: &[&str], preload: Option<(&str, &[(&str, String)])>) -> Running {
    start_by(Command::new(std::env::current_exe().unwrap()), orders, preload)
}

/// The same by another command, which starts this program.
pub(crate) fn start_by(
    mut command: Command,
    orders: &[&str],
    preload: Option<(&str, &[(&str, String)])>,
) -> Running {
    command
        .args(["--exact", "child::run", "--ignored", "--nocapture", "--test-threads=1"])
        .env("LEDGER_CHILD", orders.join("\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some((library, settings)) = preload {
        command.env("LD_PRELOAD", library).envs(settings.iter().map(|(k, v)| (k, v)));
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    Running { child, lines }
}

impl Running {
    /// The next thing the child says.
    pub(crate) fn said(&mut self) -> Option<String> {
        for line in self.lines.by_ref() {
            // The test harness may have begun the line.
            if let Some(at) = line.as_ref().ok()?.find('@') {
                return line.ok().map(|line| line[at + 1..].to_owned());
            }
        }
        None
    }

    /// Everything it says until it is gone.
    pub(crate) fn all(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.said()).collect()
    }

    /// Everything it says until it is killed, which happens once it has said so many lines.
    pub(crate) fn killed_after(&mut self, lines: usize) -> Vec<String> {
        let mut said: Vec<String> = std::iter::from_fn(|| self.said()).take(lines).collect();
        let _ = self.child.kill();
        said.extend(self.all());
        said
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Everything that workers say until they are gone. Something happens once they have said so many lines, all together.
pub(crate) fn said_around(
    workers: Vec<Running>,
    lines: usize,
    happens: impl FnOnce(),
) -> Vec<String> {
    let (send, receive) = channel();
    for mut worker in workers {
        let send = send.clone();
        std::thread::spawn(move || {
            while let Some(line) = worker.said() {
                send.send(line).unwrap();
            }
        });
    }
    drop(send);
    let mut said: Vec<String> = receive.iter().take(lines).collect();
    happens();
    said.extend(receive);
    said
}

pub(crate) fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "@{text}").and_then(|()| out.flush()).unwrap();
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the child does.
#[test]
#[ignore = "is started by other tests"]
fn run() {
    let Ok(orders) = std::env::var("LEDGER_CHILD") else { return };
    let orders: Vec<&str> = orders.split('\n').collect();
    match orders[..] {
        ["release", url, key, point, noise] => one_release(url, key, point, noise),
        ["session", url, key, point, seed] => one_session(url, key, point, seed.parse().unwrap()),
        ["asks", url, key, prefix, most] => {
            let mut ledger = Ledger::open(&url.parse().unwrap()).unwrap();
            say("ready");
            std::io::stdin().lock().read_line(&mut String::new()).unwrap();
            sessions::ask_many(&mut ledger, key, prefix, most.parse().unwrap(), say);
        }
        ["once", url, key] => once(url, key),
        ["show", url, key, what] => show(url, key, what),
        ["loop", url, prefix, most] => many(url, prefix, most.parse().unwrap()),
        ["pool", url, prefix, most] => many_at_once(url, prefix, most.parse().unwrap()),
        ["export", url] => crate::auditors::export(url),
        ["look", url] => crate::files::look(url),
        ["backup", url, file] => crate::backup::back_up(url, file),
        _ => panic!("no such orders: {orders:?}"),
    }
}

/// One release, stopping at a point until it is killed there.
fn one_release(url: &str, key: &str, point: &str, noise: &str) {
    let phase = Arc::new(Mutex::new("open"));
    let mut ledger = pausing(url, &phase, point);
    *phase.lock().unwrap() = "reserve";
    let tenth = release("0.1");
    let reservation = ledger.reserve(&Request::new("account", key, &tenth)).unwrap();
    say(&format!("reserved {}", reservation.head));
    pause("acknowledged", point);
    let response = noise.as_bytes().repeat(noise.len() * 17);
    pause("drawn", point);
    *phase.lock().unwrap() = "commit";
    let stored = ledger.commit("account", key, &response).unwrap();
    say(&format!("stored {}", stored.head));
    pause("stored", point);
    say(&format!("shown {}", hex(&stored.response)));
    pause("shown", point);
}

/// One session, stopping at a point until it is killed there.
fn one_session(url: &str, key: &str, point: &str, seed: u64) {
    let phase = Arc::new(Mutex::new("open"));
    let mut ledger = pausing(url, &phase, point);
    let mut asked = "";
    sessions::play(&mut ledger, key, seed, &mut |step, detail| {
        if !detail.is_empty() {
            say(&format!("{step} {detail}"));
        }
        let step = match (step, asked) {
            ("stored", "second") => "stored second",
            ("shown", "second") => "shown second",
            _ => step,
        };
        pause(step, point);
        if sessions::ASKS.contains(&step) {
            asked = step;
        }
        *phase.lock().unwrap() = step;
    });
}

/// One release, as soon as there is a line to read.
fn once(url: &str, key: &str) {
    let mut ledger = Ledger::open(&url.parse().unwrap()).unwrap();
    say("ready");
    std::io::stdin().lock().read_line(&mut String::new()).unwrap();
    let tenth = release("0.1");
    match ledger.reserve(&Request::new("account", key, &tenth)) {
        Ok(_) => say(&format!("yes {}", ledger.commit("account", key, b"answer").is_ok())),
        Err(LedgerError::Refused(_)) => say("no"),
        Err(error) => say(&format!("error {error}")),
    }
}

/// A stored response.
fn show(url: &str, key: &str, what: &str) {
    let (read_only, what) = what.strip_prefix("only ").map_or((false, what), |what| (true, what));
    let options = OpenOptions { read_only, expect: None };
    let mut ledger = Ledger::open_with(&url.parse().unwrap(), &options).unwrap();
    say("ready");
    let shown = match what {
        "response" => ledger.response("account", key).is_ok(),
        _ => ledger.export(|_| Ok::<_, LedgerError>(())).is_ok(),
    };
    say(if shown { "shown" } else { "error" });
}

/// Releases, one after the other; after an error, whether anything still works.
fn many(url: &str, prefix: &str, most: u64) {
    let mut ledger = match Ledger::open(&url.parse().unwrap()) {
        Ok(ledger) => ledger,
        Err(error) => return say(&format!("closed {error}")),
    };
    let tenth = release("0.1");
    say("ready");
    for index in 0..most {
        let key = format!("{prefix}{index}");
        let step = |ledger: &mut Ledger| {
            let head = ledger.reserve(&Request::new("account", &key, &tenth))?.head;
            say(&format!("reserved {key} {head}"));
            let stored = ledger.commit("account", &key, format!("{key} answer").as_bytes())?;
            say(&format!("shown {key} {} {}", stored.head, hex(&stored.response)));
            Ok::<_, LedgerError>(())
        };
        if let Err(error) = step(&mut ledger) {
            say(&format!("error {error}"));
            let later = [
                ledger.reserve(&Request::new("account", "later", &tenth)).is_ok(),
                ledger.commit("account", &key, b"later").is_ok(),
                ledger.status(None).is_ok(),
            ];
            say(&format!("after {later:?}"));
            return;
        }
    }
}

/// So many threads of a pool.
pub(crate) const THREADS: u64 = 8;

/// Releases by the threads of a pool; each ends at its first error.
fn many_at_once(url: &str, prefix: &str, most: u64) {
    let pool = &Pool::new(&url.parse().unwrap(), &OpenOptions::default(), 2).unwrap();
    let (say, tenth) = (&say, &release("0.1"));
    say("ready");
    let client = |thread: u64| {
        for index in 0..most {
            let key = format!("{prefix}{thread}-{index}");
            let head = pool.reserve(&Request::new("account", &key, tenth))?.head;
            say(&format!("reserved {key} {head}"));
            let stored = pool.commit("account", &key, format!("{key} answer").as_bytes())?;
            say(&format!("shown {key} {} {}", stored.head, hex(&stored.response)));
        }
        Ok::<_, LedgerError>(())
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                if let Err(error) = client(thread) {
                    say(&format!("error {error}"));
                }
            });
        }
    });
}

/// Says where it is and stays there, if this is the point.
fn pause(here: &str, point: &str) {
    if here == point {
        say(&format!("at {here}"));
        loop {
            std::thread::park();
        }
    }
}

/// A ledger that stops at a point of a phase.
fn pausing(url: &str, phase: &Arc<Mutex<&'static str>>, point: &str) -> Ledger {
    let steps = [
        ("INSERT INTO ledger_entry", "entry"),
        ("UPDATE ledger_head", "head"),
        ("UPDATE ledger_account", "balance"),
        ("INSERT INTO ledger_release", "key"),
        ("UPDATE ledger_release", "response"),
        ("INSERT INTO ledger_session", "session"),
        ("INSERT INTO ledger_state", "state"),
        ("UPDATE ledger_session SET answered", "count"),
        ("INSERT INTO ledger_answer", "answer"),
        ("UPDATE ledger_state", "new state"),
        ("UPDATE ledger_session SET ended", "ended"),
        ("DELETE FROM ledger_state", "forgotten"),
    ];
    let (phase, point) = (Arc::clone(phase), point.to_owned());
    let place = Place { url: url.to_owned(), folder: None };
    watch::open(&place, move |event| {
        let step = match event {
            Event::Begin(Access::Write) => "begin",
            // The first thing a writer reads is the head, under the lock.
            Event::Queried(sql, _) if sql.contains("FROM ledger_head") => "locked",
            Event::Executed(sql) => match steps.iter().find(|(start, _)| sql.starts_with(start)) {
                Some((_, step)) => step,
                None => return,
            },
            Event::Commit => "written",
            Event::Committed => "durable",
            _ => return,
        };
        let phase = *phase.lock().unwrap();
        pause(&format!("{phase}:{step}"), &point);
    })
}
