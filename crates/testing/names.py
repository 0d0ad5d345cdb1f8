#!/usr/bin/env python3
"""Fails if a crate has two public types of one name, or a type whose name ends in a participle (`Told`, `Asked`).

    crates/testing/names.py             prints a line for each crate, and what is wrong
    crates/testing/names.py --shared    also prints the private names that a crate uses for several types
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

CRATES = Path(__file__).resolve().parent.parent
TYPE = re.compile(r"^(?P<indent> *)(?P<public>pub )?(?:pub\([^)]*\) )?(?:unsafe )?(?P<kind>struct|enum|trait|union|type) (?P<name>[A-Z]\w*)", re.M)

IRREGULAR = set(
    "Begun Bought Broken Brought Built Caught Chosen Come Done Drawn Felt Forgotten Found Frozen Given Gone Grown Heard Held Hidden Kept "
    "Known Laid Led Left Lent Lost Made Meant Met Paid Said Seen Sent Shown Sold Sought Spent Stolen Stood Taken Told Thought Understood "
    "Undone Worn Won Written".split()
)
# Nouns of the language, or of the field, that only look like participles.
NOUNS = set("Bound Ceiling Encoding Grouping Heading Interleaving Meaning Need Opening Ring Rounding Sampling Seed Setting String Warning".split())


def is_participle(name):
    last = re.findall(r"[A-Z][a-z0-9]*", name)[-1]
    return last not in NOUNS and (last in IRREGULAR or bool(re.search(r"[a-z](ed|ing)$", last)))


def types(crate):
    """The types of a crate: for each name the files that define one, and those that define a public one."""
    every, public = defaultdict(list), defaultdict(list)
    for file in sorted((crate / "src").rglob("*.rs")):
        for match in TYPE.finditer(file.read_text()):
            if match["kind"] == "type" and match["indent"]:
                continue  # the associated type of a trait
            every[match["name"]].append(str(file.relative_to(CRATES)))
            if match["public"]:
                public[match["name"]].append(str(file.relative_to(CRATES)))
    return every, public


def main():
    problems = []
    for crate in sorted(file.parent for file in CRATES.glob("*/Cargo.toml")):
        every, public = types(crate)
        shared = {name: files for name, files in every.items() if len(files) > 1}
        twice = {name: files for name, files in public.items() if len(files) > 1}
        participles = {name: files for name, files in every.items() if is_participle(name)}
        print(f"{crate.name}: {len(every)} type names, {len(shared)} of several types, {len(twice)} of several public types, {len(participles)} participles")
        problems += [f"{name} is {len(files)} public types: {', '.join(files)}" for name, files in twice.items()]
        problems += [f"{name} is a participle: {', '.join(files)}; legal: a noun" for name, files in participles.items()]
        if "--shared" in sys.argv:
            print(*(f"    {name}: {', '.join(files)}" for name, files in shared.items()), sep="\n")
    print(*problems, sep="\n")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
