//! The results of a family of cases.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

#[derive(Default)]
pub(crate) struct Summary {
    family: &'static str,
    pub(crate) cases: u64,
    pub(crate) answers: u64,
    /// The largest relative width of an epsilon by route, where the absolute width is
    /// above 1e-12.
    widths: BTreeMap<String, f64>,
    /// The largest relative slack of a delta by route.
    slacks: BTreeMap<String, f64>,
    /// The case of the largest slack of an exact route.
    loosest: (f64, String),
    refusals: BTreeMap<String, u64>,
    slowest: (Duration, String),
    failures: Vec<String>,
    start: Option<Instant>,
}

/// So many failures are shown.
const SHOWN: usize = 20;

impl Summary {
    pub(crate) fn new(family: &'static str) -> Self {
        Self { family, start: Some(Instant::now()), ..Self::default() }
    }

    pub(crate) fn width(&mut self, route: &str, width: f64) {
        let worst = self.widths.entry(route.into()).or_default();
        *worst = worst.max(width);
    }

    pub(crate) fn slack(&mut self, route: &str, slack: f64) {
        let worst = self.slacks.entry(route.into()).or_default();
        *worst = worst.max(slack);
    }

    pub(crate) fn loosest(&mut self, slack: f64, what: impl FnOnce() -> String) {
        if slack > self.loosest.0 {
            self.loosest = (slack, what());
        }
    }

    pub(crate) fn refusal(&mut self, kind: &str) {
        *self.refusals.entry(kind.into()).or_default() += 1;
    }

    pub(crate) fn took(&mut self, time: Duration, what: impl FnOnce() -> String) {
        if time > self.slowest.0 {
            self.slowest = (time, what());
            if time > Duration::from_secs(5) {
                say(&format!("{}: {time:?} for {}", self.family, self.slowest.1));
            }
        }
    }

    pub(crate) fn failure(&mut self, text: String) {
        if self.failures.len() < SHOWN {
            say(&format!("FAILURE in {}: {text}", self.family));
        }
        self.failures.push(text);
    }

    pub(crate) fn failures(&self) -> usize {
        self.failures.len()
    }

    /// True if there is no point in continuing.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.failures.len() >= SHOWN
    }

    /// Says how it went, past the capture of the test runner, and fails if anything did.
    pub(crate) fn finish(self) {
        let mut line = format!("{}: {} cases, {} answers", self.family, self.cases, self.answers);
        let lists = [("relative width", &self.widths), ("slack of delta", &self.slacks)];
        for (name, list) in lists {
            let _ = write!(line, "; worst {name}");
            for (route, worst) in list {
                let _ = write!(line, " {route} {worst:.1e}");
            }
        }
        let _ = write!(line, "; refusals {:?}", self.refusals);
        if self.loosest.0 > 1e-6 {
            let _ =
                write!(line, "; loosest exact delta {:.1e} ({})", self.loosest.0, self.loosest.1);
        }
        let _ = write!(line, "; slowest {:?}", self.slowest.0);
        if self.slowest.0 > Duration::from_secs(2) {
            let _ = write!(line, " ({})", self.slowest.1);
        }
        let time = self.start.map(|start| start.elapsed()).unwrap_or_default();
        let _ = write!(line, "; {:.0} s; {} failures", time.as_secs_f64(), self.failures.len());
        say(&line);
        assert!(
            self.failures.is_empty(),
            "{} failures; first: {}",
            self.failures.len(),
            self.failures[0]
        );
    }
}

/// The runner captures what is printed, but not what is written.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
