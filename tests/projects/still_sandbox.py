"""A sandbox that runs nothing, and packages for it."""

import asyncio
import json
from typing import Any

from selfeng.core.errors import SandboxFailed
from selfeng.core.files import File
from selfeng.core.verdict import Execution, Returned, SandboxJob


class StillSandbox:
    """A sandbox in which every run of Python ends well and prints nothing; `hang` lets one hang,
    `broken` breaks it.
    """

    def __init__(self) -> None:
        self.hang = self.broken = False
        self.runs = 0
        self.hanging, self.cancelled = asyncio.Event(), False

    async def execute(
        self, job: SandboxJob, arguments: dict[str, Any], files: Any = (), network: Any = None
    ) -> Execution:
        self.runs += len(arguments["commands"])
        if self.broken:
            raise SandboxFailed("the engine broke")
        if self.hang:
            self.hanging.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled = True
        ran = {"exit_code": 0, "ended": "", "stdout": "", "stderr": "", "seconds": 0.0}
        report = {"runs": [ran] * len(arguments["commands"]), "files": {}, "refused": []}
        return Returned(
            type_name="NoneType",
            text="None",
            files=(File(name="run.json", content=json.dumps(report).encode()),),
        )


class Layers:
    """Packages that are there as soon as they are asked for."""

    def __init__(self, sandbox: StillSandbox) -> None:
        self.sandbox, self.added = sandbox, []  # type: StillSandbox, list[tuple[str, ...]]

    async def sandbox_with(self, packages: tuple[str, ...]) -> StillSandbox:
        self.added.append(packages)
        return self.sandbox
