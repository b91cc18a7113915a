"""The measurements of the runtime, once for bare asyncio and once for anything with the names of
`miniagents`.

As a program it does so for the `miniagents` of its own environment: `python runtime_rows.py`
answers each line of stdin, the name of a row, with what `measure` gives.
"""

import asyncio
import gc
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

CALLS = 1_000
TOKENS = 20_000
AGENTS = 10_000
CHAIN = 100
CHAIN_TOKENS = 1_000
KEPT = 2_000
"""Agents that are alive at once where memory is measured."""


class Bare:
    """A task plus a queue, for each agent and each stream."""

    async def call(self) -> None:
        for _ in range(CALLS):
            replies: asyncio.Queue[str | None] = asyncio.Queue()
            task = asyncio.create_task(self._reply("hi", replies))
            while await replies.get() is not None:
                pass
            await task

    async def token(self) -> None:
        await self._read(TOKENS, wait=False)

    async def woken_token(self) -> None:
        await self._read(TOKENS // 10, wait=True)

    async def agents(self) -> None:
        gate, queues, tasks = asyncio.Event(), [], []
        for _ in range(AGENTS):
            queues.append(asyncio.Queue[str | None]())
            tasks.append(asyncio.create_task(self._reply("hi", queues[-1], gate)))
        gate.set()
        for replies in queues:
            while await replies.get() is not None:
                pass
        await asyncio.gather(*tasks)

    async def chain(self) -> None:
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        tasks = [asyncio.create_task(self._say(CHAIN_TOKENS, queue, wait=True))]
        for _ in range(CHAIN):
            source, queue = queue, asyncio.Queue()
            tasks.append(asyncio.create_task(self._pass_on(source, queue)))
        while await queue.get() is not None:
            pass
        await asyncio.gather(*tasks)

    async def _reply(
        self, text: str, replies: "asyncio.Queue[str | None]", gate: asyncio.Event | None = None
    ) -> None:
        if gate is not None:
            await gate.wait()
        replies.put_nowait(text)
        replies.put_nowait(None)

    async def _read(self, count: int, wait: bool) -> None:
        tokens: asyncio.Queue[str | None] = asyncio.Queue()
        task = asyncio.create_task(self._say(count, tokens, wait))
        while await tokens.get() is not None:
            pass
        await task

    async def _say(self, count: int, tokens: "asyncio.Queue[str | None]", wait: bool) -> None:
        for _ in range(count):
            tokens.put_nowait("x")
            if wait:
                await asyncio.sleep(0)
        tokens.put_nowait(None)

    async def _pass_on(
        self, source: "asyncio.Queue[str | None]", tokens: "asyncio.Queue[str | None]"
    ) -> None:
        while (token := await source.get()) is not None:
            tokens.put_nowait(token)
        tokens.put_nowait(None)


class Agents:
    """The same with agents."""

    def __init__(self, runtime: Any) -> None:
        """`runtime` has `miniagent`, `MiniAgents` and, as `message`, a class of messages that
        stream.
        """
        self._runtime = runtime

        @runtime.miniagent
        async def replier(ctx: Any) -> None:
            ctx.reply("hi")

        @runtime.miniagent
        async def speaker(ctx: Any, count: int, wait: bool) -> None:
            async def tokens(_: Any) -> AsyncIterator[str]:
                for _number in range(count):
                    yield "x"
                    if wait:
                        await asyncio.sleep(0)

            ctx.reply(runtime.message.promise(message_token_streamer=tokens))

        @runtime.miniagent
        async def repeater(ctx: Any) -> None:
            async for promise in ctx.message_promises:
                ctx.reply(runtime.message.promise(message_token_streamer=_again(promise)))

        self._replier, self._speaker, self._repeater = replier, speaker, repeater

    async def call(self) -> None:
        async with self._runtime.MiniAgents():
            for _ in range(CALLS):
                await self._replier.trigger("hello")

    async def token(self) -> None:
        await self._speak(TOKENS, wait=False)

    async def woken_token(self) -> None:
        await self._speak(TOKENS // 10, wait=True)

    async def agents(self) -> None:
        async with self._runtime.MiniAgents():
            gate = asyncio.Event()
            waiting = self._waiting_for(gate)
            replies = [waiting.trigger("hello") for _ in range(AGENTS)]
            gate.set()
            for reply in replies:
                await reply

    async def chain(self) -> None:
        async with self._runtime.MiniAgents():
            replies = self._speaker.trigger(count=CHAIN_TOKENS, wait=True)
            for _ in range(CHAIN):
                replies = self._repeater.trigger(replies)
            await self._read(replies)

    async def memory(self) -> float:
        """Bytes of one agent that was called and waits."""
        async with self._runtime.MiniAgents():
            gate = asyncio.Event()
            waiting = self._waiting_for(gate)
            gc.collect()
            tracemalloc.start()
            replies = [waiting.trigger("hello") for _ in range(KEPT)]
            await asyncio.sleep(0.1)
            gc.collect()
            used, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            gate.set()
            for reply in replies:
                await reply
        return used / KEPT

    def _waiting_for(self, gate: asyncio.Event) -> Any:
        @self._runtime.miniagent
        async def waiter(ctx: Any) -> None:
            await gate.wait()
            ctx.reply("hi")

        return waiter

    async def _speak(self, count: int, wait: bool) -> None:
        async with self._runtime.MiniAgents():
            await self._read(self._speaker.trigger(count=count, wait=wait))

    async def _read(self, replies: Any) -> None:
        async for promise in replies:
            async for _ in promise:
                pass


def _again(promise: Any) -> Callable[[Any], AsyncIterator[Any]]:
    async def tokens(_: Any) -> AsyncIterator[Any]:
        async for token in promise:
            yield token

    return tokens


async def measure(rows: Bare | Agents, name: str) -> tuple[float, float]:
    """Seconds of the processor and of the clock that a row took; for `memory` bytes, twice."""
    gc.collect()
    worked, started = time.process_time(), time.perf_counter()
    size: float | None = await getattr(rows, name)()
    return (
        (time.process_time() - worked, time.perf_counter() - started)
        if size is None
        else (size, size)
    )


def main() -> None:
    from miniagents import MiniAgents, TextMessage, miniagent  # type: ignore[import-not-found]

    agents = Agents(
        SimpleNamespace(MiniAgents=MiniAgents, message=TextMessage, miniagent=miniagent)
    )
    for line in sys.stdin:
        worked, took = asyncio.run(measure(agents, line.strip()))
        sys.stdout.write(f"{worked} {took}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
