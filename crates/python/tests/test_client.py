"""The client, against the program itself, and against services that fail in every way there is."""

from __future__ import annotations

import http.client
import json
import pickle
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from service import demo

import counterpoint as cp
from counterpoint.client import NoisyAnswer, Number, Quote, column

COUNT = "SELECT COUNT(*) FROM visits"


@pytest.fixture(scope="module")
def service() -> Iterator[tuple[str, dict[str, str]]]:
    """A curator that the tests of this file share. Each analyst has an epsilon of 3."""
    with demo() as made:
        yield made


@pytest.fixture
def ann(service: tuple[str, dict[str, str]]) -> cp.Client:
    """An analyst."""
    return cp.connect(service[0], service[1]["ann"])


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited, in tests that do not."""
    waited: list[float] = []
    monkeypatch.setattr("counterpoint._http.time.sleep", waited.append)
    return waited


Handle = Callable[["Request"], tuple[int, dict[str, str], Any] | None]


class Request:
    """What a service of the tests was sent."""

    def __init__(self, method: str, path: str, headers: Any, body: bytes) -> None:
        self.method, self.path, self.headers, self.body = method, path, headers, body


class Fake:
    """A service that answers as it is told; None is a connection that is closed without an answer."""

    def __init__(self, handle: Handle, context: ssl.SSLContext | None = None) -> None:
        self.seen: list[Request] = []
        seen = self.seen

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                request = Request(self.command, self.path, self.headers, self.rfile.read(length))
                seen.append(request)
                reply = handle(request)
                if reply is None:
                    self.close_connection = True
                    return
                status, headers, body = reply
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = handle_any

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if context is not None:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        scheme = "http" if context is None else "https"
        self.address = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def forward(address: str, request: Request) -> tuple[int, dict[str, str], bytes]:
    """What the service itself says to a request."""
    there = http.client.HTTPConnection(urlsplit(address).netloc)
    kept = {name: value for name, value in request.headers.items() if name in ("Authorization", "Content-Type")}
    there.request(request.method, request.path, request.body or None, kept)
    response = there.getresponse()
    data = response.read()
    there.close()
    return response.status, {"Content-Type": response.getheader("Content-Type", "")}, data


def problem(status: int, code: str) -> dict[str, Any]:
    """A problem as a service writes it."""
    return {"type": f"urn:counterpoint:problem:{code}", "title": "", "status": status, "detail": "why", "code": code}


LEFT = {"amount": 2.9, "of": 3.0, "unit": "epsilon", "delta": 0.0, "more": 29, "words": "about 29 more <questions>"}
COST = {"amount": 0.1, "unit": "epsilon", "delta": 0.0}
ONE = {"name": "n", "group": [], "value": 412.0, "half_width": 12.0, "interval": [400.0, 424.0], "confidence": 0.95}
ANSWER = {"answers": [ONE], "cost": COST, "left": LEFT, "entry": 7, "repeated": False}
ME = {"name": "ann", "role": "analyst", "accounts": ["ann"]}


def scripted(replies: list[tuple[int, dict[str, str], Any] | None]) -> Handle:
    """Questions are answered by these, one after another; the last for good."""
    left = list(replies)

    def handle(request: Request) -> tuple[int, dict[str, str], Any] | None:
        if request.path == "/v1/me":
            return 200, {}, ME
        return left.pop(0) if len(left) > 1 else left[0]

    return handle


def test_who_and_what(ann: cp.Client) -> None:
    assert (ann.me.name, ann.me.role, ann.me.accounts) == ("ann", "analyst", ("ann",))
    [table] = ann.tables()
    assert (table.name, table.person, table.rows, table.people) == ("visits", "patient", 3, 3000)
    columns = {one.name: one for one in table.columns}
    assert columns["age"].bounds == (0.0, 100.0)
    assert columns["year"].categories == (2023, 2024, 2025)
    assert "0 to 20000" in table._repr_html_()
    [account] = ann.accounts()
    assert account == ann.account() == ann.account("ann")
    assert (account.left.of, account.left.unit, account.closed) == (3.0, "epsilon", False)


def test_asked_priced_and_asked_again(ann: cp.Client) -> None:
    quote = ann.price(COUNT, epsilon=0.1)
    assert quote.cost.amount == pytest.approx(0.1) and quote.affordable and not quote.free
    before = ann.account().left.amount
    assert before == quote.left.amount
    answer = ann.ask(COUNT, epsilon=0.1)
    [number] = answer
    assert answer.cost == quote.cost and not answer.repeated
    assert answer.left.amount == pytest.approx(before - 0.1, abs=1e-9)
    # Three rows at most of 3000 people; the half-width is what was announced.
    assert number.half_width == quote.expected[0].half_width and number.half_width is not None
    assert number.interval == (number.value - number.half_width, number.value + number.half_width)
    assert number.half_width < 150 and 3000 - 200 < number.value < 9000 + 200
    again = ann.ask("select count ( * ) as n from visits", epsilon=0.1)
    assert (list(again), again.repeated, again.cost.amount) == (list(answer), True, 0.0)
    assert again.left.amount == answer.left.amount
    assert ann.price(COUNT, epsilon=0.1).free


def test_made_up_rows_cost_nothing(ann: cp.Client) -> None:
    before = ann.account()
    answer = ann.ask("SELECT region, COUNT(*) FROM visits GROUP BY region", epsilon=50.0, dummy=True)
    assert answer.dummy and "dummy=True" in repr(answer) and "made-up" in answer._repr_html_()
    assert [number.group for number in answer] == [("north",), ("east",), ("south",), ("west",)]
    # 3000 people of one to three rows.
    assert 3000 < sum(answer) < 9000
    assert (answer.cost.amount, answer.entry, ann.account()) == (0.0, None, before)
    with pytest.raises(cp.ServiceError, match="elsewhere"):
        ann.ask("SELECT COUNT(*) FROM elsewhere", epsilon=1.0, dummy=True)


def test_errors_are_asked_for(ann: cp.Client) -> None:
    answer = ann.ask(COUNT, error=200.0, confidence=0.9)
    assert answer[0].half_width is not None and answer[0].half_width <= 200.0 and answer[0].confidence == 0.9
    assert float(answer) == answer[0].value


def test_builder_asks_what_sql_asks(ann: cp.Client) -> None:
    pairs = [
        (
            "SELECT region, COUNT(*), AVG(cost) FROM visits WHERE age >= 60 AND year = 2024 GROUP BY region",
            cp.Question("visits").where(column("age") >= 60, year=2024).group_by("region").count().mean("cost"),
        ),
        (
            "SELECT SUM(CLAMP(days, 0, 10)) FROM visits WHERE NOT (age < 20 OR age > 80)",
            cp.Question("visits").where(~((column("age") < 20) | (column("age") > 80))).sum("days", bounds=(0, 10)),
        ),
        ("SELECT COUNT(DISTINCT patient) FROM visits", cp.Question("visits").people()),
        ("SELECT QUANTILE(age, 0.25, 0.5) FROM visits", cp.Question("visits").quantiles("age", 0.25, 0.5)),
        (
            "SELECT VARIANCE(days) FROM visits WHERE age BETWEEN 18 AND 64",
            cp.Question("visits").where(column("age").between(18, 64)).variance("days", name="spread"),
        ),
        ("SELECT HISTOGRAM(days, 0, 5, 30) FROM visits", cp.Question("visits").histogram("days", 0, 5, 30)),
    ]
    for sql, question in pairs:
        first, second = ann.ask(sql, epsilon=0.1), ann.ask(question, epsilon=0.1)
        assert not first.repeated and second.repeated, sql
        assert list(first) == list(second)
        assert first.columns == second.columns


def test_groups_bins_and_shares(ann: cp.Client) -> None:
    question = cp.Question("visits").group_by("region", "year").count().histogram("days", 0, 5, 30)
    answer = ann.ask(question, epsilon=0.2)
    regions = ["north", "east", "south", "west"]
    groups = [(region, year) for region in regions for year in (2023, 2024, 2025)]
    assert sorted({number.group for number in answer}) == sorted(groups)
    assert len(answer) == 12 * 3
    frame = answer.frame()
    assert list(frame.columns) == ["region", "year", "name", "bin_from", "bin_to", "value", "half_width", "low", "high"]
    assert frame["value"].tolist() == [number.value for number in answer]
    assert frame.groupby("year").size().to_dict() == {2023: 12, 2024: 12, 2025: 12}
    assert {number.bin for number in answer} == {None, (0.0, 5.0), (5.0, 30.0)}
    html = answer._repr_html_()
    assert html.count("<tr>") == 37 and "95 % each; for 0.2 epsilon" in html
    middle = ann.ask("SELECT MEDIAN(age) FROM visits", epsilon=0.1)[0]
    assert middle.share == 0.5 and middle.interval is not None and middle.half_width is not None
    assert middle.interval[0] <= middle <= middle.interval[1]
    assert middle.half_width == max(middle - middle.interval[0], middle.interval[1] - middle)
    assert {"bin_from", "share"}.isdisjoint(ann.ask(COUNT, epsilon=0.1).frame().columns)


def test_fewer_rows_of_a_person_less_noise(ann: cp.Client) -> None:
    question = cp.Question("visits").count()
    all_rows, one_row = (ann.price(asked, epsilon=0.1) for asked in (question, question.at_most(rows=1)))
    widths = [quote.expected[0].half_width for quote in (all_rows, one_row)]
    assert widths[0] is not None and widths[1] is not None and widths[1] < 0.4 * widths[0]


def test_several_prices(ann: cp.Client) -> None:
    askings: list[Any] = [{"question": COUNT, "epsilon": 0.01 + k / 1000} for k in range(150)]
    askings[120] = {"question": "SELECT COUNT(*) FROM nothing", "epsilon": 0.1}
    quotes = ann.prices(askings)
    assert len(quotes) == 150
    illegal = quotes.pop(120)
    assert isinstance(illegal, cp.errors.IllegalQuestionError) and illegal.code == "illegal"
    costs = [quote.cost.amount for quote in quotes if isinstance(quote, Quote)]
    assert len(costs) == 149 and costs == sorted(costs)
    with pytest.raises(cp.InvalidArgumentError, match="legal: question, and"):
        ann.prices([{"sql": COUNT, "epsilon": 0.1}])  # type: ignore[typeddict-unknown-key]


def test_several_questions(ann: cp.Client) -> None:
    before = ann.account().left.amount
    askings: list[Any] = [{"question": COUNT, "epsilon": 0.001 + k / 1e6} for k in range(10)]
    askings[5] = {"question": "SELECT COUNT(*) FROM nothing", "epsilon": 0.1}
    askings[6] = {"question": COUNT, "epsilon": 50}
    answers = ann.ask_all(askings)
    assert isinstance(answers[5], cp.errors.IllegalQuestionError) and isinstance(answers[6], cp.errors.OverBudgetError)
    told = [answer for answer in answers if isinstance(answer, cp.client.NoisyAnswer)]
    assert len(told) == 8 and not any(answer.repeated for answer in told)
    paid = sum(answer.cost.amount for answer in told)
    assert before - ann.account().left.amount == pytest.approx(paid, rel=1e-6)
    # More than a service takes at once.
    again = [answer for answer in ann.ask_all(askings * 11) if isinstance(answer, cp.client.NoisyAnswer)]
    assert all(answer.repeated for answer in again)
    assert [float(answer) for answer in again] == [float(answer) for answer in told] * 11


def test_problems_are_typed(service: tuple[str, dict[str, str]], ann: cp.Client) -> None:
    with pytest.raises(cp.errors.OverBudgetError) as refused:
        ann.ask(COUNT, epsilon=50)
    assert (refused.value.code, refused.value.status) == ("over-budget", 402)
    assert "ann" in refused.value.detail and not ann.price(COUNT, epsilon=50).affordable
    with pytest.raises(cp.errors.IllegalQuestionError, match="JOIN"):
        ann.ask("SELECT COUNT(*) FROM visits JOIN visits", epsilon=0.1)
    with pytest.raises(ValueError, match="salary"):
        ann.ask(cp.Question("visits").mean("salary"), epsilon=0.1)
    with pytest.raises(cp.errors.NotFoundError, match="does not exist, or is not yours"):
        ann.ask(COUNT, epsilon=0.1, account="ben")
    with pytest.raises(cp.errors.NotFoundError):
        ann.account("no/such?account")
    with pytest.raises(cp.errors.NotAllowedError) as unknown:
        cp.connect(service[0], "cpt_wrong").ask(COUNT, account="ann", epsilon=0.1)
    assert unknown.value.status == 401
    with pytest.raises(cp.errors.NotAllowedError) as forbidden:
        ann.history()
    assert forbidden.value.status == 403
    ann.ask(COUNT, epsilon=0.1, key="mine")
    with pytest.raises(cp.errors.KeyInUseError):
        ann.ask(COUNT, epsilon=0.125, key="mine")


def test_owner_and_auditor_see_the_ledger(service: tuple[str, dict[str, str]]) -> None:
    owner = cp.connect(service[0], service[1]["olga"])
    assert {account.name for account in owner.status()} >= {"ann", "ben", "cleo"}
    history = owner.history()
    assert owner.verify() == history["head"] == cp.connect(service[0], service[1]["otto"]).verify()
    with pytest.raises(cp.InvalidArgumentError, match="token of an analyst"):
        owner.ask(COUNT, epsilon=0.1)


def test_lists_are_read_page_by_page() -> None:
    entries = [{"sequence": number} for number in range(1, 8)]

    def handle(request: Request) -> tuple[int, dict[str, str], Any]:
        after = int(parse_qs(urlsplit(request.path).query).get("after", ["0"])[0])
        page = entries[after : after + 3]
        following = page[-1]["sequence"] if after + 3 < len(entries) else None
        return 200, {}, {"head": f"{7 + after}:ab", "entries": page, "next": following}

    with Fake(handle) as fake:
        assert cp.connect(fake.address, "token").history() == {"head": "13:ab", "entries": entries}
    after = [parse_qs(urlsplit(request.path).query).get("after") for request in fake.seen]
    assert after == [None, ["3"], ["6"]]
    # A service that knows no pages answers all of it.
    with Fake(lambda _: (200, {}, {"head": "7:ab", "entries": entries})) as fake:
        assert cp.connect(fake.address, "token").history() == {"head": "7:ab", "entries": entries}
    assert len(fake.seen) == 1


def test_lost_answers_are_charged_once(service: tuple[str, dict[str, str]], waits: list[float]) -> None:
    drops = 3
    lost: list[bytes] = []

    def flaky(request: Request) -> tuple[int, dict[str, str], bytes] | None:
        status, headers, data = forward(service[0], request)
        if request.path == "/v1/questions" and len(lost) < drops:
            # The service has charged, answered and stored; nobody hears of it.
            assert status == 200
            lost.append(data)
            return None
        return status, headers, data

    with Fake(flaky) as proxy:
        ben = cp.connect(proxy.address, service[1]["ben"])
        before = ben.account()
        answer = ben.ask(COUNT, epsilon=0.5)
        after = ben.account()
        asked = [request.body for request in proxy.seen if request.path == "/v1/questions"]
    assert len(lost) == drops and len(asked) == drops + 1 and len(set(asked)) == 1
    assert after.charges == before.charges + 1
    assert after.left.amount == pytest.approx(before.left.amount - 0.5, abs=1e-9)
    assert answer.repeated and answer.cost.amount == 0.0
    assert answer[0].value == json.loads(lost[0])["answers"][0]["value"]
    # The first was on a connection that had been kept: that one was tried again at once.
    assert waits == [0.2, 0.4]


def test_busy_services_are_asked_again(waits: list[float]) -> None:
    replies: list[Any] = [
        (503, {"Retry-After": "2"}, problem(503, "busy")),
        (429, {"Retry-After": "1"}, problem(429, "too-many")),
        (502, {}, problem(502, "charged-and-failed")),
        (504, {}, b"<html>a gateway</html>"),
        (503, {"Retry-After": "86400"}, problem(503, "busy")),
        (200, {}, ANSWER),
    ]
    with Fake(scripted(replies)) as fake:
        answer = cp.connect(fake.address, "token").ask(COUNT, epsilon=0.1, key="a")
        bodies = [request.body for request in fake.seen if request.method == "POST"]
    assert float(answer) == 412.0
    assert len(bodies) == 6 and len(set(bodies)) == 1 and json.loads(bodies[0])["key"] == "a"
    assert waits == [2.0, 1.0, 0.8, 1.6, 30.0]


@pytest.mark.parametrize(
    ("status", "code", "kind", "tries"),
    [
        (503, "busy", cp.errors.BusyError, 6),
        (429, "too-many", cp.errors.BusyError, 6),
        (502, "charged-and-failed", cp.errors.ChargedAndFailedError, 6),
        (500, "failed", cp.ServiceError, 1),
        (402, "over-budget", cp.errors.OverBudgetError, 1),
        (400, "unreadable", cp.errors.IllegalQuestionError, 1),
        (409, "session-over", cp.errors.SessionOverError, 1),
    ],
)
def test_what_is_given_up(status: int, code: str, kind: type[cp.ServiceError], tries: int, waits: list[float]) -> None:
    with Fake(scripted([(status, {}, problem(status, code))])) as fake:
        with pytest.raises(cp.ServiceError) as raised:
            cp.connect(fake.address, "token").ask(COUNT, account="ann", epsilon=0.1)
        assert len(fake.seen) == tries == len(waits) + 1
    error = raised.value
    assert type(error) is kind and (error.code, error.status, error.detail) == (code, status, "why")
    assert str(error) == f"why ({code})"
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind and (copy.code, copy.status, copy.detail) == (code, status, "why")


def test_nobody_there(waits: list[float]) -> None:
    with Fake(scripted([None])) as fake:
        client = cp.connect(fake.address, "token")
        with pytest.raises(ConnectionError) as raised:
            client.ask(COUNT, account="ann", epsilon=0.1)
        assert isinstance(raised.value, cp.errors.UnreachableError) and raised.value.code == "unreachable"
        assert len(fake.seen) == 6
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (copy.detail, copy.code, copy.status) == (raised.value.detail, "unreachable", None)
    with pytest.raises(cp.errors.UnreachableError):
        client.ask(COUNT, account="ann", epsilon=0.1)


def test_what_is_no_answer() -> None:
    with Fake(scripted([(200, {}, b"<html>hello</html>")])) as fake:
        with pytest.raises(cp.ServiceError, match="no JSON"):
            cp.connect(fake.address, "token").ask(COUNT, epsilon=0.1)


def test_redirects_are_not_followed() -> None:
    with Fake(scripted([(200, {}, ANSWER)])) as other:
        for status in (301, 302, 303, 307, 308):
            with Fake(scripted([(status, {"Location": f"{other.address}/v1/questions"}, b"")])) as fake:
                with pytest.raises(cp.ServiceError) as raised:
                    cp.connect(fake.address, "token").ask(COUNT, account="ann", epsilon=0.1)
                assert (raised.value.code, raised.value.status, len(fake.seen)) == ("moved", status, 1)
        assert not other.seen


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Fake(scripted([(200, {}, ANSWER)])) as proxy, Fake(scripted([(200, {}, ANSWER)])) as fake:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.address)
        cp.connect(fake.address, "token").ask(COUNT, epsilon=0.1)
        assert not proxy.seen and fake.seen


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org",
        "http://192.0.2.1:80",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://0.0.0.0",
        "http://user:password@127.0.0.1",
        "https://user@example.org",
        "ftp://127.0.0.1",
        "127.0.0.1:80",
        "https://",
        "https://example.org:99999",
        "https://example.org?token=1",
        "https://example.org/a b",
        "http://127.0.0.1\n.example.org",
    ],
)
def test_illegal_addresses(url: str) -> None:
    with pytest.raises(cp.InvalidArgumentError, match="legal: "):
        cp.connect(url, "token")


def test_legal_addresses() -> None:
    for url in ("http://127.0.0.1:80", "http://127.9.9.9", "http://[::1]:8000/", "http://localhost", "https://example.org/at"):
        assert repr(cp.connect(url, "secret")) == f"Client({url.rstrip('/')!r})"


@pytest.mark.parametrize("token", ["", "two words", "line\r\nHost: other", "umlaut-ä"])
def test_illegal_tokens_are_not_shown(token: str) -> None:
    with pytest.raises(cp.InvalidArgumentError) as raised:
        cp.connect("http://127.0.0.1", token)
    assert not token or token not in str(raised.value)


def test_illegal_arguments(waits: list[float]) -> None:
    with Fake(scripted([(200, {}, ANSWER)])) as fake:
        client = cp.connect(fake.address, "token")
        for pays in ({}, {"epsilon": 1, "rho": 1}, {"epsilon": float("nan")}, {"error": float("inf")}):
            with pytest.raises(cp.InvalidArgumentError, match="legal: "):
                client.ask(COUNT, **pays)
        with pytest.raises(TypeError, match="legal: SQL as a text, or a Question"):
            client.ask(7, epsilon=1)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="epsilon is of type list"):
            client.ask(COUNT, epsilon=[1])  # type: ignore[arg-type]
        with pytest.raises(cp.InvalidArgumentError, match="exactly one of sparse_vector"):
            client.session("visits")
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(cp.InvalidArgumentError, match="timeout"):
            cp.connect("http://127.0.0.1", "token", timeout=wrong)
    with pytest.raises(cp.InvalidArgumentError, match="cafile"):
        cp.connect("http://127.0.0.1", "token", cafile="/nowhere")


def test_certificates(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, to make a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test".split()
    made = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make, *made], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with Fake(scripted([(200, {}, ANSWER)]), context) as fake:
        with pytest.raises(cp.ServiceError) as raised:
            cp.connect(fake.address, "token").ask(COUNT, epsilon=0.1)
        assert raised.value.code == "certificate" and not fake.seen
        trusting = cp.connect(fake.address, "token", cafile=certificate)
        assert float(trusting.ask(COUNT, epsilon=0.1)) == 412.0
        # By another name it is somebody else.
        other = cp.connect(fake.address.replace("127.0.0.1", "localhost"), "token", cafile=certificate)
        seen = len(fake.seen)
        with pytest.raises(cp.ServiceError) as raised:
            other.ask(COUNT, epsilon=0.1)
        assert raised.value.code == "certificate" and len(fake.seen) == seen


def test_threads_share_a_client(service: tuple[str, dict[str, str]]) -> None:
    cleo = cp.connect(service[0], service[1]["cleo"])
    before = cleo.account()
    questions = [f"SELECT COUNT(*) FROM visits WHERE age >= {20 + k % 6}" for k in range(24)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda sql: cleo.ask(sql, epsilon=0.01), questions))
    values = {(sql, answer[0].value) for sql, answer in zip(questions, answers, strict=True)}
    assert len(values) == 6
    after = cleo.account()
    assert after.charges == before.charges + 6
    assert after.left.amount == pytest.approx(before.left.amount - 0.06, abs=1e-12)
    cleo.close()
    assert cleo.ask(COUNT, epsilon=0.01).entry


def test_numbers_are_floats() -> None:
    number = Number(412.0, "n", ("north", 3), 12.0, (400.0, 424.0), 0.9)
    assert isinstance(number, float) and number + 1 == 413.0 and type(number.value) is float
    assert json.dumps([number]) == "[412.0]"
    copy = pickle.loads(pickle.dumps(number))
    assert copy == number and (copy.group, copy.interval, copy.confidence) == (("north", 3), (400.0, 424.0), 0.9)
    assert repr(number) == "Number(412.0 ± 12.0, n, north, 3)"


def test_answers_show_text_as_text() -> None:
    evil = {**ONE, "group": ["<script>alert(1)</script>"], "name": "a & <b>"}
    answer = NoisyAnswer({**ANSWER, "answers": [evil]}, ["<i>"])
    html = answer._repr_html_()
    for text in ("<script>", "<b>", "<i>", "<questions>"):
        assert text not in html
    assert "&lt;script&gt;" in html and "a &amp; &lt;b&gt;" in html
    with pytest.raises(TypeError, match="2 numbers"):
        float(NoisyAnswer({**ANSWER, "answers": [evil, evil]}))


def test_columns_of_sql() -> None:
    def columns(sql: str, keys: int) -> tuple[str, ...]:
        found = {**ANSWER, "answers": [{**ONE, "group": ["x"] * keys}]}
        with Fake(scripted([(200, {}, found)])) as fake:
            return cp.connect(fake.address, "token").ask(sql, epsilon=1).columns

    assert columns("SELECT COUNT(*) FROM t\nGROUP  BY a,\n b ;", 2) == ("a", "b")
    assert columns("SELECT COUNT(*) FROM t GROUP BY (a)", 1) == ("group_1",)
    assert columns("SELECT COUNT(*) FROM t GROUP BY a", 2) == ("group_1", "group_2")
    assert columns("SELECT COUNT(*) FROM t", 0) == ()


def test_frames_of_columns_called_as_ours() -> None:
    answer = NoisyAnswer({**ANSWER, "answers": [{**ONE, "group": ["x"]}]}, ["name"])
    assert answer.rows()[0]["name_"] == "x" and answer.rows()[0]["name"] == "n"


def test_frames_need_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        NoisyAnswer(ANSWER).frame()


def test_questions_are_values() -> None:
    one = cp.Question("visits").where(region=["north", "east"])
    two = one.count().count()
    assert one.aggregates == () and len(two.aggregates) == 2
    assert hash(one) == hash(cp.Question("visits").where(region=("north", "east")))
    assert one != cp.Question("visits").where(region="north")
    assert pickle.loads(pickle.dumps(two)) == two
    with pytest.raises(AttributeError):
        one.table = "other"  # type: ignore[misc]
    with pytest.raises(TypeError, match="neither true nor false"):
        18 <= column("age") <= 65  # noqa: B015
    with pytest.raises(TypeError, match="a condition is of type bool"):
        one.where(column("age") == 60)  # type: ignore[arg-type, comparison-overlap]
    with pytest.raises(TypeError, match="region is of type float"):
        one.where(region=1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="age is of type str"):
        column("age") >= "old"  # type: ignore[operator]
    with pytest.raises(cp.InvalidArgumentError, match="age is nan"):
        column("age") >= float("nan")


def opened(body: dict[str, Any]) -> dict[str, Any]:
    """What a service says when a session is opened."""
    return {"key": body["key"], "cost": COST, "left": LEFT, "answered": 0, "over": False}


def replied(reply: Any, over: bool = False) -> dict[str, Any]:
    """What a session says."""
    return {"reply": reply, "answered": 1, "over": over, "entry": 9, "repeated": False}


def sessions(replies: list[Any]) -> Handle:
    """A service with a session that says these."""
    left = list(replies)

    def handle(request: Request) -> tuple[int, dict[str, str], Any]:
        if request.path == "/v1/me":
            return 200, {}, ME
        if request.path == "/v1/sessions":
            return 200, {}, opened(json.loads(request.body))
        if request.method == "DELETE":
            return 409, {}, problem(409, "session-over")
        return 200, {}, replied(left.pop(0))

    return handle


def test_sessions_speak_as_the_service_does() -> None:
    said: list[Any] = ["below", {"above": None}, {"above": 3.5}, "pass", {"wrong": 7}, {"number": 1.5}, {"table": [1, 2.5]}]
    with Fake(sessions(said)) as fake:
        client = cp.connect(fake.address, "token")
        with client.session("visits", sparse_vector={"epsilon": 0.1, "answers": 3, "threshold": 500}, key="a b") as session:
            replies = [session.ask(COUNT, guess=k) for k in range(7)]
        with pytest.raises(RuntimeError):
            with client.session("visits", sequence=[{"of": cp.Question("visits").mean("cost"), "epsilon": 0.1}]):
                raise RuntimeError
    kinds = [(reply.kind, reply.value, reply.table) for reply in replies]
    assert kinds == [
        ("below", None, ()),
        ("above", None, ()),
        ("above", 3.5, ()),
        ("pass", None, ()),
        ("wrong", 7.0, ()),
        ("number", 1.5, ()),
        ("table", None, (1.0, 2.5)),
    ]
    assert session.over
    sent = [(request.method, request.path) for request in fake.seen if request.path != "/v1/me"]
    path = "/v1/sessions/ann/a%20b"
    # Left by an error it stays open.
    asked = [("POST", f"{path}/questions")] * 7
    assert sent == [("POST", "/v1/sessions"), *asked, ("DELETE", path), ("POST", "/v1/sessions")]
    names = {json.loads(request.body)["name"] for request in fake.seen if request.path.endswith("/questions")}
    assert len(names) == 7
    declared = json.loads(fake.seen[-1].body)
    assert declared["sequence"] == [{"of": {"mean": {"column": "cost"}}, "epsilon": 0.1}]
    assert len(declared["key"]) == 32


def test_sessions_of_the_program(service: tuple[str, dict[str, str]], waits: list[float]) -> None:
    there = http.client.HTTPConnection(urlsplit(service[0]).netloc)
    there.request("GET", "/v1/openapi.json")
    if "/v1/sessions" not in json.loads(there.getresponse().read())["paths"]:
        pytest.skip("the program has no sessions")
    lost: list[str] = []

    def flaky(request: Request) -> tuple[int, dict[str, str], bytes] | None:
        reply = forward(service[0], request)
        if request.method == "POST" and lost.count(request.path) < 2:
            lost.append(request.path)
            return None
        return reply

    with Fake(flaky) as proxy:
        ben = cp.connect(proxy.address, service[1]["ben"])
        before = ben.account()
        gate: Any = {"epsilon": 0.2, "answers": 1, "threshold": 1000.0}
        with ben.session("visits", sparse_vector=gate, key="gate") as session:
            # Far below, and far above: chance has next to no say.
            none = session.ask("SELECT COUNT(*) FROM visits WHERE age > 99.5")
            many = session.ask(cp.Question("visits").count())
            assert (none.kind, many.kind, many.over) == ("below", "above", True)
            assert session.ask("SELECT COUNT(*) FROM visits WHERE age > 99.5").repeated
        after = ben.account()
        assert after.charges == before.charges + 1
        assert after.left.amount == pytest.approx(before.left.amount - 0.6, abs=1e-9)
        again = ben.session("visits", sparse_vector=gate, key="gate")
        assert (again.over, again.cost.amount, ben.account().left) == (True, 0.0, after.left)
        with pytest.raises(cp.errors.SessionOverError):
            again.ask("SELECT COUNT(*) FROM visits WHERE age > 50")
        with ben.session("visits", guess_and_check={"epsilon": 0.2, "corrections": 1, "tolerance": 2000.0}) as session:
            assert session.ask("SELECT COUNT(*) FROM visits WHERE age > 99.5", guess=0).kind == "pass"
            wrong = session.ask(COUNT, guess=1_000_000)
            assert wrong.kind == "wrong" and wrong.value is not None and abs(wrong.value) < 20_000
        step = cp.Question("visits").mean("days")
        with ben.session("visits", sequence=[{"of": step, "epsilon": 0.2}]) as session:
            assert session.ask(step, epsilon=0.2).kind == "number"
        assert {one["key"] for one in ben.sessions()} >= {"gate", session.key}


def test_the_client_is_imported_when_it_is_needed() -> None:
    code = (
        "import sys, counterpoint as cp; print('counterpoint.client' in sys.modules, hasattr(cp, 'nothing'), 'connect' in dir(cp)); "
        "print(cp.client.NoisyAnswer.__name__); from counterpoint import *; print(connect is cp.connect, Question is cp.Question)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == ["False", "False", "True", "NoisyAnswer", "True", "True"]
