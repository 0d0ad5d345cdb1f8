"""Profiles of training on batches, by their definitions and not by the library's methods.

    pip install numpy scipy
    python batches.py          prints the values that tests/allocation.rs and tests/batches.rs hold

Random allocation: the likelihood ratio is the mean L of t independent X = e^(mu z - mu^2/2), z standard normal.
Removing a person has delta E(L - e^eps)+, adding one e^eps E(e^-eps - L)+. Two steps are a quadrature over z
with the other summand's part in closed form; many are a Laplace transform turned back: for K > 0

    E(K - L)+ = 1/(2 pi i) integral of e^(s K) (E e^(-s X/t))^t / s^2 along Re s = c > 0,

each transform a trapezoid sum over z, which converges faster than any power of its step. Two of three steps are a
quadrature in space. Every quadrature is repeated with other nodes.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm


def two_steps(mu, level, nodes=4001):
    """E(L - level)+ for L = (X1 + X2)/2, X2's part in closed form."""
    z, width = np.linspace(-12, 12 + mu, nodes, retstep=True)
    x = np.exp(mu * z - mu * mu / 2)
    strike = 2 * level - x  # E(X2 - strike)+
    safe = np.where(strike > 0, strike, 1.0)
    d = (-np.log(safe) + mu * mu / 2) / mu
    call = np.where(strike > 0, ndtr(d) - strike * ndtr(d - mu), 1 - strike)
    return width * np.sum(norm.pdf(z) * call) / 2


def many_steps(mu, steps, level, shift=None, nodes=6000):
    """The same for the mean of so many, by a Laplace transform turned back."""
    z, width = np.linspace(-14, 14, 2001, retstep=True)
    c = shift or math.sqrt(steps / math.expm1(mu * mu)) * 0.7

    def log_transform(s):
        # z is moved off the real line until s X is real, so that nothing oscillates.
        turned = z - 1j * np.angle(s) / mu
        p = np.exp(-turned * turned / 2) * width / math.sqrt(2 * math.pi)
        return steps * np.log(np.sum(p * np.exp(-s * np.exp(mu * turned - mu * mu / 2) / steps)))

    top = c
    while abs(np.exp(log_transform(c + 1j * top))) > 1e-18 * abs(np.exp(log_transform(c))):
        top *= 1.5
    # A trapezoid sum of an analytic function: its error falls as e^(-2 pi c / step), what lies beyond has decayed.
    u, step = np.linspace(-top, top, nodes, retstep=True)
    s = c + 1j * u
    values = np.array([np.exp(each * level + log_transform(each)) / each**2 for each in s])
    put = step * np.sum(values).real / (2 * math.pi)
    return put + 1 - level


def deltas(call, epsilon):
    """Removing and adding, from E(L - level)+ and a mean of one."""
    remove = call(math.exp(epsilon))
    low = math.exp(-epsilon)
    add = math.exp(epsilon) * (call(low) - (1 - low))
    return remove, add


def epsilon_at(call, delta, high):
    """By removing, which has the larger delta here; what adding has cancels at large epsilons."""
    return brentq(lambda e: math.log(call(math.exp(e)) / delta), 0.0, high, xtol=1e-12)


def two_of_three(mu, epsilon, step, reach=9.0):
    """delta of removing: the mean of the three products of two ratios, over space; and of adding."""
    z = np.arange(-reach, reach + mu + step, step)
    x, p = np.exp(mu * z - mu * mu / 2), norm.pdf(z) * step
    pairs, weights = np.add.outer(x, x), np.outer(p, p)
    product, growth = np.outer(x, x), math.exp(epsilon)
    remove = add = 0.0
    for each, weight in zip(x, p):
        ratio = (product + each * pairs) / 3
        remove += weight * np.sum(weights * np.maximum(ratio - growth, 0))
        add += weight * np.sum(weights * np.maximum(1 - growth * ratio, 0))
    return remove, add


def replaced(mu, rate, epsilon):
    """delta of (1-q) N(0,1) + q N(mu,1) against (1-q) N(0,1) + q N(-mu,1): by the point where the ratio is e^eps."""
    growth = math.exp(epsilon)
    density = lambda x, m: (1 - rate) * norm.pdf(x) + rate * norm.pdf(x - m)
    gap = lambda x: density(x, mu) - growth * density(x, -mu)
    point = brentq(gap, -3, 9, xtol=1e-15)
    above = lambda m: (1 - rate) * norm.sf(point) + rate * norm.sf(point - m)
    return above(mu) - growth * above(-mu)


def main():
    for mu, delta, high in [(1.0, 1e-6, 7.0), (2.0, 1e-6, 14.0), (0.5, 1e-8, 4.0), (1.0, 1e-10, 8.0)]:
        values = [epsilon_at(lambda k: two_steps(mu, k, n), delta, high) for n in (20001, 40001)]
        print(f"1 of 2, mu {mu}, epsilon at {delta}: {values[0]:.12f} {values[1]:.12f}")
    for mu, steps, epsilon in [(1.0, 100, 0.3), (1.0, 100, 0.5), (0.5, 16, 0.2)]:
        values = [deltas(lambda k: many_steps(mu, steps, k, c, n), epsilon) for c, n in ((None, 6000), (20.0, 9000))]
        print(f"1 of {steps}, mu {mu}, delta at {epsilon}: {values}")
    for mu, epsilon in [(1.0, 2.0), (0.5, 1.0)]:
        print(f"2 of 3, mu {mu}, delta at {epsilon}: ", [two_of_three(mu, epsilon, s) for s in (0.05, 0.03)])
    for mu, rate, epsilon in [(1.0, 0.1, 0.3), (2.0, 0.3, 1.0), (0.5, 0.01, 0.01)]:
        print(f"replaced, mu {mu}, rate {rate}, delta at {epsilon}: {replaced(mu, rate, epsilon):.15e}")


if __name__ == "__main__":
    main()
