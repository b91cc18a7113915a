"""Whether a busy machine is blamed on suites or code: `python -m benchmarks.load [BUILDS]`, with
`SANDBOX` as the backend; the exit code is 1 if a goal is missed. The last line is JSON.

`PERSONS` persons at once each build tools of their own, with the default settings, the real
sandbox, and a scripted model over HTTP whose replies are right. Beside them so many processes are
always busy that the machine's load average is above `LOAD` all the time: `load_min` is its least,
`load` its mean. `flaky_for_time` counts suites and modules that were called flaky, `lost` the
turns that the sandbox ended, and `failed` the turns that ended otherwise without the tool.

On two cores, 100 builds on bubblewrap took 604 s at a load of 20.6 or more (21.7 in the mean): none
was flaky, lost or failed. On Docker, whose containers take longer to start, an interrupted run had
none either in 47 builds in 780 s.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.calls import RecordingCookbook
from benchmarks.calls_by_language import ORDERS, Order, scripted
from benchmarks.goals import report
from benchmarks.learning import offline_settings
from selfeng.bootstrap import build_engine
from selfeng.core.errors import ToolNotFound
from selfeng.core.events import Event, SynthesisStep, TurnFailed, TurnFinished
from selfeng.engine import Engine
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.server import OfflineServer

BUILDS = 100
PERSONS = 8
LOAD = 20
GOALS = {"flaky_for_time": 0, "lost": 0, "failed": 0}
_BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
"""Ends with the process that started it."""
_TOOL = "sum_by_group"
_SUM = r"""(['"](?:Ann|Bob)['"]: )([\d.]+)"""
"""In the specification's examples and the tests."""
_AIM, _MOST = LOAD + 2, 3 * LOAD
"""Processes that work at once while tools are built, and before that, to raise the load."""
_LOOK = 0.5
"""Seconds between looks at the load."""


class Script(RecordingCookbook):
    """The replies for each tool, by its number, which files and modules have in their names."""

    def __init__(self) -> None:
        super().__init__()
        self.replies: dict[str, dict[str, list[Completion]]] = {}

    def complete(self, request: CompletionRequest) -> Completion:
        number = re.search(rf"\b(?:orders|{_TOOL})_(\d+)\b", str(request.messages[-1]["content"]))
        self.script = self.replies.get(number[1], {}) if number else {}
        self.calls.clear()
        return super().complete(request)


class BusyProcesses:
    """Processes that are always busy, each in a session of its own, as Linux shares out the
    processor among sessions.
    """

    def __init__(self) -> None:
        self._processes = [
            subprocess.Popen([sys.executable, "-c", _BUSY], start_new_session=True)  # noqa: S603 - fixed arguments
            for _ in range(_MOST)
        ]
        self._working = _MOST

    def adapt(self, aim: int) -> None:
        """Let so many work that `aim` processes of the machine do."""
        runnable = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
        self._working = max(0, min(_MOST, self._working + aim - runnable))
        for number, process in enumerate(self._processes):
            process.send_signal(signal.SIGCONT if number < self._working else signal.SIGSTOP)

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


def _order(number: int) -> Order:
    """A request for a tool of its own: it multiplies the sums by the number."""
    order, name = ORDERS["en"], f"orders_{number}.csv"
    request = f"{order.request.replace(order.file.name, name)}, each {number} times"
    file = order.file.model_copy(update={"name": name})
    return order._replace(request=request, standalone=request, file=file)


def _replies(order: Order, number: int) -> dict[str, list[Completion]]:
    """The model's replies, with a tool of that name and those results."""

    def own(reply: Completion) -> Completion:
        content = re.sub(rf"\b{_TOOL}\b", f"{_TOOL}_{number}", reply.content)
        content = re.sub(_SUM, lambda found: f"{found[1]}{number * float(found[2])}", content)
        return reply.model_copy(update={"content": content.replace(*_multiplied(number))})

    return {
        prompt: [own(reply) for reply in replies] for prompt, replies in scripted(order).items()
    }


def _multiplied(number: int) -> tuple[str, str]:
    """A line of the scripted modules, and the lines in its place."""
    line = "    numbers = table.numbers(amount, decimal).checked()\n"
    return line, f"{line}    numbers = [{number} * (value or 0) for value in numbers]\n"


async def _built(engine: Engine, model: Script, number: int) -> list[Event]:
    """The events of a turn that builds a tool, which is removed afterwards."""
    order = _order(number)
    model.replies[str(number)] = _replies(order, number)
    asked = engine.ask(f"person {number}", None, order.request, [order.file])
    events = [record.event async for record in engine.turn(f"person {number}", asked)]
    with suppress(ToolNotFound):
        await engine.library.remove(f"{_TOOL}_{number}")
    return events


def _wrong(events: list[Event], tool: str) -> Iterator[str]:
    """The goals that a turn misses, each with words about it on the screen."""
    for event in events:
        if isinstance(event, SynthesisStep) and event.state == "failed" and "flaky" in event.text:
            sys.stdout.write(f"{event.step}: {event.text}\n")
            yield "flaky_for_time"
        if isinstance(event, TurnFailed):
            sys.stdout.write(f"{event.where}, {event.kind}: {event.message}\n")
            yield "lost" if event.kind == "sandbox" else "failed"
        elif isinstance(event, TurnFinished) and event.tool != tool:
            sys.stdout.write(f"{tool}: {event.answer}\n")
            yield "failed"


async def _keep_busy(loads: list[float], under_way: asyncio.Event) -> None:
    """Raise the load, then keep and note it."""
    busy = BusyProcesses()
    try:
        while True:
            load = os.getloadavg()[0]
            if load >= _AIM:
                under_way.set()
            if under_way.is_set():
                loads.append(load)
            busy.adapt(_AIM if under_way.is_set() else _MOST)
            await asyncio.sleep(_LOOK)
    finally:
        busy.end()


async def _build(engine: Engine, model: Script, builds: int, counts: dict[str, int]) -> None:
    """Count the outcomes of the builds, `PERSONS` at once."""
    numbers = iter(range(1, builds + 1))

    async def person() -> None:
        for number in numbers:
            began = time.monotonic()
            for name in _wrong(await _built(engine, model, number), f"{_TOOL}_{number}"):
                counts[name] += 1
            seconds, load = time.monotonic() - began, os.getloadavg()[0]
            sys.stdout.write(f"build {number} of {builds}: {seconds:.0f} s, load {load:.0f}\n")
            sys.stdout.flush()

    await asyncio.gather(*(person() for _ in range(PERSONS)))


async def _measure(builds: int) -> dict[str, Any]:
    model, counts, loads = Script(), dict.fromkeys(GOALS, 0), list[float]()
    with tempfile.TemporaryDirectory() as folder, OfflineServer(model, delay=0) as server:
        own = {
            "openai_base_url": server.base_url,
            "openai_model": server.model,
            "openai_api_key": SecretStr(server.api_key),
        }
        engine = await build_engine(offline_settings(Path(folder)).model_copy(update=own))
        try:
            await engine.setup.get_ready()
            under_way = asyncio.Event()
            watch = asyncio.create_task(_keep_busy(loads, under_way))
            await under_way.wait()
            started = time.monotonic()
            await _build(engine, model, builds, counts)
            seconds = round(time.monotonic() - started)
            watch.cancel()
            backend = engine.sandbox.backend
        finally:
            await engine.aclose()
    load = {"load_min": round(min(loads), 1), "load": round(sum(loads) / len(loads), 1)}
    return {"builds": builds, "backend": backend, **counts, **load, "seconds": seconds}


def main() -> int:
    figures = asyncio.run(_measure(int(sys.argv[1]) if sys.argv[1:] else BUILDS))
    return report(figures, GOALS, {"load_min": LOAD})


if __name__ == "__main__":
    sys.exit(main())
