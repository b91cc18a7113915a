"""Which tests a suite must report, read from its source with `ast` on the host; the source is never compiled or run here."""

import ast
from collections.abc import Iterable, Iterator

_TEST_CASES = {"TestCase", "IsolatedAsyncioTestCase"}


class SuiteProblem(Exception):
    """The source is no suite of tests; the message is one sentence."""


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
        raise SuiteProblem(f"The tests have a syntax error in line {error.lineno}: {error.msg}{line}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SuiteProblem(f"The tests are not valid Python: {error}") from error
    classes = {n.name: n for n in _statements(module.body) if isinstance(n, ast.ClassDef)}
    names = set(_functions(module.body))
    for name, node in classes.items():
        if name.startswith("Test") or _is_test_case(node, classes):
            names.update(f"{name}::{method}" for method in _methods(node, classes))
    if not names:
        raise SuiteProblem("The tests define no test: there is no function whose name begins with `test`.")
    return frozenset(names)


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module or class, those under `if`, `try` and `with` included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.TryStar):
            nested = [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
            for handler in getattr(node, "handlers", []):
                nested += handler.body
            yield from _statements(nested)


def _functions(body: Iterable[ast.stmt]) -> Iterator[str]:
    for node in _statements(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test") and not _is_fixture(node):
            yield node.name


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A fixture is no test, whatever its name."""
    targets = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(_last_name(t) == "fixture" for t in targets)


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Test methods of a class and of its bases in the same module."""
    yield from _functions(node.body)
    for base in node.bases:
        name = _last_name(base)
        if name in classes and name not in seen:
            yield from _methods(classes[name], classes, seen | {name})


def _is_test_case(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: frozenset[str] = frozenset()) -> bool:
    for base in node.bases:
        name = _last_name(base)
        if name in _TEST_CASES:
            return True
        if name in classes and name not in seen and _is_test_case(classes[name], classes, seen | {name}):
            return True
    return False


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
