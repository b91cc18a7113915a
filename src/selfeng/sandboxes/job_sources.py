"""The sources of a job: the tests that a suite must report, and the names that a module binds. They
are read with `ast`, and never compiled or run here.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from sandbox_worker.frames import BrokenStream
from selfeng.core.errors import RequestError
from selfeng.core.packages import sandbox_modules
from selfeng.core.signature import last_name
from selfeng.core.verdict import SandboxJob
from selfeng.core.words import count

_KEPT = 100
"""Sources whose names are kept: a suite runs against dozens of versions of a tool."""
_TEST_CASES = {"TestCase", "IsolatedAsyncioTestCase"}


class SuiteProblem(Exception):
    """The source is not a test suite; the message is one sentence."""


@lru_cache(_KEPT)
def expected_tests(source: str) -> frozenset[str]:
    """Names of the test functions, `TestClass::test_method` for methods, without parameters.

    Raises:
        SuiteProblem: the source is not valid Python, or defines no test.
    """
    try:
        module = ast.parse(source)
    except SyntaxError as error:
        if error.lineno is None:
            raise SuiteProblem(f"The tests are not valid Python: {error.msg}") from error
        line = f": {error.text.strip()}" if error.text else ""
        raise SuiteProblem(
            f"The tests have a syntax error in line {error.lineno}: {error.msg}{line}"
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SuiteProblem(f"The tests are not valid Python: {error}") from error
    classes = {n.name: n for n in _statements(module.body) if isinstance(n, ast.ClassDef)}
    names = set(_functions(module.body))
    for name, node in classes.items():
        if name.startswith("Test") or _is_test_case(node, classes):
            names.update(f"{name}::{method}" for method in _methods(node, classes))
    if not names:
        raise SuiteProblem(
            "The tests define no test: there is no function whose name begins with `test`."
        )
    return frozenset(names)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module or class, including those under `if`, `try` and `with`."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.TryStar):
            nested = [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
            for handler in getattr(node, "handlers", []):
                nested += handler.body
            yield from _statements(nested)


def _functions(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in _statements(body):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name.startswith("test")
            and not _is_fixture(node)
        ):
            yield node.name


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A fixture is not a test, whatever its name."""
    targets = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(last_name(t) == "fixture" for t in targets)


def _methods(
    node: ast.ClassDef, classes: dict[str, ast.ClassDef], visited: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Test methods of a class and of its bases in the same module."""
    yield from _functions(node.body)
    for base in node.bases:
        if (name := last_name(base)) in classes and name not in visited:
            yield from _methods(classes[name], classes, visited | {name})


def _is_test_case(
    node: ast.ClassDef, classes: dict[str, ast.ClassDef], visited: frozenset[str] = frozenset()
) -> bool:
    return any(
        name in _TEST_CASES
        or (
            name in classes
            and name not in visited
            and _is_test_case(classes[name], classes, visited | {name})
        )
        for name in map(last_name, node.bases)
    )


_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


@lru_cache(_KEPT)
def exported_names(source: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that the module binds, and those that `import *` gives; none if it is not valid
    Python.

    Names that are known only when the module runs, as from `globals()`, `__getattr__` or an `import
    *` of its own, are not included.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (), ()
    names = {name for node in _top(module) for name in _bound(node)} | {
        n for node in ast.walk(module) if isinstance(node, ast.Global) for n in node.names
    }
    listed = [literal for node in module.body if (literal := _listed(node)) is not None]
    public = listed[-1] if listed else [name for name in names if not name.startswith("_")]
    return tuple(sorted(names)), tuple(sorted(names.intersection(public)))


def _top(module: ast.Module) -> Iterator[ast.AST]:
    """The nodes of the module itself, not of a function, class or comprehension in it."""
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((n.asname or n.name).partition(".")[0] for n in names if n.name != "*")
        case (
            ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            yield name


def _listed(node: ast.stmt) -> list[str] | None:
    """The names in a literal `__all__`; None if the statement does not set one."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items)
        ):
            return [
                item.value
                for item in items
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            ]
    return None


LARGEST = 1024 * 1024
"""Bytes of all library modules together, as UTF-8."""


def check_modules(job: SandboxJob) -> None:
    """Check that each module of the library can be imported by its name, and that the name is free.

    Raises:
        RequestError: the name is not an identifier, or another module has it.
    """
    for name in job.library:
        if not name.isidentifier():
            raise RequestError(
                f"{name!r} can't be the name of a library module", "give it a Python identifier"
            )
        if name == job.name or name in sandbox_modules():
            raise RequestError(
                f"the name of the library module {name!r} is taken by another module",
                "give it another name",
            )


def check_size(library: Mapping[str, str]) -> None:
    """Raises: BrokenStream: they are larger than LARGEST."""
    size = sum(len(source.encode("utf-8", "surrogatepass")) for source in library.values())
    if size > LARGEST:
        raise BrokenStream(
            f"{count(len(library), 'imported tool')}, {size} bytes in all, more than {LARGEST}"
        )
