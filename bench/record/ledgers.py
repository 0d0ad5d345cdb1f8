"""Histories of ledgers: each a list of commands that are run in one folder."""

import plans
from plans import Text, toml, written


def amount(draws, low, high):
    return f"{draws.log(low, high):.{draws.choice((1, 2, 3))}g}"


# What may be charged to accounts of a kind.
PURE = ("approx-dp", "laplace", "randomized-response", "exponential", "geometric", "staircase", "sparse-vector")
CHARGED = {
    "sums": PURE + ("name-and-shame",),
    "renyi": PURE + ("gaussian", "gaussian", "gdp", "zcdp", "tcdp", "discrete-gaussian"),
    "zcdp": PURE + ("gaussian", "gaussian", "gdp", "zcdp"),
    "gdp": ("gaussian", "gaussian", "gdp", "laplace", "exponential"),
}


def described(draws, kind):
    """A release for an account of a kind, or one that cannot be charged to it."""
    some = (
        CHARGED[kind]
        if draws.chance(0.9)
        else ("finite", "gaussian-subset", "rdp", "gaussian", "name-and-shame", "cells")
    )
    return plans.release(draws, draws.choice(some), 5, rate=0.05, named=0.1, part=0.03)


def ledger(draws, number_of):
    """A history of a ledger: each command is a question."""
    asked = []

    def ask(*args, stdin=None, files=None):
        shown = ["--json"] if draws.chance(0.75) else []
        question = {"args": ["ledger", "--url", "sqlite:budget.db", *args, *shown]}
        question |= {"stdin": stdin} if stdin is not None else {}
        asked.append(question | ({"files": files} if files else {}))

    ask("init")
    adjacency = draws.choice(("add-remove", "add-remove", "replace"))
    dataset = [
        "dataset",
        "census",
        "--adjacency",
        adjacency,
        "--epsilon",
        amount(draws, 2, 10),
        "--delta",
        amount(draws, 1e-6, 1e-4),
    ]
    dataset += ["--records", str(draws.whole(1, 4))] if draws.chance(0.12) else []
    whole = draws.choice(("sums", "sums", "sums", "renyi", "zcdp", "gdp"))
    ask(*dataset, *(["--filter", whole] if whole != "sums" or draws.chance(0.2) else []))
    accounts, slots, kinds = [], {}, {}
    for place in range(draws.whole(1, 3)):
        name = ("weekly", "team", "lab")[place]
        if draws.chance(0.35) and whole == "sums":
            releases = [
                plans.release(draws, draws.choice(PURE + ("gaussian",)), 30, named=0) for _ in range(draws.whole(1, 3))
            ]
            for at, one in enumerate(releases):
                if draws.chance(0.8):
                    one["name"] = f"slot {at + 1}"
            slots[name] = [one.get("name", str(at + 1)) for at, one in enumerate(releases)]
            table = plans.plan(draws, releases, {"delta": amount(draws, 1e-9, 1e-7)}, adjacency)
            table = {key: Text(one) if key == "delta" else one for key, one in table.items()}
            more = ["--delta", amount(draws, 1e-9, 1e-7)] if draws.chance(0.4) else []
            ask("open", name, "--dataset", "census", "--plan", "-", *more, stdin=written(draws, table))
        else:
            kind = (
                ("sums", "renyi", "zcdp", "gdp")[(number_of + place) % 4]
                if whole == "sums" or draws.chance(0.2)
                else whole
            )
            kinds[name] = kind
            options = ["--epsilon", amount(draws, 0.2, 2), "--delta", amount(draws, 1e-8, 3e-7)]
            if draws.chance(0.25 if whole == "sums" else 0.8):
                options = {
                    "zcdp": ["--rho", amount(draws, 0.01, 0.3)],
                    "gdp": ["--mu", amount(draws, 0.05, 1)],
                    "renyi": ["--order", "8", "--tau", amount(draws, 0.05, 1)],
                }.get(kind, options)
            elif draws.chance(0.3):
                options += draws.choice((["--no-leaks"], ["--leaks", "1e-9"], ["--order", "12"]))
            ask("open", name, "--dataset", "census", "--filter", kind, *options)
        accounts.append(name)
    if draws.chance(0.3):
        ask(
            "quota",
            draws.choice(accounts),
            "ann",
            *draws.choice(
                (["--share", "0.5"], ["--releases", "3"], ["--epsilon", "0.1", "--delta", "1e-9"], ["--share", "2"])
            ),
        )
    keys = []
    for turn in range(draws.whole(4, 9)):
        account = draws.choice(accounts)
        who = ["--analyst", draws.choice(("ann", "bob"))] if draws.chance(0.25) else []
        way = draws.unit()
        if way < 0.55:
            key = draws.choice(keys) if keys and draws.chance(0.12) else f"k{turn}"
            keys.append(key)
            verb = ["reserve"] if draws.chance(0.8) else ["price"]
            end = ["--key", key] if verb == ["reserve"] else []
            if end and draws.chance(0.08):
                end.append("--session")
            if account in slots:
                slot = draws.choice(slots[account] + ["nothing"] if draws.chance(0.1) else slots[account])
                options = ["--count", str(draws.whole(1, 40))] if draws.chance(0.3) else []
                if draws.chance(0.3):
                    options += ["--run", plans.as_json(described(draws, kinds.get(account, "sums")))]
                ask(*verb, account, slot, *options, *end, *who)
            elif draws.chance(0.7):
                ask(*verb, account, plans.as_json(described(draws, kinds.get(account, "sums"))), *end, *who)
            else:
                releases = [described(draws, kinds[account]) for _ in range(draws.whole(1, 3))]
                ask(*verb, account, "-", *end, *who, stdin=written(draws, plans.plan(draws, releases)))
        elif way < 0.68 and keys:
            where = ["--account", account] if draws.chance(0.3) else []
            ask(
                "commit",
                draws.choice(keys),
                *where,
                "--response",
                "answer.txt",
                files={"answer.txt": f"{draws.whole(1, 999)}.5\n"},
            )
        elif way < 0.74 and keys:
            ask("response", draws.choice(keys))
        elif way < 0.78:
            ask("move", account, draws.choice(accounts), "--amount", amount(draws, 0.01, 0.2), "--key", f"m{turn}")
        elif way < 0.81:
            ask("close", account)
        elif way < 0.84 and slots:
            plan = next(iter(slots))
            ask(
                "recut",
                plan,
                "--unused",
                f"1:{slots[plan][0]}",
                "--into",
                "-",
                stdin=toml(plans.plan(draws, [{"name": "cut"} | plans.release(draws, "laplace", 2, named=0)])),
            )
        elif way < 0.87 and slots:
            plan = next(iter(slots))
            ask(
                "open",
                f"within{turn}",
                "--within",
                plan,
                "--slot",
                slots[plan][0],
                "--filter",
                "sums",
                "--epsilon",
                amount(draws, 0.005, 0.1),
                "--delta",
                "0",
            )
        elif way < 0.9:
            ask("status", "--expect-head", draws.choice(("{head}", "3:" + "0" * 64, "x")))
        elif way < 0.93:
            ask("odometer", account)
        elif way < 0.96:
            ask("pending")
        else:
            ask(
                "dataset",
                draws.choice(("census", "second", "")),
                "--adjacency",
                "replace",
                "--epsilon",
                "1",
                "--delta",
                draws.choice(("0", "1", "1e-6", "-1", "1/3")),
            )
    for args in draws.sample(
        (
            ("status",),
            ("status", accounts[0]),
            ("history",),
            ("history", accounts[-1]),
            ("verify",),
            ("verify", "--expect-head", "{head}"),
            ("odometer", accounts[-1]),
            ("responses",),
            ("export",),
            ("pending",),
            ("session", accounts[0], "k0"),
            ("end", accounts[0], "k0"),
            ("backup", "copy.db"),
            ("status", "nobody"),
            ("--read-only", "reserve", accounts[0], "x", "--key", "r"),
            ("close-dataset", "census"),
        ),
        draws.whole(3, 5),
    ):
        ask(*args)
    return asked
