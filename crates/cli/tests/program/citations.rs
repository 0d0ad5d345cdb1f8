//! Every citation of a numbered statement of docs/theory leads to a statement, and the contents list every statement.
//!
//! Code cites a statement as the word "theory" and its number; the chapters and the glossary write a section sign.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A file's path from the root of the repository, and its text.
type Source = (String, String);

/// A numbered heading of a chapter.
struct Statement<'a> {
    number: &'a str,
    name: &'a str,
    chapter: &'a str,
    line: usize,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All text files of these kinds below a folder, or the file itself.
fn collect(place: &Path, found: &mut Vec<Source>) {
    let kinds = ["rs", "py", "pyi", "js", "md", "toml", "sh"];
    if place.is_dir() {
        let skipped = ["target", "node_modules", ".venv", "__pycache__"];
        let name = place.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !skipped.contains(&name) {
            for entry in fs::read_dir(place).unwrap() {
                collect(&entry.unwrap().path(), found);
            }
        }
    } else if place.extension().is_some_and(|kind| kinds.iter().any(|known| kind == *known)) {
        let inside = place.strip_prefix(root()).unwrap().display().to_string();
        found.push((inside, fs::read_to_string(place).unwrap()));
    }
}

fn sources(places: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    places.iter().for_each(|place| collect(&root().join(place), &mut found));
    found.sort();
    found
}

/// The number, such as 12.3, with which a text begins.
fn number(text: &str) -> Option<&str> {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let chapter = digits(text);
    let statement = digits(text.get(chapter..)?.strip_prefix('.')?);
    (chapter > 0 && statement > 0).then(|| &text[..=chapter + statement])
}

/// The citations in a text, those broken over two lines of a comment included: the line and the number of each.
fn citations(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut is_broken) = (Vec::new(), false);
    for (line, text) in (1..).zip(text.lines()) {
        if is_broken {
            let words = text.trim_start_matches([' ', '\t', '/', '!', '#', '*']);
            found.extend(number(words).map(|number| (line, number)));
        }
        is_broken = text.ends_with("theory") || text.ends_with("Theory");
        for mark in ["theory ", "Theory ", "\u{a7}"] {
            found.extend(text.split(mark).skip(1).filter_map(number).map(|number| (line, number)));
        }
    }
    found
}

fn statements((chapter, text): &Source) -> impl Iterator<Item = Statement<'_>> {
    let headings = (1..).zip(text.lines());
    headings.filter_map(move |(line, text)| {
        let heading = text.strip_prefix("### ")?;
        let number = number(heading)?;
        Some(Statement { number, name: heading[number.len()..].trim(), chapter, line })
    })
}

/// What a heading is linked to by.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect()
}

/// Citations without a statement, numbers used twice, and statements that are not in the contents or in the wrong chapter.
fn problems(chapters: &[Source], contents: &str, sources: &[Source]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for Statement { number, name, chapter, line } in chapters.iter().flat_map(statements) {
        let place = format!("{chapter}:{line}");
        if let Some(first) = known.get(number) {
            problems.push(format!("{place}: statement {number} is also at {first}"));
        }
        let file = chapter.rsplit('/').next().unwrap_or_default();
        let digits: String = file.chars().take_while(char::is_ascii_digit).collect();
        if number.split('.').next() != Some(digits.trim_start_matches('0')) {
            problems.push(format!("{place}: statement {number} is in the wrong chapter"));
        }
        let heading = format!("{number} {name}");
        let link = format!("[{heading}]({file}#{})", anchor(&heading));
        if !contents.contains(&link) {
            problems.push(format!("{place}: the contents have no {link}"));
        }
        known.insert(number, place);
    }
    for (file, text) in chapters.iter().chain(sources) {
        let unknown = citations(text).into_iter().filter(|(_, number)| !known.contains_key(number));
        problems.extend(
            unknown.map(|(line, number)| format!("{file}:{line}: there is no statement {number}")),
        );
    }
    problems
}

#[test]
fn every_citation_has_its_statement_and_every_statement_is_in_the_contents() {
    let (contents, chapters): (Vec<Source>, Vec<Source>) =
        sources(&["docs/theory"]).into_iter().partition(|(file, _)| file.ends_with("README.md"));
    let [(_, contents)] = contents.as_slice() else { panic!("docs/theory has no contents") };
    let mut rest = sources(&[
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
    ]);
    rest.extend(
        sources(&["bench", "crates", "docs"])
            .into_iter()
            .filter(|(file, _)| !chapters.iter().any(|(chapter, _)| chapter == file)),
    );
    let cited: usize = chapters.iter().chain(&rest).map(|(_, text)| citations(text).len()).sum();
    let stated = chapters.iter().flat_map(statements).count();
    assert!(
        cited > 150 && stated > 150,
        "{cited} citations and {stated} statements: the search is at fault"
    );
    let problems = problems(&chapters, contents, &rest);
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// The word is put together here, so that this file cites nothing that is not there.
#[test]
fn planted_mistakes_are_found() {
    let word = "theory";
    let chapter = |text: &str| vec![("docs/theory/02-exact.md".to_owned(), text.to_owned())];
    let contents = "- [2.1 Lower lines](02-exact.md#21-lower-lines): a claim";
    let right = chapter("# 2. Exact\n\n### 2.1 Lower lines\n\nAs in \u{a7}2.1.\n");
    let source = |text: String| vec![("crates/a/src/lib.rs".to_owned(), text)];
    let cases: [(&[Source], &[Source], &str); 6] = [
        (
            &right,
            &source(format!("\n/// A bound ({word} 2.12).")),
            "crates/a/src/lib.rs:2: there is no statement 2.12",
        ),
        (
            &right,
            &source(format!("/// A bound ({word}\n    /// 3.1).")),
            "crates/a/src/lib.rs:2: there is no statement 3.1",
        ),
        (
            &right,
            &source(format!("\"exact: docs/{word} 2.0\"")),
            "crates/a/src/lib.rs:1: there is no statement 2.0",
        ),
        (
            &chapter("### 2.1 Lower lines\n### 2.1 Lower lines"),
            &[],
            "docs/theory/02-exact.md:2: statement 2.1 is also",
        ),
        (
            &chapter("### 2.2 Halves"),
            &[],
            "docs/theory/02-exact.md:1: the contents have no [2.2 Halves]",
        ),
        (
            &chapter("### 2.1 Lower lines\n\u{a7}2.7"),
            &[],
            "docs/theory/02-exact.md:2: there is no statement 2.7",
        ),
    ];
    for (chapters, sources, expected) in cases {
        let found = problems(chapters, contents, sources);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{expected}: {found:?}");
    }
    let moved = vec![("docs/theory/03-lattices.md".to_owned(), right[0].1.clone())];
    assert!(
        problems(&moved, contents, &[])
            .iter()
            .any(|found| found.ends_with("is in the wrong chapter"))
    );
    let cited = source(format!(
        "/// A bound ({word} 2.1, {word} 2.1), {word}\n/// 2.1. No {word} 2018, no {word}."
    ));
    assert_eq!(problems(&right, contents, &cited), Vec::<String>::new());
    assert_eq!(citations(&cited[0].1), [(1, "2.1"), (1, "2.1"), (2, "2.1")]);
}

/// The paths in backticks that begin with `crates/`.
fn paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).flat_map(|(line, text)| {
        let quoted = text.split('`').skip(1).step_by(2);
        quoted.filter(|word| word.starts_with("crates/")).map(move |path| (line, path))
    })
}

#[test]
fn code_that_a_statement_names_is_there() {
    let chapters = sources(&["docs/theory"]);
    let named = |(file, text): &Source| {
        paths(text)
            .map(|(line, path)| (format!("{file}:{line}"), path.to_owned()))
            .collect::<Vec<_>>()
    };
    let named: Vec<(String, String)> = chapters.iter().flat_map(named).collect();
    assert!(named.len() > 150, "{} paths were found: the search is at fault", named.len());
    let missing = named.iter().filter(|(_, path)| !root().join(path).exists());
    let missing: Vec<String> =
        missing.map(|(place, path)| format!("{place}: there is no {path}")).collect();
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

/// The types and functions that a source defines.
fn definitions(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let kinds = ["enum", "fn", "struct", "trait", "type"];
    words.windows(2).filter(|pair| kinds.contains(&pair[0])).map(|pair| pair[1]).collect()
}

/// The last column of the glossary names types and functions of the sources.
#[test]
fn names_in_the_glossary_are_those_of_the_code() {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let rows = glossary.lines().filter(|row| row.starts_with("| "));
    let cells = rows.filter_map(|row| row.trim_matches('|').split(" | ").nth(2));
    let names: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 40, "{} names were found: the search is at fault", names.len());
    let code = sources(&["crates"]);
    let code = code.iter().filter(|(file, _)| file.ends_with(".rs") && file.contains("/src/"));
    let defined: BTreeSet<&str> = code.flat_map(|(_, text)| definitions(text)).collect();
    let missing: Vec<&&str> = names.difference(&defined).collect();
    assert!(missing.is_empty(), "docs/glossary.md names what no source defines: {missing:?}");
}
