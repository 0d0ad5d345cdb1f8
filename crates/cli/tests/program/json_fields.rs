//! docs/json.md has every field of the program's JSON: `json_fields.sh` runs commands that cover the page, and their
//! objects are followed through its tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Folder;

/// The fields whose objects have data as keys.
const MAPS: [&str; 1] = ["@context"];

/// The fields of a section: their types, and whether they are marked as printed by no command of `json_fields.sh`.
type Fields = BTreeMap<String, (String, bool)>;

/// The tables of the page by the link to their section.
fn sections(page: &str) -> BTreeMap<String, Fields> {
    let (mut sections, mut section) = (BTreeMap::<_, Fields>::new(), String::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            section = heading.to_lowercase().replace(' ', "-");
        } else if line.starts_with("| `") {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            let [names, kind, _, _] = cells[..] else { panic!("not four columns: {line}") };
            let fields = sections.entry(section.clone()).or_default();
            for name in names.split('`').skip(1).step_by(2) {
                let field = (kind.to_owned(), names.contains('†'));
                assert!(fields.insert(name.to_owned(), field).is_none(), "{section}: {name} twice");
            }
        }
    }
    sections
}

/// The objects that were followed through the page.
struct Followed {
    page: BTreeMap<String, Fields>,
    seen: BTreeSet<(String, String)>,
    wrong: BTreeSet<String>,
}

impl Followed {
    /// Compares an object with its section, and all objects in it with theirs.
    fn object(&mut self, section: &str, object: &Value) {
        for (name, value) in object.as_object().into_iter().flatten() {
            match self.page.get(section).and_then(|fields| fields.get(name)) {
                Some((kind, _)) => {
                    self.seen.insert((section.to_owned(), name.clone()));
                    let kind = kind.clone();
                    self.value(&format!("{section}: {name}"), &kind, value);
                }
                None => drop(self.wrong.insert(format!("{section}: {name} is not documented"))),
            }
        }
    }

    fn value(&mut self, place: &str, kind: &str, value: &Value) {
        let is_map = MAPS.iter().any(|name| place.ends_with(&format!(": {name}")));
        let word = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "text",
            Value::Array(_) => "list",
            Value::Object(_) if is_map => "map",
            Value::Object(_) => "object",
        };
        if !kind.contains(word) {
            self.wrong.insert(format!("{place} is documented as {kind}, and a {word} was printed"));
        }
        value.as_array().into_iter().flatten().for_each(|item| self.value(place, kind, item));
        if word == "object" {
            let link = kind.split("(#").nth(1).and_then(|rest| rest.split(')').next());
            self.object(link.unwrap_or(place), value);
        }
    }
}

#[test]
fn every_field_of_the_json_is_documented_and_every_documented_field_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Folder::new();
    std::os::unix::fs::symlink(root.join("examples"), folder.path("examples")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_counterpoint")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    let bash = bash.arg(root.join("crates/cli/tests/program/json_fields.sh")).env("PATH", path);
    let output = bash.current_dir(folder.path(".")).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("error: "), "{said}");
    let page = sections(&std::fs::read_to_string(root.join("docs/json.md")).unwrap());
    let mut followed = Followed { page, seen: BTreeSet::new(), wrong: BTreeSet::new() };
    for printed in String::from_utf8(output.stdout).unwrap().split("\n~ ").skip(1) {
        let (section, objects) = printed.split_once('\n').unwrap();
        let objects = serde_json::Deserializer::from_str(objects).into_iter::<Value>();
        let objects: Vec<Value> = objects.collect::<Result<_, _>>().unwrap();
        assert!(!objects.is_empty(), "{section}: nothing was printed: {said}");
        objects.iter().for_each(|object| followed.object(section, object));
    }
    let Followed { page, seen, mut wrong } = followed;
    for (section, fields) in page {
        for (name, (_, is_marked)) in fields {
            match (seen.contains(&(section.clone(), name.clone())), is_marked) {
                (false, false) => wrong.insert(format!("{section}: {name} was not printed")),
                (true, true) => wrong.insert(format!("{section}: {name} is marked, but printed")),
                _ => continue,
            };
        }
    }
    assert!(
        wrong.is_empty(),
        "docs/json.md:\n{}",
        wrong.into_iter().collect::<Vec<_>>().join("\n")
    );
}
