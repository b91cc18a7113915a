"""ToolCopies: which version of each tool a folder holds.

SQL has the tools, and every folder of every machine has copies. A log in the folder says what was
copied to it, and so tells a file that a person deleted or edited from one that is still to come.
"""

import os
import re
import threading
from hashlib import sha256
from pathlib import Path
from socket import gethostname

import sqlalchemy as sa

from selfeng.store.database import contents_of, fetch_value, writing
from selfeng.store.schema import properties

LOG = ".copies"
_LINE = re.compile(r"(\w+) ([0-9a-f]{64}|-)", re.ASCII)
_FOLDER = "folder "
"""The prefix of the database's properties that stand for folders."""
_SPARE = 1000
"""Lines that the log may have beyond two for each tool before it is rewritten."""


class ToolCopies:
    """Thread-safe; several processes use one folder. Write only under the library's lock.

    A log that names another database counts as none: nothing of it is touched. Entries that a crash
    leaves out of the log are added when the files are compared.
    """

    def __init__(self, folder: Path, engine: sa.Engine) -> None:
        self._path, self._engine = folder / LOG, engine
        self._lock = threading.Lock()
        self._digests: dict[str, str] = {}
        self._read: tuple[int, int] | None = None
        """Inode of the log and the bytes of it that are known."""
        self._lines = 0

    def digest(self, name: str) -> str | None:
        """The digest of the sources that were copied for a tool of that name; None if none were."""
        with self._lock:
            self._catch_up()
            return self._digests.get(name)

    @property
    def shared(self) -> bool:
        """Whether other folders have copies of the same tools."""
        folders = sa.select(sa.func.count()).where(properties.c.name.startswith(_FOLDER))
        return (fetch_value(self._engine, folders) or 0) > 1

    def register(self) -> None:
        """Let the processes of other folders know of this one."""
        place = f"{gethostname()} {self._path.resolve().parent}"
        name = _FOLDER + sha256(place.encode()).hexdigest()[:16]
        with writing(self._engine) as connection:
            stored_place = connection.scalar(
                sa.select(properties.c.value).where(properties.c.name == name)
            )
            if stored_place is None:
                connection.execute(properties.insert().values(name=name, value=place))

    def names(self) -> set[str]:
        with self._lock:
            self._catch_up()
            return set(self._digests)

    def note(self, name: str, digest: str | None) -> None:
        """A copy is in place, or is gone."""
        with self._lock:
            self._catch_up()
            if self._digests.get(name) == digest:
                return
            if self._read is None or self._lines > 2 * len(self._digests) + _SPARE:
                self._write_anew()
            with self._path.open("a") as log:
                log.write(f"\n{name} {digest or '-'}\n")  # the last line may be torn
            self._catch_up()

    def _catch_up(self) -> None:
        try:
            with self._path.open("rb") as log:
                status = os.fstat(log.fileno())
                inode, offset = self._read or (0, 0)
                if (status.st_ino, status.st_size) == (inode, offset):
                    return
                if status.st_ino != inode or status.st_size < offset:
                    self._digests, self._lines, offset = {}, 0, 0
                    if log.readline().decode("utf-8", "replace") != self._heading:
                        self._read = None
                        return
                log.seek(offset)
                content = log.read()
        except FileNotFoundError:
            self._digests, self._lines, self._read = {}, 0, None
            return
        complete_lines = content[: content.rfind(b"\n") + 1]
        self._read = status.st_ino, offset + len(complete_lines)
        for line in complete_lines.decode("utf-8", "replace").splitlines():
            if match := _LINE.fullmatch(line):
                self._lines += 1
                name, digest = match.groups()
                if digest == "-":
                    self._digests.pop(name, None)
                else:
                    self._digests[name] = digest

    def _write_anew(self) -> None:
        digests = self._digests.items() if self._read is not None else ()
        new = self._path.with_name(f"{LOG}.new")
        lines = (f"{name} {digest}\n" for name, digest in digests)
        new.write_text(self._heading + "".join(lines))
        new.replace(self._path)
        self._read = None
        self._catch_up()

    @property
    def _heading(self) -> str:
        return f"copies of {contents_of(self._engine)}\n"
