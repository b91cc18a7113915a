"""The names that tests can have of a tool's module: those that its source binds, read with `ast` on the host and never run."""

import ast
from collections.abc import Iterator

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def exported_names(source: str) -> tuple[list[str], list[str]]:
    """The names that the module binds, and those of them that `import *` gives; none if it is not valid Python.

    A name that only shows when the module runs, as one from `globals()`, `__getattr__` or an `import *` of its own, is not among them.
    """
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], []
    names = {name for node in _top(module) for name in _bound(node)} | {n for node in ast.walk(module) for n in _global(node)}
    listed = [literal for node in module.body if (literal := _listed(node)) is not None]
    public = listed[-1] if listed else [name for name in names if not name.startswith("_")]
    return sorted(names), sorted(names.intersection(public))


def _top(module: ast.Module) -> Iterator[ast.AST]:
    """The nodes that belong to the module itself, and not to a function, class or comprehension in it."""
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
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def _global(node: ast.AST) -> list[str]:
    return node.names if isinstance(node, ast.Global) else []


def _listed(node: ast.stmt) -> list[str] | None:
    """What `__all__` is set to, where that is written out."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items)):
            return [item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    return None
