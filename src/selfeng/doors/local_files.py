"""Files of a person or a program: read for a turn, and written after it without overwriting
any.
"""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from selfeng.core.errors import RequestError
from selfeng.core.files import MB, PIECE, File, FileLimits, LargeFiles, name_problem, shown_name

_SHOWN = 200


def read_files(
    paths: Sequence[Path], limits: FileLimits, large_files: LargeFiles | None = None
) -> tuple[File, ...]:
    """The files at the paths, under their own names; large ones are copied to `large_files`, or
    also read into memory if that is None.

    Raises:
        RequestError: one can't be read, has a name that can't be used, or there are too many or
            they are too large.
    """
    files: list[File] = []
    for path in paths:
        if problem := name_problem(path.name):
            raise RequestError(
                f"{shown_name(path.name)!r} can't be the name of a file: {problem}",
                "give it another name",
            )
        files.append(_read(path, limits.size - sum(f.size for f in files), large_files))
    if problem := limits.problem(files):
        raise RequestError(problem, f"FILES_MAX_COUNT and FILES_MAX_MB allow {limits}")
    return tuple(files)


def _read(path: Path, remaining: int, large_files: LargeFiles | None) -> File:
    path_text = str(path)[-_SHOWN:]
    try:
        if not path.is_file():  # reading a pipe would block
            raise RequestError(
                f"{path_text} {'is not a regular file' if path.exists() else 'does not exist'}",
                "name a file",
            )
        if path.stat().st_size > remaining:
            raise RequestError(
                f"{path_text} is too large: {path.stat().st_size / MB:.1f} MB, where "
                f"{remaining / MB:.1f} MB are left"
            )
        if large_files is None:
            return File(name=path.name, content=path.read_bytes())
        with path.open("rb") as file:
            return large_files.take(path.name, iter(partial(file.read, PIECE), b""))
    except OSError as error:
        raise RequestError(
            f"{path_text} can't be read: {error.strerror}", "check its permissions"
        ) from error


def write_files(files: Sequence[File], folder: Path) -> Iterator[Path]:
    """Write each file into the folder, under a free name; yields the paths.

    Raises:
        RequestError: the folder can't be written to.
    """
    for file in files:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            yield _write_file(file, folder)
        except OSError as error:
            raise RequestError(
                f"{file.name} can't be written to {folder}: {error.strerror}",
                "name another folder with --output",
            ) from error


def _write_file(file: File, folder: Path) -> Path:
    stem, suffix = os.path.splitext(file.name)
    number = 0
    while True:
        path = folder / (f"{stem}-{number}{suffix}" if number else file.name)
        try:
            with open(path, "xb") as new:
                new.writelines(file.pieces())
                return path
        except FileExistsError:
            number += 1
