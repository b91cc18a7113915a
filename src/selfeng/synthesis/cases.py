"""The calls of a suite with its cases filled in: the values from `parametrize`, a loop over a
literal list, or a variable.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from selfeng.core.signature import last_name
from selfeng.synthesis.suite.source import FUNCTIONS

_MOST = 100
"""Maximum number of cases at one place."""
Cases = Sequence[Mapping[str, ast.expr]]


def calls(module: ast.Module, function: str) -> Iterator[ast.Call]:
    """The calls of a function, once for each of their cases; names without literal values stay."""
    yield from _calls(module.body, function, [{}])


def _calls(body: Sequence[ast.stmt], function: str, cases: Cases) -> Iterator[ast.Call]:
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            cases = [_bound(case, node.targets[0], node.value) for case in cases]
        inner = _cases_of(node, cases)
        blocks = [
            b
            for name in ("body", "orelse", "finalbody")
            if isinstance(b := getattr(node, name, None), list)
        ]
        for block in blocks:
            yield from _calls(block, function, inner)
        if isinstance(node, ast.Try):
            for handler in node.handlers:
                yield from _calls(handler.body, function, inner)
        parts = (
            node.decorator_list
            if isinstance(node, (*FUNCTIONS, ast.ClassDef))
            else list(ast.iter_child_nodes(node))
        )
        for part in parts:
            if not isinstance(part, ast.stmt | ast.ExceptHandler):
                yield from _filled(part, function, inner)


def _filled(part: ast.AST, function: str, cases: Cases) -> Iterator[ast.Call]:
    for call in ast.walk(part):
        if isinstance(call, ast.Call) and last_name(call.func) == function:
            for case in cases:
                args = [_value(argument, case) for argument in call.args]
                keywords = [ast.keyword(k.arg, _value(k.value, case)) for k in call.keywords]
                yield ast.copy_location(ast.Call(call.func, args, keywords), call)


def _cases_of(node: ast.stmt, cases: Cases) -> Cases:
    """The cases in which the body of a statement runs."""
    if isinstance(node, ast.For):
        return [
            _bound(case, node.target, item)
            for case in cases
            for item in _elements(_value(node.iter, case))
        ][:_MOST] or cases
    for mark in node.decorator_list if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else ():
        match mark:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, values]):
                target = _target(names)
                rows = [(case, item) for case in cases for item in _elements(_value(values, case))]
                cases = (
                    [_bound(case, target, item) for case, item in rows][:_MOST]
                    if target and rows
                    else cases
                )
    return cases


def _elements(values: ast.expr) -> list[ast.expr]:
    return values.elts if isinstance(values, ast.List | ast.Tuple | ast.Set) else []


def _target(names: ast.expr) -> ast.expr | None:
    """The names given to `parametrize`, as an assignment target."""
    match names:
        case ast.Constant(value=str(text)):
            parts = [part.strip() for part in text.split(",") if part.strip()]
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            parts = [
                e.value for e in elts if isinstance(e, ast.Constant) and isinstance(e.value, str)
            ]
        case _:
            return None
    targets: list[ast.expr] = [ast.Name(part) for part in parts]
    return targets[0] if len(targets) == 1 else ast.Tuple(targets)


def _bound(
    case: Mapping[str, ast.expr], target: ast.expr, value: ast.expr
) -> Mapping[str, ast.expr]:
    """The case extended by an assignment."""
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "param"
    ):
        value = (
            value.args[0]
            if isinstance(target, ast.Name) and len(value.args) == 1
            else ast.Tuple(value.args)
        )
    value = _value(value, case)
    if isinstance(target, ast.Name):
        return {**case, target.id: value}
    if isinstance(target, ast.Tuple | ast.List) and len(target.elts) == len(_elements(value)):
        for inner, item in zip(target.elts, _elements(value), strict=True):
            case = _bound(case, inner, item)
    return case


def _value(node: ast.expr, case: Mapping[str, ast.expr]) -> ast.expr:
    """The expression with the names of the case replaced by their values, if it is made of literals
    and names.
    """
    match node:
        case ast.Name(id=name):
            return case.get(name, node)
        case ast.List(elts=elts):
            return ast.List([_value(e, case) for e in elts])
        case ast.Tuple(elts=elts):
            return ast.Tuple([_value(e, case) for e in elts])
        case ast.Dict(keys=keys, values=values) if all(keys):
            return ast.Dict(keys, [_value(v, case) for v in values])
    return node
