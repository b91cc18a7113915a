"""Names as Python and pytest look them up: what a suite binds at module level, what it uses from
outside, and renaming.

Local variables, parameters and names in a class are left alone; requests for a renamed fixture
follow it.
"""

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from selfeng.synthesis.suite.source import (
    FUNCTIONS,
    Function,
    Suite,
    fixture_name,
    parameters,
    statements,
)

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BINDING: dict[type[ast.AST], str] = {
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}
"""Where nodes have the name that they bind."""


def bound(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """The names that the nodes bind in their scope, each with what is imported there, "" for
    anything else.
    """
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name, ""
                waiting += node.decorator_list
                continue
            case ast.Lambda():
                continue
            case ast.Import(names=names):
                yield from (
                    (
                        n.asname or n.name.partition(".")[0],
                        n.name if n.asname else n.name.partition(".")[0],
                    )
                    for n in names
                )
            case ast.ImportFrom(names=names):
                yield from (
                    (n.asname or n.name, f"{'.' * node.level}{node.module}:{n.name}") for n in names
                )
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, ""
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name, ""
            case ast.MatchMapping(rest=str(name)):
                yield name, ""
        if isinstance(node, _COMPREHENSIONS):
            waiting += [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        else:
            waiting += ast.iter_child_nodes(node)


def top_fixtures(suite: Suite) -> dict[str, Function]:
    """The module-level fixtures of a suite, by the name under which tests request them."""
    tops = [n for n in statements(suite.module.body) if isinstance(n, FUNCTIONS)]
    return {fixture_name(mark, f): f for f in tops if (mark := suite.fixture_mark(f)) is not None}


def assigned_fixtures(suite: Suite) -> set[str]:
    """Module-level names that are set to a fixture."""
    fixtures = set[str]()
    for node in statements(suite.module.body):
        if isinstance(node, ast.Assign) and any(
            isinstance(n, ast.Call) and suite.dotted(n.func) == "pytest.fixture"
            for n in ast.walk(node)
        ):
            fixtures |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return fixtures


@dataclass
class _Scope:
    names: dict[str, str] = field(default_factory=dict)
    """The new name of each name that is bound here."""
    of_class: bool = False
    """Whether it is a class: seen only from its own statements, and each name only once it is
    bound.
    """


class Renaming(ast.NodeTransformer):
    """Renames module-level names of a suite in place, wherever they are referenced; without names
    it only collects.

    `fixtures` are those of them that tests and fixtures request.
    """

    def __init__(self, suite: Suite, names: Mapping[str, str], fixtures: Container[str]) -> None:
        self._suite, self._names = suite, names
        self._asked_for = {old: new for old, new in names.items() if old in fixtures}
        self._asking = {
            *(t.node for t in suite.tests),
            *(f for f in suite.functions if suite.fixture_mark(f)),
        }
        self._scopes: list[_Scope] = []
        self.outer: set[str] = set()
        """The names that were looked up at module level, or are requested from pytest."""
        self._strings = {
            id(node)
            for call in self._suite.nodes
            if isinstance(call, ast.Call)
            for node in self._naming(call)
        }

    def _resolved(self, name: str) -> str:
        for scope in reversed(self._scopes):
            if name in scope.names and (not scope.of_class or scope is self._scopes[-1]):
                return scope.names[name]
        self.outer.add(name)
        return self._names.get(name, name)

    def _binding(self, name: str) -> str:
        if self._scopes and self._scopes[-1].of_class:
            self._scopes[-1].names[name] = name
        return self._resolved(name)

    def _all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _within(self, scope: _Scope, nodes: Iterable[ast.AST]) -> None:
        self._scopes.append(scope)
        self._all(nodes)
        self._scopes.pop()

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = (
            self._resolved(node.id) if isinstance(node.ctx, ast.Load) else self._binding(node.id)
        )
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self._all([node.value, *node.targets])
        if any(isinstance(t, ast.Name) and t.id.startswith("__all__") for t in node.targets):
            for text in ast.walk(node.value):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    text.value = self._names.get(text.value, text.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self._all([node.value, node.annotation, node.target])
        return node

    def _function(self, node: Function) -> ast.AST:
        a, asking = node.args, node in self._asking
        self._all(
            [
                *node.decorator_list,
                *a.defaults,
                *a.kw_defaults,
                *(p.annotation for p in parameters(node)),
                node.returns,
            ]
        )
        in_class = bool(self._scopes) and self._scopes[-1].of_class
        called = self._binding(node.name)
        node.name = (
            self._asked_for.get(node.name, called)
            if in_class and self._suite.fixture_mark(node)
            else called
        )
        optional = {
            p.arg
            for p in [*a.posonlyargs, *a.args][len(a.posonlyargs) + len(a.args) - len(a.defaults) :]
        }
        scope = _local(node.body, self._names)
        for parameter in parameters(node):
            if asks := asking and parameter.arg not in optional:
                self.outer.add(parameter.arg)
            scope.names[parameter.arg] = parameter.arg = (
                self._asked_for.get(parameter.arg, parameter.arg) if asks else parameter.arg
            )
        self._within(scope, node.body)
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._all([*node.args.defaults, *node.args.kw_defaults])
        self._within(_Scope({p.arg: p.arg for p in parameters(node)}), [node.body])
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._all([*node.decorator_list, *node.bases, *(k.value for k in node.keywords)])
        node.name = self._binding(node.name)
        self._within(_Scope(of_class=True), node.body)
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if (attribute := _BINDING.get(type(node))) and (name := getattr(node, attribute)):
            setattr(node, attribute, self._binding(name))
        if not isinstance(node, _COMPREHENSIONS):
            return super().generic_visit(node)
        first, *further = node.generators
        self.visit(first.iter)
        names = {name for g in node.generators for name, _ in bound([g.target])}
        inner = [
            first.target,
            *first.ifs,
            *(part for g in further for part in (g.iter, g.target, *g.ifs)),
            *([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]),
        ]
        self._within(_Scope({name: name for name in names}), inner)
        return node

    def visit_Global(self, node: ast.Global) -> ast.AST:
        node.names = [self._names.get(name, name) for name in node.names]
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [self._resolved(name) for name in node.names]
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        aliases = []
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            new = self._binding(name)
            if new != name and not alias.asname and "." in alias.name:  # `import a.b` binds a
                aliases += [
                    ast.alias(name, new),
                    ast.alias(alias.name, f"{new}_{alias.name.rpartition('.')[2]}"),
                ]
            else:
                aliases.append(ast.alias(alias.name, new if new != name else alias.asname))
        node.names = aliases
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        for alias in node.names:
            name = alias.asname or alias.name
            new = self._binding(name)
            alias.asname = new if new != name else alias.asname
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if id(node) in self._strings and isinstance(node.value, str):
            node.value = ",".join(_renamed(name, self._asked_for) for name in node.value.split(","))
        return node

    def _naming(self, call: ast.Call) -> Iterator[ast.AST]:
        """The strings in a call that name fixtures."""
        match self._suite.dotted(call.func):
            case "pytest.mark.usefixtures":
                arguments: list[ast.expr] = call.args
            case "pytest.mark.parametrize":
                arguments = [
                    *call.args[:1],
                    *(k.value for k in call.keywords if k.arg in ("argnames", "indirect")),
                ]
            case "pytest.fixture":
                arguments = [k.value for k in call.keywords if k.arg == "name"]
            case _:
                asks = isinstance(call.func, ast.Attribute) and call.func.attr == "getfixturevalue"
                arguments = call.args if asks else []
        for value in arguments:
            yield from ast.walk(self._suite.value_of(value))


def _renamed(name: str, names: Mapping[str, str]) -> str:
    return name.replace(name.strip(), names[name.strip()]) if name.strip() in names else name


def _local(body: Iterable[ast.stmt], outer: Mapping[str, str]) -> _Scope:
    """The scope of a function's statements."""
    body = list(body)
    declared: dict[type[ast.AST], set[str]] = {ast.Global: set(), ast.Nonlocal: set()}
    waiting: list[ast.AST] = list(body)
    while waiting:
        if isinstance((node := waiting.pop()), ast.Global | ast.Nonlocal):
            declared[type(node)].update(node.names)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)
    names = {name: name for name, _ in bound(body) if name not in declared[ast.Nonlocal]}
    return _Scope({**names, **{name: outer.get(name, name) for name in declared[ast.Global]}})
