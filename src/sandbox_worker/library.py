"""Library modules: the tools that a tool may import in addition to the standard library and the
packages, of which this process has only the sources, and the module that reads cells.

They are found after everything else, so they shadow nothing, and are loaded when first imported.
"""

import linecache
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

_READER = Path(__file__).with_name("readcells.py")


class Library(MetaPathFinder, Loader):
    """The finder and loader of this process."""

    def __init__(self) -> None:
        self._sources: Mapping[str, str] = {}

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._sources)

    @property
    def files(self) -> frozenset[str]:
        """The file names of the modules in tracebacks."""
        return frozenset(map(_file, self._sources))

    def provide(self, sources: Mapping[str, str]) -> None:
        """Let code import these modules; forget those of an earlier job with all their state."""
        for name in self._sources:
            sys.modules.pop(name, None)
            linecache.cache.pop(_file(name), None)
        self._sources = sources
        if self not in sys.meta_path:
            sys.meta_path.append(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == _READER.stem:
            return spec_from_file_location(name, _READER)
        return (
            ModuleSpec(name, self, origin=_file(name))
            if path is None and name in self._sources
            else None
        )

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = _file(module.__name__)
        exec(compiled(self._sources[module.__name__], module.__file__), module.__dict__)  # noqa: S102 - this process exists to run it


LIBRARY = Library()


def compiled(source: str, filename: str) -> CodeType:
    """Compile a module's source; tracebacks will show its lines."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return compile(source, filename, "exec", dont_inherit=True)


def _file(name: str) -> str:
    return f"{name}.py"
