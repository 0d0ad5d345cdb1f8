"""A client of a curator: ``counterpoint serve`` answers questions about tables and charges a ledger."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict

from ._deprecated import renamed
from ._http import Service, problem
from .answers import (
    Account,
    NoisyAnswer,
    Charge,
    TableColumn,
    Expected,
    Me,
    Number,
    Quote,
    Remaining,
    SessionReply,
    Slot,
    Table,
)
from .errors import InvalidArgumentError, LedgerError, ServiceError, SessionOverError
from .question import Aggregate, Column, Condition, Question, column

if TYPE_CHECKING:
    import os

    from .question import Real

__all__ = [
    "Account",
    "Aggregate",
    "Asking",
    "Charge",
    "Client",
    "Column",
    "Condition",
    "Expected",
    "GuessAndCheckOf",
    "Me",
    "NoisyAnswer",
    "Number",
    "Question",
    "Quote",
    "Remaining",
    "RemoteSession",
    "SessionReply",
    "Slot",
    "SparseVectorOf",
    "Step",
    "Table",
    "TableColumn",
    "column",
    "connect",
]

MOST_TOGETHER = 100
"""The largest number of questions that a service prices or answers together."""


class Asking(TypedDict, total=False):
    """A question to be priced or asked: ``question``, one of ``epsilon``, ``rho``, ``slot`` and ``error``, and options.

    ``account`` and ``confidence`` are optional, as in :meth:`Client.ask`.
    """

    question: str | Question
    account: str | None
    epsilon: Real | None
    rho: Real | None
    slot: str | None
    error: Real | None
    confidence: Real


class SparseVectorOf(TypedDict, total=False):
    """The declaration of a sparse vector: which counts or sums are above a threshold.

    It costs 3 epsilon, and a fourth with ``values``, and ends after the last of ``answers`` above. For sums, ``column``
    names the column whose bounds say how far a row moves a sum, or ``bounds`` gives them.
    """

    epsilon: float
    answers: int
    threshold: float
    values: bool
    column: str
    bounds: tuple[float, float]


class GuessAndCheckOf(TypedDict, total=False):
    """The declaration of guess-and-check: which guesses of counts or sums are wrong by about ``tolerance``, and the right values.

    It costs 4 epsilon, and ends after the last of ``corrections``.
    """

    epsilon: float
    corrections: int
    tolerance: float
    column: str
    bounds: tuple[float, float]


class Step(TypedDict, total=False):
    """An aggregate at a cost: ``of``, a question with one aggregate (the rest of it is ignored), and ``epsilon`` or ``rho``.
    """

    of: Question
    epsilon: float
    rho: float


def connect(url: str, token: str, *, timeout: float = 60.0, cafile: str | os.PathLike[str] | None = None) -> Client:
    """Connects to a curator.

    The token is sent to that host and to no other: redirects are not followed, no proxy is used, and beyond this
    machine the URL has to be https.

    Parameters
    ----------
    url
        The service's URL.
    token
        The token that the owner gave you.
    timeout
        The longest time to wait for a response, in seconds.
    cafile
        A file of certificates to trust in place of the system's.

    Returns
    -------
    Client
        The client.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is not legal, such as a URL with http:// beyond this machine.
    """
    import os

    return Client(Service(url, token, timeout, None if cafile is None else os.fspath(cafile)))


class Client:
    """A connection to a curator with one token. Made by :func:`connect`; threads may share it.

    A request that fails on the way, or while the service is busy, is sent again a few times. It stays the same
    question, and is charged once.
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
        """Closes the connections. Later questions open new ones."""
        self._service.close()

    @cached_property
    def me(self) -> Me:
        """The holder of the token."""
        found = self._service.get("/v1/me")
        return Me(found["name"], found["role"], tuple(found["accounts"]))

    def tables(self) -> list[Table]:
        """The public descriptions of the tables.

        Returns
        -------
        list of Table
            The tables.
        """
        return [Table._read(one) for one in self._service.get("/v1/tables")["tables"]]

    def accounts(self) -> list[Account]:
        """The accounts that the token may ask.

        Returns
        -------
        list of Account
            The accounts.
        """
        return [Account._read(one) for one in self._service.get("/v1/accounts")["accounts"]]

    def account(self, name: str | None = None) -> Account:
        """One account.

        Parameters
        ----------
        name
            The account's name; the only account of the token if None.

        Returns
        -------
        Account
            The account.

        Raises
        ------
        counterpoint.errors.NotFoundError
            There is no such account.
        """
        return Account._read(self._service.get(f"/v1/accounts/{_quoted(self._account(name))}"))

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
    ) -> NoisyAnswer:
        """Asks a question and charges it. Asked again, it has the same answer and costs nothing.

        Parameters
        ----------
        question
            SQL as a text, or a :class:`Question`.
        account
            The account that pays; the only account of the token if None.
        epsilon, rho, slot, error
            Exactly one of these sets the cost: an epsilon, a rho, a slot of the account's plan, or the half-width that
            every number is to have, for which as little as possible is spent.
        confidence
            The confidence of half-widths and intervals.
        key
            Your own name for the question: nothing else can be asked under it.
        dummy
            Answers from rows that are made up from the public description of the table: nothing is charged, and the
            answer means nothing. It is for writing the program that will ask.

        Returns
        -------
        NoisyAnswer
            The numbers.

        Raises
        ------
        counterpoint.errors.OverBudgetError
            A budget does not allow it. Nothing was charged.
        counterpoint.errors.IllegalQuestionError
            The question cannot be asked of this table. Nothing was charged.
        counterpoint.ServiceError
            The service did not answer for another reason.
        """
        pays = {"epsilon": epsilon, "rho": rho, "slot": slot, "error": error}
        body = self._body(question, account, pays, confidence)
        if key is not None:
            body["key"] = str(key)
        path = "/v1/rehearsals" if dummy else "/v1/questions"
        return NoisyAnswer(self._service.post(path, body), _grouped(question))

    def ask_all(self, askings: Sequence[Asking]) -> list[NoisyAnswer | ServiceError]:
        """Asks several questions, each charged and answered on its own, in this order.

        Questions about one table are answered in one pass through it.

        Parameters
        ----------
        askings
            The questions: ``[{"question": "SELECT COUNT(*) FROM visits", "epsilon": 0.1}, ...]``.

        Returns
        -------
        list of NoisyAnswer or ServiceError
            For each question its answer, or the error, which is not raised.
        """
        bodies = [self._asking(asking) for asking in askings]
        answers: list[NoisyAnswer | ServiceError] = []
        for start in range(0, len(bodies), MOST_TOGETHER):
            found = self._service.post("/v1/questions", bodies[start : start + MOST_TOGETHER])
            for asking, one in zip(askings[start:], found):
                failed = "code" in one
                answers.append(problem(one, int(one["status"])) if failed else NoisyAnswer(one, _grouped(asking["question"])))
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
        """The price of a question. Nothing is charged, and no data are read.

        Parameters
        ----------
        question
            SQL as a text, or a :class:`Question`.
        account
            The account that would pay; the only account of the token if None.
        epsilon, rho, slot, error
            Exactly one of these sets the cost, as for :meth:`ask`.
        confidence
            The confidence of the half-widths.

        Returns
        -------
        Quote
            The cost and the expected accuracy.

        Raises
        ------
        counterpoint.errors.IllegalQuestionError
            The question cannot be asked of this table.
        """
        pays = {"epsilon": epsilon, "rho": rho, "slot": slot, "error": error}
        return Quote._read(self._service.post("/v1/prices", self._body(question, account, pays, confidence)))

    def prices(self, askings: Sequence[Asking]) -> list[Quote | ServiceError]:
        """The prices of several questions, each on its own.

        Parameters
        ----------
        askings
            The questions: ``[{"question": "SELECT COUNT(*) FROM visits", "epsilon": 0.1}, ...]``.

        Returns
        -------
        list of Quote or ServiceError
            For each question its price, or the error, which is not raised.
        """
        bodies = [self._asking(asking) for asking in askings]
        quotes: list[Quote | ServiceError] = []
        for start in range(0, len(bodies), MOST_TOGETHER):
            found = self._service.post("/v1/prices", bodies[start : start + MOST_TOGETHER])
            quotes += [problem(one, int(one["status"])) if "code" in one else Quote._read(one) for one in found]
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
    ) -> RemoteSession:
        """Opens a session about a table. All of it is charged now, however much of it is used.

        ``with client.session("visits", sparse_vector={"epsilon": 0.1, "answers": 3, "threshold": 500}) as session:``
        asks ``session.ask(...)`` and ends the session.

        Parameters
        ----------
        table
            The table's name.
        sparse_vector, guess_and_check, sequence, own
            Exactly one of these declares the session; ``own`` is the name of a mechanism that the owner registered,
            which :meth:`RemoteSession.ask_own` asks.
        account
            The account that pays; the only account of the token if None.
        key
            Your own name for the session: opened again under it with the same declaration, it is the same session and
            costs nothing.
        slot
            A slot of the account, one opening of which pays.

        Returns
        -------
        RemoteSession
            The open session, a context manager.

        Raises
        ------
        counterpoint.errors.OverBudgetError
            A budget does not allow it. Nothing was charged.
        counterpoint.InvalidArgumentError
            Not exactly one declaration is given.
        """
        import uuid

        declared: dict[str, Any] = {"sparse_vector": sparse_vector, "guess_and_check": guess_and_check, "own": own}
        declared["sequence"] = None if sequence is None else [_step(step) for step in sequence]
        given = {name: what for name, what in declared.items() if what is not None}
        if len(given) != 1:
            raise InvalidArgumentError(f"a session is {_listed(given)}; legal: exactly one of {', '.join(declared)}")
        # Chosen here, so that a retry after a failure does not pay again.
        key = uuid.uuid4().hex if key is None else key
        body = {"account": self._account(account), "key": key, "table": table, **given}
        if slot is not None:
            body["slot"] = slot
        return RemoteSession(self._service, body, self._service.post("/v1/sessions", body))

    def sessions(self) -> list[dict[str, Any]]:
        """The token's own sessions.

        Returns
        -------
        list of dict
            ``account``, ``key``, ``table``, ``declared``, ``answered`` and ``over`` of each.
        """
        return [one for page in self._service.pages("/v1/sessions") for one in page["sessions"]]

    def status(self) -> list[Account]:
        """Every account, for the owner and auditors.

        Returns
        -------
        list of Account
            The accounts.
        """
        return [Account._read(one) for page in self._service.pages("/v1/status") for one in page["accounts"]]

    def history(self) -> dict[str, Any]:
        """The ledger's history, for the owner and auditors: who was charged what, without answers.

        Returns
        -------
        dict
            ``head`` and ``entries``.
        """
        pages = list(self._service.pages("/v1/history"))
        # The last page has every entry up to its head.
        return {"head": pages[-1]["head"], "entries": [entry for page in pages for entry in page["entries"]]}

    def verify(self) -> str:
        """Recomputes every balance from the history, for the owner and auditors.

        Returns
        -------
        str
            The ledger's head.

        Raises
        ------
        counterpoint.LedgerError
            The verification failed.
        """
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
            raise InvalidArgumentError(f"account is missing; legal: {legal}")
        return accounts[0]

    def _asking(self, asking: Asking) -> dict[str, Any]:
        known = set(Asking.__annotations__)
        if "question" not in asking or not known.issuperset(asking):
            raise InvalidArgumentError(f"an asking has {_listed(asking)}; legal: question, and any of {', '.join(sorted(known))}")
        pays = {"epsilon": asking.get("epsilon"), "rho": asking.get("rho")}
        others = {"slot": asking.get("slot"), "error": asking.get("error")}
        return self._body(asking["question"], asking.get("account"), {**pays, **others}, asking.get("confidence", 0.95))

    def _body(
        self, question: str | Question, account: str | None, pays: Mapping[str, Real | str | None], confidence: Real
    ) -> dict[str, Any]:
        paid = {name: how for name, how in pays.items() if how is not None}
        if len(paid) != 1:
            raise InvalidArgumentError(f"an answer is paid by {_listed(paid)}; legal: exactly one of {', '.join(pays)}")
        body = _written(question)
        body.update((name, how if isinstance(how, str) else _number(name, how)) for name, how in paid.items())
        body["confidence"] = _number("confidence", confidence)
        return {"account": self._account(account), **body}


class RemoteSession:
    """An open session of a service. Made by :meth:`Client.session`.

    Questions are a filter and one aggregate about its table. Leaving the ``with`` without an error ends the session.
    Leaving it by an error does not: the session was paid for, and continues under its ``key``.
    """

    def __init__(self, service: Service, body: Mapping[str, Any], found: Mapping[str, Any]) -> None:
        self._service = service
        self.account: str = body["account"]
        self.key: str = body["key"]
        self.table: str = body["table"]
        self.cost = Charge._read(found["cost"])
        """The debit of opening: nothing if the session was opened before."""
        self.left = Remaining._read(found["left"])
        """The remaining budget then."""
        self.answered: int = found["answered"]
        """The number of answers given so far."""
        self.over: bool = found["over"]
        """True if the session gives no more answers."""

    def __repr__(self) -> str:
        return f"RemoteSession({self.table!r}, key={self.key!r}, answered={self.answered}, over={self.over})"

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
    ) -> SessionReply:
        """Asks the session.

        Parameters
        ----------
        question
            SQL as a text, or a :class:`Question`.
        guess
            The guessed value, for guess-and-check.
        epsilon, rho
            The price on the list, for a sequence.
        name
            Your own name for the question: asked again under it, it has the same answer. Without one, the same question
            has the same answer; to ask a sequence for the same thing again, name it.

        Returns
        -------
        SessionReply
            The reply.

        Raises
        ------
        counterpoint.errors.SessionOverError
            The session gives no more answers.
        """
        import hashlib
        import json

        body = _written(question)
        given = {"guess": guess, "epsilon": epsilon, "rho": rho}
        body.update((what, _number(what, number)) for what, number in given.items() if number is not None)
        same = json.dumps(body, sort_keys=True).encode()
        body["name"] = hashlib.sha256(same).hexdigest()[:32] if name is None else str(name)
        reply = SessionReply._read(self._service.post(f"{self._path}/questions", body))
        self.answered, self.over = reply.answered, reply.over
        return reply

    def ask_own(self, question: Any, *, name: str | None = None) -> Any:
        """Asks a mechanism that the owner registered. That it costs no more than was charged is the owner's word.

        Parameters
        ----------
        question
            Any value that JSON can represent.
        name
            Your own name for the question, as for :meth:`ask`; without one every call is a question of its own.

        Returns
        -------
        object
            The reply, as read from JSON.

        Raises
        ------
        counterpoint.errors.SessionOverError
            The session gives no more answers.
        """
        import uuid

        body = {"own": question, "name": uuid.uuid4().hex if name is None else str(name)}
        found = self._service.post(f"{self._path}/questions", body)
        self.answered, self.over = found["answered"], found["over"]
        return found["reply"]

    def close(self) -> None:
        """Ends the session for good. It is not refunded."""
        try:
            self._service.delete(self._path)
        except SessionOverError:
            pass
        self.over = True

    def __enter__(self) -> RemoteSession:
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
    raise TypeError(f"question is of type {type(question).__name__}; legal: SQL as a text, or a Question")


def _step(step: Step) -> dict[str, Any]:
    question = step.get("of")
    if not isinstance(question, Question) or len(question.aggregates) != 1:
        raise InvalidArgumentError("a step's of is no question with one aggregate; legal: such as Question(table).count()")
    costs = {name: how for name, how in step.items() if name != "of"}
    return {"of": question.aggregates[0].of(), **costs}


def _grouped(question: str | Question) -> tuple[str, ...]:
    """The columns that are grouped by, to label the answer; in SQL only where they are plain to see."""
    if isinstance(question, Question):
        return question.group
    found = re.search(r"\bGROUP\s+BY\s+([\w\s,]+?)\s*;?\s*$", question, re.IGNORECASE)
    return tuple(name.strip() for name in found.group(1).split(",")) if found else ()


if not TYPE_CHECKING:
    RENAMED = {"Answer": "NoisyAnswer", "ColumnOf": "TableColumn", "Reply": "SessionReply", "Session": "RemoteSession"}
    __getattr__ = renamed(__name__, RENAMED)
