"""Edits of a suite that leave the rest unchanged: removing tests, splitting tests, and testing
another tool.
"""

import ast
import copy
from collections.abc import Collection, Iterator, Mapping

from selfeng.synthesis.suite.source import FUNCTIONS, Function, Suite, within

_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)


def without(source: str, tool: str, names: Collection[str]) -> str:
    """The suite without these tests, named as pytest reports them; single cases of a parametrized
    test are removed if its source allows it.
    """
    suite, cut, changed = Suite(source, tool), set[ast.AST](), dict[ast.AST, Function]()
    for test in suite.tests:
        cases = {
            n.removeprefix(test.name)
            for n in names
            if n == test.name or n.startswith(f"{test.name}[")
        }
        if not cases:
            continue
        shorter = (
            None
            if "" in cases
            else _without_cases(
                suite, test.node, [n for n in names if n.startswith(f"{test.name}[")]
            )
        )
        if shorter is None:
            cut.add(test.node)
        else:
            changed[test.node] = shorter
    for owner in suite.classes.values():
        if cut.issuperset(owner.body):
            cut = {*cut.difference(owner.body), owner}
    return _edited(
        source, {**dict.fromkeys(cut, ()), **{node: (new,) for node, new in changed.items()}}
    )


def apart(source: str, tool: str, names: Collection[str]) -> str:
    """The suite with each of these tests split: one for each of its assertions that calls the tool,
    if there is more than one.

    An assertion that does not call the tool checks the effect of an earlier one, so a test with one
    is not split.
    """
    suite, changed = Suite(source, tool), dict[ast.AST, tuple[Function, ...]]()
    test_names = {test.name for test in suite.tests}
    for test in suite.tests:
        if test.name in names and test.owner is None and not suite.parametrizations(test):
            parts = _parts(test.node, tool)
            fresh = [f"{test.name}_{number}" for number in range(1, len(parts) + 1)]
            if len(parts) > 1 and not test_names & set(fresh):
                changed[test.node] = tuple(
                    _renamed(part, name) for part, name in zip(parts, fresh, strict=True)
                )
    return _edited(source, changed)


def names_of(source: str, tool: str) -> frozenset[str]:
    """Names of the suite's tests."""
    return frozenset(test.name for test in Suite(source, tool).tests)


def retargeted(source: str, tool: str, target: str, parameters: Mapping[str, str]) -> str:
    """The suite for another tool, whose parameters have other names.

    Raises: SyntaxError, ValueError: it is not valid Python.
    """
    suite = Suite(source, tool)
    used = {getattr(node, "id", getattr(node, "arg", "")) for node in suite.nodes}
    for node in suite.nodes:
        if isinstance(node, ast.Call) and suite.dotted(node.func) == f"{tool}.{tool}":
            for keyword in node.keywords:
                keyword.arg = parameters.get(keyword.arg or "", keyword.arg)
    for node in suite.nodes:
        match node:
            case ast.ImportFrom(module=name) if name == tool:
                node.module = target
            case ast.Name(id=name) if name == tool and target not in used:
                node.id = target
            case ast.Attribute(attr=name) if name == tool:
                node.attr = target
            case ast.alias(name=name) if name == tool:
                alias = node.asname or (tool if target in used else None)
                node.name, node.asname = target, alias
    return f"{ast.unparse(suite.module)}\n"


def _edited(source: str, changes: dict[ast.AST, tuple[Function, ...]]) -> str:
    """The source with some functions and classes replaced, line by line, so that everything else
    keeps its form.
    """
    lines = source.splitlines()
    for node in sorted(changes, key=_first_line, reverse=True):
        assert isinstance(node, _DEFINITIONS)
        indent = " " * node.col_offset
        new = [
            indent + line if line else ""
            for part in changes[node]
            for line in [*ast.unparse(part).splitlines(), "", ""]
        ]
        first, last = _first_line(node) - 1, node.end_lineno or node.lineno
        while not changes[node] and last < len(lines) and not lines[last].strip():
            last += 1
        lines[first:last] = new[:-2] if new else []
    return "\n".join(lines).rstrip("\n") + "\n"


def _first_line(node: ast.AST) -> int:
    assert isinstance(node, _DEFINITIONS)
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _parts(node: Function, tool: str) -> list[Function]:
    asserting = [s for s in node.body if isinstance(s, ast.Assert | ast.With)]
    if any(not _calls(s, tool) for s in asserting) or any(
        isinstance(n, ast.Return | ast.Yield) for n in within(*node.body)
    ):
        return []
    parts = []
    for assertion in asserting:
        part = copy.copy(node)
        part.body = [
            s
            for s in node.body[: node.body.index(assertion) + 1]
            if s is assertion or s not in asserting
        ]
        parts.append(part)
    return parts


def _calls(node: ast.AST, tool: str) -> bool:
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == tool
        for n in ast.walk(node)
    )


def _renamed(node: Function, name: str) -> Function:
    new = copy.copy(node)
    new.name = name
    return new


def _without_cases(suite: Suite, node: Function, names: Collection[str]) -> Function | None:
    """The function without the cases that pytest gives these names; None unless it has one list of
    cases with names known from the source.
    """
    marks = [d for d in node.decorator_list if suite.decorator(d) == "pytest.mark.parametrize"]
    if (
        len(marks) != 1
        or not isinstance(marks[0], ast.Call)
        or len(marks[0].args) < 2
        or marks[0].keywords
    ):
        return None
    if not isinstance((values := marks[0].args[1]), ast.List | ast.Tuple):
        return None
    ids = list(_ids(marks[0].args[0], values))
    removed_ids = {name.partition("[")[2].removesuffix("]") for name in names}
    if len(set(ids)) < len(ids) or not removed_ids <= set(ids) or removed_ids == set(ids):
        return None
    new = copy.deepcopy(node)
    mark = next(d for d in new.decorator_list if ast.dump(d) == ast.dump(marks[0]))
    assert isinstance(mark, ast.Call)
    listed = mark.args[1]
    assert isinstance(listed, ast.List | ast.Tuple)
    listed.elts = [e for e, name in zip(listed.elts, ids, strict=True) if name not in removed_ids]
    return new


def _ids(names: ast.expr, values: ast.List | ast.Tuple) -> Iterator[str]:
    """The names that pytest gives to cases of plain values; other values get a name that matches no
    case.
    """
    parameters = (
        [n.strip() for n in names.value.split(",")]
        if isinstance(names, ast.Constant) and isinstance(names.value, str)
        else []
    )
    for number, case in enumerate(values.elts):
        parts = (
            case.elts if isinstance(case, ast.Tuple | ast.List) and len(parameters) > 1 else [case]
        )
        yield "-".join(
            _id(part, parameter, number) for part, parameter in zip(parts, parameters, strict=False)
        )


def _id(value: ast.expr, parameter: str, number: int) -> str:
    try:
        plain = ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        return f"{parameter}{number}"
    if isinstance(plain, str):
        return plain.encode("unicode_escape").decode("ascii")
    return (
        str(plain)
        if plain is None or isinstance(plain, bool | int | float)
        else f"{parameter}{number}"
    )
