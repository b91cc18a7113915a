"""A sandbox that runs nothing."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from selfeng.core.errors import SandboxFailed
from selfeng.core.files import File
from selfeng.core.package_lock import PackageLock
from selfeng.core.verdict import Execution, Returned, SandboxJob


class StillSandbox:
    """A sandbox in which every run of Python ends well and prints nothing; `hang` lets one hang,
    `broken` breaks it.
    """

    def __init__(self) -> None:
        self.hang = self.broken = False
        self.runs = 0
        self.hanging, self.cancelled = asyncio.Event(), False
        self.locks: list[PackageLock] = []
        """Those that were installed."""
        self.used: list[PackageLock | None] = []

    async def install(self, lock: PackageLock) -> None:
        self.locks.append(lock)

    async def execute(
        self, job: SandboxJob, arguments: dict[str, Any], files: Any = (), network: Any = None
    ) -> Execution:
        self.runs += len(arguments["commands"])
        self.used.append(job.lock)
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


def locked(requirements: Sequence[str]) -> PackageLock:
    """A lock without an index."""
    pins = (r if "==" in r else f"{r}==1" for r in requirements)
    text = "".join(f"{pin} --hash=sha256:0\n" for pin in pins)
    return PackageLock(requirements=tuple(requirements), text=text)
