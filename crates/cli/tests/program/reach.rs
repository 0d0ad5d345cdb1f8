//! docs/reach.md names every public item of the core, of budgets and of the papers, and only tests that exist.

use std::collections::BTreeSet;
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

/// The words in backticks of the column for Rust, paths cut into their parts.
fn words(table: &str) -> BTreeSet<String> {
    let column = rows(table).into_iter().filter_map(|row| row.get(2).copied()).collect::<Vec<_>>();
    let quoted = column.iter().flat_map(|cell| cell.split('`').skip(1).step_by(2));
    quoted.flat_map(|path| path.split("::")).map(str::to_owned).collect()
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
