"""Composition: what a module imports: tools of the library, at which versions, and packages of the
sandbox. Source is only parsed, never run.
"""

import ast
import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import NamedTuple

from selfeng.core.errors import LibraryError
from selfeng.core.package_lock import PackageLock, joined
from selfeng.core.packages import READER, sandbox_packages, sandbox_requirements, with_reader
from selfeng.core.protocols import ToolLibrary
from selfeng.core.signature import UNREADABLE
from selfeng.core.tool import Requirement, Tool

NEAR = 0.4
"""Minimum cosine between a description and a tool that may help with it."""
Sources = Callable[[Sequence[Requirement]], Awaitable[Mapping[str, str]]]
"""Gives the code of versions by module. Raises: VersionNotFound."""
_THERE = frozenset(sys.stdlib_module_names) | {READER, *sandbox_packages()}
_OFFERED = 5
_COPY = re.compile(r"# A copy of (\w+)(?:, version (\d+),)? from the library of tools\b")


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


def local_modules(paths: Collection[str]) -> frozenset[str]:
    """Names under which the files of a program may import each other, wherever they are."""
    modules = {PurePosixPath(path).stem for path in paths if path.endswith(".py")}
    return frozenset(
        modules | {folder for path in paths for folder in PurePosixPath(path).parts[:-1]}
    )


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


def lines(tools: Iterable[Tool]) -> str:
    """How each tool is imported and what it does, one per line."""
    return "\n".join(
        f"from {tool.name} import {tool.name}  # {tool.signature}: {tool.description}"
        for tool in tools
    )


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


class Linked(NamedTuple):
    """The files of a program with copies of the tools that they import."""

    files: Mapping[str, str]
    """By path. A copy has the name of its tool, and says in its first line which version it is."""
    problems: Mapping[str, str] = {}
    """Why a file can't import a tool, in words that the model can act on."""


class FreeTools:
    """The tools of the library that programs of several files, and code that is not a tool, may
    import: those that need no consent.
    """

    def __init__(self, library: ToolLibrary, sources: Sources) -> None:
        self._library, self._sources = library, sources

    async def find(self, request: str, least: float = -1.0) -> tuple[Tool, ...]:
        """The best for a request, best first; `least` is the minimum cosine."""
        candidates = await self._library.search(request, _OFFERED)
        return tuple(c.tool for c in candidates if c.similarity >= least and _is_free(c.tool))

    async def modules(self, code: str) -> Mapping[str, str]:
        """The sources of those that the code imports, and of those that they import; none if the
        code can't be read.
        """
        tools = list[Tool]()
        with suppress(*UNREADABLE):
            for name in sorted(imported_names(code) - _THERE):
                with suppress(LibraryError):
                    tools.append(await self._library.get(name))
        pins = {pin for tool in tools if _is_free(tool) for pin in _closure(tool)}
        return await self._sources(sorted(pins, key=str))

    async def linked(self, files: Mapping[str, str], modules: Iterable[str] = ()) -> Linked:
        """The Python files of a program with copies of the tools that they import, in the version
        of a copy that is there already, else in the newest. `modules` are what they import from
        elsewhere. With a problem, or a file that can't be read, all stay as they are.
        """
        try:
            names = set[str]().union(*map(imported_names, files.values()))
        except UNREADABLE:
            return Linked(files)
        pins, tools = {pin.name: pin for pin in copies(files)}, dict[str, Tool]()
        for name in sorted(names.difference(_THERE, modules).union(pins)):
            with suppress(LibraryError):  # a copy of another library's tool is a file like others
                if pin := pins.get(name):
                    tools[name] = (await self._library.version(name, pin.version)).tool
                else:
                    tools[name] = await self._library.get(name)
        replaceable = {f"{name}.py" for name in tools.keys() & pins.keys()}
        own_files = {path: code for path, code in files.items() if path not in replaceable}
        local = local_modules(own_files)
        importable = Importable((tools[name] for name in tools.keys() - local), pins)
        users = {path: code for path, code in own_files.items() if importable.imported(code)}
        code = ""
        for path, text in users.items():
            code = f"{code}\n{text}"
            objections = _objections(importable.imported(code), local)
            if problem := importable.problem(code, "") or next(objections, None):
                return Linked(files, {path: problem})
        requires = importable.requires(code)
        versions = {pin.name: pin.version for pin in requires}
        sources = with_reader(await self._sources(requires))
        linked = {f"{n}.py": _copy(n, versions.get(n), code) for n, code in sources.items()}
        return Linked(own_files | linked)


def copies(files: Mapping[str, str]) -> tuple[Requirement, ...]:
    """The tools of which there are copies among the files."""
    heads = {path: _COPY.match(code) for path, code in files.items()}
    return tuple(
        Requirement(name=head[1], version=int(head[2]))
        for path, head in heads.items()
        if head and head[2] and path == f"{head[1]}.py"
    )


def is_copy(code: str) -> bool:
    """Whether it is the copy of a tool, or of the reader of cells, which tools import."""
    return bool(_COPY.match(code))


def _copy(name: str, version: int | None, code: str) -> str:
    number = "" if version is None else f", version {version},"
    return f"# A copy of {name}{number} from the library of tools.\n{code}"


def _is_free(tool: Tool) -> bool:
    return not tool.needs and tool.standing != "retired"


def _objections(tools: Iterable[Tool], local: Collection[str]) -> Iterator[str]:
    """Why a program that has these modules can't import one of the tools."""
    for tool in tools:
        if tool.needs:
            yield (
                f"the tool {tool.name} can't be imported here, as only its own calls may have what "
                f"it needs ({', '.join(map(str, tool.needs))}); do without it, or read from a file "
                "what it returned"
            )
        for pin in tool.requires:
            if pin.name in local:
                yield (
                    f"the tool {tool.name} imports the tool {pin.name}, but the project has "
                    f"another module of this name; rename that module, or do without {tool.name}"
                )
