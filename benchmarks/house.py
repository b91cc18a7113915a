"""The size of the house: `python -m benchmarks.house` counts it and says which goal is missed; the
last line is JSON.
"""

import ast
import json
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.turn_calls import measure_turns

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "selfeng"
GOALS = {
    "loose_modules": 10,
    "homonyms": 0,
    "src_statements": 36_000,
    "src_files": 380,
    "reuse_calls": 225,
    "reuse_files": 27,
    "synthesis_calls": 708,
}
"""The maximum of each count. A commit that raises one does nothing else, and its message names the
feature that needs it and what was deleted for that.
"""
HOMONYMS: dict[str, str] = {
    "app": "a Typer application and a Flask one, each in its own package",
}
"""Names that two modules or public classes share on purpose, and why."""


def count_source() -> dict[str, float]:
    """Counts of modules, statements, functions and words. Files of `web` count where names are
    compared.
    """
    files = sorted((ROOT / "src").rglob("*.py"))
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    functions = [
        n
        for t in trees.values()
        for n in ast.walk(t)
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    handlers = [n for t in trees.values() for n in ast.walk(t) if isinstance(n, ast.ExceptHandler)]
    lines = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    documents = [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ]
    return {
        "loose_modules": len(list(PACKAGE.glob("*.py"))),
        "rooms": len({path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE}),
        "homonyms": len(homonyms()),
        "src_statements": sum(isinstance(n, ast.stmt) for t in trees.values() for n in ast.walk(t)),
        "src_files": len(files),
        "function_median": statistics.median(
            (n.end_lineno or n.lineno) - n.lineno + 1 for n in functions
        ),
        "file_p90": lines[len(lines) * 9 // 10],
        "broad_except": sum(_is_broad(n) for n in handlers),
        "docs_words": sum(
            len(re.findall(r"\S+", d.read_text(encoding="utf-8"))) for d in documents
        ),
    }


def homonyms() -> dict[str, list[str]]:
    """Names that several modules, or several public classes, have, with where; those in `HOMONYMS`
    are left out.
    """
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path in _own_modules():
        place = path.relative_to(ROOT).as_posix()
        if not path.stem.startswith("__"):
            found["module", path.stem].add(place)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found["class", node.name].add(f"{place}:{node.lineno}")
    return {
        f"{kind} {name}": sorted(places)
        for (kind, name), places in sorted(found.items())
        if len(places) > 1 and name not in HOMONYMS
    }


def _own_modules() -> Iterator[Path]:
    """Modules of the product; tools that it ships are no modules of its own."""
    for folder in (PACKAGE, ROOT / "web"):
        for path in sorted(folder.rglob("*.py")):
            if not {"seeds", "code"} & set(path.relative_to(folder).parts[:-1]):
                yield path


def _is_broad(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        c is None or (isinstance(c, ast.Name) and c.id in {"Exception", "BaseException"})
        for c in caught
    )


def main() -> None:
    figures = {**count_source(), **measure_turns()}
    for name, places in homonyms().items():
        sys.stdout.write(f"{name}: {', '.join(places)}\n")
    missed = [
        f"{name} is {figures[name]}, at most {most} is the goal"
        for name, most in GOALS.items()
        if figures[name] > most
    ]
    sys.stdout.write("".join(f"{line}\n" for line in missed) + json.dumps(figures) + "\n")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
