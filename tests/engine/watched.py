"""An engine whose records a test waits for."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager

from selfeng.bootstrap import build_engine
from selfeng.core.events import FINAL, Event, Record
from selfeng.core.settings import Settings
from selfeng.engine import Engine
from selfeng_offline.completion import CompletionRequest, Flawed


class HangingModel:
    """The author of a model server: it says a word and then nothing more."""

    reply = Flawed(content="Well and good", stop_after=2, then="hang")

    def __init__(self) -> None:
        self.asked = threading.Event()

    def complete(self, request: CompletionRequest) -> Flawed:
        self.asked.set()
        return self.reply


class EndlessModel(HangingModel):
    """It says the same word again and again."""

    reply = Flawed(content="and " * 100_000)


class Watched:
    """An engine, and what its subscribers saw so far."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self._records, self._news = engine, list[Record](), asyncio.Event()
        engine.feed.subscribe(self._take)

    def _take(self, records: Sequence[Record]) -> None:
        self._records += records
        self._news.set()

    async def until(self, turn_id: str, seen: Callable[[Event], bool]) -> list[Event]:
        """The events of a turn up to the first that is like this."""
        while True:
            events = [record.event for record in self._records if record.turn_id == turn_id]
            for number, event in enumerate(events, 1):
                if seen(event):
                    return events[:number]
            self._news.clear()
            await self._news.wait()

    async def ended(self, turn_id: str) -> list[Event]:
        """All events of a turn."""
        return await self.until(turn_id, lambda event: isinstance(event, FINAL))

    def of(self, conversation_id: str) -> list[Record]:
        """The records of a conversation."""
        return [r for r in self._records if r.conversation_id == conversation_id]

    def has_ended(self, turn_id: str) -> bool:
        return any(r.turn_id == turn_id and isinstance(r.event, FINAL) for r in self._records)


@asynccontextmanager
async def watched(settings: Settings) -> AsyncIterator[Watched]:
    async with aclosing(await build_engine(settings)) as engine:
        yield Watched(engine)
