"""The cost of a turn except the model: `python -m benchmarks.turn [--profile KIND] [--rounds N]
[--people N...]`; the last line is JSON, and the exit code is 1 if a goal is missed.

The engine is the real one as the server runs it, with sandbox, library and journal; it keeps the
steps of builds, and containers are ready when the turns of a kind, and each build, begin. The model
is the offline one behind its HTTP server, in a process of its own; what it says is remembered
there, so that a repeated request is answered at once, and it streams without a pause. A build has
three candidates and the mutation check, and its tool is removed afterwards. Times are from `ask` to
the record of the last event at a subscriber; a stage's share is the time until the next is entered.
`witnessed_reuse` is what a reuse of a tool with two witnesses takes, in reuses of one without.
Ratios are to bare pytest, compiled and without plugins, on two trivial tests, which runs before and
after each turn: machines differ by a factor of two, and one of them by as much within a minute.
`crowd_ratio_N`: N people each ask, read and ask again, all for a tool that is there, when the
reserve of containers is there; the 99th percentile of their turns over N times what a turn of one
such person takes, before, between and after them. It is about 1 where the queue is fair and nothing
has to start on the way.
`conversations_ratio_N`: the same for N conversations of one person. `idle_rss_mb` and
`loaded_rss_mb` are the memory of a server process, containers apart, after its first turn and after
N clients have asked six times each.

On two cores, with the model at 0 ms and bare pytest at 300 to 370 ms: a reuse takes 44 to 65 ms, a
build 0.54 to 0.8 s, and the first step shows after 11 to 16 ms. One person who asks again and again
gets 13 to 20 turns a second, ten get 16 to 25 and fifty 16 to 22. When fifty begin at once, 99 % of
their turns end within 2.8 to 3.9 s.
"""

import argparse
import asyncio
import cProfile
import multiprocessing
import os
import pstats
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from itertools import chain, pairwise
from multiprocessing.connection import Connection
from operator import truediv
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from pydantic import SecretStr

from benchmarks.feed import Asker, real_server
from benchmarks.goals import report
from benchmarks.learning import offline_settings
from selfeng.bootstrap import build_engine
from selfeng.core.events import FINAL, Outcome, Record, StageEntered, Witnessed
from selfeng.core.process import tune_process
from selfeng.core.provenance import Provenance
from selfeng.engine import Engine
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer

GOALS = {
    "reuse_ratio": 0.18,
    "build_ratio": 2.8,
    "first_step_ratio": 0.06,
    "witnessed_reuse": 1.10,
    "crowd_ratio_10": 1.5,
    "crowd_ratio_50": 1.2,
    "idle_rss_mb": 350,
    "loaded_rss_mb": 420,
}
"""The maximum of each figure."""
REUSE, BUILD = "Reverse the string 'hello world'", "Count the vowels in 'education'"
BUILT = "count_vowels"
REUSED = "reverse_string"
WITNESSES = (
    f"def {REUSED}(text: str) -> str:\n    return ''.join(reversed(text))\n",
    f"def {REUSED}(text: str) -> str:\n    return ''.join(text[n] for n in range(len(text) - 1, -1, -1))\n",  # noqa: E501
)
"""Other codes of the tool that is used again, which agree with it."""
_ROUNDS, _REUSES_PER_BUILD, _REUSES_PER_VERSION = 12, 3, 4
_PEOPLE, _TURNS = (10, 50), 6


class Remembering:
    """The cookbook, which answers a request it has seen at once."""

    def __init__(self) -> None:
        self._seen: dict[str, Completion] = {}

    def complete(self, request: CompletionRequest) -> Completion:
        key = request.model_dump_json()
        if key not in self._seen:
            self._seen[key] = Cookbook().complete(request)
        return self._seen[key]


def _serve(pipe: Connection) -> None:
    with OfflineServer(Remembering(), delay=0) as server:
        pipe.send((server.base_url, server.api_key, server.model))
        pipe.recv()


@contextmanager
def model_server() -> Iterator[tuple[str, str, str]]:
    """Base URL, key and model of a server in a process of its own."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


class Timed(NamedTuple):
    """A turn by its stages; all in seconds since it was asked for."""

    first: float
    total: float
    stages: dict[str, float]


async def timed(engine: Engine, person: str, request: str) -> Timed:
    begun, since = time.perf_counter(), time.time()
    first, stages, stage = 0.0, defaultdict[str, float](float), "ask"
    record: Record | None = None
    async with aclosing(engine.turn(person, engine.ask(person, None, request))) as records:
        async for record in records:
            if isinstance(record.event, (StageEntered, *FINAL)):
                first = first or time.perf_counter() - begun
                now = record.at.timestamp()
                stages[stage] += now - since
                since = now
            if isinstance(record.event, StageEntered):
                stage = record.event.node
            if isinstance(record.event, FINAL):
                assert getattr(record.event, "outcome", None) is Outcome.ANSWERED, record.event
    return Timed(first, time.perf_counter() - begun, dict(stages))


def in_ms(turns: Sequence[Timed]) -> dict[str, float]:
    """The median of each stage."""
    names = list(dict.fromkeys(name for turn in turns for name in turn.stages))
    return {n: round(1000 * median(t.stages.get(n, 0.0) for t in turns), 1) for n in names}


async def crowd(engine: Engine, people: Sequence[str]) -> tuple[float, float]:
    """Turns a second, and the 99th percentile of their times in seconds; each of the `people`,
    some of whom may be the same, has one conversation after another.
    """

    async def ask(person: str) -> list[float]:
        return [(await timed(engine, person, REUSE)).total for _ in range(_TURNS)]

    begun = time.perf_counter()
    times = sorted(chain(*await asyncio.gather(*map(ask, people))))
    return len(times) / (time.perf_counter() - begun), times[int(0.99 * (len(times) - 1))]


def bare_pytest(folder: Path) -> float:
    """The seconds of a run of pytest without plugins."""
    folder.mkdir(exist_ok=True)
    (folder / "test_bare.py").write_text("def test_a():\n    pass\n\n\ndef test_b():\n    pass\n")
    begun = time.perf_counter()
    subprocess.run(  # noqa: S603 - fixed arguments
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - begun


async def witnessed_reuses(engine: Engine, rounds: int) -> dict[int, list[Timed]]:
    """Reuses of a tool by its number of witnesses, which it has in turn; each version is used once
    before, and containers are ready then.
    """
    turns: dict[int, list[Timed]] = {0: [], len(WITNESSES): []}
    for number in [*turns] * rounds:
        tool = await engine.library.get(REUSED)
        draft = tool.draft().model_copy(update={"witnesses": WITNESSES[:number]})
        await engine.library.revise(draft, tool.version, Provenance())
        async with aclosing(engine.turn("me", engine.ask("me", None, REUSE))) as records:
            events = [record.event async for record in records]
        said = [(e.agree, e.other) for e in events if isinstance(e, Witnessed)]
        assert said == ([(number, "")] if number else []), said
        await engine.sandbox.settle()
        turns[number] += [await timed(engine, "me", REUSE) for _ in range(_REUSES_PER_VERSION)]
    return turns


def ratio(turns: Sequence[float], bare: Sequence[float]) -> float:
    """The median of turns, each in the two runs of bare pytest that it lies between."""
    return round(
        median(2 * t / (a + b) for t, (a, b) in zip(turns, pairwise(bare), strict=True)), 3
    )


def by_version(turns: Sequence[Timed]) -> list[float]:
    """The medians of the reuses of each version."""
    totals = [turn.total for turn in turns]
    starts = range(0, len(totals), _REUSES_PER_VERSION)
    return [median(totals[start : start + _REUSES_PER_VERSION]) for start in starts]


def server_memory(url: str, key: str, model: str, people: int) -> dict[str, float]:
    """MB of a server process of its own, with its embedding model: after the first turn, and after
    `people` clients have each asked several times.
    """
    changes = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": key, "OPENAI_MODEL": model}
    with real_server(url, **changes) as server:
        idle = server.kb
        for asker in [Asker(server) for _ in range(people)]:
            for _ in range(_TURNS):
                asker.ask(REUSE)
            asker.close()
        return {
            "idle_rss_mb": round(idle / 1024, 1),
            "loaded_rss_mb": round(server.kb / 1024, 1),
        }


async def run(profile: str, rounds: int, people: Sequence[int]) -> dict[str, object]:
    with model_server() as (url, key, model), tempfile.TemporaryDirectory() as folder:
        settings = offline_settings(Path(folder)).model_copy(
            update={
                "openai_base_url": url,
                "openai_api_key": SecretStr(key),
                "openai_model": model,
                "lessons_learn": False,
                "synthesis_candidates": 3,
            }
        )
        engine = await build_engine(settings, durable=True)
        try:
            await engine.recovery.start()
            set_up = asyncio.create_task(engine.setup.get_ready())
            tune_process(set_up)
            await set_up
            await timed(engine, "me", REUSE)
            await timed(engine, "me", BUILD)
            turns: dict[str, list[Timed]] = {}
            bare = {}
            for kind, request in (("reuse", REUSE), ("build", BUILD)):
                await engine.sandbox.settle()  # what the turn before has used is made anew
                profiler = cProfile.Profile() if profile == kind else None
                turns[kind] = []
                bare[kind] = [
                    await asyncio.to_thread(bare_pytest, Path(folder, "bare")) for _ in range(2)
                ][1:]
                for _ in range(rounds * (_REUSES_PER_BUILD if kind == "reuse" else 1)):
                    if kind == "build":
                        await engine.library.remove(BUILT)
                    if profiler:
                        profiler.enable()
                    turns[kind].append(await timed(engine, "me", request))
                    if profiler:
                        profiler.disable()
                    await engine.sandbox.settle()  # or pytest would share the machine with starts
                    bare[kind].append(await asyncio.to_thread(bare_pytest, Path(folder, "bare")))
                if profiler:
                    pstats.Stats(profiler, stream=sys.stderr).sort_stats("cumtime").print_stats(70)
            reuses = await witnessed_reuses(engine, rounds)
            crowds, rates_alone = {}, [(await crowd(engine, ["p0"]))[0]]
            for number in people:
                await engine.sandbox.settle()
                crowds[number] = await crowd(engine, [f"p{n}" for n in range(number)])
                rates_alone.append((await crowd(engine, ["p0"]))[0])
            conversations = await crowd(engine, ["p0"] * people[-1])
            rate_alone = fmean(rates_alone)
        finally:
            await engine.aclose()
        memory = await asyncio.to_thread(server_memory, url, key, model, people[-1])
    for number, (rate, p99) in crowds.items():
        line = f"{number:3} people: {rate:6.1f} turns a second, p99 {1000 * p99:7.1f} ms"
        sys.stdout.write(line + "\n")
    witnessed = map(truediv, *map(by_version, reversed(reuses.values())))
    return {
        **{
            f"{kind}_ratio": ratio([t.total for t in its], bare[kind])
            for kind, its in turns.items()
        },
        "first_step_ratio": ratio([t.first for t in turns["reuse"]], bare["reuse"]),
        "witnesses": len(WITNESSES),
        "witnessed_reuse": round(median(witnessed), 3),
        **{
            f"crowd_ratio_{number}": round(p99 * rate_alone / number, 2)
            for number, (_, p99) in crowds.items()
        },
        f"conversations_ratio_{people[-1]}": round(conversations[1] * rate_alone / people[-1], 2),
        "turns_per_second": {
            number: round(rate, 1)
            for number, rate in ((1, rate_alone), *((n, r) for n, (r, _) in crowds.items()))
        },
        **memory,
        "bare_ms": round(1000 * median(chain(*bare.values())), 1),
        **{
            f"{k}_p50_ms": round(1000 * median(t.total for t in its), 1) for k, its in turns.items()
        },
        "first_step_p50_ms": round(1000 * median(t.first for t in turns["reuse"]), 1),
        "reuse_stages_ms": in_ms(turns["reuse"]),
        "build_stages_ms": in_ms(turns["build"]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--profile", choices=("reuse", "build"), default="")
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="builds; thrice as many reuses")
    parser.add_argument("--people", type=int, nargs="+", default=_PEOPLE)
    options = parser.parse_args()
    figures = asyncio.run(run(options.profile, options.rounds, options.people))
    return report(figures, GOALS)


if __name__ == "__main__":
    sys.exit(main())
