"""The files of the tools: `<name>.py` and `test_<name>.py` in one folder that people may edit too."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from src.registry.sources import Sources

LOCK = ".library.lock"
_STAGING = ".staging"

Checkpoint = Callable[[str], None]
"""Called with the name of each step as soon as it has reached the disk; the tests of crashes end the process there."""


@dataclass(frozen=True)
class Stamp:
    """Changes whenever the content of a file may have changed; unlike the mtime, nobody can set a ctime."""

    inode: int
    size: int
    changed: int


Survey = dict[str, Stamp]
"""All Python files of the folder by name."""


def code_file(name: str) -> str:
    return f"{name}.py"


def tests_file(name: str) -> str:
    return f"test_{name}.py"


class ToolFiles:
    """Reads, writes and removes the files; knows nothing of which tools should exist. Blocking."""

    def __init__(self, folder: Path, checkpoint: Checkpoint) -> None:
        self.folder = folder
        self._checkpoint = checkpoint

    def prepare(self) -> None:
        """Make the folder, and clear what a killed process was writing. Only under the library's lock."""
        staging = self.folder / _STAGING
        staging.mkdir(parents=True, exist_ok=True)
        for left in staging.iterdir():
            left.unlink()

    def survey(self) -> Survey:
        found: Survey = {}
        if not self.folder.is_dir():
            return found
        with os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # deleted while we look
                    if entry.name.endswith(".py"):
                        status = entry.stat()
                        found[entry.name] = Stamp(status.st_ino, status.st_size, status.st_ctime_ns)
        return found

    def read(self, name: str) -> Sources | None:
        """What stands on disk; None if a file is missing. Undecodable bytes make it differ from anything verified."""
        code, tests = self.content(code_file(name)), self.content(tests_file(name))
        if code is None or tests is None:
            return None
        return Sources(code=code.decode("utf-8", "surrogateescape"), tests=tests.decode("utf-8", "surrogateescape"))

    def content(self, file: str) -> bytes | None:
        """None if the file is missing."""
        try:
            return (self.folder / file).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None

    def place(self, name: str, sources: Sources) -> None:
        """Write both files, each whole or not at all, replacing what is there."""
        self.stage(name, sources)
        self.place_staged(name)

    def stage(self, name: str, sources: Sources) -> None:
        """Write both files aside, which is what a full disk refuses."""
        staging = self.folder / _STAGING
        staging.mkdir(parents=True, exist_ok=True)
        for file, text in ((code_file(name), sources.code), (tests_file(name), sources.tests)):
            _write(staging / file, text.encode("utf-8"))
            self._checkpoint(f"staged {file}")

    def place_staged(self, name: str) -> None:
        """Move what was staged into place."""
        for file in (code_file(name), tests_file(name)):
            (self.folder / _STAGING / file).replace(self.folder / file)
            self._checkpoint(f"placed {file}")
        _sync(self.folder)

    def delete(self, name: str) -> None:
        for file in (code_file(name), tests_file(name)):
            (self.folder / file).unlink(missing_ok=True)
            self._checkpoint(f"deleted {file}")
        _sync(self.folder)


def files_of(names: Iterable[str]) -> set[str]:
    return {file for name in names for file in (code_file(name), tests_file(name))}


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make renames in the folder last through a power cut, where the system can (Windows can't open a folder)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
