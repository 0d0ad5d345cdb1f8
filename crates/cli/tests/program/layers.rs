//! No arrow runs back: between the folders and between the files of each crate, what uses
//! another is not used by it, directly or through others. The layers of the core and of the ledger are listed below.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The core, from the bottom up: each layer uses only itself and those before it.
const CORE: [&[&str]; 7] = [
    &["quantity", "delta_bounds", "watch", "citation"],
    &["mechanism", "laws"],
    &["loss"],
    &["composition"],
    &["methods"],
    &["ask"],
    &["region", "audit", "theorem"],
];

/// The ledger, likewise.
const LEDGER: [&[&str]; 3] = [&["rules"], &["store"], &["history"]];

/// From a file to the files it uses.
type Arrows = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

#[test]
fn no_arrow_runs_back_between_files_or_folders() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut circles = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let folder = entry.unwrap().path();
        let source = folder.join("src");
        if source.is_dir() {
            circles.extend(circles_in(&source, &rust::arrows(&source)));
        }
        let web = folder.join("web");
        if web.is_dir() {
            circles.extend(circles_in(&web, &script::arrows(&web)));
        }
        let python = folder.join("python");
        if python.is_dir() {
            circles.extend(circles_in(&python, &python::arrows(&python)));
        }
    }
    assert!(circles.is_empty(), "\n{}", circles.join("\n"));
}

#[test]
fn layers_use_only_those_below() {
    let mut wrong = uses_of_layers_above("counterpoint", &CORE);
    wrong.extend(uses_of_layers_above("ledger", &LEDGER));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What uses a layer that stands after its own.
fn uses_of_layers_above(name: &str, layers: &[&[&str]]) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
    let layer = |name: &str| layers.iter().position(|layer| layer.contains(&name));
    let mut wrong = Vec::new();
    for (from, to) in contracted(&source, &rust::arrows(&source)) {
        if from == "lib" {
            continue;
        }
        let from_layer = layer(&from).unwrap_or_else(|| panic!("{from} is in no layer"));
        for to in to {
            if layer(&to).is_none_or(|to_layer| to_layer > from_layer) {
                wrong.push(format!("{name}: {from} uses {to}, which is above it"));
            }
        }
    }
    wrong
}

/// The rules of the ledger decide the same whenever they are asked: nothing outside is named in them.
#[test]
fn the_ledgers_rules_are_pure() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ledger/src/rules");
    let outside = [
        "std::fs",
        "std::io",
        "std::net",
        "std::env",
        "std::time",
        "getrandom",
        "rusqlite",
        "tokio",
    ];
    for entry in fs::read_dir(rules).unwrap() {
        let file = entry.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        let named: Vec<&&str> = outside.iter().filter(|name| text.contains(**name)).collect();
        assert!(named.is_empty(), "{}: {named:?}", file.display());
    }
}

#[test]
fn circles_are_seen_through_braces_reexports_and_paths() {
    let file = |text: &str| text.to_owned();
    let read = |b: &str| {
        let files = [
            (vec![], file("mod a; mod b; mod c { } pub use b::Thing;")),
            (
                vec!["a".to_owned()],
                file("use crate::{Thing, b::{self as other}}; // use crate::x;"),
            ),
            (vec!["b".to_owned()], file(b)),
        ];
        rust::between(&files)
    };
    let names = |arrows: BTreeMap<Vec<String>, BTreeSet<Vec<String>>>| {
        arrows[&vec!["b".to_owned()]].iter().any(|to| to == &vec!["a".to_owned()])
    };
    assert!(names(read("use super::a;")));
    assert!(names(read("fn f<'a>(x: &'a str) { let _ = '\"'; crate::a::f(x) }")));
    assert!(!names(read("/* use super::a; */ const A: &str = \"crate::a::f\";")));
    assert!(!names(read("#[cfg(test)] mod tests { use crate::a::f; }")));
}

/// Every circle, between the files and between what stands side by side in each folder.
fn circles_in(root: &Path, arrows: &Arrows) -> Vec<String> {
    let name = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).display().to_string();
    let files = arrows.iter().map(|(from, to)| (name(from), to.iter().map(&name).collect()));
    let mut list: Vec<String> = circles(&files.collect());
    let folders: BTreeSet<&Path> = arrows.keys().filter_map(|file| file.parent()).collect();
    for folder in folders {
        list.extend(circles(&contracted(folder, arrows)));
    }
    list.into_iter().map(|circle| format!("{}: {circle}", root.display())).collect()
}

/// The arrows between the files and folders of one folder, by their names.
fn contracted(folder: &Path, arrows: &Arrows) -> BTreeMap<String, BTreeSet<String>> {
    let entry = |file: &PathBuf| {
        let inside = file.strip_prefix(folder).ok()?;
        let first = inside.components().next()?.as_os_str().to_str()?;
        Some(first.split('.').next().unwrap_or(first).to_owned())
    };
    let mut list: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in arrows {
        let Some(from) = entry(from) else { continue };
        let to = to.iter().filter_map(entry).filter(|to| *to != from);
        list.entry(from.clone()).or_default().extend(to);
    }
    list
}

/// The groups of nodes that can be reached from each other.
fn circles(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let reached = |from: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(next) = open.pop() {
            for to in arrows.get(&next).into_iter().flatten() {
                if seen.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<String>> =
        arrows.keys().map(|from| (from, reached(from))).collect();
    let mut found: BTreeSet<Vec<&String>> = BTreeSet::new();
    for (from, seen) in &reach {
        let back = |to: &&&String| seen.contains(**to) && reach[**to].contains(*from);
        let circle: Vec<&String> =
            arrows.keys().collect::<Vec<_>>().iter().filter(back).copied().collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    let inside = |circle: &Vec<&String>| {
        let mut text = Vec::new();
        for &from in circle {
            for to in arrows[from].iter().filter(|to| circle.contains(to)) {
                text.push(format!("{from} -> {to}"));
            }
        }
        text.join(", ")
    };
    found.iter().map(inside).collect()
}

/// The imports of ES modules, all of which stand in one folder.
mod script {
    use super::{Arrows, Path, PathBuf, fs};

    pub(super) fn arrows(folder: &Path) -> Arrows {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let scripts = files.filter(|file| file.extension().is_some_and(|end| end == "js"));
        scripts.map(|file| (file.clone(), imports(folder, &file))).collect()
    }

    fn imports(folder: &Path, file: &Path) -> std::collections::BTreeSet<PathBuf> {
        let text = fs::read_to_string(file).unwrap();
        let names = text.split("from './").skip(1).filter_map(|rest| rest.split('\'').next());
        names.map(|name| folder.join(name)).collect()
    }
}

/// Rust's imports.
mod rust {
    use super::{Arrows, BTreeMap, BTreeSet, Path, PathBuf, fs};

    type Name = Vec<String>;

    /// A module with a file of its own: the paths it names, and what it hands on.
    #[derive(Default)]
    struct Module {
        uses: Vec<Name>,
        exports: BTreeMap<String, Name>,
        /// Children that are there for tests alone.
        tests: BTreeSet<String>,
    }

    pub(super) fn arrows(source: &Path) -> Arrows {
        let mut files = Vec::new();
        collect(source, source, &mut files);
        let texts: Vec<(Name, String)> = files
            .iter()
            .map(|(name, file)| (name.clone(), fs::read_to_string(file).unwrap()))
            .collect();
        let file: BTreeMap<&Name, &PathBuf> =
            files.iter().map(|(name, file)| (name, file)).collect();
        let arrows = between(&texts).into_iter();
        arrows
            .map(|(from, to)| (file[&from].clone(), to.iter().map(|to| file[to].clone()).collect()))
            .collect()
    }

    /// Each file below a folder, with the module it holds.
    fn collect(source: &Path, folder: &Path, files: &mut Vec<(Name, PathBuf)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(source, &path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path.strip_prefix(source).unwrap().with_extension("");
                let mut name: Name =
                    inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
                let last = name.last().map(String::as_str);
                if matches!(last, Some("mod" | "lib" | "main")) {
                    name.pop();
                }
                files.push((name, path));
            }
        }
    }

    /// From each module to those it uses, test modules aside.
    pub(super) fn between(files: &[(Name, String)]) -> BTreeMap<Name, BTreeSet<Name>> {
        let names: BTreeSet<&Name> = files.iter().map(|(name, _)| name).collect();
        let mut modules: BTreeMap<&Name, Module> = BTreeMap::new();
        for (name, text) in files {
            modules.insert(name, read(name, &tokens(text), &names));
        }
        let is_test = |name: &Name| {
            (1..=name.len()).any(|end| {
                let parent = modules.get(&name[..end - 1].to_vec());
                parent.is_some_and(|parent| parent.tests.contains(&name[end - 1]))
            })
        };
        let mut arrows = BTreeMap::new();
        for (&name, module) in modules.iter().filter(|(name, _)| !is_test(name)) {
            let targets = module.uses.iter().filter_map(|path| target(path, &modules, 8));
            // What a module holds is part of it: its files may use what it defines itself.
            let others = targets.filter(|to| !name.starts_with(to) && !is_test(to));
            arrows.insert(name.clone(), others.collect());
        }
        arrows
    }

    /// The module that a path from the crate's root leads to, through what others hand on.
    fn target(path: &Name, modules: &BTreeMap<&Name, Module>, depth: u32) -> Option<Name> {
        let end =
            (0..=path.len()).rev().find(|&end| modules.contains_key(&path[..end].to_vec()))?;
        let module = path[..end].to_vec();
        match path.get(end).and_then(|item| modules[&module].exports.get(item)) {
            Some(further) if depth > 0 => target(further, modules, depth - 1),
            _ => Some(module),
        }
    }

    fn read(name: &Name, tokens: &[String], names: &BTreeSet<&Name>) -> Module {
        let mut module = Module::default();
        let mut inner: Vec<(String, usize)> = Vec::new();
        let (mut at, mut depth, mut test) = (0, 0, false);
        while at < tokens.len() {
            let here: Name =
                name.iter().chain(inner.iter().map(|(name, _)| name)).cloned().collect();
            let root = |path: &[String]| rooted(path, &here, names);
            match tokens[at].as_str() {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inner.last().is_some_and(|(_, at)| *at == depth) {
                        inner.pop();
                    }
                }
                "cfg"
                    if tokens[at..]
                        .iter()
                        .take(4)
                        .map(String::as_str)
                        .eq(["cfg", "(", "test", ")"]) =>
                {
                    test = true;
                    at += 4;
                }
                ";" => test = false,
                "mod" if tokens.get(at + 2).is_some_and(|next| next == "{") => {
                    if test {
                        at = closing(tokens, at + 2);
                        test = false;
                    } else {
                        inner.push((tokens[at + 1].clone(), depth));
                        depth += 1;
                        at += 2;
                    }
                }
                "mod" if test => {
                    module.tests.insert(tokens[at + 1].clone());
                }
                "use" => {
                    let public = at > 0 && matches!(tokens[at - 1].as_str(), "pub" | ")");
                    let mut list = Vec::new();
                    at = tree(tokens, at + 1, &[], &mut list);
                    for (path, alias) in list {
                        let Some(path) = root(&path) else { continue };
                        if public && inner.is_empty() {
                            module.exports.insert(alias, path.clone());
                        }
                        module.uses.push(path);
                    }
                    continue;
                }
                _ if tokens.get(at + 1).is_some_and(|next| next == "::")
                    && (at == 0 || tokens[at - 1] != "::") =>
                {
                    let mut path = vec![tokens[at].clone()];
                    while tokens.get(at + 1).is_some_and(|next| next == "::")
                        && tokens.get(at + 2).is_some_and(|next| is_word(next))
                    {
                        path.push(tokens[at + 2].clone());
                        at += 2;
                    }
                    module.uses.extend(root(&path));
                }
                _ => {}
            }
            at += 1;
        }
        module
    }

    /// A path from the crate's root; none if it leads out of the crate, or is no path to a module.
    fn rooted(path: &[String], here: &Name, names: &BTreeSet<&Name>) -> Option<Name> {
        let mut base = here.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            first => {
                let child: Name = here.iter().cloned().chain([first.to_owned()]).collect();
                names.contains(&child).then_some(())?;
            }
        }
        Some(base.into_iter().chain(rest.iter().cloned()).collect())
    }

    /// The paths of an import from a place in it on, and where it ends.
    fn tree(
        tokens: &[String],
        mut at: usize,
        before: &[String],
        list: &mut Vec<(Name, String)>,
    ) -> usize {
        let mut path = before.to_vec();
        while at < tokens.len() {
            match tokens[at].as_str() {
                "::" => {}
                "{" => {
                    at += 1;
                    while tokens[at] != "}" {
                        at = tree(tokens, at, &path, list);
                        if tokens[at] == "," {
                            at += 1;
                        }
                    }
                    return at + 1;
                }
                "as" => {
                    list.push((path, tokens[at + 1].clone()));
                    return at + 2;
                }
                "self" if !path.is_empty() => {}
                word if is_word(word) || word == "*" => path.push(word.to_owned()),
                _ => break,
            }
            at += 1;
        }
        let alias = path.last().cloned().unwrap_or_default();
        list.push((path, alias));
        at
    }

    /// Where the brace that opens here is closed.
    fn closing(tokens: &[String], open: usize) -> usize {
        let mut depth = 0;
        for (at, token) in tokens.iter().enumerate().skip(open) {
            match token.as_str() {
                "{" => depth += 1,
                "}" if depth == 1 => return at,
                "}" => depth -= 1,
                _ => {}
            }
        }
        tokens.len()
    }

    fn is_word(token: &str) -> bool {
        token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    }

    /// Words, `::` and single marks; comments and literals left out.
    fn tokens(text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let mut list: Vec<String> = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            let next = chars.get(at + 1).copied().unwrap_or(' ');
            match chars[at] {
                '/' if next == '/' => at += until(&chars[at..], |rest| rest[0] == '\n'),
                '/' if next == '*' => {
                    at += 2 + until(&chars[at + 2..], |rest| rest.starts_with(&['*', '/'])) + 1
                }
                '"' => at += string(&chars[at..]),
                'r' if next == '#' && chars.get(at + 2) == Some(&'"') => {
                    at += 3 + until(&chars[at + 3..], |rest| rest.starts_with(&['"', '#'])) + 1;
                }
                '\'' if next == '\\' => {
                    at += 2 + until(&chars[at + 3..], |rest| rest[0] == '\'') + 1
                }
                '\'' if chars.get(at + 2) == Some(&'\'') => at += 2,
                ':' if next == ':' => {
                    list.push("::".into());
                    at += 1;
                }
                c if c.is_alphanumeric() || c == '_' => {
                    let length =
                        until(&chars[at..], |rest| !(rest[0].is_alphanumeric() || rest[0] == '_'));
                    list.push(chars[at..at + length].iter().collect());
                    at += length - 1;
                }
                c if c.is_whitespace() => {}
                c => list.push(c.into()),
            }
            at += 1;
        }
        list
    }

    /// How far it is to where something holds, or to the end.
    fn until(rest: &[char], holds: impl Fn(&[char]) -> bool) -> usize {
        (0..rest.len()).find(|&at| holds(&rest[at..])).unwrap_or(rest.len())
    }

    /// From the quote that opens a literal to the one that closes it.
    fn string(rest: &[char]) -> usize {
        let mut at = 1;
        while at < rest.len() && rest[at] != '"' {
            at += if rest[at] == '\\' { 2 } else { 1 };
        }
        at
    }
}

/// Python's imports, those inside functions and those for type checkers too.
mod python {
    use super::{Arrows, BTreeSet, Path, PathBuf, fs};

    pub(super) fn arrows(root: &Path) -> Arrows {
        let mut files = Vec::new();
        collect(root, &mut files);
        let arrows_of = |file: &PathBuf| {
            let text = fs::read_to_string(file).unwrap();
            let folder = file.parent().unwrap();
            let targets = modules(&text).into_iter().flat_map(|name| targets(root, folder, &name));
            let known = targets.filter(|to| files.contains(to) && to != file);
            (file.clone(), known.collect::<BTreeSet<_>>())
        };
        files.iter().map(arrows_of).collect()
    }

    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                files.push(path);
            }
        }
    }

    /// The names in `from NAME import A, B` (as NAME, NAME.A, NAME.B) and `import NAME`.
    fn modules(text: &str) -> Vec<String> {
        let joined = text.replace("(\n", "(").replace(",\n", ",");
        let mut list = Vec::new();
        for line in joined.lines() {
            let line = line.trim();
            if let Some((name, items)) =
                line.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
            {
                let dotted = if name.ends_with('.') { name.to_owned() } else { format!("{name}.") };
                let items = items.trim_matches(['(', ')']).split(',');
                let item = |item: &str| {
                    item.split_whitespace().next().map(|item| format!("{dotted}{item}"))
                };
                list.extend(items.filter_map(item));
            } else if let Some(name) = line.strip_prefix("import ") {
                list.push(name.split_whitespace().next().unwrap_or_default().to_owned());
            }
        }
        list
    }

    /// The file a name leads to: `.a.b` is `a.py`, or `a/b.py` if there is one; a folder alone is
    /// no file, as its face takes from all it shows.
    fn targets(root: &Path, folder: &Path, name: &str) -> Option<PathBuf> {
        let dots = name.len() - name.trim_start_matches('.').len();
        let mut base = if dots == 0 { root.to_owned() } else { folder.to_owned() };
        for _ in 1..dots {
            base.pop();
        }
        let parts: Vec<&str> = name.trim_start_matches('.').split('.').collect();
        let file = |count: usize| {
            let path = parts[..count].iter().fold(base.clone(), |path, part| path.join(part));
            [path.with_extension("py"), path.join("__init__.py")]
                .into_iter()
                .find(|file| file.is_file())
        };
        (1..=parts.len()).rev().find_map(file)
    }
}
