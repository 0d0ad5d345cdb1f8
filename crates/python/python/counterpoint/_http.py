"""JSON over HTTP to one service and to no other host, with retries."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from .errors import (
    BusyError,
    ChargedAndFailedError,
    IllegalQuestionError,
    InvalidArgumentError,
    KeyInUseError,
    NotAllowedError,
    NotFoundError,
    OverBudgetError,
    ServiceError,
    SessionOverError,
    UnreachableError,
)

if TYPE_CHECKING:
    import http.client
    from collections.abc import Iterator, Mapping

TRIES = 6
"""The number of times a request is sent: with the waits below, for about six seconds."""
PAGE = 10_000
"""The number of list items per page: the most that a service returns."""
FIRST_WAIT = 0.2
LONGEST_WAIT = 30.0

KINDS: dict[int, type[ServiceError]] = {
    400: IllegalQuestionError,
    401: NotAllowedError,
    402: OverBudgetError,
    403: NotAllowedError,
    404: NotFoundError,
    409: KeyInUseError,
    413: IllegalQuestionError,
    422: IllegalQuestionError,
    429: BusyError,
    502: UnreachableError,
    503: BusyError,
    504: UnreachableError,
}
CODES: dict[str, type[ServiceError]] = {"session-over": SessionOverError, "charged-and-failed": ChargedAndFailedError}


def is_loopback(host: str) -> bool:
    """True if a name or an address is this machine's."""
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def problem(found: Any, status: int) -> ServiceError:
    """The exception for a problem that a service reports."""
    known = found if isinstance(found, dict) else {}
    code = str(known.get("code", "failed"))
    detail = str(known.get("detail", f"the service says {status} and nothing else"))
    kind = CODES.get(code) or KINDS.get(status, ServiceError)
    return kind(detail, code, status)


class Service:
    """One service, with connections that are kept open. Threads may share it."""

    def __init__(self, url: str, token: str, timeout: float, cafile: str | None) -> None:
        from urllib.parse import urlsplit

        if not isinstance(url, str):
            raise TypeError(f"url is of type {type(url).__name__}; legal: a text")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise InvalidArgumentError(f"url is {url!r}: {error}; legal: https://HOST[:PORT]") from error
        is_plain = all("!" <= char <= "~" for char in url) and not (parts.query or parts.fragment)
        if parts.scheme not in ("http", "https") or not parts.hostname or not is_plain:
            raise InvalidArgumentError(f"url is {url!r}; legal: https://HOST[:PORT], or http:// on this machine")
        if parts.username is not None or parts.password is not None:
            raise InvalidArgumentError("url has a user or a password in it; legal: https://HOST[:PORT]")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise InvalidArgumentError(f"url is {url!r}, where anybody could read the token; legal: https:// beyond this machine")
        if cafile is not None and parts.scheme == "http":
            raise InvalidArgumentError("cafile is given with http://; legal: with https://")
        if not isinstance(token, str):
            raise TypeError(f"token is of type {type(token).__name__}; legal: a text")
        if not token or not all("!" <= char <= "~" for char in token):
            raise InvalidArgumentError("token is empty, or has a space or worse in it; legal: as it was printed")
        if not 0 < timeout < float("inf"):
            raise InvalidArgumentError(f"timeout is {timeout}; legal: seconds above 0")
        self.address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._host, self._port, self._path = parts.hostname, port, parts.path.rstrip("/")
        self._token, self._timeout = token, timeout
        self._context = None
        if parts.scheme == "https":
            import ssl

            self._context = ssl.create_default_context(cafile=cafile)
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def close(self) -> None:
        """Closes the connections that are kept open."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def get(self, path: str) -> Any:
        """Sends GET and returns the JSON of the response."""
        return self._ask("GET", path, None)

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """The pages of a list, from the first to the last."""
        after = ""
        while True:
            page = self.get(f"{path}?limit={PAGE}{after}")
            yield page
            if page.get("next") is None:
                return
            after = f"&after={page['next']}"

    def delete(self, path: str) -> Any:
        """Sends DELETE and returns the JSON of the response."""
        return self._ask("DELETE", path, None)

    def post(self, path: str, body: Any) -> Any:
        """Sends POST and returns the JSON of the response. A retry sends the same bytes, so that it is charged once."""
        import json

        return self._ask("POST", path, json.dumps(body, allow_nan=False).encode())

    def _ask(self, method: str, path: str, body: bytes | None) -> Any:
        wait, tries = FIRST_WAIT, 0
        while True:
            tries += 1
            error: ServiceError
            after = None
            try:
                status, headers, data = self._send(method, path, body)
            except UnreachableError as unreachable:
                error = unreachable
            else:
                if 200 <= status < 300:
                    return _read(data, status)
                if 300 <= status < 400:
                    raise ServiceError(f"the service at {self.address} says it is elsewhere", "moved", status)
                error = problem(_maybe_read(data), status)
                after = headers.get("retry-after")
                if not isinstance(error, (BusyError, ChargedAndFailedError, UnreachableError)):
                    raise error
            if tries == TRIES:
                raise error
            time.sleep(_seconds(after, wait))
            wait *= 2

    def _send(self, method: str, path: str, body: bytes | None) -> tuple[int, Mapping[str, str], bytes]:
        import http.client
        import ssl

        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        while True:
            with self._lock:
                kept = self._idle.pop() if self._idle else None
            connection = kept or self._connection()
            try:
                connection.request(method, self._path + path, body, headers)
                response = connection.getresponse()
                data = response.read()
            except ssl.SSLCertVerificationError as error:
                connection.close()
                raise ServiceError(f"{self.address} is not who it says: {error.verify_message}", "certificate") from error
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if kept is not None and not isinstance(error, TimeoutError):
                    # The service may have closed an idle connection meanwhile: retry at once on another.
                    continue
                detail = f"{self.address} cannot be reached, or does not answer: {error or type(error).__name__}"
                raise UnreachableError(detail, "unreachable") from error
            except BaseException:
                connection.close()
                raise
            if response.will_close:
                connection.close()
            else:
                with self._lock:
                    self._idle.append(connection)
            return response.status, {name.lower(): value for name, value in response.getheaders()}, data

    def _connection(self) -> http.client.HTTPConnection:
        # Neither follows redirects, nor asks the environment for a proxy.
        import http.client

        if self._context is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._context)


def _read(data: bytes, status: int) -> Any:
    import json

    try:
        return json.loads(data)
    except ValueError as error:
        raise ServiceError("what came back is no JSON", "unreadable", status) from error


def _maybe_read(data: bytes) -> Any:
    import json

    try:
        return json.loads(data)
    except ValueError:
        return None


def _seconds(after: str | None, wait: float) -> float:
    """The time to wait: as long as the service says, within bounds."""
    if after is not None and after.strip().isdecimal():
        return min(max(float(after.strip()), wait), LONGEST_WAIT)
    return min(wait, LONGEST_WAIT)
