"""Questions of the other commands."""

from pathlib import Path

import plans
from composed import WRONG, asked, group
from plans import KINDS, QUICK, SLOW, Text, number, toml, whole

ROOT = Path(__file__).resolve().parents[2]


def compare(draws, number_of):
    shown = ["--json"] if draws.chance(0.6) else []
    if number_of % 2:
        options = [
            "--epsilon",
            number(draws, 0.002, 1),
            "--count",
            str(whole(draws, 1, 2000)),
            "--delta",
            number(draws, 1e-9, 1e-3),
        ]
        if draws.chance(0.4):
            options += ["--release-delta", number(draws, 1e-13, 1e-8)]
        if draws.chance(0.4):
            options += ["--eta", draws.choice(("0.1", "0.2", "0.5", "0.9", "1e-16", "2"))]
        if draws.chance(0.3):
            options.append("--pairs")
        return {"args": ["compare", *options, *shown]}
    kinds = [draws.choice(QUICK if draws.chance(0.9) else list(KINDS)) for _ in range(draws.whole(1, 4))]
    table = plans.plan(
        draws, [plans.release(draws, kind, 100, rate=0.05, part=0.05) for kind in kinds], plans.question(draws)
    )
    options = ["--delta", number(draws, 1e-8, 1e-3)] if "delta" not in table or draws.chance(0.3) else []
    if draws.chance(0.2):
        options += draws.choice((["--eta", "0.5"], ["--pairs"], ["--epsilon", "0.1"]))
    return asked(["compare", "PLAN", *options, *shown], table, draws)


UNKNOWNS = {
    "sigma": (
        "gaussian",
        "gaussian",
        "gaussian",
        "gaussian",
        "gaussian",
        "discrete-gaussian",
        "gaussian-mixture",
        "gaussian-subset",
        "gaussian-batch",
        "gaussian-draws",
    ),
    "scale": ("laplace", "laplace", "geometric"),
    "epsilon": ("approx-dp", "approx-dp", "approx-dp", "randomized-response", "exponential", "staircase"),
    "count": QUICK + ("geometric",),
}


def calibrate(draws, number_of):
    unknown = list(UNKNOWNS)[number_of % 4]
    kinds = [draws.choice(UNKNOWNS[unknown])]
    if draws.chance(0.4):
        kinds.append(draws.choice(UNKNOWNS[unknown] if draws.chance(0.5) else QUICK))
    releases = [
        plans.release(draws, kind, 3 if kind in SLOW else 100, rate=0.2 if kind == "gaussian" else 0.03, named=0.4)
        for kind in kinds
    ]
    if draws.chance(0.6):
        releases[0].pop(unknown, None)
    own, options = None, ["--epsilon", number(draws, 0.3, 8), "--delta", number(draws, 1e-9, 1e-4)]
    if draws.chance(0.2):
        own, options = {"target": {"epsilon": number(draws, 0.3, 8), "delta": number(draws, 1e-9, 1e-4)}}, []
    elif draws.chance(0.2):
        own, options = plans.question(draws), options[:2]
    if draws.chance(0.15):
        options += ["--release", releases[0].get("name", "nobody")]
    if draws.chance(0.15):
        options += ["--out", draws.choice(("out.toml", "out.json"))]
    if draws.chance(0.7):
        options.append("--json")
    table = plans.plan(draws, releases, None, group=group(draws, 0.03))
    target = own.pop("target", None) if own and "target" in own else None
    table = (
        (own or {})
        | {name: one for name, one in table.items() if name != "release"}
        | ({"target": target} if target else {})
        | {"release": releases}
    )
    return asked(["calibrate", "PLAN", "--for", unknown, *options], table, draws)


# Kinds whose region is found at once.
SHOWN = ("approx-dp", "laplace", "gaussian", "gdp", "randomized-response", "name-and-shame", "sparse-vector", "finite")


def region(draws, _):
    files = {}
    for name in ("one.toml", "two.json", "three.toml")[: draws.choice((1, 1, 1, 2, 2, 3))]:
        kinds = [draws.choice(SHOWN if draws.chance(0.95) else list(KINDS)) for _ in range(draws.whole(1, 3))]
        table = plans.plan(
            draws,
            [plans.release(draws, kind, 5, part=0.03) for kind in kinds],
            plans.question(draws) if draws.chance(0.3) else None,
        )
        files[name] = plans.as_json(table) if name.endswith("json") else toml(table)
    options = []
    if draws.chance(0.25):
        options += ["--svg", "region.svg"]
    if draws.chance(0.05):
        options += ["--pdf", "region.pdf"]
    if draws.chance(0.1):
        options.append("--plain")
    if draws.chance(0.6):
        options.append("--json")
    return {"args": ["region", *files, *options], "files": files}


def audit(draws, _):
    options = []
    for _ in range(draws.choice((1, 1, 1, 2, 3))):
        trials = draws.choice((100, 1000, 100000, 12345))
        alarms, misses = (min(round(trials * draws.log(1e-4, 0.7)), trials) for _ in "ab")
        options += ["--false-alarms", f"{alarms}/{trials}", "--misses", f"{misses}/{trials}"]
    options += ["--delta", number(draws, 1e-8, 1e-2) if draws.chance(0.9) else "0"]
    if draws.chance(0.3):
        options += ["--confidence", draws.choice(("0.9", "0.99", "0.999999", "0.5", "1", "0"))]
    if draws.chance(0.1):
        options += draws.choice(
            (["--false-alarms", "1/10"], ["--misses", "11/10"], ["--misses", "x"], ["--delta", "2"])
        )
    if draws.chance(0.6):
        options.append("--json")
    if draws.chance(0.5):
        table = plans.plan(
            draws, [plans.release(draws, draws.choice(QUICK), 30)], plans.question(draws) if draws.chance(0.3) else None
        )
        return asked(["audit", *options, "--claim", "PLAN"], table, draws)
    return {"args": ["audit", *options]}


def convert(draws, _):
    options = ["--epsilon", number(draws, 1e-3, 20)]
    if draws.chance(0.6):
        options += ["--delta", number(draws, 1e-12, 0.3)]
    if draws.chance(0.6):
        options += ["--to-epsilon", number(draws, 1e-3, 20) if draws.chance(0.9) else "0"]
    if draws.chance(0.5):
        options += ["--to-delta", number(draws, 1e-12, 0.5) if draws.chance(0.9) else "0"]
    return {"args": ["convert", *options] + (["--json"] if draws.chance(0.6) else [])}


def noise(draws, _):
    options = ["--epsilon", number(draws, 0.01, 8), "--delta", number(draws, 1e-10, 0.1) if draws.chance(0.9) else "0"]
    if draws.chance(0.6):
        options += ["--count", str(whole(draws, 1, 5000))]
    if draws.chance(0.4):
        options += ["--sensitivity", number(draws, 0.1, 100)]
    return {"args": ["noise", *options] + (["--json"] if draws.chance(0.6) else [])}


def claim(draws):
    claimed = (
        {"ratio": Text(draws.choice(("2", "3", "1.5", '"5/2"', "4", "1", "20")))}
        if draws.chance(0.85)
        else {"epsilon": number(draws, 0.2, 3)}
    )
    if draws.chance(0.6):
        claimed["delta"] = Text(draws.choice(("0.1", '"1/10"', "0", "0.25", '"1/15"', "0.5")))
    return claimed


def outcomes(draws, field="outcomes"):
    length = draws.choice((2, 2, 2, 3, 4))
    names = ["heads", "tails", "edge", "lost"][:length]
    fields = {}
    for one in "pq":
        # Tenths, as decimals or as fractions.
        parts = [1] * length
        for _ in range(10 - length):
            parts[draws.below(length)] += 1
        exact = draws.chance(0.3)
        fields[one] = Text("[" + ", ".join(f'"{part}/10"' if exact else str(part / 10) for part in parts) + "]")
    if draws.chance(0.6):
        fields[field] = names
    return fields, length


def simulate(draws, number_of):
    stages = []
    if number_of % 3:
        for place in range(draws.whole(1, 3)):
            stage = claim(draws)
            if draws.chance(0.5):
                stage["name"] = ("first", "second", "third")[place]
            several = place > 0 and draws.chance(0.4)
            if several:
                stage["mechanism"] = [{"name": name} | outcomes(draws)[0] for name in ("mild", "strong")]
                before = stages[-1]
                for one in before.get("mechanism", [before]):
                    one["then"] = [draws.choice(("mild", "strong")) for _ in one["p"].split(",")]
            else:
                stage |= outcomes(draws)[0]
            stages.append(stage)
        table = {"stage": stages}
    else:
        systems = []
        for name in "abc"[: draws.choice((1, 2, 2))]:
            states = []
            for at in range(draws.whole(1, 2)):
                queries = []
                for question in ("age", "income")[: draws.whole(1, 2)]:
                    fields, length = outcomes(draws, "answers")
                    if at == 0 and draws.chance(0.5):
                        fields["then"] = [draws.choice(("", "s1")) for _ in range(length)]
                    queries.append({"name": question} | fields)
                states.append({"name": f"s{at}", "query": queries})
            systems.append({"name": name} | claim(draws) | {"state": states})
        table = {"system": systems}
    options = ["--samples", draws.choice(("0", "1", "100", "1000"))] if draws.chance(0.6) else []
    if draws.chance(0.3):
        options += ["--seed", str(draws.whole(0, 1000))]
    if number_of % 3 == 0 and draws.chance(0.4) or draws.chance(0.03):
        options += ["--order", draws.choice(("1.5", "2", "8", "1", "0.5"))]
    if draws.chance(0.6):
        options.append("--json")
    if draws.chance(0.06):
        table[draws.choice(("version", "stage", "system", "samples"))] = Text(draws.choice(WRONG))
    return asked(["simulate", "PLAN", *options], table, draws)


FIGURES = (
    ("cost", "0.1", "1e-5", "300"),
    ("kov-figure-1", "0.4", "0.05", "1"),
    ("kov-figure-2", "0.3", "0.02", "4"),
    ("kov-figure-3", "0.1", "1e-6", "60"),
    ("smith-figure-1", "0.05", "1e-6", "200"),
    ("mv-figure-2", "0.01", "1e-7", "200"),
    ("mv-figure-1",),
    ("smith-figure-2",),
    ("kov-noise", "0.5", "1e-5", "20"),
    ("kov-sketch",),
    ("kov-figure-1",),
    ("kov-figure-2",),
    ("nothing",),
    ("kov-sketch", "2", "0.1", "1"),
    ("mv-figure-1", "1", "0.1", "5"),
    ("cost", "0.1", "1e-5", "1"),
)


def figure(draws, number_of):
    name, *own = FIGURES[number_of % len(FIGURES)]
    options = [part for pair in zip(("--epsilon", "--delta", "--releases"), own) for part in pair]
    return {
        "args": ["figures", "--out", "drawn", "--only", name, *options] + (["--plain"] if draws.chance(0.3) else [])
    }


def usage(*_):
    """What the program says of itself, and of what it does not understand."""
    commands = (
        "compose",
        "compare",
        "calibrate",
        "plan",
        "release",
        "study",
        "serve",
        "token",
        "region",
        "audit",
        "convert",
        "noise",
        "simulate",
        "figures",
        "ledger",
    )
    inner = (
        "init",
        "dataset",
        "open",
        "recut",
        "quota",
        "reserve",
        "commit",
        "response",
        "price",
        "pending",
        "session",
        "end",
        "close",
        "move",
        "status",
        "odometer",
        "history",
        "responses",
        "verify",
        "export",
        "backup",
        "upgrade",
    )
    for command in commands:
        yield from ([command, ""], [command, "--help"], [command, "-h"], [command, "--no-such-option"])
    for command in inner:
        yield from (["ledger", command, "--help"], ["ledger", "--url", "sqlite:no.db", command])
    for shell in ("bash", "zsh", "fish", "elvish", "powershell", "tcsh"):
        yield ["completions", shell]
    yield from (
        [],
        ["--help"],
        ["--version"],
        ["composes"],
        ["compose", "no-such-file"],
        ["compose", "."],
        ["compose", ""],
        ["region", "no-such-file"],
        ["audit", "--delta", "1e-6"],
        ["compare"],
        ["compare", "--epsilon", "1"],
        ["calibrate", "-", "--for", "rho"],
        ["study", "new", "--help"],
        ["serve", "--listen", "0.0.0.0:1"],
        ["serve", "--check"],
        ["serve", "--config", "no-such-file"],
        ["release", "no-such-file", "--out", "out"],
        ["token", "--config", "no-such-file", "list"],
        ["ledger", "--url", "mysql:x", "init"],
        ["ledger", "--url", "sqlite:/dev/null", "init"],
        ["ledger", "--url", "sqlite:no-such-folder/x.db", "init"],
        ["simulate", "-", "--samples", "1e9"],
        ["figures"],
    )


def examples(*_):
    """The plans, studies and simulations that come with the program, asked everything they can be asked."""
    folder = ROOT / "examples"
    for name in ("minimal.toml", "mixed.toml", "survey.toml", "survey.json", "training.toml", "weekly.toml"):
        files = {name: (folder / name).read_text()}
        for args in (
            ["compose", name],
            ["compose", name, "--json"],
            ["compose", name, "--epsilon", "3", "--json"],
            ["compose", name, "--losses"],
            ["compare", name],
            ["compare", name, "--json"],
            ["region", name, "--json"],
            ["region", name, "--svg", "region.svg"],
            ["calibrate", name, "--for", "count", "--epsilon", "3", "--delta", "1e-6"],
            ["compose", name, "--bits", "100"],
            ["audit", "--false-alarms", "67/1000", "--misses", "500/1000", "--delta", "1e-6", "--claim", name],
        ):
            yield {"args": args, "files": files}
    for name, most in (("coins.toml", ["--samples", "500"]), ("systems.toml", ["--order", "2"])):
        for args in ([name], [name, "--json"], [name, *most], [name, *most, "--seed", "7", "--json"]):
            yield {"args": ["simulate", *args], "files": {name: (folder / name).read_text()}}
    for name in ("study.toml", "survey/study.toml"):
        files = {"study.toml": (folder / name).read_text()}
        for options in ([], ["--json"], ["--out", "out.toml"]):
            yield {"args": ["plan", "study.toml", *options], "files": files}
    codebook = (folder / "survey/codebook.json").read_text()
    yield {"args": ["study", "new", "town.csv"], "files": {"town.csv": (folder / "town.csv").read_text()}}
    header = "respondent,region,sex,age,education,employment,income,hours,household,health,internet,commute\n"
    yield {
        "args": ["study", "new", "survey.csv", "--codebook", "codebook.json"],
        "files": {"survey.csv": header, "codebook.json": codebook},
    }
