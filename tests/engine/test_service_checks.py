"""The drift alarm on a schedule: services of kept tools are asked again, without a model."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.http import NetworkAccess
from selfeng.core.tool import Tool, ToolDraft
from selfeng.servers.tool_network import GrantedNetwork
from selfeng.stages.execution import contract
from selfeng.stages.execution.contract import DriftAlarm
from selfeng.store.grants import Grants
from selfeng.store.processes import Processes
from tests.doubles import ScriptedNetwork, ScriptedSandbox, recorded
from tests.embedding.hashing import hashed_library
from tests.registry.drafts import REVERSE

URL, OTHER = "https://api.example.org/rates?day=1", "https://api.example.org/rates?day=2"
ACCESS = NetworkAccess(host="api.example.org", path="/rates")
RATE, CHANGED = {"rate": 1.5}, {"price": 1.5}
ASKS = REVERSE.model_copy(
    update={"network": (ACCESS,), "exchanges": (recorded(URL, RATE), recorded(OTHER, RATE))}
)
PAUSE = timedelta(hours=24)


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[CapabilityRegistry]:
    async with hashed_library(tmp_path) as library:
        yield library


class Checked:
    """A tool in a library, the grant for it, and the answers of its service by URL."""

    def __init__(self, library: CapabilityRegistry, database: sa.Engine) -> None:
        self.library, self.pages = library, ScriptedNetwork({URL: RATE, OTHER: RATE})
        self.network = GrantedNetwork(ScriptedSandbox(), self.pages, Grants(database))
        self.alarm = DriftAlarm(library, self.network, lambda task, pause: True, lambda: 24)

    async def add(self, draft: ToolDraft = ASKS, *hosts: str) -> Tool:
        tool = await self.library.add(draft)
        for host in hosts or ("",):
            await self.network.allow("me", tool, host)
        return tool

    async def standing(self) -> str:
        return (await self.library.get(ASKS.name)).standing


@pytest.fixture
def checked(library: CapabilityRegistry, database: sa.Engine) -> Checked:
    return Checked(library, database)


async def test_a_service_that_answers_as_recorded_changes_nothing(checked: Checked) -> None:
    await checked.add()
    assert await checked.alarm.check() == ()
    assert checked.pages.sent == [URL, OTHER]
    assert await checked.standing() == "provisional"


async def test_a_service_that_changed_makes_its_tool_suspect_once(
    checked: Checked, caplog: pytest.LogCaptureFixture
) -> None:
    await checked.add()
    checked.pages.pages[OTHER] = CHANGED
    (change,) = await checked.alarm.check()
    assert (change.tool, change.before, change.after) == (ASKS.name, "provisional", "suspect")
    assert change.reason == (
        "api.example.org answers otherwise than recorded: value.rate is missing."
    )
    assert f"{ASKS.name} is suspect" in caplog.text
    assert await checked.standing() == "suspect"
    assert await checked.alarm.check() == ()
    assert checked.pages.sent == [URL, OTHER]


async def test_nothing_is_sent_without_a_grant(checked: Checked) -> None:
    await checked.library.add(ASKS)
    assert await checked.alarm.check() == ()
    assert checked.pages.sent == []


async def test_retired_tools_and_calls_of_people_are_left_alone(checked: Checked) -> None:
    called = recorded(OTHER, RATE).model_copy(update={"from_call": True})
    tool = await checked.add(ASKS.model_copy(update={"exchanges": (recorded(URL, RATE), called)}))
    await checked.alarm.check()
    assert checked.pages.sent == [URL]
    await checked.library.retire(tool.name)
    await checked.alarm.check()
    assert checked.pages.sent == [URL]


async def test_hosts_that_calls_name_are_asked_as_far_as_they_are_granted(
    checked: Checked,
) -> None:
    elsewhere = recorded("https://b.example.org/rates", RATE)
    draft = ASKS.model_copy(
        update={
            "network": (NetworkAccess(host="{url}"),),
            "exchanges": (elsewhere, recorded(URL, RATE)),
        }
    )
    await checked.add(draft, "api.example.org")
    checked.pages.pages = {URL: CHANGED}
    (change,) = await checked.alarm.check()
    assert change.after == "suspect"
    assert checked.pages.sent == [URL]


def test_one_process_is_to_check_in_each_pause(new_database: Callable[[], sa.Engine]) -> None:
    database = new_database()
    first, second = Processes(database), Processes(database)
    assert [p.claim("check", PAUSE) for p in (first, second, first)] == [True, False, False]
    assert second.claim("other", PAUSE)
    assert second.claim("check", timedelta(0))


async def test_the_alarm_checks_when_it_is_due_and_not_when_it_is_off(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "_LOOK", 0.0)
    await checked.add()
    hours, claims, loop, checked_once = (
        0,
        list[timedelta](),
        asyncio.get_running_loop(),
        asyncio.Event(),
    )
    sent = list[list[str]]()

    def claim(task: str, pause: timedelta) -> bool:
        claims.append(pause)
        sent.append([*checked.pages.sent])
        if len(claims) == 3:
            loop.call_soon_threadsafe(checked_once.set)
        return len(claims) == 2

    def pause_in_hours() -> int:
        nonlocal hours
        hours += 1
        return 0 if hours == 1 else 5

    alarm = DriftAlarm(checked.library, checked.network, claim, pause_in_hours)
    running = asyncio.create_task(alarm.run())
    await checked_once.wait()
    assert set(claims) == {timedelta(hours=5)}
    assert sent[:3] == [[], [], [URL, OTHER]]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
