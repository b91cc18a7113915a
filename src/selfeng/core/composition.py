"""Composition: what a module imports: tools of the library, at which versions, and packages of the
sandbox. Source is only parsed, never run.
"""

import ast
from collections.abc import Iterable, Iterator

from selfeng.core.package_lock import PackageLock, joined
from selfeng.core.packages import sandbox_requirements
from selfeng.core.tool import Requirement, Tool


def imports(module: ast.Module) -> Iterator[tuple[str, bool]]:
    """Each imported top-level module, and whether the form is right for a tool: `from name import
    name`, or `import name`.
    """
    for node in ast.walk(module):
        match node:
            case ast.Import(names=names):
                yield from (
                    (n.name.partition(".")[0], n.asname is None and "." not in n.name)
                    for n in names
                )
            case ast.ImportFrom(module=str(name), level=0, names=names):
                yield name.partition(".")[0], [(n.name, n.asname) for n in names] == [(name, None)]
            case ast.ImportFrom():
                yield ".", False


def imported_names(code: str) -> set[str]:
    """Names of the top-level modules that the code imports. Raises: SyntaxError: it does not
    parse.
    """
    return {name for name, _ in imports(ast.parse(code))}


def packages_of(sources: Iterable[str], lock: PackageLock | None = None) -> tuple[str, ...]:
    """The sandbox's packages that the sources import, and those of a lock, with their versions, as
    in `numpy==2.4.6`.
    """
    requirements = sandbox_requirements()
    names = {name for code in sources for name in imported_names(code)}
    offered = (requirements[n].partition("#")[0].strip() for n in names if n in requirements)
    return tuple(sorted({*offered, *(package.key for package in (lock.packages if lock else ()))}))


class Importable:
    """The tools that code may import, at their current versions."""

    def __init__(self, tools: Iterable[Tool] = (), retired_allowed: Iterable[str] = ()) -> None:
        """`retired_allowed` names tools that may be imported even if they are retired, because the
        code already did.
        """
        self._tools, self._retired_allowed = (
            {tool.name: tool for tool in tools},
            frozenset(retired_allowed),
        )

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._tools)

    def problem(self, code: str, name: str, lock: PackageLock | None = None) -> str | None:
        """Why the tool `name` can't be this code, in words that the model can act on; None if its
        imports are fine.

        Raises:
            SyntaxError: the code does not parse.
        """
        return next(self._problems(code, name), None) or self._clash(code, name, lock)

    def requires(self, code: str) -> tuple[Requirement, ...]:
        """Every tool that the code imports, directly or through other tools, by name.

        Raises:
            SyntaxError: the code does not parse.
        """
        pins = {pin for tool in self.imported(code) for pin in _closure(tool)}
        return tuple(sorted(pins, key=lambda pin: (pin.name, pin.version)))

    def imported(self, code: str) -> list[Tool]:
        """The tools that the code imports directly, by name.

        Raises:
            SyntaxError: the code does not parse.
        """
        return [self._tools[name] for name in sorted(imported_names(code)) if name in self._tools]

    def lock(self, code: str, own: PackageLock | None = None) -> PackageLock | None:
        """The packages of the tools that the code imports, with its own.

        Raises:
            SyntaxError: the code does not parse.
        """
        return joined([own, *(tool.lock for tool in self.imported(code))])

    def _clash(self, code: str, name: str, lock: PackageLock | None) -> str | None:
        """Why the packages of the tools that the code imports can't be there together."""
        needed: dict[str, tuple[str, str]] = {}
        for by, its in [(name, lock), *((tool.name, tool.lock) for tool in self.imported(code))]:
            for package, version in (its.versions if its else {}).items():
                first_tool, earlier = needed.setdefault(package, (by, version))
                if version != earlier:
                    return (
                        f"{first_tool} needs {package} {earlier}, and {by} needs {package} "
                        f"{version}, but only one can be there; do without {by}"
                    )
        return None

    def _problems(self, code: str, name: str) -> Iterator[str]:
        for imported, in_form in imports(ast.parse(code)):
            if imported in self._tools and not in_form:
                yield (
                    f"the code must import the tool {imported} as `from {imported} "
                    f"import {imported}`"
                )
        needed_versions: dict[str, tuple[int, str]] = {}
        for tool in self.imported(code):
            if tool.standing == "retired" and tool.name not in self._retired_allowed:
                yield f"the tool {tool.name} is retired; do without it"
            for pin in _closure(tool):
                if pin.name == name:
                    yield (
                        f"importing {tool.name} makes a cycle, as it needs {name} itself; do "
                        f"without {tool.name}"
                    )
                version, by = needed_versions.setdefault(pin.name, (pin.version, tool.name))
                if version != pin.version:
                    yield (
                        f"{by} comes with version {version} of {pin.name}, and {tool.name} with "
                        f"version {pin.version}, "
                        f"but only one can be there; import only one of {by} and {tool.name}"
                    )


def _closure(tool: Tool) -> tuple[Requirement, ...]:
    return (Requirement(name=tool.name, version=tool.version), *tool.requires)
