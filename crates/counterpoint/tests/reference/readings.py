"""Gaussian privacy, regret and readings of plans whose profile has a closed form.

    pip install mpmath
    python readings.py            writes readings.txt beside this file

Nothing here is shared with the library. The profile of a plan is a sum over the losses of its randomized responses of
Gaussian profiles (or of steps), or the formula of one mechanism; both directions are computed and the larger taken. The
least mu, the regret and the best tests are searched for on a fine grid, and refined around each local optimum.

A line of the table is

    plan | floor | mu | regret | advantage | accuracy at prior 0.3 | true alarms at 0.01 | at 0.001
"""

import pathlib

from mpmath import mp, mpf, erfc, exp, log, sqrt, erfinv, binomial

mp.dps = 34
GRID = 160


def tail(x):
    return erfc(x / sqrt(mpf(2))) / 2


def gauss(mu, e):
    """The profile of N(0, 1) and N(mu, 1) at any e."""
    return tail(e / mu - mu / 2) - exp(e) * tail(e / mu + mu / 2)


def step(loss, e):
    return max(mpf(0), 1 - exp(e - loss))


def responses(epsilon, count, mu=None):
    """Randomized responses, and Gaussian noise of this mu if there is any."""
    epsilon, up = mpf(epsilon), 1 / (1 + exp(-mpf(epsilon)))
    losses = [((count - 2 * i) * epsilon, binomial(count, i) * up ** (count - i) * (1 - up) ** i) for i in range(count + 1)]

    def profile(e):
        if mu is None:
            return sum(p * step(loss, e) for loss, p in losses)
        return sum(p * gauss(mpf(mu), e - loss) for loss, p in losses)

    return profile


def laplace(scale):
    top = 1 / mpf(scale)
    return lambda e: max(mpf(0), 1 - exp((e - top) / 2))


def sampled(sigma, rate):
    """One Gaussian step on a Poisson sample: the larger of both directions."""
    mu, q = 1 / mpf(sigma), mpf(rate)

    def profile(e):
        x = exp(e)
        remove = q * gauss(mu, log(1 + (x - 1) / q))
        share = q - (1 - q) * (x - 1)
        add = share * gauss(mu, log(q * x / share)) if share > 0 else mpf(0)
        return max(remove, add)

    return profile


def leaky(epsilon, delta):
    pure = responses(epsilon, 1)
    return lambda e: mpf(delta) + (1 - mpf(delta)) * pure(e)


def bisect(low, high, passes):
    """The least point that passes."""
    for _ in range(64):
        middle = (low + high) / 2
        if passes(middle):
            high = middle
        else:
            low = middle
    return high


def best(f, low, high):
    """The largest value of f on an interval."""
    places = [low + (high - low) * i / GRID for i in range(GRID + 1)]
    values = [f(place) for place in places]
    top = max(values)
    found = top
    for i, value in enumerate(values):
        near = values[max(i - 1, 0) : i + 2]
        if value < max(near) or value < top - mpf("0.03") * abs(top) - mpf("1e-6"):
            continue
        a, b = places[max(i - 1, 0)], places[min(i + 1, GRID)]
        for _ in range(45):
            c, d = a + (b - a) * mpf("0.382"), a + (b - a) * mpf("0.618")
            if f(c) > f(d):
                b = d
            else:
                a = c
        found = max(found, f((a + b) / 2))
    return found


def demanded(profile, e):
    delta = profile(e)
    return bisect(mpf("1e-9"), mpf(40), lambda mu: gauss(mu, e) >= delta) if delta > 0 else mpf(0)


def whole(profile):
    """The profile at any e, of the plan with both directions."""
    return lambda e: profile(e) if e >= 0 else 1 - exp(e) + exp(e) * profile(-e)


def line(name, profile, floor):
    floor = mpf(floor)
    end = bisect(mpf(0), mpf(80), lambda e: profile(e) <= floor)
    mu = best(lambda e: demanded(profile, e), mpf(0), end)
    regret = best(lambda e: (gauss(mu, e) - profile(e)) / (1 + exp(e)), mpf(0), end)
    accuracy = mpf("0.7") + mpf("0.3") * profile(log(mpf(7) / 3))
    curve = whole(profile)
    alarms = [-best(lambda e: -(curve(e) + exp(e) * a), -end - 1, end + 1) for a in (mpf("0.01"), mpf("0.001"))]
    numbers = [mu, max(regret, mpf(0)), profile(mpf(0)), accuracy, *alarms]
    return " | ".join([name, mp.nstr(floor, 6), *(mp.nstr(number, 18) for number in numbers)])


PLANS = {
    **{f"response {e} 1": (responses(e, 1), "1e-10") for e in ("0.1", "0.5", "1", "2", "4", "8")},
    **{f"response {e} {k}": (responses(e, k), "1e-10") for e, k in (("0.5", 2), ("0.5", 7), ("0.25", 40), ("1", 12))},
    "response 0.5 20": (responses("0.5", 20), "0.001"),
    **{f"laplace {s}": (laplace(s), "1e-10") for s in ("0.25", "1", "3")},
    **{f"sampled {s} {q}": (sampled(s, q), f) for s, q, f in (("1", "0.1", "1e-10"), ("1", "0.1", "1e-5"), ("0.5", "0.5", "1e-10"), ("2", "0.01", "1e-6"))},
    **{f"both {e} {k} {mu}": (responses(e, k, mu), "1e-10") for e, k, mu in (("1", 3, "0.5"), ("0.25", 10, "1"))},
    "leaky 1 1e-12": (leaky("1", "1e-12"), "1e-10"),
    "leaky 0.5 1e-6": (leaky("0.5", "1e-6"), "1e-5"),
}

if __name__ == "__main__":
    lines = ["# Made by readings.py; read there what a line means."]
    for name, (profile, floor) in PLANS.items():
        lines.append(line(name, profile, floor))
        print(lines[-1], flush=True)
    pathlib.Path(__file__).with_suffix(".txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
