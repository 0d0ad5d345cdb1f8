"""One adapter per library, and the worker that measures one of them on one scenario.

An adapter imports its library and returns `ask`, a function from a scenario to
(lower, upper): `upper` is the epsilon a user would rely on, `lower` is None where the
library gives no bracket. `ask` builds everything anew, from the list of guarantees.

    python libraries.py LIBRARY SCENARIO    prints one JSON line
"""

import contextlib
import json
import math
import os
import resource
import sys
import time
import warnings

from scenarios import BY_KEY

MEMORY_LIMIT_GIB = 12


def counterpoint():
    import counterpoint as cp

    def ask(scenario):
        plan = cp.compose([cp.ApproxDP(e, d, count=count) for e, d, count in scenario.releases])
        return plan.epsilon(scenario.delta)  # a bracket unpacks as lower, upper

    return ask


def dp_accounting(interval=1e-4, tree=False, randomized_response=False):
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    def distribution(epsilon, leak):
        if randomized_response:
            noise = 2 / (1 + math.exp(epsilon))
            return pld.from_randomized_response(noise, 2, value_discretization_interval=interval)
        parameters = common.DifferentialPrivacyParameters(epsilon, leak)
        return pld.from_privacy_parameters(parameters, value_discretization_interval=interval)

    def ask(scenario):
        if scenario.is_equal and not tree:
            [(epsilon, leak, count)] = scenario.releases
            whole = distribution(epsilon, leak).self_compose(count)
        else:
            level = [distribution(e, d) for e, d in scenario.guarantees]
            while len(level) > 1:  # pairwise tree
                pairs = [a.compose(b) for a, b in zip(level[::2], level[1::2])]
                level = pairs + level[len(level) - len(level) % 2 :]
            [whole] = level
        return None, whole.get_epsilon_for_delta(scenario.delta)

    return ask


def prv_accountant(eps_error):
    from prv_accountant import ApproximateDPMechanism, PRVAccountant

    def ask(scenario):
        mechanisms = [ApproximateDPMechanism(e, d) for e, d, _ in scenario.releases]
        counts = [count for _, _, count in scenario.releases]
        accountant = PRVAccountant(
            prvs=mechanisms,
            max_self_compositions=counts,
            eps_error=eps_error,
            delta_error=scenario.delta / 1000,  # what its documentation recommends
        )
        lower, _, upper = accountant.compute_epsilon(scenario.delta, counts)
        return lower, upper

    return ask


def diffprivlib():
    from diffprivlib.accountant import BudgetAccountant

    def ask(scenario):
        spent = scenario.guarantees
        kept = math.fsum(math.log1p(-d) for _, d in spent)
        slack = -math.expm1(math.log1p(-scenario.delta) - kept)  # all the delta that is left
        return None, BudgetAccountant().total(spent_budget=spent, slack=slack)[0]

    return ask


def autodp_renyi():
    from autodp.mechanism_zoo import PureDP_Mechanism
    from autodp.transformer_zoo import Composition

    def ask(scenario):
        mechanisms = [PureDP_Mechanism(e, name=f"m{i}") for i, (e, _, _) in enumerate(scenario.releases)]
        counts = [count for _, _, count in scenario.releases]
        return None, Composition()(mechanisms, counts).get_eps(scenario.delta)

    return ask


def autodp_fourier():
    from autodp.mechanism_zoo import RandresponseMechanism
    from autodp.transformer_zoo import ComposeAFA

    def mechanism(index, epsilon):
        truth = 1 / (1 + math.exp(-epsilon))
        return RandresponseMechanism(truth, RDP_off=True, phi_off=False, name=f"m{index}")

    def ask(scenario):
        mechanisms = [mechanism(i, e) for i, (e, _, _) in enumerate(scenario.releases)]
        counts = [count for _, _, count in scenario.releases]
        return None, ComposeAFA()(mechanisms, counts).get_eps(scenario.delta)

    return ask


def numpy_exact():
    from numpy_exact import epsilon_equal

    return lambda scenario: (None, epsilon_equal(*scenario.releases[0], scenario.delta))


def always(scenario):
    return True


def is_pure(scenario):
    return scenario.is_pure


def is_equal(scenario):
    return scenario.is_equal


def only(*keys):
    return lambda scenario: scenario.key in keys


CERTIFIED = "certified bracket"

# name -> (adapter, scenarios it can do, what its epsilon claims to be)
LIBRARIES = {
    "**counterpoint**, from Python": (counterpoint, always, CERTIFIED),
    "numpy, exact formula": (numpy_exact, is_equal, "estimate"),
    "dp-accounting": (dp_accounting, always, "upper bound"),
    "dp-accounting, pairwise tree": (lambda: dp_accounting(tree=True), is_equal, "upper bound"),
    "dp-accounting, randomized response": (
        lambda: dp_accounting(randomized_response=True),
        lambda s: s.is_equal and s.is_pure,
        "upper bound",
    ),
    "dp-accounting, interval 1e-5": (
        lambda: dp_accounting(interval=1e-5),
        only("distinct-100", "distinct-1000"),
        "upper bound",
    ),
    "prv-accountant, eps_error 0.1": (lambda: prv_accountant(0.1), always, "bracket"),
    "prv-accountant, eps_error 0.01": (lambda: prv_accountant(0.01), always, "bracket"),
    "diffprivlib": (diffprivlib, always, "upper bound"),
    "autodp, Renyi": (autodp_renyi, is_pure, "upper bound"),
    "autodp, Fourier": (autodp_fourier, is_pure, "estimate"),
}


def best_time(call, budget=2.0, most=20):
    """The first result and the best wall time of up to `most` calls in about `budget` seconds."""
    times = []
    result = None
    while not times or (sum(times) < budget and len(times) < most):
        start = time.perf_counter()
        answer = call()
        times.append(time.perf_counter() - start)
        result = result or answer
    return result, min(times)


def measure(adapter, scenario):
    start = time.perf_counter()
    ask = adapter()
    import_seconds = time.perf_counter() - start
    (lower, upper), seconds = best_time(lambda: ask(scenario))
    return {
        "lower": None if lower is None else float(lower),
        "upper": float(upper),
        "seconds": seconds,
        "import_seconds": import_seconds,
        "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def work(adapter, scenario):
    """Measure within the memory limit and print the answer as a JSON line."""
    limit = MEMORY_LIMIT_GIB << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        try:  # the libraries' own prints are dropped; whatever they raise becomes the answer
            answer = measure(adapter, scenario)
        except MemoryError:
            answer = {"error": f"out of memory ({MEMORY_LIMIT_GIB} GiB)"}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer))


if __name__ == "__main__":
    work(LIBRARIES[sys.argv[1]][0], BY_KEY[sys.argv[2]])
