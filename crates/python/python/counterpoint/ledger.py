"""Budgets that survive crashes: the durable ledger, on SQLite or PostgreSQL."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import InvalidArgumentError

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
    """Writes an amount as the exact decimal it stands for: the shortest that reads as a float, the safe side of an answer.
    """
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
        raise InvalidArgumentError(f"{argument} is {amount}; legal: a number with finitely many decimals")
    raise TypeError(f"{argument} is of type {type(amount).__name__}; legal: a number or its text")


def _maybe(argument: str, amount: Any) -> str | None:
    return None if amount is None else _text(argument, amount)


class Reservation:
    """A durable debit. Made by :meth:`Ledger.reserve`.

    Attributes
    ----------
    key
        The key of the debit.
    outcome
        "reserved" for a new debit; "pending" or "committed" if the key was known.
    entry
        The number of the ledger's entry.
    head
        The ledger's head.
    response
        The stored response, if one was committed.
    """

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
    """The cost of a reservation. Made by :meth:`Ledger.price`.

    Attributes
    ----------
    main
        The cost in the account's unit.
    delta
        The cost in delta.
    refusal
        The reason why the reservation would be refused now; None if it fits.
    """

    __slots__ = ("delta", "main", "refusal")

    def __init__(self, main: str, delta: str, refusal: str | None) -> None:
        from decimal import Decimal

        self.main = Decimal(main)
        self.delta = Decimal(delta)
        self.refusal = refusal

    @property
    def fits(self) -> bool:
        """True if the reservation would be made now."""
        return self.refusal is None

    def __repr__(self) -> str:
        return f"Price(main={self.main}, delta={self.delta}, fits={self.fits})"


class Committed:
    """A durable response. Made by :meth:`Ledger.commit`.

    Attributes
    ----------
    key
        The key of the debit.
    entry
        The number of the ledger's entry.
    head
        The ledger's head.
    repeated
        True if a response had been stored before.
    response
        The stored response, an earlier one if ``repeated``. Show only this.
    """

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
    """The durable record of what was spent on data sets. It decides if the next release is allowed.

    Parameters
    ----------
    url
        ``sqlite:PATH`` or ``postgres://...``; the same database serves the program ``counterpoint ledger``.
    create
        Creates a new ledger.
    expect_head
        A head that was kept elsewhere: nothing is written unless its entry is in the history.
    read_only
        Never writes.

    Raises
    ------
    counterpoint.LedgerError
        The ledger cannot be opened, or lacks the expected entry.

    Notes
    -----
    Amounts are exact decimals: ``"0.1"``, ``Decimal("0.1")`` and ``0.1`` are one tenth.

    Examples
    --------
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
    counterpoint.errors.RefusedError: ...
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
        """Adds a data set with its budget.

        Parameters
        ----------
        name
            The data set's name.
        adjacency
            The neighbouring relation: "add-remove" or "replace".
        epsilon, delta
            The budget.
        records
            The largest number of a person's records; exactly this number with "replace".
        filter
            The quantity that is added up: "sums", "renyi", "zcdp" or "gdp".

        Returns
        -------
        str
            The ledger's new head.

        Raises
        ------
        counterpoint.LedgerError
            The name is taken.
        """
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
        """Opens an account with declared slots.

        Parameters
        ----------
        account
            The account's name.
        dataset
            The data set that pays.
        plan
            The plan whose releases are the slots, or the path of a plan file.
        delta
            The delta at which the plan is charged.
        epsilon
            The epsilon at which the plan is charged, in place of ``delta``.

        Returns
        -------
        str
            The ledger's new head.

        Raises
        ------
        counterpoint.errors.RefusedError
            The data set's budget does not allow it.
        """
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
        """Opens an account for mechanisms that are chosen adaptively.

        A data set pays for it, or one opening of a slot, which must dominate everything that the account promises:
        ``epsilon`` and ``delta``; or ``rho`` (and ``delta``) with filter "zcdp", ``mu`` with "gdp", ``order`` and
        ``tau`` with "renyi".

        Parameters
        ----------
        account
            The account's name.
        dataset
            The data set that pays.
        epsilon, delta
            The promise, as a guarantee.
        rho
            The promise in zCDP.
        mu
            The promise in Gaussian privacy.
        tau
            The promise in Rényi divergence, at ``order``.
        within
            The plan account that pays with one opening of ``slot``, in place of ``dataset``.
        slot
            The name of that slot.
        filter
            The quantity that is added up: "sums", "renyi", "zcdp" or "gdp".
        order
            The Rényi order; chosen if None.
        leaks
            The part of delta that is set aside for the releases' own deltas; half of it if None. With 0, all of delta
            goes to the quantity that is added up, and a release with a delta is refused.
        expect
            A plan of the expected use, for which the Rényi order is chosen.

        Returns
        -------
        str
            The ledger's new head.

        Raises
        ------
        counterpoint.errors.RefusedError
            The budget that pays does not allow it.
        counterpoint.InvalidArgumentError
            The promise is incomplete.
        """
        text = None if expect is None else expect.text("json").encode()
        amounts = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "tau": tau}
        promise = {name: _text(name, amount) for name, amount in amounts.items() if amount is not None}
        return self._open_filter(
            account, dataset, within, slot, filter, promise, order, _maybe("leaks", leaks), text
        )

    def recut(self, account: str, *, unused: Mapping[str, int], into: _native.Plan | str | os.PathLike[str]) -> str:
        """Exchanges unused openings of slots for new slots.

        Parameters
        ----------
        account
            The plan account.
        unused
            The number of openings to give up, by slot. All of them together must dominate the new slots.
        into
            A plan whose releases are the new slots, or the path of a plan file.

        Returns
        -------
        str
            The ledger's new head.

        Raises
        ------
        counterpoint.errors.RefusedError
            The openings do not dominate the new slots.
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
        """Limits what one analyst may spend of an account. Earlier spending counts.

        Parameters
        ----------
        account
            The account.
        analyst
            The analyst's name.
        share
            The limit as a share of the account, from 0 to 1.
        releases
            The limit as a number of releases, for a plan account.
        epsilon, delta
            The limit as a cost.
        change
            Replaces the analyst's quota. One below what is spent leaves nothing.

        Returns
        -------
        str
            The ledger's new head.

        Raises
        ------
        counterpoint.LedgerError
            The analyst has a quota already, and ``change`` is not set.
        """
        return self._quota(
            account, analyst, _maybe("share", share), releases,
            _maybe("epsilon", epsilon), _maybe("delta", delta), change,
        )

    def move(self, source: str, to: str, amount: Amount, *, key: str, delta: Amount = 0) -> str:
        """Moves unspent budget from an account to another of the same data set.

        Parameters
        ----------
        source
            The account that gives.
        to
            The account that receives.
        amount
            The amount in the accounts' unit: epsilon, divergence or rho.
        key
            A name for the transfer: the same key moves budget once.
        delta
            The amount of delta.

        Returns
        -------
        str
            The ledger's new head.

        Raises
        ------
        counterpoint.errors.RefusedError
            The account has not so much left.
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
        """Debits a release durably. Draw noise only after this has returned.

        Parameters
        ----------
        account
            The account that pays.
        release
            A mechanism or a list of them, charged together; or the name of a slot of a plan account.
        key
            A name for the release. If it was reserved in the account before, nothing is charged.
        analyst
            The analyst whose quota pays as well.
        count
            The number of openings of the slot, or of runs of the mechanism.
        run
            The mechanisms that run in the slot, which must dominate them; the slot's own if None.
        session
            Debits a session in full, for answers that are given one by one.

        Returns
        -------
        Reservation
            The debit.

        Raises
        ------
        counterpoint.errors.RefusedError
            A budget does not allow the release. Nothing was debited.
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
        """The cost of a reservation, and if it would be made now. Nothing is written.

        Parameters
        ----------
        account
            The account that would pay.
        release
            A mechanism or a list of them, or the name of a slot.
        analyst
            The analyst whose quota would pay as well.
        count
            The number of openings of the slot, or of runs of the mechanism.
        run
            The mechanisms that would run in the slot.

        Returns
        -------
        Price
            The cost, and the reason of a refusal.
        """
        slot, text, ran = _asked(release, count, run)
        return Price(*self._price(account, slot, count, text, ran, analyst))

    def commit(self, key: str, response: bytes | str, *, account: str | None = None) -> Committed:
        """Stores a response durably. Show only what this returns.

        Parameters
        ----------
        key
            The key of the reservation.
        response
            The response.
        account
            The account, needed if two have the key.

        Returns
        -------
        Committed
            The stored response: an earlier one if there was one.

        Raises
        ------
        counterpoint.LedgerError
            Nothing is reserved under the key, or a session is.
        """
        data = response.encode() if isinstance(response, str) else bytes(response)
        return Committed(key, self._commit(key, data, account))

    def status(self, account: str | None = None) -> dict[str, Any]:
        """The spent and the remaining budgets.

        Parameters
        ----------
        account
            One account; all if None. One open account also has ``spent_epsilon``, an epsilon for what is spent so far
            that holds at all times at once, and ``room``, the largest single releases that still fit.

        Returns
        -------
        dict
            The object that ``counterpoint ledger status --json`` prints.
        """
        return _loads(self._status(account))

    def odometer(self, account: str) -> dict[str, Any]:
        """The epsilon spent so far, which holds at all times at once, whatever is asked next, and the levels it is read from.

        Parameters
        ----------
        account
            An open account, for its releases; or a data set, for what its accounts promise.

        Returns
        -------
        dict
            ``epsilon`` is None if nothing is known. Levels and ``delta`` are fixed when the account is opened.
        """
        return _loads(self._odometer(account))

    def history(self, account: str | None = None, *, analyst: str | None = None) -> dict[str, Any]:
        """The entries, oldest first, and the head.

        Parameters
        ----------
        account
            One account; all if None.
        analyst
            One analyst; all if None.

        Returns
        -------
        dict
            ``head`` and ``entries``.
        """
        return _loads(self._history(account, analyst))

    def responses(self, account: str | None = None, *, analyst: str | None = None) -> dict[str, Any]:
        """The stored responses and answers.

        Parameters
        ----------
        account
            One account; all if None.
        analyst
            One analyst; all if None.

        Returns
        -------
        dict
            ``responses``.
        """
        return _loads(self._responses(account, analyst))

    def pending(self, account: str | None = None) -> dict[str, Any]:
        """The debits without a response, and the sessions that are not over.

        Parameters
        ----------
        account
            One account; all if None.

        Returns
        -------
        dict
            ``pending``.
        """
        return _loads(self._pending(account))

    def session(self, account: str, key: str) -> dict[str, Any]:
        """The progress of a session.

        Parameters
        ----------
        account
            The account.
        key
            The session's key.

        Returns
        -------
        dict
            The object that ``counterpoint ledger session --json`` prints.

        Raises
        ------
        counterpoint.LedgerError
            There is no such session.
        """
        return _loads(self._session(account, key))

    def backup(self, file: str | os.PathLike[str]) -> str:
        """Copies the ledger to a new SQLite file, verified and durable.

        Parameters
        ----------
        file
            The new file.

        Returns
        -------
        str
            The copy's head.
        """
        return self._backup(os.fspath(file))

    def verify(self, expect_head: str | None = None) -> str:
        """Recomputes every balance and hash.

        Parameters
        ----------
        expect_head
            A head that was kept elsewhere. Without it, verification cannot exclude that the newest entries were cut
            off.

        Returns
        -------
        str
            The head.

        Raises
        ------
        counterpoint.LedgerError
            The verification failed.
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
    """Lists each account after the one that pays for it, with its depth."""
    found = []
    for account in accounts:
        if account["parent"] == parent:
            found += [(account, depth), *_nested(accounts, account["name"], depth + 1)]
    return found


def _row(account: dict[str, Any], depth: int) -> list[str]:
    """Writes an account as a row for notebooks: its promise, and how much of its capacity is spent."""
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
    """A slot or the text of releases, and the text of the mechanisms that run."""
    slot, text = (release, None) if isinstance(release, str) else (None, _releases(release, count))
    return slot, text, None if run is None else _releases(run, 1)


def _releases(release: Any, count: int) -> bytes:
    """The text of a mechanism a number of times, or of several mechanisms."""
    several = [release * count] if isinstance(release, _native.Mechanism) else release
    if not isinstance(several, (list, tuple)) or not all(isinstance(one, _native.Mechanism) for one in several):
        kind = type(release).__name__
        raise TypeError(f"release is of type {kind}; legal: mechanisms, or the name of a slot")
    if count != 1 and several is release:
        raise InvalidArgumentError(f"count is {count} with several releases; legal: 1, each with its own")
    from .plan import Plan

    return Plan(list(several)).text("json").encode()


def _loads(text: str) -> dict[str, Any]:
    import json

    found: dict[str, Any] = json.loads(text)
    return found
