"""The steps of a turn's work, in one process after another."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from selfeng.core.errors import Diverged, ModelUnavailable, TakenOver
from selfeng.core.events import StageEntered
from selfeng.core.turn import Budget
from selfeng.core.work import current_work
from selfeng.durable.outcomes import StepOutcome, done_once
from selfeng.durable.turn_work import TurnWork, paid_outcomes
from selfeng.durable.workflows import Workflows
from tests.home import ROOT


@asynccontextmanager
async def process(
    steps: str, version: str = "1", *, kept_seconds: float = 600.0
) -> AsyncIterator[Workflows]:
    workflows = Workflows(steps, version, lambda: {"t"}, kept_seconds=kept_seconds)
    try:
        yield workflows
    finally:
        await workflows.aclose()


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.extended]),
    ]
)
def steps(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where steps are kept; in `make test`, PostgreSQL keeps them in `test_kills.py`."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'steps.db'}"
    return str(request.getfixturevalue("postgres").new())


class Door:
    """Says a number that grows with every use."""

    def __init__(self) -> None:
        self.uses = 0

    async def use(self, budget: Budget, key: str) -> int:
        self.uses += 1
        budget.charge(10, 1, None)
        return self.uses

    async def fail(self, budget: Budget, key: str) -> int:
        self.uses += 1
        raise ModelUnavailable("it is gone", "try again later")


async def used(work: TurnWork, door: Door, *names: str) -> tuple[list[int], int]:
    """The outcomes of the steps of these names, and the model calls that were charged."""
    budget, token = Budget(), current_work.set(work)
    try:
        found = [await done_once(name, door.use, budget) for name in names]
    finally:
        current_work.reset(token)
    return found, budget.usage.calls


async def test_steps_are_done_once_also_in_the_next_process(steps: str) -> None:
    door = Door()
    async with process(steps) as workflows:
        work = TurnWork("t", workflows)
        assert await used(work, door, "search") == ([1], 1)
        work.watch(StageEntered(node="specify"))
        assert await used(work, door, "ask") == ([2], 1)
        assert await used(work.part("a"), door, "ask", "run") == ([3, 4], 2)
    async with process(steps) as workflows:
        begun = await workflows.resume("t")
        assert begun is not None
        assert [(name, outcome.value, outcome.charges) for name, outcome in begun] == [
            ("search", 1, ((10, 1, None),))
        ]
        work = TurnWork("t", workflows, begun, lasting=True)
        assert await used(work, door, "search", "ask", "run") == ([1, 2, 5], 3)
        assert await used(work.part("a"), door, "ask", "run", "more") == ([3, 4, 6], 3)
        await work.end()
        assert await workflows.resume("t") is None


async def test_a_turn_that_is_tried_again_pays_for_no_reply_twice(steps: str) -> None:
    door = Door()
    async with process(steps) as workflows:
        work = TurnWork("failed", workflows)
        await used(work, door, "model.choose")
        work.watch(StageEntered(node="specify"))
        await used(work, door, "lessons.recall", "model.ask", "sandbox.run", "model.ask")
        await used(work.part("a"), door, "model.part")
        work.keep()
        await work.end()
    async with process(steps) as workflows:
        work = TurnWork("t", workflows, paid=paid_outcomes(await workflows.kept_steps("failed")))
        assert await used(work, door, "model.choose") == ([1], 0)
        work.watch(StageEntered(node="specify"))
        names = ("lessons.recall", "model.ask", "sandbox.run", "model.ask", "model.ask")
        assert await used(work, door, *names) == ([2, 3, 7, 5, 8], 2)
        assert await used(work.part("a"), door, "model.part") == ([6], 0)
    async with process(steps) as workflows:
        work = TurnWork("t", workflows, await workflows.resume("t") or (), lasting=True)
        assert await used(work, door, "model.choose", *names) == ([1, 2, 3, 7, 5, 8], 2)
        await work.end()
        assert await workflows.kept_steps("t") == []


async def test_the_steps_of_a_failed_turn_are_deleted_after_their_time(steps: str) -> None:
    async with process(steps, kept_seconds=2.4) as workflows:
        work = TurnWork("failed", workflows, lasting=True)
        await used(work, Door(), "model.ask")
        work.keep()
        await work.end()
        assert len(await workflows.kept_steps("failed")) == 1
        while await workflows.kept_steps("failed"):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.1)


async def test_a_start_deletes_what_was_kept_long_enough(steps: str) -> None:
    async with process(steps) as workflows:
        work = TurnWork("failed", workflows, lasting=True)
        await used(work, Door(), "model.ask")
        work.keep()
        await work.end()
    async with process(steps, kept_seconds=0.0) as workflows:
        assert await workflows.kept_steps("failed") == []


@pytest.mark.parametrize("names", [("other", "ask"), ("search", "other")])
async def test_another_step_in_its_place_is_an_error(steps: str, names: tuple[str, ...]) -> None:
    door = Door()
    async with process(steps) as workflows:
        work = TurnWork("t", workflows)
        await used(work, door, "search")
        work.watch(StageEntered(node="specify"))
        await used(work, door, "ask")
    async with process(steps) as workflows:
        work = TurnWork("t", workflows, await workflows.resume("t") or (), lasting=True)
        with pytest.raises(Diverged):
            await used(work, door, *names)
        assert door.uses == 2


async def test_an_error_is_a_value_of_a_step(steps: str) -> None:
    door = Door()
    for _ in range(2):
        async with process(steps) as workflows:
            begun = await workflows.resume("t") or ()
            token = current_work.set(TurnWork("t", workflows, begun, lasting=True))
            with pytest.raises(ModelUnavailable, match="it is gone") as raised:
                await done_once("ask", door.fail)
            current_work.reset(token)
            assert raised.value.remedy == "try again later"
    assert door.uses == 1


async def test_another_version_of_the_program_begins_again(steps: str) -> None:
    door = Door()
    async with process(steps) as workflows:
        await used(TurnWork("t", workflows, lasting=True), door, "ask")
    async with process(steps, "2") as workflows:
        assert await workflows.resume("t") is None


async def test_a_turn_goes_on_where_its_steps_can_not_be_kept(tmp_path: Path) -> None:
    (tmp_path / "steps.db").mkdir()
    async with process(f"sqlite:///{tmp_path / 'steps.db'}") as workflows:
        work, door = TurnWork("t", workflows, lasting=True), Door()
        assert await used(work, door, "ask", "run") == ([1, 2], 2)
        await work.end()


class Slow:
    """A door that is used until somebody has enough."""

    def __init__(self) -> None:
        self.uses = 0
        self.begun = asyncio.Event()

    async def use(self, budget: Budget, key: str) -> None:
        self.uses += 1
        self.begun.set()
        await asyncio.Event().wait()


async def cancelled(door: Slow) -> None:
    """Use the door in the work of this task, until it is used."""
    task = asyncio.create_task(done_once("wait", door.use))
    await door.begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_what_a_stop_cancelled_is_done_when_a_process_goes_on(steps: str) -> None:
    slow, door = Slow(), Door()
    async with process(steps) as workflows:
        token = current_work.set(work := TurnWork("t", workflows, lasting=True))
        await used(work, door, "ask")
        work.stop()
        await cancelled(slow)
        current_work.reset(token)
    async with process(steps) as workflows:
        work = TurnWork("t", workflows, await workflows.resume("t") or (), lasting=True)
        assert await used(work, door, "ask", "wait") == ([1, 2], 2)


async def test_what_the_turn_itself_cancelled_waits_to_be_cancelled_again(steps: str) -> None:
    slow = Slow()
    for _ in range(2):
        async with process(steps) as workflows:
            begun = await workflows.resume("t") or ()
            token = current_work.set(TurnWork("t", workflows, begun, lasting=True))
            await cancelled(slow)
            current_work.reset(token)
    assert slow.uses == 1


GOES_ON = """
import asyncio, sys
from tests.durable.test_turn_work import process

async def main():
    async with process(sys.argv[1]) as workflows:
        assert await workflows.resume("t") == []

asyncio.run(main())
"""


async def test_a_step_of_a_turn_that_was_taken_over_is_an_error(steps: str) -> None:
    async with process(steps) as workflows:
        work = TurnWork("t", workflows, lasting=True)
        step = await work.step("ask")
        command = [sys.executable, "-c", GOES_ON, steps]
        assert await (await asyncio.create_subprocess_exec(*command, cwd=ROOT)).wait() == 0
        with pytest.raises(TakenOver):
            await step.record(StepOutcome(1))


@pytest.mark.parametrize("warm", [False, True])
async def test_a_turn_can_be_stopped_while_its_steps_begin_to_be_kept(
    steps: str, caplog: pytest.LogCaptureFixture, *, warm: bool
) -> None:
    for pause in (0.0, 0.001, 0.01, 0.03):
        async with process(steps) as workflows:
            if warm:
                await used(other := TurnWork("t", workflows, lasting=True), Door(), "ask")
                await other.end()
            work = TurnWork("t", workflows, lasting=True)
            asked = asyncio.create_task(used(work, Door(), "ask", "run"))
            await asyncio.sleep(pause)
            asked.cancel()
            await asyncio.wait([asked])
            await work.end()
            assert caplog.messages == []
            assert await workflows.resume("t") is None
