"""Prints few_steps.txt: profiles of two to four steps of Gaussian noise on a Poisson sample, by nested quadrature.

A step multiplies the likelihood ratio by A = 1 - q + q e^Y, with Y normal of mean -s/2 and variance s under Q, s = 1/sigma^2. The last
step has a formula, E[(A - c)+] = q C((c - 1 + q)/q), with C the price of a call in the model of Black and Scholes (of a put for the
other direction). The other steps are integrated by the trapezoid rule over 16 standard deviations on either side. Usage: numpy, scipy.
"""

import itertools
import math

import numpy as np
from scipy.special import log_ndtr, ndtr


def call(k, s):
    """E[(e^Y - k)+] for k > 0."""
    d = (-np.log(k) + s / 2) / math.sqrt(s)
    e = d - math.sqrt(s)
    return np.exp(log_ndtr(d)) - k * np.exp(log_ndtr(e))


def put(k, s):
    """E[(k - e^Y)+] for k > 0."""
    d = (-np.log(k) + s / 2) / math.sqrt(s)
    e = d - math.sqrt(s)
    return k * ndtr(-e) - ndtr(-d)


def last(c, q, s, direction):
    """E[(A - c)+], or E[(c - A)+] in the direction add."""
    k = (c - (1 - q)) / q
    inside = np.maximum(k, 1e-300)
    if direction == "remove":
        return np.where(k > 0, q * call(inside, s), 1 - c)
    return np.where(k > 0, q * put(inside, s), 0.0)


def profile(sigma, q, n, epsilon, direction, points):
    s = 1 / sigma**2
    x, h = np.linspace(-16, 16, points, retstep=True)
    weights = h * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    ratio = 1 + q * np.expm1(math.sqrt(s) * x - s / 2)
    # Products of n - 1 steps.
    products, masses = np.ones(1), np.ones(1)
    for _ in range(n - 1):
        products = np.outer(products, ratio).ravel()
        masses = np.outer(masses, weights).ravel()
    c = math.exp(epsilon) if direction == "remove" else math.exp(-epsilon)
    total = float(np.sum(masses * products * last(c / products, q, s, direction)))
    return total if direction == "remove" else math.exp(epsilon) * total


def main():
    print("# sigma rate steps epsilon remove add, by few_steps.py")
    rows = []
    for (sigma, q), n in itertools.product(
        [(2.2, 0.0017), (0.8, 0.01), (4.13, 1.4e-6), (1.0, 0.2), (6.0, 0.03), (1.5, 1e-4), (0.6, 0.002), (3.0, 0.5), (2.0, 1e-5), (10.0, 0.01), (1.2, 0.05), (5.0, 1e-3)],
        [2, 3, 4],
    ):
        # Somewhat beyond n losses of two to three standard deviations.
        step = math.log1p(q * math.expm1(3.0 / sigma - 0.5 / sigma**2))
        epsilon = float(f"{0.8 * math.sqrt(n) * step:.3g}")
        coarse, fine = ([profile(sigma, q, n, epsilon, d, m) for d in ("remove", "add")] for m in ((4001, 8001) if n == 2 else (1201, 1801) if n == 3 else (301, 401)))
        if abs(fine[0] / coarse[0] - 1) > 1e-8 or fine[0] < 1e-16:
            continue
        add = fine[1] if fine[1] > 1e-17 and abs(fine[1] / coarse[1] - 1) < 1e-8 else 0.0
        rows.append((sigma, q, n, epsilon, fine[0], add))
    for row in rows:
        print(*row)


main()
