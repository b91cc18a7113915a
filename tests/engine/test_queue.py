"""Turns that wait in the queue, on the real engine with a model that hangs."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from selfeng.bootstrap import build_engine
from selfeng.core.errors import ConfigurationError, LimitReached
from selfeng.core.events import Event, TurnQueued, TurnStarted, TurnStopped
from selfeng.core.settings import Settings
from selfeng.core.status import Asked
from selfeng.store.conversation_list import ConversationChange
from selfeng_offline.server import OfflineServer
from tests.engine.watched import HangingModel, Watched, watched
from tests.home import Home


@pytest.fixture
def model() -> Iterator[OfflineServer]:
    with OfflineServer(HangingModel(), delay=0) as server:
        yield server


@pytest.fixture
async def crowded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: OfflineServer
) -> AsyncIterator[Watched]:
    """An engine that runs one turn at once, and lets two of a person wait."""
    more = {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": model.api_key,
        "OPENAI_MODEL": model.model,
        "TURNS_MAX_RUNNING": "1",
        "TURNS_MAX_WAITING": "3",
    }
    for name, value in Home(tmp_path / "home").environment(**more).items():
        monkeypatch.setenv(name, value)
    async with watched(Settings(_env_file=None)) as engine:
        yield engine


async def ask(crowded: Watched, owner: str = "me", conversation: str | None = None) -> Asked:
    return await crowded.engine.ask(owner, conversation, "Sail to Rome", agent="proxy")


def is_at(place: int) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, TurnQueued) and event.place == place


async def test_a_turn_waits_with_its_place_and_runs_when_another_has_ended(
    crowded: Watched,
) -> None:
    first, second = await ask(crowded), await ask(crowded, "you")
    started, queued = await crowded.until(second.turn_id, is_at(1))
    assert (type(started), queued) == (TurnStarted, TurnQueued(place=1))
    assert await crowded.engine.stop("me", first.turn_id)
    *_, admitted = await crowded.until(second.turn_id, is_at(0))
    assert admitted.seconds > 0
    await crowded.until(second.turn_id, lambda event: event.type == "delegation")
    assert await crowded.engine.stop("you", second.turn_id)
    assert isinstance((await crowded.ended(second.turn_id))[-1], TurnStopped)


async def test_a_turn_that_no_process_takes_says_why_it_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in Home(tmp_path / "home").environment(TURNS_PER_PROCESS="0").items():
        monkeypatch.setenv(name, value)
    settings = Settings(_env_file=None)
    async with aclosing(await build_engine(settings, durable=True)) as engine:
        server = Watched(engine)
        asked = await ask(server)
        *_, queued = await server.until(asked.turn_id, is_at(1))
        assert queued.reason == "no worker runs: start `selfeng worker` with the same DATABASE_URL"
        assert await server.engine.stop("me", asked.turn_id)


async def test_a_turn_is_stopped_while_it_waits_and_has_spent_nothing(crowded: Watched) -> None:
    await ask(crowded)
    asked = await ask(crowded)
    await crowded.until(asked.turn_id, is_at(1))
    assert await crowded.engine.stop("me", asked.turn_id)
    events = await crowded.ended(asked.turn_id)
    assert [type(event) for event in events] == [TurnStarted, TurnQueued, TurnStopped]
    assert (events[-1].usage.calls, events[-1].reason) == (0, "Stopped on request.")
    assert events[-1].seconds == pytest.approx(0, abs=0.05)
    history = await crowded.engine.conversations.history("me", asked.conversation_id)
    assert [record.event for record in history] == events


async def test_a_deleted_conversation_leaves_the_queue(crowded: Watched) -> None:
    await ask(crowded)
    second, third = await ask(crowded), await ask(crowded, "you")
    await crowded.until(third.turn_id, is_at(2))
    await crowded.engine.conversations.change(
        "me", second.conversation_id, ConversationChange(deleted=True)
    )
    await crowded.until(third.turn_id, is_at(1))


async def test_what_is_refused_leaves_no_conversation_and_says_what_to_do(
    crowded: Watched,
) -> None:
    for _ in range(3):
        await ask(crowded)
    with pytest.raises(LimitReached) as refused:
        await ask(crowded)
    assert refused.value.message == "the queue is full, with 2 requests of yours waiting"
    assert refused.value.remedy == "wait until one of them runs, or stop one"
    assert len(await crowded.engine.conversations.list("me")) == 3
    assert await ask(crowded, "you")


async def test_a_request_that_is_sent_again_while_the_queue_is_full_is_its_turn(
    crowded: Watched,
) -> None:
    async def send() -> Asked:
        return await crowded.engine.ask("me", None, "Sail", agent="proxy", turn_id="t3")

    await ask(crowded), await ask(crowded)
    first = await send()
    with pytest.raises(LimitReached):
        await ask(crowded)
    assert await send() == first


async def test_the_server_ends_with_turns_in_the_queue(crowded: Watched) -> None:
    turns = [await ask(crowded) for _ in range(3)]
    await crowded.engine.aclose()
    ends: list[Event] = [(await crowded.ended(asked.turn_id))[-1] for asked in turns]
    assert [(type(end), end.reason) for end in ends] == [(TurnStopped, "The server ended.")] * 3


async def test_a_second_server_on_the_same_data_does_not_start_and_a_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in Home(tmp_path / "home").environment().items():
        monkeypatch.setenv(name, value)
    settings = Settings(_env_file=None)
    async with aclosing(await build_engine(settings, durable=True)):
        with pytest.raises(ConfigurationError, match=f"another server uses {settings.data_dir}"):
            await build_engine(settings, durable=True)
        async with aclosing(await build_engine(settings)) as command:
            assert await command.library.tools() == ()
    async with aclosing(await build_engine(settings, durable=True)):
        pass
