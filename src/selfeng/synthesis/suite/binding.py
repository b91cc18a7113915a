"""Names that a suite may not redefine: the tool's, its tests' and those that it asserts with.

A suite that defines the function under test, or equality, judges itself.
"""

import ast
import builtins
from collections.abc import Iterator

from selfeng.synthesis.suite.flow import Flow, Kind
from selfeng.synthesis.suite.source import FUNCTIONS, Function, Suite, parameters, targets

_COMPARING = {
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__bool__",
    "__contains__",
    "__exit__",
    "__aexit__",
}
_FUNCTIONS = {name for name in dir(builtins) if name.islower() and not name.startswith("_")}


def problems(suite: Suite, flow: Flow) -> Iterator[str]:
    asserting = {
        name
        for name, meaning in suite.meanings.items()
        if meaning.partition(".")[0] in ("pytest", "unittest")
    }
    tests = {t.node.name for t in suite.tests if t.owner is None}
    for node in suite.nodes:
        for name, how in _bound(suite, flow, node):
            if name == suite.tool:
                yield (
                    f"{suite.where(node)} {how} `{name}`, the function under test; import it "
                    f"with `from {name} import {name}` and call it"
                )
            elif name in asserting:
                yield (
                    f"{suite.where(node)} {how} `{name}`, which it imports to assert with; "
                    "choose another name"
                )
            elif (
                name in tests
                and not isinstance(node, FUNCTIONS)
                and _home(suite, node) is suite.module
            ):
                yield f"{suite.where(node)} {how} `{name}`, which is a test; choose another name"
        if isinstance(node, ast.ClassDef):
            yield from _comparing(suite, node)
        if suite.parents.get(node) is suite.module:
            yield from _builtin(suite, node)


def _bound(suite: Suite, flow: Flow, node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that a node binds, and how; the tool may be bound to itself."""
    match node:
        case ast.ImportFrom(module=module, names=names) if module != suite.tool:
            yield from (
                (n.asname or n.name, f"imports from {module}")
                for n in names
                if (n.asname or n.name) == suite.tool
            )
        case ast.Import(names=names):
            yield from (
                (n.asname, f"imports {n.name} as")
                for n in names
                if n.asname == suite.tool and n.name != suite.tool
            )
        case ast.ImportFrom(module=suite.tool, names=names):
            yield from (
                (n.asname, f"imports {n.name} as")
                for n in names
                if n.asname == suite.tool and n.name != suite.tool
            )
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() if not isinstance(
            suite.parents.get(node), ast.ClassDef
        ):
            yield node.name, "defines"
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
        ):
            yield name, "sets"
    for target in targets(node):
        if isinstance(target, ast.Name) and not (
            isinstance(node, ast.Assign) and _is_tool(flow, node.value)
        ):
            yield target.id, "deletes" if isinstance(node, ast.Delete) else "sets"
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        for parameter in parameters(node):
            if not (
                parameter.arg == suite.tool
                and isinstance(node, FUNCTIONS)
                and _always_given_the_tool(suite, node, parameter.arg)
            ):
                yield parameter.arg, "takes a parameter named"


def _is_tool(flow: Flow, value: ast.expr) -> bool:
    return isinstance(value, ast.Name | ast.Attribute) and flow.kind(value) is Kind.TOOL


def _always_given_the_tool(suite: Suite, function: Function, parameter: str) -> bool:
    """Whether a helper, such as `check(f)`, gets the tool itself in every call."""
    if suite.fixture_mark(function) or any(t.node is function for t in suite.tests):
        return False
    place = [p.arg for p in parameters(function)].index(parameter)
    calls = [
        n
        for n in suite.nodes
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == function.name
    ]
    given = [
        c.args[place]
        if len(c.args) > place
        else next((k.value for k in c.keywords if k.arg == parameter), None)
        for c in calls
    ]
    return bool(given) and all(isinstance(g, ast.Name) and g.id == suite.tool for g in given)


def _home(suite: Suite, node: ast.AST) -> ast.AST:
    around = suite.parents.get(node, suite.module)
    while not isinstance(around, (*FUNCTIONS, ast.Module, ast.ClassDef)):
        around = suite.parents[around]
    return around


def _comparing(suite: Suite, node: ast.ClassDef) -> Iterator[str]:
    names = {s.name for s in node.body if isinstance(s, FUNCTIONS)}
    names |= {t.id for s in node.body for t in targets(s) if isinstance(t, ast.Name)}
    for name in sorted(names & _COMPARING):
        yield (
            f"{suite.where(node)} defines the class {node.name} with a `{name}` of its own; "
            "compare with plain values"
        )


def _builtin(suite: Suite, node: ast.AST) -> Iterator[str]:
    """Module-level functions that replace a builtin one; a plain value of that name is harmless."""
    if (
        isinstance(node, (*FUNCTIONS, ast.ClassDef))
        and node.name in _FUNCTIONS
        and not (isinstance(node, FUNCTIONS) and suite.fixture_mark(node))
    ):
        yield f"the suite defines `{node.name}` in place of Python's own; choose another name"
    if isinstance(node, ast.Assign) and not isinstance(
        node.value, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set
    ):
        for target in targets(node):
            if (
                isinstance(target, ast.Name)
                and target.id in _FUNCTIONS
                and isinstance(node.value, ast.Lambda | ast.Name | ast.Attribute)
            ):
                yield f"the suite sets `{target.id}` in place of Python's own; choose another name"
