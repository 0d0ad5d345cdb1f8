"""Mechanisms that answer several questions one by one, as context managers.

A *specification* says which questions may be asked and how many. Opening it on data charges all of it, however much is
used:

>>> from counterpoint import noise, sessions
>>> ages = noise.Data([31, 45, 27, 62, 38], adjacency="add-remove")
>>> spec = sessions.SparseVectorSpec(epsilon=0.5, answers=1, threshold=1000)
>>> with spec.open(ages) as session:
...     session.ask(noise.Query.count()).above
False
>>> session.releases
(SparseVector(epsilon_threshold=0.5, epsilon_queries=1.0),)
>>> session.ask(noise.Query.count())
Traceback (most recent call last):
...
counterpoint.errors.SessionEndedError: the session is closed: it answers nothing more

Without a ledger a session belongs to the process that opened it, and refuses to answer in a fork of it. With one
(``open(data, ledger=..., account=..., key=...)``) its state is in the ledger, and every answer is stored there before
it is shown: threads, forks and other processes continue from the same state, and so does a program that opens the
session again under its key after a crash. A ``name`` given with a question stands for its answer: asked again under it,
by anybody, the same answer comes back.

Several sessions that are opened together (:func:`concurrent`) may be asked in any order, by any number of threads: the
total cost is the composition of their specifications (Lyu 2022, Theorem 1; Vadhan and Zhang 2023).
"""

from __future__ import annotations

import secrets
import sys
from typing import TYPE_CHECKING, Any

from . import _native
from ._deprecated import renamed
from .errors import InvalidArgumentError, LedgerError, RefusedError, SessionEndedError
from .noise import Data, NoisyQuery, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from random import SystemRandom
    from types import TracebackType

    from ._native import Answer, Mechanism
    from .ledger import Ledger
    from .plan import Plan

    _Open = _native.Sessions | _native.StoredSessions

__all__ = [
    "ConcurrentSessions",
    "CustomMechanism",
    "CustomSession",
    "GuessAndCheckSession",
    "GuessAndCheckSpec",
    "GuessReply",
    "SequenceSession",
    "SequenceSpec",
    "Session",
    "SparseVectorSession",
    "SparseVectorSpec",
    "ThresholdReply",
    "concurrent",
]


class ThresholdReply:
    """A sparse vector's reply: true if the query is about at the threshold or above. Made by :meth:`SparseVectorSession.ask`.

    Attributes
    ----------
    above
        True if the query is about at the threshold or above.
    value
        The noisy value, if the specification has ``values`` and the query is above; else None.
    """

    __slots__ = ("above", "value")

    def __init__(self, above: bool, value: float | None) -> None:
        self.above = above
        self.value = value

    def __bool__(self) -> bool:
        return self.above

    def __repr__(self) -> str:
        return f"ThresholdReply(above={self.above}, value={self.value!r})"


class GuessReply:
    """Guess-and-check's reply: true if the guess is about right. Made by :meth:`GuessAndCheckSession.ask`.

    Attributes
    ----------
    right
        True if the guess is about right.
    value
        The noisy value, if the guess is wrong; else None.
    """

    __slots__ = ("right", "value")

    def __init__(self, right: bool, value: float | None) -> None:
        self.right = right
        self.value = value

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return f"GuessReply(right={self.right}, value={self.value!r})"


class Session:
    """An open mechanism. Made by the ``open`` of a specification.

    Leaving its ``with`` closes it for good, for everybody who has it open. Asking a closed session raises
    :class:`counterpoint.SessionEndedError`.
    """

    __slots__ = ("_alone", "_name", "_open", "releases")

    releases: tuple[Mechanism, ...]
    """The releases that the session is charged as, however much of it is used."""

    def __init__(self, open: _Open, name: str, releases: tuple[Mechanism, ...], alone: bool) -> None:
        self._open = open
        self._name = name
        self._alone = alone
        self.releases = releases

    def _ask(self, name: str | None) -> str:
        """The name under which an answer is stored: a new one unless it is given."""
        if name is not None and isinstance(self._open, _native.Sessions):
            raise InvalidArgumentError(f"name is {name!r}, and there is no ledger that answers are stored in; legal: none")
        return secrets.token_hex(16) if name is None else name

    @property
    def answered(self) -> int:
        """The number of answers given so far."""
        return self._open.answered(self._name)

    @property
    def exhausted(self) -> bool:
        """True if the session gives no more answers."""
        return self._open.is_exhausted(self._name)

    @property
    def closed(self) -> bool:
        """True if the session was closed."""
        return self._open.is_closed()

    def close(self) -> None:
        """Ends the session.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The session is one of several that were opened together, which end together.
        """
        if not self._alone:
            raise InvalidArgumentError(f"session {self._name!r} is one of several; legal: to close all of them")
        self._open.close()

    def __enter__(self) -> Any:
        # Answers that have a name can be read from a ledger after the session is over.
        if isinstance(self._open, _native.Sessions) and self.closed:
            raise SessionEndedError("the session is closed: it answers nothing more")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._alone:
            self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'closed' if self.closed else 'open'}, releases={list(self.releases)!r})"


class SparseVectorSession(Session):
    """An open :class:`SparseVectorSpec`. Made by :meth:`SparseVectorSpec.open`."""

    __slots__ = ()

    def __enter__(self) -> SparseVectorSession:
        super().__enter__()
        return self

    def ask(self, query: Query, *, name: str | None = None) -> ThresholdReply:
        """Asks if a query is about at the threshold or above.

        Parameters
        ----------
        query
            The query.
        name
            A name for the question, with a ledger: asked again under it, by anybody, the same answer comes back.

        Returns
        -------
        ThresholdReply
            The reply, true if the query is above.

        Raises
        ------
        counterpoint.SessionEndedError
            The session gives no more answers.
        """
        _, above, value, _ = self._open.above(self._name, self._ask(name), query._native)
        return ThresholdReply(above, value)


class GuessAndCheckSession(Session):
    """An open :class:`GuessAndCheckSpec`. Made by :meth:`GuessAndCheckSpec.open`."""

    __slots__ = ()

    def __enter__(self) -> GuessAndCheckSession:
        super().__enter__()
        return self

    def ask(self, query: Query, guess: float, *, name: str | None = None) -> GuessReply:
        """Asks if a guess of a query's value is about right.

        Parameters
        ----------
        query
            The query.
        guess
            The guessed value.
        name
            A name for the question, with a ledger: asked again under it, by anybody, the same answer comes back.

        Returns
        -------
        GuessReply
            The reply, true if the guess is right.

        Raises
        ------
        counterpoint.SessionEndedError
            The session gives no more answers.
        """
        _, wrong, value, _ = self._open.check(self._name, self._ask(name), query._native, guess)
        return GuessReply(not wrong, value)


class SequenceSession(Session):
    """An open :class:`SequenceSpec`. Made by :meth:`SequenceSpec.open`."""

    __slots__ = ()

    def __enter__(self) -> SequenceSession:
        super().__enter__()
        return self

    def ask(self, query: NoisyQuery, *, name: str | None = None) -> float | list[float]:
        """Runs a noisy query whose price was declared and is not yet paid.

        Parameters
        ----------
        query
            The query with its noise.
        name
            A name for the question, with a ledger: asked again under it, by anybody, the same answer comes back.

        Returns
        -------
        float or list of float
            The noisy numbers.

        Raises
        ------
        counterpoint.SessionEndedError
            The session gives no more answers.
        """
        kind, _, value, table = self._open.measure(self._name, self._ask(name), query._native)
        return table if kind == "table" or value is None else value


class _Spec:
    __slots__ = ("_native",)
    _session: type[Session] = Session

    _native: _native.SessionSpec | _native.OwnSpec

    def releases(self, data: Data) -> tuple[Mechanism, ...]:
        """The charge for all of it on data, however much is used. Nothing is opened.

        Parameters
        ----------
        data
            The data.

        Returns
        -------
        tuple of Mechanism
            The releases to charge.
        """
        assert isinstance(self._native, _native.SessionSpec)
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
        return self._native == other._native if isinstance(other, _Spec) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return repr(self._native)


def _open(
    declared: Mapping[str, _Spec], data: Mapping[str, Any],
    ledger: Ledger | None, account: str | None, key: str | None,
    analyst: str | None = None, slot: str | None = None,
) -> _Open:
    """Opens all specifications: in this process alone, or in a ledger, which is debited before anything is drawn."""
    if ledger is None:
        if not (account is None and key is None and analyst is None and slot is None):
            raise InvalidArgumentError("account, key, analyst or slot is given without a ledger; legal: with a ledger")
        ours = []
        for name, one in declared.items():
            if not isinstance(one._native, _native.SessionSpec):
                raise InvalidArgumentError("ledger is missing; legal: one, which keeps the state of a mechanism of one's own")
            ours.append((name, one._native, data[name]._native))
        return _native.Sessions(ours)
    if account is None or key is None:
        raise InvalidArgumentError("account or key is missing; legal: both, with a ledger")
    keys = {name: f"{key}/{name}" if name else key for name in declared}
    if len(declared) > 1:
        _afford(declared, data, ledger, account, next(iter(keys.values())))
    known = {name: one._native if isinstance(one, Data) else None for name, one in data.items()}
    each = [(name, keys[name], one._native, known[name]) for name, one in declared.items()]
    return _native.StoredSessions(each, ledger, account, analyst, slot)


def _afford(declared: Mapping[str, _Spec], data: Mapping[str, Any], ledger: Ledger, account: str, key: str) -> None:
    """Refuses several sessions of which only some could be paid for, unless they were opened before."""
    try:
        ledger.session(account, key)
    except LedgerError:
        releases = [release for name, one in declared.items() for release in one.releases(data[name])]
        refusal = ledger.price(account, releases).refusal
        if refusal is not None:
            raise RefusedError(refusal) from None


def _scaled(reach: float | None, grid: float | None) -> tuple[float, float] | None:
    if reach is None and grid is None:
        return None
    return (1.0 if reach is None else reach, 1.0 if grid is None else grid)


class SparseVectorSpec(_Spec):
    """A sparse vector to run: which of many queries are above a threshold, for a limited number of answers above.

    It costs 3 epsilon, and a fourth with ``values``. The mechanism that it is charged as is
    :class:`counterpoint.SparseVector`.

    Parameters
    ----------
    epsilon
        A third of the cost, or a quarter with ``values``.
    answers
        The number of answers above after which the session ends.
    threshold
        The threshold.
    values
        Also releases the noisy value of each query above.
    redrawn
        Draws the threshold anew after each answer above: as many rounds as answers, each charged on its own (as
        :class:`counterpoint.AboveThreshold`) with the noise of a single answer; together they cost far less than their
        sum.
    reach
        The most that one record moves a query; 1 if None, as for counts.
    grid
        The step of the grid on which queries are answered; 1 if None.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.
    """

    __slots__ = ()
    _session = SparseVectorSession

    def __init__(
        self, epsilon: float, *, answers: int, threshold: float, values: bool = False,
        redrawn: bool = False, reach: float | None = None, grid: float | None = None,
    ) -> None:
        scale = _scaled(reach, grid)
        self._native = _native.SessionSpec.sparse_vector(epsilon, answers, threshold, values, redrawn, scale)

    def open(
        self, data: Data, *, ledger: Ledger | None = None, account: str | None = None, key: str | None = None,
        analyst: str | None = None, slot: str | None = None,
    ) -> SparseVectorSession:
        """Opens a session on data. All of it is charged now.

        Parameters
        ----------
        data
            The data.
        ledger
            A ledger that keeps the state; without one the session belongs to this process.
        account
            The ledger's account that pays.
        key
            A name for the session. If a session was opened under it before, that session continues and costs nothing.
        analyst
            The analyst whose quota pays as well.
        slot
            A slot of the account, one opening of which pays.

        Returns
        -------
        SparseVectorSession
            The open session, a context manager.

        Raises
        ------
        counterpoint.errors.RefusedError
            A budget does not allow it. Nothing was debited.
        counterpoint.InvalidArgumentError
            An argument is outside its range, or needs a ledger.
        """
        opened = self._opened(data, ledger, account, key, analyst, slot)
        assert isinstance(opened, SparseVectorSession)
        return opened


class GuessAndCheckSpec(_Spec):
    """Guess-and-check to run: right guesses of queries pass, wrong ones are corrected (Lyu 2022, Algorithm 1).

    It costs 4 epsilon.

    Parameters
    ----------
    epsilon
        A quarter of the cost.
    corrections
        The number of corrections after which the session ends.
    tolerance
        Guesses that are off by about this much or more are wrong.
    redrawn
        Draws the thresholds anew after each correction, as for :class:`SparseVectorSpec`.
    reach
        The most that one record moves a query; 1 if None, as for counts.
    grid
        The step of the grid on which queries are answered; 1 if None.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.
    """

    __slots__ = ()
    _session = GuessAndCheckSession

    def __init__(
        self, epsilon: float, *, corrections: int, tolerance: float,
        redrawn: bool = False, reach: float | None = None, grid: float | None = None,
    ) -> None:
        scale = _scaled(reach, grid)
        self._native = _native.SessionSpec.guess_and_check(epsilon, corrections, tolerance, redrawn, scale)

    def open(
        self, data: Data, *, ledger: Ledger | None = None, account: str | None = None, key: str | None = None,
        analyst: str | None = None, slot: str | None = None,
    ) -> GuessAndCheckSession:
        """Opens a session on data. All of it is charged now.

        Parameters
        ----------
        data
            The data.
        ledger
            A ledger that keeps the state; without one the session belongs to this process.
        account
            The ledger's account that pays.
        key
            A name for the session. If a session was opened under it before, that session continues and costs nothing.
        analyst
            The analyst whose quota pays as well.
        slot
            A slot of the account, one opening of which pays.

        Returns
        -------
        GuessAndCheckSession
            The open session, a context manager.

        Raises
        ------
        counterpoint.errors.RefusedError
            A budget does not allow it. Nothing was debited.
        counterpoint.InvalidArgumentError
            An argument is outside its range, or needs a ledger.
        """
        opened = self._opened(data, ledger, account, key, analyst, slot)
        assert isinstance(opened, GuessAndCheckSession)
        return opened


class SequenceSpec(_Spec):
    """A list of prices: any noisy query may run whose price is on the list and not yet paid.

    Parameters
    ----------
    queries
        The queries whose prices are on the list.

    Raises
    ------
    counterpoint.InvalidArgumentError
        The list is empty.
    """

    __slots__ = ()
    _session = SequenceSession

    def __init__(self, queries: Iterable[NoisyQuery]) -> None:
        self._native = _native.SessionSpec.sequence([query._native for query in queries])

    def open(
        self, data: Data, *, ledger: Ledger | None = None, account: str | None = None, key: str | None = None,
        analyst: str | None = None, slot: str | None = None,
    ) -> SequenceSession:
        """Opens a session on data. All of it is charged now.

        Parameters
        ----------
        data
            The data.
        ledger
            A ledger that keeps the state; without one the session belongs to this process.
        account
            The ledger's account that pays.
        key
            A name for the session. If a session was opened under it before, that session continues and costs nothing.
        analyst
            The analyst whose quota pays as well.
        slot
            A slot of the account, one opening of which pays.

        Returns
        -------
        SequenceSession
            The open session, a context manager.

        Raises
        ------
        counterpoint.errors.RefusedError
            A budget does not allow it. Nothing was debited.
        counterpoint.InvalidArgumentError
            An argument is outside its range, or needs a ledger.
        """
        opened = self._opened(data, ledger, account, key, analyst, slot)
        assert isinstance(opened, SequenceSession)
        return opened


class CustomSession(Session):
    """An open :class:`CustomMechanism`. Made by :meth:`CustomMechanism.open`."""

    __slots__ = ("_data", "_own")

    def __init__(self, open: _Open, name: str, own: CustomMechanism, data: Any, alone: bool) -> None:
        super().__init__(open, name, own.releases(data), alone)
        self._own = own
        self._data = data

    def __enter__(self) -> CustomSession:
        super().__enter__()
        return self

    def ask(self, question: Any, *, name: str | None = None) -> Any:
        """Asks a question.

        An exception of ``start`` or ``answer`` ends the session: the caller sees the failure, and must not be able to
        retry until there is none. Only ``KeyboardInterrupt``, which comes from outside, leaves the session open: a
        mechanism must not raise it itself.

        Parameters
        ----------
        question
            Any value that JSON can represent.
        name
            A name for the question, with a ledger: asked again under it, by anybody, the same answer comes back.

        Returns
        -------
        object
            The stored reply, as read from JSON.

        Raises
        ------
        counterpoint.SessionEndedError
            The session gives no more answers.
        """
        import json

        assert isinstance(self._open, _native.StoredSessions)
        own, data = self._own, self._data
        told = self._open.own(self._name, self._ask(name), _text(question), lambda state, text: _step(own, data, state, text))
        return json.loads(told)


def _step(own: CustomMechanism, data: Any, state: str | None, question: str) -> tuple[str, str | None]:
    """Runs one step: returns the reply and the state after it, as JSON."""
    import json

    random = secrets.SystemRandom()
    if state is None:
        state = _text(own._start(data, random))
    reply, after = own._answer(json.loads(state), json.loads(question), random)
    return _text(reply), None if after is None else _text(after)


class CustomMechanism(_Spec):
    """An interactive mechanism of your own, with a guarantee that somebody proved.

    Composition covers any interactive mechanism, whatever it does inside. The mechanism is charged its declared
    guarantee, and its author vouches that the guarantee is true; the ledger's history says so, by ``name``. States,
    questions and replies are values that JSON can represent; each reply is stored in the ledger with the state after it
    before it is shown, so that forks, threads, other processes and programs after a crash continue from the same state.
    Both functions may be called more often than there are answers, when many ask at once, and only stored results
    count: the functions must not tell anybody anything. The time that they take is not part of the guarantee.

    Parameters
    ----------
    name
        The mechanism's name in the ledger's history.
    guarantee
        A mechanism or a list of them whose cost all answers together never exceed, on data as the ledger's account has
        them.
    start
        ``start(data, random)`` returns the first state.
    answer
        ``answer(state, question, random)`` returns a reply and the state after it, or None after the last. ``random``
        is a :class:`random.SystemRandom`; exact noise is in :mod:`counterpoint.noise`.

    Examples
    --------
    A count of people above an age, for three questions at most, with the noise of a third of the guarantee each:

    >>> import counterpoint as cp
    >>> from counterpoint import noise, sessions
    >>> ages = [31, 45, 27, 62, 38]
    >>> each = noise.geometric(scale=30)
    >>> def start(data, random):
    ...     return 3
    >>> def answer(left, question, random):
    ...     count = each.release(sum(age >= question["from"] for age in ages))
    ...     return count, left - 1 if left > 1 else None
    >>> counter = sessions.CustomMechanism("older-than", cp.ApproxDP(0.1), start=start, answer=answer)
    """

    __slots__ = ("_answer", "_guarantee", "_start", "name")
    _session = CustomSession

    name: str
    """The mechanism's name in the ledger's history."""

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
        self._native = _native.OwnSpec(name, _releases(several, 1))
        self._guarantee = tuple(several)
        self._start = start
        self._answer = answer
        self.name = name

    def releases(self, data: Any) -> tuple[Mechanism, ...]:
        """The charge for all of it.

        Parameters
        ----------
        data
            The data, which the charge does not depend on.

        Returns
        -------
        tuple of Mechanism
            The guarantee.
        """
        return self._guarantee

    def open(
        self, data: Any, *, ledger: Ledger, account: str, key: str, analyst: str | None = None, slot: str | None = None
    ) -> CustomSession:
        """Opens a session on data. All of it is charged now.

        Parameters
        ----------
        data
            The data, of the type that ``start`` takes.
        ledger
            The ledger that keeps the state.
        account
            The ledger's account that pays.
        key
            A name for the session. If a session was opened under it before, that session continues and costs nothing.
        analyst
            The analyst whose quota pays as well.
        slot
            A slot of the account, one opening of which pays.

        Returns
        -------
        CustomSession
            The open session, a context manager.

        Raises
        ------
        counterpoint.errors.RefusedError
            A budget does not allow it. Nothing was debited.
        counterpoint.InvalidArgumentError
            An argument is outside its range, or needs a ledger.
        """
        opened = self._opened(data, ledger, account, key, analyst, slot)
        assert isinstance(opened, CustomSession)
        return opened

    def serve(self, data: Any) -> None:
        """Runs one step as a program: reads a state and a question from standard input, writes a reply and the state after it.

        A curator runs a mechanism that its owner registered in this way (``[[mechanism]]`` in its configuration); its
        guarantee is the registered one.

        Parameters
        ----------
        data
            The data, of the type that ``start`` takes.
        """
        import json

        told = json.load(sys.stdin)
        state, question = (None if one is None else _text(one) for one in (told["state"], told["question"]))
        assert question is not None
        reply, after = _step(self, data, state, question)
        print(f'{{"reply": {reply}, "state": {"null" if after is None else after}}}', flush=True)

    def _as_session(self, open: _Open, name: str, data: Any, alone: bool) -> Session:
        return CustomSession(open, name, self, data, alone)

    def __repr__(self) -> str:
        return f"CustomMechanism({self.name!r}, {list(self._guarantee)!r})"


def _text(value: Any) -> str:
    """Writes a value as JSON; the same text for the same value."""
    import json

    return json.dumps(value, allow_nan=False, sort_keys=True, separators=(",", ":"))


class ConcurrentSessions:
    """Open sessions by name, which were opened together. Made by :func:`concurrent`."""

    __slots__ = ("_adjacency", "_open", "_sessions", "releases")

    releases: tuple[Mechanism, ...]
    """The releases that all sessions together are charged as."""

    def __init__(self, open: _Open, sessions: dict[str, Session], adjacency: Any) -> None:
        self._open = open
        self._sessions = sessions
        self._adjacency = adjacency
        self.releases = tuple(release for session in sessions.values() for release in session.releases)

    def __getitem__(self, name: str) -> Any:
        if name not in self._sessions:
            raise InvalidArgumentError(f"session {name!r} is not among those declared; legal: {', '.join(self._sessions)}")
        return self._sessions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sessions)

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def plan(self) -> Plan:
        """The plan of all that is charged."""
        from .plan import compose

        return compose(self.releases, adjacency=self._adjacency)

    def epsilon(self, delta: float) -> Answer:
        """The certified total cost, whatever is asked and answered.

        Parameters
        ----------
        delta
            The delta at which epsilon is computed.

        Returns
        -------
        Answer
            The epsilon.
        """
        return self.plan.epsilon(delta)

    @property
    def closed(self) -> bool:
        """True if the sessions were closed."""
        return self._open.is_closed()

    def close(self) -> None:
        """Ends all sessions."""
        self._open.close()

    def __enter__(self) -> ConcurrentSessions:
        if isinstance(self._open, _native.Sessions) and self.closed:
            raise SessionEndedError("the session is closed: it answers nothing more")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ConcurrentSessions({', '.join(self._sessions)}; {'closed' if self.closed else 'open'})"


def concurrent(
    declared: Mapping[str, SparseVectorSpec | GuessAndCheckSpec | SequenceSpec | CustomMechanism],
    data: Data | Mapping[str, Any],
    *,
    ledger: Ledger | None = None,
    account: str | None = None,
    key: str | None = None,
) -> ConcurrentSessions:
    """Opens several sessions together. They may be asked in any order, and are charged together.

    Parameters
    ----------
    declared
        The specifications by name.
    data
        The data for all of them, or by name a column for each **of the same people, row by row**.
    ledger
        A ledger that keeps the state; without one the sessions belong to this process.
    account
        The ledger's account that pays.
    key
        A name for the sessions. Those that were opened under it before continue.

    Returns
    -------
    ConcurrentSessions
        The open sessions by name, a context manager.

    Raises
    ------
    counterpoint.errors.RefusedError
        A budget does not allow all of them. Nothing was debited.
    counterpoint.InvalidArgumentError
        Nothing is declared, or an argument is not legal.

    Examples
    --------
    >>> from counterpoint import noise, sessions
    >>> ages = noise.Data([31, 45, 27, 62, 38], adjacency="add-remove")
    >>> by_decade = noise.Query.histogram(range(0, 101, 10)).laplace(0.5)
    >>> two = {
    ...     "ann": sessions.GuessAndCheckSpec(0.25, corrections=3, tolerance=10),
    ...     "bob": sessions.SequenceSpec([by_decade]),
    ... }
    >>> with sessions.concurrent(two, ages) as open:
    ...     bins = open["bob"].ask(by_decade)
    ...     right = open["ann"].ask(noise.Query.count(), guess=5).right
    >>> len(bins), float(open.epsilon(1e-6)) <= 4 * 0.25 + 0.5 + 1e-9
    (10, True)
    """
    if not declared:
        raise InvalidArgumentError("nothing is declared; legal: at least one session")
    columns = {name: data if isinstance(data, Data) else data[name] for name in declared}
    opened = _open(declared, columns, ledger, account, key)
    sessions = {name: one._as_session(opened, name, columns[name], False) for name, one in declared.items()}
    adjacencies = [column.adjacency for column in columns.values() if isinstance(column, Data)]
    return ConcurrentSessions(opened, sessions, next(iter(adjacencies), None))


if not TYPE_CHECKING:
    RENAMED = {
        "Checked": "GuessReply",
        "Concurrent": "ConcurrentSessions",
        "Found": "ThresholdReply",
        "GateSession": "SparseVectorSession",
        "GuessAndCheck": "GuessAndCheckSpec",
        "GuessSession": "GuessAndCheckSession",
        "Own": "CustomMechanism",
        "OwnSession": "CustomSession",
        "Sequence": "SequenceSpec",
        "SparseVector": "SparseVectorSpec",
    }
    __getattr__ = renamed(__name__, RENAMED)
