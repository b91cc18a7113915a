"""Set-up in the background: which requests wait for it, how it is reported, and that it is tried
again.
"""

import asyncio
import logging
import threading
from collections.abc import Callable

import pytest

from selfeng.core.errors import SandboxUnavailable
from selfeng.core.events import Waiting
from selfeng.core.status import Part, PartStatus
from selfeng.core.turn import awaited
from selfeng.provision import setup as module
from selfeng.provision.setup import Readiness, Report


def states(readiness: Readiness) -> list[tuple[str, str, str]]:
    return [(part.part, part.state, part.detail) for part in readiness.unready]


def waiting(
    readiness: Readiness, part: Part, emit: Callable[[Waiting], object] = lambda event: None
) -> asyncio.Task[bool]:
    return asyncio.ensure_future(awaited(readiness.news, part, emit))


async def test_who_needs_a_part_waits_until_it_is_ready_and_nobody_waits_for_what_is_not_expected() -> (
    None
):
    readiness, done, told = Readiness(), asyncio.Event(), list[Waiting]()

    async def work(report: Report) -> None:
        await done.wait()

    assert not await waiting(readiness, "sandbox", told.append)
    assert told == []
    readiness.expect("sandbox", "tools")
    assert states(readiness) == [("sandbox", "waiting", ""), ("tools", "waiting", "")]
    for_sandbox, for_tools = waiting(readiness, "sandbox", told.append), waiting(readiness, "tools")
    preparing = asyncio.ensure_future(readiness.prepare("sandbox", work, then=("tools",)))
    await asyncio.wait([for_sandbox], timeout=0.01)
    assert [event.state for event in told] == ["started"]
    done.set()
    await preparing
    assert await for_sandbox
    assert ([event.state for event in told], states(readiness)) == (
        ["started", "finished"],
        [("tools", "waiting", "")],
    )
    assert not for_tools.done()
    await readiness.prepare("tools", work)
    assert await for_tools


async def test_the_reason_to_wait_has_what_is_being_done_and_leaves_out_what_a_turn_can_do_without() -> (
    None
):
    readiness = Readiness()
    assert readiness.reason == ""
    readiness.expect("search", "sandbox", "tools")
    assert readiness.reason == "the semantic search: being set up"

    async def broken(report: Report) -> None:
        raise SandboxUnavailable("no engine answers", "start it")

    for part in ("search", "sandbox"):
        changed = asyncio.Event()
        readiness.changed.subscribe(changed.set)
        preparing = asyncio.ensure_future(readiness.prepare(part, broken, then=()))
        while part not in [p.part for p in readiness.unready if p.state == "failed"]:
            changed.clear()
            await changed.wait()
        preparing.cancel()
    assert readiness.reason == "the sandbox: no engine answers. What to do: start it"


async def test_progress_is_told_from_any_thread() -> None:
    readiness, told = Readiness(), list[PartStatus]()
    readiness.changed.subscribe(lambda: told.extend(readiness.unready))
    readiness.expect("tools")

    async def work(report: Report) -> None:
        thread = threading.Thread(target=report, args=("3 of 15 tools verified", 3, 15))
        thread.start()
        await asyncio.to_thread(thread.join)

    await readiness.prepare("tools", work)
    assert [(part.state, part.done, part.total) for part in told] == [
        ("waiting", 0, 0),
        ("working", 0, 0),
        ("working", 3, 15),
    ]


@pytest.mark.parametrize(
    "error",
    [SandboxUnavailable("no engine answers", "start one"), RuntimeError("no engine answers")],
)
async def test_a_part_that_fails_keeps_nobody_waiting_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.01)
    readiness, again, tries = Readiness(), asyncio.Event(), list[list[str]]()

    async def work(report: Report) -> None:
        tries.append([part.state for part in readiness.unready])
        if len(tries) == 1:
            raise error
        await again.wait()

    readiness.expect("sandbox", "tools")
    before = waiting(readiness, "tools")
    preparing = asyncio.ensure_future(readiness.prepare("sandbox", work, then=("tools",)))
    assert await before
    assert not await waiting(readiness, "sandbox")
    [(_, state, detail), tools] = states(readiness)
    assert (state, "no engine answers" in detail, tools) == (
        "failed",
        True,
        ("tools", "failed", ""),
    )
    again.set()
    await preparing
    assert tries == [["working", "waiting"], ["failed", "failed"]]
    assert states(readiness) == [("tools", "waiting", "")]
    logged = [record.levelno for record in caplog.records]
    assert logged == ([] if isinstance(error, SandboxUnavailable) else [logging.ERROR])
