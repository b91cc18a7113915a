"""The fleet that serves a number of people: `python -m benchmarks.scaling [--measure] [PEOPLE...]`,
by default 100, 1000 and 10000; the last line is JSON.

For each number of people it computes the processes and cores that keep each part busy for three
fifths of the time, and then lets the people use them in a simulation: each thinks for a minute on
average and asks; one request in ten needs a new tool. A turn waits for an engine, computes on that
engine's core between its model calls, runs its jobs on the sandboxes' cores, stores its events in
the database, and is delivered by a web process. What is simulated is the waiting; the costs are
measured: `--measure` has a real engine do turns of both kinds, counts the processor time of its
process and of the sandbox's, and the transactions, and prints them as the first line of JSON.

By people: `engines`, `web`, `sandbox_cores` and `database_cores` of the fleet, `turns_per_second`,
`overhead_p50_ms` and `overhead_p99_ms` of a turn beside its model calls, and how `busy` each part
is. The exit code is 1 if a goal is missed.

Processor time on one of two shared cores, beside the model:

                                       engine, ms  sandbox, ms  transactions  model calls in a row
reuse of a tool                        39          41           8             2 of 1.5 s
a new tool, three candidates, mutants  216         397          28            5 of 5 s

A transaction takes 2 ms of the database's core with its notification, and 1 ms of a web process's
core to be delivered; both are assumed. So a person asks every 65 s, and a turn takes on average 57
ms of an engine, 77 ms of a sandbox and 10 transactions. For N people at once:

turns a second     N / 65
engine processes   the larger of N/65 x 0.057 / 0.6, which computes, and N/65 x 5.2 s / 24 / 0.6, as
                   a process runs 24 turns at once, which mostly wait for the model
sandbox cores      N/65 x 0.077 / 0.6
database cores     N/65 x 10 x 0.002 / 0.6
web cores          N/65 x 10 x 0.001 / 0.6

people   turns/s   engines   web   sandbox   database   p50, ms   p99, ms   busiest part
100      1.6       1         1     1         1          96        710       sandbox, 12 %
1,000    16        6         1     2         1          142       2,781     sandbox, 65 %
10,000   160       56        3     20        6          99        1,877     sandbox, 67 %

p99 is a build that waits for a sandbox. Engines are busy for a fifth of the time, so a larger
TURNS_PER_PROCESS saves processes where memory allows it.
"""

import argparse
import asyncio
import json
import math
import random
import resource
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import quantiles
from typing import Any

import simpy
import sqlalchemy as sa
from pydantic import SecretStr

from benchmarks.goals import missed, report
from benchmarks.learning import offline_settings
from benchmarks.turn import BUILD, BUILT, REUSE, model_server, timed
from selfeng.bootstrap import build_engine

PEOPLE = (100, 1_000, 10_000)
_THINK = 60.0
"""Seconds from an answer to the next request, on average."""
_BUILDS = 0.1
"""Share of the requests that need a new tool."""
_BUSY = 0.6
"""How busy each part of a fleet may be; beyond four fifths, waiting grows fast."""
GOALS = {"overhead_p50_ms": 200, "busy": 0.8}
"""The most that a turn may take beside its model calls, and that its busiest part may be busy."""
_RUNNING = 24
"""Turns that an engine runs at once, as TURNS_PER_PROCESS says."""
_WARM_UP, _SECONDS = 60.0, 120.0
_ROUNDS = {"reuse": 30, "build": 6}
Process = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class TurnCost:
    """The use of each part by a turn, in milliseconds of one core."""

    engine_ms: float
    sandbox_ms: float
    transactions: float
    model_calls: int
    """One after the other."""
    model_seconds: float
    """Of one call, on average."""


@dataclass(frozen=True)
class Costs:
    reuse: TurnCost
    build: TurnCost
    transaction_ms: float = 2.0
    """Of the database's core, with its notification."""
    delivery_ms: float = 1.0
    """Of a web process's core, for the events of one transaction: read, packed and sent."""

    def mean(self, part: str) -> float:
        """Of one turn in the mix."""
        reuse, build = getattr(self.reuse, part), getattr(self.build, part)
        return float((1 - _BUILDS) * reuse + _BUILDS * build)


MEASURED = Costs(
    reuse=TurnCost(39, 41, 8, model_calls=2, model_seconds=1.5),
    build=TurnCost(216, 397, 28, model_calls=5, model_seconds=5.0),
)
"""Measured on one of two shared cores; what the database and a delivery take is assumed, on the
high side.
"""


@dataclass(frozen=True)
class Fleet:
    web: int
    engines: int
    """Processes that run turns, each on a core of its own."""
    sandbox_cores: int
    database_cores: int

    @classmethod
    def for_people(cls, people: int, costs: Costs) -> "Fleet":
        """The smallest one that is not busier than it may be."""
        model = (1 - _BUILDS) * costs.reuse.model_calls * costs.reuse.model_seconds
        model += _BUILDS * costs.build.model_calls * costs.build.model_seconds
        rate = people / (_THINK + model)
        writes = rate * costs.mean("transactions")

        def cores(per_second: float, ms: float) -> int:
            return max(1, math.ceil(per_second * ms / 1000 / _BUSY))

        at_once = math.ceil(rate * model / _RUNNING / _BUSY)
        return cls(
            web=cores(writes, costs.delivery_ms),
            engines=max(at_once, cores(rate, costs.mean("engine_ms"))),
            sandbox_cores=cores(rate, costs.mean("sandbox_ms")),
            database_cores=cores(writes, costs.transaction_ms),
        )


class Part:
    """Cores that work is queued for, and how long they have worked."""

    def __init__(self, env: simpy.Environment, cores: int) -> None:
        self._env, self._cores = env, simpy.Resource(env, cores)
        self._worked = 0.0

    def work(self, ms: float) -> Process:
        with self._cores.request() as turn:
            yield turn
            yield self._env.timeout(ms / 1000)
            self._worked += ms / 1000

    def busy(self, seconds: float) -> float:
        return self._worked / seconds / self._cores.capacity


class Simulation:
    """People who use a fleet; one seed gives one course of events."""

    def __init__(self, people: int, fleet: Fleet, costs: Costs, seed: int = 0) -> None:
        self._env, self._chance, self._costs = simpy.Environment(), random.Random(seed), costs
        env = self._env
        self._web = [Part(env, 1) for _ in range(fleet.web)]
        self._engines = [Part(env, 1) for _ in range(fleet.engines)]
        self._slots = simpy.FilterStore(env)
        self._slots.items = [n for n in range(fleet.engines) for _ in range(_RUNNING)]
        self._chance.shuffle(self._slots.items)
        self._sandbox, self._database = (
            Part(env, fleet.sandbox_cores),
            Part(env, fleet.database_cores),
        )
        self._overheads: list[float] = []
        for _ in range(people):
            env.process(self._person(self._web[self._chance.randrange(fleet.web)]))

    def run(self) -> dict[str, Any]:
        """Figures of the time after the warm-up."""
        self._env.run(_WARM_UP)
        self._overheads.clear()
        self._env.run(_WARM_UP + _SECONDS)
        seconds = self._env.now
        cut = quantiles(self._overheads, n=100)
        parts = {"web": self._web, "engines": self._engines}
        busy = {name: sum(p.busy(seconds) for p in ps) / len(ps) for name, ps in parts.items()}
        busy |= {"sandbox": self._sandbox.busy(seconds), "database": self._database.busy(seconds)}
        return {
            "turns_per_second": round(len(self._overheads) / _SECONDS, 1),
            "overhead_p50_ms": round(1000 * cut[49]),
            "overhead_p99_ms": round(1000 * cut[98]),
            "busy": {name: round(share, 2) for name, share in busy.items()},
        }

    def _person(self, web: Part) -> Process:
        yield self._env.timeout(self._chance.uniform(0, _THINK))
        while True:
            cost = self._costs.build if self._chance.random() < _BUILDS else self._costs.reuse
            yield self._env.process(self._turn(cost, web))
            yield self._env.timeout(self._chance.expovariate(1 / _THINK))

    def _turn(self, cost: TurnCost, web: Part) -> Process:
        began, model = self._env.now, 0.0
        slot = yield self._slots.get()
        pieces = cost.model_calls + 1
        for piece in range(pieces):
            yield self._env.process(self._engines[slot].work(cost.engine_ms / pieces))
            yield self._env.process(self._told(cost.transactions / pieces, web))
            if piece < cost.model_calls:
                yield self._env.process(self._sandbox.work(cost.sandbox_ms / cost.model_calls))
                call = self._chance.expovariate(1 / cost.model_seconds)
                model += call
                yield self._env.timeout(call)
        self._slots.put(slot)
        self._overheads.append(self._env.now - began - model)

    def _told(self, transactions: float, web: Part) -> Process:
        """Events are stored one transaction after the other, and delivered meanwhile."""
        yield self._env.process(self._database.work(transactions * self._costs.transaction_ms))
        self._env.process(web.work(transactions * self._costs.delivery_ms))


async def measured() -> Costs:
    """The costs on this machine, of a real engine with bubblewrap and a model that takes no
    time.
    """
    costs = {kind: await _cost(kind, rounds) for kind, rounds in _ROUNDS.items()}
    idle = await _cost("reuse", 0)
    found = {}
    for kind, total in costs.items():
        one = [(t - i) / _ROUNDS[kind] for t, i in zip(total, idle, strict=True)]
        found[kind] = replace(
            getattr(MEASURED, kind),
            engine_ms=round(1000 * one[0], 1),
            sandbox_ms=round(1000 * one[1], 1),
            transactions=round(one[2], 1),
        )
    return replace(MEASURED, reuse=found["reuse"], build=found["build"])


async def _cost(kind: str, rounds: int) -> tuple[float, float, float]:
    """Seconds of processor time of the engine and of the sandbox, and transactions, of an engine
    that does so many turns.
    """
    transactions = 0

    def count(connection: sa.Connection) -> None:
        nonlocal transactions
        transactions += bool(connection.get_execution_options().get("writing"))

    sandbox = _children()
    with model_server() as (url, key, model), tempfile.TemporaryDirectory() as folder:
        own = {
            "openai_base_url": url,
            "openai_api_key": SecretStr(key),
            "openai_model": model,
            "lessons_learn": False,
            "sandbox": "bubblewrap",
        }
        settings = offline_settings(Path(folder)).model_copy(update=own)
        async with aclosing(await build_engine(settings)) as engine:
            await engine.setup.get_ready()
            for request in (REUSE, BUILD):
                await timed(engine, "me", request)
            await engine.sandbox.settle()
            sa.event.listen(sa.Engine, "commit", count)
            began = time.process_time()
            for _ in range(rounds):
                if kind == "build":
                    await engine.library.remove(BUILT)
                await timed(engine, "me", REUSE if kind == "reuse" else BUILD)
            seconds = time.process_time() - began
            sa.event.remove(sa.Engine, "commit", count)
    return seconds, _children() - sandbox, transactions


def _children() -> float:
    """Seconds of processor time of the processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figures(people: Sequence[int], costs: Costs) -> dict[str, Any]:
    found = {}
    for number in people:
        fleet = Fleet.for_people(number, costs)
        found[str(number)] = {**asdict(fleet), **Simulation(number, fleet, costs).run()}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("people", nargs="*", type=int, default=PEOPLE)
    given = parser.parse_args()
    costs = asyncio.run(measured()) if given.measure else MEASURED
    sys.stdout.write(json.dumps(asdict(costs)) + "\n")
    found = figures(given.people, costs)
    problems = [
        line
        for number, of in found.items()
        for line in missed({**of, "busy": max(of["busy"].values())}, GOALS, of=f"{number} people: ")
    ]
    return report(found, {}, problems=problems)


if __name__ == "__main__":
    sys.exit(main())
