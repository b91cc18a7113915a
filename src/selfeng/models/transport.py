"""The transport to a model's server: single requests by the API and in the form that it takes."""

import asyncio
import json
import re
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from json import JSONDecodeError
from typing import Any

import httpx2
from openai import (
    AsyncOpenAI,
    AsyncStream,
    DefaultAsyncHttpx2Client,
    NotFoundError,
    OpenAIError,
)
from openai.types import Model
from openai.types.chat import ChatCompletion

from selfeng.core.bounded_reply import bound
from selfeng.core.daemon_threads import call_by_size
from selfeng.core.errors import ModelError
from selfeng.core.model_server import ModelServer
from selfeng.core.prompt import PROMPT_NAME
from selfeng.models.adaptation import (
    Body,
    Form,
    adaptation_for,
    applied,
    described,
    untold,
    wants_plainer,
)
from selfeng.models.chat import ChatRequest, Guard, ListedModel, Piece, Pieces, asked_again
from selfeng.models.json_text import loads
from selfeng.models.model_failures import RequestRefused, cause, failure, not_a_model, refuses
from selfeng.models.received import Chunks, as_built, context_length_in, piece_of, whole_of
from selfeng.models.responses import ResponseEvents, completion_of, request_of

_STREAMING: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
_CAPS = {"max_tokens", "max_completion_tokens"}
CHAT, RESPONSES = "/chat/completions", "/responses"
_MISSING = {404, 405}
"""Statuses of a path that a server does not have."""
_SPEAKS_OF = {CHAT: r"chat[/.\s]?completions", RESPONSES: r"\bresponses\b"}
_LARGEST_ERROR = 1_000_000
"""Characters of a reply that may be an error."""
_MOST = 12
"""Requests that are sent at most until the server takes one."""


class Transport:
    """The `Provider` for OpenAI-compatible servers, on the official SDK. It speaks
    `chat.completions`, or the Responses API where the server wants that, and adapts requests that
    the server refuses. It remembers the form that the server accepts.
    """

    def __init__(self, server: ModelServer, max_retries: int) -> None:
        self.server = server
        self._cap = "max_completion_tokens" if server.openai else "max_tokens"
        """The field that limits the length of a reply. OpenAI's newer models refuse its older name,
        which may be all that other servers know.
        """
        self._path = RESPONSES if _prefers_responses(server) else CHAT
        self._lacking: set[str] = set()
        self._form: Form = ()
        self._in_vain: set[frozenset[str]] = set()
        """Fields of requests that are refused in every form, for reasons that are not clear."""
        self._sdk = AsyncOpenAI(
            **server.sdk_options, max_retries=max_retries, http_client=_http_client(server)
        )

    @property
    def habits(self) -> tuple[str, ...]:
        """How requests differ from the usual, for people."""
        api = ("the Responses API",) if self._path == RESPONSES else ()
        return (*api, *described(self._form))

    async def aclose(self) -> None:
        await self._sdk.close()

    async def models(self, patience: float | None = None) -> list[ListedModel]:
        sdk = self._sdk
        if patience:
            sdk = sdk.with_options(max_retries=0, timeout=patience)
        try:
            listed = await sdk.get("/models", cast_to=httpx2.Response)
            return await asyncio.to_thread(_models_in, listed.content)
        except (OpenAIError, ValueError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, NotFoundError) and (deployment := self.server.deployment):
                return [ListedModel(deployment, None)]
            raise failure(error, self.server) from cause(error, self.server)

    async def forward(
        self, body: Body, *, path: str = CHAT
    ) -> AsyncGenerator[tuple[int, str] | bytes, None]:
        """A refusal that names a part of the request leads to the adapted
        form, if the program still gets what it asks for.
        """
        form: Form = ()
        while True:
            wire = {**applied(form, body), "model": self.server.model}
            try:
                async with self._create(path, wire) as reply:
                    yield reply.status_code, reply.headers.get("content-type", "application/json")
                    async for piece in reply.iter_bytes():
                        yield piece
                    return
            except (OpenAIError, ValueError) as error:
                translated = failure(error, self.server)
                if (step := _harmless(translated, wire, form)) is None:
                    raise translated from cause(error, self.server)
                form = (*form, step)

    def _create(self, path: str, wire: Body) -> Any:
        api: Any = self._sdk.responses if path == RESPONSES else self._sdk.chat.completions
        required: dict[str, Any] = {"input": ""} if path == RESPONSES else {"messages": []}
        return api.with_streaming_response.create(
            model=self.server.model, **required, extra_body=wire
        )

    async def send(
        self, request: ChatRequest, guard: Guard, *, streamed: bool, cap: int | None = None
    ) -> Pieces:
        body = body_of(request, self.server.model)
        if cap is not None:
            body[self._cap] = cap
        if streamed:
            body |= _STREAMING
        attempts = _Attempts(
            lambda body, form: guard(lambda: self._post(body, form, request.prompt))
        )
        try:
            return await self._adapted(body, attempts)
        except RequestRefused as refusal:
            before, alternative = self._path, self._alternative_path(refusal, body)
            if alternative is None:
                raise
            self._path = alternative
            try:
                return await self._adapted(body, attempts)
            except RequestRefused as error:
                if error.status in _MISSING:
                    self._lacking.add(alternative)
                    self._path = before
                    raise refusal from None
                raise

    def _alternative_path(self, refusal: RequestRefused, body: Body) -> str | None:
        """The path to try instead of one that the server, or the model, may not have."""
        alternative = CHAT if self._path == RESPONSES else RESPONSES
        if self.server.api != "auto" or alternative in self._lacking:
            return None
        mention = re.search(_SPEAKS_OF[alternative], refusal.said, re.IGNORECASE)
        missing = refusal.status in _MISSING and not wants_plainer(refusal.said, body)
        return alternative if mention or missing else None

    async def _adapted(self, body: Body, attempts: "_Attempts") -> Pieces:
        """Send the body in the form that was taken before, then in forms that refusals ask for,
        then in others. The form that is taken is remembered.
        """
        fields = frozenset(body)
        try:
            reply, form = await attempts.follow(body, self._form)
        except RequestRefused as refusal:
            blind = refusal.is_blind and not wants_plainer(refusal.said, body)
            blind = blind and not any(isinstance(m.get("content"), list) for m in body["messages"])
            if not blind or self._alternative_path(refusal, body) or fields in self._in_vain:
                raise
            for candidate in untold(applied(self._form, body), self._form):
                try:
                    reply, form = await attempts.follow(body, candidate)
                except RequestRefused:
                    if attempts.over:
                        raise refusal from None
                    continue
                break
            else:
                self._in_vain.add(fields)
                raise
        self._form = form
        return reply

    async def _post(self, body: Body, form: Form, prompt: str) -> Pieces:
        responses = self._path == RESPONSES
        wire = request_of(body) if responses else body
        wire = {name: value for name, value in wire.items() if name not in form}
        streamed = bool(body.get("stream"))
        with _translated(self.server):
            answer: Any = await self._sdk.post(
                self._path,
                cast_to=httpx2.Response,
                body=wire,
                options={"headers": {PROMPT_NAME: prompt}},
                stream=streamed,
                stream_cls=AsyncStream[object],
            )
            kind = answer.headers.get("content-type", "without a type")
            if streamed and "event-stream" in kind:
                return StreamedPieces(await self._open_chunks(answer, responses), self.server)
            try:
                content = await answer.aread()
                completion = await call_by_size(len(content), _completion_in, content, responses)
            except JSONDecodeError:
                problem = (
                    f"its answer is {kind}, not an event stream"
                    if streamed
                    else "its answer is not JSON"
                )
                raise not_a_model(self.server, problem) from None
        return _alone(whole_of(completion, self.server, capped=bool(_CAPS & body.keys())))

    async def _open_chunks(self, opened: httpx2.Response, responses: bool) -> Chunks:
        chunks = Chunks(opened, self._sdk, ResponseEvents() if responses else None)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(chunks.close)
            await chunks.begin()
            stack.pop_all()
        return chunks


class StreamedPieces:
    def __init__(self, chunks: Chunks, server: ModelServer) -> None:
        self._chunks, self._server = chunks, server
        self._midway = self._finished = False

    async def __anext__(self) -> Piece:
        with _translated(self._server, midway=self._midway):
            chunk = await anext(self._chunks, None)
        if chunk is None and (self._finished or not self._chunks.announced):
            raise StopAsyncIteration
        piece = piece_of(chunk) if chunk else Piece(finish="stop")
        self._midway = self._midway or piece != Piece(finish=piece.finish)
        self._finished = self._finished or bool(piece.finish)
        return piece

    async def aclose(self) -> None:
        await self._chunks.close()


async def _alone(piece: Piece) -> AsyncGenerator[Piece, None]:
    """A whole reply as the only piece."""
    yield piece


@contextmanager
def _translated(server: ModelServer, *, midway: bool = False) -> Iterator[None]:
    try:
        yield
    # ValueError: the stream's data is not JSON
    except (OpenAIError, ValueError, TimeoutError) as error:
        raise failure(error, server, midway=midway) from cause(error, server)


class _Attempts:
    """The requests of one call, up to a bound."""

    def __init__(self, post: Callable[[Body, Form], Awaitable[Pieces]]) -> None:
        self._post, self._attempts_left = post, _MOST

    @property
    def over(self) -> bool:
        return self._attempts_left <= 0

    async def follow(self, body: Body, form: Form) -> tuple[Pieces, Form]:
        """Send the body in this form, and in the forms that refusals ask for. Raises:
        RequestRefused: the first.
        """
        first: RequestRefused | None = None
        while True:
            wire = applied(form, body)
            try:
                self._attempts_left -= 1
                return await self._post(wire, form), form
            except RequestRefused as refusal:
                first = first or refusal
                fields = {**request_of(wire), **wire}
                step = None if refusal.generated else adaptation_for(refusal.said, fields, form)
                if step is None or self.over:
                    raise first from None
                form = (*form, step)


def _prefers_responses(server: ModelServer) -> bool:
    """OpenAI and the newer addresses of Azure have both APIs, and newer models only this one."""
    newer = server.openai or (server.azure and not server.deployment)
    return server.api == "responses" or (server.api == "auto" and newer)


def _harmless(error: ModelError, wire: Body, form: Form) -> str | None:
    """The adaptation after which a program still gets what it asked for."""
    if (
        not isinstance(error, RequestRefused)
        or wants_plainer(error.said, wire)
        or len(form) >= _MOST
    ):
        return None
    step = adaptation_for(error.said, wire, form)
    return None if step in _ASKED_FOR else step


_ASKED_FOR = {"n", "stop", "tools", "tool_choice", "response_format", "logprobs", "no stream"}


def _http_client(server: ModelServer) -> httpx2.AsyncClient:
    """A client for the server. On this machine's loopback it ignores the environment's proxies and
    needs no certificates.

    The context trusts none, so that a redirect to https fails; loading the system's certificates
    takes 50 ms.
    """
    direct: dict[str, Any] = (
        {"trust_env": False, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
        if server.local
        else {}
    )

    async def sign(request: httpx2.Request) -> None:
        server.sign(request)
        if retries := int(request.headers.get("x-stainless-retry-count", 0)):  # of the SDK
            asked_again.get()(retries + 1)

    return DefaultAsyncHttpx2Client(
        event_hooks={"request": [sign], "response": [bound, _with_true_status]}, **direct
    )


def body_of(request: ChatRequest, model: str) -> dict[str, Any]:
    """The request for `chat.completions`."""
    body: dict[str, Any] = {"model": model, "messages": list(request.messages)}
    if reply := request.reply:
        schema = {"name": reply.name, "strict": True, "schema": reply.parameters}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if request.functions:
        strict = {"strict": True} if request.strict else {}
        tools = [{**function.model_dump(), **strict} for function in request.functions]
        named = {"type": "function", "function": {"name": request.functions[0].name}}
        body["tools"] = [{"type": "function", "function": tool} for tool in tools]
        body["tool_choice"] = named if request.choice == "named" else request.choice
    return body


def _models_in(content: bytes) -> list[ListedModel]:
    """Raises: ValueError, TypeError, AttributeError: it is not a list of models."""
    models = [as_built(Model, model) for model in loads(content).get("data") or ()]
    return [ListedModel(model.id, context_length_in(model.model_extra)) for model in models]


def _completion_in(content: bytes, responses: bool) -> ChatCompletion:
    """Raises: ValueError: it is not a JSON object, or nested too deeply."""
    answer = loads(content)
    if not isinstance(answer, dict):
        raise JSONDecodeError("not an object", "", 0)
    if responses and "choices" not in answer:
        answer = completion_of(answer)
    return as_built(ChatCompletion, answer)


async def _with_true_status(response: httpx2.Response) -> None:
    """Give an error of the provider behind a gateway, which comes with status 200, its own status;
    and tell the SDK not to repeat a request that the server can't serve, where its status is that
    of a failure.
    """
    if response.status_code == 200 and "json" in response.headers.get("content-type", ""):
        await response.aread()
        response.status_code = _status_in(response.text) or 200
    if response.status_code >= 500:
        await response.aread()
        if refuses(response.text[:_LARGEST_ERROR]):
            response.headers["x-should-retry"] = "false"


def _status_in(text: str) -> int | None:
    """The status of an error in a body that is nothing but one."""
    if len(text) > _LARGEST_ERROR or '"error"' not in text:
        return None
    try:
        body = json.loads(text)
        code = int(body["error"]["code"]) if not body.get("choices") else 0
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        return None
    return code if 400 <= code < 600 else None
