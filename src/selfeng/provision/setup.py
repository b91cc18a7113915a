"""Setup: makes ready what requests need, in the background, while the page is already served and
requests wait for it, or at once; and reports the progress.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.background import BackgroundTasks
from selfeng.core.changes import Changes
from selfeng.core.errors import AgentError, LibraryError
from selfeng.core.packages import LOCAL
from selfeng.core.status import PARTS, EngineStatus, LibraryStatus, Part, PartStatus
from selfeng.core.turn import awaited
from selfeng.core.words import count
from selfeng.library.composition.reverification import Reverification
from selfeng.library.seeding import Planted, SeedMark, plant
from selfeng.provision.configuration import Configuration
from selfeng.sandbox import SecureSandbox
from selfeng.seeds import load_seeds
from selfeng.stages.language import is_english
from selfeng.store.processes import Processes
from selfeng.synthesis_engine import SynthesisEngine

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


_SEARCH = {
    "ready": "search with Chroma",
    "behind": "exact search (the index is being built)",
    "elsewhere": "exact search (another process holds the index)",
    "away": "exact search (the Chroma server does not answer)",
    "absent": "exact search (Chroma is not installed)",
    "broken": "exact search (the index can't be opened)",
}
_REMEDY = {
    "behind": "run it again",
    "elsewhere": "end the server, or delete the folder CHROMA_PERSIST_DIR, and the server "
    "rebuilds it",
    "away": "start the server that CHROMA_URL names, or correct the address",
    "absent": f"{LOCAL}, run `selfeng setup`, or set CHROMA_URL to a server; exact search finds "
    "the same tools",
    "broken": "see the log, and repair or delete what CHROMA_PERSIST_DIR or CHROMA_URL names",
}


class Setup:
    """Used on the engine's loop."""

    def __init__(
        self,
        parts: Mapping[Part, Callable[[Callable[[str], None]], None]],
        configuration: Configuration,
        *,
        readiness: Readiness,
        library: CapabilityRegistry,
        synthesis: Callable[[], SynthesisEngine],
        sandbox: SecureSandbox,
        upkeep: Reverification,
        seeded: SeedMark,
        processes: Processes,
        background: BackgroundTasks,
        watches: Iterable[Callable[[], Coroutine[Any, Any, None]]],
    ) -> None:
        """`parts` set up the part that they are named after: blocking functions that report their
        progress line by line. `synthesis` gives the one in use; `watches` run as long as a
        server.
        """
        self._parts, self._configuration, self._readiness = parts, configuration, readiness
        self._library, self._synthesis, self._seeded = library, synthesis, seeded
        self._sandbox, self._upkeep = sandbox, upkeep
        self._processes, self._background, self._watches = processes, background, watches

    def start(self) -> asyncio.Task[None]:
        """Start to set up what this machine lacks, in the background. Requests wait for what they
        need; `status` shows the progress.
        """
        self._readiness.expect("search", "sandbox", "tools")
        for watch in self._watches:
            self._background.start(watch())
        return self._background.start(self._set_up())

    async def get_ready(self, to_build: bool = True) -> None:
        """Start containers before the first request; `to_build`: also verify tools again that need
        it.
        """
        await self._sandbox.reap()
        self._sandbox.start(verifiers=False)
        if to_build:
            self._upkeep.begin()

    async def status(self) -> EngineStatus:
        sandbox, tools, index = await asyncio.gather(
            self._sandbox.status(), self._library.count(), self._library.settle(0)
        )
        progress = self._library.indexing
        indexed = f" ({progress.done:,} of {progress.total:,})" if progress else ""
        words = [
            f"{count(tools, 'tool')}, {_SEARCH[index]}{indexed}",
            *map(str, filter(None, [self._library.embedded, self._library.offer])),
        ]
        return EngineStatus(
            model=self._configuration.status,
            sandbox=sandbox,
            library=LibraryStatus(tools=tools, search=index, detail="; ".join(words)),
            files=self._configuration.settings.file_limits,
            unready=self._readiness.unready,
            workers=self._processes.workers,
        )

    async def reindex(self, report: Callable[[int, int], None]) -> str:
        """Rebuild the search index; `report` gets the number of tools in it and the total. Returns
        how the library is searched then.

        Raises: LibraryError: this process can't build the index.
        """
        if (state := await self._library.reindex(report)) != "ready":
            raise LibraryError(f"the library has {_SEARCH[state]}", _REMEDY[state])
        return _SEARCH[state]

    async def seed(
        self,
        report: Callable[[str], None],
        progress: Callable[[int, int], None] = lambda current, total: None,
    ) -> Planted:
        """Add the seed tools that are missing. Raises: SandboxError."""
        planted = await plant(
            load_seeds(), self._library, self._synthesis().examine, report, progress
        )
        await asyncio.to_thread(self._seeded.put)
        return planted

    async def seed_once(
        self, progress: Callable[[int, int], None] = lambda current, total: None
    ) -> None:
        """Add the seed tools to a library that never had them; deleted seed tools stay deleted.
        Raises: SandboxError.
        """
        if not await asyncio.to_thread(self._seeded.present):
            await self.seed(log.info, progress)

    async def _set_up(self) -> None:
        await asyncio.gather(
            self._set_up_search(),
            self._set_up_sandbox(),
            asyncio.to_thread(self._configuration.client.warm_up),
            asyncio.to_thread(is_english, "Is this English?"),
        )

    async def _set_up_search(self) -> None:
        async def work(report: Report) -> None:
            await asyncio.to_thread(self._parts["search"], lambda line: report(line, 0, 0))
            await self._library.embed()

        await awaited(
            self._readiness.news, "sandbox", lambda event: None
        )  # both need the processor, and requests wait for the first
        await self._readiness.prepare("search", work)

    async def _set_up_sandbox(self) -> None:
        async def work(report: Report) -> None:
            await asyncio.to_thread(self._parts["sandbox"], lambda line: report(line, 0, 0))
            await self.get_ready()

        await self._readiness.prepare("sandbox", work, then=("tools",))
        await self._readiness.prepare(
            "tools",
            lambda report: self.seed_once(
                lambda current, total: report(
                    f"{current} of {total} tools verified", current, total
                )
            ),
        )
