//! What the documents tell people to type works, and says what they show.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and the pages of the documentation.
fn documents() -> Vec<PathBuf> {
    let pages = std::fs::read_dir(root().join("docs")).unwrap();
    let pages = pages.map(|page| page.unwrap().path());
    let pages = pages.filter(|page| page.extension().is_some_and(|kind| kind == "md"));
    let mut list: Vec<PathBuf> = pages.chain([root().join("README.md")]).collect();
    list.sort();
    list
}

/// The chapters of the theory and their contents.
fn chapters() -> Vec<PathBuf> {
    let chapters = std::fs::read_dir(root().join("docs/theory")).unwrap();
    chapters.map(|chapter| chapter.unwrap().path()).collect()
}

/// The blocks of a kind: their lines.
fn blocks<'a>(text: &'a str, kind: &str) -> Vec<Vec<&'a str>> {
    let (mut list, mut inside) = (Vec::new(), false);
    for line in text.lines() {
        if inside && line == "```" {
            inside = false;
        } else if inside {
            list.last_mut().into_iter().for_each(|block: &mut Vec<&str>| block.push(line));
        } else if line == format!("```{kind}") {
            inside = true;
            list.push(Vec::new());
        }
    }
    list
}

/// A command, and what it is shown to say.
struct Shown<'a> {
    command: String,
    said: Vec<&'a str>,
}

fn commands(text: &str) -> Vec<Shown<'_>> {
    let mut list: Vec<Shown<'_>> = Vec::new();
    for line in blocks(text, "console").into_iter().flatten() {
        match line.strip_prefix("$ ") {
            Some(command) => list.push(Shown { command: command.to_owned(), said: Vec::new() }),
            None => list.last_mut().unwrap().said.push(line),
        }
    }
    list
}

/// What is not typed here: it builds, it installs, or it does not end. `serve` and `./check` are tested by themselves.
fn is_elsewhere(command: &str) -> bool {
    let elsewhere = [
        "./check",
        "cargo install",
        "pip install",
        "MATURIN_PEP517_ARGS",
        "mdbook",
        "counterpoint serve",
        "curl",
    ];
    elsewhere.iter().any(|start| command.starts_with(start))
}

/// Whether a text is as shown, where `...` stands for any lines.
fn is_as_shown(said: &[&str], shown: &[&str]) -> bool {
    match shown {
        [] => said.is_empty(),
        ["..."] => true,
        ["...", rest @ ..] => (0..=said.len()).any(|from| is_as_shown(&said[from..], rest)),
        [line, rest @ ..] => {
            said.first() == Some(line) && is_as_shown(said.get(1..).unwrap_or_default(), rest)
        }
    }
}

/// Between what one command says and the next.
const MARK: &str = "~ ~ ~";

/// Files whose first line is their name, then every command in its turn.
#[test]
fn what_is_told_to_type_works() {
    let mut typed = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        let list = commands(&text);
        let list: Vec<_> = list.iter().filter(|shown| !is_elsewhere(&shown.command)).collect();
        if list.is_empty() {
            continue;
        }
        let folder = Folder::new();
        std::os::unix::fs::symlink(root().join("examples"), folder.path("examples")).unwrap();
        for block in blocks(&text, "toml") {
            if let Some(name) = block.first().and_then(|line| line.strip_prefix("# "))
                && name.ends_with(".toml")
                && !name.contains(' ')
            {
                std::fs::write(folder.path(name), block.join("\n")).unwrap();
            }
        }
        let mut script = "set -eu\n".to_owned();
        for shown in &list {
            let command = shown.command.replace("cargo run --bin counterpoint --", "counterpoint");
            // A claim that is refuted is a definite no.
            let allowed = if command.contains(" audit ") { " || [ $? = 1 ]" } else { "" };
            writeln!(script, "{{ {command}\n}}{allowed}\necho '{MARK}'").unwrap();
        }
        let program = Path::new(env!("CARGO_BIN_EXE_counterpoint")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
        let mut bash = Command::new("bash");
        let bash = bash.args(["-c", &script]).env("PATH", path).current_dir(folder.path("."));
        let output = bash.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let why = String::from_utf8(output.stderr).unwrap();
        let said: Vec<&str> = said.split(&format!("{MARK}\n")).collect();
        assert!(output.status.success(), "{}: {} {why}", document.display(), said.len());
        assert_eq!(said.len(), list.len() + 1, "{}: {why}", document.display());
        for (shown, said) in list.iter().zip(said) {
            let said: Vec<&str> = said.lines().collect();
            assert!(
                shown.said.is_empty() || is_as_shown(&said, &shown.said),
                "{}: {}\n{}",
                document.display(),
                shown.command,
                said.join("\n")
            );
            typed += 1;
        }
    }
    assert!(typed > 30, "{typed}");
}

/// Files and headings that are linked to are there.
#[test]
fn links_lead_somewhere() {
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
    let others = others.map(|name| root().join(name));
    for document in documents().into_iter().chain(others).chain(chapters()) {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                document.clone()
            } else {
                document.parent().unwrap().join(file)
            };
            assert!(target.exists(), "{}: {link}", document.display());
            if !heading.is_empty() {
                let there = std::fs::read_to_string(&target).unwrap();
                let mut headings = there.lines().filter(|line| line.starts_with('#')).map(anchor);
                assert!(headings.any(|one| one == heading), "{}: {link}", document.display());
            }
        }
    }
}

/// What a heading is linked to by.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect()
}

/// Every page is in the table of contents, once.
#[test]
fn pages_are_in_the_table_of_contents() {
    let contents = std::fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    for page in documents() {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        if name != "SUMMARY.md" && name != "README.md" {
            assert_eq!(contents.matches(&format!("]({name})")).count(), 1, "{name}");
        }
    }
    for chapter in chapters() {
        let name = format!("theory/{}", chapter.file_name().unwrap().to_string_lossy());
        assert_eq!(contents.matches(&format!("]({name})")).count(), 1, "{name}");
    }
}

/// On a machine with nothing the check says at once all that it needs, and installs nothing that it was not told to.
#[cfg(unix)]
#[test]
fn a_check_that_cannot_run_says_at_the_start_what_it_needs() {
    let folder = Folder::new();
    let programs = folder.path("programs");
    std::fs::create_dir_all(&programs).unwrap();
    for program in ["/bin/bash", "/usr/bin/dirname", "/bin/ls"] {
        let name = Path::new(program).file_name().unwrap();
        std::os::unix::fs::symlink(program, programs.join(name)).unwrap();
    }
    let somebody = programs.join("id");
    std::fs::write(&somebody, "#!/bin/bash\necho 1000\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&somebody, mode).unwrap();
    let check = |words: &[&str]| {
        let mut command = Command::new("/bin/bash");
        let check = command.arg(root().join("check")).args(words).env("PATH", &programs);
        let check = check.output().unwrap();
        let [said, told] =
            [check.stdout, check.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!((check.status.code(), said.as_str()), (Some(2), ""), "{told}");
        told
    };
    let base = ["rustup", "gcc", "python3-venv"];
    let more = ["protobuf-compiler", "default-jre", "nodejs", "chromium"];
    let told = check(&[]);
    assert!(base.iter().all(|package| told.contains(package)), "{told}");
    assert!(!more.iter().any(|package| told.contains(package)), "{told}");
    let told = check(&["all"]);
    assert!(base.iter().chain(&more).all(|package| told.contains(package)), "{told}");
    assert!(told.contains("./check all --install"), "{told}");
    let told = check(&["all", "--install"]);
    assert!(told.contains("only root can install"), "{told}");
    assert!(check(&["everything"]).starts_with("usage: ./check [fast|all|full]"));
}
