"""The requests that tools have served: the library finds a tool by them, beside those that it was written with."""

import logging
from contextvars import Context

from selfeng.core.example import may_be_kept
from selfeng.core.protocols import ToolLibrary
from selfeng.core.tool import Tool
from selfeng.runtime import PromisingContext

log = logging.getLogger(__name__)


class ServedRequests:
    """Hands requests to the library in the background, since embedding them takes a while that no turn should wait for."""

    def __init__(self, library: ToolLibrary, background: PromisingContext) -> None:
        self._library, self._background = library, background

    def record(self, tool: Tool, request: str) -> None:
        """The tool was found for the request and has served it; nothing is kept of one that is long or holds a secret."""
        if may_be_kept(request):
            # In a context of its own, so that the end of the turn, or of the step of a plan, does not cancel it.
            Context().run(self._background.start, self._keep(tool, request))

    async def _keep(self, tool: Tool, request: str) -> None:
        try:
            await self._library.record_request(tool.name, tool.version, request)
        except Exception:  # the edge of the background: the turn goes on, and the tool is found as before
            log.exception("%s is not found by a request that it has served", tool.name)
