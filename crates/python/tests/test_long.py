"""Long calls: interrupted, watched, in parallel, and without leaks."""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import counterpoint as cp

# Work for seconds in a single question, and for a good part of one in many.
SLOW = "cp.compose([cp.Gaussian(1.0, rate=0.001) * 20], adjacency='add-remove')"
DISTINCT = "cp.compose([cp.ApproxDP(0.01 * k + 0.001 * k**0.5) for k in range(1, 45)])"
LARGE = "cp.compose([cp.ApproxDP(1e-9 * k) for k in range(1, 60_000)])"
MANY = "cp.compose([cp.Gaussian(1.0, rate=0.01) * 1000], adjacency='add-remove')"
STUDY = """dict(epsilon=1.0, delta=1e-6, data=dict(adjacency="replace", people=5000), statistic=[
    dict(kind="mean", bounds=[0, 1 + k], error=0.01 * (1 + k**0.7)) for k in range(60)])"""


def interrupted(setting: str, call: str) -> list[float]:
    """How many seconds of processor time a call goes on after a signal that raises KeyboardInterrupt, five times.

    The signal comes after some processor time of this process, and processor time is what counts: neither depends on
    what else the machine does.
    """
    code = f"""
import counterpoint as cp, numpy as np, signal, time
signal.signal(signal.SIGPROF, signal.default_int_handler)
{setting}
for after in (0.1, 0.2, 0.35, 0.5, 0.8):
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, after)
    try:
        while True:
            try:
                {call}
            except cp.errors.ToleranceNotMetError:
                pass
    except KeyboardInterrupt:
        print(time.process_time() - start - after)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


@pytest.mark.parametrize(
    ("setting", "call"),
    [
        (f"plan = {SLOW}", "plan.epsilon(1e-6)"),
        (f"plan = {DISTINCT}", "plan.epsilon(1e-6, route='halves')"),
        (f"plan = {MANY}", "plan.epsilon(np.geomspace(1e-10, 1e-2, 1_000_000))"),
        (f"plan = {MANY}", "plan.delta(np.linspace(0, 5, 1_000_000))"),
        (f"plan = {MANY}", "plan.region(np.linspace(0, 1, 10_000), tolerance=1e-9)"),
        (f"text = {LARGE}.to_json()", "cp.Plan.from_text(text)"),
        (f"mechanisms = {LARGE}.mechanisms", "cp.compose(mechanisms)"),
        (f"study = {STUDY}", "cp.plan_study(study)"),
    ],
)
def test_ctrl_c(setting: str, call: str) -> None:
    late = interrupted(setting, call)
    print(*(f"{seconds:.3f}" for seconds in late), "s after the signal")
    assert len(late) == 5 and statistics.median(late) < 0.2


def test_progress() -> None:
    plan, seen = eval(MANY, {"cp": cp}), []

    def told(done: float) -> None:
        seen.append(done)

    deltas = np.geomspace(1e-10, 1e-2, 1_000_000)
    plan.epsilon(deltas, progress=told)
    assert seen and all(0 <= done <= 1 for done in seen)
    with pytest.raises(cp.StoppedError):
        plan.epsilon(deltas, progress=lambda done: False)
    with pytest.raises(cp.StoppedError):
        cp.plan_study(eval(STUDY), progress=lambda done: False)

    def fails(done: float) -> None:
        raise RuntimeError("not now")

    with pytest.raises(RuntimeError, match="not now"):
        plan.epsilon(deltas, progress=fails)


def test_eight_threads_run_at_once() -> None:
    """While eight threads compute, this one counts faster than they answer.

    If they held the interpreter's lock while they compute, this thread would get it between two of their calls alone:
    it would count no further than they answer.
    """
    plan = eval(MANY, {"cp": cp})
    deltas = np.geomspace(1e-10, 1e-2, 200_000)
    results: list[cp.Brackets] = []
    over = threading.Event()

    def compute() -> None:
        while not over.is_set():
            results.append(plan.epsilon(deltas))

    threads = [threading.Thread(target=compute) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        time.sleep(0.001)
    answered = len(results)
    over.set()
    for thread in threads:
        thread.join()
    assert answered < 100 and len(results) >= 8
    assert all(result == results[0] for result in results)


LEAKS = """
import counterpoint as cp, gc, numpy as np, resource, sys

kept = []

def round_of_calls():
    plan = cp.compose([cp.ApproxDP(0.1, name="x") * 3, cp.Gaussian(2.0)], adjacency="replace")
    plan.epsilon(1e-6)
    plan.delta(np.array([0.5, 1.0]))
    repr(plan.mechanisms)
    plan.to_json()
    for wrong in (lambda: plan.epsilon(2.0), lambda: plan.epsilon("x"), lambda: cp.Gaussian(-1.0)):
        try:
            wrong()
        except (ValueError, TypeError):
            pass
    if sys.argv[2] == "leaking":
        kept.append(plan)

def resident():
    gc.collect()
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * resource.getpagesize()

for _ in range(500):
    round_of_calls()
before = resident()
for _ in range(int(sys.argv[1])):
    round_of_calls()
print(resident() - before)
"""


def test_no_leaks(full: bool) -> None:
    """10,000 rounds of calls, and as many that fail, leave the memory where it was.

    In a process of its own, where nothing else takes any.
    """
    rounds = 10_000 if full else 1_000

    def grown(how: str) -> int:
        command = [sys.executable, "-c", LEAKS, str(rounds), how]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    # A leak of one object a round would be a hundred bytes at least; one plan a round is seen.
    assert grown("clean") < 100 * rounds + (1 << 18) < grown("leaking")
