"""Checks of a Python file that need no run: its syntax, and whether what it imports will be there. Source is parsed, never imported."""

import ast
import sys
import warnings
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from selfeng.core.packages import sandbox_packages

_TESTING = frozenset({"pytest", "_pytest"})
_ABSENT = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})


def local_modules(paths: Collection[str]) -> frozenset[str]:
    """Names under which the files of a project may import each other, wherever they lie."""
    modules = {PurePosixPath(path).stem for path in paths if path.endswith(".py")}
    return frozenset(modules | {folder for path in paths for folder in PurePosixPath(path).parts[:-1]})


def problem(source: str, local: Collection[str], extra: Collection[str] = (), allowed: Collection[str] = ()) -> str | None:
    """What is wrong with the source, None if nothing is.

    `local` are the project's own modules, `extra` the packages that were added for it, `allowed` those that may be asked for.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(source)
    except SyntaxError as error:
        shown = f": {error.text.strip()}" if error.text else ""
        where = f" in line {error.lineno}" if error.lineno else ""
        return f"{type(error).__name__}{where}: {error.msg}{shown}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"it is no Python source: {error}"
    known = frozenset(sys.stdlib_module_names) | frozenset(sandbox_packages()) | _TESTING | frozenset(local) | frozenset(extra)
    for line, module in sorted(set(_imports(tree.body))):
        if module not in known:
            ask = "; add_package asks for it" if module in allowed else ""
            return (
                f"line {line} imports {module}, which is no module of this project, of the standard library or of the sandbox "
                f"({', '.join(sandbox_packages())}){ask}"
            )
    return None


def _imports(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Line and top-level name of each import, but for those that the source itself can do without."""
    for node in body:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name.partition(".")[0]) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module.partition(".")[0]
            case ast.Try(handlers=handlers) if any(_excuses(handler) for handler in handlers):
                continue
            case _:
                for block in ("body", "orelse", "finalbody"):
                    yield from _imports([part for part in getattr(node, block, ()) if isinstance(part, ast.stmt)])
                for handler in getattr(node, "handlers", ()):
                    yield from _imports(handler.body)


def _excuses(handler: ast.ExceptHandler) -> bool:
    names = [] if handler.type is None else [n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)]
    return handler.type is None or any(name in _ABSENT for name in names)
