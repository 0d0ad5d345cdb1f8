"""What a fork, a thread, a copy or a crash could duplicate: a session that was paid for once answers once.

Who gains: an analyst who averages the answers of many copies of one session, and so removes its noise.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import counterpoint as cp
from counterpoint import noise, sessions

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")

# Two draws that are alike by chance are unheard of.
COUNT = noise.Query.count().laplace(1e-6)


def people() -> noise.Data:
    return noise.Data([1.0] * 1000, adjacency="add-remove")


def forked(work: Callable[[], Any]) -> Any:
    """What work comes to in a fork; an exception comes back as its name and text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = work()
        except BaseException as error:
            found = f"{type(error).__name__}: {error}"
        os.write(write, json.dumps(found).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def test_a_session_without_a_ledger_answers_in_no_fork() -> None:
    declared = sessions.SequenceSpec([COUNT])
    with declared.open(people()) as session:
        for _ in range(3):
            assert forked(lambda: session.ask(COUNT)).startswith(f"SessionEndedError: process {os.getpid()} opened this session")
        gate = sessions.SparseVectorSpec(0.1, answers=1, threshold=1).open(people())
        assert forked(lambda: gate.ask(noise.Query.count()).above).startswith("SessionEnded")
        assert isinstance(session.ask(COUNT), float)


def test_sessions_are_not_copied(ledger: cp.Ledger) -> None:
    open = sessions.SequenceSpec([COUNT]).open(people())
    kept = sessions.SequenceSpec([COUNT]).open(people(), ledger=ledger, account="team", key="k")
    for session in (open, kept):
        for make in (copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                make(session)
        # A shallow copy has the same state.
        twin = copy.copy(session)
        twin.ask(COUNT)
        with pytest.raises(cp.SessionEndedError):
            session.ask(COUNT)


def test_forks_of_a_stored_session_share_its_state(ledger: cp.Ledger, full: bool) -> None:
    session = sessions.SequenceSpec([COUNT] * 3).open(people(), ledger=ledger, account="team", key="k")
    (before,) = ledger.status("team")["accounts"]
    told = [forked(lambda: session.ask(COUNT)) for _ in range(200 if full else 12)]
    numbers = [one for one in told if isinstance(one, float)]
    assert len(numbers) == len(set(numbers)) == 3, told
    assert all(one.startswith("SessionEnded") for one in told if not isinstance(one, float)), told
    assert session.exhausted and session.answered == 3
    (after,) = ledger.status("team")["accounts"]
    assert after["spent"] == before["spent"]
    stored = ledger.responses("team")["responses"]
    assert len(stored) == 3
    ledger.verify()


def test_a_name_stands_for_one_answer(ledger: cp.Ledger) -> None:
    session = sessions.SequenceSpec([COUNT] * 2).open(people(), ledger=ledger, account="team", key="k")
    own = session.ask(COUNT, name="q1")
    assert {forked(lambda: session.ask(COUNT, name="q1")) for _ in range(5)} == {own}
    # Opened again, by another process or after a crash, it is the same session.
    again = sessions.SequenceSpec([COUNT] * 2).open(people(), ledger=ledger, account="team", key="k")
    assert again.answered == 1 and again.ask(COUNT, name="q1") == own
    assert again.ask(COUNT, name="q2") != own and session.exhausted
    assert session.ask(COUNT, name="q1") == own
    with pytest.raises(cp.SessionEndedError):
        session.ask(COUNT, name="q3")
    with pytest.raises(cp.InvalidArgumentError, match="there is no ledger"), sessions.SequenceSpec([COUNT]).open(people()) as alone:
        alone.ask(COUNT, name="q1")


def test_threads_share_its_state(ledger: cp.Ledger) -> None:
    session = sessions.SequenceSpec([COUNT] * 4).open(people(), ledger=ledger, account="team", key="k")
    told: list[float | list[float]] = []

    def work() -> None:
        try:
            told.append(session.ask(COUNT))
        except cp.SessionEndedError:
            pass

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    # A fork while threads work has locks that nobody gives back, and waits for none.
    late = forked(lambda: session.answered)
    for thread in threads:
        thread.join()
    assert len(told) == len(set(map(str, told))) == 4 and 0 <= late <= 4


def test_a_ledger_serves_its_process_after_forks_used_it(ledger: cp.Ledger) -> None:
    heads = [forked(lambda key=key: ledger.reserve("team", cp.Laplace(100), key=key).head) for key in ("a", "b")]
    assert ledger.head == heads[-1] and ledger.reserve("team", cp.Laplace(100), key="a").outcome == "pending"
    ledger.verify()


CHILD_ENDS = """
import os, sys
import counterpoint as cp
ledger = cp.Ledger(sys.argv[1])
child = os.fork()
if child == 0:
    sys.exit(0)  # The interpreter drops its copy of the ledger.
os.waitpid(child, 0)
print(ledger.reserve("team", cp.Laplace(100), key="after").outcome)
"""


def test_a_fork_that_ends_leaves_its_parent_s_connection(ledger: cp.Ledger, tmp_path: Path) -> None:
    command = [sys.executable, "-c", CHILD_ENDS, f"sqlite:{tmp_path}/budget.db"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "reserved\n"
    ledger.verify()


def test_several_are_paid_for_together_or_not_at_all(ledger: cp.Ledger) -> None:
    two = {name: sessions.SparseVectorSpec(0.6, answers=1, threshold=9) for name in ("ann", "bob")}
    (before,) = ledger.status("team")["accounts"]
    with pytest.raises(cp.errors.RefusedError):
        sessions.concurrent(two, people(), ledger=ledger, account="team", key="both")
    assert ledger.status("team")["accounts"] == [before]


WORKER = """
import os
import sys
import threading
import counterpoint as cp
from counterpoint import noise, sessions
url, key, number = sys.argv[1:]
number = int(number)
count = noise.Query.count().laplace(1e-6)
data = noise.Data([1.0] * 1000, adjacency="add-remove")
ledger = cp.Ledger(url)
if key.endswith("own"):
    each = noise.laplace(1e6)
    own = sessions.CustomMechanism("own", cp.ApproxDP(number * 1e-6), start=lambda data, random: 0,
        answer=lambda asked, question, random: (each.release(1000).value, asked + 1))
    session = own.open(data, ledger=ledger, account="team", key=key)
    question = "how many"
else:
    session = sessions.SequenceSpec([count] * number).open(data, ledger=ledger, account="team", key=key)
    question = count

def ask(one):
    print(one, session.ask(question, name=f"q{one}"), flush=True)

for one in range(number):
    if one % 3 == 0:
        ask(one)
    elif one % 3 == 1:
        thread = threading.Thread(target=ask, args=(one,))
        thread.start()
        thread.join()
    else:
        child = os.fork()
        if child == 0:
            ask(one)
            os._exit(0)
        os.waitpid(child, 0)
"""


def test_kills_lose_and_repeat_nothing(ledger: cp.Ledger, tmp_path: Path, full: bool) -> None:
    """Two processes ask the same session, themselves, by threads and by forks; one is killed after a line that was printed. What
    was printed stays."""
    url, number = f"sqlite:{tmp_path}/budget.db", 6
    for round in range(500 if full else 4):
        command = [sys.executable, "-c", WORKER, url, f"k{round}{round % 2 * '-own'}", str(number)]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        said: dict[str, str] = {}
        for worker, lines in zip(both, (round % number + 1, number), strict=True):
            assert worker.stdout
            for _ in range(lines):
                asked, value = worker.stdout.readline().split()
                assert said.setdefault(asked, value) == value
            worker.send_signal(signal.SIGKILL)
            worker.communicate()
        last = subprocess.run(command, capture_output=True, text=True, check=True)
        for line in last.stdout.splitlines():
            asked, value = line.split()
            assert said.setdefault(asked, value) == value
        assert len(said) == len(set(said.values())) == number
    (team,) = ledger.status("team")["accounts"]
    assert team["charges"] == round + 1
    ledger.verify()
