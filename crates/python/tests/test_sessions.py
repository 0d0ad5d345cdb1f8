"""Mechanisms that are held open: what they answer, what they are charged as, and what is refused when they are over."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import counterpoint as cp
from counterpoint import noise, sessions

# With this epsilon and one answer, noise on a count is zero but once in e^100.
SURE = 100.0
COUNT = noise.Query.count()


def people(number: int = 5, **about: Any) -> noise.Data:
    return noise.Data([float(i) for i in range(number)], **{"adjacency": "add-remove", **about})


def test_a_sparse_vector_answers_until_it_was_above() -> None:
    with sessions.SparseVectorSpec(SURE, answers=1, threshold=3).open(people()) as gate:
        few = noise.Query.count_within((0, 1))
        for number in range(1, 6):
            found = gate.ask(few)
            assert not found and not found.above and found.value is None
            assert gate.answered == number and not gate.exhausted
        assert gate.ask(COUNT).above and gate.exhausted
        with pytest.raises(cp.SessionEndedError, match="exhausted: it answers nothing more"):
            gate.ask(few)
        assert gate.answered == 6 and not gate.closed
    assert gate.closed and gate.exhausted


def test_values_come_with_answers_above_if_that_is_declared() -> None:
    with sessions.SparseVectorSpec(SURE, answers=1, threshold=3, values=True).open(people()) as gate:
        found = gate.ask(COUNT)
        assert found.above and found.value == 5.0
    with sessions.SparseVectorSpec(SURE, answers=1, threshold=8, values=True, reach=4.0, grid=0.25).open(people()) as gate:
        assert gate.ask(noise.Query.sum((0, 4))).value == pytest.approx(10.0, abs=5)


def test_wrong_guesses_are_corrected() -> None:
    with sessions.GuessAndCheckSpec(SURE, corrections=1, tolerance=2).open(people()) as check:
        right = check.ask(COUNT, guess=5)
        assert right and right.right and right.value is None
        wrong = check.ask(COUNT, 9)
        assert not wrong and wrong.value == 5.0 and check.exhausted


def test_a_sequence_runs_what_was_declared_once() -> None:
    count, bins = COUNT.laplace(SURE), noise.Query.histogram([0, 2, 9]).laplace(SURE)
    other = COUNT.laplace(50.0)
    with sessions.SequenceSpec([count, bins]).open(people()) as sequence:
        with pytest.raises(cp.InvalidArgumentError, match="equals none of the plan's unused releases"):
            sequence.ask(other)
        assert sequence.ask(bins) == [2.0, 3.0] and sequence.ask(count) == 5.0
        with pytest.raises(cp.SessionEndedError):
            sequence.ask(count)


def test_after_a_session_is_closed_nothing_is_answered() -> None:
    declared = sessions.SparseVectorSpec(0.5, answers=3, threshold=100)
    gate = declared.open(people())
    with gate as same:
        assert same is gate
    for call in (lambda: gate.ask(COUNT), lambda: gate.answered, gate.__enter__):
        with pytest.raises(cp.SessionEndedError, match="is closed: it answers nothing more"):
            call()
    gate.close()
    # An error inside closes it, too.
    with pytest.raises(ZeroDivisionError), declared.open(people()) as gate:
        raise ZeroDivisionError
    with pytest.raises(cp.SessionEndedError):
        gate.ask(COUNT)
    # What is declared can be opened again: as another session, charged again.
    with declared.open(people()) as again:
        assert not again.ask(COUNT)


def test_charges_are_those_of_the_theorem() -> None:
    data = people()
    gate = sessions.SparseVectorSpec(0.5, answers=2, threshold=10).open(data)
    assert gate.releases == (cp.SparseVector(0.5, 1.0),)
    declared = sessions.GuessAndCheckSpec(0.25, corrections=3, tolerance=10)
    told, values = declared.open(data).releases
    assert told == cp.SparseVector(0.25, 0.5) and told.kind == "sparse-vector"
    # Three values, each with Laplace noise of three sensitivities over epsilon: 4 epsilon in all, and hardly less.
    assert values.count == 3 and values.scale == pytest.approx(3 / 0.25, rel=1e-14) and values.scale >= 3 / 0.25
    assert float(cp.compose(declared.releases(data)).epsilon(0)) == pytest.approx(4 * 0.25, rel=1e-9)
    assert declared.releases(data) == declared.open(data).releases
    several = people(records=4)
    (four,) = (one for one in declared.releases(several) if one.kind == "geometric")
    assert four.sensitivity == 4 and four.scale == pytest.approx(4 * 3 / 0.25, rel=1e-14)
    part = people(part="north")
    assert {one.partition for one in declared.open(part).releases} == {"north"}


def test_sessions_side_by_side_are_charged_together() -> None:
    data, count = people(), COUNT.laplace(SURE)
    two = {
        "ann": sessions.GuessAndCheckSpec(SURE, corrections=1, tolerance=2),
        "bob": sessions.SparseVectorSpec(SURE, answers=1, threshold=3),
        "cleo": sessions.SequenceSpec([count]),
    }
    with sessions.concurrent(two, data) as open:
        assert list(open) == ["ann", "bob", "cleo"] and len(open) == 3
        assert open["ann"].ask(COUNT, 5).right
        assert not open["bob"].ask(noise.Query.count_within((0, 0.5)))
        assert open["cleo"].ask(count) == 5.0
        assert open["bob"].ask(COUNT).above and open["bob"].exhausted and not open["ann"].exhausted
        assert open["ann"].ask(COUNT, 50).value == 5.0
        with pytest.raises(cp.InvalidArgumentError, match="one of several"):
            open["ann"].close()
        with open["ann"]:
            pass
        assert not open.closed
        with pytest.raises(cp.InvalidArgumentError, match="'dora' is not among those declared; legal: ann, bob, cleo"):
            open["dora"]
    for name in ("ann", "cleo"):
        with pytest.raises(cp.SessionEndedError):
            open[name].answered
    with pytest.raises(cp.SessionEndedError), open:
        pass
    small = {"ann": sessions.GuessAndCheckSpec(0.25, corrections=3, tolerance=10), "bob": sessions.SparseVectorSpec(0.1, answers=1, threshold=5)}
    with sessions.concurrent(small, data) as open:
        pass
    expected = [*small["ann"].releases(data), *small["bob"].releases(data)]
    assert list(open.releases) == expected
    answer = cp.compose(expected, adjacency="add-remove").epsilon(1e-6)
    assert (open.epsilon(1e-6).lower, open.epsilon(1e-6).upper) == (answer.lower, answer.upper)
    # Pure: all epsilons add up, 4 times 0.25 and 3 times 0.1.
    assert float(open.epsilon(0)) == pytest.approx(1.3, rel=1e-9)


def test_columns_are_of_the_same_people() -> None:
    gate = sessions.SparseVectorSpec(0.5, answers=1, threshold=5)
    two = {"a": gate, "b": gate}
    with sessions.concurrent(two, {"a": people(5), "b": people(5)}) as open:
        assert open["a"].answered == 0
    with pytest.raises(cp.InvalidArgumentError, match="column|entries"):
        sessions.concurrent(two, {"a": people(5), "b": people(6)})
    with pytest.raises(cp.InvalidArgumentError, match="the data's relation is"):
        sessions.concurrent(two, {"a": people(5), "b": people(5, records=2)})
    with pytest.raises(cp.InvalidArgumentError, match="nothing is declared"):
        sessions.concurrent({}, people())


def test_questions_that_do_not_fit_are_refused_and_change_nothing() -> None:
    with sessions.SparseVectorSpec(SURE, answers=1, threshold=3).open(people()) as gate:
        with pytest.raises(cp.InvalidArgumentError, match="sensitivity is .* grid steps; legal here: at most"):
            gate.ask(noise.Query.sum((0, 100)))
        with pytest.raises(cp.InvalidArgumentError):
            gate.ask(noise.Query.mean((0, 1)))
        with pytest.raises((TypeError, AttributeError)):
            gate.ask(3)  # type: ignore[arg-type]
        assert gate.answered == 0 and gate.ask(COUNT).above
    with sessions.GuessAndCheckSpec(SURE, corrections=1, tolerance=2).open(people()) as check:
        for guess in (float("nan"), float("inf"), 1e101):
            with pytest.raises(cp.InvalidArgumentError, match="guess is"):
                check.ask(COUNT, guess)
        assert check.ask(COUNT, 5)
    for wrong, text in [
        (lambda: sessions.SparseVectorSpec(0.0, answers=1, threshold=1), "epsilon is 0; legal"),
        (lambda: sessions.SparseVectorSpec(float("nan"), answers=1, threshold=1), "epsilon is [nN]a[nN]; legal"),
        (lambda: sessions.SparseVectorSpec(1.0, answers=0, threshold=1), "answers is 0; legal"),
        (lambda: sessions.SparseVectorSpec(1.0, answers=-1, threshold=1), "answers is -1; legal"),
        (lambda: sessions.SparseVectorSpec(1.0, answers=1, threshold=float("inf")), "threshold is inf; legal"),
        (lambda: sessions.SparseVectorSpec(1.0, answers=1, threshold=1, reach=-1.0), "sensitivity is -1; legal"),
        (lambda: sessions.GuessAndCheckSpec(1.0, corrections=1, tolerance=0.0), "tolerance is 0; legal"),
        (lambda: sessions.SequenceSpec([]), "the sequence has 0 entries; legal"),
    ]:
        with pytest.raises(cp.InvalidArgumentError, match=text):
            wrong()


def test_any_thread_may_ask() -> None:
    """Of many that ask at once, exactly as many are above as were declared."""
    answers = 20
    above, over = [], []
    with sessions.SparseVectorSpec(100.0, answers=answers, threshold=3).open(people(50)) as gate:

        def ask() -> None:
            for _ in range(50):
                try:
                    above.append(gate.ask(COUNT).above)
                except cp.SessionEndedError:
                    over.append(1)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(above) == answers and len(above) + len(over) == 400


def test_a_ledger_is_debited_before_anything_is_drawn(ledger: cp.Ledger) -> None:
    declared = sessions.GuessAndCheckSpec(0.25, corrections=2, tolerance=10)
    with declared.open(people(), ledger=ledger, account="team", key="one") as check:
        (team,) = ledger.status("team")["accounts"]
        assert float(team["spent"]["main"]) == pytest.approx(1.0, rel=1e-12)
        check.ask(COUNT, 5)
        assert [one["key"] for one in ledger.pending("team")["pending"]] == ["one"]
    assert ledger.pending("team")["pending"] == []
    # What was paid for once is opened once: under its key it is the same session, which is over.
    again = declared.open(people(), ledger=ledger, account="team", key="one")
    with pytest.raises(cp.SessionEndedError):
        again.ask(COUNT, 5)
    with pytest.raises(cp.LedgerError, match="one"):
        sessions.GuessAndCheckSpec(0.25, corrections=2, tolerance=11).open(people(), ledger=ledger, account="team", key="one")
    with pytest.raises(cp.InvalidArgumentError, match="account, key, analyst or slot is given without a ledger"):
        declared.open(people(), key="one")
    with pytest.raises(cp.InvalidArgumentError, match="account or key is missing"):
        declared.open(people(), ledger=ledger, account="team")
    # Neighbours are the account's.
    for other in (people(adjacency="replace"), people(records=2)):
        with pytest.raises(cp.LedgerError, match="legal: that of the data set"):
            declared.open(other, ledger=ledger, account="team", key="two")
    two = {"ann": sessions.SparseVectorSpec(0.1, answers=1, threshold=9), "bob": sessions.SparseVectorSpec(0.1, answers=1, threshold=5)}
    with sessions.concurrent(two, people(), ledger=ledger, account="team", key="both") as open:
        assert open["bob"].answered == 0
    (team,) = ledger.status("team")["accounts"]
    assert float(team["spent"]["main"]) == pytest.approx(1.6, rel=1e-12)
    with pytest.raises(cp.errors.RefusedError):
        declared.open(people(), ledger=ledger, account="team", key="more")
    assert ledger.status("team")["accounts"][0]["spent"] == team["spent"]
    ledger.verify()


def test_the_odometer_reads_what_status_tells(ledger: cp.Ledger) -> None:
    ledger.open_filter("open", "census", epsilon=5, delta="1e-6", filter="renyi", leaks="1e-7")
    for key in range(30):
        ledger.reserve("open", cp.Gaussian(sigma=12), key=f"k{key}")
    read = ledger.odometer("open")
    assert read["epsilon"] == ledger.status("open")["accounts"][0]["spent_epsilon"]["epsilon"]
    # By the theorem: 64 levels share 9e-7; a level holds while order 30/(2 144) is at most epsilon + ln(share)/(order - 1).
    import math

    holds = [
        float(level["epsilon"]) for level in read["levels"]
        if float(level["order"]) * 30 / 288 <= float(level["epsilon"]) + math.log(9e-7 / 64) / (float(level["order"]) - 1)
    ]
    assert float(read["epsilon"]) == min(holds) and read["charges"] == 30 and len(read["levels"]) == 64
    assert float(read["epsilon"]) > float(cp.compose([cp.Gaussian(sigma=12) * 30]).epsilon(1e-6))
    assert read["setting"] == {"parameters": "adaptive", "concurrent": True}
    with pytest.raises(cp.LedgerError, match="no account"):
        ledger.odometer("nobody")


def test_rounds_are_charged_one_by_one() -> None:
    ages = noise.Data([31.0, 45.0, 27.0], adjacency="add-remove")
    declared = sessions.SparseVectorSpec(0.02, answers=100, threshold=10_000, redrawn=True)
    with declared.open(ages) as gate:
        assert not gate.ask(noise.Query.count()).above
    (rounds,) = gate.releases
    assert repr(rounds) == "AboveThreshold(epsilon_threshold=0.02, epsilon_queries=0.04, count=100)"
    kept = sessions.SparseVectorSpec(0.02, answers=100, threshold=10_000)
    assert kept != declared
    # Six by their sum; a hundred randomized responses of 0.06 at 1e-6 cost 2.709 (their binomial tail).
    cost = cp.compose(gate.releases, adjacency="add-remove").epsilon(1e-6)
    assert cost < 2.709 and cost > 2.0
