"""Readiness: the parts that a start sets up in the background while the page is already served, and
the requests that wait for them.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable

from selfeng.core.changes import Changes
from selfeng.core.errors import AgentError
from selfeng.core.status import PARTS, Part, PartStatus

log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 300.0
"""Seconds before a part that could not be set up is tried again; the pause doubles."""

Report = Callable[[str, int, int], None]
"""Called with the current step, the amount done and the total, 0 of 0 if unknown. Thread-safe."""


class Readiness:
    """The parts that are not ready; a part that was not expected counts as ready. Used on one event
    loop.
    """

    def __init__(self) -> None:
        self._parts: dict[Part, PartStatus] = {}
        self._news: defaultdict[Part, asyncio.Event] = defaultdict(asyncio.Event)
        self.changed = Changes[[]]()

    @property
    def unready(self) -> tuple[PartStatus, ...]:
        """In the order in which they were expected."""
        return tuple(self._parts.values())

    @property
    def reason(self) -> str:
        """Why a turn would have to wait, or fail; "" if it would not. Without the search's model or
        the seed tools it continues.
        """
        parts = [p for p in self.unready if p.part == "sandbox" or p.state != "failed"]
        doing = [p for p in parts if p.detail] or parts[:1]
        return "; ".join(f"{PARTS[p.part]}: {p.detail or 'being set up'}" for p in doing)

    def tell(self, say: Callable[[str], object]) -> None:
        """Tell the progress from now on line by line, each once, and the end of it."""
        sent_lines = set[str]()

        def tell() -> None:
            for part in self.unready:
                lacks = part.state != "working"
                line = f"Not set up: {PARTS[part.part]}. {part.detail}" if lacks else part.detail
                if part.detail and line not in sent_lines:
                    sent_lines.add(line)
                    say(line)
            if sent_lines and not self.unready:
                sent_lines.clear()
                say("Everything is set up.")

        self.changed.subscribe(tell)

    def expect(self, *parts: Part) -> None:
        """Make requests wait for these parts from now on."""
        for part in parts:
            self._put(PartStatus(part=part, state="waiting"))

    def news(self, part: Part) -> asyncio.Event | None:
        """An event that is set when a part makes progress; None if it is ready or has failed."""
        status = self._parts.get(part)
        return self._news[part] if status and status.state != "failed" else None

    async def prepare(
        self, part: Part, work: Callable[[Report], Awaitable[object]], then: tuple[Part, ...] = ()
    ) -> None:
        """Set up an expected part, retrying as often as needed; `then` are the parts that can't
        begin before it is ready.
        """
        loop, pause = asyncio.get_running_loop(), _FIRST_PAUSE
        self._put(PartStatus(part=part, state="working"))

        def report(detail: str, done: int, total: int) -> None:
            loop.call_soon_threadsafe(
                self._go_on,
                PartStatus(part=part, state="working", detail=detail, done=done, total=total),
            )

        while True:
            try:
                await work(report)
            except AgentError as error:
                self._fail(error, part, then)
            except Exception as error:
                log.exception("%s can't be set up", part)
                self._fail(
                    AgentError(
                        f"{type(error).__name__}: {error}", "the server's log has the details"
                    ),
                    part,
                    then,
                )
            else:
                break
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        del self._parts[part]
        log.info("part %s: ready", part)
        self.expect(*then)
        self._tell(part)

    def _go_on(self, status: PartStatus) -> None:
        """Update a part; one that has failed keeps its reason until it is ready."""
        if (before := self._parts.get(status.part)) and before.state == "working":
            self._put(status)

    def _fail(self, error: AgentError, part: Part, then: tuple[Part, ...]) -> None:
        detail = error.message + (f". What to do: {error.remedy}" if error.remedy else "")
        for name in (part, *then):
            self._put(PartStatus(part=name, state="failed", detail=detail if name == part else ""))

    def _put(self, status: PartStatus) -> None:
        if self._parts.get(status.part) != status:
            self._parts[status.part] = status
            log.info("part %s: %s", status.part, f"{status.state} {status.detail}".rstrip())
            self._tell(status.part)

    def _tell(self, part: Part) -> None:
        self._news.pop(part, asyncio.Event()).set()
        self.changed.tell()
