"""A network that answers from a dictionary, for tests of HTTP in the sandbox."""

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from selfeng.core.errors import NetworkRefused
from selfeng.core.http import Exchange, HttpRequest, HttpResponse, Method

ORIGIN = "https://api.example.org"
AT = datetime(2026, 11, 29, tzinfo=UTC)
Responder = Callable[[HttpRequest], HttpResponse]


def response(
    body: bytes | str | object = b"",
    status: int = 200,
    url: str = f"{ORIGIN}/",
    **headers: str,
) -> HttpResponse:
    """JSON of what is neither bytes nor text; `_` in a header's name is `-`."""
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body, headers = json.dumps(body).encode(), {"content_type": "application/json", **headers}
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return HttpResponse(status=status, headers=fields, body=b64encode(body).decode(), url=url)


def exchange(
    path: str, answer: HttpResponse, method: Method = "GET", body: bytes | str = b""
) -> Exchange:
    body = body.encode() if isinstance(body, str) else body
    request = HttpRequest(method=method, url=ORIGIN + path, body=b64encode(body).decode())
    at_place = answer.model_copy(update={"url": request.url})
    return Exchange(request=request, response=at_place, at=AT)


def echo(request: HttpRequest) -> HttpResponse:
    """The request that the server got, as its response."""
    fields = {
        "method": request.method,
        "url": request.url,
        "headers": dict(request.headers),
        "body": b64decode(request.body).decode(),
    }
    return response(fields, url=request.url)


class DictionaryNetwork:
    """A `Network` that answers by the path, as `echo` by default."""

    def __init__(self, repeatable: bool = True, **paths: Responder | HttpResponse) -> None:
        self._repeatable, self._paths = repeatable, paths
        self.requests: list[HttpRequest] = []
        self.hangs = asyncio.Event()
        """Set when a request to `/never` has come, which gets no answer."""
        self.cancelled = 0
        """Requests that were cancelled."""

    @property
    def repeatable(self) -> bool:
        return self._repeatable

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        parts = urlsplit(request.url)
        if parts.hostname != "api.example.org":
            raise NetworkRefused(f"no consent for {parts.hostname}: only for api.example.org")
        if parts.path == "/never":
            self.hangs.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if parts.path == "/late":
            raise NetworkRefused("api.example.org did not answer in 20 s", cause="slow")
        answer = self._paths.get(parts.path.strip("/"), echo)
        if isinstance(answer, HttpResponse):
            return answer.model_copy(update={"url": request.url})
        return answer(request)
