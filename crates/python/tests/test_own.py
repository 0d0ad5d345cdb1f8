"""Interactive mechanisms that people bring.

Who gains: an analyst who has a mechanism answer twice from one state, or try again until it does not fail; an owner whose
mechanism is charged less than it says; an auditor who is not told that a guarantee is somebody's word.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import counterpoint as cp
from counterpoint import noise, sessions

PEOPLE = [31.0, 45.0, 27.0, 62.0, 38.0]


def counter(most: int, name: str = "counter") -> sessions.CustomMechanism:
    """Counts those above an age, with fresh noise each time, so many times."""
    each = noise.geometric(scale=1000)

    def start(data: list[float], random: Any) -> dict[str, Any]:
        return {"left": most, "salt": random.getrandbits(64)}

    def answer(state: dict[str, Any], question: float, random: Any) -> tuple[int, dict[str, Any] | None]:
        state["left"] -= 1
        count = each.release(sum(age >= question for age in PEOPLE)).value
        return count, state if state["left"] else None

    return sessions.CustomMechanism(name, cp.ApproxDP("0.001") * most, start=start, answer=answer)



def test_it_is_charged_once_and_goes_on_where_it_is(ledger: cp.Ledger) -> None:
    own = counter(3)
    with own.open(PEOPLE, ledger=ledger, account="team", key="k") as session:
        first = session.ask(40, name="a")
        assert session.ask(40, name="a") == first
        with pytest.raises(cp.LedgerError):
            session.ask(41, name="a")
        # Opened again, it is the same session.
        again = own.open(PEOPLE, ledger=ledger, account="team", key="k")
        assert again.ask(40, name="a") == first and again.answered == 1
        assert session.ask(30) != first
        session.ask(20)
        assert session.exhausted
        with pytest.raises(cp.SessionEndedError):
            again.ask(10)
    (team,) = ledger.status("team")["accounts"]
    assert team["charges"] == 1 and team["spent"]["main"] == "0.003"
    ledger.verify()


def test_the_history_says_whose_word_it_is(ledger: cp.Ledger) -> None:
    counter(2).open(PEOPLE, ledger=ledger, account="team", key="k")
    reserved = [one for one in ledger.history()["entries"] if one["event"] == "reserve"]
    assert [one["own"] for one in reserved] == ["counter"]
    # Another name or another guarantee is another session.
    for other in (counter(2, "better"), counter(1)):
        with pytest.raises(cp.LedgerError):
            other.open(PEOPLE, ledger=ledger, account="team", key="k")


def test_what_it_may_not_cost_is_refused_before_it_is_run(ledger: cp.Ledger) -> None:
    def start(data: Any, random: Any) -> Any:
        raise AssertionError("it was run")

    dear = sessions.CustomMechanism("dear", cp.ApproxDP(2.1), start=start, answer=lambda *_: (0, None))
    with pytest.raises(cp.errors.RefusedError):
        dear.open(PEOPLE, ledger=ledger, account="team", key="k")
    with pytest.raises(cp.InvalidArgumentError):
        sessions.concurrent({"dear": dear}, {"dear": PEOPLE})
    # Data of another relation than the account's.
    with pytest.raises(cp.LedgerError):
        counter(1).open(noise.Data(PEOPLE, adjacency="replace"), ledger=ledger, account="team", key="k")
    for name in ("", "a b", "x" * 200):
        with pytest.raises(cp.LedgerError):
            counter(1, name).open(PEOPLE, ledger=ledger, account="team", key="k")


@pytest.mark.parametrize("reply", [ValueError("unlucky"), SystemExit(), GeneratorExit(), BaseException(), float("nan"), {1, 2}, "x" * (1 << 20)])
def test_a_failure_is_an_outcome_and_ends_it(ledger: cp.Ledger, reply: Any) -> None:
    calls = []

    def answer(state: Any, question: Any, random: Any) -> Any:
        calls.append(question)
        if isinstance(reply, BaseException):
            raise reply
        return reply, state

    session = sessions.CustomMechanism("fails", cp.ApproxDP(0.1), start=lambda *_: 0, answer=answer)
    open = session.open(PEOPLE, ledger=ledger, account="team", key="k")
    with pytest.raises(BaseException) as failure:
        open.ask(1)
    assert not isinstance(failure.value, cp.SessionEndedError)
    # Nobody tries again until it does not fail.
    for again in (open, session.open(PEOPLE, ledger=ledger, account="team", key="k")):
        with pytest.raises(cp.SessionEndedError):
            again.ask(1)
    assert calls == [1]


def test_a_failure_and_an_answer_are_not_of_one_state(ledger: cp.Ledger) -> None:
    """Somebody else is answered while it fails: nobody is told of that failure, and it is tried again from the state after."""
    calls: list[tuple[int, str]] = []

    def answer(state: int, question: str, random: Any) -> Any:
        calls.append((state, question))
        if question == "fail":
            if len(calls) == 1:
                assert other.ask("number") == 0
            raise ValueError(f"after {state}")
        return state, state + 1

    own = sessions.CustomMechanism("fails", cp.ApproxDP(0.1), start=lambda *_: 0, answer=answer)
    open, other = (own.open(PEOPLE, ledger=ledger, account="team", key="k") for _ in range(2))
    with pytest.raises(ValueError, match="after 1"):
        open.ask("fail")
    assert calls == [(0, "fail"), (0, "number"), (1, "fail")]
    # Of two that fail one is told so, and the other that the session is over.
    with pytest.raises(cp.SessionEndedError):
        other.ask("number")
    ledger.verify()


def test_an_interrupt_leaves_it_as_it_is(ledger: cp.Ledger) -> None:
    raised = [KeyboardInterrupt()]

    def answer(state: Any, question: Any, random: Any) -> Any:
        if raised:
            raise raised.pop()
        return question, state

    session = sessions.CustomMechanism("slow", cp.ApproxDP(0.1), start=lambda *_: 0, answer=answer)
    with session.open(PEOPLE, ledger=ledger, account="team", key="k") as open:
        with pytest.raises(KeyboardInterrupt):
            open.ask(7)
        assert open.ask(7) == 7


def test_many_ask_one_state_and_every_answer_has_its_own(ledger: cp.Ledger) -> None:
    """Each reply is the state's number: two that are alike were answered from one state."""
    own = sessions.CustomMechanism(
        "numbers", cp.ApproxDP(0.1), start=lambda *_: 0, answer=lambda state, question, random: (state, state + 1)
    )
    open = own.open(PEOPLE, ledger=ledger, account="team", key="k")
    told: list[int] = []
    threads = [threading.Thread(target=lambda: told.extend(open.ask(0) for _ in range(5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == list(range(40))


def test_a_mechanism_may_use_the_ledger_that_keeps_it(ledger: cp.Ledger) -> None:
    def answer(state: Any, question: Any, random: Any) -> Any:
        return ledger.status("team")["accounts"][0]["charges"], state

    own = sessions.CustomMechanism("nested", cp.ApproxDP(0.1), start=lambda *_: 0, answer=answer)
    assert own.open(PEOPLE, ledger=ledger, account="team", key="k").ask(None) == 1


def test_states_are_not_in_what_auditors_are_given(ledger: cp.Ledger) -> None:
    own = sessions.CustomMechanism(
        "secret", cp.ApproxDP(0.1), start=lambda *_: "hidden in it", answer=lambda state, question, random: (1, state)
    )
    own.open(PEOPLE, ledger=ledger, account="team", key="k").ask(0)
    assert "hidden in it" not in ledger.export()


def test_ours_and_theirs_are_asked_in_any_order(ledger: cp.Ledger) -> None:
    ages = noise.Data(PEOPLE, adjacency="add-remove")
    count = noise.Query.count()
    both = {"own": counter(2), "gate": sessions.SparseVectorSpec(0.1, answers=1, threshold=1e6)}
    with sessions.concurrent(both, ages, ledger=ledger, account="team", key="k") as open:
        open["own"].ask(30)
        assert not open["gate"].ask(count)
        open["own"].ask(40)
        assert open["own"].exhausted and not open["gate"].exhausted
        assert len(open.releases) == 2


PROGRAM = """
import sys
from counterpoint import ApproxDP, sessions

def answer(state, question, random):
    return [state, question], state + 1 if state < 2 else None

sessions.CustomMechanism("program", ApproxDP(0.1), start=lambda data, random: len(data), answer=answer).serve(sys.argv[1:])
"""


def test_it_serves_as_a_program() -> None:
    """What a curator runs: a state and a question come in, a reply and the state after it go out."""

    def step(told: Any) -> Any:
        run = [sys.executable, "-c", PROGRAM, "one"]
        return json.loads(subprocess.run(run, input=json.dumps(told), capture_output=True, text=True, check=True).stdout)

    assert step({"state": None, "question": {"b": 1, "a": None}}) == {"reply": [1, {"a": None, "b": 1}], "state": 2}
    assert step({"state": 2, "question": "last"}) == {"reply": [2, "last"], "state": None}


def test_quotas_as_slots_of_one_plan_cost_far_less_than_their_sum(tmp_path: Path) -> None:
    """Analysts' quotas are interactive mechanisms, and together they cost what their composition does: 0.824 at 1e-6 for 100
    quotas of (0.02, 1e-10), by Kairouz, Oh and Viswanath 2015, and not 2."""
    ledger = cp.Ledger(f"sqlite:{tmp_path}/quotas.db", create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon="0.825", delta="1e-6")
    quotas = cp.compose([cp.ApproxDP("0.02", "1e-10") * 100])
    ledger.open_plan("analysts", "census", quotas, delta="1e-6")
    (census,) = ledger.status("census")["accounts"][:1]
    assert 0.823 < float(census["spent"]["main"]) <= 0.825
    # A slot pays for what it dominates: an account of as much, a mechanism of as much, and nothing that costs more.
    slot = ledger.status("analysts")["accounts"][0]["slots"][0]["name"]
    ledger.open_filter("ann", within="analysts", slot=slot, epsilon="0.02", delta="1e-10", filter="sums")
    open = counter(20).open(PEOPLE, ledger=ledger, account="analysts", key="ben", slot=slot)
    assert isinstance(open.ask(40), int)
    with pytest.raises(cp.LedgerError):
        counter(21).open(PEOPLE, ledger=ledger, account="analysts", key="cleo", slot=slot)
    assert ledger.status("analysts")["accounts"][0]["slots"][0]["used"] == 2
    ledger.verify()
