"""The folder of a job: its own in the empty /tmp, where the tool finds the files it is given and
leaves others.
"""

import base64
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from .frames import Message

FOLDER = "/tmp/files"  # noqa: S108 - the container's own
INPUTS = "/inputs"
"""Read-only in a container of calls: large files, which the host adds without the judge."""
HELD = "held"
"""The folder in it that cannot be listed: code reads a content only by its hash."""
CHUNK = 192 * 1024
"""Bytes of a file in one frame."""
NAMED = 20
"""Files that are refused by name; the rest are only counted."""

_FONTS = Path("/opt/matplotlib")
"""The fonts that matplotlib found when the image was built."""
_ODD = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)

Tell = Callable[[Message], None]


class JobFolder:
    """One job's folder; made before any foreign code runs, and read after all has ended."""

    def __init__(self) -> None:
        self._initial_states: dict[str, tuple[int, ...]] = {}
        """The state of each file before the job."""

    def lay_out(self) -> None:
        """Make the folder.

        matplotlib takes its list of fonts only from a writable folder. Without the list, each first
        plot would search for fonts, and print that.
        """
        os.mkdir(FOLDER, 0o700)
        if folder := os.environ.get("MPLCONFIGDIR"):
            os.mkdir(folder, 0o700)
            for name in _fonts():
                os.symlink(_FONTS / name, os.path.join(folder, name))
        os.utime("/tmp", (0, 0))  # noqa: S108 - as the zygote leaves it

    def put(self, name: str, data: str) -> None:
        """Add the next piece of a file."""
        path = os.path.join(FOLDER, os.path.basename(name))
        with open(path, "ab") as file:
            file.write(base64.b64decode(data))
        self._initial_states[name] = _condition(os.lstat(path))

    def link(self, name: str, sha256: str) -> None:
        """Add a large file, which is in `INPUTS`."""
        path = os.path.join(FOLDER, os.path.basename(name))
        os.symlink(f"{INPUTS}/{HELD}/{sha256}", path)
        self._initial_states[name] = _condition(os.lstat(path))

    def touched(self) -> bool:
        """Whether anything is new or changed."""
        try:
            with os.scandir(FOLDER) as entries:
                return any(
                    _condition(e.stat(follow_symlinks=False)) != self._initial_states.get(e.name)
                    for e in entries
                )
        except OSError:
            return True

    def give_out(self, count: int, size: int, tell: Tell) -> Message:
        """Send the new or changed files in pieces, up to so many, and so many bytes together;
        returns what is refused and why.

        Every process of the job must have ended. Only ordinary files are opened, and no more is
        read than their stated size.
        """
        refused: list[tuple[str, str]] = []
        sent_count = total = 0
        try:
            folder = _opened_folder()
        except OSError as error:
            return {
                "refused": [["", f"the folder for files can't be read: {error.strerror}"]],
                "unnamed": 0,
            }
        try:
            for name, status in self._changed(folder):
                if reason := _oddity(status):
                    refused.append((name, f"it is {reason}"))
                elif sent_count == count:
                    refused.append((name, f"there are more than {count} files"))
                elif total + status.st_size > size:
                    refused.append(
                        (name, f"it has {status.st_size} bytes, more than are left of {size}")
                    )
                else:
                    sent_count, total = sent_count + 1, total + status.st_size
                    try:
                        _tell_file(folder, name, status.st_size, tell)
                    except OSError as error:
                        refused.append((name, f"it can't be read: {error.strerror}"))
        finally:
            os.close(folder)
        return {"refused": refused[:NAMED], "unnamed": max(0, len(refused) - NAMED)}

    def _changed(self, folder: int) -> Iterator[tuple[str, os.stat_result]]:
        for name in sorted(os.listdir(folder)):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if _condition(status) != self._initial_states.get(name):
                yield name, status


def _opened_folder() -> int:
    folder = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not os.path.samestat(
        os.fstat(folder), os.lstat(FOLDER)
    ):  # older gVisor follows a link despite O_NOFOLLOW
        os.close(folder)
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return folder


def _fonts() -> list[str]:
    try:
        return os.listdir(_FONTS)
    except FileNotFoundError:
        return []  # a backend without them: matplotlib searches for fonts


def _condition(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _oddity(status: os.stat_result) -> str:
    """The kind of a file that is not an ordinary one; "" if it is one."""
    if stat.S_ISREG(status.st_mode):
        return ""
    return next((words for test, words in _ODD if test(status.st_mode)), "no ordinary file")


def _tell_file(folder: int, name: str, size: int, tell: Tell) -> None:
    """Send a file in pieces. The flags matter only if it has changed since it was examined."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with open(os.open(name, flags, dir_fd=folder), "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(0, "it is not the file that it was")
        remaining = size
        while True:
            data = file.read(min(CHUNK, remaining)) if remaining else b""
            remaining -= len(data)
            tell({"kind": "file", "name": name, "data": base64.b64encode(data).decode()})
            if not data or not remaining:
                return
