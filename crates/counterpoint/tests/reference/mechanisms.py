"""Composed privacy profiles of real mechanisms, by their definitions.

    pip install python-flint mpmath
    python mechanisms.py          writes mechanisms.txt beside this file
    python mechanisms.py check    compares every method with a second one

Nothing here is shared with the library. Numbers are balls of arb (python-flint): a
midpoint and a bound on its rounding error, so a closed form or a finite sum below is
right to the digits printed. Quadratures are repeated with more nodes and the difference
is taken for their error. Parameters are the doubles nearest to the text, exactly.

A line of the table is

    plan | question | value | remove | add

with the last two only where the directions differ; the value is then the larger one. A
plan is a sum of `count mechanism(parameters)@rate`.

    laplace(scale sensitivity)          gaussian(sigma sensitivity)
    geometric(scale sensitivity)        discrete-gaussian(sigma sensitivity)
    randomized-response(eps buckets)    exponential(eps)
    staircase(eps gamma)                gdp(mu)
    name-and-shame(delta)               sparse-vector(threshold queries)
    approx-dp(eps delta)                above-threshold(threshold queries)
    finite(p... / q...)
"""

import itertools
import pathlib
import re
import sys
import time

from flint import acb, acb_poly, arb, arb_poly, ctx, fmpz_poly

ctx.prec = 700
ONE = arb(1)
HALF = arb(1) / 2
PI = arb.pi()


def double(text):
    """The double nearest to a decimal, exactly."""
    return arb(float(text))


def phi(x):
    """The normal distribution function."""
    return (-x / arb(2).sqrt()).erfc() / 2


# ---------------------------------------------------------------------------
# Laws of the loss ln P/Q under P. A law is one of
#   ("leak", d)                     infinite with probability d, else zero
#   ("gauss", square)               N(square/2, square)
#   ("lattice", first, step, p)     masses p[i] at first + i step
#   ("atoms", [(loss, mass)])       masses need not sum to one: the rest is ("leak")
#   ("box", e, kind)                laplace or exponential with largest loss e
#   ("mixed-gauss", rate, mu, direction), ("mixed-laplace", rate, e, direction)


def geometric(scale, steps):
    """Noise with masses falling by e^(-1/scale) a step, moved by `steps`: summed outcome by
    outcome, the two tails as the geometric series they are."""
    a = ONE / scale
    mass = lambda y: (1 - (-a).exp()) / (1 + (-a).exp()) * (-a * abs(y)).exp()
    tail = (-a * steps).exp() / (1 + (-a).exp())  # noise at least `steps` away, on one side
    # Outcome x: noise x - steps under P and x under Q.
    by_loss = {}
    by_loss[steps] = 1 / (1 + (-a).exp())  # x >= steps: noise >= 0
    by_loss[-steps] = tail  # x <= 0
    for x in range(1, steps):
        loss = abs(x) - abs(x - steps)
        by_loss[loss] = by_loss.get(loss, arb(0)) + mass(x - steps)
    assert abs(sum(by_loss.values(), arb(0)) - 1) < 1e-100
    if steps == 1:
        return ("lattice", -a, 2 * a, [by_loss[-1], by_loss[1]])
    masses = [by_loss.get(-steps + 2 * i, arb(0)) for i in range(steps + 1)]
    return ("lattice", -a * steps, 2 * a, masses)


def discrete_gaussian_noise(sigma):
    reach = int(35 * float(sigma)) + 8
    weights = {y: (-arb(y) ** 2 / (2 * sigma**2)).exp() for y in range(-reach, reach + 1)}
    total = sum(weights.values(), arb(0))
    return {y: w / total for y, w in weights.items()}


def discrete_gaussian(sigma, steps):
    """P is the noise moved by `steps`: outcome y + steps has loss D (2 y + D) / 2 sigma^2."""
    noise = discrete_gaussian_noise(sigma)
    first = min(noise)
    step = steps / sigma**2
    masses = [noise[y] for y in sorted(noise)]
    return ("lattice", step * (2 * first + steps) / 2, step, masses)


def response(epsilon, buckets=2):
    whole = epsilon.exp() + buckets - 1
    masses = [1 / whole, arb(buckets - 2) / whole, epsilon.exp() / whole]
    if buckets == 2:
        return ("lattice", -epsilon, 2 * epsilon, [masses[0], masses[2]])
    return ("lattice", -epsilon, epsilon, masses)


def sparse(threshold, queries):
    """Q masses are the changes of the profile's slopes over e^epsilon at its corners, of which 1 - 1/e^e1 at
    e^(e2 - e1) follows from the threshold's pair, and the others from its mirror image and from purity."""
    x, y = threshold.exp(), queries.exp()
    corners = sorted([(arb(0), arb(1)), (1 / (x * y), 1 - 1 / (x * y)), (x / y, 1 - 1 / y), (y / x, 1 - 1 / x),
                      (x * y, arb(0))], key=lambda corner: float(corner[0]))
    slopes = [(a[1] - b[1]) / (b[0] - a[0]) for a, b in zip(corners, corners[1:])] + [arb(0)]
    masses = [a - b for a, b in zip(slopes, slopes[1:])]
    return ("atoms", [(at.log(), at * mass) for (at, _), mass in zip(corners[1:], masses)])


def staircase(epsilon, gamma):
    """By the noise's density, piece by piece: level n, e^(-n eps), on
    [n - 1 + gamma, n + gamma) either side of zero; moved by one."""
    # On every unit interval the cuts of both laws are at gamma and at 1 - gamma.
    cuts = [arb(0), arb(1)] + [c for c in (gamma, 1 - gamma)]
    cuts = sorted(cuts, key=lambda c: float(c.mid()))
    # Beyond 0 and 1 the loss is +-eps and the two tails are one geometric series each.
    levels = 4 + int(500 / float(epsilon))

    def level(x):
        x = abs(x)
        n = 0
        while not x < n + gamma:
            n += 1
        return n

    sums = {-1: arb(0), 0: arb(0), 1: arb(0)}
    total = arb(0)
    for whole in range(-levels, levels):
        for left, right in zip(cuts, cuts[1:]):
            width = right - left
            if not width > 0:
                continue
            middle = whole + (left + right) / 2
            # The level of a unit away differs by exactly one step of e^-eps: found once.
            if abs(whole) > 2:
                continue
            p = (-epsilon * level(middle - 1)).exp() * width
            sums[level(middle) - level(middle - 1)] += p
            total += p
    # The rest, whole >= 3 and whole <= -3: losses +eps and -eps.
    right = sum(((-epsilon * level(3 + (a + b) / 2 - 1)).exp() * (b - a)
                 for a, b in zip(cuts, cuts[1:])), arb(0)) / (1 - (-epsilon).exp())
    left = sum(((-epsilon * level(-3 + (a + b) / 2 - 1)).exp() * (b - a)
                for a, b in zip(cuts, cuts[1:])), arb(0)) / (1 - (-epsilon).exp())
    sums[1] += right
    sums[-1] += left
    total += right + left
    return ("lattice", -epsilon, epsilon, [sums[i] / total for i in (-1, 0, 1)])


def finite(p, q, direction):
    if direction == "add":
        p, q = q, p
    p = [x / sum(p, arb(0)) for x in p]
    q = [x / sum(q, arb(0)) for x in q]
    leak = sum((a for a, b in zip(p, q) if b == 0), arb(0))
    atoms = [((a / b).log(), a / (1 - leak)) for a, b in zip(p, q) if a > 0 and b > 0]
    return [("leak", leak), ("atoms", atoms)]


def sampled_discrete_gaussian(sigma, steps, rate, direction):
    noise = discrete_gaussian_noise(sigma)
    atoms = []
    for x in range(min(noise), max(noise) + steps + 1):
        p, q = noise.get(x - steps, arb(0)), noise.get(x, arb(0))
        ratio = (arb(steps) * (2 * x - steps) / (2 * sigma**2)).exp()
        loss = (1 - rate + rate * ratio).log()
        if direction == "remove":
            atoms.append((loss, (1 - rate) * q + rate * p))
        else:
            atoms.append((-loss, q))
    return ("atoms", [(l, m) for l, m in atoms if m > 1e-190])


def sampled_guarantee(epsilon, delta, rate, direction):
    """Leaky randomized response on a sample: the worst of all mechanisms with its guarantee."""
    large = (1 - delta) / (1 + (-epsilon).exp())
    small = 1 - delta - large
    p, q = [delta, large, small, arb(0)], [arb(0), small, large, delta]
    return finite([(1 - rate) * q + rate * p for p, q in zip(p, q)], q, direction)


def laws_of(name, args, rate, direction):
    """The laws one release is made of."""
    if name == "finite":
        cut = args.index("/")
        return finite([double(x) for x in args[:cut]], [double(x) for x in args[cut + 1:]],
                      direction)
    x = [double(a) for a in args if a != "-"]
    if name == "approx-dp":
        epsilon, delta = (x + [arb(0)])[:2]
        if rate is not None:
            return sampled_guarantee(epsilon, delta, rate, direction)
        return [("leak", delta)] + ([response(epsilon)] if epsilon > 0 else [])
    if name == "laplace":
        e = x[1] / x[0]
        return [("box", e, "laplace") if rate is None else ("mixed-laplace", rate, e, direction)]
    if name == "gaussian":
        mu = x[1] / x[0]
        return [("gauss", mu**2) if rate is None else ("mixed-gauss", rate, mu, direction)]
    if name == "discrete-gaussian":
        if rate is None:
            return [discrete_gaussian(x[0], int(args[1]))]
        return [sampled_discrete_gaussian(x[0], int(args[1]), rate, direction)]
    assert rate is None
    if name == "geometric":
        return [geometric(x[0], int(args[1]))]
    if name == "randomized-response":
        return [response(x[0], int(args[1]))]
    if name == "exponential":
        return [("box", x[0], "exponential")]
    if name == "staircase":
        gamma = 1 / (1 + (x[0] / 2).exp()) if args[1] == "-" else x[1]
        return [staircase(x[0], gamma)]
    if name == "name-and-shame":
        return [("leak", x[0])]
    if name == "gdp":
        return [("gauss", x[0] ** 2)]
    if name == "sparse-vector":
        return [response(x[0] + x[1])]
    if name == "above-threshold":
        return [sparse(x[0], x[1])]
    raise ValueError(name)


RELEASE = re.compile(r"(\d+) ([a-z-]+)\(([^)]*)\)(?:@(\S+))?$")


def parse(plan):
    releases = []
    for text in plan.split(" + "):
        count, name, args, rate = RELEASE.match(text.strip()).groups()
        rate = None if rate is None or float(rate) >= 1 else double(rate)
        if rate is not None and rate == 0:
            continue
        releases.append((int(count), name, args.split(), rate))
    return releases


def is_symmetric(plan):
    def one(name, args, rate):
        if name == "finite":
            cut = args.index("/")
            pairs = list(zip(map(float, args[:cut]), map(float, args[cut + 1:])))
            return sorted(pairs) == sorted((q, p) for p, q in pairs)
        return rate is None
    return all(one(name, args, rate) for _, name, args, rate in parse(plan))


# ---------------------------------------------------------------------------
# Profiles: e -> E (1 - e^(e - L))+, for every real e.


def gaussian_profile(square, e):
    mu = square.sqrt()
    return phi(mu / 2 - e / mu) - e.exp() * phi(-mu / 2 - e / mu)


def atoms_profile(atoms, e):
    return sum((m * (1 - (e - l).exp()) for l, m in atoms if not l <= e), arb(0))


def composed_atoms(groups):
    """All patterns of the atoms: lattices by polynomial multiplication, others by
    multinomial terms."""
    total = [(arb(0), ONE)]
    for law, count in groups:
        if law[0] == "lattice":
            _, first, step, masses = law
            power = (arb_poly(masses) ** count).coeffs()
            terms = [(count * first + i * step, m) for i, m in enumerate(power)]
        else:
            terms = multinomial(law[1], count)
        total = [(l1 + l2, m1 * m2) for l1, m1 in total for l2, m2 in terms]
    return total


def multinomial(atoms, count):
    (loss, mass), rest = atoms[0], atoms[1:]
    if not rest:
        return [(count * loss, mass**count)]
    terms, choose = [], 1
    for i in range(count + 1):
        terms += [(i * loss + l, choose * mass**i * m) for l, m in multinomial(rest, count - i)]
        choose = choose * (count - i) // (i + 1)
    return terms


class Boxes:
    """k Laplace and m exponential mechanisms of one largest loss e0, exactly.

    With P tilted by e^(-l/2) a Laplace loss is e^(-e0/2) ((atoms at +-e0)/2 + (1/4) dl) and
    an exponential one dl / 4 sinh(e0/2), on [-e0, e0]. Their transforms are sums of terms
    z^p / s^j with z = e^(s e0), so the composed one is too, and such a term is the function
    (p e0 - l)+^(j-1) / (j-1)!. Against e^(l/2) (1 - e^(e-l)) over l > e it gives
    2 e^(e/2) S_j(p e0 - e), S_j(X) = sum_m X^(2m+1+j) / 2^(2m+1) (2m+1+j)!.
    """

    def __init__(self, e0, laplace, exponential):
        self.e0, self.top = e0, laplace + exponential
        self.terms = {}  # p -> {j: coefficient}
        minus, plus = fmpz_poly([-1, 0, 1]), fmpz_poly([1, 0, 1])  # z (z -+ 1/z)
        choose = 1
        scale = (-e0 / 2 * laplace).exp() / (4 * (e0 / 2).sinh()) ** exponential
        for j in range(laplace + 1):
            powers = (minus ** (j + exponential) * plus ** (laplace - j)).coeffs()
            factor = scale * choose / arb(4) ** j / arb(2) ** (laplace - j)
            for i, power in enumerate(powers):
                if power != 0:
                    row = self.terms.setdefault(i - self.top, {})
                    row[j + exponential] = factor * arb(power)
            choose = choose * (laplace - j) // (j + 1)

    @staticmethod
    def series(x, j):
        term = x ** (j + 1) / (2 * arb(j + 1).gamma() * (j + 1))
        total, m = arb(0), 0
        while m < 20 or not abs(term) < arb(2) ** (-ctx.prec - 40) * abs(total):
            total += term
            n = 2 * m + 1 + j
            term = term * x * x / (4 * (n + 1) * (n + 2))
            m += 1
        return total

    def profile(self, e):
        total = arb(0)
        for p, row in self.terms.items():
            x = p * self.e0 - e
            if x <= 0:
                continue
            if not x > 0:
                # Zero but for rounding; S_j(x) is at most x then.
                total += arb(0, sum((abs(c) for c in row.values()), arb(0)) * x.rad())
                continue
            top = max(row)
            s = {top + 1: self.series(x, top + 1), top: self.series(x, top)}
            factor = x ** top / arb(top + 1).gamma()  # x^j / j!
            for j in range(top - 1, -1, -1):
                # S_j = x^(j+1) / 2 (j+1)! + S_(j+2) / 4, from the series.
                s[j] = factor / 2 + s[j + 2] / 4
                factor = factor * (j + 1) / x
            total += sum((c * s[j] for j, c in row.items()), arb(0))
        return 2 * (e / 2).exp() * total

    def atoms(self):
        """What is not a density."""
        return [(p * self.e0, row[0] * (p * self.e0 / 2).exp())
                for p, row in self.terms.items() if 0 in row]

    def density_on(self, cell):
        """The density of P between p e0 for p = cell and cell + 1."""
        terms = [(p, j, c) for p, row in self.terms.items() if p > cell
                 for j, c in row.items() if j > 0]

        def density(l):
            total = acb(0)
            for p, j, c in terms:
                total += c * (p * self.e0 - l) ** (j - 1) / arb(j).gamma()
            return total * (l / 2).exp()

        return density


def acb_gaussian_profile(square, e):
    mu = square.sqrt()
    cdf = lambda x: (-x / arb(2).sqrt()).erfc() / 2
    return cdf(mu / 2 - e / mu) - e.exp() * cdf(-mu / 2 - e / mu)


def boxes_and_gaussian(boxes, square, e):
    """The Gaussian profile averaged over the other loss: arb's certified quadrature."""
    total = sum((m * gaussian_profile(square, e - l) for l, m in boxes.atoms()), arb(0))
    before = ctx.prec
    ctx.prec = 450
    for cell in range(-boxes.top, boxes.top):
        density = boxes.density_on(cell)
        f = lambda l, _: density(l) * acb_gaussian_profile(square, e - l)
        total += acb.integral(f, cell * boxes.e0, (cell + 1) * boxes.e0, rel_tol=arb(2) ** -140,
                              abs_tol=arb(2) ** -420).real
    ctx.prec = before
    return total


# --- Poisson samples -------------------------------------------------------


def tails(base, t):
    """P and Q mass of a base loss above t, for a Gaussian pair mu apart or a Laplace one."""
    kind, x = base
    if kind == "gauss":
        return phi(x / 2 - t / x), phi(-x / 2 - t / x)
    if t >= x:
        return arb(0), arb(0)
    if t < -x:
        return ONE, ONE
    return 1 - ((t - x) / 2).exp() / 2, (-(t + x) / 2).exp() / 2


def one_sampled(base, rate, direction, e):
    """P against Q where the mixture's ratio is above e^e, in closed form."""
    ratio = e.exp() if direction == "remove" else (-e).exp()
    inside = (ratio - 1 + rate) / rate  # the base ratio at which the mixture's is that
    if direction == "remove":
        if not inside > 0:
            return 1 - e.exp()
        p, q = tails(base, inside.log())
        return rate * p + (1 - rate - e.exp()) * q
    if not inside > 0:
        return arb(0)
    # The masses of base losses below the threshold are, by symmetry, those above its mirror.
    q_below, p_below = tails(base, -inside.log())
    return q_below - e.exp() * ((1 - rate) * q_below + rate * p_below)


def legendre(n, cache={}):
    if (n, ctx.prec) not in cache:
        cache[n, ctx.prec] = [arb.legendre_p_root(n, k, weight=True) for k in range(n)]
    return cache[n, ctx.prec]


def quadrature(f, a, b, n):
    half, middle = (b - a) / 2, (a + b) / 2
    return half * sum((w * f(middle + half * x) for x, w in legendre(n)), arb(0))


def mixed_loss(rate, direction, l):
    loss = (1 - rate + rate * l.exp()).log()
    return loss if direction == "remove" else -loss


def sampled_laplace(rate, e0, direction, count, e, n=48):
    """The first loss by its law, the others by recursion; pieces end where the rest's
    profile has a kink."""
    if count == 1:
        return one_sampled(("laplace", e0), rate, direction, e)
    rest = lambda x: sampled_laplace(rate, e0, direction, count - 1, x, n)
    p = lambda l: ((l - e0) / 2).exp() / 4
    mix = (lambda a, b: (1 - rate) * b + rate * a) if direction == "remove" else lambda a, b: b
    total = arb(0)
    ends = [(e0, HALF, (-e0).exp() / 2), (-e0, (-e0).exp() / 2, HALF)]
    for l, a, b in ends:
        total += mix(a, b) * rest(e - mixed_loss(rate, direction, l))
    low, high = sorted((mixed_loss(rate, direction, l) for l in (-e0, e0)), key=lambda x: float(x.mid()))
    kinks = [i * low + (count - 1 - i) * high for i in range(count)]
    cuts = {-float(e0.mid()): -e0, float(e0.mid()): e0}
    for kink in kinks:
        at = e - kink  # where the first loss takes the rest to its kink
        ratio = (at.exp() if direction == "remove" else (-at).exp()) - 1 + rate
        if ratio > 0:
            l = (ratio / rate).log()
            if l > -e0 and l < e0:
                cuts[float(l.mid())] = l
    cuts = [cuts[c] for c in sorted(cuts)]
    f = lambda l: mix(p(l), p(l) * (-l).exp()) * rest(e - mixed_loss(rate, direction, l))
    return total + sum((quadrature(f, a, b, n) for a, b in zip(cuts, cuts[1:])), arb(0))


def double_exponential(step, cache={}):
    """Nodes and weights on [0, 1], with each node's distance from 1 as well: tanh-sinh, for
    integrands that are smooth inside and anything but singular at the ends."""
    if (step, ctx.prec) not in cache:
        nodes = []
        h = arb(step)
        n = int(4.2 / step)
        for i in range(-n, n + 1):
            t = i * h
            u = PI * t.sinh()
            x, rest = 1 / (1 + (-u).exp()), 1 / (1 + u.exp())
            nodes.append((x, rest, h * PI * t.cosh() * x * rest))
        cache[step, ctx.prec] = nodes
    return cache[step, ctx.prec]


def sampled_gaussian_nested(rate, mu, direction, count, e, step):
    """The first outcome by quadrature, the others by recursion, the last in closed form.
    The rest's profile is smooth but for the point where it becomes trivial: cut there."""
    if count == 1:
        return one_sampled(("gauss", mu), rate, direction, e)
    edge = (count - 1) * (1 - rate).log()
    edge = edge if direction == "remove" else -edge
    # The outcome, in standard deviations from Q's mean, where the loss is e - edge.
    ratio = ((e - edge) if direction == "remove" else (edge - e)).exp()
    inside = (ratio - 1 + rate) / rate
    reach = 15 if count == 2 and ctx.prec > 200 else 12
    low, high = arb(-reach), reach + mu
    cuts = [low, high]
    if inside > 0:
        x = inside.log() / mu + mu / 2
        if x > low and x < high:
            cuts = [low, x, high]

    def f(x):
        density = (-x * x / 2).exp() / (2 * PI).sqrt()
        mixture = 1 - rate + rate * (mu * x - mu * mu / 2).exp()
        loss, weight = (mixture.log(), mixture) if direction == "remove" else (-mixture.log(), ONE)
        return weight * density * sampled_gaussian_nested(rate, mu, direction, count - 1,
                                                          e - loss, step)

    total = arb(0)
    for a, b in zip(cuts, cuts[1:]):
        for x, rest, w in double_exponential(step):
            if w > 1e-45:
                at = a + (b - a) * x if x < 0.5 else b - (b - a) * rest
                total += w * (b - a) * f(mid(at))
    return total


# --- many losses: the inversion integral ----------------------------------


class Inversion:
    """delta(e) = 1/(2 pi i) int over Re s = c > 0 of E[e^(sL)] e^(-s e) / (s (s+1)) ds, by
    trapezoids: the integrand is analytic in a strip around the line. The sampled moment
    generating functions are trapezoids over the outcomes. The values on the line are kept."""

    def __init__(self, groups, c, digits=40, finer=1.0):
        before = ctx.prec
        ctx.prec = int(3.4 * (digits + 25)) + 64
        self.prec = ctx.prec
        self.c = arb(c)
        # The sum over s aliases e with e +- 2 pi/h: below, that weighs e^(-2 pi c/h); above,
        # the profile must have fallen by more than e^(-2 pi c/h), hence the third.
        width = 2 * 3.14159 * c / (2.31 * (digits + 6)) / 3 / finer
        self.h = arb(width)
        self.values = []
        streams = [(self.stream(law, finer), count) for law, count in groups]
        limit, n = None, 0
        while True:
            s = acb(self.c, n * self.h)
            value = acb(1)
            for stream, count in streams:
                value *= next(stream) ** count
            value = value / (s * (s + 1))
            size = abs(value).mid()
            if limit is None:
                limit = size * arb(10) ** (-digits - 8)
            self.values.append(value)
            if n > 20 and size < limit:
                break
            n += 1
            assert n < 15000, "the integrand does not fall"
        ctx.prec = before

    def stream(self, law, finer):
        """The moment generating function at c, c + ih, c + 2ih, ..."""
        if law[0] == "gauss":
            n = 0
            while True:
                s = acb(self.c, n * self.h)
                yield (s * (s + 1) * law[1] / 2).exp()
                n += 1
        if law[0] == "box" and law[2] == "laplace":
            e0, n = law[1], 0
            while True:
                s = acb(self.c, n * self.h)
                ends = ((s * e0).exp() + (-(s + 1) * e0).exp()) / 2
                # int e^(sl) e^((l-e0)/2)/4 over [-e0, e0]
                yield ends + ((s * e0).exp() - (-(s + 1) * e0).exp()) / (4 * (s + HALF))
                n += 1
        if law[0] in ("lattice", "atoms"):
            atoms = law[1] if law[0] == "atoms" else \
                [(law[1] + i * law[2], m) for i, m in enumerate(law[3])]
        else:
            _, rate, mu, direction = law
            assert law[0] == "mixed-gauss"
            step = 0.06 / finer
            reach = 18.5  # e^(-18.5^2/2) = 10^-74
            top = float(mu.mid()) * (1 + (float(self.c.mid()) if direction == "remove" else 0))
            low = float(mu.mid()) * (0 if direction == "remove" else float(self.c.mid()))
            atoms = []
            for i in range(int(-(reach + low) / step), int((reach + top) / step) + 2):
                x = i * arb(step)
                density = (-x * x / 2).exp() / (2 * PI).sqrt() * arb(step)
                mixture = 1 - rate + rate * (mu * x - mu * mu / 2).exp()
                loss = mixture.log()
                atoms.append((loss, mixture * density) if direction == "remove" else (-loss, density))
        now = [acb((self.c * l).exp() * m) for l, m in atoms]
        turn = [acb(0, self.h * l).exp() for l, _ in atoms]
        while True:
            yield sum(now, acb(0))
            now = [a * b for a, b in zip(now, turn)]

    def profile(self, e):
        before = ctx.prec
        ctx.prec = self.prec
        turn = acb(0, -self.h * e).exp()
        now, total = acb(1), arb(0)
        for n, value in enumerate(self.values):
            total += (value * now).real * (1 if n else HALF)
            now *= turn
        total = total * self.h / PI * (-self.c * e).exp()
        ctx.prec = before
        return total


# ---------------------------------------------------------------------------
# Plans.


def grouped(plan, direction):
    """The leak, the Gaussians' sum of squares, and equal other laws with their counts."""
    kept, square, groups = ONE, arb(0), {}
    for count, name, args, rate in parse(plan):
        for law in laws_of(name, args, rate, direction):
            if law[0] == "leak":
                kept *= (1 - law[1]) ** count
            elif law[0] == "gauss":
                square += law[1] * count
            else:
                key = (name, tuple(args), str(rate))
                groups[key] = (law, count + groups.get(key, (None, 0))[1])
    return kept, square, list(groups.values())


class Profile:
    """delta of a plan in one direction; `hint` is a question's (kind, number)."""

    def __init__(self, plan, direction, finer=False, invert=False):
        self.kept, self.square, self.groups = grouped(plan, direction)
        self.finer, self.invert = finer, invert
        kinds = {law[0] for law, _ in self.groups}
        self.kinds = kinds
        self.atoms = self.boxes = self.inversion = None
        if kinds <= {"lattice", "atoms", "box"} and not invert:
            discrete = [(l, k) for l, k in self.groups if l[0] != "box"]
            size = 1
            for law, k in discrete:
                size *= k * len(law[3]) if law[0] == "lattice" else 1
            if size > 3e6 or (self.square > 0 and sum(k for l, k in self.groups if l[0] == "box") > 12):
                self.invert = True
            else:
                self.atoms = composed_atoms(discrete)
                boxes = [(l, k) for l, k in self.groups if l[0] == "box"]
                if boxes:
                    e0 = boxes[0][0][1]
                    if all(l[1].overlaps(e0) for l, _ in boxes):
                        of = lambda kind: sum(k for l, k in boxes if l[2] == kind)
                        self.boxes = [Boxes(e0, of("laplace"), of("exponential"))]
                    else:
                        self.boxes = [Boxes(l[1], k if l[2] == "laplace" else 0,
                                            0 if l[2] == "laplace" else k) for l, k in boxes]
        elif kinds - {"mixed-laplace"}:
            count = sum(k for _, k in self.groups)
            self.invert = invert or kinds != {"mixed-gauss"} or count > 3 or len(self.groups) > 1 \
                or bool(self.square > 0)
        if kinds == {"mixed-gauss"} and sum(k for _, k in self.groups) == 1 and not self.square > 0:
            self.invert = False

    def is_closed(self):
        """Whether there is no quadrature but arb's own."""
        if self.invert or (self.boxes is not None and len(self.boxes) > 1):
            return False
        mixed = self.kinds & {"mixed-gauss", "mixed-laplace"}
        return not mixed or sum(k for _, k in self.groups) == 1

    def pure(self, e):
        if self.invert:
            return self.inverted(e)
        if self.atoms is not None:
            one = self.smooth()
            if one is None:
                return atoms_profile(self.atoms, e)
            return sum((m * one(e - l) for l, m in self.atoms), arb(0))
        law, count = self.groups[0]
        if law[0] == "mixed-laplace":
            nodes = {1: (1, 1), 2: (90, 110), 3: (48, 60)}[count][self.finer]
            before, ctx.prec = ctx.prec, 256
            value = sampled_laplace(law[1], law[2], law[3], count, e, nodes)
            ctx.prec = before
            return value
        if count == 1:
            return one_sampled(("gauss", law[2]), law[1], law[3], e)
        step = {2: 1 / 32, 3: 1 / 40}[count]
        before, ctx.prec = ctx.prec, 256 if count == 2 else 160
        value = sampled_gaussian_nested(law[1], law[2], law[3], count, e,
                                        step * (0.8 if self.finer else 1))
        ctx.prec = before
        return value

    def smooth(self):
        if self.boxes is None:
            return None if not self.square > 0 else lambda e: gaussian_profile(self.square, e)
        if len(self.boxes) == 1:
            if self.square > 0:
                return lambda e: boxes_and_gaussian(self.boxes[0], self.square, e)
            return self.boxes[0].profile
        assert len(self.boxes) == 2 and not self.square > 0
        return lambda e: two_boxes(self.boxes[0], self.boxes[1], e, 75 if self.finer else 60)

    def all_groups(self):
        return list(self.groups) + ([(("gauss", self.square), 1)] if self.square > 0 else [])

    def estimate(self, delta):
        """An epsilon near delta's, where the least integrand is about delta."""
        import math
        room = float(((delta - (1 - self.kept)) / self.kept).log().mid())
        low, high = 0.0, 400.0
        for _ in range(30):
            middle = (low + high) / 2
            if saddle(self.all_groups(), middle)[1] - 0.5 * math.log(6.3) > room:
                low = middle
            else:
                high = middle
        return high

    def inverted(self, e):
        if self.inversion is None:
            groups = self.all_groups()
            self.inversion = Inversion(groups, saddle(groups, float(e.mid()))[0],
                                       finer=1.35 if self.finer else 1.0)
        return self.inversion.profile(e)

    def __call__(self, e):
        return 1 - self.kept * (1 - self.pure(e)) if not self.kept == 1 else self.pure(e)


def two_boxes(first, second, e, nodes):
    """The second's profile averaged over the first's loss; pieces end at the kinks."""
    total = sum((m * second.profile(e - l) for l, m in first.atoms()), arb(0))
    kinks = [e - p * second.e0 for p in range(-second.top, second.top + 1)]
    for cell in range(-first.top, first.top):
        density = first.density_on(cell)
        left, right = cell * first.e0, (cell + 1) * first.e0
        inner = sorted((k for k in kinks if k > left and k < right), key=lambda k: float(k.mid()))
        cuts = [left] + inner + [right]
        f = lambda l: density(acb(l)).real * second.profile(e - l)
        total += sum((quadrature(f, a, b, nodes) for a, b in zip(cuts, cuts[1:])), arb(0))
    return total


def saddle(groups, e):
    """About where the integrand is least on the real axis, in plain doubles."""
    import math

    def log_mgf(law, s):
        if law[0] == "gauss":
            return float(law[1].mid()) * s * (s + 1) / 2
        if law[0] == "box":
            e0 = float(law[1].mid())
            return s * e0 + math.log(0.5 + (1 - math.exp(-(2 * s + 1) * e0)) / (4 * (s + 0.5)))
        if law[0] == "lattice":
            terms = [(float((law[1] + i * law[2]).mid()), float(m.log().mid()))
                     for i, m in enumerate(law[3]) if m > 1e-200]
        elif law[0] == "atoms":
            terms = [(float(l.mid()), float(m.log().mid())) for l, m in law[1]]
        else:
            rate, mu = float(law[1].mid()), float(law[2].mid())
            terms = []
            for i in range(-200, 600):
                x = i * 0.1
                mixture = math.log(1 - rate + rate * math.exp(mu * x - mu * mu / 2))
                d = -x * x / 2 - 0.9189385 - 2.302585
                terms.append((mixture, mixture + d) if law[3] == "remove" else (-mixture, d))
        top = max(s * l + m for l, m in terms)
        return top + math.log(sum(math.exp(s * l + m - top) for l, m in terms))

    def f(t):
        s = math.exp(t)
        return sum(k * log_mgf(law, s) for law, k in groups) - s * e - math.log(s * (s + 1))

    low, high = -1.5, 6.0
    for _ in range(25):
        a, b = low + (high - low) * 0.382, low + (high - low) * 0.618
        if f(a) < f(b):
            high = b
        else:
            low = a
    return math.exp((low + high) / 2), f((low + high) / 2)


def mid(x):
    return x.mid()


def epsilon_at(profile, delta):
    """The least e >= 0 with profile(e) <= delta."""
    if profile(arb(0)) <= delta:
        return arb(0)
    if not profile.invert:
        return root(profile, delta, arb(0), arb(1))
    # The line is placed for an estimate first, then for the answer.
    near = arb(profile.estimate(delta))
    for _ in range(2):
        profile.inversion = None
        profile(mid(near))
        near = root(profile, delta, near * 3 / 4, near * 5 / 4 + arb(0.01))
    return near


def root(profile, delta, low, high):
    """Halving, then secants on the logarithm; beyond the largest loss there is none."""
    target = delta.log()
    nothing = arb(10) ** -170
    while profile(high) > delta:
        low, high = high, 2 * high
    for _ in range(200):
        middle = mid((low + high) / 2)
        value = profile(middle)
        low, high = (middle, high) if value > delta else (low, middle)
        if high - low < high / 100 and profile(high) > nothing:
            break
    f = lambda e: mid(profile(e).log() - target)
    a, fa, b, fb = low, f(low), high, f(high)
    for _ in range(200):
        c = mid(b - fb * (b - a) / (fb - fa)) if not fb == fa else b
        if not (c >= low and c <= high):
            c = mid((low + high) / 2)
        fc = f(c)
        low, high = (c, high) if fc > 0 else (low, c)
        a, fa, b, fb = b, fb, c, fc
        if abs(b - a) < arb(10) ** -30 * (1 + abs(b)) or fb == 0:
            return b
    raise ArithmeticError("no root found")


# ---------------------------------------------------------------------------
# The table.

D, E = "delta at", "epsilon at"


def cases():
    """(plan, question, number)."""
    def ask(plan, deltas_at=(), epsilons_at=()):
        for x in deltas_at:
            yield plan, D, x
        for x in epsilons_at:
            yield plan, E, x

    # One mechanism.
    yield from ask("1 laplace(1 1)", ["0", "0.5", "0.999"], ["0.3", "1e-6", "1e-30"])
    yield from ask("1 laplace(10 0.7)", ["0.03"], ["0.01", "0.9"])
    for d in (1, 2, 3, 5, 7):
        yield from ask(f"1 geometric(2.5 {d})", [str(0.15 * d)], ["1e-3"])
    yield from ask("1 gaussian(1 1)", ["0", "1", "10", "20"], ["0.3", "1e-6", "1e-30", "1e-100"])
    yield from ask("1 gaussian(3.7306316348 1)", ["1"], ["1e-5"])
    yield from ask("1 gaussian(0.8 2.5)", ["5"], ["1e-10"])
    yield from ask("1 gdp(0.35)", ["0.5"], ["1e-8"])
    for sigma, d in [("0.3", 1), ("0.3", 2), ("1", 1), ("1", 3), ("2.5", 2), ("7", 1), ("20", 1), ("20", 3)]:
        scale = d / float(sigma)
        yield from ask(f"1 discrete-gaussian({sigma} {d})", [str(round(scale * (scale / 2 + 2), 2))],
                       ["1e-3", "1e-12"])
    yield from ask("1 discrete-gaussian(2.5 2)", [], ["1e-100"])
    for m in (2, 3, 10, 1000):
        yield from ask(f"1 randomized-response(1.5 {m})", ["0.7"], ["0.05"])
    for gamma in ("-", "0.1", "0.25", "0.5", "0.8"):
        yield from ask(f"1 staircase(1.2 {gamma})", ["0", "0.4"], ["0.1"])
    yield from ask("1 staircase(1.2 0)", ["0.4"])
    yield from ask("1 staircase(1.2 1)", ["0.4"])
    yield from ask("1 exponential(0.8)", ["0", "0.3", "0.79"], ["1e-3", "1e-20"])
    yield from ask("1 name-and-shame(0.001)", ["0.5"])
    yield from ask("1 sparse-vector(0.3 0.4)", ["0.25"], ["0.1"])
    yield from ask("1 above-threshold(0.3 0.4)", ["0.25"], ["0.1"])
    yield from ask("1 finite(0.5 0.25 0.125 0.125 / 0.25 0.25 0.25 0.25)", ["0.1", "0.6"], ["0.2"])
    yield from ask("1 finite(0.5 0.25 0.25 0 / 0 0.5 0.25 0.25)", ["0.1", "0.6"], ["0.55"])
    yield from ask("1 finite(0.0625 0.5 0.4375 / 0 0.75 0.25)", ["0.1", "0.5"], ["0.1"])
    yield from ask("1 finite(0.7 0.2 0.1 / 0.1 0.2 0.7)", ["0.5"], ["0.3"])
    # On a Poisson sample.
    for rate in ("0.001", "0.1", "0.5", "1"):
        yield from ask(f"1 approx-dp(1 1e-6)@{rate}", ["0.0005"], ["1e-3" if rate != "1" else "0.1"])
    yield from ask("20 approx-dp(1 1e-6)@0.1", ["0.5"], ["1e-3"])
    yield from ask("3 approx-dp(0.7 0.01)@0.3 + 1 gaussian(2 1)", ["1"], ["0.05"])
    for rate in ("0.01", "0.3", "0.9"):
        yield from ask(f"1 gaussian(1 1)@{rate}", ["0.005", "1"], ["1e-6", "1e-30"])
        yield from ask(f"1 laplace(0.5 1)@{rate}", ["0.004", "0.8"], ["1e-3"])
        yield from ask(f"1 discrete-gaussian(1.5 1)@{rate}", ["0.004", "1"], ["1e-6", "1e-30"])
    yield from ask("1 discrete-gaussian(3 2)@0.05", ["0.1"], ["1e-9"])
    yield from ask("1 gaussian(0.5 1)@0.001", ["0.1"], ["1e-100"])
    # Several.
    for k in (2, 3, 4, 5):
        yield from ask(f"{k} laplace(1 1)", ["0.5", "1", str(0.9 * k)], ["1e-4"])
    yield from ask("5 laplace(1 1)", [], ["1e-30"])
    yield from ask("20 laplace(2 1)", ["3"], ["1e-6", "1e-30"])
    yield from ask("1000 laplace(10 1)", [], ["1e-6"])
    yield from ask("1 laplace(1 1) + 1 laplace(2 1)", ["1"], ["1e-3"])
    yield from ask("2 laplace(1 1) + 3 laplace(3 1)", ["1.5"], ["1e-5"])
    yield from ask("3 exponential(0.5)", ["0.5"], ["1e-6"])
    yield from ask("10 exponential(0.5)", ["1", "3"], ["1e-12"])
    yield from ask("2 laplace(2 1) + 2 exponential(0.5)", ["0.7"], ["1e-4"])
    yield from ask("1 laplace(1 1) + 1 exponential(0.3)", ["0.7"], ["1e-4"])
    yield from ask("1 laplace(1 1) + 1 gaussian(1 1)", ["1"], ["1e-6", "1e-30", "1e-100"])
    yield from ask("3 laplace(2 1) + 2 gaussian(3 1)", ["1"], ["1e-6", "1e-30"])
    yield from ask("1 exponential(1) + 1 gaussian(2 1)", ["1"], ["1e-6"])
    yield from ask("3 randomized-response(0.5 2) + 1 laplace(1 1)", ["1"], ["1e-3"])
    yield from ask("1 randomized-response(1 5) + 2 laplace(1.5 1)", ["1"], ["1e-3"])
    yield from ask("4 randomized-response(0.5 2) + 1 gaussian(1 1)", ["1"], ["1e-6", "1e-30"])
    yield from ask("2 geometric(1 3) + 1 gaussian(2 1)", ["2"], ["1e-6"])
    yield from ask("3 staircase(1 -) + 5 gaussian(5 1)", ["1"], ["1e-9"])
    yield from ask("2 finite(0.5 0.25 0.25 / 0.25 0.25 0.5) + 1 gaussian(2 1)", ["1"], ["1e-6"])
    yield from ask("1 finite(0.5 0.3125 0.1875 / 0.25 0.25 0.5) + 1 gaussian(2 1)", ["1"], ["1e-6"])
    yield from ask("2 approx-dp(0.3 1e-9) + 1 gaussian(2 1) + 1 name-and-shame(1e-8)", ["1"], ["1e-6", "1.3e-8"])
    yield from ask("100 gaussian(10 1)", ["0.5"], ["1e-6"])
    yield from ask("3 gaussian(1 1) + 7 gaussian(4 2) + 2 gdp(0.25)", ["3"], ["1e-6", "1e-100"])
    for sigma, d, k in [("0.3", 1, 3), ("1", 1, 5), ("1", 2, 10), ("5", 1, 100), ("20", 3, 10)]:
        yield from ask(f"{k} discrete-gaussian({sigma} {d})",
                       [str(round((k * d * d / float(sigma) ** 2) ** 0.5 * 2, 2))], ["1e-6", "1e-30"])
    yield from ask("1 discrete-gaussian(1 1) + 2 discrete-gaussian(1.7 2)", ["2"], ["1e-6"])
    yield from ask("2 discrete-gaussian(2 1) + 1 gaussian(2 1)", ["1"], ["1e-6", "1e-30"])
    for k in (2, 6, 50):
        yield from ask(f"{k} geometric(3 3)", ["1"], ["1e-4"])
        yield from ask(f"{k} randomized-response(0.7 4)", ["0.5"], ["1e-4"])
        yield from ask(f"{k} staircase(0.6 0.3)", ["0.5"], ["1e-4"])
    yield from ask("50 geometric(3 3)", [], ["1e-30"])
    yield from ask("2 geometric(1 2) + 3 geometric(2 5)", ["1"], ["1e-4"])
    yield from ask("4 finite(0.5 0.25 0.25 0 / 0.125 0.5 0.25 0.125)", ["0.7"], ["0.5"])
    yield from ask("3 finite(0.5 0.25 0.1875 0.0625 / 0.25 0.5 0.25 0)", ["0.7"], ["0.3"])
    yield from ask("2 finite(0.5 0.25 0.25 / 0.25 0.5 0.25) + 3 staircase(0.5 -) + 2 randomized-response(1 3)", ["1"], ["1e-3"])
    yield from ask("2 gaussian(1 1)@0.1", ["0.1", "1"], ["1e-6"])
    yield from ask("2 gaussian(2 1)@0.5", ["0.1", "1"], ["1e-6"])
    yield from ask("3 gaussian(1 1)@0.1", ["0.1", "1"])
    yield from ask("3 gaussian(1 1)@0.5", ["1"])
    # Rare large losses.
    for sigma, rate, at, delta in [
        ("0.5", "0.001", "0.5", "1e-8"), ("0.7", "1e-6", "0.001", "1e-8"),
        ("1", "0.0001", "0.01", "1e-10"), ("1", "0.00001", "0.0001", "1e-8"),
    ]:
        yield from ask(f"2 gaussian({sigma} 1)@{rate}", [at], [delta])
    yield from ask("3 gaussian(0.7 1)@0.0001", ["0.02"])
    yield from ask("2 laplace(1 1)@0.1", ["0.05", "0.3"], ["1e-3"])
    yield from ask("2 laplace(0.5 1)@0.5", ["0.3", "1"], ["1e-3"])
    yield from ask("3 laplace(1 1)@0.2", ["0.1", "0.5"])
    yield from ask("2 discrete-gaussian(1 1)@0.1", ["0.1", "1"], ["1e-6"])
    yield from ask("3 discrete-gaussian(0.7 1)@0.3", ["0.5"], ["1e-6"])
    # Many.
    yield from ask("100 gaussian(2 1)@0.1", ["1"], ["1e-3", "1e-6", "1e-30"])
    yield from ask("1000 gaussian(1 1)@0.01", ["1"])
    yield from ask("1000 gaussian(4 1)@0.01", [], ["1e-6"])
    yield from ask("10000 gaussian(1 1)@0.01", ["4"], ["1e-5"])
    yield from ask("10000 gaussian(2 1)@0.01", ["1"], ["1e-6", "0.1"])
    yield from ask("10000 gaussian(4 1)@0.01", ["1"], ["1e-5", "1e-30"])
    yield from ask("500 gaussian(1 1)@0.01 + 200 gaussian(2 1)@0.05", ["1"], ["1e-6"])
    yield from ask("500 gaussian(1 1)@0.01 + 2 gaussian(4 1)", ["1"])
    yield from ask("10 gaussian(2 1) + 100 laplace(20 1) + 50 randomized-response(0.2 2)", ["10"], ["1e-6"])


def answer(plan, question, number, **how):
    """In each direction, or in the only one."""
    values = {}
    for direction in ("remove",) if is_symmetric(plan) else ("remove", "add"):
        profile = Profile(plan, direction, **how)
        x = double(number)
        values[direction] = profile(x) if question == D else epsilon_at(profile, x)
    return values


def larger(values):
    best = values["remove"]
    other = values.get("add", best)
    return other if other > best else best


def text(x):
    """24 digits, all of them right but for the last, which is rounded."""
    if x == 0:
        return "0"
    assert x.rel_accuracy_bits() > 90 or x.rad() == 0, x
    return x.str(24, radius=False)


def line(plan, question, number):
    values = answer(plan, question, number)
    is_closed = Profile(plan, "remove").is_closed()
    again = values if is_closed else answer(plan, question, number, finer=True)
    for direction, value in values.items():
        gap = abs(value.mid() - again[direction].mid())
        assert gap <= abs(value.mid()) * arb(10) ** -22, (plan, question, number, value, again)
    columns = [plan, f"{question} {number}", text(larger(values))]
    if len(values) == 2:
        columns += [f"{d} {text(v)}" for d, v in values.items()]
    return " | ".join(columns)


def write():
    """Lines that are there already are kept: delete the file to have all made anew."""
    path = pathlib.Path(__file__).with_name("mechanisms.txt")
    old = path.read_text().splitlines() if path.exists() else []
    known = {tuple(text.split(" | ")[:2]): text for text in old}
    lines = ["# Made by mechanisms.py; read there what a line means."]
    for plan, question, number in cases():
        key = (plan, f"{question} {number}")
        start = time.time()
        lines.append(known.get(key) or line(plan, question, number))
        if key not in known:
            print(lines[-1], f"({time.time() - start:.1f} s)", flush=True)
            path.write_text("\n".join(lines) + "\n")
    path.write_text("\n".join(lines) + "\n")


# ---------------------------------------------------------------------------
# Second methods, with mpmath where a quadrature is wanted.


def by_outcomes(p, q, e):
    """sum (p - e^e q)+ over all outcomes."""
    power = e.exp()
    gaps = (a - power * b for a, b in zip(p, q))
    return sum((gap for gap in gaps if gap > 0), arb(0))


def k_fold(p, k):
    return p if k == 1 else [a * b for a in p for b in k_fold(p, k - 1)]


def boxes_by_recursion(e0, kind, count, e):
    """One Laplace or exponential loss by quadrature, the others by the closed form."""
    rest = Boxes(e0, *((count - 1, 0) if kind == "laplace" else (0, count - 1))).profile \
        if count > 1 else lambda x: 1 - x.exp() if x < 0 else arb(0)
    if kind == "laplace":
        total = rest(e - e0) / 2 + (-e0).exp() / 2 * rest(e + e0)
        density = lambda l: ((l - e0) / 2).exp() / 4
    else:
        total = arb(0)
        density = lambda l: (l / 2).exp() / (4 * (e0 / 2).sinh())
    kinks = [e - p * e0 for p in range(-count, count + 1)]
    inner = sorted((x for x in kinks if x > -e0 and x < e0), key=lambda x: float(x.mid()))
    cuts = [-e0] + inner + [e0]
    f = lambda l: density(l) * rest(e - l)
    return total + sum((quadrature(f, a, b, 60) for a, b in zip(cuts, cuts[1:])), arb(0))


def by_definition(kind, size, rate, direction, e):
    """One sampled release: int (p - e^e q)+ over the outcomes, by mpmath."""
    import mpmath as mp
    mp.mp.dps = 40
    size, rate, e = (mp.mpf(float(x)) for x in (size, rate, e))
    if kind == "gauss":
        f = lambda x: mp.npdf(x)
        ends = [-14, 14 + size]
    else:
        # In units of the noise's scale; sensitivity is `size`.
        f = lambda x: mp.exp(-abs(x)) / 2
        ends = [-120, 0, size, 120 + size]
    q = f
    p = lambda x: (1 - rate) * f(x) + rate * f(x - size)
    if direction == "add":
        p, q = q, p
    gap = lambda x: p(x) - mp.exp(e) * q(x)
    # Where the sign changes; the ratio is monotone where it is not constant.
    grid = [ends[0] + (ends[-1] - ends[0]) * mp.mpf(i) / 4000 for i in range(4001)]
    cuts = set(ends)
    for a, b in zip(grid, grid[1:]):
        if gap(a) * gap(b) < 0:
            cuts.add(mp.findroot(gap, (a, b), solver="anderson", tol=1e-70, verify=False))
    cuts |= {mp.mpf(x) for x in range(int(ends[0]) // 2 * 2, int(ends[-1]) + 2, 2)
             if ends[0] < x < ends[-1]}
    return arb(str(mp.quad(lambda x: max(gap(x), 0), sorted(cuts))))


def twice_sampled(kind, size, rate, direction, e):
    """Two sampled Gaussians: one by mpmath's quadrature over the other's closed form."""
    import mpmath as mp
    mp.mp.dps = 35
    mu, rate, e = mp.mpf(float(size)), mp.mpf(float(rate)), mp.mpf(float(e))
    cdf = mp.ncdf

    def closed(x):
        if direction == "remove":
            inside = (mp.exp(x) - 1 + rate) / rate
            if inside <= 0:
                return 1 - mp.exp(x)
            t = mp.log(inside) / mu
            return rate * cdf(mu / 2 - t) + (1 - rate - mp.exp(x)) * cdf(-mu / 2 - t)
        inside = (mp.exp(-x) - 1 + rate) / rate
        if inside <= 0:
            return mp.mpf(0)
        t = mp.log(inside) / mu
        return (1 - mp.exp(x) * (1 - rate)) * cdf(t + mu / 2) - mp.exp(x) * rate * cdf(t - mu / 2)

    def f(x):
        mixture = 1 - rate + rate * mp.exp(mu * x - mu * mu / 2)
        if direction == "remove":
            return mp.npdf(x) * mixture * closed(e - mp.log(mixture))
        return mp.npdf(x) * closed(e + mp.log(mixture))

    edge = mp.log(1 - rate) * (1 if direction == "remove" else -1)
    inside = (mp.exp((e - edge) if direction == "remove" else edge - e) - 1 + rate) / rate
    cuts = [mp.mpf(x) for x in range(-13, 15)]
    if inside > 0:
        cuts.append(mp.log(inside) / mu + mu / 2)
    return arb(str(mp.quad(f, sorted(cuts))))


def on_a_grid(rate, mu, direction, count, e, step):
    """Many sampled Gaussians: each loss split between two points of a grid so that its mean
    is kept; the error is of second order in the step."""
    before, ctx.prec = ctx.prec, 128
    h = arb(step)
    masses = {}
    fine = 1 / 256
    for i in range(int(-11 / fine), int((11 + float(mu.mid())) / fine)):
        x = i * arb(fine)
        density = (-x * x / 2).exp() / (2 * PI).sqrt() * arb(fine)
        mixture = 1 - rate + rate * (mu * x - mu * mu / 2).exp()
        loss, weight = (mixture.log(), mixture * density) if direction == "remove" \
            else (-mixture.log(), density)
        place = float((loss / h).mid()) // 1
        share = loss / h - place
        masses[place] = masses.get(place, arb(0)) + weight * (1 - share)
        masses[place + 1] = masses.get(place + 1, arb(0)) + weight * share
    low = int(min(masses))
    row = [masses.get(i, arb(0)) for i in range(low, int(max(masses)) + 1)]
    power = (arb_poly(row) ** count).coeffs()
    atoms = [(h * (count * low + i), m) for i, m in enumerate(power)]
    value = atoms_profile(atoms, e)
    ctx.prec = before
    return value


def agree(what, a, b, digits):
    gap = abs(a.mid() - b.mid())
    relative = float((gap / abs(b.mid())).mid()) if not b == 0 else float(gap)
    print(f"{relative:8.1e}  {what}", flush=True)
    assert relative < 10.0 ** -digits, (what, a, b)


def check():
    published()
    for kind in ("laplace", "exponential"):
        for k in (1, 2, 3, 5):
            for e in ("0", "0.4", "1.7"):
                if kind == "laplace" or float(e) < 0.8 * k:
                    e0 = double("0.8")
                    closed = Boxes(e0, *((k, 0) if kind == "laplace" else (0, k))).profile(double(e))
                    again = boxes_by_recursion(e0, kind, k, double(e))
                    if not again == 0:
                        agree(f"{k} {kind} at {e}: closed form, recursion", closed, again, 25)
    # The exponential mechanism's profile is the worst of two-point pairs, losses t and t - eta.
    eta, e = double("0.8"), double("0.3")
    worst = arb(0)
    for i in range(1, 20000):
        t = eta * i / 20000
        if t > e:
            value = two_point(t, eta) * (1 - (e - t).exp())
            worst = value if value > worst else worst
    agree("exponential: the worst of two-point pairs",
          worst, Boxes(eta, 0, 1).profile(e), 6)
    for plan, e in [("1 laplace(1 1) + 1 gaussian(1 1)", "1"),
                    ("3 laplace(2 1) + 2 gaussian(3 1)", "1"),
                    ("4 randomized-response(0.5 2) + 1 gaussian(1 1)", "1"),
                    ("2 geometric(1 3) + 1 gaussian(2 1)", "2"),
                    ("3 staircase(1 -) + 5 gaussian(5 1)", "1"),
                    ("2 discrete-gaussian(2 1) + 1 gaussian(2 1)", "1"),
                    ("100 gaussian(10 1)", "0.5")]:
        agree(f"{plan} at {e}: average of Gaussian profiles, inversion",
              Profile(plan, "remove")(double(e)), Profile(plan, "remove", invert=True)(double(e)), 22)
    for sigma, steps, k in [("1", 1, 2), ("0.7", 2, 3), ("2.5", 2, 2)]:
        noise = discrete_gaussian_noise(double(sigma))
        near = {y: m for y, m in noise.items() if m > 1e-32}
        xs = range(min(near), max(near) + steps + 1)
        p = k_fold([near.get(x - steps, arb(0)) for x in xs], k)
        q = k_fold([near.get(x, arb(0)) for x in xs], k)
        plan = f"{k} discrete-gaussian({sigma} {steps})"
        agree(f"{plan}: lattice, outcomes", Profile(plan, "remove")(ONE), by_outcomes(p, q, ONE), 22)
    for scale, steps in [("2.5", 3), ("1", 7)]:
        a = 1 / double(scale)
        ratio = (-a).exp()
        noise = lambda y: (1 - ratio) / (1 + ratio) * ratio ** abs(y)
        xs = range(-300, 300)
        plan = f"1 geometric({scale} {steps})"
        agree(f"{plan}: losses, outcomes", Profile(plan, "remove")(double("0.6")),
              by_outcomes([noise(x - steps) for x in xs], [noise(x) for x in xs], double("0.6")), 25)
    for gamma in ("-", "0.1", "0.25", "0.5", "0.8", "0", "1"):
        epsilon = double("1.2")
        law = laws_of("staircase", ["1.2", gamma], None, "remove")[0]
        share = 1 / (1 + (epsilon / 2).exp()) if gamma == "-" else double(gamma)
        b = (-epsilon).exp()
        least = share if share < HALF else 1 - share
        high = HALF + (1 - b) * least / (2 * (share + b * (1 - share)))
        agree(f"staircase, gamma {gamma}: pieces, formula", law[3][2], high, 25)
        agree(f"staircase, gamma {gamma}: P(-e) = e^-e P(+e)", law[3][0], high * b, 25)
    for direction in ("remove", "add"):
        for rate in ("0.01", "0.3", "0.9"):
            for kind, size in (("gauss", "1"), ("laplace", "2")):
                e = double("0.004")
                agree(f"one {kind} at rate {rate}, {direction}: closed form, definition",
                      one_sampled((kind, double(size)), double(rate), direction, e),
                      by_definition(kind, double(size), double(rate), direction, e), 20)
        for rate, e in (("0.1", "0.1"), ("0.5", "0.3")):
            agree(f"two Gaussians at rate {rate}, {direction}: two quadratures",
                  Profile(f"2 gaussian(1 1)@{rate}", direction)(double(e)),
                  twice_sampled("gauss", ONE, double(rate), direction, double(e)), 20)
    for direction in ("remove", "add"):
        rate, e = double("0.1"), double("0.5")
        coarse, fine = (on_a_grid(rate, ONE / 2, direction, 30, e, step) for step in (1 / 256, 1 / 512))
        agree(f"30 gaussian(2 1)@0.1, {direction}: inversion, extrapolated grid",
              (4 * fine - coarse) / 3, Profile("30 gaussian(2 1)@0.1", direction)(e), 6)


def two_point(t, eta):
    """The mass of t in a pair with losses t and t - eta only: p + r = 1 = p e^-t + r e^(eta-t)."""
    return (1 - (eta - t).exp()) / ((-t).exp() - (eta - t).exp())


def published():
    """Known values, for decimal parameters."""
    for plan, direction, question, x, value, digits in [
        ("1 laplace(1 1)", "remove", D, "0.5", "0.221199216928595", 14),
        ("2 laplace(1 1)", "remove", D, "1", "0.24183667535920822", 15),
        ("2 laplace(1 1)", "remove", D, "0.5", "0.350495989981105", 14),
        ("1 gaussian(1 1)", "remove", D, "1", "0.12693673750664395", 15),
        ("1 gaussian(3.7306316348 1)", "remove", D, "1", "1e-5", 9),
        ("1 gaussian(4.2246788893 1)", "remove", D, "1", "1e-6", 9),
        ("10000 gaussian(2 1)@0.01", "remove", D, "1", "0.0102249112", 8),
        ("10000 gaussian(2 1)@0.01", "remove", E, "1e-6", "2.446734", 6),
        ("10000 gaussian(2 1)@0.01", "add", D, "1", "0.00960554", 6),
        ("10000 gaussian(2 1)@0.01", "add", E, "1e-6", "2.377821", 6),
        ("10000 gaussian(4 1)@0.01", "remove", D, "1", "4.2434843e-6", 7),
        ("10000 gaussian(4 1)@0.01", "remove", E, "1e-5", "0.946867", 6),
        ("1000 gaussian(4 1)@0.01", "remove", D, "1", "1.00621424746771e-34", 13),
        ("10 gaussian(2 1) + 100 laplace(20 1) + 50 randomized-response(0.2 2)", "remove", E,
         "1e-6", "12.064250334773", 13),
        ("10000 gaussian(1 1)@0.01", "remove", E, "1e-5", "6.187712389972", 12),
    ]:
        profile = Profile(plan, direction)
        found = profile(double(x)) if question == D else epsilon_at(profile, double(x))
        agree(f"{plan}, {direction}, {question} {x}: published", found, arb(value), digits - 0.5)


if __name__ == "__main__":
    check() if sys.argv[1:] == ["check"] else write()
