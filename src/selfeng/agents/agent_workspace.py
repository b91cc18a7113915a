"""The workspace of a turn's agents: their shared files, and the place where their code runs."""

from collections.abc import Iterable, Mapping
from json import loads

from selfeng.core.files import File
from selfeng.core.protocols import Sandbox
from selfeng.core.turn import Request
from selfeng.core.verdict import Execution, Killed, Returned, SandboxJob

_NAME = "run_python"
_MODULE = f"""\
import os


def {_NAME}(code: str) -> list[str]:
    try:
        exec(compile(code, "code.py", "exec"), {{"__name__": "__main__"}})
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    return os.listdir()
"""
"""The program that the sandbox runs; the code is its argument, so that a syntax error in the code
is the code's own.
"""


class AgentWorkspace:
    """Files by name; each run is a fresh process that finds them in its current folder, and may
    leave others there.
    """

    def __init__(self, sandbox: Sandbox, files: Iterable[File] = ()) -> None:
        self._sandbox = sandbox
        self._files = {file.name: file for file in files}

    @classmethod
    async def of(cls, request: Request, sandbox: Sandbox) -> "AgentWorkspace":
        """With the files of the request, and earlier ones of the conversation."""
        earlier = [
            await request.earlier.read(reference) for reference in request.earlier.references
        ]
        return cls(sandbox, [*earlier, *request.files])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    @property
    def files(self) -> tuple[File, ...]:
        return tuple(self._files.values())

    def put(self, files: Iterable[File]) -> None:
        """Add files, or replace those of the same names."""
        self._files |= {file.name: file for file in files}

    def delete(self, names: Iterable[str]) -> tuple[str, ...]:
        """Delete files; returns the names that do not exist."""
        return tuple(name for name in names if self._files.pop(name, None) is None)

    async def run(self, code: str, library: Mapping[str, str] | None = None) -> Execution:
        """Run Python source, which may import the sources of `library`, to its end. Its failure is
        a value; files that it deletes are gone if it ran to its end.

        Raises:
            RequestError: there are more files, or larger ones, than the sandbox takes.
            SandboxError: there is no sandbox, or it broke.
        """
        execution = await self._sandbox.execute(
            SandboxJob(_NAME, _MODULE, library=library or {}), {"code": code}, self.files
        )
        if not isinstance(execution, Killed):
            self.put(execution.files)
        if isinstance(execution, Returned) and execution.data is not None:
            remaining_names = loads(execution.data)
            if isinstance(remaining_names, list):  # unless the code wrote its outcome itself
                self._files = {
                    name: file for name, file in self._files.items() if name in remaining_names
                }
        return execution
