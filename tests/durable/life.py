"""One life of an engine whose turns are durable, as a process: it asks, or goes on with what an
earlier life left running, and prints its steps and then what the journal has, as JSON lines.

`DIES_AT` has the beginning of the name of a step that is new to the turn, and `DIES` when: it was
`asked` for, `done` and not recorded, or `recorded`; or `first`: before the turn began to last. It
survives as many of these steps as `SURVIVES` says. It dies by the signal `DIES_BY`, which may also
stop it for a while. With `LEARNS` it learns from turns that end, also from those of earlier lives,
and then prints all lessons; at `learning` it dies before it learns from a turn (`asked`), or before
or after it stores what it learnt. The request is for `AGENT`, if given, or is the goal of a new
`PROJECT`. With `SETS_UP` the machine is being set up meanwhile. `WAITS`: it says that it is ready,
and goes on with the turns of others. `SET_BACK`: its wall clock is an hour back from its `start`
on, or from when it was stopped and had to `wake`.
"""

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import aclosing
from datetime import datetime, timedelta, tzinfo
from itertools import count
from typing import Any

from selfeng.bootstrap import build_engine
from selfeng.core.events import FINAL, Record
from selfeng.core.lesson import Lesson
from selfeng.core.settings import load_settings
from selfeng.durable.outcomes import StepOutcome
from selfeng.durable.turn_work import FirstStep, RecordedStep, TurnWork
from selfeng.lessons.book import LessonBook
from selfeng.lessons.learning import Learning

DIES_AT, DIES = os.environ.get("DIES_AT", ""), os.environ.get("DIES", "")
SET_BACK = os.environ.get("SET_BACK", "")
HOUR = 3600


def say(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def die() -> None:
    os.kill(os.getpid(), signal.Signals[os.environ.get("DIES_BY", "SIGKILL")])
    if SET_BACK == "wake":
        set_back()


class EarlierDatetime(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) - timedelta(seconds=HOUR)


def set_back() -> None:
    """Let the program read a wall clock that is an hour back."""
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() - HOUR
    time.time_ns = lambda: now_ns() - HOUR * 10**9
    for name, module in list(sys.modules.items()):
        if name.startswith("selfeng.") and vars(module).get("datetime") is datetime:
            vars(module)["datetime"] = EarlierDatetime


class MortalStep:
    """A recorded step at which the process dies."""

    def __init__(self, step: RecordedStep) -> None:
        self._step = step
        self.key, self.earlier_outcome = step.key, step.earlier_outcome

    async def record(self, outcome: StepOutcome) -> None:
        if DIES == "done":
            die()
        await self._step.record(outcome)
        if DIES == "recorded":
            die()


async def step(work: TurnWork, name: str) -> FirstStep | RecordedStep | MortalStep:
    taken = await TAKE(work, name)
    task = TASKS.setdefault(asyncio.current_task(), len(TASKS))
    new = isinstance(taken, RecordedStep) and taken.earlier_outcome is None
    say(step=name, work=taken.key.partition(" ")[0], new=new, task=task)
    if DIES == "first" and name.startswith(DIES_AT):
        die()
    if not (new and DIES and name.startswith(DIES_AT)):
        return taken
    if next(MET) < int(os.environ.get("SURVIVES", "0")):
        return taken
    assert isinstance(taken, RecordedStep)
    if DIES == "asked":
        die()
    return MortalStep(taken)


def begin(learning: Learning, turn_id: str) -> None:
    if (DIES_AT, DIES) == ("learning", "asked"):
        die()
    BEGIN(learning, turn_id)


def close(book: LessonBook, *given: Any) -> tuple[Lesson, ...]:
    if (DIES_AT, DIES) == ("learning", "done"):
        die()
    taught = CLOSE(book, *given)
    if (DIES_AT, DIES) == ("learning", "recorded"):
        die()
    return taught


BEGIN, CLOSE = Learning.begin, LessonBook.close
TAKE = TurnWork.step
MET = count()
"""The steps at which it might have died."""
TASKS: dict[asyncio.Task[Any] | None, int] = {}
"""The tasks that took steps, numbered."""


async def main(request: str) -> None:
    if SET_BACK == "start":
        set_back()
    TurnWork.step = step  # type: ignore[assignment,method-assign]
    Learning.begin, LessonBook.close = begin, close  # type: ignore[method-assign]
    learns = bool(os.environ.get("LEARNS"))
    records: list[Record] = []
    ended = asyncio.Event()

    def hear(batch: Any) -> None:
        records.extend(batch)
        if any(isinstance(record.event, FINAL) for record in batch):
            ended.set()

    async with aclosing(await build_engine(load_settings(None), durable=True)) as engine:
        engine.feed.subscribe(hear)
        if os.environ.get("SETS_UP"):
            engine.setup.start()
        if learns:
            await engine.learning.start()
        await engine.recovery.start()
        if project := os.environ.get("PROJECT"):
            await engine.projects.begin("me", {"project_name": project, "goal": request})
        elif request:
            await engine.ask("me", None, request, agent=os.environ.get("AGENT", ""))
        if os.environ.get("WAITS"):
            say(ready=True)
        if request or not learns:
            await ended.wait()
            await engine.settle()
            history = await engine.conversations.history("me", records[-1].conversation_id)
            for record in history:
                event = json.loads(record.event.model_dump_json())
                say(seq=record.seq, at=record.at.isoformat(), event=event)
        if learns:
            await engine.learning.settle()
            lessons = await engine.learning.lessons()
            say(lessons=[[lesson.advice, len(lesson.evidence)] for lesson in lessons])
        tools = await engine.library.tools()
        say(tools={tool.name: tool.uses for tool in tools})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
