"""What the Python package adds to the Rust library: overhead, arrays, import, threads; and how fast it draws noise.

    python python_side.py    one markdown table, also in results/python.md
"""

import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import counterpoint as cp
import numpy as np
from compare import RESULTS, duration, ours_in_process
from counterpoint import noise
from counterpoint.mechanisms import CLASSES

DELTA, TOLERANCE = 1e-6, 1e-6
QUESTIONS = 64  # for the threads; each is a composition of its own
THREADS = 8


def best(call, budget=1.0, most=2000):
    """The best wall time of up to `most` calls in about `budget` seconds."""
    times = []
    while len(times) < 3 or (sum(times) < budget and len(times) < most):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def one_call(title, releases):
    """Ten mechanisms, from their parameters to epsilon: in Rust, and from Python."""
    plan = RESULTS / "plans" / f"{title}.json"
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text(json.dumps({"version": 1, "delta": DELTA, "release": releases}))

    def mechanism(mechanism, **fields):
        return CLASSES[mechanism](**fields)

    made = [mechanism(**release) for release in releases]
    composed = cp.compose(made)
    seconds = best(lambda: cp.compose([mechanism(**r) for r in releases]).epsilon(DELTA))
    yield f"{title}: one call from Python", duration(seconds)
    yield "... of which making ten mechanisms", duration(best(lambda: [mechanism(**r) for r in releases]))
    yield "... of which `compose`", duration(best(lambda: cp.compose(made)))
    yield "... the same question again, to the same plan", duration(best(lambda: composed.epsilon(DELTA)))

    class Question:
        delta = DELTA

    rust = ours_in_process(plan, Question, TOLERANCE)
    if "error" in rust:
        yield f"{title}: one call in Rust", rust["error"]
        return
    yield f"{title}: one call in Rust", duration(rust["seconds"])
    yield f"{title}: overhead of Python", duration(seconds - rust["seconds"])


def many_deltas():
    plan = cp.compose([cp.Gaussian(sigma=20.0) * 10, cp.Laplace(scale=20.0) * 100])
    deltas = np.logspace(-12, -2, 10**6)
    start = time.perf_counter()
    found = plan.epsilon(deltas)
    whole = time.perf_counter() - start
    some = range(0, len(deltas), 10**5)
    single = statistics.mean(best(lambda i=i: plan.epsilon(float(deltas[i])), 0.05) for i in some)
    alone = [plan.epsilon(float(deltas[i])) for i in some]
    assert all(found[i].overlaps(answer) for i, answer in zip(some, alone))
    yield "10^6 deltas in one call", duration(whole)
    yield "... each", duration(whole / len(deltas))
    yield "... one delta in a call of its own", duration(single)


def fresh(code):
    """The best wall time of a fresh interpreter that runs the code; None if it fails."""

    def run():
        subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)

    try:
        return best(run, 2.0, 20)
    except subprocess.CalledProcessError:
        return None


def imports():
    empty = fresh("pass")
    for module in ["counterpoint", "numpy", "dp_accounting.pld.privacy_loss_distribution", "prv_accountant",
                   "diffprivlib.accountant", "autodp.mechanism_zoo"]:
        seconds = fresh(f"import {module}")
        yield f"import {module}", "not installed" if seconds is None else duration(max(seconds - empty, 0))


def threads():
    """The same questions from one thread and from many: the lock is released while they compute."""

    def ask(number):
        steps = cp.Gaussian(sigma=1.0 + number / 1000, rate=0.01) * 10_000
        return cp.compose([steps], adjacency="add-remove").epsilon(1e-5)

    start = time.perf_counter()
    alone = [ask(number) for number in range(QUESTIONS)]
    serial = time.perf_counter() - start
    with ThreadPoolExecutor(THREADS) as pool:
        start = time.perf_counter()
        together = list(pool.map(ask, range(QUESTIONS)))
        parallel = time.perf_counter() - start
    assert alone == together  # bit for bit
    yield f"{QUESTIONS} DP-SGD runs, 1 thread", duration(serial)
    faster = f"{duration(parallel)}, {serial / parallel:.2f} times as fast"
    yield f"... {THREADS} threads on {os.cpu_count()} cores", faster


def draws():
    """Exact noise, through arrays and through lists; a draw asks the operating system for random words."""
    number = 10**5
    zeros = np.zeros(number, dtype=np.int64)
    laws = [("geometric", noise.geometric(2.0), zeros), ("laplace", noise.laplace(3.0), zeros.astype(float)),
            ("discrete Gaussian", noise.discrete_gaussian(5.0), zeros), ("gaussian", noise.gaussian(3.0), zeros.astype(float)),
            ("staircase", noise.staircase(1.0), zeros), ("randomized response", noise.randomized_response(1.0, 4), zeros),
            ("exponential of two", noise.exponential(1.0), np.zeros((number, 2), dtype=np.int64)),
            ("exponential of eight", noise.exponential(1.0), np.zeros((number, 8), dtype=np.int64))]
    for name, law, values in laws:
        seconds = best(lambda law=law, values=values: law.release(values), 1.0, 10)
        yield f"{name}, an array: draws a second", f"{number / seconds:,.0f}"
    for name, law, values in laws[:6]:
        listed = values.tolist()
        seconds = best(lambda law=law, listed=listed: law.release(listed), 1.0, 10)
        yield f"{name}, a list: draws a second", f"{number / seconds:,.0f}"


def main():
    guarantees = [{"mechanism": "approx-dp", "epsilon": 0.05 * i, "delta": 1e-9} for i in range(1, 11)]
    noise = [{"mechanism": "gaussian", "sigma": 5.0 + i} for i in range(5)]
    noise += [{"mechanism": "laplace", "scale": 5.0 + i} for i in range(5)]
    lines = [("what", "time"), ("---", "---"), *one_call("ten guarantees", guarantees),
             *one_call("ten mechanisms", noise), *many_deltas(), *imports(), *threads(), *draws()]
    table = "\n".join(f"| {what} | {value} |" for what, value in lines)
    (RESULTS / "python.md").write_text(table + "\n")
    print(table)


if __name__ == "__main__":
    main()
