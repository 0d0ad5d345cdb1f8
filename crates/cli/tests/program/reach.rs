//! docs/reach.md names every public item of the core, of budgets and of the papers, only names and tests that exist, and
//! only commands that do what the row says: each is run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table, without its heading.
fn rows(table: &str) -> Vec<Vec<&str>> {
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(2);
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// What a cell has in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The words in backticks of the column for Rust, paths cut into their parts.
fn words(table: &str) -> BTreeSet<String> {
    let column = rows(table).into_iter().filter_map(|row| row.get(2).copied()).collect::<Vec<_>>();
    let words = column.iter().flat_map(|cell| quoted(cell)).flat_map(|path| path.split("::"));
    words.map(str::to_owned).collect()
}

/// What a line makes public, if anything: a function, a type or a constant.
fn public(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("const fn ").or_else(|| {
        ["fn ", "struct ", "enum ", "trait ", "type "]
            .iter()
            .find_map(|kind| rest.strip_prefix(kind))
    })?;
    rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
}

/// All sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "py") {
            found.push(path);
        }
    }
}

/// What a file makes public: of the theorems everything, elsewhere what is no method.
fn items(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let methods = ["theorem", "noise.rs"]
        .iter()
        .any(|name| file.components().any(|part| part.as_os_str() == *name));
    let lines = code.lines().filter(|line| methods || line.starts_with("pub "));
    lines.filter_map(public).map(str::to_owned).collect()
}

#[test]
fn everything_public_is_named_where_it_is_reached() {
    let table = fs::read_to_string(root().join("docs/reach.md")).unwrap();
    let named = words(&table);
    let mut files = Vec::new();
    for name in ["counterpoint", "budget", "papers"] {
        sources(&root().join("crates").join(name).join("src"), &mut files);
    }
    let (mut missing, mut seen) = (Vec::new(), 0);
    for file in files {
        for item in items(&file) {
            seen += 1;
            if !named.contains(&item) {
                missing.push(format!("{item} in {}", file.display()));
            }
        }
    }
    let variants = counterpoint::theorem::Theorem::ALL.map(|theorem| format!("{theorem:?}"));
    missing.extend(variants.into_iter().filter(|variant| !named.contains(variant)));
    assert!(seen > 100, "{seen} items were found: the search is at fault");
    assert!(missing.is_empty(), "not in docs/reach.md:\n{}", missing.join("\n"));
}

#[test]
fn every_name_in_rust_is_defined_somewhere() {
    let mut files = Vec::new();
    for name in ["counterpoint", "numerics", "budget", "papers", "mechanisms", "ledger", "report"] {
        sources(&root().join("crates").join(name).join("src"), &mut files);
    }
    let all: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let all: BTreeSet<&str> = all.split(|c| !is_word(c)).collect();
    let table = fs::read_to_string(root().join("docs/reach.md")).unwrap();
    let unknown: Vec<_> =
        words(&table).into_iter().filter(|word| !all.contains(word.as_str())).collect();
    assert!(unknown.is_empty(), "named in docs/reach.md, and nowhere: {unknown:?}");
}

#[test]
fn every_test_that_the_table_names_is_there() {
    let table = fs::read_to_string(root().join("docs/reach.md")).unwrap();
    let mut files = Vec::new();
    for name in [
        "counterpoint/tests",
        "papers/tests",
        "cli/tests",
        "wire/src",
        "wire/tests",
        "mechanisms/src",
        "python/tests",
    ] {
        sources(&root().join("crates").join(name), &mut files);
    }
    let all: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let rows = rows(&table);
    for row in &rows {
        let name = row.last().unwrap().trim_matches('`');
        let kinds = [format!("fn {name}()"), format!("def {name}(")];
        assert!(kinds.iter().any(|test| all.contains(test)), "{row:?}");
    }
    let count = rows.len();
    assert!(count > 15, "{count} rows were found: the search is at fault");
}

/// A line of an example: a command and the status it ends with, or a request to the server that was started last.
struct Line<'a> {
    status: i32,
    command: &'a str,
    /// What it has to print.
    printed: Vec<&'a str>,
}

/// The file of examples.
fn example_file() -> String {
    fs::read_to_string(root().join("crates/cli/tests/program/reach.txt")).unwrap()
}

/// Each row's example. A line begins with `$`, the status unless it is 0, and a command; with `POST`, where to, and what; or with
/// `>` and what the line before has to print.
fn examples(text: &str) -> BTreeMap<&str, Vec<Line<'_>>> {
    let blocks = text.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    let example = |block| {
        let mut lines = str::lines(block);
        let name = lines.next().and_then(|line| line.strip_prefix("# ")).unwrap();
        let mut list: Vec<Line<'_>> = Vec::new();
        for line in lines {
            let (sign, rest) = line.split_once(' ').unwrap();
            match sign.strip_prefix('$') {
                Some(status) => {
                    let status = if status.is_empty() { 0 } else { status.parse().unwrap() };
                    list.push(Line { status, command: rest, printed: Vec::new() });
                }
                None if sign == ">" => list.last_mut().unwrap().printed.push(rest),
                None => list.push(Line { status: 0, command: line, printed: Vec::new() }),
            }
        }
        (name, list)
    };
    blocks.map(example).collect()
}

#[test]
fn every_row_that_names_a_command_has_an_example_of_it() {
    let table = fs::read_to_string(root().join("docs/reach.md")).unwrap();
    let rows = rows(&table);
    let text = example_file();
    let examples = examples(&text);
    for row in &rows {
        let lines = examples.get(row[0]).map_or(&[][..], Vec::as_slice);
        assert_eq!(lines.is_empty(), row[1] == "none", "{row:?}");
        for command in quoted(row[1]) {
            let uses = |line: &&Line<'_>| {
                let mut words = line.command.split(' ');
                let program = words.find(|word| *word == "counterpoint").is_some();
                let rest: Vec<&str> = words.collect();
                program && command.split(' ').all(|word| rest.contains(&word))
            };
            let printed =
                lines.iter().skip_while(|line| !uses(line)).any(|l| !l.printed.is_empty());
            assert!(lines.iter().any(|line| uses(&line)) && printed, "{command} of {row:?}");
        }
    }
    let names: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    let others: Vec<_> = examples.keys().filter(|name| !names.contains(*name)).collect();
    assert!(others.is_empty(), "examples of no row: {others:?}");
}

#[cfg(feature = "serve")]
mod running {
    use std::io::{BufRead, BufReader};
    use std::net::SocketAddr;
    use std::process::{Child, Command, Stdio};

    use counterpoint_testing::Client;

    use super::{Line, example_file, examples, root};
    use crate::Folder;

    /// The curator of made-up data, and somebody's token; it ends with its owner.
    struct Demo {
        child: Child,
        address: SocketAddr,
        token: String,
    }

    impl Demo {
        fn start(args: &[&str]) -> Self {
            let mut command = crate::command(args);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
            let mut next = |start: &str| {
                let line = lines.find_map(|line| Some(line.ok()?.strip_prefix(start)?.to_owned()));
                line.unwrap_or_else(|| panic!("no line {start}"))
            };
            let (token, address) = (next("token analyst ann "), next("listening on http://"));
            Self { child, address: address.parse().unwrap(), token }
        }

        /// Whether it was answered, and what.
        fn post(&self, request: &str) -> (bool, String) {
            let (place, body) = request.split_once(' ').unwrap();
            let head = format!(
                "POST /v1/{place} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                self.address,
                self.token,
                body.len()
            );
            let (status, said) = Client::new(self.address).send((head + body).as_bytes());
            ((200..300).contains(&status), said)
        }
    }

    impl Drop for Demo {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    /// Runs an example in a folder of its own; what is wrong with it.
    fn wrong(lines: &[Line<'_>]) -> Option<String> {
        let folder = Folder::new();
        std::os::unix::fs::symlink(root().join("examples"), folder.path("examples")).unwrap();
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_counterpoint")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let mut demo = None;
        for Line { status, command, printed } in lines {
            let (done, said) = if let Some(request) = command.strip_prefix("POST ") {
                demo.as_ref()
                    .map_or((false, "no server".to_owned()), |demo: &Demo| demo.post(request))
            } else if let Some(args) = command.strip_prefix("counterpoint serve") {
                let args = ["serve"].into_iter().chain(args.split_whitespace());
                demo = Some(Demo::start(&args.collect::<Vec<_>>()));
                (true, String::new())
            } else {
                let mut bash = Command::new("bash");
                let bash = bash.args(["-c", &format!("set -o pipefail; {command}")]);
                let bash = bash.env("PATH", &path).current_dir(folder.path("."));
                let output = bash.stdin(Stdio::null()).output().unwrap();
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8(said).unwrap();
                (output.status.code() == Some(*status), said)
            };
            let missing = printed.iter().find(|text| !said.contains(**text));
            if !done || missing.is_some() {
                return Some(format!("{command}\nstatus {done}, without {missing:?}:\n{said}"));
            }
        }
        None
    }

    #[test]
    fn every_command_that_the_table_names_does_it() {
        let text = example_file();
        let all = examples(&text);
        assert!(all.len() > 50, "{} examples were found", all.len());
        let wrong =
            all.iter().filter_map(|(name, lines)| Some(format!("{name}: {}", wrong(lines)?)));
        let wrong: Vec<String> = wrong.collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}
