"""Mechanisms that are held open and asked again, as context managers.

What is *declared* says what will be asked and how much of it, before anything is. Opened on data it is charged, all of it,
however much is used:

>>> from counterpoint import noise, sessions
>>> ages = noise.Data([31, 45, 27, 62, 38], adjacency="add-remove")
>>> declared = sessions.SparseVector(epsilon=0.5, answers=1, threshold=1000)
>>> with declared.open(ages) as gate:
...     gate.ask(noise.Query.count()).above
False
>>> gate.releases
(SparseVector(epsilon_threshold=0.5, epsilon_queries=1.0),)
>>> gate.ask(noise.Query.count())
Traceback (most recent call last):
...
counterpoint.errors.SessionEnded: the session is closed: it answers nothing more

Without a ledger a session belongs to the process that opened it, and refuses to answer in a fork of it. With one
(``open(data, ledger=..., account=..., key=...)``) its state is in the ledger, and every answer is stored there before it is shown:
threads, forks and other processes go on from the same state, and so does whoever opens it again under its key after a crash.
A ``name`` given with a question stands for its answer: asked again under it, by whomever, the same answer comes back.

Several that are declared together (:func:`concurrent`) may be asked in any order, by any number of threads: what everything
costs together is the composition of what was declared (Lyu 2022, Theorem 1; Vadhan and Zhang 2023).
"""

from __future__ import annotations

import secrets
import sys
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import InvalidArgument, LedgerError, Refused, SessionEnded
from .noise import Data, Query, Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from random import SystemRandom
    from types import TracebackType

    from ._native import Answer, Mechanism
    from .ledger import Ledger
    from .plan import Plan

    _Open = _native.Sessions | _native.StoredSessions

__all__ = [
    "Checked",
    "Concurrent",
    "Found",
    "GuessAndCheck",
    "GuessSession",
    "GateSession",
    "Own",
    "OwnSession",
    "Sequence",
    "SequenceSession",
    "Session",
    "SparseVector",
    "concurrent",
]


class Found:
    """A sparse vector's reply: whether the query is about at the threshold or ``above``, and its ``value`` if that was
    declared. True if it is above."""

    __slots__ = ("above", "value")

    def __init__(self, above: bool, value: float | None) -> None:
        self.above = above
        self.value = value

    def __bool__(self) -> bool:
        return self.above

    def __repr__(self) -> str:
        return f"Found(above={self.above}, value={self.value!r})"


class Checked:
    """Guess-and-check's reply: whether the guess is about ``right``, and if not the ``value``. True if it is right."""

    __slots__ = ("right", "value")

    def __init__(self, right: bool, value: float | None) -> None:
        self.right = right
        self.value = value

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"Checked(right={self.right}, value={self.value!r})"


class Session:
    """An open mechanism. Leaving its ``with`` closes it for good, for everybody who has it open; asking on is
    :class:`counterpoint.SessionEnded`."""

    __slots__ = ("_alone", "_name", "_open", "releases")

    releases: tuple[Mechanism, ...]
    """What all of it is charged as, however much of it is used."""

    def __init__(self, open: _Open, name: str, releases: tuple[Mechanism, ...], alone: bool) -> None:
        self._open = open
        self._name = name
        self._alone = alone
        self.releases = releases

    def _ask(self, name: str | None) -> str:
        """The name under which an answer is stored: a new one unless it is given."""
        if name is not None and isinstance(self._open, _native.Sessions):
            raise InvalidArgument(f"name is {name!r}, and there is no ledger that answers are stored in; legal: none")
        return secrets.token_hex(16) if name is None else name

    @property
    def answered(self) -> int:
        """How many answers it has given."""
        return self._open.answered(self._name)

    @property
    def exhausted(self) -> bool:
        """Whether it answers nothing more."""
        return self._open.is_exhausted(self._name)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._open.is_closed()

    def close(self) -> None:
        """Ends it. One of several that were opened together ends with them."""
        if not self._alone:
            raise InvalidArgument(f"session {self._name!r} is one of several; legal: to close all of them")
        self._open.close()

    def __enter__(self) -> Any:
        # What was answered under a name can be read from a ledger though the session is over.
        if isinstance(self._open, _native.Sessions) and self.closed:
            raise SessionEnded("the session is closed: it answers nothing more")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._alone:
            self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'closed' if self.closed else 'open'}, releases={list(self.releases)!r})"


class GateSession(Session):
    """An open :class:`SparseVector`."""

    __slots__ = ()

    def __enter__(self) -> GateSession:
        super().__enter__()
        return self

    def ask(self, query: Query, *, name: str | None = None) -> Found:
        """Is this query about at the threshold or above?"""
        _, above, value, _ = self._open.above(self._name, self._ask(name), query._native)
        return Found(above, value)


class GuessSession(Session):
    """An open :class:`GuessAndCheck`."""

    __slots__ = ()

    def __enter__(self) -> GuessSession:
        super().__enter__()
        return self

    def ask(self, query: Query, guess: float, *, name: str | None = None) -> Checked:
        """Is this guess at a query's value about right?"""
        _, wrong, value, _ = self._open.check(self._name, self._ask(name), query._native, guess)
        return Checked(not wrong, value)


class SequenceSession(Session):
    """An open :class:`Sequence`."""

    __slots__ = ()

    def __enter__(self) -> SequenceSession:
        super().__enter__()
        return self

    def ask(self, recipe: Recipe, *, name: str | None = None) -> float | list[float]:
        """Runs a recipe whose price was declared and is not yet paid."""
        kind, _, value, table = self._open.measure(self._name, self._ask(name), recipe._native)
        return table if kind == "table" or value is None else value


class _Declared:
    __slots__ = ("_native",)
    _session: type[Session] = Session

    _native: _native.Declared | _native.OwnDeclared

    def releases(self, data: Data) -> tuple[Mechanism, ...]:
        """What all of it is charged as on data, however much of it is used. Nothing is opened."""
        assert isinstance(self._native, _native.Declared)
        return self._native.releases(data._native)

    def _opened(
        self, data: Any, ledger: Ledger | None, account: str | None, key: str | None,
        analyst: str | None, slot: str | None,
    ) -> Session:
        open = _open({"": self}, {"": data}, ledger, account, key, analyst, slot)
        return self._as_session(open, "", data, True)

    def _as_session(self, open: _Open, name: str, data: Any, alone: bool) -> Session:
        return self._session(open, name, self.releases(data), alone)

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, _Declared) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return repr(self._native)


def _open(
    declared: Mapping[str, _Declared], data: Mapping[str, Any],
    ledger: Ledger | None, account: str | None, key: str | None,
    analyst: str | None = None, slot: str | None = None,
) -> _Open:
    """Opens all that is declared: in this process alone, or in a ledger, which is debited before anything is drawn."""
    if ledger is None:
        if not (account is None and key is None and analyst is None and slot is None):
            raise InvalidArgument("account, key, analyst or slot is given without a ledger; legal: with a ledger")
        ours = []
        for name, one in declared.items():
            if not isinstance(one._native, _native.Declared):
                raise InvalidArgument("ledger is missing; legal: one, which keeps the state of a mechanism of one's own")
            ours.append((name, one._native, data[name]._native))
        return _native.Sessions(ours)
    if account is None or key is None:
        raise InvalidArgument("account or key is missing; legal: both, with a ledger")
    keys = {name: f"{key}/{name}" if name else key for name in declared}
    if len(declared) > 1:
        _afford(declared, data, ledger, account, next(iter(keys.values())))
    known = {name: one._native if isinstance(one, Data) else None for name, one in data.items()}
    each = [(name, keys[name], one._native, known[name]) for name, one in declared.items()]
    return _native.StoredSessions(each, ledger, account, analyst, slot)


def _afford(declared: Mapping[str, _Declared], data: Mapping[str, Any], ledger: Ledger, account: str, key: str) -> None:
    """Refuses several of which only some could be paid for, unless they were opened before."""
    try:
        ledger.session(account, key)
    except LedgerError:
        releases = [release for name, one in declared.items() for release in one.releases(data[name])]
        refusal = ledger.price(account, releases).refusal
        if refusal is not None:
            raise Refused(refusal) from None


def _scaled(reach: float | None, grid: float | None) -> tuple[float, float] | None:
    if reach is None and grid is None:
        return None
    return (1.0 if reach is None else reach, 1.0 if grid is None else grid)


class SparseVector(_Declared):
    """Which queries are above a threshold: many questions, few answers above.

    Charged 3 epsilon, and a fourth with ``values``. Ends with the last of ``answers`` above. For counts, or for queries
    that one record moves by at most ``reach``, answered on a ``grid``. With ``redrawn`` the threshold is drawn anew after each answer
    above: as many rounds as answers, each charged so (as :class:`counterpoint.AboveThreshold`), all with the noise of a single
    answer, and composed far below their sum.
    """

    __slots__ = ()
    _session = GateSession

    def __init__(
        self, epsilon: float, *, answers: int, threshold: float, values: bool = False,
        redrawn: bool = False, reach: float | None = None, grid: float | None = None,
    ) -> None:
        scale = _scaled(reach, grid)
        self._native = _native.Declared.sparse_vector(epsilon, answers, threshold, values, redrawn, scale)

    def open(
        self, data: Data, *, ledger: Ledger | None = None, account: str | None = None, key: str | None = None,
        analyst: str | None = None, slot: str | None = None,
    ) -> GateSession:
        """Opens it on data: from here on it is charged. With a ledger to an account there, or one opening of its ``slot``, and
        if it was opened under this key before, it goes on where it is."""
        opened = self._opened(data, ledger, account, key, analyst, slot)
        assert isinstance(opened, GateSession)
        return opened


class GuessAndCheck(_Declared):
    """Is this guess about right? Right guesses are passed, wrong ones corrected (Lyu 2022, Algorithm 1).

    Charged 4 epsilon. Ends with the last of so many ``corrections`` of guesses that are off by about the ``tolerance`` or
    more. For counts, or for queries that one record moves by at most ``reach``, answered on a ``grid``. ``redrawn`` is as for
    :class:`SparseVector`.
    """

    __slots__ = ()
    _session = GuessSession

    def __init__(
        self, epsilon: float, *, corrections: int, tolerance: float,
        redrawn: bool = False, reach: float | None = None, grid: float | None = None,
    ) -> None:
        scale = _scaled(reach, grid)
        self._native = _native.Declared.guess_and_check(epsilon, corrections, tolerance, redrawn, scale)

    def open(
        self, data: Data, *, ledger: Ledger | None = None, account: str | None = None, key: str | None = None,
        analyst: str | None = None, slot: str | None = None,
    ) -> GuessSession:
        """Opens it on data: from here on it is charged. With a ledger to an account there, or one opening of its ``slot``, and
        if it was opened under this key before, it goes on where it is."""
        opened = self._opened(data, ledger, account, key, analyst, slot)
        assert isinstance(opened, GuessSession)
        return opened


class Sequence(_Declared):
    """A declared list of recipes, for their prices: any may be run whose price is on the list and not yet paid."""

    __slots__ = ()
    _session = SequenceSession

    def __init__(self, recipes: Iterable[Recipe]) -> None:
        self._native = _native.Declared.sequence([recipe._native for recipe in recipes])

    def open(
        self, data: Data, *, ledger: Ledger | None = None, account: str | None = None, key: str | None = None,
        analyst: str | None = None, slot: str | None = None,
    ) -> SequenceSession:
        """Opens it on data: from here on it is charged. With a ledger to an account there, or one opening of its ``slot``, and
        if it was opened under this key before, it goes on where it is."""
        opened = self._opened(data, ledger, account, key, analyst, slot)
        assert isinstance(opened, SequenceSession)
        return opened


class OwnSession(Session):
    """An open :class:`Own`."""

    __slots__ = ("_data", "_own")

    def __init__(self, open: _Open, name: str, own: Own, data: Any, alone: bool) -> None:
        super().__init__(open, name, own.releases(data), alone)
        self._own = own
        self._data = data

    def __enter__(self) -> OwnSession:
        super().__enter__()
        return self

    def ask(self, question: Any, *, name: str | None = None) -> Any:
        """Asks it. The reply is what is stored, as it is read from JSON.

        What ``start`` or ``answer`` raises ends the session: whoever asks sees that it failed, and must not try until it does
        not. Only ``KeyboardInterrupt``, which comes from outside, leaves it as it is: a mechanism must not raise it itself.
        """
        import json

        assert isinstance(self._open, _native.StoredSessions)
        own, data = self._own, self._data
        told = self._open.own(self._name, self._ask(name), _text(question), lambda state, text: _step(own, data, state, text))
        return json.loads(told)


def _step(own: Own, data: Any, state: str | None, question: str) -> tuple[str, str | None]:
    """A reply and the state after it, as JSON."""
    import json

    random = secrets.SystemRandom()
    if state is None:
        state = _text(own._start(data, random))
    reply, after = own._answer(json.loads(state), json.loads(question), random)
    return _text(reply), None if after is None else _text(after)


class Own(_Declared):
    """An interactive mechanism of one's own, with a guarantee that somebody proved.

    Composition covers any interactive mechanism, whatever it does inside: it is charged what is declared, and that this is true
    is the word of whoever declares it; the ledger's history says so, by its ``name``. ``guarantee`` is a mechanism or a list of them whose
    cost all answers together never exceed, on data as the ledger's account has them.

    ``start(data, random)`` returns the first state, ``answer(state, question, random)`` a reply and the state after it, or
    ``None`` after the last. States, questions and replies are what JSON can say; each reply is stored in the ledger with the state
    after it before it is shown, so that forks, threads, other processes and whoever comes after a crash go on from the same state.
    ``random`` is a :class:`random.SystemRandom`; exact noise is in :mod:`counterpoint.noise`. Both functions may be called more
    often than there are answers, where many ask at once, and only what is stored counts: they must not tell anybody anything. The time
    that they take is not part of the guarantee.

    A count of those who are at least so old, for three questions at most, with the noise of a third of the guarantee each:

    >>> import counterpoint as cp
    >>> from counterpoint import noise, sessions
    >>> ages = [31, 45, 27, 62, 38]
    >>> each = noise.geometric(scale=30)
    >>> def start(data, random):
    ...     return 3
    >>> def answer(left, question, random):
    ...     count = each.release(sum(age >= question["from"] for age in ages))
    ...     return count, left - 1 if left > 1 else None
    >>> counter = sessions.Own("older-than", cp.ApproxDP(0.1), start=start, answer=answer)
    """

    __slots__ = ("_answer", "_guarantee", "_start", "name")
    _session = OwnSession

    name: str
    """What history calls it."""

    def __init__(
        self,
        name: str,
        guarantee: Mechanism | Iterable[Mechanism],
        *,
        start: Callable[[Any, SystemRandom], Any],
        answer: Callable[[Any, Any, SystemRandom], tuple[Any, Any]],
    ) -> None:
        from .ledger import _releases

        several = [guarantee] if isinstance(guarantee, _native.Mechanism) else list(guarantee)
        self._native = _native.OwnDeclared(name, _releases(several, 1))
        self._guarantee = tuple(several)
        self._start = start
        self._answer = answer
        self.name = name

    def releases(self, data: Any) -> tuple[Mechanism, ...]:
        """What all of it is charged as."""
        return self._guarantee

    def open(
        self, data: Any, *, ledger: Ledger, account: str, key: str, analyst: str | None = None, slot: str | None = None
    ) -> OwnSession:
        """Opens it on data, of whatever type ``start`` takes: from here on it is charged to the account, or to one opening of its
        ``slot``. If it was opened under this key before, it goes on where it is."""
        opened = self._opened(data, ledger, account, key, analyst, slot)
        assert isinstance(opened, OwnSession)
        return opened

    def serve(self, data: Any) -> None:
        """One step as a program: reads a state and a question from standard input, writes a reply and the state after it.

        So a curator runs a mechanism that its owner registered (``[[mechanism]]`` in its configuration); there the guarantee
        is what is registered.
        """
        import json

        told = json.load(sys.stdin)
        state, question = (None if one is None else _text(one) for one in (told["state"], told["question"]))
        assert question is not None
        reply, after = _step(self, data, state, question)
        print(f'{{"reply": {reply}, "state": {"null" if after is None else after}}}', flush=True)

    def _as_session(self, open: _Open, name: str, data: Any, alone: bool) -> Session:
        return OwnSession(open, name, self, data, alone)

    def __repr__(self) -> str:
        return f"Own({self.name!r}, {list(self._guarantee)!r})"


def _text(value: Any) -> str:
    """A value as JSON; the same text for the same value."""
    import json

    return json.dumps(value, allow_nan=False, sort_keys=True, separators=(",", ":"))


class Concurrent:
    """Open sessions that were declared together, by their names; see :func:`concurrent`."""

    __slots__ = ("_adjacency", "_open", "_sessions", "releases")

    releases: tuple[Mechanism, ...]
    """All that was declared."""

    def __init__(self, open: _Open, sessions: dict[str, Session], adjacency: Any) -> None:
        self._open = open
        self._sessions = sessions
        self._adjacency = adjacency
        self.releases = tuple(release for session in sessions.values() for release in session.releases)

    def __getitem__(self, name: str) -> Any:
        if name not in self._sessions:
            raise InvalidArgument(f"session {name!r} is not among those declared; legal: {', '.join(self._sessions)}")
        return self._sessions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def plan(self) -> Plan:
        """The plan made of it."""
        from .plan import compose

        return compose(self.releases, adjacency=self._adjacency)

    def epsilon(self, delta: float) -> Answer:
        """The certified total at a delta, whatever was asked and answered."""
        return self.plan.epsilon(delta)

    @property
    def closed(self) -> bool:
        """Whether they were closed."""
        return self._open.is_closed()

    def close(self) -> None:
        """Ends all of them."""
        self._open.close()

    def __enter__(self) -> Concurrent:
        if isinstance(self._open, _native.Sessions) and self.closed:
            raise SessionEnded("the session is closed: it answers nothing more")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Concurrent({', '.join(self._sessions)}; {'closed' if self.closed else 'open'})"


def concurrent(
    declared: Mapping[str, SparseVector | GuessAndCheck | Sequence | Own],
    data: Data | Mapping[str, Any],
    *,
    ledger: Ledger | None = None,
    account: str | None = None,
    key: str | None = None,
) -> Concurrent:
    """Opens all that is declared, by name, on the same data, or each on a column of its own **of the same people, row by
    row**. They may be asked in any order, and are charged together.

    >>> from counterpoint import noise, sessions
    >>> ages = noise.Data([31, 45, 27, 62, 38], adjacency="add-remove")
    >>> by_decade = noise.Query.histogram(range(0, 101, 10)).laplace(0.5)
    >>> two = {
    ...     "ann": sessions.GuessAndCheck(0.25, corrections=3, tolerance=10),
    ...     "bob": sessions.Sequence([by_decade]),
    ... }
    >>> with sessions.concurrent(two, ages) as open:
    ...     bins = open["bob"].ask(by_decade)
    ...     right = open["ann"].ask(noise.Query.count(), guess=5).right
    >>> len(bins), float(open.epsilon(1e-6)) <= 4 * 0.25 + 0.5 + 1e-9
    (10, True)
    """
    if not declared:
        raise InvalidArgument("nothing is declared; legal: at least one session")
    columns = {name: data if isinstance(data, Data) else data[name] for name in declared}
    opened = _open(declared, columns, ledger, account, key)
    sessions = {name: one._as_session(opened, name, columns[name], False) for name, one in declared.items()}
    adjacencies = [column.adjacency for column in columns.values() if isinstance(column, Data)]
    return Concurrent(opened, sessions, next(iter(adjacencies), None))
