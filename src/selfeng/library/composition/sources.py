"""PinnedSources: the sources of pinned versions, given to the sandbox beside a tool."""

import asyncio
from collections.abc import Sequence

from selfeng.core.protocols import ToolLibrary
from selfeng.core.tool import Requirement

_KEPT = 256


class PinnedSources:
    """Reads versions from the library and keeps the most recently used; a version never changes."""

    def __init__(self, library: ToolLibrary) -> None:
        self._library = library
        self._code_by_pin: dict[Requirement, str] = {}

    async def of(self, requires: Sequence[Requirement]) -> dict[str, str]:
        """Source by module name.

        Raises:
            VersionNotFound: there is no such version.
        """
        codes = await asyncio.gather(*map(self._source, requires))
        return {pin.name: code for pin, code in zip(requires, codes, strict=True)}

    async def _source(self, pin: Requirement) -> str:
        code = self._code_by_pin.pop(pin, None)
        if code is None:
            code = (await self._library.version(pin.name, pin.version)).code
        self._code_by_pin[pin] = code
        if len(self._code_by_pin) > _KEPT:
            del self._code_by_pin[next(iter(self._code_by_pin))]
        return code
