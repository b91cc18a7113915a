"""The cost of a tool call through each interface, over the sandbox alone: `python -m
benchmarks.doors [ROUNDS]`; the last line is JSON.

The same tool is called by `AsyncAgent.call`, and at a real server of its own process by REST, by a
request to `/v1` that reuses the tool with the offline model, by MCP over HTTP, and by MCP over
`selfeng mcp`, all with published clients that keep their connections. Ten calls in a row are
compared with ten of `sandbox.execute` right before them, so that both meet the same machine, and
five calls before each ten are not measured, so that no door is slower because its processes have
slept longer. The order changes in each of 24 rounds, so that none always follows the same other.
`…_ratio` is the median of a round's ratios; `calls_per_second` is with eight calls at once. The
exit code is 1 if a goal is missed.

Two runs on a fresh clone, on two cores of a shared machine. The sandbox alone took 4.7 and 4.9 ms.

                              goal   times the sandbox alone   calls per second, eight at once
    sandbox alone                                                   210 and 186
    AsyncAgent.call           1.25     1.08 and 1.10                205 and 169
    REST                      1.9      1.77 and 1.60                153 and 139
    MCP over HTTP             2.6      2.09 and 2.17                137 and 123
    MCP by `selfeng mcp`      6        2.45 and 2.55                109 and 117
    /v1, a whole turn                  26.6 and 25.0                 19 and 21
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI

from benchmarks.feed import Server, started
from benchmarks.goals import report
from benchmarks.learning import offline_settings
from selfeng import AsyncAgent
from selfeng.bootstrap import build_engine
from selfeng.core.verdict import Returned, SandboxJob

GOALS = {"python_ratio": 1.25, "rest_ratio": 1.9, "mcp_http_ratio": 2.6, "mcp_stdio_ratio": 6.0}
"""The most that each figure may be; `/v1`, which is a whole turn, has no goal."""
TOOL, ARGUMENTS, VALUE = "reverse_string", {"text": "hello world"}, "dlrow olleh"
REQUEST = "Reverse the string 'hello world'"
_ROUNDS, _BEFORE, _IN_A_ROW, _AT_ONCE, _EACH = 24, 5, 10, 8, 20
_TOKEN = "the-doors-benchmark-5Kq9Xw2Mz"  # noqa: S105 - of a server that lives for a minute
_ROOT = Path(__file__).parents[1]
_FOLDERS = ("data_dir", "tools_dir", "chroma_persist_dir")
Call = Callable[[], Awaitable[object]]


async def calls(stack: AsyncExitStack, folder: Path) -> dict[str, Call]:
    """A call through each door, which checks what comes back."""
    inside, outside = folder / "inside", folder / "server"
    inside.mkdir()
    outside.mkdir()
    settings = offline_settings(inside)
    own = {name: getattr(settings, name) for name in _FOLDERS}
    agent = await stack.enter_async_context(AsyncAgent(**own, database_url=""))
    await agent.ask(REQUEST)
    tool = await agent.tool(TOOL)
    engine = await stack.enter_async_context(aclosing(await build_engine(settings)))
    server = stack.enter_context(_server(outside))
    bearer = {"Authorization": f"Bearer {_TOKEN}"}
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=bearer, timeout=60))
    openai = AsyncOpenAI(base_url=f"{server.url}/v1", api_key=_TOKEN, max_retries=0)
    stack.push_async_callback(openai.close)
    model = (await openai.models.list()).data[0].id
    over_http = await stack.enter_async_context(
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http))
    )
    environment = {"SELFENG_URL": f"{server.url}/mcp", "ACCESS_TOKEN": _TOKEN}
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "selfeng", "mcp"],
        env={**os.environ, **environment},
        cwd=_ROOT,
    )
    over_stdio = await stack.enter_async_context(Client(command))

    async def sandbox() -> object:
        done = await engine.sandbox.execute(SandboxJob(TOOL, tool.code), ARGUMENTS)
        return isinstance(done, Returned) and done.result and json.loads(done.result.content)

    async def python() -> object:
        return await agent.call(TOOL, ARGUMENTS)

    async def rest() -> object:
        path = f"{server.url}/api/v1/tools/{TOOL}/call"
        response = await http.post(path, json={"arguments": ARGUMENTS})
        return VALUE if VALUE in response.text else response.text

    async def v1() -> object:
        said: Any = [{"role": "user", "content": REQUEST}]
        reply = await openai.chat.completions.create(model=model, messages=said)
        answer = reply.choices[0].message.content or ""
        return VALUE if VALUE in answer else answer

    async def by_mcp(client: Client) -> object:
        given = {"name": TOOL, "arguments": ARGUMENTS}
        result = await client.call_tool("run_tool", given)
        text = str(result.content)
        return VALUE if VALUE in text and not result.is_error else text

    await v1()  # the server makes the tool
    return {
        "sandbox": sandbox,
        "python": python,
        "rest": rest,
        "v1": v1,
        "mcp_http": lambda: by_mcp(over_http),
        "mcp_stdio": lambda: by_mcp(over_stdio),
    }


@contextmanager
def _server(folder: Path) -> Iterator[Server]:
    settings = offline_settings(folder)
    environment = {
        **{name.upper(): str(getattr(settings, name)) for name in _FOLDERS},
        "DATABASE_URL": "",
        "FLASK_HOST": "127.0.0.1",
        "FLASK_PORT": "0",
        "ACCESS_TOKEN": _TOKEN,
        "OPENAI_BASE_URL": "",
        "OPENAI_API_KEY": "",
        "LESSONS_LEARN": "false",
    }
    with started(["web/app.py"], f"Authorization: Bearer {_TOKEN}", **environment) as server:
        while server.get("/api/v1/health")["unready"]:
            time.sleep(0.2)
        yield server


async def timed(call: Call) -> float:
    begun = time.perf_counter()
    value = await call()
    assert value == VALUE, value
    return time.perf_counter() - begun


async def per_second(call: Call, each: int) -> float:
    async def some() -> None:
        for _ in range(each):
            await timed(call)

    begun = time.perf_counter()
    await asyncio.gather(*(some() for _ in range(_AT_ONCE)))
    return each * _AT_ONCE / (time.perf_counter() - begun)


async def run(rounds: int) -> dict[str, object]:
    each = min(rounds, _EACH)
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            doors = await calls(stack, Path(folder))
            for call in doors.values():  # containers and connections are there from now on
                await per_second(call, each)
            ratios, alone = await compared(dict(doors), rounds)
            rates = {name: round(await per_second(call, each), 1) for name, call in doors.items()}
    figures = {f"{name}_ratio": round(median(some), 2) for name, some in ratios.items()}
    for name, some in ratios.items():
        low, middle, high = quantiles(some, n=4)
        spread = f"{middle:5.2f} ({low:.2f} to {high:.2f}) times as long as the sandbox alone"
        sys.stdout.write(f"{name:>10}: {spread}, {rates[name]:6.1f} calls a second\n")
    return {**figures, "sandbox_ms": round(1000 * alone, 2), "calls_per_second": rates}


async def compared(doors: dict[str, Call], rounds: int) -> tuple[dict[str, list[float]], float]:
    """By door, what it takes over the sandbox alone, a figure a round; and the seconds of that."""
    sandbox = doors.pop("sandbox")
    ratios: dict[str, list[float]] = {name: [] for name in doors}
    alone: list[float] = []
    order = Random(0)
    for _ in range(rounds):
        for name in order.sample(list(doors), len(doors)):
            before, its = await row(sandbox), await row(doors[name])
            ratios[name].append(its / before)
            alone.append(before)
    return ratios, median(alone)


async def row(call: Call) -> float:
    """The median of some calls in a row, in seconds, after some that wake what has slept."""
    times = [await timed(call) for _ in range(_BEFORE + _IN_A_ROW)]
    return median(times[_BEFORE:])


def main(rounds: int = _ROUNDS) -> int:
    figures = asyncio.run(run(rounds))
    return report(figures, GOALS)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
