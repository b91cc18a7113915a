"""Scheduled runs under kills: `python -m benchmarks.schedule [N] [PROCESSES]`, in the real
sandbox, without a model.

Servers' engines run schedules that are due every few seconds; one of the engines is killed with
SIGKILL at a random moment and started again, N times, first one engine on SQLite, then PROCESSES on
a PostgreSQL. Some schedules fail: their tool refuses its input, is gone, needs consent, or does not
end; whoever looks resumes them. The last line is one JSON object:

- `missed`: times at which a schedule was due and no run gave a result
- `given_up`: such times of a schedule that had paused with a reason and words, as one run was
  killed four times
- `doubled`: further results for the same time, and runs that overlapped
- `silent_failures`: failing schedules whose last run did not pause them with a reason and words in
  their conversation, and those that hang

The exit code is 1 if a goal is missed.
"""

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.goals import report
from selfeng.bootstrap import build_engine
from selfeng.core.events import FINAL, TurnFinished, TurnStarted
from selfeng.core.http import NetworkAccess
from selfeng.core.owner import LOCAL
from selfeng.core.schedule import Schedule, SchedulePlan
from selfeng.core.settings import load_settings
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.library.seeding import SeedMark
from selfeng.stages.scheduler import run_id
from selfeng.store.database import open_database
from selfeng.store.journal import Journal
from selfeng.store.schedules import Schedules
from tests.databases import running_postgres
from tests.home import Home

GOALS = {"missed": 0, "doubled": 0, "silent_failures": 0}
"""The maximum of each figure."""
_GOOD, _SECONDS = 4, 5
"""Schedules that give a result, and how often they are due."""
_LIVES = 3.0
"""Seconds that an engine lives, at most, once it has begun."""
_SETTLES = 180.0
"""Seconds without another result, after the last kill, in which all that is due must end."""
_BACKLOG = timedelta(minutes=1)
"""How far the schedules that give results may fall behind before the next kill but one."""
_TOOLS = {
    "double": "def double(number: int) -> int:\n    return 2 * number\n",
    "refuse": "def refuse(number: int) -> int:\n    raise ValueError(f'{number} is malformed')\n",
    "stay": "def stay(number: int) -> int:\n    while True:\n        pass\n",
    "send": "def send(number: int) -> int:\n    return number\n",
    "vanish": "def vanish(number: int) -> int:\n    return number\n",
}
_FAILING = ("refuse", "stay", "send", "vanish")
_LIFE = """
import asyncio
from contextlib import aclosing
from selfeng.bootstrap import build_engine
from selfeng.core.settings import load_settings

async def main():
    async with aclosing(await build_engine(load_settings(None), durable=True)) as engine:
        await engine.recovery.start()
        engine.background.start(engine.schedules.run())
        print("begun", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


class Counts(NamedTuple):
    """The counts of one database."""

    due: int
    runs: int
    failed_runs: int
    missed: int
    given_up: int
    doubled: int
    silent: int


class Fleet:
    """The engines on one database, and what a look at it tells."""

    def __init__(self, home: Home, url: str, processes: int) -> None:
        self._home, self._url, self._random = home, url, random.Random()
        self._environment = {"DATABASE_URL": url, "OPENAI_API_KEY": "", "TURNS_PER_PROCESS": "4"}
        self._database = open_database(url)
        SeedMark(self._database).put()
        self._rows, self._journal = Schedules(self._database), Journal(self._database)
        self._lives: list[subprocess.Popen[str]] = []
        self._pauses: list[tuple[str, datetime, datetime]] = []
        """Of schedules that give results: the id, and from when to when it was paused."""
        self._processes = processes
        self._errors = (home.folder / "stderr.txt").open("a")

    def prepare(self) -> None:
        """The tools, and a schedule for each."""
        asyncio.run(self._prepare())
        self._lives = [self._start() for _ in range(self._processes)]

    async def _prepare(self) -> None:
        settings = load_settings(None, given=_settings(self._home, self._url))
        async with aclosing(await build_engine(settings)) as engine:
            for name, code in _TOOLS.items():
                await engine.library.add(_draft(name, code))
            every = f"*/{_SECONDS} * * * * *"
            for number in range(_GOOD):
                arguments = {"number": number}
                plan = SchedulePlan(
                    name=f"double {number}", tool="double", arguments=arguments, cron=every,
                    missed="all", seconds=600,
                )  # fmt: skip
                await engine.schedule(LOCAL, plan)
            for name in _FAILING:
                seconds = 5 if name == "stay" else 600
                plan = SchedulePlan(
                    tool=name, arguments={"number": 1}, cron=every, missed="once", seconds=seconds
                )
                await engine.schedule(LOCAL, plan)
            await engine.library.remove("vanish")

    def progress(self) -> None:
        """Wait until another run has given a result: where each life is too short for that, the
        schedules rightly give up, and say so. Wait also for a backlog, as no more than 100 runs of
        a schedule are made up for.
        """
        before, patience = self._results(), time.monotonic() + _SETTLES
        while time.monotonic() < patience and (self._results() == before or self._is_behind()):
            time.sleep(0.1)

    def _is_behind(self) -> bool:
        oldest = min(s.next_at for s in self._rows.read(LOCAL) if s.tool == "double")
        return datetime.now(UTC) - oldest > _BACKLOG

    def _results(self) -> set[str]:
        """The last turns of the schedules that give results."""
        good = [s for s in self._rows.read(LOCAL) if s.tool == "double"]
        return {schedule.last.turn_id for schedule in good if schedule.last}

    def kill(self) -> None:
        """Kill one engine at a random moment, start it again, and resume what failed."""
        time.sleep(self._random.uniform(0, _LIVES))
        place = self._random.randrange(len(self._lives))
        self._lives[place].kill()
        self._lives[place].wait()
        self._lives[place] = self._start()
        now = datetime.now(UTC)
        for schedule in self._rows.read(LOCAL):
            if schedule.state == "paused" and not schedule.run:
                next_at = schedule.next_due(now)
                if schedule.tool == "double" and schedule.last and self._is_reported(schedule):
                    _say(f"  {schedule.name} gave up: {schedule.reason}")
                    self._pauses.append((schedule.id, schedule.last.due_at, next_at))
                self._rows.resume(schedule, next_at)

    def settle(self) -> list[Schedule]:
        """Let all that is due end, then end the engines; the schedules that hang."""
        results, patience = set[str](), time.monotonic() + _SETTLES
        while time.monotonic() < patience:
            now, schedules = datetime.now(UTC), self._rows.read(LOCAL)
            if results != (results := self._results()):
                patience = time.monotonic() + _SETTLES
            for schedule in schedules:
                if schedule.tool == "double" and schedule.next_at > now:
                    self._rows.pause(schedule, "the last kill is over")
            unsettled = [s for s in schedules if s.run or s.state == "active"]
            if not unsettled:
                break
            time.sleep(0.2)
        for life in self._lives:
            life.kill()
            life.wait()
        return unsettled

    def count(self, hanging: Sequence[Schedule]) -> Counts:
        schedules = self._rows.read(LOCAL)
        good = [s for s in schedules if s.tool == "double"]
        failing = [s for s in schedules if s.tool != "double"]
        turns = {s.id: self._turns(s) for s in schedules}
        due = {s.id: _due(s) for s in good}
        missed = given_up = doubled = 0
        for schedule in good:
            results = {
                at: sum(run_id(schedule, at, tries) in turns[schedule.id] for tries in range(5))
                for at in due[schedule.id]
            }
            unfinished = [at for at, number in results.items() if not number]
            paused = [at for at in unfinished if self._is_paused(schedule, at)]
            given_up += len(paused)
            missed += len(unfinished) - len(paused)
            doubled += sum(max(0, number - 1) for number in results.values())
            doubled += len(turns[schedule.id]) - sum(results.values()) + self._overlapping(schedule)
        silent = [s for s in failing if not self._is_reported(s)]
        for name in {*(s.name for s in hanging), *(s.name for s in silent)}:
            _say(f"  silent: {name}")
        return Counts(
            due=sum(map(len, due.values())),
            runs=sum(len(turns[s.id]) for s in good),
            failed_runs=sum(self._begun(s) for s in failing),
            missed=missed,
            given_up=given_up,
            doubled=doubled,
            silent=len({s.id for s in (*hanging, *silent)}),
        )

    def _events(self, schedule: Schedule) -> Iterator[tuple[str, Any]]:
        for record in self._journal.history(schedule.conversation_id):
            yield record.turn_id, record.event

    def _turns(self, schedule: Schedule) -> list[str]:
        """The turns that gave a result, each as often as it did; a call that changes nothing may
        have run again for it after a kill.
        """
        return [id for id, event in self._events(schedule) if isinstance(event, TurnFinished)]

    def _begun(self, schedule: Schedule) -> int:
        return sum(isinstance(event, TurnStarted) for _, event in self._events(schedule))

    def _is_paused(self, schedule: Schedule, at: datetime) -> bool:
        return any(id == schedule.id and start <= at < end for id, start, end in self._pauses)

    def _overlapping(self, schedule: Schedule) -> int:
        """Turns that began before the one before them had ended."""
        running, overlapping = set[str](), 0
        for turn_id, event in self._events(schedule):
            if isinstance(event, TurnStarted) and turn_id not in running:
                overlapping += bool(running)
                running.add(turn_id)
            elif isinstance(event, FINAL):
                running.discard(turn_id)
        return overlapping

    def _is_reported(self, schedule: Schedule) -> bool:
        """Whether the schedule is paused with a reason, and its conversation, which its owner has
        not seen, ends with words about it.
        """
        *_, (_, last) = self._events(schedule)
        seen = not self._journal.conversation(LOCAL, schedule.conversation_id).unread
        words = last.model_dump_json() if isinstance(last, FINAL) else ""
        told = bool(schedule.reason and words) and not seen
        return told and schedule.troubled

    def _start(self) -> subprocess.Popen[str]:
        life = subprocess.Popen(  # noqa: S603 - of this program
            [sys.executable, "-c", _LIFE],
            env=self._home.environment(**self._environment),
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        assert life.stdout
        assert life.stdout.readline() == "begun\n", self._home.folder / "stderr.txt"
        life.stdout.close()
        return life

    def close(self) -> None:
        for life in self._lives:
            life.kill()
            life.wait()
        self._errors.close()
        self._database.dispose()


def _draft(name: str, code: str) -> ToolDraft:
    access = NetworkAccess(host="api.example.org", purpose="It sends a number.")
    return ToolDraft(
        name=name,
        description=f"Does what {name} says.",
        signature=parse_signature(code, name),
        code=code,
        tests=f"from {name} import {name}\n\n\ndef test_{name}():\n    assert {name}\n",
        network=(access,) if name == "send" else (),
    )


def _due(schedule: Schedule) -> list[datetime]:
    """When it was due, up to its pause."""
    moments, at = list[datetime](), schedule.next_due(schedule.created_at)
    while at < schedule.next_at:
        moments.append(at)
        at = schedule.next_due(at)
    return moments


def _settings(home: Home, url: str) -> dict[str, Any]:
    return {
        "data_dir": home.folder / "data",
        "tools_dir": home.tools,
        "chroma_persist_dir": home.folder / "chroma_db",
        "database_url": url,
    }


@contextmanager
def _fleet(folder: Path, url: str, processes: int) -> Iterator[Fleet]:
    home = Home(folder, bubblewrap=True)
    home.tools.mkdir(exist_ok=True)
    fleet = Fleet(home, url or f"sqlite:///{folder / 'data' / 'agent.db'}", processes)
    try:
        fleet.prepare()
        yield fleet
    finally:
        fleet.close()


def _measure(fleet: Fleet, kills: int, name: str) -> Counts:
    for number in range(kills):
        if number % 2:
            fleet.progress()
        fleet.kill()
        if number % 20 == 19:
            _say(f"{name}: {number + 1} kills")
    counts = fleet.count(fleet.settle())
    _say(f"{name}: {counts}")
    return counts


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(kills: int = 200, processes: int = 3) -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="schedule-") as folder, running_postgres() as postgres:
        with _fleet(Path(folder) / "sqlite", "", 1) as fleet:
            on_sqlite = _measure(fleet, kills, "sqlite")
        with _fleet(Path(folder) / "postgres", postgres.new(), processes) as fleet:
            on_postgres = _measure(fleet, kills, "postgres")
    both = on_sqlite, on_postgres
    figures = {
        "kills": 2 * kills,
        "due": sum(c.due for c in both),
        "runs": sum(c.runs for c in both),
        "failed_runs": sum(c.failed_runs for c in both),
        "missed": sum(c.missed for c in both),
        "given_up": sum(c.given_up for c in both),
        "doubled": sum(c.doubled for c in both),
        "silent_failures": sum(c.silent for c in both),
        "seconds": round(time.monotonic() - began),
    }
    return report(figures, GOALS)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
