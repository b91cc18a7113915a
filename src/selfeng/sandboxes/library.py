"""Library modules of a job: which names they may have, and how large they may be together."""

import sys
from collections.abc import Mapping

from selfeng.core.errors import RequestError
from selfeng.core.packages import sandbox_packages
from selfeng.core.words import count
from selfeng.sandboxes.worker.frames import BrokenStream

LARGEST = 1024 * 1024
"""Bytes of all of them together, as UTF-8."""

_THERE = frozenset(sys.stdlib_module_names) | frozenset(sandbox_packages()) | {"pytest", "_pytest", "sandbox_worker"}


def check_modules(library: Mapping[str, str], tool: str) -> None:
    """See that each can be imported by its name, and that none is found under a name that means something else.

    Raises:
        RequestError: the name is no identifier, or one of a module that is there already.
    """
    for name in library:
        if not name.isidentifier():
            raise RequestError(f"{name!r} can't be the name of a library module", "give it a Python identifier")
        if name == tool or name in _THERE:
            raise RequestError(f"the library module {name!r} has the name of a module that is there already", "give it another name")


def check_size(library: Mapping[str, str]) -> None:
    """Raises: BrokenStream: they are larger than LARGEST."""
    size = sum(len(source.encode("utf-8", "surrogatepass")) for source in library.values())
    if size > LARGEST:
        raise BrokenStream(f"{count(len(library), 'imported tool')}, {size} bytes in all, more than {LARGEST}")
