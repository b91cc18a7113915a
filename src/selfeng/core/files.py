"""Files that go into a turn and come out of it, by plain names."""

import hashlib
import re
from collections.abc import Sequence
from mimetypes import guess_extension, guess_type
from os.path import splitext
from typing import Annotated

from pydantic import AfterValidator, Field

from selfeng.core.pictures import picture_type
from selfeng.core.value import Value
from selfeng.core.words import count

MB = 1024 * 1024
LONGEST_NAME = 255
"""Bytes, the limit of common file systems."""
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
"""What `mimetypes` may not know, as it reads the machine's own lists."""
_UNSAFE = re.compile(r"^image/|html|[+/]xml|script", re.IGNORECASE)
"""What a browser would show or run; a picture is one by its content alone."""
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
    """What is known of a file without its content."""

    name: FileName
    size: int
    """Bytes."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    media_type: str
    """The type of the content if it is a picture that may be shown; otherwise what the name
    suggests.
    """


class File(Value):
    """A file with its content."""

    name: FileName
    content: bytes = Field(repr=False)

    def reference(self) -> FileReference:
        return FileReference(
            name=self.name,
            size=len(self.content),
            sha256=hashlib.sha256(self.content).hexdigest(),
            media_type=media_type(self.name, self.content),
        )


class FileLimits(Value):
    """How much may go into a turn, and how much may come out of one call."""

    count: int = 10
    size: int = 8 * MB
    """Bytes, all files together."""

    def __str__(self) -> str:
        return f"{count(self.count, 'file')} of {self.size / MB:g} MB together"

    def problem(self, files: Sequence[File]) -> str | None:
        """Why these files are too many, too large or have the same name."""
        names = [file.name for file in files]
        if len(names) > self.count:
            return f"there are {len(names)} files; {self.count} are allowed"
        if twice := next((name for name in names if names.count(name) > 1), None):
            return f"two files are called {twice}"
        if (size := sum(len(file.content) for file in files)) > self.size:
            return f"the files have {size / MB:.1f} MB; {self.size / MB:g} MB are allowed"
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


def _named_type(name: str) -> str | None:
    return _TYPES.get(splitext(name)[1].lower()) or guess_type(name, strict=True)[0]
