"""Profiles of shuffled reports by their definition, in arbitrary precision.

    pip install mpmath
    python shuffled.py          writes shuffled.txt beside this file
    python shuffled.py check    compares the pair with all outcomes of shuffled randomized responses

Nothing here is shared with the library. A line of the table is

    epsilon of a report | people | epsilon | delta
"""

import itertools
import pathlib
import sys
from collections import Counter

from mpmath import binomial, exp, mp, mpf

mp.dps = 40


def halves(c):
    """The law of the number of heads of c fair coins."""
    mass, list_ = mpf(2) ** -c, []
    for a in range(c + 1):
        list_.append(mass)
        mass = mass * (c - a) / (a + 1)
    return list_


def delta(local, people, epsilon):
    """Sums over the number of clones, and the number of ones among their reports and the person's."""
    share, truth = exp(-local), 1 / (1 + exp(-local))
    trials, total = people - 1, mpf(0)
    for c in range(trials + 1):
        chance = binomial(trials, c) * share**c * (1 - share) ** (trials - c)
        if chance < mpf(10) ** -30:
            continue
        mass = [mpf(0), *halves(c), mpf(0)]
        for ones in range(c + 2):
            before, same = mass[ones], mass[ones + 1]
            p, q = truth * before + (1 - truth) * same, (1 - truth) * before + truth * same
            total += chance * max(p - exp(epsilon) * q, mpf(0))
    return total


def table():
    for local in ("0.1", "0.5", "1", "2", "4"):
        for people in (1, 2, 3, 10, 60, 400):
            for share in ("0", "0.1", "0.4"):
                epsilon = mpf(share) * mpf(local)
                found = delta(mpf(local), people, epsilon)
                if found > mpf(10) ** -14:
                    yield f"{local} | {people} | {mp.nstr(epsilon, 17)} | {mp.nstr(found, 20)}"


def check():
    """All multisets of answers of people with k-ary randomized response, for the worst change of one report."""
    worst = mpf(0)
    for k, people, local in [(2, 4, 1), (2, 7, 2), (3, 4, 1), (3, 5, 2), (4, 4, "0.5"), (2, 9, "0.3")]:
        local = mpf(local)
        truth = exp(local) / (exp(local) + k - 1)
        law = lambda value, answer: truth if value == answer else (1 - truth) / (k - 1)
        for others in itertools.combinations_with_replacement(range(k), people - 1):
            laws = []
            for value in (0, 1):
                states = {tuple([0] * k): mpf(1)}
                for person in (value, *others):
                    following = Counter()
                    for counts, mass in states.items():
                        for answer in range(k):
                            after = list(counts)
                            after[answer] += 1
                            following[tuple(after)] += mass * law(person, answer)
                    states = following
                laws.append(states)
            for epsilon in (mpf(0), local / 5, local / 2):
                found = sum(max(mass - exp(epsilon) * laws[1][counts], mpf(0)) for counts, mass in laws[0].items())
                bound = delta(local, people, epsilon)
                assert found <= bound * (1 + mpf(10) ** -20), (k, people, local, others)
                worst = max(worst, found / bound)
    print("the largest share of the bound:", mp.nstr(worst, 4))


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check()
    else:
        text = "# Made by shuffled.py; read there what a line means.\n" + "\n".join(table()) + "\n"
        pathlib.Path(__file__).with_suffix(".txt").write_text(text)
