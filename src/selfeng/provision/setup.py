"""Setup: makes ready what requests need, in the background or at once, and reports the progress."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.background import BackgroundTasks
from selfeng.core.errors import LibraryError
from selfeng.core.packages import LOCAL
from selfeng.core.status import EngineStatus, LibraryStatus, Part
from selfeng.core.turn import awaited
from selfeng.core.words import count
from selfeng.library.composition.reverification import Reverification
from selfeng.library.seeding import Planted, SeedMark, plant
from selfeng.provision.configuration import Configuration
from selfeng.provision.readiness import Readiness, Report
from selfeng.sandbox import SecureSandbox
from selfeng.seeds import load_seeds
from selfeng.stages.language import is_english
from selfeng.store.processes import Processes
from selfeng.synthesis_engine import SynthesisEngine

log = logging.getLogger(__name__)

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
