"""Watched folders: the files whose coming begins runs of schedules."""

import os
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import NamedTuple

from selfeng.core.errors import RequestError
from selfeng.core.files import MB, PIECE, File, FileLimits, LargeFiles, name_problem
from selfeng.core.schedule import Watch

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
"""A link may lead out of the folder."""


class FileVersion(NamedTuple):
    """A file as it was at a look."""

    path: Path
    state: str
    """Another one after each change."""

    def __str__(self) -> str:
        return f"{self.path.name} {self.state}"


class WatchedFolders:
    """All methods block; one process looks into a folder from one thread at a time."""

    def __init__(
        self,
        allowed: Callable[[], Sequence[Path]],
        limits: FileLimits,
        large_files: LargeFiles,
        quiet: float = 3.0,
    ) -> None:
        """Only folders within those that are `allowed` are watched. A file is complete once it has
        not changed for `quiet` seconds.
        """
        self._allowed, self._limits, self._large_files = allowed, limits, large_files
        self._quiet = quiet
        self._since: dict[Path, dict[FileVersion, float]] = {}
        """When a version was first met, by its folder."""

    def check(self, watch: Watch) -> Path:
        """The folder. Raises: RequestError: it is missing, or may not be watched."""
        folder = Path(watch.folder).resolve()
        if not any(folder.is_relative_to(root.resolve()) for root in self._allowed()):
            raise RequestError(
                f"{str(folder)[:200]} may not be watched",
                "name it in WATCHED_FOLDERS first",
                cause="folder",
            )
        if not folder.is_dir():
            raise RequestError(f"{str(folder)[:200]} is not a folder", "create it")
        return folder

    def complete(self, watch: Watch, after: datetime) -> list[FileVersion]:
        """The complete files that came or changed after a moment, the oldest first.

        Raises: RequestError: the folder can't be read.
        """
        folder, now = self.check(watch), time.monotonic()
        try:
            with os.scandir(folder) as entries:
                stats = [
                    (entry.name, entry.stat(follow_symlinks=False))
                    for entry in entries
                    if entry.is_file(follow_symlinks=False)
                    and not name_problem(entry.name)
                    and fnmatch(entry.name, watch.pattern)
                ]
        except FileNotFoundError:  # one was removed meanwhile
            return []
        except OSError as error:
            raise _unreadable(folder, error) from error
        earlier = self._since.get(folder, {})
        versions = {
            FileVersion(folder / name, _state(stat)): max(stat.st_mtime, stat.st_ctime)
            for name, stat in stats
            if max(stat.st_mtime, stat.st_ctime) > after.timestamp()
        }
        self._since[folder] = {version: earlier.get(version, now) for version in versions}
        quiet = [v for v in versions if now - self._since[folder][v] >= self._quiet]
        return sorted(quiet, key=versions.__getitem__)

    def read(self, version: FileVersion) -> File | None:
        """The file; None if it is gone, or is another version by now.

        Raises: RequestError: it can't be read, or is too large.
        """
        try:
            with open(os.open(version.path, os.O_RDONLY | _NO_LINK), "rb") as content:
                size = os.fstat(content.fileno()).st_size
                if size > self._limits.size:
                    raise RequestError(
                        f"{version.path.name} is too large: {size / MB:.1f} MB",
                        "remove it, or raise FILES_MAX_MB",
                    )
                pieces = iter(partial(content.read, PIECE), b"")
                file = self._large_files.take(version.path.name, pieces)
                return file if _state(os.fstat(content.fileno())) == version.state else None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(version.path, error) from error


def _state(stat: os.stat_result) -> str:
    return f"{stat.st_size} {stat.st_mtime_ns}"


def _unreadable(path: Path, error: OSError) -> RequestError:
    return RequestError(f"{path} can't be read: {error.strerror}", "check its permissions")
