"""The files of the tools: two sources each, the digest that shows whether they are still the
verified ones, and their folder.
"""

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from selfeng.core.value import Value


class Sources(Value):
    code: str
    tests: str

    @property
    def digest(self) -> str:
        return source_digest(self.code, self.tests)


def source_digest(code: str, tests: str) -> str:
    """sha256 over both, each preceded by its length, so that no two different pairs share their
    bytes.
    """
    state = hashlib.sha256(b"tool-sources-1")
    for text in (code, tests):
        content = text.encode("utf-8", "surrogatepass")
        state.update(len(content).to_bytes(8, "big"))
        state.update(content)
    return state.hexdigest()


LOCK = ".library.lock"
_STAGING = ".staging"

Checkpoint = Callable[[str], None]
"""Called with the name of each step once it is on disk; crash tests kill the process there."""


class Stamp(NamedTuple):
    """Changes whenever the content of a file may have changed; unlike an mtime, a ctime cannot be
    set.
    """

    inode: int
    size: int
    changed: int


Pair = tuple[Stamp | None, Stamp | None]
"""The stamps of a tool's code and tests; None for a missing file."""

_FRESH_NS = 2_000_000_000
"""The coarsest resolution of file times; a folder that changed more recently may change again
without a new time.
"""


def code_file(name: str) -> str:
    return f"{name}.py"


def tests_file(name: str) -> str:
    return f"test_{name}.py"


def owner(file: str) -> str:
    """The name of the tool that a file would belong to; no tool name begins with `test_`."""
    return file.removeprefix("test_").removesuffix(".py")


class FolderListing:
    """The names of the Python files in a folder, read again only when the folder has changed.
    Blocking.
    """

    def __init__(self, folder: Path, now: Callable[[], int] = time.time_ns) -> None:
        """`now`: nanoseconds since 1970, as the folder's times are."""
        self._folder = folder
        self._now = now
        self._last_stamp: tuple[int, int, int] | None = None
        self._names: frozenset[str] = frozenset()

    def look(self) -> frozenset[str]:
        """The names; the same object as before if none was added or removed."""
        now = self._now()
        try:
            status = self._folder.stat()
        except FileNotFoundError:
            self._last_stamp, self._names = None, self._names and frozenset()
            return self._names
        stamp = (
            status.st_ino,
            status.st_mtime_ns,
            status.st_ctime_ns,
        )  # on Windows, the creation time
        if stamp != self._last_stamp:
            with os.scandir(self._folder) as entries:
                names = frozenset(entry.name for entry in entries if entry.name.endswith(".py"))
            if names != self._names:
                self._names = names
            self._last_stamp = (
                stamp if max(status.st_mtime_ns, status.st_ctime_ns) < now - _FRESH_NS else None
            )
        return self._names


class ToolFiles:
    """Reads, writes and removes the files; does not know which tools should exist. Blocking."""

    def __init__(self, folder: Path, checkpoint: Checkpoint) -> None:
        self.folder = folder
        self._checkpoint = checkpoint

    def prepare(self) -> None:
        """Create the folder, and delete what a killed process was writing. Call it only under the
        library's lock.
        """
        staging = self.folder / _STAGING
        staging.mkdir(parents=True, exist_ok=True)
        for leftover in staging.iterdir():
            leftover.unlink()

    def stamps(self, name: str) -> Pair:
        return self._stamp(code_file(name)), self._stamp(tests_file(name))

    def _stamp(self, file: str) -> Stamp | None:
        try:
            status = os.stat(f"{self.folder}/{file}")
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Stamp(status.st_ino, status.st_size, status.st_ctime_ns)

    def read(self, name: str) -> Sources | None:
        """The sources on disk; None if a file is missing. Undecodable bytes never match verified
        sources.
        """
        code, tests = self.content(code_file(name)), self.content(tests_file(name))
        if code is None or tests is None:
            return None
        return Sources(
            code=code.decode("utf-8", "surrogateescape"),
            tests=tests.decode("utf-8", "surrogateescape"),
        )

    def content(self, file: str) -> bytes | None:
        """None if the file is missing."""
        try:
            return (self.folder / file).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None

    def place(self, name: str, sources: Sources) -> None:
        """Write both files, each whole or not at all, replacing existing ones."""
        self.stage(name, sources)
        self.place_staged(name)

    def stage(self, name: str, sources: Sources) -> None:
        """Write both files under temporary names; this is the step that fails on a full disk."""
        staging = self.folder / _STAGING
        staging.mkdir(parents=True, exist_ok=True)
        for file, text in ((code_file(name), sources.code), (tests_file(name), sources.tests)):
            _write(staging / file, text.encode("utf-8"))
            self._checkpoint(f"staged {file}")

    def place_staged(self, name: str) -> None:
        """Move the staged files into place."""
        for file in (code_file(name), tests_file(name)):
            (self.folder / _STAGING / file).replace(self.folder / file)
            self._checkpoint(f"placed {file}")
        _sync(self.folder)

    def delete(self, name: str) -> None:
        for file in (code_file(name), tests_file(name)):
            (self.folder / file).unlink(missing_ok=True)
            self._checkpoint(f"deleted {file}")
        _sync(self.folder)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make renames in the folder survive a power cut, where the system supports it (Windows can't
    open a folder).
    """
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
