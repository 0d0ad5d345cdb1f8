"""Fifty plans of the grid of private training, beside dp-accounting and prv-accountant.

Every 36th of the 1,792 plans of bench/grid, each asked once in this process. "off" is how far an epsilon
is from the certified bracket, relative to it: above is what the library charges too much, below is unsound.

    bench/run training
"""

import math
import signal
import statistics
import time
import warnings

SIGMAS = [0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 4.0, 10.0]
RATES = [1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 1e-2, 0.1, 0.5]
COUNTS = [10**i for i in range(7)]
DELTAS = [1e-5, 1e-6, 1e-8, 1e-10]
EVERY, LIMIT = 36, 30


class TooLong(Exception):
    pass


def counterpoint(sigma, rate, count, delta):
    import counterpoint as cp

    plan = cp.compose([cp.Gaussian(sigma, rate=rate, count=count)], adjacency="add-remove")
    return tuple(plan.epsilon(delta))


def dp_accounting(sigma, rate, count, delta):
    import dp_accounting as dp
    from dp_accounting.pld import PLDAccountant

    event = dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(sigma))
    return None, PLDAccountant().compose(event, count).get_epsilon(delta)


def prv_accountant(sigma, rate, count, delta):
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    step = PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=sigma)
    accountant = PRVAccountant(
        prvs=[step], max_self_compositions=[count], eps_error=0.01, delta_error=delta / 1000
    )
    lower, _, upper = accountant.compute_epsilon(delta, [count])
    return lower, upper


def timed(ask, point):
    """The epsilons and the seconds they took; None and why there are none."""

    def stop(*_):
        raise TooLong

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ask(*point)
        return (found, time.perf_counter() - start)
    except TooLong:
        return (None, f"> {LIMIT} s")
    except Exception as error:  # each library has errors of its own
        return (None, type(error).__name__)
    finally:
        signal.alarm(0)


def off(bracket, upper):
    """How far above (or, negative, below) a certified bracket a number is, relative to it."""
    if bracket is None or not math.isfinite(upper):
        return math.inf
    low, high = bracket
    if low <= upper <= high:
        return 0.0
    return (upper - high) / max(high, 1e-300) if upper > high else (upper - low) / max(low, 1e-300)


def main():
    grid = [(s, r, c, d) for r in RATES for c in COUNTS for s in SIGMAS for d in DELTAS]
    points = grid[EVERY - 1 :: EVERY]
    others = {"dp-accounting": dp_accounting, "prv-accountant, 0.01": prv_accountant}
    results = {name: [] for name in ["counterpoint", *others]}
    print("| sigma | rate | steps | delta | certified epsilon | ms |" + "".join(f" {n} off | ms |" for n in others))
    print("| --- " * (6 + 2 * len(others)) + "|")
    for point in points:
        ours, spent = timed(counterpoint, point)
        results["counterpoint"].append((0.0, spent) if ours else (None, spent))
        cells = [f"{value:g}" for value in point]
        cells += [f"{ours[1]:.6g}", f"{1e3 * spent:.1f}"] if ours else ["-", spent]
        for name, ask in others.items():
            found, spent = timed(ask, point)
            error = off(ours, found[1]) if found else None
            results[name].append((error, spent))
            cells += [f"{error:+.1e}", f"{1e3 * spent:.0f}"] if found else ["-", spent]
        print("| " + " | ".join(cells) + " |", flush=True)
    print()
    for name, list_ in results.items():
        good = [(error, spent) for error, spent in list_ if error is not None]
        times = sorted(spent for _, spent in good)
        above = [error for error, _ in good if 0 <= error < math.inf]
        print(
            f"{name}: {len(good)} of {len(list_)} answered, {sum(e < 0 for e, _ in good)} below the truth, "
            f"{sum(e == math.inf for e, _ in good)} infinite; off by {statistics.median(above):.1e} (median), "
            f"{max(above):.1e} (most); {1e3 * statistics.median(times):.1f} ms (median), {1e3 * times[-1]:.0f} ms (slowest)"
        )


if __name__ == "__main__":
    main()
