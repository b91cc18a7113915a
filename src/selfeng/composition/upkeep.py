"""Upkeep: tools that are composed from one that changes are re-verified in the background, while turns go on."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from selfeng.composition.reverification import Reverification
from selfeng.core.errors import AgentError
from selfeng.runtime import PromisingContext

log = logging.getLogger(__name__)


class Upkeep:
    """One change after the other, on one event loop. What its end interrupts is done by the next that begins."""

    def __init__(self, reverification: Reverification) -> None:
        self._reverification = reverification
        self._background = PromisingContext()
        self._one_at_a_time = asyncio.Lock()

    def begin(self) -> None:
        """Re-verify what is behind already: what was interrupted, or changed where nobody looked, and once more what failed then."""
        self._background.start(self._quietly(self._catch_up))

    def notice(self, name: str) -> None:
        """A tool has another version in force."""
        if name != self._reverification.revising:
            self._background.start(self._quietly(lambda: self._reverification.reverify_dependents(name)))

    async def settle(self) -> None:
        """Wait until nothing is left to do."""
        await self._background.aflush_tasks()

    async def aclose(self) -> None:
        """Give up what is being done; tools that were not reached go on with the versions that they have."""
        self._background.cancel()
        await self._background.aflush_tasks()

    async def _catch_up(self) -> None:
        await self._reverification.reverify_dependents(*await self._reverification.outdated())

    async def _quietly(self, work: Callable[[], Awaitable[object]]) -> None:
        try:
            async with self._one_at_a_time:
                await work()
        except AgentError as error:
            log.warning("tools that import others were not re-verified: %s; %s", error, error.remedy)
        except Exception:  # the edge of the background
            log.exception("tools that import others were not re-verified")
