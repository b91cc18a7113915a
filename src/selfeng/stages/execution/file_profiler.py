"""Profiles of files, made in the sandbox because their content is hostile."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from posixpath import splitext

from selfeng.core.errors import AgentError
from selfeng.core.files import File, FileReference
from selfeng.core.pictures import picture_type
from selfeng.core.protocols import Sandbox
from selfeng.core.verdict import Execution, Killed, Raised, Returned, SandboxJob

PATIENCE = 20.0
"""Seconds for one file, with the wait for a container."""
SECOND_PATIENCE = 60.0
"""Seconds for the second try."""
KNOWN = 500
"""Profiles that are remembered."""


def _source(module: str) -> str:
    """A module's source as the sandbox imports it: next to the others, not below a package."""
    source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    return source.replace("from selfeng.stages.execution import ", "import ").replace(
        "from selfeng.stages.execution.", "from "
    )


_CODE = _source("inspected_file")
_LIBRARY = {
    module: _source(module)
    for module in ("inspected_documents", "inspected_packed", "inspected_table")
}


class FileProfiler:
    """An `Inspector`; profiles each content once."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._profiles: dict[tuple[str, str], str] = {}

    async def inspect(
        self, reference: FileReference, read: Callable[[FileReference], Awaitable[File]]
    ) -> str:
        key = reference.sha256, splitext(reference.name)[1].lower()
        if key not in self._profiles:
            if not (status := await self._sandbox.status()).available:
                return _problem(f"the content could not be examined: {status.detail}")
            try:
                ran = await self._profiled(await read(reference))
            except (AgentError, TimeoutError) as error:
                why = error.message if isinstance(error, AgentError) else "it took too long"
                return _problem(f"the content could not be examined: {why}")
            while len(self._profiles) >= KNOWN:
                self._profiles.pop(next(iter(self._profiles)))
            self._profiles[key] = _parsed(ran)
        return self._profiles[key]

    async def _profiled(self, file: File) -> Execution:
        """The outcome of the profiling; after a time-out, or without an engine, of a second try."""
        with suppress(AgentError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                return await self._run("profile_file", file)
        async with asyncio.timeout(SECOND_PATIENCE):
            return await self._run("profile_file", file)

    async def pictures(self, file: File) -> tuple[str, ...]:
        ran = await self._run("show_pictures", file)
        files = ran.files if isinstance(ran, Returned) else ()
        contents = [file.in_memory().content for file in sorted(files, key=lambda file: file.name)]
        jpegs = [content for content in contents if picture_type(content) == "image/jpeg"]
        return tuple(f"data:image/jpeg;base64,{b64encode(jpeg).decode()}" for jpeg in jpegs)

    async def lines_about(self, file: File, message: str) -> str:
        ran = await self._run("lines_about", file, message=message[:2000])
        lines = json.loads(ran.data or "[]") if isinstance(ran, Returned) else []
        return "\n".join(f"{file.name}, line or row {line}" for line in lines)

    async def _run(self, function: str, file: File, **more: str) -> Execution:
        return await self._sandbox.execute(
            SandboxJob(function, _CODE, library=_LIBRARY), {"path": file.name, **more}, [file]
        )


def _parsed(ran: Execution) -> str:
    """The profile that the sandbox reports; whatever else happens becomes its problem."""
    match ran:
        case Killed(reason=reason):
            return _problem(f"reading it was ended: {reason}")
        case Raised(type_name=kind, message=message):
            return _problem(f"it can't be read: {kind}: {message}")
        case Returned(data=data) if data and data.startswith("{"):
            return data
        case _:
            return _problem("its profile is malformed")


def _problem(words: str) -> str:
    return json.dumps({"problem": words[:400]}, ensure_ascii=False)
