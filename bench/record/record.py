#!/usr/bin/env python3
"""Records what the program answers to thousands of questions, and whether it still does (see ../README.md)."""

import argparse
import difflib
import hashlib
import itertools
import json
import lzma
import re
import resource
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from commands import ROOT
from questions import all_questions

# Questions that take the recorded program longer are left out; asked again, they may take longer than that.
WRITE_LIMIT_S = 1
COMPARE_LIMIT_S = 20
KILLED = (-signal.SIGXCPU, -signal.SIGKILL)
# Longer files that the program made are recorded by their digest.
LONGEST_FILE = 20_000
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC"}
# A ledger's identity is random and its entries have a time, so its heads and hashes differ each time.
CHANGING = (
    (re.compile(r"\b(\d+):[0-9a-f]{64}\b"), r"\1:HASH"),
    (re.compile(r'"(hash|previous|identity)":\s*"[0-9a-f]{64}"'), r'"\1":"HASH"'),
    (re.compile(r"\b[0-9a-f]{8}\.\.\."), "HASH"),
    (re.compile(r'"at":\s*\d+'), '"at":0'),
    (re.compile(r"\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?Z?"), "TIME"),
)


def main():
    options = arguments()
    if options.what == "write":
        answers = answers_to(chosen(all_questions(), options), options, WRITE_LIMIT_S)
        answers = [answer for answer in answers if answer["status"] not in KILLED]
        write(options.file, answers)
        print_counts(answers)
    else:
        sys.exit(compare(options))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    for name, about in (
        ("write", "ask everything, and write questions and answers to FILE"),
        ("compare", "ask what FILE asks, and print what differs"),
    ):
        command = commands.add_parser(name, help=about)
        command.add_argument("file", type=Path)
        command.add_argument("--program", type=Path, default=ROOT / "target/release/counterpoint")
        command.add_argument("--jobs", type=int, default=2)
        command.add_argument("--only", default="", help="only questions whose id begins so")
        command.add_argument("--every", type=int, default=1, help="only the first of every so many questions")
    return parser.parse_args()


def chosen(questions, options):
    """The questions that the options name, in the groups that are asked in turn in one folder."""
    named = (question for question in questions if question["id"].startswith(options.only))
    groups = [list(group) for _, group in itertools.groupby(named, lambda question: question["id"].split("/")[0])]
    return groups[:: options.every]


def answers_to(groups, options, limit):
    """The questions of all groups with their answers, in order."""
    program = options.program.resolve(strict=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        found = pool.map(lambda group: in_one_folder(program, group, limit), groups)
        return [answer for answers in found for answer in answers]


def in_one_folder(program, questions, limit):
    """Asks questions in turn."""
    with tempfile.TemporaryDirectory(prefix="record-") as folder:
        head, before, answers = "", {}, []
        for question in questions:
            for name, text in question.get("files", {}).items():
                (Path(folder) / name).write_bytes(text.encode())
                before[name] = text
            args = [arg.replace("{head}", head) for arg in question["args"]]
            status, stdout, stderr = run(program, args, question, folder, limit)
            heads = re.findall(r"\b\d+:[0-9a-f]{64}\b", stdout)
            head = heads[-1] if heads else head
            is_ledger = question["args"][:1] == ["ledger"]
            stdout, stderr = (stable(text, folder, is_ledger) for text in (stdout, stderr))
            now = made(folder)
            answer = question | {"status": status, "stdout": stdout, "stderr": stderr}
            if new := {name: text for name, text in now.items() if before.get(name) != text}:
                answer["made"] = new
            before |= now
            answers.append(answer)
        return answers


def run(program, args, question, folder, limit):
    """Exit status, and what the program printed on both streams."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        given.write(question.get("stdin", "").encode())
        given.seek(0)
        child = subprocess.Popen(
            ["counterpoint", *args],
            executable=program,
            stdin=given,
            stdout=out,
            stderr=error,
            cwd=folder,
            env=ENVIRONMENT,
        )
        # The limit is in whole seconds of processor time, so that a busy machine changes no answer.
        resource.prlimit(child.pid, resource.RLIMIT_CPU, (limit, limit))
        child.wait()
        texts = []
        for file in (out, error):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "backslashreplace"))
        return child.returncode, *texts


def stable(text, folder, is_ledger):
    """A text without what changes by design. No other text names the folder, which has another name each time."""
    if folder in text:
        raise SystemExit(f"an answer names its folder: {text}")
    for pattern, instead in CHANGING if is_ledger else ():
        text = pattern.sub(instead, text)
    return text


def made(folder):
    """The files in a folder, but databases: their texts, or what tells them from others."""
    files = {}
    for path in sorted(Path(folder).rglob("*")):
        if not path.is_file() or re.search(r"\.db(-\w+)?$", path.name):
            continue
        content = path.read_bytes()
        is_text = len(content) <= LONGEST_FILE and path.suffix != ".pdf"
        name = str(path.relative_to(folder))
        files[name] = (
            content.decode() if is_text else f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}"
        )
    return files


def write(path, answers):
    lines = "".join(json.dumps(answer, ensure_ascii=False) + "\n" for answer in answers)
    path.write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))


def print_counts(answers):
    kinds = itertools.groupby(answers, lambda answer: re.split(r"-\d", answer["id"])[0])
    for kind, group in kinds:
        statuses = [answer["status"] for answer in group]
        print(
            f"{kind:20}{len(statuses):6}  status "
            + ", ".join(f"{status}: {statuses.count(status)}" for status in sorted(set(statuses)))
        )
    print(f"{'all':20}{len(answers):6}")


def compare(options):
    """The number of the exit status: 1 if anything differs."""
    asked = ("id", "args", "stdin", "files")
    recorded = [json.loads(line) for line in lzma.decompress(options.file.read_bytes()).decode().splitlines()]
    groups = chosen(recorded, options)
    recorded = [answer for group in groups for answer in group]
    questions = [[{name: answer[name] for name in asked if name in answer} for answer in group] for group in groups]
    different = 0
    for old, new in zip(recorded, answers_to(questions, options, COMPARE_LIMIT_S), strict=True):
        if old != new:
            different += 1
            print_difference(old, new)
    print(f"{len(recorded)} questions, {different} answered differently")
    return 1 if different else 0


def print_difference(old, new):
    print(f"{old['id']}: {' '.join(old['args'])}")
    for name in ("status", "stdout", "stderr", "made"):
        before, after = (
            json.dumps(one.get(name), ensure_ascii=False) if name in ("status", "made") else one[name]
            for one in (old, new)
        )
        for line in difflib.unified_diff(
            before.splitlines(), after.splitlines(), f"{name} recorded", f"{name} now", lineterm="", n=0
        ):
            print("  " + line)


if __name__ == "__main__":
    main()
