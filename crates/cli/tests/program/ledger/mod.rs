//! `counterpoint ledger`, as scripts and people use it.

mod accounts;
mod history;
mod odometer;
mod owners;
mod refusals;
mod release;
mod status;

use serde_json::Value;

use crate::{Folder, Run, run};

/// A new ledger in a folder.
struct Ledger {
    folder: Folder,
    url: String,
}

impl Ledger {
    fn new() -> Self {
        let folder = Folder::new();
        let url = format!("sqlite:{}", folder.path("ledger.db").display());
        let ledger = Self { folder, url };
        assert_eq!(ledger.object(&["init"])["outcome"], "done");
        ledger
    }

    fn with_account(epsilon: &str) -> Self {
        let ledger = Self::new();
        let dataset = ["dataset", "census", "--adjacency", "add-remove"];
        ledger.object(&[&dataset[..], &["--epsilon", "1", "--delta", "1e-6"]].concat());
        let open = ["open", "team", "--dataset", "census", "--filter", "sums"];
        ledger.object(&[&open[..], &["--epsilon", epsilon, "--delta", "0"]].concat());
        ledger
    }

    fn run(&self, args: &[&str]) -> Run {
        run(&[&["ledger", "--url", &self.url], args].concat())
    }

    #[track_caller]
    fn object(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--json"]].concat()).object()
    }

    /// The object of a definite no.
    #[track_caller]
    fn no(&self, args: &[&str]) -> Value {
        let run = self.run(&[args, &["--json"]].concat());
        assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{}", run.stdout);
        assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
        serde_json::from_str(&run.stdout).unwrap()
    }

    fn reserve(&self, key: &str, epsilon: &str) -> Value {
        let release = format!(r#"{{"mechanism": "approx-dp", "epsilon": {epsilon}}}"#);
        self.object(&["reserve", "team", &release, "--key", key])
    }
}

/// Opens an account of one epsilon.
fn open_sums(name: &str) -> [&str; 10] {
    ["open", name, "--dataset", "census", "--filter", "sums", "--epsilon", "1", "--delta", "0"]
}
