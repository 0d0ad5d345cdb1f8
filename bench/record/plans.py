"""Random plans, as text: every kind of mechanism with every field, legal and illegal."""

import hashlib
import json
import math


class Draws:
    """Pseudorandom draws that depend on the seed alone."""

    def __init__(self, *seed, is_decimal=False):
        self.seed = "/".join(map(str, seed)).encode()
        self.number = 0
        # Whether all numbers are written as decimals.
        self.is_decimal = is_decimal

    def unit(self):
        """A number from 0 up to 1."""
        self.number += 1
        digest = hashlib.sha256(self.seed + b"/%d" % self.number).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    def below(self, number):
        return min(int(self.unit() * number), number - 1)

    def whole(self, low, high):
        return low + self.below(high - low + 1)

    def choice(self, items):
        return items[self.below(len(items))]

    def chance(self, share):
        return self.unit() < share

    def log(self, low, high):
        """A number between low and high, evenly on a logarithmic scale."""
        return low * (high / low) ** self.unit()

    def sample(self, items, number):
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(number)]


class Text(str):
    """A value as it stands in the file: a number, true or a list of numbers."""


def number(draws, low, high):
    """A number of a few digits, in one of the ways to write it."""
    value = draws.log(low, high)
    digits = draws.choice((1, 2, 2, 3, 3, 6, 17))
    text = f"{value:.{digits}g}"
    way = 1.0 if draws.is_decimal else draws.unit()
    if way < 0.06:
        return Text(f"{value:.{max(digits, 2) - 1}e}".replace("e-0", "e-").replace("e+0", "e"))
    if way < 0.1 and value < 1:
        return f"2^{max(round(math.log2(value)), -60)}"
    if way < 0.14:
        return f"{draws.whole(1, 9)}/{max(round(5 / value), 1)}" if value < 5 else Text(str(round(value)))
    return Text(text)


def whole(draws, low, high):
    value = round(draws.log(low, high))
    if value >= 1000 and draws.chance(0.3):
        return Text(f"1e{len(str(value)) - 1}")
    return Text(str(value))


def shares(draws, length):
    """Probabilities in thousandths that add up to one."""
    weights = [draws.whole(1, 20) for _ in range(length)]
    parts = [max(1000 * weight // sum(weights), 1) for weight in weights]
    parts[0] += 1000 - sum(parts)
    return [part / 1000 for part in parts]


def listed(values):
    return Text("[" + ", ".join(f"{value:.12g}" for value in values) + "]")


# Each kind takes draws and gives its own fields.


def approx_dp(draws):
    fields = {"epsilon": number(draws, 0.003, 1.5)}
    if draws.chance(0.4):
        fields["delta"] = number(draws, 1e-13, 1e-8)
    return fields


def laplace(draws):
    if draws.chance(0.08):
        return sensitive(draws, {"epsilon": number(draws, 0.02, 2)}, 0.2, 5)
    return sensitive(draws, {"scale": number(draws, 0.5, 200)}, 0.2, 5)


def sensitive(draws, fields, low, high):
    if draws.chance(0.3):
        fields["sensitivity"] = number(draws, low, high)
    return fields


def steps(draws, fields):
    if draws.chance(0.3):
        fields["sensitivity"] = whole(draws, 1, 4)
    return fields


def geometric(draws):
    return steps(draws, {"scale": number(draws, 0.7, 60)})


def gaussian(draws):
    if draws.chance(0.05):
        return sensitive(draws, {"epsilon": number(draws, 0.05, 2), "delta": number(draws, 1e-10, 1e-6)}, 0.2, 5)
    return sensitive(draws, {"sigma": number(draws, 0.5, 60)}, 0.2, 3)


def discrete_gaussian(draws):
    return steps(draws, {"sigma": number(draws, 0.7, 20)})


def randomized_response(draws):
    fields = {"epsilon": number(draws, 0.01, 2)}
    if draws.chance(0.4):
        fields["buckets"] = whole(draws, 2, 40)
    return fields


def exponential(draws):
    return {"epsilon": number(draws, 0.005, 1.5)}


def staircase(draws):
    fields = {"epsilon": number(draws, 0.02, 2)}
    if draws.chance(0.4):
        fields["gamma"] = number(draws, 0.05, 0.95)
    if draws.chance(0.2):
        fields["sensitivity"] = number(draws, 0.5, 5)
    return fields


def name_and_shame(draws):
    return {"delta": number(draws, 1e-13, 1e-8)}


def zcdp(draws):
    fields = {"rho": number(draws, 1e-4, 0.3)}
    if draws.chance(0.3):
        fields["delta"] = number(draws, 1e-12, 1e-9)
    return fields


def tcdp(draws):
    return {"rho": number(draws, 1e-4, 0.2), "omega": number(draws, 1.5, 100)}


def rdp(draws):
    orders = sorted({round(draws.log(1.2, 200), 1) for _ in range(draws.whole(1, 6))})
    rho, bend = draws.log(1e-4, 0.1), draws.log(0.8, 1.3)
    return {"orders": listed(orders), "epsilons": listed([rho * order**bend for order in orders])}


def gdp(draws):
    return {"mu": number(draws, 0.005, 1)}


def sparse_vector(draws):
    return {"epsilon_threshold": number(draws, 0.01, 1), "epsilon_queries": number(draws, 0.01, 1)}


def finite(draws):
    length = draws.whole(2, 6)
    return {"p": listed(shares(draws, length)), "q": listed(shares(draws, length))}


def gaussian_mixture(draws):
    length = draws.whole(1, 4)
    shifts = [round(draws.log(0.1, 3), 2) for _ in range(length)]
    if length > 1 and draws.chance(0.5):
        shifts[0] = 0
    return {
        "sigma": number(draws, 0.7, 20),
        "sensitivities": listed(shifts),
        "probabilities": listed(shares(draws, length)),
    }


def cells(draws):
    length = draws.whole(2, 8)
    p, q = shares(draws, length), shares(draws, length)
    slack = draws.choice((0.001, 0.01, 0.1))
    losses = [math.log(one / other) for one, other in zip(p, q)]
    lower = [math.floor((loss - slack) * 1e4) / 1e4 for loss in losses]
    upper = [math.ceil((loss + slack) * 1e4) / 1e4 for loss in losses]
    return {"p": listed(p), "q": listed(q), "lower": listed(lower), "upper": listed(upper)}


def gaussian_allocation(draws):
    steps = draws.choice((2, 5, 10, 20, 50))
    fields = {"sigma": number(draws, 0.8, 10), "steps": Text(str(steps))}
    if draws.chance(0.3):
        fields["each"] = Text(str(draws.whole(1, min(steps, 3))))
    return sensitive(draws, fields, 0.5, 2)


def gaussian_batch(draws):
    fields = {"sigma": number(draws, 0.8, 20), "share": number(draws, 1e-3, 0.5)}
    if draws.chance(0.3):
        fields["norm"] = number(draws, 0.5, 2)
    if draws.chance(0.4):
        people = draws.whole(20, 5000)
        fields |= {"people": Text(str(people)), "most": Text(str(draws.whole(1, people)))}
    return fields


def gaussian_draws(draws):
    records = draws.whole(20, 5000)
    fields = {
        "sigma": number(draws, 0.8, 20),
        "records": Text(str(records)),
        "draws": Text(str(draws.whole(1, min(records, 40)))),
    }
    return sensitive(draws, fields, 0.5, 2)


def gaussian_subset(draws):
    return sensitive(draws, {"sigma": number(draws, 0.8, 20), "share": number(draws, 1e-3, 0.8)}, 0.5, 2)


# name: (fields, whether it may have a rate, the relations of neighbours that it is proved for)
BOTH = ("add-remove", "replace")
KINDS = {
    "approx-dp": (approx_dp, True, BOTH),
    "laplace": (laplace, True, BOTH),
    "geometric": (geometric, True, BOTH),
    "gaussian": (gaussian, True, BOTH),
    "discrete-gaussian": (discrete_gaussian, True, BOTH),
    "randomized-response": (randomized_response, True, BOTH),
    "exponential": (exponential, True, BOTH),
    "staircase": (staircase, True, BOTH),
    "name-and-shame": (name_and_shame, True, BOTH),
    "zcdp": (zcdp, False, BOTH),
    "tcdp": (tcdp, False, BOTH),
    "rdp": (rdp, False, BOTH),
    "gdp": (gdp, True, BOTH),
    "sparse-vector": (sparse_vector, True, BOTH),
    "above-threshold": (sparse_vector, True, BOTH),
    "finite": (finite, True, ("add-remove",)),
    "gaussian-mixture": (gaussian_mixture, True, ("add-remove",)),
    "cells": (cells, True, ("add-remove",)),
    "gaussian-allocation": (gaussian_allocation, False, ("add-remove",)),
    "gaussian-batch": (gaussian_batch, False, BOTH),
    "gaussian-draws": (gaussian_draws, False, ("replace",)),
    "gaussian-subset": (gaussian_subset, False, ("replace",)),
}
NAMES = ("age", "income", "wave 1", "Größe", 'a "quoted" name', "training", "by region")
# Kinds that are composed at once whatever their count, and whatever else is beside them.
QUICK = (
    "approx-dp",
    "laplace",
    "gaussian",
    "gdp",
    "randomized-response",
    "name-and-shame",
    "sparse-vector",
    "zcdp",
    "exponential",
)
SLOW = (
    "gaussian-mixture",
    "gaussian-allocation",
    "gaussian-batch",
    "gaussian-draws",
    "gaussian-subset",
    "above-threshold",
)


def release(draws, kind, most=1000, rate=0.0, named=0.15, part=0.0):
    """The fields of a release of a kind."""
    fields = {"mechanism": kind} | KINDS[kind][0](draws)
    if draws.chance(named):
        fields = {"name": draws.choice(NAMES)} | fields
    if draws.chance(0.6):
        fields["count"] = whole(draws, 1, most)
    if KINDS[kind][1] and draws.chance(rate):
        sample(draws, fields, most)
    if draws.chance(part):
        fields["partition"] = draws.choice(("north", "south", "east"))
    return fields


def sample(draws, fields, most):
    if draws.chance(0.6):
        fields["rate"] = number(draws, 1e-3, 0.5) if draws.chance(0.9) else Text("1")
        return
    examples = draws.choice((1000, 60000, 12345))
    batch = draws.choice((10, 100, 256))
    fields |= {"examples": Text(str(examples)), "batch": Text(str(batch))}
    if draws.chance(0.7):
        epochs = max(most * batch / examples, 0.1)
        fields["epochs"] = Text(f"{draws.log(min(epochs / 10, 1), epochs):.2g}")
        fields.pop("count", None)
    else:
        fields["count"] = whole(draws, 1, most)


def plan(draws, releases, question=None, adjacency=None, group=None):
    """A plan: what it asks, what neighbours are, whom it protects."""
    top = {}
    if draws.chance(0.15):
        top["version"] = Text("1")
    top |= question or {}
    needs = {name for fields in releases for name in KINDS.get(fields["mechanism"], (0, 0, ()))[2]}
    if adjacency is None:
        allowed = [name for name in BOTH if all(name in KINDS[fields["mechanism"]][2] for fields in releases)]
        sampled = any({"rate", "examples", "partition"} & fields.keys() for fields in releases)
        if sampled and draws.chance(0.93):
            adjacency = "add-remove"
        elif allowed and (draws.chance(0.8) or len(allowed) < len(needs)):
            adjacency = draws.choice(allowed)
    if adjacency:
        top["adjacency"] = adjacency
    if group:
        top["group"] = Text(str(group))
    return top | {"release": releases}


def question(draws):
    """What is asked: epsilon at a delta, or delta at an epsilon."""
    if draws.chance(0.55):
        return {
            "delta": number(draws, 1e-9, 1e-3)
            if draws.chance(0.9)
            else Text(draws.choice(("0", "1e-15", "1e-40", "0.1", "0.9")))
        }
    return {"epsilon": number(draws, 0.1, 8) if draws.chance(0.9) else Text(draws.choice(("0", "0.001", "30", "700")))}


def value(one):
    if isinstance(one, Text):
        return str(one)
    if isinstance(one, list):
        return "[" + ", ".join(map(value, one)) + "]"
    return json.dumps(one, ensure_ascii=False)


def toml(tables):
    """A table as TOML, tables in lists under their headings."""
    return "".join(lines(tables, ""))


def lines(table, path):
    nested = {key: one for key, one in table.items() if is_nested(one)}
    for key, one in table.items():
        if key not in nested:
            yield f"{key} = {value(one)}\n"
    for key, one in nested.items():
        for item in one if isinstance(one, list) else [one]:
            yield f"\n[[{path}{key}]]\n" if isinstance(one, list) else f"\n[{path}{key}]\n"
            yield from lines(item, f"{path}{key}.")


def is_nested(one):
    return isinstance(one, dict) or (isinstance(one, list) and bool(one) and isinstance(one[0], dict))


def as_json(one):
    """A table as JSON; numbers as they are written."""
    if isinstance(one, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {as_json(item)}" for key, item in one.items()) + "}"
    if isinstance(one, list):
        return "[" + ", ".join(map(as_json, one)) + "]"
    return value(one)


def written(draws, table):
    return as_json(table) if draws.chance(0.4) else toml(table)
