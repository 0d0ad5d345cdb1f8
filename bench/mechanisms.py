"""Real mechanisms: the same comparison, for plans of noise instead of guarantees.

    python mechanisms.py [SCENARIO...]            the table, also in results/mechanisms.md
    python mechanisms.py ask LIBRARY SCENARIO     one measurement as a JSON line
    python mechanisms.py reference SCENARIO       one reference as a JSON line

The references come from crates/counterpoint/tests/reference/mechanisms.py (ball arithmetic;
quadratures there are repeated with more nodes), or are finite sums done here in 72 digits.
"""

import json
import math
import sys
from dataclasses import dataclass

import compare
import libraries


@dataclass(frozen=True)
class Scenario:
    """Releases as a Counterpoint plan writes them, the delta asked, and the reference:
    digits, or the name of a function below that computes it."""

    key: str
    title: str
    releases: tuple
    delta: float
    reference: str

    @property
    def kinds(self):
        return {r["mechanism"] for r in self.releases}

    def plan(self):
        return {"version": 1, "delta": self.delta, "adjacency": "add-remove", "release": self.releases}


def laplace(scale, count):
    return {"mechanism": "laplace", "scale": scale, "count": count}


def gaussian(sigma, count, rate=1.0):
    return {"mechanism": "gaussian", "sigma": sigma, "rate": rate, "count": count}


def response(epsilon, count, buckets=2):
    return {"mechanism": "randomized-response", "epsilon": epsilon, "buckets": buckets, "count": count}


def exponential(epsilon, count):
    return {"mechanism": "exponential", "epsilon": epsilon, "count": count}


TRAINING = gaussian(1.0, 10_000, rate=0.01)
MIXTURE = (gaussian(2.0, 10), laplace(20.0, 100), response(0.2, 50))
SCENARIOS = [
    Scenario("laplace", "1,000 Laplace 0.1 at 1e-6", (laplace(10.0, 1000),), 1e-6, "18.9502873675395582266838"),
    Scenario("mixture", "10 Gaussian sigma 2 + 100 Laplace 0.05 + 50 randomized response 0.2 at 1e-6",
             MIXTURE, 1e-6, "12.0642503347732849148051"),
    Scenario("sgd", "DP-SGD sigma 1, rate 0.01, 10,000 steps at 1e-5", (TRAINING,), 1e-5, "6.18771238997153920060628"),
    Scenario("sgd-1e-20", "DP-SGD, the same at 1e-20", (TRAINING,), 1e-20, "13.8797727166724702229717"),
    Scenario("sgd-long", "DP-SGD, 1,000,000 steps at 1e-5", ({**TRAINING, "count": 10**6},), 1e-5, "139.030272570557763989191"),
    Scenario("response", "100 randomized response 0.5, 4 buckets, at 1e-6", (response(0.5, 100, 4),), 1e-6, "trinomial"),
    Scenario("exponential", "100 exponential 0.1 at 1e-6", (exponential(0.1, 100),), 1e-6, "two_outcomes"),
]  # fmt: skip
BY_KEY = {s.key: s for s in SCENARIOS}


# References computed here.


def trinomial(release, delta):
    """Randomized response over m buckets: a loss is +e, -e or 0 (the m - 2 buckets that are
    neither input), so the composed loss is e times a difference of multinomial counts."""
    import gmpy2
    from reference import solve

    epsilon, count = gmpy2.mpfr(release["epsilon"]), release["count"]
    up, others = gmpy2.exp(epsilon), release["buckets"] - 2
    scale = (up + 1 + others) ** count
    mass = {}
    for plus in range(count + 1):
        for minus in range(count + 1 - plus):
            ways = gmpy2.comb(count, plus) * gmpy2.comb(count - plus, minus)
            p = ways * up**plus * others ** (count - plus - minus) / scale
            mass[plus - minus] = mass.get(plus - minus, 0) + p

    def profile(e):
        return sum(p * (1 - gmpy2.exp(e - j * epsilon)) for j, p in mass.items() if j * epsilon > e)

    return solve(profile, gmpy2.mpfr(delta), count * epsilon, gmpy2.mpfr("1e-25")), "exact multinomial sum"


def two_outcomes(release, delta):
    """A lower bound of the truth. The exponential mechanism of range e with two outcomes has
    the losses t and t - e for some t; the worst t on a grid is what that mechanism costs."""
    import gmpy2
    from reference import solve

    epsilon, count = gmpy2.mpfr(release["epsilon"]), release["count"]

    def cost(share):
        t = share * epsilon
        low = gmpy2.exp(t - epsilon)
        p = gmpy2.exp(t) * (1 - low) / (gmpy2.exp(t) - low)
        losses = [count * t - i * epsilon for i in range(count + 1)]
        masses = [gmpy2.comb(count, i) * p ** (count - i) * (1 - p) ** i for i in range(count + 1)]

        def profile(e):
            return sum(m * (1 - gmpy2.exp(e - l)) for l, m in zip(losses, masses) if l > e)

        return solve(profile, gmpy2.mpfr(delta), count * epsilon, gmpy2.mpfr("1e-15"))

    shares = [gmpy2.mpfr(i) / 200 for i in range(80, 121)]
    return max(cost(share) for share in shares), "two outcomes: the truth is at least this"


def reference(scenario):
    if scenario.reference in ("trinomial", "two_outcomes"):
        value, method = globals()[scenario.reference](scenario.releases[0], scenario.delta)
        return {"epsilon": f"{value:.20g}", "method": method}
    return {"epsilon": scenario.reference, "method": "quadrature, 24 digits"}


# Adapters: each returns `ask`, from a scenario to (lower, upper), as in libraries.py.


def counterpoint():
    import counterpoint as cp
    from counterpoint.mechanisms import CLASSES

    def mechanism(mechanism, **fields):
        return CLASSES[mechanism](**fields)

    def ask(scenario):
        plan = cp.compose([mechanism(**release) for release in scenario.releases], adjacency="add-remove")
        return plan.epsilon(scenario.delta)

    return ask


def opacus(accountant, **options):
    """Opacus' own accountants. They compute without PyTorch, but the package imports it, and one
    of its classes for an annotation; so the package is entered beside its front door."""
    import importlib.util
    import types

    package, optimizers = types.ModuleType("opacus"), types.ModuleType("opacus.optimizers")
    package.__path__ = importlib.util.find_spec("opacus").submodule_search_locations
    optimizers.DPOptimizer = object
    sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
    from opacus.accountants import create_accountant

    def ask(scenario):
        whole = create_accountant(accountant)
        whole.history = [(r["sigma"], r["rate"], r["count"]) for r in scenario.releases]
        return None, whole.get_epsilon(scenario.delta, **options)

    return ask


def autodp():
    """Rényi divergences by autodp's mechanisms, composed and converted by it."""
    from autodp import mechanism_zoo as zoo
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    def mechanism(release):
        kind = release["mechanism"]
        if kind == "laplace":
            return zoo.LaplaceMechanism(release["scale"])
        if kind == "randomized-response":
            return zoo.RandresponseMechanism(1 / (1 + math.exp(-release["epsilon"])))
        one = zoo.GaussianMechanism(release["sigma"])
        if release["rate"] == 1:
            return one
        one.neighboring = "add_remove"
        # The tight bound, which is proved for Gaussian noise.
        return AmplificationBySampling(PoissonSampling=True)(one, release["rate"], improved_bound_flag=True)

    def ask(scenario):
        counts = [r["count"] for r in scenario.releases]
        return None, Composition()([mechanism(r) for r in scenario.releases], counts).get_eps(scenario.delta)

    return ask


def noise_parameter(release):
    """dp-accounting's randomized response: uniform with this probability, else the truth."""
    return release["buckets"] / (math.exp(release["epsilon"]) + release["buckets"] - 1)


def event(release):
    """A release as dp-accounting's event, with its count."""
    from dp_accounting import dp_event

    kind = release["mechanism"]
    if kind == "laplace":
        one = dp_event.LaplaceDpEvent(release["scale"])
    elif kind == "randomized-response":
        one = dp_event.RandomizedResponseDpEvent(noise_parameter(release), release["buckets"])
    elif kind == "exponential":
        if not hasattr(dp_event, "ExponentialMechanismDpEvent"):
            raise NotImplementedError("this version has no exponential mechanism")
        one = dp_event.ExponentialMechanismDpEvent(release["epsilon"])
    else:
        one = dp_event.GaussianDpEvent(release["sigma"])
        if release["rate"] < 1:
            one = dp_event.PoissonSampledDpEvent(release["rate"], one)
    return dp_event.SelfComposedDpEvent(one, release["count"])


def zcdp_event(release):
    """The exponential mechanism of range e is e^2/8 concentrated (Cesar and Rogers 2021)."""
    from dp_accounting import dp_event

    return dp_event.SelfComposedDpEvent(dp_event.ZCDpEvent(release["epsilon"] ** 2 / 8), release["count"])


def compose(accountant, event):
    """Compose, or fail with the accountant's reason, which it writes after the whole event."""
    try:
        accountant.compose(event)
    except Exception as error:
        raise type(error)(str(error).partition("Error: ")[2] or error) from error


def dp_accounting(module, name, event=event):
    """Events composed by an accountant. Randomized response wants the replace relation."""
    import importlib

    from dp_accounting.privacy_accountant import NeighboringRelation

    accountant = getattr(importlib.import_module(f"dp_accounting.{module}"), name)

    def ask(scenario):
        whole = accountant()
        if "randomized-response" in scenario.kinds:
            whole = accountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
        for release in scenario.releases:
            compose(whole, event(release))
        return None, whole.get_epsilon(scenario.delta)

    return ask


def dp_accounting_by_hand():
    """Distributions built and composed one by one, without the accountant."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    def distribution(release):
        kind = release["mechanism"]
        if kind == "laplace":
            return pld.from_laplace_mechanism(release["scale"])
        if kind == "randomized-response":
            return pld.from_randomized_response(noise_parameter(release), release["buckets"])
        if kind == "exponential":
            return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(release["epsilon"], 0))
        return pld.from_gaussian_mechanism(release["sigma"], sampling_prob=release["rate"])

    def ask(scenario):
        whole = pld.identity()
        for release in scenario.releases:
            whole = whole.compose(distribution(release).self_compose(release["count"]))
        return None, whole.get_epsilon_for_delta(scenario.delta)

    return ask


def prv_accountant(eps_error, as_pure=False):
    """`as_pure`: what it computes bounds the cost from above only."""
    import prv_accountant as prv

    def mechanism(release):
        kind = release["mechanism"]
        if kind == "laplace":
            return prv.LaplaceMechanism(1 / release["scale"])
        if kind == "gaussian" and release["rate"] < 1:
            return prv.PoissonSubsampledGaussianMechanism(release["rate"], release["sigma"])
        if kind == "gaussian":
            return prv.GaussianMechanism(release["sigma"])
        return prv.PureDPMechanism(release["epsilon"])

    def ask(scenario):
        counts = [r["count"] for r in scenario.releases]
        accountant = prv.PRVAccountant(
            prvs=[mechanism(r) for r in scenario.releases],
            max_self_compositions=counts,
            eps_error=eps_error,
            delta_error=scenario.delta / 1000,
        )
        lower, _, upper = accountant.compute_epsilon(scenario.delta, counts)
        return None if as_pure else lower, upper

    return ask


def is_pure_only(scenario):
    """Mechanisms prv-accountant does not have: only their epsilon can be given to it."""
    return any(r["mechanism"] == "exponential" or r.get("buckets", 2) > 2 for r in scenario.releases)


def has_kind(scenario):
    return not is_pure_only(scenario)


def is_gaussian(scenario):
    return scenario.kinds == {"gaussian"}


def has_exponential(scenario):
    return "exponential" in scenario.kinds


# name -> (adapter, scenarios it can do, what its epsilon claims to be)
LIBRARIES = {
    "**counterpoint**, from Python": (counterpoint, libraries.always, libraries.CERTIFIED),
    "dp-accounting, PLD accountant": (
        lambda: dp_accounting("pld", "PLDAccountant"), libraries.always, "upper bound"),
    "dp-accounting, PLDs by hand": (
        dp_accounting_by_hand, lambda s: "randomized-response" in s.kinds, "upper bound"),
    "dp-accounting, PLDs of (0.1, 0)": (dp_accounting_by_hand, has_exponential, "upper bound"),
    "dp-accounting, RDP accountant": (
        lambda: dp_accounting("rdp", "RdpAccountant"), libraries.always, "upper bound"),
    "dp-accounting, RDP accountant, zCDP by hand": (
        lambda: dp_accounting("rdp", "RdpAccountant", zcdp_event), has_exponential, "upper bound"),
    "prv-accountant, eps_error 0.1": (lambda: prv_accountant(0.1), has_kind, "bracket"),
    "prv-accountant, eps_error 0.01": (lambda: prv_accountant(0.01), has_kind, "bracket"),
    "prv-accountant, as pure, eps_error 0.1": (lambda: prv_accountant(0.1, as_pure=True), is_pure_only, "upper bound"),
    "opacus, PRV accountant": (lambda: opacus("prv"), is_gaussian, "upper bound"),
    "opacus, RDP accountant": (lambda: opacus("rdp"), is_gaussian, "upper bound"),
    "autodp, Renyi": (autodp, has_kind, "upper bound"),
}  # fmt: skip


def main():
    match sys.argv[1:]:
        case ["ask", library, key]:
            libraries.work(LIBRARIES[library][0], BY_KEY[key])
        case ["reference", key]:
            print(json.dumps(reference(BY_KEY[key])))
        case keys:
            chosen = [BY_KEY[key] for key in keys] or SCENARIOS
            tools = compare.Tools(LIBRARIES, ["mechanisms.py", "ask"], ["mechanisms.py", "reference"])
            compare.write(chosen, tools, "mechanisms.md")


if __name__ == "__main__":
    main()
