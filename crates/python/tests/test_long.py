"""Long calls: interrupted, watched, in parallel, and without leaks."""

from __future__ import annotations

import gc
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import counterpoint as cp

# Work for seconds in a single question, and for a good part of one in many.
SLOW = "cp.compose([cp.Gaussian(1.0, rate=0.001) * 20], adjacency='add-remove')"
MANY = "cp.compose([cp.Gaussian(1.0, rate=0.01) * 1000], adjacency='add-remove')"


def interrupted(call: str) -> float:
    """How late after Ctrl-C a call in another process gives up, in seconds."""
    code = f"""
import counterpoint as cp, numpy as np, signal, sys, time
plan = {{}}
{call.splitlines()[0]}
print("ready", flush=True)
try:
    while True:
        try:
            {call.splitlines()[1]}
        except cp.ToleranceNotMet:
            pass
except KeyboardInterrupt:
    print(time.time())
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    at = time.time()
    process.send_signal(signal.SIGINT)
    told = process.stdout.read().strip()
    process.wait()
    return float(told) - at


@pytest.mark.parametrize(
    "call",
    [
        f"plan = {SLOW}\nplan.epsilon(1e-6)",
        f"plan = {MANY}\nplan.epsilon(np.geomspace(1e-10, 1e-2, 1_000_000))",
        f"plan = {MANY}\nplan.delta(np.linspace(0, 5, 1_000_000))",
        f"plan = {MANY}\nplan.region(np.linspace(0, 1, 10_000), tolerance=1e-9)",
    ],
)
def test_ctrl_c(call: str) -> None:
    late = interrupted(call)
    print(f"{late:.3f} s after Ctrl-C")
    # Long enough for a loaded machine; how late it is on an idle one, the bench says.
    assert late < 5


def test_progress() -> None:
    plan, seen = eval(MANY, {"cp": cp}), []

    def told(done: float) -> None:
        seen.append(done)

    deltas = np.geomspace(1e-10, 1e-2, 1_000_000)
    plan.epsilon(deltas, progress=told)
    assert seen and all(0 <= done <= 1 for done in seen)
    with pytest.raises(cp.Stopped):
        plan.epsilon(deltas, progress=lambda done: False)

    def fails(done: float) -> None:
        raise RuntimeError("not now")

    with pytest.raises(RuntimeError, match="not now"):
        plan.epsilon(deltas, progress=fails)


def test_eight_threads_run_at_once() -> None:
    """While eight threads compute, this one counts: it could not if they held the interpreter's lock."""
    plan = eval(MANY, {"cp": cp})
    deltas = np.geomspace(1e-10, 1e-2, 200_000)
    results: list[cp.Brackets] = []
    threads = [threading.Thread(target=lambda: results.append(plan.epsilon(deltas))) for _ in range(8)]
    for thread in threads:
        thread.start()
    counted = 0
    while any(thread.is_alive() for thread in threads):
        counted += 1
        time.sleep(0.001)
    assert counted > 20 and len(results) == 8
    assert all(result == results[0] for result in results)


def test_no_leaks(full: bool) -> None:
    """10,000 rounds of calls, and as many that fail, leave the memory where it was."""

    def round_of_calls() -> None:
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

    def most_resident() -> int:
        gc.collect()
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(500):
        round_of_calls()
    before = most_resident()
    rounds = 10_000 if full else 1_000
    for _ in range(rounds):
        round_of_calls()
    # A leak of one object a round would be a hundred bytes at least.
    assert most_resident() - before < 100 * rounds + (1 << 20)
