"""The model of the feed's benchmark, in a process of its own: the offline one, except that a marked
request is answered with tokens at a steady pace, each with the time at which it was sent.
"""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from multiprocessing.connection import Connection

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from selfeng.core.prompt import PROMPT_NAME
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.wire import Writer

MARKED = "What is 15 percent of 300?"
TURNS, PACE = 20, 50
"""Turns that stream at once, and tokens a second of each."""


class PacedModel:
    """Marked answers wait until `go` is asked for, and then start together."""

    def __init__(self, tokens: int) -> None:
        self._tokens, self._go = tokens, asyncio.Event()
        self._waiting = 0

    def app(self) -> Starlette:
        routes = [
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
            Route("/waiting", self._count),
            Route("/go", self._start, methods=["POST"]),
        ]
        return Starlette(routes=routes)

    async def _count(self, request: Request) -> Response:
        return JSONResponse(self._waiting)

    async def _start(self, request: Request) -> Response:
        self._go.set()
        self._go, self._waiting = asyncio.Event(), 0
        return JSONResponse(None)

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        prompt = request.headers.get(PROMPT_NAME, "")
        asked = CompletionRequest.model_validate({**body, "body": body, "prompt": prompt})
        if prompt == "answer" and MARKED in json.dumps(body["messages"][-1]):
            return StreamingResponse(self._paced(asked), media_type="text/event-stream")
        writer = Writer(asked, Cookbook().complete(asked))
        if not asked.stream:
            return JSONResponse(writer.body())
        return StreamingResponse(_events(writer.chunks()), media_type="text/event-stream")

    async def _paced(self, asked: CompletionRequest) -> AsyncIterator[str]:
        before, after = Writer(asked, Completion(content="TOKEN")).chunks(), "data: [DONE]\n\n"
        opening, token, *ending = _events(before)
        yield opening
        number, self._waiting = self._waiting, self._waiting + 1
        await self._go.wait()
        start = time.monotonic() + number / TURNS / PACE
        for n in range(self._tokens):
            await asyncio.sleep(start + n / PACE - time.monotonic())
            yield token.replace("TOKEN", f"{n}@{time.monotonic():.6f} ")
        for event in ending:
            yield event
        yield after


def _events(chunks: Iterator[str]) -> Iterator[str]:
    for chunk in chunks:
        yield f"data: {chunk}\n\n"


def serve(pipe: Connection, tokens: int) -> None:
    """Send the address, and serve until something is received."""
    asyncio.run(_serve(pipe, tokens))


async def _serve(pipe: Connection, tokens: int) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(PacedModel(tokens).app(), log_level="critical"))
    serving = asyncio.create_task(server.serve([listener]))
    pipe.send(f"http://127.0.0.1:{listener.getsockname()[1]}")
    await asyncio.to_thread(pipe.recv)
    server.should_exit = server.force_exit = True
    await serving
