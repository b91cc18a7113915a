"""Answers the HTTP requests of a tool: the host does, through the judge, or recorded exchanges do.

No process of the sandbox has a socket. A request to the host is a frame on the tool's channel to
the judge, `{"number", "request"}`; the answer is `{"number"}` with `response`, or with `error` and
`slow`. Requests and responses have the fields of `HttpRequest` and `HttpResponse` of the host.
"""

import json
import os
import threading
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterable
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from .frames import Channel, Message

LARGEST_REQUEST = 1024 * 1024
"""Bytes of the body of a request."""
LARGEST_RESPONSE = 8 * 1024 * 1024
"""Bytes of the body of a response."""
MOST_REQUESTS = 200
"""Requests to the host in one call."""

_PORTS = {"http": 80, "https": 443, "postgresql": 5432}
_OF_A_CONNECTION = {
    "connection",
    "content-encoding",
    "content-length",
    "keep-alive",
    "proxy-authenticate",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
"""Headers that describe how a response was sent, which a client here must not undo again."""
_NEVER_SENT = {"accept-encoding", "host", *_OF_A_CONNECTION}
_USER = ("user", True)
_SHOWN = 300


class ClientResponse(NamedTuple):
    """A response as a client sees it."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class HttpTransport:
    """The transport of this process, for all its clients and threads.

    Exchanges answer offline: method, URL and body must match; the order of the query and of keys in
    JSON does not matter, nor do headers. A request that was recorded several times gets its
    responses in order in each call, and the last one ever after.
    """

    def __init__(self) -> None:
        self._line: HostLine | None = None
        self._exchanges: list[tuple[_Identity, Message]] = []
        self.unmatched = ""
        """Why the first request that matches no exchange has no answer."""

    def begin(self, job: Message, control: Channel) -> Channel:
        """Take the requests of a job; returns the channel to the judge to use from then on."""
        self._line = None
        if job.get("network"):
            self._line = control = control if isinstance(control, HostLine) else HostLine(control)
            control.begin()
        self._exchanges = [(_identity(e["request"]), e) for e in job.get("exchanges", [])]
        self._redirects: dict[Any, ClientResponse] = {}
        self.rewind()
        return control

    def rewind(self) -> None:
        """Begin a call."""
        self._counts: defaultdict[_Identity, count[int]] = defaultdict(count)

    def send(
        self,
        method: str,
        url: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        timeout: float | None,
    ) -> ClientResponse:
        """The response to a request. The host has followed redirects: a client sees one, to where
        the last led.

        Raises:
            ConnectionError: nothing answers it; the message names the host and the reason.
            TimeoutError: nothing did within so many seconds.
        """
        url = url.partition("#")[0]
        if earlier := self._redirects.pop(_place(url), None):
            return earlier
        if len(body) > LARGEST_REQUEST:
            raise ConnectionError(
                f"a request to {_host(url)} has {len(body)} bytes; {LARGEST_REQUEST} are allowed"
            )
        request: Message = {
            "method": method.upper(),
            "url": url,
            "headers": [[n.lower(), v] for n, v in headers if n.lower() not in _NEVER_SENT],
            "body": b64encode(body).decode(),
        }
        fields = self._line.ask(request, timeout) if self._line else self._recorded(request)
        response = _response(request["method"], fields)
        if (place := _place(fields["url"])) == _place(url):
            return response
        self._redirects[place] = response
        return ClientResponse(302, [("location", fields["url"]), ("content-length", "0")], b"")

    def _recorded(self, request: Message) -> Message:
        if not self._exchanges:
            raise ConnectionError(
                f"no consent for {_host(request['url'])}: this code was granted no network, and no "
                "exchange with a server is recorded"
            )
        identity = _identity(request)
        if responses := [e["response"] for i, e in self._exchanges if i == identity]:
            response: Message = responses[min(next(self._counts[identity]), len(responses) - 1)]
            return response
        nearest = max(self._exchanges, key=lambda e: _common(e[0], identity))
        problem = f"no recorded exchange for {_summary(request)}; the nearest " + _difference(
            nearest[1]["request"], _common(nearest[0], identity)
        )
        self.unmatched = self.unmatched or problem
        raise ConnectionError(problem)


def _response(method: str, fields: Message) -> ClientResponse:
    body = b64decode(fields["body"])
    headers = [(n, v) for n, v in fields["headers"] if n.lower() not in _OF_A_CONNECTION]
    length = next((v for n, v in fields["headers"] if n.lower() == "content-length"), "")
    if body or length:
        headers.append(("content-length", length if method == "HEAD" else str(len(body))))
    return ClientResponse(fields["status"], headers, body)


class HostLine(Channel):
    """The channel to the judge of a process whose threads may send requests to the host."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel.sock)
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[Message | None] = SimpleQueue()
        threading.Thread(target=self._read, name="http", daemon=True).start()

    def begin(self) -> None:
        """Begin a job."""
        self._count = 0
        self._answers: dict[int, SimpleQueue[Message]] = {}

    def send(self, message: Message) -> None:
        with self._lock:
            super().send(message)

    def receive(self) -> Message | None:
        return self._jobs.get()

    def ask(self, request: Message, timeout: float | None) -> Message:
        if os.getpid() != self._process:
            raise ConnectionError(
                f"a request to {_host(request['url'])} comes from a process that the tool started; "
                "use threads"
            )
        answer: SimpleQueue[Message] = SimpleQueue()
        with self._lock:
            if self._count == MOST_REQUESTS:
                raise ConnectionError(
                    f"a request to {_host(request['url'])} follows {MOST_REQUESTS} others; no call "
                    "may send more"
                )
            self._count += 1
            number = self._count
            self._answers[number] = answer
            super().send({"number": number, "request": request})
        try:
            message = answer.get(timeout=None if timeout is None else max(0.0, timeout))
        except Empty:
            raise TimeoutError("timed out") from None
        finally:
            self._answers.pop(number, None)
        if "response" in message:
            response: Message = message["response"]
            return response
        raise (TimeoutError if message["slow"] else ConnectionError)(message["error"])

    def _read(self) -> None:
        while (message := super().receive()) is not None:
            if answer := self._answers.get(message.get("number", 0)):
                answer.put(message)
            elif "number" not in message:
                self._jobs.put(message)
        self._jobs.put(None)


_Identity = tuple[Any, ...]
"""Host, path, scheme, method, query and body, the same for requests that mean the same."""


def _identity(request: Message) -> _Identity:
    host, path, scheme, query = _place(request["url"])
    return host, path, scheme, request["method"], query, _meaning(b64decode(request["body"]))


def _common(a: _Identity, b: _Identity) -> list[bool]:
    return [x == y for x, y in zip(a, b, strict=True)]


def _difference(request: Message, common: list[bool]) -> str:
    """The difference of a recorded request, as the end of a sentence."""
    if not all(common[:3]):
        return f"is {_summary(request)}"
    body = b64decode(request["body"])[:_SHOWN].decode("utf-8", "replace")
    texts = {
        "method": request["method"],
        "query": urlsplit(request["url"]).query[:_SHOWN],
        "body": body,
    }
    different = [n for n, same in zip(texts, common[3:], strict=True) if not same]
    return "differs in " + " and ".join(f"the {n}: {texts[n] or 'it has none'}" for n in different)


def _place(url: str) -> tuple[Any, ...]:
    """Host with port, path, scheme and sorted query of a URL, however it is written; for a database
    neither the user nor the lines of the SQL.
    """
    parts = urlsplit(url)
    pairs, is_sql = parse_qsl(parts.query, keep_blank_values=True), parts.scheme == "postgresql"
    lines = [(n, " ".join(v.split()) if is_sql else v) for n, v in pairs if (n, is_sql) != _USER]
    try:
        port = parts.port
    except ValueError:
        port = -1
    return (
        (parts.hostname or "", port or _PORTS.get(parts.scheme)),
        unquote(parts.path) or "/",
        parts.scheme,
        tuple(sorted(lines)),
    )


def _meaning(body: bytes) -> str | bytes:
    """A body without what differs each time: the order of JSON, the boundary of a form."""
    try:
        return json.dumps(json.loads(body), sort_keys=True)
    except (ValueError, RecursionError):
        boundary = body.partition(b"\r\n")[0]
        return body.replace(boundary[2:], b"") if boundary[:2] == b"--" else body


def _host(url: str) -> str:
    return urlsplit(url).hostname or url[:_SHOWN]


def _summary(request: Message) -> str:
    return f"{request['method']} {request['url'][:_SHOWN]}"


TRANSPORT = HttpTransport()
