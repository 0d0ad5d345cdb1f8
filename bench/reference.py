"""Arbitrary-precision references, by formulas that share no code with the product.

- Equal guarantees: the exact binomial sum of Murtagh-Vadhan Theorem 1.4.
- Up to 40 distinct: all 2^k signed sums, as two sorted halves.
- More: numerical inversion of M(z) e^{-ze} / (z (1+z)) along the line Re z = t near
  the saddle point, by the trapezoid rule. This one is a numerical reference, not a
  certified one: it is accepted only when halving the step and the range leave 10 digits
  of epsilon unchanged. |M| decays like a Gaussian but comes back far out, even for
  distinct factors: stopping at the Gaussian's end costs 4e-9 at k = 100. So millions
  of far nodes are looked at too.

`python reference.py SCENARIO` prints the value and the method as one JSON line.
`python reference.py` checks all three methods: against known values, against each other, and
the contour at k = 1000 against a direct convolution of epsilons on a fine lattice.

Inputs are the f64 numbers as they are. Leaks are set aside first:
delta = 1 - prod(1 - d_i) (1 - delta_pure).
"""

import json
import sys
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


def solve(profile, target, high, width=mpfr("1e-50")):
    """Bisect a decreasing profile for the least epsilon with profile(epsilon) <= target."""
    low, high = mpfr(0), mpfr(high)
    if profile(low) <= target:
        return low
    while high - low > high * width:
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


def contour(epsilons, target, last=4_000_000, converged=CONVERGED):
    """The epsilon at `target` by the contour, if it has converged.

    Nodes z = tilt + i j step. The central ones carry the value and are summed in full
    precision; the rest, out to `last`, in f64 where |M| comes back.
    """
    variance = sum(e * e for e in epsilons)
    guess = variance / 2 + sqrt(2 * variance * log(1 / target))
    tilt = guess / variance - 0.5  # near the saddle point; any positive tilt is valid
    step = min(1 / sqrt(variance), tilt) / 6
    central = int(14 / sqrt(variance) / step)

    nodes = [mpc(tilt, j * step) for j in range(central + 1)]
    moments = [moment(epsilons, z) for z in nodes]
    weights = [m / moments[0] / (z * (1 + z)) for m, z in zip(moments, nodes)]
    weights[0] /= 2  # j and -j are conjugate: count j = 0 once, and twice the real parts
    scale = (moments[0] / moment(epsilons, mpc(0))).real * step / gmpy2.const_pi()
    outer = outer_sum(epsilons, float(tilt), float(step), central + 1, last)

    def epsilon(stride, reach):
        def profile(e):
            pairs = zip(weights[::stride], nodes[::stride])
            inner = sum((w * exp(-1j * z.imag * e)).real for w, z in pairs)
            return stride * scale * exp(-tilt * e) * (inner + outer(float(e), stride, reach))

        return solve(profile, target, sum(epsilons), mpfr("1e-25"))

    value = epsilon(1, last)
    drift = max(abs(value / epsilon(2, last) - 1), abs(value / epsilon(1, last // 2) - 1))
    if drift > converged:
        raise ArithmeticError(f"the contour has not converged: {float(drift):.1e}")
    return value


def outer_sum(epsilons, tilt, step, first, last):
    """The nodes first..last as a function of (epsilon, stride, reach).

    A node is dropped as soon as a partial product of M's factors, each at most 1 in
    modulus after division by M(tilt), makes its weight negligible.
    """
    epsilons = np.array([float(e) for e in epsilons])
    plus = 1 / (1 + np.exp(-(1 + 2 * tilt) * epsilons))  # tilted mass of the loss +e_i
    kept = []
    for start in range(first, last + 1, 1 << 16):
        j = np.arange(start, min(start + (1 << 16), last + 1))
        phi = np.exp(-1j * step * epsilons.sum() * j)
        for i, (e, p) in enumerate(zip(epsilons, plus)):
            phi *= 1 - p + p * np.exp(2j * step * e * j)
            if i % 8 == 7:
                alive = np.abs(phi) > 1e-16 * (step * j) ** 2
                j, phi = j[alive], phi[alive]
        kept.append((j, phi))
    j = np.concatenate([j for j, _ in kept])
    z = tilt + 1j * step * j
    weights = np.concatenate([phi for _, phi in kept]) / (z * (1 + z))

    def total(e, stride, reach):
        chosen = (j % stride == 0) & (j <= reach)
        return float((weights[chosen] * np.exp(-1j * step * e * j[chosen])).real.sum())

    return total


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

    def exact(profile, delta, epsilons):
        return solve(profile, mpfr(delta), sum(epsilons))

    known = {
        "equal-100": "4.774567588108",
        "equal-1000": "19.34467144799",
        "equal-1000-2^-40": "26.5654364309846",
        "leaky-10": "0.999999999716996",
        "equal-30": "13.95200753947",
    }
    results = []
    for key, value in known.items():
        results.append(agree(f"{key}, known value", reference(BY_KEY[key])[0], value, 1e-12))

    equal = [mpfr(0.25)] * 12
    by_sum = exact(equal_profile(equal[0], 12), 1e-6, equal)
    by_halves = exact(halves_profile(equal), 1e-6, equal)
    results.append(agree("equal sum, two halves", by_sum, by_halves, 1e-40))

    few = [mpfr(e) for e in spread(32)]
    by_halves = exact(halves_profile(few), 1e-3, few)
    results.append(agree("contour, two halves (32)", contour(few, mpfr(1e-3)), by_halves, 1e-10))

    many = [mpfr(0.1)] * 1000
    by_sum = exact(equal_profile(many[0], 1000), 1e-6, many)
    results.append(agree("contour, equal sum (1000)", contour(many, mpfr(1e-6)), by_sum, 1e-10))

    multiples = [round(e / 1e-4) for e in spread(1000)]
    by_contour = contour([n * mpfr(1e-4) for n in multiples], mpfr(1e-6))
    by_convolution = convolution(multiples, 1e-4, 1e-6)
    results.append(agree("contour, convolution (1000)", by_contour, by_convolution, 1e-10))
    return all(results)


def main():
    if len(sys.argv) == 1:
        return 0 if check() else 1
    from scenarios import BY_KEY

    value, method = reference(BY_KEY[sys.argv[1]])
    print(json.dumps({"epsilon": f"{value:.20g}", "method": method}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
