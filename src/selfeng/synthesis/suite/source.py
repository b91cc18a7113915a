"""A suite as source: its tests, its functions, and what its names stand for. Nothing in it is
run.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

_NESTING = (ast.If, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While)
_CASES = {"unittest.TestCase", "unittest.IsolatedAsyncioTestCase"}
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, eq=False)
class Test:
    __test__ = False

    name: str
    """As pytest gives it, `TestClass::test_name` within a class."""
    node: Function
    owner: ast.ClassDef | None = None


class Suite:
    """A parsed suite, without the code under `if __name__ == "__main__":`, which never runs."""

    def __init__(self, source: str, tool: str) -> None:
        """`tool` names the function under test and its module.

        Raises:
            SyntaxError, ValueError, RecursionError, MemoryError: the source is not valid Python.
        """
        self.tool = tool
        self.module = ast.parse(source)
        self.module.body = [s for s in self.module.body if not _is_main_guard(s)]
        self.parents = {
            child: node for node in ast.walk(self.module) for child in ast.iter_child_nodes(node)
        }
        self.nodes = (self.module, *self.parents)
        self.functions = tuple(n for n in self.nodes if isinstance(n, FUNCTIONS))
        self.classes = {n.name: n for n in self.nodes if isinstance(n, ast.ClassDef)}

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        suite_tests = [
            Test(n.name, n)
            for n in statements(self.module.body)
            if isinstance(n, FUNCTIONS) and self._is_test(n)
        ]
        for owner in (n for n in statements(self.module.body) if isinstance(n, ast.ClassDef)):
            if owner.name.startswith("Test") or self.is_case(owner):
                suite_tests += [
                    Test(f"{owner.name}::{m.name}", m, owner)
                    for m in self.methods(owner)
                    if self._is_test(m)
                ]
        return tuple(suite_tests)

    @cached_property
    def fixtures(self) -> dict[str, Function]:
        """The fixtures, by the name under which tests request them."""
        return {
            fixture_name(decorator, f): f
            for f in self.functions
            if (decorator := self.fixture_mark(f)) is not None
        }

    @cached_property
    def meanings(self) -> dict[str, str]:
        """The meanings of names, as dotted names: of names that are imported, and of names that are
        set to such a name.
        """
        dotted_names: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                dotted_names |= {
                    n.asname or n.name.partition(".")[0]: n.name
                    if n.asname
                    else n.name.partition(".")[0]
                    for n in node.names
                }
            elif isinstance(node, ast.ImportFrom):
                dotted_names |= {
                    n.asname or n.name: f"{node.module}.{n.name}"
                    for n in node.names
                    if n.name != "*"
                }
        assigned = [
            n for n in self.nodes if isinstance(n, ast.Assign | ast.AnnAssign | ast.NamedExpr)
        ]
        for _ in range(3):  # aliases of aliases, in any order
            for node in assigned:
                value = _dotted(node.value, dotted_names) if node.value else ""
                for target in targets(node):
                    if value and isinstance(target, ast.Name) and target.id not in dotted_names:
                        dotted_names[target.id] = value
        return dotted_names

    @cached_property
    def modules(self) -> frozenset[str]:
        """Dotted names of the modules that are imported whole, except the tool's own."""
        aliases = (n for node in self.nodes if isinstance(node, ast.Import) for n in node.names)
        return frozenset(n.name if n.asname else n.name.partition(".")[0] for n in aliases) - {
            self.tool
        }

    @cached_property
    def imported(self) -> frozenset[str]:
        """The top-level modules that the suite imports from."""
        module_names = {
            name.name.partition(".")[0]
            for node in self.nodes
            if isinstance(node, ast.Import)
            for name in node.names
        }
        return frozenset(
            module_names
            | {str(n.module).partition(".")[0] for n in self.nodes if isinstance(n, ast.ImportFrom)}
        )

    def dotted(self, node: ast.AST | None) -> str:
        """The dotted name, such as `pytest.mark.skip`, however the suite writes it; the name of a
        builtin; "" for anything else.
        """
        return _dotted(node, self.meanings)

    def fixture_mark(self, function: Function) -> ast.expr | None:
        """The decorator that makes a function a fixture."""
        return next(
            (d for d in function.decorator_list if self.dotted(called(d)) == "pytest.fixture"), None
        )

    def parametrizations(self, test: Test) -> list[ast.Call]:
        """The calls of `pytest.mark.parametrize` that multiply a test."""
        decorators = [*test.node.decorator_list, *(test.owner.decorator_list if test.owner else ())]
        marks = [self.value_of(d) for d in decorators]
        return [
            m
            for m in marks
            if isinstance(m, ast.Call) and self.dotted(m.func) == "pytest.mark.parametrize"
        ]

    def value_of(self, node: ast.expr) -> ast.expr:
        """The value of a name, if it is set once at module level."""
        if not isinstance(node, ast.Name):
            return node
        values = [
            s.value
            for s in self.module.body
            if isinstance(s, ast.Assign) and any(map(same_name(node), s.targets))
        ]
        return values[0] if len(values) == 1 else node

    def decorator(self, node: ast.expr) -> str:
        """The decorator's dotted name."""
        return self.dotted(called(self.value_of(node)))

    def where(self, node: ast.AST) -> str:
        """The test that contains a node, or "the suite"."""
        around: ast.AST | None = node
        while around is not None:
            for test in self.tests:
                if test.node is around:
                    return test.name
            around = self.parents.get(around)
        return "the suite"

    def is_case(self, node: ast.ClassDef, visited: frozenset[str] = frozenset()) -> bool:
        """Whether a class is one of unittest's test cases."""
        for base in node.bases:
            base_class = self.classes.get(base.id) if isinstance(base, ast.Name) else None
            if self.dotted(base) in _CASES or (
                base_class
                and base_class.name not in visited
                and self.is_case(base_class, visited | {base_class.name})
            ):
                return True
        return False

    def methods(self, node: ast.ClassDef, visited: frozenset[str] = frozenset()) -> list[Function]:
        """The methods of a class and of its bases in the suite."""
        functions = [n for n in statements(node.body) if isinstance(n, FUNCTIONS)]
        for base in node.bases:
            base_class = self.classes.get(base.id) if isinstance(base, ast.Name) else None
            if base_class and base_class is not node and base_class.name not in visited:
                names = {m.name for m in functions}
                functions += [
                    m
                    for m in self.methods(base_class, visited | {node.name})
                    if m.name not in names
                ]
        return functions

    def _is_test(self, node: Function) -> bool:
        return node.name.startswith("test") and self.fixture_mark(node) is None


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module or class, those under `if`, `try` and `with` included."""
    for node in body:
        yield node
        if isinstance(node, _NESTING):
            yield from statements(
                [s for s in ast.iter_child_nodes(node) if isinstance(s, ast.stmt)]
            )
            yield from statements([s for h in getattr(node, "handlers", ()) for s in h.body])


def within(*nodes: ast.AST) -> Iterator[ast.AST]:
    """The nodes and their descendants in source order, without the functions and classes that are
    defined in them.
    """
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        yield node
        inner = (*FUNCTIONS, ast.ClassDef)
        waiting += reversed([c for c in ast.iter_child_nodes(node) if not isinstance(c, inner)])


def targets(node: ast.AST) -> list[ast.expr]:
    """The targets that a node binds, with tuples taken apart."""
    match node:
        case ast.Assign(targets=nodes) | ast.Delete(targets=nodes):
            waiting = list(nodes)
        case (
            ast.AnnAssign()
            | ast.AugAssign()
            | ast.NamedExpr()
            | ast.For()
            | ast.AsyncFor()
            | ast.comprehension()
        ):
            waiting = [node.target]
        case ast.withitem(optional_vars=ast.expr() as target):
            waiting = [target]
        case _:
            return []
    flat: list[ast.expr] = []
    while waiting:
        if isinstance((target := waiting.pop()), ast.Tuple | ast.List):
            waiting += target.elts
        else:
            flat.append(target.value if isinstance(target, ast.Starred) else target)
    return flat


def called(node: ast.expr) -> ast.expr:
    """The function of a call, anything else as it is."""
    return node.func if isinstance(node, ast.Call) else node


def root(node: ast.expr) -> ast.expr:
    """The expression whose attributes and items are taken: `a` of `a.b[0].c`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters; `self` of a method is not treated specially."""
    a = function.args
    return [
        *a.posonlyargs,
        *a.args,
        *a.kwonlyargs,
        *([a.vararg] if a.vararg else []),
        *([a.kwarg] if a.kwarg else []),
    ]


def same_name(name: ast.Name):  # type: ignore[no-untyped-def]
    return lambda node: isinstance(node, ast.Name) and node.id == name.id


def excerpt(node: ast.AST) -> str:
    """Source for a message, on one line, of at most 60 characters."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:59] + "…"


def _dotted(node: ast.AST | None, meanings: dict[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return meanings.get(name) or (name if name in _BUILTINS else "")
        case ast.Attribute(value=value, attr=attr):
            base = _dotted(value, meanings)
            return f"{base}.{attr}" if base else ""
    return ""


def fixture_name(decorator: ast.expr, function: Function) -> str:
    return next(
        (
            str(keyword.value.value)
            for keyword in (decorator.keywords if isinstance(decorator, ast.Call) else ())
            if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
        ),
        function.name,
    )


def _is_main_guard(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and ast.unparse(node.test) in ("__name__ == '__main__'", "'__main__' == __name__")
    )
