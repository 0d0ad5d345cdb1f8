"""The questions put to every library: which epsilon does this list cost at delta?"""

from dataclasses import dataclass
from math import fsum


@dataclass(frozen=True)
class Scenario:
    """A list of (epsilon, delta) guarantees, each with a count, and the delta asked."""

    key: str
    title: str
    releases: tuple  # of (epsilon, delta, count)
    delta: float

    @property
    def is_equal(self):
        return len(self.releases) == 1

    @property
    def is_pure(self):
        return all(leak == 0 for _, leak, _ in self.releases)

    @property
    def guarantees(self):
        """One (epsilon, delta) pair per release, counts written out."""
        return [(e, d) for e, d, count in self.releases for _ in range(count)]

    @property
    def largest_loss(self):
        return fsum(e * count for e, _, count in self.releases)

    def plan(self):
        """The same question as a Counterpoint plan file."""
        release = [
            {"mechanism": "approx-dp", "epsilon": e, "delta": d, "count": count}
            for e, d, count in self.releases
        ]
        return {"version": 1, "delta": self.delta, "release": release}


def power(number):
    return f"{number:.0e}".replace("e-0", "e-")


def equal(key, count, epsilon, delta, leak=0.0, delta_text=None):
    each = f"({epsilon}, {power(leak)})" if leak else f"{epsilon}"
    title = f"{count:,} x {each} at {delta_text or power(delta)}"
    return Scenario(key, title, ((epsilon, leak, count),), delta)


def distinct(key, title, epsilons, delta=1e-6):
    releases = tuple((e, 0.0, 1) for e in epsilons)
    return Scenario(key, f"{title} at {power(delta)}", releases, delta)


def spread(count):
    """`count` different epsilons, evenly scattered over [0.01, 0.2]."""
    return [0.01 + 0.19 * ((0.6180339887 * i) % 1.0) for i in range(1, count + 1)]


SCENARIOS = [
    equal("equal-100", 100, 0.1, 1e-6),
    equal("equal-1000", 1000, 0.1, 1e-6),
    equal("equal-1000-2^-40", 1000, 0.1, 2.0**-40, delta_text="2^-40"),
    equal("equal-1000-1e-20", 1000, 0.1, 1e-20),
    equal("equal-10000", 10_000, 0.01, 1e-6),
    equal("leaky-10", 10, 0.1, 1e-6, leak=1e-7),
    equal("equal-30", 30, 0.5, 1e-6),
    distinct("distinct-20", "20 distinct, 0.05 i", [0.05 * i for i in range(1, 21)]),
    distinct("distinct-100", "100 distinct", spread(100)),
    distinct("distinct-1000", "1,000 distinct", spread(1000)),
    distinct("distinct-10000", "10,000 distinct", spread(10_000)),
]
BY_KEY = {s.key: s for s in SCENARIOS}
