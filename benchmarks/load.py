"""Whether a busy machine is blamed on suites or code: `python -m benchmarks.load [BUILDS]`, with
`SANDBOX` as the backend; the exit code is 1 if a goal is missed. The last line is JSON.

While `LOAD` processes that are always busy run beside it, the same tool is built again and again
with the default settings, the real sandbox, and a scripted model over HTTP whose replies are right.
`flaky_for_time` counts suites and modules that were called flaky, `lost` the turns that the sandbox
ended, and `failed` the turns that ended otherwise without an answer.

On two cores that were busy besides, 3 builds took 218 s at a load of 30; none was flaky or lost.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.calls import RecordingCookbook
from benchmarks.calls_by_language import ORDERS, scripted
from benchmarks.learning import offline_settings
from selfeng.bootstrap import build_engine
from selfeng.core.events import Event, SynthesisStep, TurnFailed, TurnFinished
from selfeng.engine import Engine
from selfeng_offline.server import OfflineServer

BUILDS = 100
LOAD = 20
GOALS = {"flaky_for_time": 0, "lost": 0, "failed": 0}
_BUSY = "while True: pass"


@contextmanager
def _load() -> Iterator[None]:
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(LOAD)]  # noqa: S603 - fixed arguments
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


async def _built(engine: Engine, model: RecordingCookbook) -> list[Event]:
    """The events of a turn that builds the tool, which is removed afterwards."""
    order, events = ORDERS["en"], list[Event]()
    model.script = scripted(order)
    end = engine.feed.subscribe(lambda records: events.extend(record.event for record in records))
    await engine.ask("me", None, order.request, [order.file])
    await engine.settle()
    end()
    for tool in await engine.library.tools():
        await engine.library.remove(tool.name)
    return events


async def _measure(builds: int) -> dict[str, Any]:
    model, counts = RecordingCookbook(), dict.fromkeys(GOALS, 0)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, OfflineServer(model, delay=0) as server:
        own = {
            "openai_base_url": server.base_url,
            "openai_model": server.model,
            "openai_api_key": SecretStr(server.api_key),
        }
        engine = await build_engine(offline_settings(Path(folder)).model_copy(update=own))
        try:
            await engine.setup.get_ready()
            with _load():
                for number in range(1, builds + 1):
                    for name in _wrong(await _built(engine, model)):
                        counts[name] += 1
                    sys.stdout.write(
                        f"{number} of {builds} builds, load {os.getloadavg()[0]:.0f}\n"
                    )
                    sys.stdout.flush()
        finally:
            await engine.aclose()
    return {"builds": builds, **counts, "seconds": round(time.monotonic() - started)}


def _wrong(events: list[Event]) -> Iterator[str]:
    """The goals that a turn misses, each with words about it on the screen."""
    for event in events:
        if isinstance(event, SynthesisStep) and event.state == "failed" and "flaky" in event.text:
            sys.stdout.write(f"{event.step}: {event.text}\n")
            yield "flaky_for_time"
        if isinstance(event, TurnFailed):
            sys.stdout.write(f"{event.where}, {event.kind}: {event.message}\n")
            yield "lost" if event.kind == "sandbox" else "failed"
    if not any(isinstance(event, TurnFinished | TurnFailed) for event in events):
        yield "failed"


def main() -> int:
    figures = asyncio.run(_measure(int(sys.argv[1]) if sys.argv[1:] else BUILDS))
    missed = [name for name, most in GOALS.items() if figures[name] > most]
    for name in missed:
        sys.stdout.write(f"{name} is {figures[name]}, which misses its goal\n")
    sys.stdout.write(json.dumps(figures) + "\n")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
