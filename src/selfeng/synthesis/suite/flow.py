"""Data flow from the tool: which names and expressions of a suite refer to it, or hold what it
returned, raised or touched.

Names are followed through assignments, helpers, fixtures, parameters and containers, without regard
to the order of statements. So an honest test is rarely taken for one unrelated to the tool, but
some unrelated tests are taken for honest.
"""

import ast
from collections.abc import Iterable
from enum import IntEnum

from selfeng.synthesis.suite.source import (
    FUNCTIONS,
    Function,
    Suite,
    parameters,
    root,
    targets,
    within,
)
from selfeng.synthesis.suite.steering import parametrized

_CAPTURES = {
    "capsys",
    "capsysbinary",
    "capfd",
    "capfdbinary",
    "caplog",
    "recwarn",
    "tmp_path",
    "tmp_path_factory",
    "tmpdir",
}
_INTROSPECTION = {
    "callable",
    "isinstance",
    "issubclass",
    "hasattr",
    "getattr",
    "type",
    "id",
    "hash",
    "repr",
    "str",
    "dir",
    "help",
    "bool",
}
_PASSES = 20
"""Rounds after which a chain of names counts as too long to follow."""

Scope = Function | ast.Module


class Kind(IntEnum):
    """What an expression is; a call of a TOOL, and anything made of a VALUE, is a VALUE."""

    OTHER = 0
    MODULE = 1
    TOOL = 2
    VALUE = 3


class Flow:
    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._tests = {t.node: t for t in suite.tests}
        self._named: dict[str, list[Function]] = {}
        for function in suite.functions:
            self._named.setdefault(function.name, []).append(function)
        self.scopes: tuple[Scope, ...] = (suite.module, *suite.functions)
        self._own = {scope: tuple(_own(scope)) for scope in self.scopes}
        self._bound = {scope: _bound(scope, nodes) for scope, nodes in self._own.items()}
        self._setting = {scope: _setting(nodes) for scope, nodes in self._own.items()}
        self._kinds: dict[tuple[Scope, str], Kind] = {}
        self._attributes: dict[str, Kind] = {}
        self._memo: dict[ast.AST, Kind] = {}
        self._learned = False
        self._settle()

    def kind(self, node: ast.AST) -> Kind:
        """The kind of an expression in its scope."""
        return self._kind(node, self._scope(node))

    def touches(self, *nodes: ast.AST) -> bool:
        """Whether the nodes use the tool or something that came from it."""
        plain = [n for n in nodes if not isinstance(n, (*FUNCTIONS, ast.ClassDef))]
        return any(
            self.kind(n) is Kind.VALUE
            for n in within(*plain)
            if isinstance(n, ast.Call | ast.Name | ast.Attribute)
        )

    def set_once(self, name: str, scope: Scope) -> ast.AST | None:
        """The one statement of a function that sets a name; None if there are several or none."""
        found = self._setting[scope].get(name, [])
        given = isinstance(scope, FUNCTIONS) and any(p.arg == name for p in parameters(scope))
        return found[0] if len(found) == 1 and not given else None

    def _settle(self) -> None:
        for _ in range(_PASSES):
            self._learned = False
            self._memo.clear()
            for scope, nodes in self._own.items():
                self._enter(scope)
                for node in nodes:
                    self._learn(node, scope)
            if not self._learned:
                break
        self._memo.clear()

    def _enter(self, scope: Scope) -> None:
        """Bind a function's parameters as pytest calls it, and its name for its callers."""
        if not isinstance(scope, FUNCTIONS):
            return
        test = self._tests.get(scope)
        for parameter in parameters(scope):
            fixture = self._suite.fixtures.get(parameter.arg)
            if parameter.arg in _CAPTURES:
                self._bind_name(parameter.arg, Kind.VALUE, scope)
            elif fixture is not None and fixture is not scope:
                self._bind_name(
                    parameter.arg,
                    max((self._kind(n, fixture) for n in self._own[fixture]), default=Kind.OTHER),
                    scope,
                )
        for mark in self._suite.parametrizations(test) if test else ():
            kind = max(
                (self.kind(a) for a in [*mark.args[1:], *(k.value for k in mark.keywords)]),
                default=Kind.OTHER,
            )
            for name in parametrized(mark.args[0] if mark.args else None) or [
                p.arg for p in parameters(scope)
            ]:
                self._bind_name(name, kind, scope)
        if fixed := self._suite.fixture_mark(scope):
            self._set_attribute("param", self._children(fixed, self._suite.module))
        if self.touches(*scope.body):
            self._bind_name(scope.name, Kind.TOOL, self._around(scope))
            self._set_attribute(scope.name, Kind.TOOL)

    def _learn(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.ImportFrom(module=self._suite.tool, names=names):
                for name in names:
                    self._bind_name(
                        self._suite.tool if name.name == "*" else name.asname or name.name,
                        Kind.TOOL,
                        scope,
                    )
                    if name.name == "*":
                        self._kinds[scope, "*"] = Kind.TOOL
            case ast.Import(names=names):
                for module in (n for n in names if n.name == self._suite.tool):
                    self._bind_name(module.asname or module.name, Kind.MODULE, scope)
            case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.NamedExpr(value=value):
                self._bind(node, self._kind(value, scope), scope)
            case ast.AnnAssign(value=ast.expr() as value):
                self._bind(node, self._kind(value, scope), scope)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                self._bind(node, self._kind(node.iter, scope), scope)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                inside = (
                    Kind.VALUE
                    if any(i.optional_vars for i in items) and self.touches(*body)
                    else Kind.OTHER
                )
                for item in items:
                    self._bind(item, max(inside, self._kind(item.context_expr, scope)), scope)
            case ast.Try(body=body, handlers=handlers) | ast.TryStar(body=body, handlers=handlers):
                for handler in (h for h in handlers if h.name and self.touches(*body)):
                    self._bind_name(str(handler.name), Kind.VALUE, scope)
            case ast.Match(subject=subject, cases=cases):
                for part in (
                    n
                    for c in cases
                    for n in ast.walk(c.pattern)
                    if isinstance(n, ast.MatchAs | ast.MatchStar) and n.name
                ):
                    self._bind_name(str(part.name), self._kind(subject, scope), scope)
            case ast.Call():
                self._learn_call(node, scope)

    def _learn_call(self, node: ast.Call, scope: Scope) -> None:
        """Bind names that a call affects: it may change its arguments and its object; a function of
        the suite receives them.
        """
        given = [(None, a) for a in node.args] + [(k.arg, k.value) for k in node.keywords]
        kinds = [self._kind(value, scope) for _, value in given]
        if self._kind(node.func, scope) is Kind.TOOL and not self._functions(node.func):
            for name in (
                n for _, value in given for n in ast.walk(value) if isinstance(n, ast.Name)
            ):
                if self._is_variable(name.id, scope) and self._kind(name, scope) is Kind.OTHER:
                    self._bind_name(name.id, Kind.VALUE, scope)
        base = root(node.func)
        if (
            isinstance(node.func, ast.Attribute)
            and isinstance(base, ast.Name)
            and self._is_variable(base.id, scope)
        ):
            self._bind_target(node.func.value, max(kinds, default=Kind.OTHER), scope)
        for function in self._functions(node.func):
            for position, ((keyword, value), kind) in enumerate(zip(given, kinds, strict=True)):
                spread = isinstance(value, ast.Starred) or (
                    keyword is None and position >= len(node.args)
                )
                for parameter in _receiving(
                    function, node.func, None if spread else keyword or position
                ):
                    self._bind_name(parameter.arg, kind, function)

    def _is_variable(self, name: str, scope: Scope) -> bool:
        """Whether the suite sets the name itself, and not by an import."""
        return name in self._bound[self._home(name, scope)] and name not in self._suite.meanings

    def _functions(self, func: ast.expr) -> list[Function]:
        """The functions of the suite that a call may mean."""
        name = (
            func.id
            if isinstance(func, ast.Name)
            else func.attr
            if isinstance(func, ast.Attribute)
            else ""
        )
        return self._named.get(name, [])

    def _bind(self, node: ast.AST, kind: Kind, scope: Scope) -> None:
        for target in targets(node):
            self._bind_target(target, kind, scope)

    def _bind_target(self, target: ast.expr, kind: Kind, scope: Scope) -> None:
        if isinstance(target, ast.Attribute) and kind > Kind.MODULE:
            self._set_attribute(target.attr, kind)
        base = root(target)
        if isinstance(base, ast.Name) and base.id not in ("self", "cls"):
            self._bind_name(base.id, kind, scope)
            if isinstance(
                self._suite.parents.get(self._suite.parents.get(target, target)), ast.ClassDef
            ):
                self._set_attribute(base.id, kind)

    def _bind_name(self, name: str, kind: Kind, scope: Scope) -> None:
        where = self._home(name, scope)
        if kind > self._kinds.get((where, name), Kind.OTHER):
            self._kinds[where, name] = kind
            self._learned = True

    def _set_attribute(self, name: str, kind: Kind) -> None:
        if kind > self._attributes.get(name, Kind.OTHER):
            self._attributes[name] = kind
            self._learned = True

    def _home(self, name: str, scope: Scope) -> Scope:
        """The function that a name belongs to, or the module."""
        while name not in self._bound[scope] and not isinstance(scope, ast.Module):
            scope = self._around(scope)
        return scope

    def _around(self, scope: Scope) -> Scope:
        return self._scope(self._suite.parents.get(scope, self._suite.module))

    def _scope(self, node: ast.AST) -> Scope:
        around: ast.AST = node
        while not isinstance(around, (*FUNCTIONS, ast.Module)):
            around = self._suite.parents[around]
        return around

    def _kind(self, node: ast.AST, scope: Scope) -> Kind:
        if isinstance(node, ast.Constant):
            return Kind.OTHER
        if node not in self._memo:
            self._memo[node] = Kind.OTHER
            self._memo[node] = self._kind_of(node, scope)
        return self._memo[node]

    def _kind_of(self, node: ast.AST, scope: Scope) -> Kind:
        match node:
            case ast.Name(id=name):
                home = self._home(name, scope)
                if name in self._bound[home] or self._suite.dotted(node):
                    return self._kinds.get((home, name), Kind.OTHER)
                # A free name is the tool that was not imported, or another name of its module where
                # all were.
                return (
                    Kind.TOOL
                    if name == self._suite.tool
                    else self._kinds.get((home, "*"), Kind.OTHER)
                )
            case ast.Attribute(value=value, attr=attr):
                own = (
                    self._attributes.get(attr, Kind.OTHER)
                    if isinstance(value, ast.Name)
                    else Kind.OTHER
                )
                match self._kind(value, scope):
                    case Kind.MODULE:
                        return Kind.TOOL
                    case Kind.TOOL:
                        return own
                    case kind:
                        return max(kind, own)
            case ast.Call(func=func):
                return self._kind_of_call(node, func, scope)
            case ast.Lambda(body=body):
                return min(Kind.TOOL, self._kind(body, scope))
        return self._children(node, scope)

    def _kind_of_call(self, node: ast.Call, func: ast.expr, scope: Scope) -> Kind:
        function = self._kind(func, scope)
        if function in (Kind.TOOL, Kind.VALUE):
            return Kind.VALUE
        given = max(
            (self._kind(a, scope) for a in [*node.args, *(k.value for k in node.keywords)]),
            default=Kind.OTHER,
        )
        if given is Kind.TOOL:
            return Kind.OTHER if self._suite.dotted(func) in _INTROSPECTION else Kind.VALUE
        return given if given is Kind.VALUE else Kind.OTHER

    def _children(self, node: ast.AST, scope: Scope) -> Kind:
        kinds = [
            self._kind(c, scope)
            for c in ast.iter_child_nodes(node)
            if isinstance(c, ast.expr | ast.comprehension | ast.keyword)
        ]
        return max((k for k in kinds if k is not Kind.MODULE), default=Kind.OTHER)


def _receiving(function: Function, func: ast.expr, place: str | int | None) -> list[ast.arg]:
    """The parameters that an argument may arrive at; `place` is None for `*` and `**`."""
    asked = parameters(function)
    if isinstance(place, int):
        # The parameters of a method may or may not include `self`.
        found = asked[place : place + (2 if isinstance(func, ast.Attribute) else 1)]
    else:
        found = [p for p in asked if p.arg == place]
    return found or asked


def _own(scope: Scope) -> Iterable[ast.AST]:
    """Nodes of a scope; a class is not a scope here, its methods are."""
    for node in within(scope):
        yield node
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from _own_of_class(child)


def _own_of_class(node: ast.ClassDef) -> Iterable[ast.AST]:
    for statement in node.body:
        if isinstance(statement, ast.ClassDef):
            yield from _own_of_class(statement)
        elif not isinstance(statement, FUNCTIONS):
            yield from within(statement)


def _setting(nodes: Iterable[ast.AST]) -> dict[str, list[ast.AST]]:
    """The nodes that set a name, by name."""
    found: dict[str, list[ast.AST]] = {}
    for node in nodes:
        for target in targets(node):
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(node)
    return found


def _bound(scope: Scope, nodes: Iterable[ast.AST]) -> frozenset[str]:
    names = {p.arg for p in parameters(scope)} if isinstance(scope, FUNCTIONS) else set()
    outside: set[str] = set()
    for node in nodes:
        names |= {t.id for t in targets(node) if isinstance(t, ast.Name)}
        match node:
            case ast.Import(names=found) | ast.ImportFrom(names=found):
                names |= {(n.asname or n.name).partition(".")[0] for n in found}
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                names.add(name)
            case ast.Global(names=found) | ast.Nonlocal(names=found):
                outside |= set(found)
    names |= {
        c.name
        for n in (scope, *nodes)
        for c in ast.iter_child_nodes(n)
        if isinstance(c, (*FUNCTIONS, ast.ClassDef))
    }
    return frozenset(names - outside)
