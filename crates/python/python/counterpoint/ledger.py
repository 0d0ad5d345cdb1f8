"""Budgets that survive crashes: the durable ledger, on SQLite or PostgreSQL."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal
    from fractions import Fraction

    from ._native import Bracket, Mechanism
    from .names import Adjacency, Filter, Outcome

    Amount = str | int | float | Decimal | Fraction | Bracket
    Releases = Mechanism | Sequence[Mechanism]

__all__ = ["Committed", "Ledger", "Price", "Reservation"]


def _text(argument: str, amount: Any) -> str:
    """An amount as the exact decimal it stands for: a float for the shortest that reads as it, an answer for its safe
    side."""
    from decimal import Decimal
    from numbers import Rational

    if isinstance(amount, bool) or amount is None:
        raise TypeError(f"{argument} is of type {type(amount).__name__}; legal: a number or its text")
    if isinstance(amount, (str, int)):
        return str(amount)
    if isinstance(amount, (float, _native.Bracket)):
        return repr(float(amount))
    if isinstance(amount, Decimal):
        return format(amount, "f") if amount.is_finite() else str(amount)
    if isinstance(amount, Rational):
        numerator, denominator = int(amount.numerator), int(amount.denominator)
        # A denominator 2^a 5^b divides 10^max(a, b).
        digits = denominator.bit_length()
        whole, rest = divmod(numerator * 10**digits, denominator)
        if rest == 0:
            return f"{whole}e-{digits}"
        raise InvalidArgument(f"{argument} is {amount}; legal: a number with finitely many decimals")
    raise TypeError(f"{argument} is of type {type(amount).__name__}; legal: a number or its text")


def _maybe(argument: str, amount: Any) -> str | None:
    return None if amount is None else _text(argument, amount)


class Reservation:
    """A durable debit. ``outcome`` is "reserved", or "pending" or "committed" if the key was known."""

    __slots__ = ("entry", "head", "key", "outcome", "response")

    def __init__(self, key: str, found: dict[str, Any]) -> None:
        self.key = key
        self.outcome: Outcome = found["outcome"]
        self.entry: int = found["entry"]
        self.head: str = found["head"]
        self.response: bytes | None = found["response"]

    def __repr__(self) -> str:
        return f"Reservation(key={self.key!r}, outcome={self.outcome!r}, entry={self.entry})"


class Price:
    """What a reservation would cost. ``refusal`` says why it would not be made now; None if it fits."""

    __slots__ = ("delta", "main", "refusal")

    def __init__(self, main: str, delta: str, refusal: str | None) -> None:
        from decimal import Decimal

        self.main = Decimal(main)
        self.delta = Decimal(delta)
        self.refusal = refusal

    @property
    def fits(self) -> bool:
        """Whether a reservation would be made now."""
        return self.refusal is None

    def __repr__(self) -> str:
        return f"Price(main={self.main}, delta={self.delta}, fits={self.fits})"


class Committed:
    """A durable response. Only ``response`` may be shown: an earlier one, if ``repeated``."""

    __slots__ = ("entry", "head", "key", "repeated", "response")

    def __init__(self, key: str, found: dict[str, Any]) -> None:
        self.key = key
        self.entry: int = found["entry"]
        self.head: str = found["head"]
        self.repeated: bool = found["repeated"]
        self.response: bytes = found["response"]

    def __repr__(self) -> str:
        return f"Committed(key={self.key!r}, entry={self.entry}, repeated={self.repeated})"


class Ledger(_native.Ledger):
    """What has been spent on data sets, and whether the next question may be answered.

    ``url`` is ``sqlite:PATH`` or ``postgres://...``; the same database serves the program
    ``counterpoint ledger``. Amounts are exact decimals: ``"0.1"``, ``Decimal("0.1")`` and ``0.1`` are one
    tenth. With ``expect_head``, a head that was kept elsewhere, nothing is written unless that entry is in
    the history; with ``read_only`` nothing is written at all.

    >>> import os, tempfile
    >>> url = "sqlite:" + os.path.join(tempfile.mkdtemp(), "budget.db")
    >>> ledger = Ledger(url, create=True)
    >>> head = ledger.dataset("census", adjacency="add-remove", epsilon=1, delta="1e-6")
    >>> head = ledger.open_filter("team", "census", epsilon="0.3", delta="1e-7", filter="sums")
    >>> from counterpoint import Laplace
    >>> ledger.reserve("team", Laplace(scale=10), key="t1").outcome
    'reserved'
    >>> ledger.commit("t1", b"42").response
    b'42'
    >>> ledger.reserve("team", Laplace(scale=5), key="t2").outcome
    'reserved'
    >>> ledger.reserve("team", Laplace(scale=100), key="t3")
    Traceback (most recent call last):
    ...
    counterpoint.errors.Refused: ...
    """

    __slots__ = ()

    def dataset(
        self,
        name: str,
        *,
        adjacency: Adjacency,
        epsilon: Amount,
        delta: Amount,
        records: int = 1,
        filter: Filter = "sums",
    ) -> str:
        """Adds a data set, in which a person has at most ``records`` records, and its budget; returns the head."""
        return self._dataset(
            name, adjacency, records, filter, _text("epsilon", epsilon), _text("delta", delta)
        )

    def open_plan(
        self,
        account: str,
        dataset: str,
        plan: _native.Plan | str | os.PathLike[str],
        *,
        delta: Amount | None = None,
        epsilon: Amount | None = None,
    ) -> str:
        """Opens an account with declared slots, from a plan or a plan file; returns the head."""
        data, path = plan_text(plan)
        return self._open_plan(
            account, dataset, data, path, _maybe("delta", delta), _maybe("epsilon", epsilon)
        )

    def open_filter(
        self,
        account: str,
        dataset: str | None = None,
        *,
        epsilon: Amount | None = None,
        delta: Amount | None = None,
        rho: Amount | None = None,
        mu: Amount | None = None,
        tau: Amount | None = None,
        within: str | None = None,
        slot: str | None = None,
        filter: Filter = "renyi",
        order: float | None = None,
        leaks: Amount | None = None,
        expect: _native.Plan | None = None,
    ) -> str:
        """Opens an account for mechanisms chosen as one goes; returns the head.

        A data set pays for it, or one opening of a ``slot`` of the plan account ``within``, which must
        dominate all that is promised here: ``epsilon`` and ``delta``, or a budget in what is added up,
        ``rho`` (and ``delta``) with filter "zcdp", ``mu`` with "gdp", ``order`` and ``tau`` with "renyi".
        ``expect`` is a plan of the use one expects, for which the Rényi order is chosen. ``leaks`` of delta is set
        aside for the releases' own deltas (half); with 0 all of delta goes to what is added up, and a release that
        has a delta is refused.
        """
        text = None if expect is None else expect.text("json").encode()
        amounts = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "tau": tau}
        promise = {name: _text(name, amount) for name, amount in amounts.items() if amount is not None}
        return self._open_filter(
            account, dataset, within, slot, filter, promise, order, _maybe("leaks", leaks), text
        )

    def recut(self, account: str, *, unused: Mapping[str, int], into: _native.Plan | str | os.PathLike[str]) -> str:
        """Exchanges unused openings of slots for the releases of a plan as new slots; returns the head.

        The openings, so many by a slot's name, must dominate the new slots all together.
        """
        data, path = plan_text(into)
        return self._recut(account, list(unused.items()), data, path)

    def quota(
        self,
        account: str,
        analyst: str,
        *,
        share: Amount | None = None,
        releases: int | None = None,
        epsilon: Amount | None = None,
        delta: Amount | None = None,
        change: bool = False,
    ) -> str:
        """Caps what one analyst may spend of an account; returns the head.

        What the analyst spent before counts. With ``change`` the quota that the analyst has is another one from now on;
        of one below what is spent nothing is left.
        """
        return self._quota(
            account, analyst, _maybe("share", share), releases,
            _maybe("epsilon", epsilon), _maybe("delta", delta), change,
        )

    def move(self, source: str, to: str, amount: Amount, *, key: str, delta: Amount = 0) -> str:
        """Moves unspent budget from an account to another of the same data set; returns the head.

        The amount is in the accounts' unit (epsilon, divergence or rho). The same key is moved once.
        """
        return self._move(source, to, key, _maybe("amount", amount) or "0", _maybe("delta", delta) or "0")

    def reserve(
        self,
        account: str,
        release: Releases | str,
        *,
        key: str,
        analyst: str | None = None,
        count: int = 1,
        run: Releases | None = None,
        session: bool = False,
    ) -> Reservation:
        """Debits a release, durably. Draw noise only after this has returned.

        ``release`` is a mechanism or a list of them, charged together, or the name of a slot of a plan
        account, ``count`` times; then ``run`` says what is run in it, which must be something that the
        slot dominates. A ``session`` is debited in full, for answers given one by one. If the key was
        reserved in the account before, nothing is charged. Raises :class:`counterpoint.Refused`.
        """
        slot, text, ran = _asked(release, count, run)
        found = self._reserve(account, key, slot, count, text, ran, analyst, session)
        return Reservation(key, found)

    def price(
        self,
        account: str,
        release: Releases | str,
        *,
        analyst: str | None = None,
        count: int = 1,
        run: Releases | None = None,
    ) -> Price:
        """What :meth:`reserve` would charge, and whether it would now. Nothing is written."""
        slot, text, ran = _asked(release, count, run)
        return Price(*self._price(account, slot, count, text, ran, analyst))

    def commit(self, key: str, response: bytes | str, *, account: str | None = None) -> Committed:
        """Stores the response, durably. Show only what this returns.

        The account is needed where two have the key.
        """
        data = response.encode() if isinstance(response, str) else bytes(response)
        return Committed(key, self._commit(key, data, account))

    def status(self, account: str | None = None) -> dict[str, Any]:
        """What is spent and what is left, of one account or all.

        Of one open account also ``spent_epsilon``, what is spent so far as an epsilon that holds at all times at once, and
        ``room``, the largest single releases that still fit.
        """
        return _loads(self._status(account))

    def odometer(self, account: str) -> dict[str, Any]:
        """What is spent so far as an epsilon that holds at all times at once, whatever is asked next, and its levels.

        Of an open account for its releases, of a data set for what its accounts promise. ``epsilon`` is None if
        nothing is known. Levels and ``delta`` are fixed by what the account was opened with.
        """
        return _loads(self._odometer(account))

    def history(self, account: str | None = None, *, analyst: str | None = None) -> dict[str, Any]:
        """The entries, oldest first, and the head: of one account or all, of one analyst or all."""
        return _loads(self._history(account, analyst))

    def responses(self, account: str | None = None, *, analyst: str | None = None) -> dict[str, Any]:
        """Stored responses and answers, of one account or all, of one analyst or all."""
        return _loads(self._responses(account, analyst))

    def pending(self, account: str | None = None) -> dict[str, Any]:
        """What is debited and has no response, or is a session that is not over."""
        return _loads(self._pending(account))

    def session(self, account: str, key: str) -> dict[str, Any]:
        """How far a session is."""
        return _loads(self._session(account, key))

    def backup(self, file: str | os.PathLike[str]) -> str:
        """Copies the ledger to a new SQLite file, verified and durable; returns the copy's head."""
        return self._backup(os.fspath(file))

    def verify(self, expect_head: str | None = None) -> str:
        """Recomputes every balance and hash; returns the head.

        Without ``expect_head`` it cannot exclude that newest entries were cut off.
        """
        from .errors import LedgerError

        head, problem = self._verify(expect_head)
        if problem is not None:
            raise LedgerError(f"verification failed: {problem}")
        return head


    def _repr_html_(self) -> str:
        from ._html import table

        status = self.status()
        rows = [_row(account, depth) for account, depth in _nested(status["accounts"])]
        return table(("account", "kind", "promises", "spent", "of", "releases"), rows, f"ledger at {status['head'][:20]}")


def _nested(accounts: list[dict[str, Any]], parent: str | None = None, depth: int = 0) -> list[tuple[dict[str, Any], int]]:
    """Each account after the one that pays for it, with how deep it is."""
    found = []
    for account in accounts:
        if account["parent"] == parent:
            found += [(account, depth), *_nested(accounts, account["name"], depth + 1)]
    return found


def _row(account: dict[str, Any], depth: int) -> list[str]:
    """An account for a notebook: what it promises, and what is spent of what it counts."""
    promise = ", ".join(f"{name} {amount}" for name, amount in account["promise"].items())
    name = "\u2003" * depth + account["name"] + (" (closed)" if account["closed"] else "")
    spent, capacity = account["spent"]["main"], account["capacity"]["main"]
    return [name, account["kind"], promise, spent, f"{capacity} {account['unit']}", str(account["charges"])]


def plan_text(plan: _native.Plan | str | os.PathLike[str]) -> tuple[bytes, str | None]:
    """The text of a plan or of a plan file, and the file's path."""
    if isinstance(plan, _native.Plan):
        return plan.text("json").encode(), None
    with open(plan, "rb") as file:
        return file.read(), os.fspath(plan)


def _asked(release: Releases | str, count: int, run: Releases | None) -> tuple[str | None, bytes | None, bytes | None]:
    """A slot, or the text of releases, and the text of what is run."""
    slot, text = (release, None) if isinstance(release, str) else (None, _releases(release, count))
    return slot, text, None if run is None else _releases(run, 1)


def _releases(release: Any, count: int) -> bytes:
    """The text of a mechanism so many times, or of several."""
    several = [release * count] if isinstance(release, _native.Mechanism) else release
    if not isinstance(several, (list, tuple)) or not all(isinstance(one, _native.Mechanism) for one in several):
        kind = type(release).__name__
        raise TypeError(f"release is of type {kind}; legal: mechanisms, or the name of a slot")
    if count != 1 and several is release:
        raise InvalidArgument(f"count is {count} with several releases; legal: 1, each with its own")
    from .plan import Plan

    return Plan(list(several)).text("json").encode()


def _loads(text: str) -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(text)
    return found
