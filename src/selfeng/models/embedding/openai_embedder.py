"""Embedding models of OpenAI and of servers with the same API. They need a key or such a server."""

import re
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from openai import (
    APIConnectionError,
    APIStatusError,
    APITimeoutError,
    DefaultHttpx2Client,
    OpenAI,
    OpenAIError,
)

from selfeng.core.bounded_reply import LARGEST, BoundedReply, ReplyTooLarge
from selfeng.core.daemon_threads import DaemonThreads
from selfeng.core.errors import EmbedderUnavailable
from selfeng.core.model_server import OPENAI, ModelServer
from selfeng.core.owner import current_owner
from selfeng.core.stage_event import Usage
from selfeng.models.chat import Tokens
from selfeng.models.pricing import estimate, listed_price

DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""Vector lengths of OpenAI's own models, by name."""
_KIND = "openai"
_BATCH = 128
"""Texts per call; together they stay below OpenAI's limit of 300,000 tokens, unless all have the
maximum length.
"""
_MAX_CHARACTERS = 8_000
"""The models take 8,191 tokens, which is more than that in every script in use."""
_INSTEAD = "or set EMBEDDER=minilm, which needs no server"
_PATIENCE, _A_TEXT = 5.0, 0.5
"""Seconds that a caller waits for the server, and more for each text; searches wait for it."""
_AGAIN = 10.0
"""Seconds until a server that lets a call wait is asked again."""
_KEPT = 60.0
"""Seconds that vectors which came too late are kept for who asks again."""
_A_NUMBER = 32
"""Bytes of a number of a vector, at most."""
_CALLS = 32
"""At once, at most."""

Vectors = npt.NDArray[np.float32]


class _Call(NamedTuple):
    vectors: Future[Vectors]
    late: float
    """The time at which no one waits for it any more, of the monotonic clock."""


class OpenAIEmbedder:
    """Embedder on the official SDK: 429, 5xx and broken connections are retried with growing
    pauses. Thread-safe.

    A server that hangs delays no one for long: a call continues in a thread of its own when its
    caller has gone, the same texts get its result, and others are not sent meanwhile.
    """

    def __init__(
        self,
        *,
        model: str,
        dimensions: int,
        api_key: str | None,
        base_url: str | None,
        headers: Mapping[str, str] = MappingProxyType({}),
        timeout: float = 60.0,
        max_retries: int = 3,
        patience: float = _PATIENCE,
        spent: Callable[[str, Usage], object] | None = None,
    ) -> None:
        """`dimensions`: length of the vectors that the model gives; `timeout`: seconds per call;
        `patience`: seconds that a caller waits. `spent` is called after each call, in a thread of
        its own, with the owner of what is running.
        """
        self._server = ModelServer(
            base_url=_of_deployment(base_url or OPENAI, model),
            model=model,
            api_key=api_key or "none",
            timeout=timeout,
            headers=headers,
        )
        self._dimensions, self._patience, self._spent = dimensions, patience, spent
        self._threads = DaemonThreads(_CALLS, "embeddings")
        self._lock = threading.Lock()
        self._calls: dict[tuple[str, ...], _Call] = {}
        self._sent = 0.0
        # On loopback without the environment's proxies, and without certificates, which take 50 ms
        # to load.
        direct: dict[str, Any] = (
            {"trust_env": False, "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)}
            if self._server.local
            else {}
        )
        hooks = {"request": [self._server.sign], "response": [self._bound]}
        client = DefaultHttpx2Client(event_hooks=hooks, **direct)
        self._sdk = OpenAI(**self._server.sdk_options, max_retries=max_retries, http_client=client)

    @property
    def id(self) -> str:
        return f"{_KIND}:{self._server.model}:{self._dimensions}"

    @staticmethod
    def parse_id(embedder_id: str) -> tuple[str, int] | None:
        """Model and dimensions that an id names; None if it is not an id of this kind."""
        kind, _, details = embedder_id.partition(":")
        model, _, dimensions = details.rpartition(":")
        return (
            (model, int(dimensions)) if kind == _KIND and model and dimensions.isdecimal() else None
        )

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors; text after the 8,000th character is ignored.

        Raises:
            EmbedderUnavailable: the server can't be reached, refuses, does not answer in time, or
                returns unexpected vectors.
        """
        readable = tuple(map(_readable, texts))
        call = self._call(readable)
        try:
            vectors = call.vectors.result(max(0.0, call.late - time.monotonic()))
        except TimeoutError:
            raise self._hangs() from None
        finally:
            with self._lock:
                if call.vectors.done():
                    self._calls.pop(readable, None)
        return vectors

    def close(self) -> None:
        self._threads.close(0.0)
        self._sdk.close()

    def _call(self, texts: tuple[str, ...]) -> _Call:
        """The call for these texts, which may have been sent before. Raises: EmbedderUnavailable:
        the server hangs.
        """
        now = time.monotonic()
        with self._lock:
            self._calls = {
                sent: call
                for sent, call in self._calls.items()
                if not call.vectors.done() or now < call.late + _KEPT
            }
            if texts in self._calls:
                return self._calls[texts]
            hangs = any(now >= c.late and not c.vectors.done() for c in self._calls.values())
            if hangs and now < self._sent + _AGAIN:
                raise self._hangs()
            self._sent = now
            call = _Call(
                self._threads.submit(partial(self._embedded, texts, current_owner())),
                now + self._patience + _A_TEXT * len(texts),
            )
            self._calls[texts] = call
            return call

    def _embedded(self, texts: Sequence[str], owner: str) -> Vectors:
        vectors = np.empty((len(texts), self._dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            rows, tokens = self._request_vectors(batch)
            if self._spent:
                cost = listed_price(self._server.model, self._server.base_url, tokens)
                usage = Usage(calls=1, input_tokens=tokens.input, cost=cost)
                self._threads.submit(partial(self._spent, owner, usage))
            vectors[start : start + len(batch)] = self._units(rows, len(batch))
        return vectors

    def _hangs(self) -> EmbedderUnavailable:
        return self._unavailable(
            f"{self._server.name} has not answered for {self._patience:g} seconds",
            "see why it takes so long",
        )

    def _bound(self, response: Any) -> None:
        largest = max(LARGEST, _BATCH * self._dimensions * _A_NUMBER)
        response.stream = BoundedReply(response, largest)

    def _request_vectors(self, batch: Sequence[str]) -> tuple[list[list[float]], Tokens]:
        """A vector for each text, in order; and the tokens, estimated if the server counts none."""
        try:
            # `float`: not all local servers know the SDK's default, base64.
            response = self._sdk.embeddings.create(
                model=self._server.model, input=list(batch), encoding_format="float"
            )
            rows = [row.embedding for row in sorted(response.data, key=lambda row: row.index)]
            counted = response.usage.prompt_tokens if response.usage else 0
            return rows, Tokens(input=counted or estimate(sum(map(len, batch))), output=0)
        except OpenAIError as error:
            raise self._failure(error) from None  # the chain of errors may show the key
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            why = f": {error}" if isinstance(error, ReplyTooLarge) else ""
            raise self._unavailable(
                f"{self._server.name} does not answer like an embeddings server{why}",
                "check OPENAI_BASE_URL",
            ) from None

    def _units(self, rows: Sequence[Sequence[float]], expected: int) -> Vectors:
        lengths = sorted({len(row) for row in rows})
        if len(rows) != expected:
            raise self._unavailable(
                f"{self._display_name} gives {len(rows)} vectors for {expected} texts",
                "check OPENAI_BASE_URL",
            )
        if lengths != [self._dimensions]:
            lengths_text = " and ".join(map(str, lengths))
            raise self._unavailable(
                f"{self._display_name} gives vectors of {lengths_text} numbers instead of "
                f"{self._dimensions}",
                f"set OPENAI_EMBEDDING_DIMENSIONS={lengths[0]}",
            )
        vectors = np.asarray(rows, dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(norms) & (norms > 0)):
            raise self._unavailable(
                f"{self._display_name} gives a vector that is zero or not finite",
                "set another OPENAI_EMBEDDING_MODEL",
            )
        units: Vectors = vectors / norms
        return units

    def _failure(self, error: OpenAIError) -> EmbedderUnavailable:
        server = self._server
        match error:
            case APITimeoutError():
                return self._unavailable(
                    f"{server.name} did not answer within {server.timeout:g} seconds",
                    "raise OPENAI_TIMEOUT",
                )
            case APIConnectionError():
                reason = server.clean(str(error.__cause__ or error))
                return self._unavailable(
                    f"{server.name} can't be reached: {reason}",
                    "check that the server runs, the network, OPENAI_BASE_URL",
                )
            case APIStatusError(status_code=401 | 403):
                return self._unavailable(
                    f"{server.name} refused the API key ({error.status_code})",
                    "check OPENAI_API_KEY",
                )
            case APIStatusError(status_code=429):
                return self._unavailable(
                    f"{server.name} keeps answering 429: {server.clean(error.message)}",
                    "wait, check plan and billing",
                )
            case APIStatusError(status_code=status) if status < 500:
                return self._unavailable(
                    f"{self._display_name} rejects the texts ({status}): "
                    f"{server.clean(error.message)}",
                    "set OPENAI_EMBEDDING_MODEL to an embedding model that the server has",
                )
            case _:
                return self._unavailable(
                    f"{server.name} fails: {server.clean(str(error))}", "try again later"
                )

    @property
    def _display_name(self) -> str:
        return f"{self._server.model} at {self._server.name}"

    @staticmethod
    def _unavailable(message: str, remedy: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(message, f"{remedy}, {_INSTEAD}")


def _of_deployment(address: str, model: str) -> str:
    """The address, with the model's own deployment where Azure's older form names one: a deployment
    for chat can't embed.
    """
    return re.sub(r"(/openai/deployments/)[^/?]+", rf"\g<1>{quote(model, safe='')}", address)


def _readable(text: str) -> str:
    """The text without lone surrogates, which are not valid UTF-8, and never empty, which OpenAI
    refuses.
    """
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8") or " "
