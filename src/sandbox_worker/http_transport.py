"""Answers the HTTP requests of a tool: the host does, through the judge, or recorded exchanges do.

No process of the sandbox has a socket. A request to the host is a frame on the tool's channel to
the judge, `{"number", "request"}`; the answer is `{"number"}` with `response`, or with `error` and
`slow`. Requests and responses have the fields of `HttpRequest` and `HttpResponse` of the host.
"""

import json
import os
import threading
from base64 import b64decode, b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from .frames import Channel, Message

LARGEST_REQUEST = 1024 * 1024
"""Bytes of the body of a request."""
LARGEST_RESPONSE = 8 * 1024 * 1024
"""Bytes of the body of a response."""
MOST_REQUESTS = 200
"""Requests to the host in one call."""

_PORTS = {"http": 80, "https": 443}
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
_SHOWN = 300


class ClientResponse(NamedTuple):
    """A response as a client sees it."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Source(Protocol):
    def ask(self, request: Message, timeout: float | None) -> Message:
        """The response to a request. Raises: ConnectionError, TimeoutError."""


class HttpTransport:
    """The transport of this process, for all clients and threads."""

    def __init__(self) -> None:
        self._source: Source = RecordedExchanges([], self)
        self._redirects: dict[Any, ClientResponse] = {}
        self._unmatched = ""

    def begin(self, job: Message, control: Channel) -> Channel:
        """ClientResponse the requests of a job; returns the channel for what it reports."""
        self._redirects, self._unmatched = {}, ""
        if job.get("network"):
            line = HostLine(control.sock)
            self._source = line
            return line
        self._source = RecordedExchanges(job.get("exchanges", []), self)
        return control

    def rewind(self) -> None:
        """Begin a call: it gets the exchanges of a repeated request from the first one again."""
        if isinstance(self._source, RecordedExchanges):
            self._source.rewind()

    def note(self, problem: str) -> None:
        self._unmatched = self._unmatched or problem

    def unmatched(self) -> str:
        """Why the first request since the last question matched no exchange; "" if all did."""
        problem, self._unmatched = self._unmatched, ""
        return problem

    def send(
        self,
        method: str,
        url: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        timeout: float | None = None,
    ) -> ClientResponse:
        """The response to a request. The host has followed redirects: a client sees one, to where
        the last led.

        Raises:
            ConnectionError: nothing answers it; the message names the host and the reason.
            TimeoutError: nothing did within so many seconds.
        """
        url = url.partition("#")[0]
        if answer := self._redirects.pop(_place(url), None):
            return answer
        if len(body) > LARGEST_REQUEST:
            raise ConnectionError(
                f"a request to {_host(url)} has {len(body)} bytes; {LARGEST_REQUEST} are allowed"
            )
        request = {
            "method": method.upper(),
            "url": url,
            "headers": [[n.lower(), v] for n, v in headers if n.lower() not in _NEVER_SENT],
            "body": b64encode(body).decode(),
        }
        response = self._source.ask(request, timeout)
        answer = _answer(method, response)
        if _place(response["url"]) == _place(url):
            return answer
        self._redirects[_place(response["url"])] = answer
        return ClientResponse(302, [("location", response["url"]), ("content-length", "0")], b"")


def _answer(method: str, response: Message) -> ClientResponse:
    body = b64decode(response["body"])
    headers = [(n, v) for n, v in response["headers"] if n.lower() not in _OF_A_CONNECTION]
    length = next((v for n, v in response["headers"] if n.lower() == "content-length"), "")
    if body or length:
        headers.append(("content-length", length if method.upper() == "HEAD" else str(len(body))))
    return ClientResponse(response["status"], headers, body)


class HostLine(Channel):
    """The channel to the judge of a call that may send requests to the host, from any thread."""

    def __init__(self, sock: Any) -> None:
        super().__init__(sock)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._count = 0
        self._answers: dict[int, SimpleQueue[Message]] = {}

    def send(self, message: Message) -> None:
        with self._lock:
            super().send(message)

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
            if not self._count:
                threading.Thread(target=self._read, name="http", daemon=True).start()
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
        while (message := self.receive()) is not None:
            if answer := self._answers.get(message["number"]):
                answer.put(message)


class RecordedExchanges:
    """Answers requests offline. Method, URL and body must match; the order of the query does not
    matter, nor do headers and the order of keys in JSON. A request that was recorded several times
    gets its responses in order, and the last one ever after.
    """

    def __init__(self, exchanges: list[Message], transport: HttpTransport) -> None:
        self._transport = transport
        self._requests = [exchange["request"] for exchange in exchanges]
        self._responses: defaultdict[Any, list[Message]] = defaultdict(list)
        for exchange in exchanges:
            self._responses[_identity(exchange["request"])].append(exchange["response"])
        self._lock = threading.Lock()
        self._counts: Counter[Any] = Counter()

    def rewind(self) -> None:
        self._counts.clear()

    def ask(self, request: Message, timeout: float | None) -> Message:
        host, identity = _host(request["url"]), _identity(request)
        if not self._requests:
            raise ConnectionError(
                f"no consent for {host}: this code was granted no network, and no exchange with a "
                "server is recorded"
            )
        if responses := self._responses.get(identity):
            with self._lock:
                number, self._counts[identity] = self._counts[identity], self._counts[identity] + 1
            return responses[min(number, len(responses) - 1)]
        problem = f"no recorded exchange for {_summary(request)}; {self._nearest(request)}"
        self._transport.note(problem)
        raise ConnectionError(problem)

    def _nearest(self, request: Message) -> str:
        """What differs in the exchange that is most like a request, as the end of a sentence."""
        parts = _identity(request)
        nearest = max(self._requests, key=lambda r: _likeness(_identity(r), parts))
        theirs = _identity(nearest)
        if theirs.place[:3] != parts.place[:3]:
            return f"the nearest is {_summary(nearest)}"
        differences = []
        if theirs.method != parts.method:
            differences.append(f"the method: {theirs.method}")
        if theirs.place != parts.place:
            query = urlsplit(nearest["url"]).query
            differences.append(f"the query: {query[:_SHOWN] or 'it has none'}")
        if theirs.body != parts.body:
            text = b64decode(nearest["body"])[:_SHOWN].decode("utf-8", "replace")
            differences.append(f"the body: {text or 'it has none'}")
        return f"the nearest differs in {' and '.join(differences)}"


class _Identity(NamedTuple):
    """What two requests that mean the same have in common."""

    method: str
    place: tuple[Any, ...]
    body: str | bytes


def _identity(request: Message) -> _Identity:
    return _Identity(
        request["method"], _place(request["url"]), _meaning(b64decode(request["body"]))
    )


def _likeness(a: _Identity, b: _Identity) -> tuple[bool, ...]:
    scheme, host, path, query = (x == y for x, y in zip(a.place, b.place, strict=True))
    return host, path, scheme, a.method == b.method, query, a.body == b.body


def _place(url: str) -> tuple[Any, ...]:
    """Scheme, host with port, path and sorted query of a URL, however it is written."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    return (
        parts.scheme,
        (parts.hostname or "", port or _PORTS.get(parts.scheme)),
        unquote(parts.path) or "/",
        tuple(sorted(parse_qsl(parts.query, keep_blank_values=True))),
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
