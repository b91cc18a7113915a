"""Replies without an end and without a bottom: they end with a sentence, and nothing is kept of
them.
"""

import asyncio
import gzip
import json
import resource
import socket
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import pytest
from pydantic import BaseModel

from selfeng.core.bounded_reply import LARGEST
from selfeng.core.errors import (
    EmbedderUnavailable,
    ModelError,
    ModelReplyInvalid,
    ModelUnavailable,
)
from selfeng.core.events import Limits
from selfeng.core.prompt import FunctionSchema
from selfeng.core.turn import Budget
from selfeng.llm_client import LLMClient
from selfeng.models.embedding.openai_embedder import OpenAIEmbedder
from selfeng.models.pricing import free
from selfeng.provision.local_servers import local_servers
from tests.llm.desk import PROMPT
from tests.llm.wire_server import Served, serving

MB = 1_000_000
DEEP = "[" * 100_000 + "]" * 100_000
TOO_LARGE = "can't be used: it is larger than 16 MB"
STREAM, JSON = "text/event-stream", "application/json"


class Endless:
    """Answers every request with pieces until its client leaves; counts what it sent."""

    def __init__(self, kind: str, begin: bytes, pieces: Iterable[bytes], packed: str = "") -> None:
        self.sent, self.left, self.requests = 0, threading.Event(), 0
        self._head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n".encode()
        self._head += f"content-encoding: {packed}\r\n\r\n".encode() if packed else b"\r\n"
        self._begin, self._pieces = begin, pieces
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        self.requests += 1
        with connection, suppress(OSError):
            connection.recv(1_000_000)
            connection.sendall(self._head + self._begin)
            for piece in self._pieces:
                connection.sendall(piece)
                self.sent += len(piece)
        self.left.set()

    def close(self) -> None:
        self._listener.close()


def forever(piece: bytes) -> Iterator[bytes]:
    while True:
        yield piece


def chunk(size: int = 10_000, **delta: Any) -> bytes:
    delta = delta or {"content": "x" * size}
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n".encode()


def zeros() -> Iterator[bytes]:
    """A gzip of JSON text of which no end comes."""
    packer = gzip.zlib.compressobj(wbits=31)
    yield packer.compress(b'{"choices": [{"message": {"content": "')
    while True:
        yield packer.compress(b"0" * MB)


ENDLESS = {
    "content": (STREAM, b"", chunk(100_000)),
    "thoughts": (STREAM, b"", chunk(reasoning_content="x" * 10_000)),
    "refusal": (STREAM, b"", chunk(refusal="x" * 10_000)),
    "arguments": (
        STREAM,
        b"",
        chunk(
            tool_calls=[
                {"index": 0, "id": "c", "function": {"name": "f", "arguments": "x" * 100_000}}
            ]
        ),
    ),
    "ids": (STREAM, b"", chunk(tool_calls=[{"id": "x" * 10_000, "function": {}}])),
    "empty chunks": (STREAM, b"", 100 * b"data: {}\n\n"),
    "one event": (STREAM, b"data: ", b"x" * 10_000),
    "lines of one event": (STREAM, b"", b"data: x\n" * 1000),
    "a body": (JSON, b'{"choices": [{"message": {"content": "', b"x" * 100_000),
    "spaces": (JSON, b"", b" " * 100_000),
}


@asynccontextmanager
async def client(url: str) -> AsyncIterator[LLMClient]:
    made = LLMClient(model="m", api_key="k", base_url=url, timeout=20, price=free, unopened=False)
    try:
        yield made
    finally:
        await made.aclose()


@contextmanager
def endless(
    kind: str, begin: bytes, pieces: Iterable[bytes], packed: str = ""
) -> Iterator[Endless]:
    server = Endless(kind, begin, pieces, packed)
    try:
        yield server
    finally:
        server.close()


def budget() -> Budget:
    return Budget(Limits(calls=100, tokens=10**9, seconds=600))


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Reply(BaseModel):
    text: str


async def asked(model: LLMClient, calls: bool) -> None:
    if calls:
        function = FunctionSchema(name="f", description="", parameters={})
        await model.choose(PROMPT.model_copy(update={"streamed": True}), (function,), budget())
    else:
        async for _ in model.stream(PROMPT, budget()):
            pass


BY_DEFAULT = {"content", "arguments", "one event", "a body"}
"""Text, calls, a line and a body without an end: the others end by the same counts."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in BY_DEFAULT else pytest.mark.extended)
        for name in ENDLESS
    ],
)
async def test_an_endless_reply_ends_with_a_sentence_and_the_connection(name: str) -> None:
    kind, begin, piece = ENDLESS[name]
    with endless(kind, begin, forever(piece)) as server:
        async with client(server.url) as model:
            with pytest.raises(ModelError, match=TOO_LARGE) as caught:
                await asked(model, calls=name in ("arguments", "ids"))
            assert (caught.value.cause, bool(caught.value.remedy)) == ("unusable", True)
        assert await asyncio.to_thread(server.left.wait, 10)
        assert server.requests == 1


async def test_an_endless_reply_that_is_packed_is_unpacked_to_the_limit_only() -> None:
    before = peak_mb()
    with endless(JSON, b"", zeros(), "gzip") as server:
        async with client(server.url) as model:
            with pytest.raises(ModelUnavailable, match=TOO_LARGE):
                await model.structured(PROMPT, Reply, budget())
        assert await asyncio.to_thread(server.left.wait, 10)
    assert peak_mb() - before < 150


async def test_endless_lists_of_models_are_no_models() -> None:
    with endless(JSON, b'{"data": [', forever(b'{"id": "m"},' * 1000)) as server:
        async with client(server.url) as model:
            with pytest.raises(ModelUnavailable, match=TOO_LARGE):
                await model.models()
            await model.probe()
        found = await local_servers({server.port: "other"}, patience=20)
    assert found == ()


async def test_an_endless_answer_of_an_embeddings_server_ends() -> None:
    with endless(JSON, b'{"data": [{"embedding": [', forever(b"0.1," * 1000)) as server:
        embedder = OpenAIEmbedder(
            model="e", dimensions=4, api_key="k", base_url=server.url, patience=60
        )
        with pytest.raises(EmbedderUnavailable, match="it is larger than 16 MB"):
            await asyncio.to_thread(embedder.embed, ["a"])
        assert await asyncio.to_thread(server.left.wait, 10)
        embedder.close()


def answer(content: Any, **message: Any) -> str:
    """A whole reply; `content` may be JSON text as it is."""
    whole = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", **message}}]})
    return whole.replace('"role"', f'"content": {content}, "role"')


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(DEEP),
        json.dumps("Here: " + '{"text":' * 100_000),
        json.dumps(json.dumps(json.loads("[" * 300 + "]" * 300))),
        json.dumps("```json\n" + '{"text": ' * 500 + "1" + "}" * 500 + "\n```"),
    ],
    ids=["deep", "open", "text in text", "fenced"],
)
async def test_a_deep_reply_is_returned_to_the_model_like_any_that_is_unusable(
    content: str,
) -> None:
    with serving(lambda _: Served(answer(content))) as server:
        async with client(f"{server.url}/v1") as model:
            with pytest.raises(ModelReplyInvalid, match="can't be used"):
                await model.structured(PROMPT, Reply, budget())
    assert len(server.requests) >= 2


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("deep", [DEEP, '{"error":' * 600 + "1" + "}" * 600])
async def test_a_body_without_a_bottom_ends_with_a_sentence(status: int, deep: str) -> None:
    headers = {"x-should-retry": "false"}
    with serving(lambda _: Served(deep, status, headers=headers)) as server:
        async with client(f"{server.url}/v1") as model:
            for work in (model.structured(PROMPT, Reply, budget()), model.models()):
                with pytest.raises(ModelError) as caught:
                    await work
                assert caught.value.remedy
            await model.probe()


@pytest.mark.parametrize(
    "data",
    [
        DEEP,
        '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":'
        + "[" * 800
        + "]" * 800
        + "}}]}}]}",
    ],
)
async def test_a_chunk_without_a_bottom_ends_with_a_sentence(data: str) -> None:
    with serving(lambda _: Served(f"data: {data}\n\n" * 3, kind=STREAM)) as server:
        async with client(f"{server.url}/v1") as model:
            with pytest.raises(ModelError) as caught:
                await asked(model, calls=True)
            assert caught.value.remedy


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(json.dumps("x" * 15 * MB), id="text", marks=pytest.mark.extended),
        pytest.param(json.dumps("[" + "[]," * 1_000_000 + "[]]"), id="lists"),
        pytest.param(
            json.dumps("[" + "[]," * 5_000_000 + "[]]"), id="more lists", marks=pytest.mark.extended
        ),
        pytest.param(json.dumps("{" * 15 * MB), id="brackets", marks=pytest.mark.extended),
    ],
)
async def test_a_large_reply_leaves_the_loop_to_others(content: str) -> None:
    others, running = 0, True

    async def work() -> None:
        nonlocal others
        while running:
            await asyncio.sleep(0.001)
            others += 1

    with serving(lambda _: Served(answer(content))) as server:
        async with client(f"{server.url}/v1") as model:
            working = asyncio.create_task(work())
            with pytest.raises(ModelReplyInvalid):
                await model.structured(PROMPT, Reply, budget())
            running = False
            await working
    assert others > 20


def test_the_limit_is_that_of_the_document() -> None:
    assert LARGEST == 16 * 1024 * 1024
