"""The interpreter of this machine in bubblewrap's containers: its program, its library and the
shared libraries of both.

It is mounted at a fixed place, so that containers don't see the folders around it or their names,
such as a home folder. A system interpreter stays where it is.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from selfeng.core.errors import SandboxFailed

PLACE = Path("/opt/python")
_SYSTEM = (
    Path("/usr/bin"),
    Path("/usr/lib"),
    Path("/usr/lib32"),
    Path("/usr/lib64"),
    Path("/usr/libx32"),
)
_LINKED = re.compile(r"=> (/\S.*) \(0x")
_FOREIGN = ("site-packages", "dist-packages", "config-*")
"""Entries of a library folder that are not the library: packages, and the build configuration."""
_BUILT = "_sysconfigdata_*.py"


def program() -> Path:
    """The path of the interpreter's program on this machine."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def program_inside() -> Path:
    return program() if _is_the_systems() else PLACE / "bin" / program().name


def parts() -> Iterator[tuple[Path, Path]]:
    """The files that containers need in addition to the system's: the path here and the path
    inside.
    """
    if not _is_the_systems():
        yield program(), program_inside()
        yield _library(), _library_inside()
        yield from ((path, PLACE / "lib" / path.name) for path in libraries())


@cache
def libraries() -> tuple[Path, ...]:
    """The shared libraries that program and library are linked to, except the system's."""
    if _is_the_systems():
        return ()
    # One run of the loader lists all; `ldd` takes one, and several shells, for each file.
    modules = (f"./lib-dynload/{path.name}" for path in _library().glob("lib-dynload/*.so"))
    loader_variables = {"LD_TRACE_LOADED_OBJECTS": "1", "LD_PRELOAD": ":".join(modules)}
    try:
        output = subprocess.run(  # noqa: S603 - this interpreter
            [program(), "-c", ""],
            cwd=_library(),
            env={**os.environ, **loader_variables},
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    except OSError as error:
        raise SandboxFailed(
            f"can't determine which libraries Python is linked to: {error}",
            f"check that {program()} can be run",
        ) from error
    paths = {
        Path(os.path.abspath(path)) for path in _LINKED.findall(output)
    }  # under the name that the loader looks for
    return tuple(
        sorted(
            path for path in paths if path.is_relative_to(sys.base_prefix) and not _is_shown(path)
        )
    )


def covered() -> tuple[Path, ...]:
    """Folders inside that must be empty."""
    if _is_the_systems():
        return ()
    return tuple(
        _library_inside() / path.name
        for name in _FOREIGN
        for path in sorted(_library().glob(name))
        if path.is_dir()
    )


def replaced() -> Iterator[tuple[str, Path, tuple[Path, ...]]]:
    """Files that say where Python was built: name, path inside, and compiled files inside."""
    if not _is_the_systems():
        for path in sorted(_library().glob(_BUILT)):
            compiled = sorted(_library().glob(f"__pycache__/{path.stem}.*"))
            yield (
                path.name,
                _library_inside() / path.name,
                tuple(_library_inside() / "__pycache__" / c.name for c in compiled),
            )


def rewritten(name: str) -> str:
    """The text of such a file, with PLACE for the real prefix."""
    return (_library() / name).read_text().replace(str(Path(sys.base_prefix)), str(PLACE))


def _is_the_systems() -> bool:
    return _is_shown(program())


def _is_shown(path: Path) -> bool:
    return any(map(path.resolve().is_relative_to, _SYSTEM))


def _library() -> Path:
    return Path(os.__file__).resolve().parent


def _library_inside() -> Path:
    prefix = Path(sys.base_prefix).resolve()
    return PLACE / (
        _library().relative_to(prefix)
        if _library().is_relative_to(prefix)
        else Path("lib", _library().name)
    )
