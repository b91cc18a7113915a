"""Files that go into a turn and come out of it, by plain names."""

import hashlib
import io
import os
import re
import stat
import tempfile
import time
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from mimetypes import guess_extension, guess_type
from os.path import splitext
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, Field

from selfeng.core.pictures import picture_type
from selfeng.core.value import Value
from selfeng.core.words import count

MB = 1024 * 1024
LARGE = MB
"""Bytes of the largest content that is kept in memory; a larger one is in a file of its own."""
PIECE = 256 * 1024
"""Bytes of a content that are read at once."""
LONGEST_NAME = 255
"""Bytes, the limit of common file systems."""
_ZIPPED_AT = 1980, 1, 1, 0, 0, 0
BINARY = "application/octet-stream"
_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".log": "text/plain",
    ".md": "text/markdown",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".mid": "audio/midi",
}
"""Types that `mimetypes` may not know, as it reads the machine's own lists."""
_UNSAFE = re.compile(r"^image/|html|[+/]xml|script", re.IGNORECASE)
"""Types that a browser would show or run; a picture is one by its content alone."""
_SHOWN = 80


def name_problem(name: str) -> str | None:
    """Why a file must not have this name: it would lead elsewhere, hide, mislead, or mean something
    else to a shell.

    A module's name is allowed, since the sandbox's Python looks for modules in its own folders
    only.
    """
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    checks = (
        (not name, "it is empty"),
        (length > LONGEST_NAME, f"it is longer than {LONGEST_NAME} bytes"),
        ("/" in name or "\\" in name, "it contains a path separator"),
        (not name.isprintable(), "it contains invisible characters"),
        (name != name.strip(), "it begins or ends with a space"),
        (name[:1] in {".", "-"}, f"it begins with {name[:1]}"),
    )
    return next((problem for wrong, problem in checks if wrong), None)


def shown_name(name: str) -> str:
    """Any name, even a hostile one, as one line of visible characters."""
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in name[: _SHOWN + 1])
    return text if len(name) <= _SHOWN else f"{text[:_SHOWN]}..."


def _checked(name: str) -> str:
    if problem := name_problem(name):
        raise ValueError(f"{shown_name(name)!r} can't be the name of a file: {problem}")
    return name


FileName = Annotated[str, AfterValidator(_checked)]


class FileReference(Value):
    """The metadata of a file, without its content."""

    name: FileName
    size: int
    """Bytes."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    media_type: str
    """The type of the content if it is a picture that may be shown; otherwise what the name
    suggests.
    """


class LargeContent(Value):
    """A content in a file of its own, which does not change."""

    path: Path
    size: int
    """Bytes."""
    sha256: str


class File(Value):
    """A file with its content, which is in `large` if it is not in memory."""

    name: FileName
    content: bytes = Field(b"", repr=False)
    large: LargeContent | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        return self.large.size if self.large else len(self.content)

    def pieces(self) -> Iterator[bytes]:
        """The content, at most `PIECE` bytes at once. Raises: OSError: it can't be read."""
        if not self.large:
            yield from (self.content[at : at + PIECE] for at in range(0, self.size, PIECE))
            return
        with self.large.path.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece

    def in_memory(self) -> "File":
        """The file with its whole content in memory, such as one that a tool made."""
        return File(name=self.name, content=b"".join(self.pieces())) if self.large else self

    def reference(self) -> FileReference:
        begin = next(self.pieces(), b"")
        return FileReference(
            name=self.name,
            size=self.size,
            sha256=self.large.sha256 if self.large else hashlib.sha256(self.content).hexdigest(),
            media_type=media_type(self.name, begin),
        )


class LargeFiles:
    """The folder of large contents, by their hash: of uploads, and copies of what the database has.
    Blocking; safe to use from several threads and processes.
    """

    def __init__(self, folder: Path, unused: float = 6 * 3600) -> None:
        """A content that was not requested for `unused` seconds is removed."""
        self._folder, self._unused = folder, unused

    def take(self, name: str, pieces: Iterable[bytes]) -> File:
        """A file of these pieces; a large one is written to the folder. Raises: OSError: it can't
        be.
        """
        coming, begin = iter(pieces), b""
        for piece in coming:
            begin += piece
            if len(begin) > LARGE:
                break
        if len(begin) <= LARGE:
            return File(name=name, content=begin)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.remove_unused()
        descriptor, path = tempfile.mkstemp(dir=self._folder)
        try:
            with open(descriptor, "wb") as file:
                size, digest = file.write(begin), hashlib.sha256(begin)
                for piece in coming:
                    size += file.write(piece)
                    digest.update(piece)
            os.chmod(path, 0o644)  # a sandbox's user reads it, too
            large = LargeContent(
                path=self._folder / digest.hexdigest(), size=size, sha256=digest.hexdigest()
            )
            os.replace(path, large.path)
            return File(name=name, large=large)
        finally:
            Path(path).unlink(missing_ok=True)

    def get(self, reference: FileReference) -> File | None:
        """The large file, if its content is here."""
        path = self._folder / reference.sha256
        try:
            os.utime(path)
        except OSError:
            return None
        large = LargeContent(path=path, size=reference.size, sha256=reference.sha256)
        return File(name=reference.name, large=large)

    def remove(self, hashes: Collection[str]) -> None:
        """Remove the copies of these contents."""
        for sha256 in hashes:
            (self._folder / sha256).unlink(missing_ok=True)

    def remove_unused(self) -> None:
        """Remove the contents that were not requested."""
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            try:
                if path.stat().st_mtime < time.time() - self._unused:
                    path.unlink()
            except FileNotFoundError:  # another process was faster
                continue


class FileLimits(Value):
    """How much may go into a turn, or come out of one call."""

    count: int = 10
    size: int = 8 * MB
    """Bytes, all files together."""
    each: int | None = None
    """Bytes of one file; None: as `size`."""

    def __str__(self) -> str:
        together = f"{count(self.count, 'file')} of {self.size / MB:g} MB together"
        return f"{together}, {self.each / MB:g} MB each" if self.each else together

    def problem(self, files: Sequence[File]) -> str | None:
        """Why these files are too many, too large or have the same name."""
        names = [file.name for file in files]
        if len(names) > self.count:
            return f"there are {len(names)} files; {self.count} are allowed"
        if twice := next((name for name in names if names.count(name) > 1), None):
            return f"two files are called {twice}"
        if (size := sum(file.size for file in files)) > self.size:
            return f"the files have {size / MB:.1f} MB; {self.size / MB:g} MB are allowed"
        for file in files:
            if self.each and file.size > self.each:
                mb = f"{file.size / MB:.1f} MB; {self.each / MB:g} MB are allowed for one file"
                return f"{file.name} has {mb}"
        return None


def media_type(name: str, content: bytes) -> str:
    """The type that a file may be served as; a picture only by its content, and only if a page can
    show it safely.
    """
    type_by_name = _named_type(name) or BINARY
    return picture_type(content) or (BINARY if _UNSAFE.search(type_by_name) else type_by_name)


def ending_of(kind: str) -> str:
    """The ending of the files of a media type, such as `.csv`; "" if none says it."""
    if (kind := kind.partition(";")[0].strip().lower()) == BINARY:
        return ""
    endings = {media: ending for ending, media in reversed(_TYPES.items())}
    behind = f"application/{kind.rpartition('+')[2]}"  # as of `application/geo+json`
    ending = endings.get(kind) or guess_extension(kind) or guess_extension(behind)
    return ending or (".txt" if kind.startswith("text/") else "")


def with_ending(name: str, kind: str) -> str:
    """The name of a file, with the ending of its media type if its own says no type."""
    ending = ending_of(kind)
    return name if _named_type(name) or name.lower().endswith(ending) else f"{name}{ending}"


def zipped(
    files: Mapping[str, str | bytes], modes: Mapping[str, int] = MappingProxyType({})
) -> bytes:
    """A zip file with these contents by their paths in it, and permissions if they are not 0644;
    the same bytes for the same files.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            member = zipfile.ZipInfo(path, _ZIPPED_AT)
            member.external_attr = (stat.S_IFREG | modes.get(path, 0o644)) << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _named_type(name: str) -> str | None:
    return _TYPES.get(splitext(name)[1].lower()) or guess_type(name, strict=True)[0]
