"""Arbitrary-precision references, by formulas that share no code with the product.

- Equal guarantees: the exact binomial sum of Murtagh-Vadhan Theorem 1.4.
- Up to 40 distinct: all 2^k signed sums, as two sorted halves.
- More: numerical inversion of M(z) e^{-ze} / (z (1+z)) along the line Re z = t near
  the saddle point, by the trapezoid rule. This one is a numerical reference, not a
  certified one: it is accepted only when halving the step and doubling the range leave
  12 digits of epsilon unchanged. It needs many distinct factors, so that |M| decays
  like a Gaussian and stays small. With equal factors |M| is periodic and comes back,
  and the integral converges only like 1/range.

`python reference.py` checks all three: the first two against each other and against
known values, the contour against the two halves (36 distinct), a direct convolution
(1000 epsilons on a fine lattice), and, to the few digits it has there, the equal sum.

Inputs are the f64 numbers as they are. Leaks are set aside first:
delta = 1 - prod(1 - d_i) (1 - delta_pure).
"""

from bisect import bisect_right

import gmpy2
import numpy as np
from gmpy2 import exp, log, mpc, mpfr, sqrt

BITS = 240  # 72 digits
gmpy2.get_context().precision = BITS
CONVERGED = mpfr("1e-10")


def reference(scenario):
    """The optimal epsilon of the scenario and the method used."""
    target = pure_delta(scenario)
    epsilons = [mpfr(e) for e, _ in scenario.guarantees]
    if target < 0:
        return mpfr("inf"), "leaks exceed delta"
    if scenario.is_equal:
        return solve(equal_profile(epsilons[0], len(epsilons)), target, sum(epsilons)), "exact sum"
    if len(epsilons) <= 40:
        return solve(halves_profile(epsilons), target, sum(epsilons)), "two halves"
    return contour(epsilons, target), "contour"


def pure_delta(scenario):
    """The delta left for the leak-free part: 1 - (1 - delta) / prod(1 - d_i)."""
    kept = mpfr(1)
    for _, leak, count in scenario.releases:
        kept *= (1 - mpfr(leak)) ** count
    return 1 - (1 - mpfr(scenario.delta)) / kept


def solve(profile, target, high):
    """Bisect a decreasing profile for the least epsilon with profile(epsilon) <= target."""
    low, high = mpfr(0), mpfr(high)
    if profile(low) <= target:
        return low
    while high - low > high * mpfr("1e-50"):
        middle = (low + high) / 2
        low, high = (middle, high) if profile(middle) > target else (low, middle)
    return high


def suffix_sums(terms):
    sums = [mpfr(0)]
    for term in reversed(terms):
        sums.append(sums[-1] + term)
    return sums[::-1]


def equal_profile(epsilon, count):
    """MV Theorem 1.4: sum over l of C(k,l) (e^{l eps} - e^e e^{(k-l) eps})_+ / (1+e^eps)^k."""
    losses = [(2 * plus - count) * epsilon for plus in range(count + 1)]
    step = exp(epsilon)
    mass = (1 + step) ** -count  # C(k,l) e^{l eps} / (1 + e^eps)^k, from l = 0 upward
    p = []
    for plus in range(count + 1):
        p.append(mass)
        mass *= step * (count - plus) / (plus + 1)
    above_p, above_q = suffix_sums(p), suffix_sums(p[::-1])  # Q is the mirror image of P

    def profile(e):
        first = bisect_right(losses, e)
        return above_p[first] - exp(e) * above_q[first]

    return profile


def signed_sums(epsilons):
    """Every signed sum of the epsilons and its P mass, sorted by sum."""
    sums = [(mpfr(0), mpfr(1))]
    for e in epsilons:
        plus, minus = 1 / (1 + exp(-e)), 1 / (1 + exp(e))
        sums = [s for x, p in sums for s in ((x + e, p * plus), (x - e, p * minus))]
    sums.sort()
    return [x for x, _ in sums], [p for _, p in sums]


def halves_profile(epsilons):
    """The profile from two sorted halves: one sweep over both per epsilon."""
    left_losses, left_p = signed_sums(epsilons[::2])
    right_losses, right_p = signed_sums(epsilons[1::2])
    above_p, above_q = suffix_sums(right_p), suffix_sums(right_p[::-1])

    def profile(e):
        total_p = total_q = mpfr(0)
        first = len(right_losses)
        for loss, p, q in zip(left_losses, left_p, left_p[::-1]):
            while first > 0 and loss + right_losses[first - 1] > e:
                first -= 1
            total_p += p * above_p[first]
            total_q += q * above_q[first]
        return total_p - exp(e) * total_q

    return profile


def contour(epsilons, target, tail_points=4_000_000, converged=CONVERGED):
    """The epsilon at `target` by the contour, with proof of convergence, not of truth."""
    variance = sum(e * e for e in epsilons)
    guess = variance / 2 + sqrt(2 * variance * log(1 / target))
    tilt = guess / variance - 0.5  # near the saddle point; any positive tilt is valid
    step = min(1 / sqrt(variance), tilt) / 5
    points = int(14 / sqrt(variance) / step)

    nodes = [mpc(tilt, j * step / 2) for j in range(2 * points + 1)]
    at_tilt = moment(epsilons, nodes[0]).real / moment(epsilons, mpc(0)).real
    weights = [moment(epsilons, z) / moment(epsilons, nodes[0]) / (z * (1 + z)) for z in nodes]
    weights[0] /= 2  # j and -j are conjugate: count j = 0 once, and twice the real parts
    tail = tail_nodes(epsilons, float(tilt), float(step), points + 1, tail_points)

    def epsilon(stride, reach):
        def profile(e):
            terms = zip(weights[::stride], nodes[::stride])
            centre = sum((w * exp(-1j * z.imag * e)).real for w, z in terms) * stride / 2
            return at_tilt * exp(-tilt * e) * step / gmpy2.const_pi() * (centre + tail(e, reach))

        return solve(profile, target, sum(epsilons))

    value = epsilon(2, tail_points)
    halved_step = epsilon(1, tail_points)
    halved_range = epsilon(2, tail_points // 2)
    drift = max(abs(halved_step / value - 1), abs(halved_range / value - 1))
    print(f"drift {float(halved_step / value - 1):.1e} {float(halved_range / value - 1):.1e}")
    if drift > converged:
        raise ArithmeticError(f"the contour has not converged: {float(drift):.1e}")
    return value


def tail_nodes(epsilons, tilt, step, first, last):
    """The sum over nodes first..last, far out, as a function of epsilon: tiny, so in f64.

    |M| is negligible at nearly all of them, but it comes back: nodes are dropped as
    soon as a partial product of the factors, all at most 1, is below 1e-14.
    """
    epsilons = np.array([float(e) for e in epsilons])
    plus = 1 / (1 + np.exp(-(1 + 2 * tilt) * epsilons))  # tilted mass of the loss +e_i
    kept = []
    for start in range(first, last + 1, 1 << 16):
        j = np.arange(start, min(start + (1 << 16), last + 1))
        phi = np.exp(-1j * step * j * epsilons.sum())
        for i, (e, p) in enumerate(zip(epsilons, plus)):
            phi *= 1 - p + p * np.exp(2j * step * e * j)
            if i % 8 == 7:
                alive = np.abs(phi) > 1e-14
                j, phi = j[alive], phi[alive]
        kept.append((j, phi))
    j = np.concatenate([j for j, _ in kept])
    z = tilt + 1j * step * j
    weights = np.concatenate([phi for _, phi in kept]) / (z * (1 + z))

    def tail(e, reach):
        below = np.searchsorted(j, reach)
        return float((weights[:below] * np.exp(-1j * step * float(e) * j[:below])).real.sum())

    return tail


def moment(epsilons, z):
    """prod of e^{(1+z) e_i} + e^{-z e_i}: M(z), but for the factor prod of 1 + e^{e_i}."""
    product, slope = mpc(1), 1 + 2 * z
    for e in epsilons:
        product *= 1 + exp(slope * e)
    return product * exp(-z * sum(epsilons))


def convolution(multiples, spacing, target):
    """The epsilon of epsilons `multiples * spacing`, by direct convolution in f64.

    Only non-negative numbers are added and multiplied: about 13 digits of delta.
    """
    p = np.zeros(2 * sum(multiples) + 1)
    p[0], size = 1.0, 1
    for n in multiples:
        plus = 1 / (1 + np.exp(-n * spacing))
        p[2 * n : 2 * n + size] += plus / (1 - plus) * p[:size]
        size += 2 * n
        p[:size] *= 1 - plus
    losses = (np.arange(size) - sum(multiples)) * spacing
    above_p = np.cumsum(p[::-1])[::-1]
    above_q = np.cumsum((p * np.exp(-losses))[::-1])[::-1]
    first = int(np.argmax(above_p - np.exp(losses) * above_q <= target))
    return float(np.log((above_p[first] - target) / above_q[first]))


def check():
    """Compare the methods with each other where more than one applies."""
    from scenarios import BY_KEY, spread

    def agree(what, value, other, tolerance):
        error = abs(mpfr(value) / mpfr(other) - 1)
        print(f"{'ok ' if error <= tolerance else 'BAD'} {what}: {float(error):.1e}")
        return error <= tolerance

    known = {
        "equal-100": "4.774567588108",
        "equal-1000": "19.34467144799",
        "equal-1000-2^-40": "26.5654364309846",
        "leaky-10": "0.999999999716996",
        "equal-30": "13.95200753947",
    }
    micro = mpfr(1e-6)
    twelve = [mpfr(0.25)] * 12
    thirty_six = [mpfr(e) for e in spread(36)]
    multiples = [round(e / 1e-4) for e in spread(1000)]
    thousand = [mpfr(0.1)] * 1000
    checks = [agree(f"{key}, known value", reference(BY_KEY[key])[0], v, 1e-12) for key, v in known.items()]
    checks += [
        agree(
            "equal sum, two halves",
            solve(equal_profile(twelve[0], 12), micro, 3),
            solve(halves_profile(twelve), micro, 3),
            1e-40,
        ),
        agree(
            "contour, two halves (36 distinct)",
            contour(thirty_six, mpfr(1e-3)),
            solve(halves_profile(thirty_six), mpfr(1e-3), sum(thirty_six)),
            1e-10,
        ),
        agree(
            "contour, convolution (1000 on a lattice)",
            contour([mpfr(n) * mpfr(1e-4) for n in multiples], micro),
            convolution(multiples, 1e-4, 1e-6),
            1e-10,
        ),
        agree(
            "contour, equal sum (1000 equal, few digits)",
            contour(thousand, micro, converged=1),
            solve(equal_profile(thousand[0], 1000), micro, 100),
            1e-3,
        ),
    ]
    return all(checks)


if __name__ == "__main__":
    raise SystemExit(0 if check() else 1)
