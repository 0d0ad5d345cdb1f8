"""Every library on every scenario, as one markdown table.

    python compare.py [SCENARIO...]

Each measurement is a fresh process with a time limit. Nothing heavy is imported here:
a child's peak memory is never below that of the process that started it.
"""

import json
import math
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

from libraries import CERTIFIED, LIBRARIES
from scenarios import BY_KEY, SCENARIOS

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
RELEASE = HERE.parent / "target" / "release"
TIME_LIMIT = 120  # seconds
REFERENCE_TIME_LIMIT = 1800
BELOW = 1e-9  # relative: an epsilon further below the truth than this is unsound


@dataclass(frozen=True)
class Tools:
    """Who is asked, and the scripts that ask and that know the reference."""

    libraries: dict
    ask: list
    reference: list


COLUMNS = [
    "scenario", "library", "epsilon", "certified", "relative error", "verdict",
    "time", "time / ours", "import", "peak MiB",
]  # fmt: skip


def run(command, limit=TIME_LIMIT):
    """The last line a command prints, as JSON; a failure of any kind as {"error": ...}."""
    try:
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer in {limit} s"}
    except OSError as error:
        return {"error": str(error)}
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return {"error": reason}
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {"error": "unreadable output"}


def ours_in_process(plan, scenario, tolerance):
    program = RELEASE / "examples" / "timing"
    if not program.exists():
        return {"error": "not built"}
    return run([str(program), str(plan), repr(scenario.delta), repr(tolerance)])


def ours_as_program(plan, _scenario, tolerance):
    """The command line, timed whole: start, read the plan, answer, exit."""
    program = RELEASE / "counterpoint"
    if not program.exists():
        return {"error": "not built"}
    command = [str(program), "compose", str(plan), "--json", "--tolerance", repr(tolerance)]
    times = []
    for _ in range(5):
        start = time.perf_counter()
        answer = run(command)
        times.append(time.perf_counter() - start)
        if "error" in answer or sum(times) > 10:
            break
    if "error" in answer:
        return answer
    return {**answer["epsilon"], "route": answer.get("route"), "seconds": min(times)}


OURS = {
    "**Counterpoint**": (ours_in_process, 1e-6),
    "**Counterpoint**, tolerance 1e-10": (ours_in_process, 1e-10),
    "**counterpoint**, whole program": (ours_as_program, 1e-6),
}


def verdict(lower, upper, truth):
    if math.isnan(upper):
        return "not a number"
    if upper < truth * (1 - BELOW):
        return "**unsound**: below the truth"
    if math.isinf(upper):
        return "no finite answer"
    if lower is not None and lower > truth * (1 + BELOW):
        return "**unsound**: lower bound above the truth"
    return "ok"


def number(value):
    return "inf" if math.isinf(value) else f"{value:.13g}"


def duration(seconds):
    if seconds is None:
        return ""
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}"


def row(scenario, library, certified, answer, truth, our_seconds):
    if "error" in answer:
        reason = textwrap.shorten(answer["error"].replace("|", "/"), 90, placeholder=" ...")
        return [scenario.title, library, "-", certified, "-", reason, "-", "-", "-", "-"]
    lower, upper = answer.get("lower"), float(answer["upper"])
    error = upper / truth - 1
    seconds = answer["seconds"]
    return [
        scenario.title,
        library + (f" ({answer['route']})" if answer.get("route") else ""),
        number(upper),
        certified,
        f"{error:+.1e}" if math.isfinite(error) else "-",
        verdict(lower, upper, truth),
        duration(seconds),
        f"{seconds / our_seconds:,.3g}" if our_seconds else "-",
        duration(answer["import_seconds"]) if "import_seconds" in answer else "-",
        f"{answer['peak_kib'] / 1024:.0f}" if answer.get("peak_kib") else "-",
    ]


def compare(scenario, tools):
    """The rows of one scenario: the reference, ours, then everybody who can do it."""
    plan = RESULTS / "plans" / f"{scenario.key}.json"
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text(json.dumps(scenario.plan()))

    progress(scenario, "reference")
    known = run([sys.executable, *tools.reference, scenario.key], REFERENCE_TIME_LIMIT)
    if "error" in known:
        raise SystemExit(f"{scenario.key}: no reference: {known['error']}")
    truth = float(known["epsilon"])
    yield [scenario.title, f"reference, {known['method']}", number(truth)] + ["-"] * 7

    our_seconds = None
    for name, (ask, tolerance) in OURS.items():
        progress(scenario, name)
        answer = ask(plan, scenario, tolerance)
        if our_seconds is None and ask is ours_in_process:
            our_seconds = answer.get("seconds")
        yield row(scenario, name, "yes: bracket", answer, truth, our_seconds)
    for name, (_, can, claim) in tools.libraries.items():
        if can(scenario):
            progress(scenario, name)
            answer = run([sys.executable, *tools.ask, name, scenario.key])
            certified = "yes: bracket" if claim == CERTIFIED else f"no: {claim}"
            yield row(scenario, name, certified, answer, truth, our_seconds)


def progress(scenario, name):
    print(f"{scenario.key}: {name}", file=sys.stderr)


def write(scenarios, tools, name):
    """Print the table, and keep it in results/."""
    lines = [COLUMNS, ["---"] * len(COLUMNS)]
    for scenario in scenarios:
        lines.extend(compare(scenario, tools))
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    (RESULTS / name).write_text(table + "\n")
    print(table)


def main():
    chosen = [BY_KEY[key] for key in sys.argv[1:]] or SCENARIOS
    tools = Tools(LIBRARIES, ["libraries.py"], ["reference.py"])
    write(chosen, tools, "table.md")


if __name__ == "__main__":
    main()
