"""A person's action on a project reports its duration, as any turn does."""

import asyncio

from selfeng.core.background import BackgroundTasks
from selfeng.core.errors import AgentError
from selfeng.core.events import Event, TurnFailed, TurnFinished
from selfeng.projects.service import ProjectTurn


async def last_of(work) -> Event:
    turn = ProjectTurn(BackgroundTasks(), "Run main.py", "acting", work)
    return [event async for event in turn][-1]


async def test_an_action_that_ends_has_seconds():
    async def work(emit):
        await asyncio.sleep(0)
        return TurnFinished(answer="done")

    last = await last_of(work)
    assert isinstance(last, TurnFinished)
    assert last.seconds > 0


async def test_an_action_that_fails_has_seconds():
    async def work(emit):
        raise AgentError("no sandbox")

    last = await last_of(work)
    assert isinstance(last, TurnFailed)
    assert last.seconds > 0
