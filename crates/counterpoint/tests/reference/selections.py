"""Costs of private selections by the formulas of theory 7.3, in arbitrary precision.

    pip install mpmath
    python selections.py          writes selections.txt beside this file
    python selections.py check    compares the formulas with selections among few outcomes, computed exactly

Nothing here is shared with the library. A line of the table is

    law mean eta | noise parameter | delta | epsilon by Renyi divergences | epsilon by profiles

where the law of the number of runs is `binomial` or `poisson` (eta is then 0), and a run is `gaussian mu` or
`laplace epsilon`.
"""

import pathlib
import random
import sys

from mpmath import erfc, exp, expm1, log, log1p, mp, mpf, sqrt

mp.dps = 40


def bisect(holds, low, high):
    """The place between two numbers from which on a condition holds."""
    for _ in range(150):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high


class Gaussian:
    def __init__(self, mu):
        self.mu = mpf(mu)

    def delta(self, epsilon):
        tail = lambda x: erfc(x / sqrt(2)) / 2
        return tail(epsilon / self.mu - self.mu / 2) - exp(epsilon) * tail(epsilon / self.mu + self.mu / 2)

    def divergence(self, order):
        return order * self.mu**2 / 2


class Laplace:
    def __init__(self, epsilon):
        self.epsilon = mpf(epsilon)

    def delta(self, epsilon):
        return -expm1((epsilon - self.epsilon) / 2) if epsilon < self.epsilon else mpf(0)

    def divergence(self, a):
        up = a / (2 * a - 1) * exp((a - 1) * self.epsilon)
        return log(up + (a - 1) / (2 * a - 1) * exp(-a * self.epsilon)) / (a - 1)


def inverse_gamma(mean, eta):
    """ln(1/gamma) of the truncated negative binomial law with this mean."""
    found = lambda s: expm1(s) / s if eta == 0 else eta * expm1(s) / -expm1(-eta * s)
    return bisect(lambda s: found(s) >= mean, mpf(10) ** -30, mpf(600))


def fixed_point(run, s):
    """ln r with r = 1 + (1/gamma - 1) delta(ln r)."""
    return bisect(lambda x: expm1(s) * run.delta(x) <= expm1(x), mpf(0), mpf(60))


def least(value, low, high):
    """The least value at e^x, for x between two numbers."""
    grid = [low + (high - low) * k / 400 for k in range(401)]
    best = min(range(401), key=lambda k: value(exp(grid[k])))
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, 400)]
    for _ in range(60):
        a, b = left + (right - left) / 3, right - (right - left) / 3
        if value(exp(a)) <= value(exp(b)):
            right = b
        else:
            left = a
    return value(exp((left + right) / 2))


def costs(law, mean, eta, run, delta):
    """The two epsilons at a delta."""
    if law == "poisson":
        ratio = mean * run.delta(mpf(0))

        def divergence(t):
            shift = mean * t * run.delta(log1p(1 / t))
            return log1p(mean * exp(shift) * expm1(t * run.divergence(1 + t))) / t
    else:
        ratio = (1 + eta) * fixed_point(run, inverse_gamma(mean, eta))

        def divergence(t):
            return run.divergence(1 + t) + ratio + log(mean) / t

    def renyi(t):
        return divergence(t) - (log(delta) + log1p(t)) / t - log1p(1 / t)

    once = bisect(lambda x: mean * run.delta(x) <= delta, mpf(0), mpf(60))
    return max(least(renyi, mpf(-3), mpf(20)), mpf(0)), ratio + once


def table():
    for run in ("gaussian 0.1", "gaussian 0.25", "gaussian 1", "laplace 0.2", "laplace 1"):
        kind, number = run.split()
        one = (Gaussian if kind == "gaussian" else Laplace)(number)
        laws = [("binomial", 2, 0), ("binomial", 10, 1), ("binomial", 100, -0.5), ("binomial", 50, 2.5)]
        for law, mean, eta in [*laws, ("poisson", 0.5, 0), ("poisson", 10, 0), ("poisson", 30, 0)]:
            for delta in ("1e-3", "1e-6"):
                found = costs(law, mpf(mean), mpf(eta), one, mpf(delta))
                numbers = " | ".join(mp.nstr(value, 20) for value in found)
                yield f"{law} {mean} {eta} | {run} | {delta} | {numbers}"


def masses(list_of_masses, generating):
    """The law of the best of a random number of runs: the last outcome is the best."""
    below, found = mpf(0), []
    for mass in list_of_masses:
        found.append(generating(below + mass) - generating(below))
        below += mass
    return [generating(mpf(0)), *found]


def check():
    """Selections among few random outcomes, computed exactly, never cost more than the formulas."""
    mp.dps = 25
    chance = random.Random(5)
    nearest = {"renyi": mpf(0), "profile": mpf(0)}
    for trial in range(400):
        size = chance.randint(2, 4)
        draw = lambda: [mpf(chance.random()) ** chance.choice([1, 4, 10]) + mpf("1e-6") for _ in range(size)]
        p, q = draw(), draw()
        p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
        if chance.random() < 0.7:
            pairs = sorted(zip(p, q), key=lambda pair: pair[0] / pair[1])
            p, q = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        delta = lambda x, p=p, q=q: sum(max(a - exp(x) * b, mpf(0)) for a, b in zip(p, q))
        back = lambda x, p=p, q=q: sum(max(b - exp(x) * a, mpf(0)) for a, b in zip(p, q))
        moment = lambda t, p=p, q=q: sum(a ** (1 + t) * b ** (-t) for a, b in zip(p, q))
        law = chance.choice(["poisson", "binomial"])
        mean, eta = mpf(chance.choice([0.3, 1.5, 4, 20])), mpf(chance.choice([-0.5, 0, 1, 3]))
        if law == "poisson":
            generating = lambda x: exp(mean * (x - 1))
            ratio = mean * back(mpf(0))
        else:
            mean = max(mean, mpf("1.01"))
            s = inverse_gamma(mean, eta)
            rest = -expm1(-s)
            if eta == 0:
                generating = lambda x: log1p(-rest * x) / -s
            else:
                generating = lambda x: ((1 - rest * x) ** -eta - 1) / expm1(eta * s)
            ratio = (1 + eta) * bisect(lambda x: expm1(s) * back(x) <= expm1(x), mpf(0), mpf(60))
        best, other = masses(p, generating), masses(q, generating)
        assert abs(sum(best) - 1) < mpf(10) ** -20
        for t in (mpf("0.1"), mpf(1), mpf(5), mpf(40)):
            found = log(sum(a ** (1 + t) * b ** (-t) for a, b in zip(best, other) if a > 0)) / t
            if law == "poisson":
                bound = log1p(mean * exp(mean * t * back(log1p(1 / t))) * (moment(t) - 1)) / t
            else:
                bound = log(moment(t)) / t + ratio + log(mean) / t
            assert found <= bound * (1 + mpf(10) ** -15), (trial, law, t, found, bound)
            nearest["renyi"] = max(nearest["renyi"], found / bound)
        for x in (mpf(0), mpf("0.3"), mpf(1), mpf(2)):
            found = sum(max(a - exp(ratio + x) * b, mpf(0)) for a, b in zip(best, other))
            assert found <= mean * delta(x) * (1 + mpf(10) ** -15), (trial, law, x)
            if delta(x) > 0:
                nearest["profile"] = max(nearest["profile"], found / (mean * delta(x)))
    print({name: mp.nstr(value, 4) for name, value in nearest.items()})


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        check()
    else:
        text = "# Made by selections.py; read there what a line means.\n" + "\n".join(table()) + "\n"
        pathlib.Path(__file__).with_suffix(".txt").write_text(text)
