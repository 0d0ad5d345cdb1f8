"""Asking a curator: ``counterpoint serve`` answers questions about tables, and charges a ledger."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict

from ._http import Service, problem
from .answers import (
    Account,
    Answer,
    Charge,
    ColumnOf,
    Expected,
    Me,
    Number,
    Quote,
    Remaining,
    Reply,
    Slot,
    Table,
)
from .errors import InvalidArgument, LedgerError, ServiceError, SessionOver
from .question import Aggregate, Column, Condition, Question, column

if TYPE_CHECKING:
    import os

    from .question import Real

__all__ = [
    "Account",
    "Aggregate",
    "Answer",
    "Asking",
    "Charge",
    "Client",
    "Column",
    "ColumnOf",
    "Condition",
    "Expected",
    "GuessAndCheckOf",
    "Me",
    "Number",
    "Question",
    "Quote",
    "Remaining",
    "Reply",
    "Session",
    "Slot",
    "SparseVectorOf",
    "Step",
    "Table",
    "column",
    "connect",
]

MOST_TOGETHER = 100
"""So many questions a service prices or answers together."""


class Asking(TypedDict, total=False):
    """A question that is to be priced: ``question``, one of ``epsilon``, ``rho``, ``slot`` and ``error``, and more."""

    question: str | Question
    account: str | None
    epsilon: Real | None
    rho: Real | None
    slot: str | None
    error: Real | None
    confidence: Real


class SparseVectorOf(TypedDict, total=False):
    """Which counts, or sums, are above a threshold. Costs 3 epsilon, and a fourth with ``values``.

    It ends with so many ``answers`` above. For sums: the ``column`` whose bounds say how far a row moves one, or ``bounds``.
    """

    epsilon: float
    answers: int
    threshold: float
    values: bool
    column: str
    bounds: tuple[float, float]


class GuessAndCheckOf(TypedDict, total=False):
    """Which guesses of counts, or sums, are wrong by about a ``tolerance``, and what would be right. Costs 4 epsilon.

    It ends with so many ``corrections``.
    """

    epsilon: float
    corrections: int
    tolerance: float
    column: str
    bounds: tuple[float, float]


class Step(TypedDict, total=False):
    """An aggregate at a cost: ``of`` is a question with one aggregate, of which nothing else counts, and ``epsilon`` or ``rho``."""

    of: Question
    epsilon: float
    rho: float


def connect(url: str, token: str, *, timeout: float = 60.0, cafile: str | os.PathLike[str] | None = None) -> Client:
    """A client of the curator at ``url``, for whoever has the token.

    The token is sent to that host and to no other: redirects are not followed, no proxy is used, and beyond this
    machine the address has to be https. ``cafile`` holds certificates to trust in place of the system's.
    """
    import os

    return Client(Service(url, token, timeout, None if cafile is None else os.fspath(cafile)))


class Client:
    """A curator, as one token sees it. Made by :func:`connect`; threads may share it.

    What fails on the way, or while the service is busy, is sent again a few times. It is the same question then, and is
    charged once.
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    def __repr__(self) -> str:
        return f"Client({self._service.address!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes connections. Whatever is asked later opens new ones."""
        self._service.close()

    @cached_property
    def me(self) -> Me:
        """Whose token it is."""
        found = self._service.get("/v1/me")
        return Me(found["name"], found["role"], tuple(found["accounts"]))

    def tables(self) -> list[Table]:
        """What is public about the tables."""
        return [Table.read(one) for one in self._service.get("/v1/tables")["tables"]]

    def accounts(self) -> list[Account]:
        """The accounts that the token may ask."""
        return [Account.read(one) for one in self._service.get("/v1/accounts")["accounts"]]

    def account(self, name: str | None = None) -> Account:
        """One account; the only one if none is named."""
        return Account.read(self._service.get(f"/v1/accounts/{_quoted(self._account(name))}"))

    def ask(
        self,
        question: str | Question,
        *,
        account: str | None = None,
        epsilon: Real | None = None,
        rho: Real | None = None,
        slot: str | None = None,
        error: Real | None = None,
        confidence: Real = 0.95,
        key: str | None = None,
        dummy: bool = False,
    ) -> Answer:
        """Asks a question, as SQL or as a :class:`Question`. It is charged to the account, the only one if none is named.

        One of these says what it may cost: ``epsilon``, ``rho``, a ``slot`` of the account's plan, or an ``error``, for
        which as little is spent as gives every number this half-width. Asked again, it has the same answer and costs
        nothing. ``key`` is your own name for it: under it nothing else can be asked.

        With ``dummy=True`` the answer is of rows that are made up from what is public about the table: nothing is charged,
        and the answer means nothing. It is for writing the program that will ask.
        """
        pays = {"epsilon": epsilon, "rho": rho, "slot": slot, "error": error}
        body = self._body(question, account, pays, confidence)
        if key is not None:
            body["key"] = str(key)
        path = "/v1/rehearsals" if dummy else "/v1/questions"
        return Answer(self._service.post(path, body), _grouped(question))

    def ask_all(self, askings: Sequence[Asking]) -> list[Answer | ServiceError]:
        """Asks several questions, each charged and answered on its own and in this order; the error, not raised, where one is
        not answered. Those about one table are answered in one pass through it.

        ``client.ask_all([{"question": "SELECT COUNT(*) FROM visits", "epsilon": 0.1}, ...])``
        """
        bodies = [self._asking(asking) for asking in askings]
        answers: list[Answer | ServiceError] = []
        for start in range(0, len(bodies), MOST_TOGETHER):
            found = self._service.post("/v1/questions", bodies[start : start + MOST_TOGETHER])
            for asking, one in zip(askings[start:], found):
                failed = "code" in one
                answers.append(problem(one, int(one["status"])) if failed else Answer(one, _grouped(asking["question"])))
        return answers

    def price(
        self,
        question: str | Question,
        *,
        account: str | None = None,
        epsilon: Real | None = None,
        rho: Real | None = None,
        slot: str | None = None,
        error: Real | None = None,
        confidence: Real = 0.95,
    ) -> Quote:
        """What :meth:`ask` would cost. Nothing is charged, and no data are looked at."""
        pays = {"epsilon": epsilon, "rho": rho, "slot": slot, "error": error}
        return Quote.read(self._service.post("/v1/prices", self._body(question, account, pays, confidence)))

    def prices(self, askings: Sequence[Asking]) -> list[Quote | ServiceError]:
        """What several questions would cost, each on its own; the error, not raised, where one cannot be asked.

        ``client.prices([{"question": "SELECT COUNT(*) FROM visits", "epsilon": 0.1}, ...])``
        """
        bodies = [self._asking(asking) for asking in askings]
        quotes: list[Quote | ServiceError] = []
        for start in range(0, len(bodies), MOST_TOGETHER):
            found = self._service.post("/v1/prices", bodies[start : start + MOST_TOGETHER])
            quotes += [problem(one, int(one["status"])) if "code" in one else Quote.read(one) for one in found]
        return quotes

    def session(
        self,
        table: str,
        *,
        sparse_vector: SparseVectorOf | None = None,
        guess_and_check: GuessAndCheckOf | None = None,
        sequence: Sequence[Step] | None = None,
        own: str | None = None,
        account: str | None = None,
        key: str | None = None,
        slot: str | None = None,
    ) -> Session:
        """Opens a session about a table: all of it is charged now, however much of it is used.

        ``own`` is the name of a mechanism that the owner registered, which is asked by :meth:`Session.ask_own`.

        ``with client.session("visits", sparse_vector={"epsilon": 0.1, "answers": 3, "threshold": 500}) as session:`` asks
        ``session.ask(...)`` and ends it. ``key`` is your own name for the session: opened again under it, with the same
        declaration, it is the same session and costs nothing.
        """
        import uuid

        declared: dict[str, Any] = {"sparse_vector": sparse_vector, "guess_and_check": guess_and_check, "own": own}
        declared["sequence"] = None if sequence is None else [_step(step) for step in sequence]
        given = {name: what for name, what in declared.items() if what is not None}
        if len(given) != 1:
            raise InvalidArgument(f"a session is {_listed(given)}; legal: exactly one of {', '.join(declared)}")
        # Chosen here, so that opening it again after a failure does not pay again.
        key = uuid.uuid4().hex if key is None else key
        body = {"account": self._account(account), "key": key, "table": table, **given}
        if slot is not None:
            body["slot"] = slot
        return Session(self._service, body, self._service.post("/v1/sessions", body))

    def sessions(self) -> list[dict[str, Any]]:
        """The token's own sessions: ``account``, ``key``, ``table``, ``declared``, ``answered``, ``over``."""
        return [one for page in self._service.pages("/v1/sessions") for one in page["sessions"]]

    def status(self) -> list[Account]:
        """Every account, for the owner and auditors."""
        return [Account.read(one) for page in self._service.pages("/v1/status") for one in page["accounts"]]

    def history(self) -> dict[str, Any]:
        """The ledger's ``head`` and ``entries``, for the owner and auditors: who was charged what; no answers."""
        pages = list(self._service.pages("/v1/history"))
        # The last page has every entry up to its head.
        return {"head": pages[-1]["head"], "entries": [entry for page in pages for entry in page["entries"]]}

    def verify(self) -> str:
        """Recomputes every balance from the history, for the owner and auditors; returns the head."""
        found = self._service.get("/v1/verify")
        if not found["verified"]:
            raise LedgerError(f"verification failed: {found['problem']}")
        return str(found["head"])

    def _account(self, name: str | None) -> str:
        if name is not None:
            return str(name)
        accounts = self.me.accounts
        if len(accounts) != 1:
            legal = "one of " + ", ".join(accounts) if accounts else "the token of an analyst with an account"
            raise InvalidArgument(f"account is missing; legal: {legal}")
        return accounts[0]

    def _asking(self, asking: Asking) -> dict[str, Any]:
        known = set(Asking.__annotations__)
        if "question" not in asking or not known.issuperset(asking):
            raise InvalidArgument(f"an asking has {_listed(asking)}; legal: question, and any of {', '.join(sorted(known))}")
        pays = {"epsilon": asking.get("epsilon"), "rho": asking.get("rho")}
        others = {"slot": asking.get("slot"), "error": asking.get("error")}
        return self._body(asking["question"], asking.get("account"), {**pays, **others}, asking.get("confidence", 0.95))

    def _body(
        self, question: str | Question, account: str | None, pays: Mapping[str, Real | str | None], confidence: Real
    ) -> dict[str, Any]:
        paid = {name: how for name, how in pays.items() if how is not None}
        if len(paid) != 1:
            raise InvalidArgument(f"an answer is paid by {_listed(paid)}; legal: exactly one of {', '.join(pays)}")
        body = _written(question)
        body.update((name, how if isinstance(how, str) else _number(name, how)) for name, how in paid.items())
        body["confidence"] = _number("confidence", confidence)
        return {"account": self._account(account), **body}


class Session:
    """A session that was opened, by :meth:`Client.session`. Questions are a filter and one aggregate about its table.

    Left without an error, it is ended for good. Left by an error it stays open: it was paid for, and goes on under its
    ``key``.
    """

    def __init__(self, service: Service, body: Mapping[str, Any], found: Mapping[str, Any]) -> None:
        self._service = service
        self.account: str = body["account"]
        self.key: str = body["key"]
        self.table: str = body["table"]
        self.cost = Charge.read(found["cost"])
        """What opening it debited: nothing if it had been opened before."""
        self.left = Remaining.read(found["left"])
        """What was left then."""
        self.answered: int = found["answered"]
        """How many answers it has given."""
        self.over: bool = found["over"]
        """Whether it gives no more."""

    def __repr__(self) -> str:
        return f"Session({self.table!r}, key={self.key!r}, answered={self.answered}, over={self.over})"

    @property
    def _path(self) -> str:
        return f"/v1/sessions/{_quoted(self.account)}/{_quoted(self.key)}"

    def ask(
        self,
        question: str | Question,
        *,
        guess: Real | None = None,
        epsilon: Real | None = None,
        rho: Real | None = None,
        name: str | None = None,
    ) -> Reply:
        """Asks it: with a ``guess`` for guess-and-check, at an ``epsilon`` or ``rho`` of a sequence.

        ``name`` is your own for the question: asked again under it, it has the same answer. Without one, the same
        question is the same; to ask a sequence for the same thing again, name it.
        """
        import hashlib
        import json

        body = _written(question)
        given = {"guess": guess, "epsilon": epsilon, "rho": rho}
        body.update((what, _number(what, number)) for what, number in given.items() if number is not None)
        same = json.dumps(body, sort_keys=True).encode()
        body["name"] = hashlib.sha256(same).hexdigest()[:32] if name is None else str(name)
        reply = Reply.read(self._service.post(f"{self._path}/questions", body))
        self.answered, self.over = reply.answered, reply.over
        return reply

    def ask_own(self, question: Any, *, name: str | None = None) -> Any:
        """Asks a mechanism that the owner registered, anything that JSON can say; the reply is what it says.

        That it costs no more than was charged is the owner's word. ``name`` is as in :meth:`ask`; without one every call is a
        question of its own.
        """
        import uuid

        body = {"own": question, "name": uuid.uuid4().hex if name is None else str(name)}
        found = self._service.post(f"{self._path}/questions", body)
        self.answered, self.over = found["answered"], found["over"]
        return found["reply"]

    def close(self) -> None:
        """Ends it for good. It is not refunded."""
        try:
            self._service.delete(self._path)
        except SessionOver:
            pass
        self.over = True

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")


def _listed(names: Mapping[str, Any]) -> str:
    return " and ".join(names) or "nothing"


def _number(argument: str, value: Any) -> float:
    from .question import _number as checked

    return checked(argument, value)


def _written(question: str | Question) -> dict[str, Any]:
    if isinstance(question, Question):
        return {"question": question.to_dict()}
    if isinstance(question, str):
        return {"sql": str(question)}
    raise TypeError(f"a question is of type {type(question).__name__}; legal: SQL as a text, or a Question")


def _step(step: Step) -> dict[str, Any]:
    question = step.get("of")
    if not isinstance(question, Question) or len(question.aggregates) != 1:
        raise InvalidArgument("a step's of is no question with one aggregate; legal: such as Question(table).count()")
    costs = {name: how for name, how in step.items() if name != "of"}
    return {"of": question.aggregates[0].of(), **costs}


def _grouped(question: str | Question) -> tuple[str, ...]:
    """The columns that are grouped by, to label what comes back; of SQL only where they are plain to see."""
    if isinstance(question, Question):
        return question.group
    found = re.search(r"\bGROUP\s+BY\s+([\w\s,]+?)\s*;?\s*$", question, re.IGNORECASE)
    return tuple(name.strip() for name in found.group(1).split(",")) if found else ()
