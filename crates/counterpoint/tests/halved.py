#!/usr/bin/env python3
"""Weakens the core's allowances one by one, and says which tests notice.

    crates/counterpoint/tests/halved.py [FILE::NAME[=FACTOR] ...]

An allowance is a constant `NAME: f64` in a file below crates/counterpoint/src, as `methods/tail.rs::LINE`; without
names, all of them. A copy of the workspace is built once, with the constants read from memory, where a variable
picks the one that is halved, or multiplied by another factor. (Of a constant between 1 and 5/4 that is done to what
it has beyond one.) HALVED_TESTS names the tests to run, as for cargo test.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CORE = "crates/counterpoint/src"
CONSTANT = re.compile(r"^ *(?:pub(?:\(\w+\))? )?const (\w+): f64 =", re.M)
# Limits to what is tried, and numbers that are exact.
OTHERS = re.compile(r"MOST|LEAST$|STRIDE|.*_WORK|.*_ATOMS|WIDEST|SPARE|HOPEFUL|LARGE|EXTREME|MANY|UNKNOWN|TOLERANCE|DIVISOR_WORTH")
TESTS = os.environ.get("HALVED_TESTS", "methods:: laws:: loss:: rounding teeth references laws").split()

HELPER = """
/// A constant, weakened if it is the one that is asked for.
pub(crate) fn halved(name: &str, value: f64) -> f64 {
    let wanted = std::env::var("HALVED").unwrap_or_default();
    let (wanted, factor) = wanted.split_once('=').unwrap_or((&wanted, "0.5"));
    let factor: f64 = factor.parse().unwrap_or(0.5);
    match wanted == name {
        true if (1.0..1.25).contains(&value) => 1.0 + factor * (value - 1.0),
        true => factor * value,
        false => value,
    }
}
"""


def files(source):
    return sorted(path for folder in ("laws", "loss", "methods") for path in (source / folder).rglob("*.rs"))


def constants():
    found = []
    for path in files(ROOT / CORE):
        code = path.read_text().split("#[cfg(test)]\nmod tests {")[0]
        names = [name for name in CONSTANT.findall(code) if not OTHERS.match(name)]
        found += [(str(path.relative_to(ROOT / CORE)), name) for name in names if path.name != "tests.rs"]
    return found


def is_from(names, other, file):
    """Whether a line of imports in a file may be about another one: names of others may be the same."""
    module = Path(other).with_suffix("")
    module = module.parent if module.name == "mod" else module
    return module.name in re.findall(r"\w+", names) or ("super" in names and module == Path(file).parent)


def rewrite(source, wanted):
    """Turns the constants into statics that are read where they are used."""
    by_file = {}
    for file, name in wanted:
        by_file.setdefault(file, set()).add(name)
    for path in files(source):
        file = str(path.relative_to(source))
        text = path.read_text()
        own = by_file.get(file, set())
        imported = {
            name
            for names in re.findall(r"^(?:pub(?:\(\w+\))? )?use ([^;]*);", text, re.M)
            for name in re.findall(r"\b[A-Z][A-Z_]+\b", names)
            if any(name in theirs and is_from(names, other, file) for other, theirs in by_file.items())
        }
        known = own | imported
        if not known:
            continue
        word = re.compile(r"\b(" + "|".join(sorted(known)) + r")\b")
        lines, importing = [], False
        for line in text.split("\n"):
            code, comment = (line, "") if "//" not in line else line.split("//", 1)
            importing |= bool(re.match(r"\s*(pub(\(\w+\))? )?use ", code))
            constant = re.match(r"(\s*(?:pub(?:\(\w+\))? )?)const (\w+): f64 = (.*);$", code.rstrip())
            if importing:
                importing = ";" not in code
            elif constant and constant[2] in own:
                start, name, value = constant.groups()
                value = word.sub(r"(*\1)", value)
                code = (
                    f"{start}static {name}: std::sync::LazyLock<f64> = std::sync::LazyLock::new("
                    f'|| crate::halved("{file}::{name}", {value}));'
                )
            else:
                code = word.sub(r"(*\1)", code)
            lines.append(code + ("//" + comment if "//" in line else ""))
        path.write_text("\n".join(lines))
    library = source / "lib.rs"
    library.write_text(library.read_text() + HELPER)


def build(copy):
    """The test programs of the copy."""
    environment = dict(os.environ)
    environment.setdefault("CARGO_TARGET_DIR", str(ROOT / "target"))
    command = ["cargo", "test", "-p", "counterpoint", "--no-run", "--offline"]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True)
    programs = re.findall(r"Executable .*\((.*)\)", done.stderr)
    if done.returncode != 0 or not programs:
        sys.exit(done.stderr)
    return [Path(environment["CARGO_TARGET_DIR"]).parent / program for program in programs]


def failures(programs, copy, halved):
    failed = []
    for program in programs:
        command = [program, "-q", *TESTS]
        environment = {**os.environ, "HALVED": halved}
        where = copy / "crates/counterpoint"
        done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
        failed += re.findall(r"^    (\S+)$", done.stdout.split("\nfailures:\n")[-1], re.M) if done.returncode else []
    return failed


def main():
    wanted = constants()
    with tempfile.TemporaryDirectory() as copy:
        copy = Path(copy) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("target", ".git"))
        rewrite(copy / CORE, wanted)
        programs = build(copy)
        chosen = sys.argv[1:] or [f"{file}::{name}" for file, name in wanted]
        for halved in ["", *chosen]:
            caught = failures(programs, copy, halved)
            print(f"{halved or 'as it is'}: {', '.join(caught) or 'no test fails'}", flush=True)


if __name__ == "__main__":
    main()
