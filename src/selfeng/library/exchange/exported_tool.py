"""An exported tool: its draft, and everything that it needs elsewhere."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

from selfeng.core.composition import imports
from selfeng.core.package_lock import PackageLock
from selfeng.core.packages import sandbox_requirements, with_reader
from selfeng.core.tool import ToolDraft


@dataclass(frozen=True)
class ExportedTool:
    draft: ToolDraft
    version: int
    modules: Mapping[str, str]
    """Sources of the tools that it imports, directly or not, in the pinned versions, by name."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that it needs, as in `numpy==2.4.6`."""
        return packages_of((self.draft.code, *self.modules.values()), self.draft.lock)

    @property
    def ordered_modules(self) -> dict[str, str]:
        """The sources of the imported tools, and of the reader of cells, each after those that it
        imports itself.
        """
        modules = with_reader(self.modules, self.draft.code)
        graph = {name: imported_names(code) & set(modules) for name, code in modules.items()}
        return {name: modules[name] for name in TopologicalSorter(graph).static_order()}


def packages_of(sources: Iterable[str], lock: PackageLock | None = None) -> tuple[str, ...]:
    """The sandbox's packages that the sources import, and those of a lock, with their versions."""
    requirements = sandbox_requirements()
    module_names = {name for code in sources for name in imported_names(code)}
    offered = (requirements[n].partition("#")[0].strip() for n in module_names if n in requirements)
    return tuple(sorted({*offered, *(package.key for package in (lock.packages if lock else ()))}))


def imported_names(code: str) -> set[str]:
    """Names of the top-level modules that the code imports."""
    return {name for name, _ in imports(ast.parse(code))}
