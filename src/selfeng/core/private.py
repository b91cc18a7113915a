"""Private files: closed to other users of this machine, whatever the umask is and however they came
to be open.
"""

import os
import stat
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO


def make_private(folder: Path) -> None:
    """Make a folder with mode 0700, or give an existing one that mode. Raises: OSError: it can't be
    made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    close_to_others(folder)


def close_to_others(path: Path, *, with_contents: bool = False) -> None:
    """Remove all permissions of other users from a file or folder. Links, and what another user
    owns, stay as they are.
    """
    with suppress(OSError):
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & 0o077:
            path.chmod(stat.S_IMODE(mode) & 0o700)
    if with_contents:
        for top, folders, files in os.walk(path, followlinks=False):
            for name in (*folders, *files):
                close_to_others(Path(top, name))


def new_private_file(path: Path) -> BinaryIO:
    """A file with mode 0600, to be written. Raises: FileExistsError; OSError: it can't be made."""
    return open(path, "xb", opener=partial(os.open, mode=0o600))


def replace_private(path: Path, content: bytes) -> None:
    """Write a file with mode 0600, as a whole or not at all. Raises: OSError."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.new")
    unfinished.unlink(missing_ok=True)
    with new_private_file(unfinished) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def make_file_private(path: Path) -> None:
    """Make sure that a file exists with mode 0600, and give files whose names begin with its name
    the same mode: SQLite's own, locks and copies. Raises: OSError.
    """
    with suppress(FileExistsError):
        path.touch(0o600, exist_ok=False)
    for sibling in path.parent.iterdir():
        if sibling.name.startswith(path.name) and sibling.is_file():
            close_to_others(sibling)
