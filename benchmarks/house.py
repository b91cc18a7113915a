"""The size of the house: `python -m benchmarks.house` counts it, shows the five worst of each count
and says which goal is missed; the last line is JSON.
"""

import ast
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from benchmarks.goals import report
from benchmarks.turn_calls import measure_turns

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "selfeng"
GOALS = {
    "selfeng_statements": 36_900,
    "worker_statements": 4_215,
    "src_files": 370,
    "top_packages": 20,
    "loose_modules": 10,
    "reuse_calls": 200,
    "reuse_files": 25,
    "turn_hops": 11,
    "synthesis_calls": 655,
    "branchy_functions": 26,
    "participle_names": 100,
    "foreign_private": 0,
    "docs_words": 18_000,
    "js_long_lines": 0,
    "homonyms": 0,
}
"""The maximum of each count. A commit that raises one does nothing else, and its message names the
feature that needs it and what was deleted for that.
"""
HOMONYMS: dict[str, str] = {
    "testing": "the contract for other packages, and the writing of suites in `synthesis`",
    "app": "a Typer application and a Flask one, each in its own package",
}
"""Names that two modules or public classes share on purpose, and why."""
FOREIGN = {
    "src/selfeng/sandboxes/docker.py": ("docker", "7.2"),
    "src/sandbox_worker/test_process.py": ("pytest", "9.2"),
    "src/selfeng/models/received.py": ("openai", "3.54"),
    "src/selfeng/python/sync_agent.py": ("Python", "3."),
}
"""Modules that use private parts of a library, each with the version that a test names."""
DOCUMENTED = {"_exit", "_getframe", "_asdict", "_field_defaults", "_replace", "_typeshed"}
"""Names that begin with an underscore and are public."""
PARTICIPLES = frozenset(
    "found told known given said asked shown left kept gone made held taken seen done written "  # noqa: SIM905
    "begun ended named chosen wanted one own other others mine whole rest".split()
)
"""Participles and pronouns that name no value when they stand alone."""
COMPLEX = 10
"""Branches of a function above which it counts."""
COLUMNS = 120
WORST = 5
_NOT_DOCUMENTS = (
    "src/selfeng_offline/",
    "src/selfeng/prompts/",
    "src/selfeng/seeds/",
    "CHANGELOG",
)


def counts() -> dict[str, Counter[str]]:
    """Each count by file, module or name; its sum is the figure."""
    trees = {place: tree for place, tree in _trees().items() if place.startswith("src/")}
    statements = Counter({place: _statements(tree) for place, tree in trees.items()})
    own = {p: n for p, n in statements.items() if p.startswith("src/selfeng/")}
    worker = {p: n for p, n in statements.items() if p.startswith("src/sandbox_worker/")}
    agents = {p: n for p, n in statements.items() if p.startswith("src/selfeng_agents/")}
    offline = {p: n for p, n in statements.items() if p.startswith("src/selfeng_offline/")}
    return {
        "selfeng_statements": Counter(own),
        "worker_statements": Counter(worker),
        "agents_statements": Counter(agents),
        "offline_statements": Counter(offline),
        "all_statements": statements,
        "src_files": Counter(Path(place).parent.as_posix() for place in trees),
        "top_packages": Counter({p.name: 1 for p in PACKAGE.iterdir() if any(p.glob("*.py"))}),
        "loose_modules": Counter({path.name: 1 for path in PACKAGE.glob("*.py")}),
        "branchy_functions": _branchy(),
        "participle_names": _participles(),
        "foreign_private": _foreign_private(),
        "docs_words": Counter({p: len(_text(p).split()) for p in _tracked("*.md") if _document(p)}),
        "js_long_lines": Counter(
            {p: n for p in _tracked("*.js") if (n := sum(map(_is_long, _text(p).splitlines())))}
        ),
        "homonyms": Counter(dict.fromkeys(homonyms(), 1)),
    }


def homonyms() -> dict[str, list[str]]:
    """Names that several modules, or several public classes, have, with where; those in `HOMONYMS`
    are left out.
    """
    places: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for place, tree in _trees().items():
        if (stem := Path(place).stem) and not stem.startswith("__"):
            places["module", stem].add(place)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places["class", node.name].add(f"{place}:{node.lineno}")
    return {
        f"{kind} {name}": sorted(several)
        for (kind, name), several in sorted(places.items())
        if len(several) > 1 and name not in HOMONYMS
    }


@cache
def _trees() -> dict[str, ast.Module]:
    """The product's modules; those at the top of src are only other names of them, and tools that
    it ships are not its modules.
    """
    paths = [*sorted((ROOT / "src").glob("*/**/*.py")), *sorted((ROOT / "web").rglob("*.py"))]
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in paths
        if not {"seeds", "code", "node_modules"} & {*path.relative_to(ROOT).parts[1:-1]}
    }


def _statements(tree: ast.Module) -> int:
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def _branchy() -> Counter[str]:
    """Functions with more than `COMPLEX` branches, by file."""
    options = ["--isolated", "--select", "C901", "--output-format", "json", "--exit-zero"]
    limit = ["--config", f"lint.mccabe.max-complexity={COMPLEX}"]
    ruff = [sys.executable, "-m", "ruff", "check", *options, *limit, "src", "web"]
    found = subprocess.run(ruff, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - fixed arguments
    reports = json.loads(found.stdout)
    return Counter(Path(report["filename"]).relative_to(ROOT).as_posix() for report in reports)


def _participles() -> Counter[str]:
    return Counter(
        name
        for tree in _trees().values()
        for name in _bound(tree)
        if name.strip("_") in PARTICIPLES
    )


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that a module gives to values, functions and classes."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name


def _foreign_private() -> Counter[str]:
    """Uses of private parts of libraries, outside the modules that are named for it."""
    own = {name for tree in _trees().values() for name in (*_bound(tree), *_texts(tree))}
    return Counter(
        f"{place}:{node.lineno} {name}"
        for place, tree in _trees().items()
        if place not in FOREIGN
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Import | ast.ImportFrom)
        for name in _used(node)
        if re.match(r"_[^_]", name) and name not in DOCUMENTED
        if not (isinstance(node, ast.Attribute) and name in own)
    )


def _texts(tree: ast.Module) -> Iterator[str]:
    """Literals, which may name what `setattr` binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _used(node: ast.Attribute | ast.Import | ast.ImportFrom) -> list[str]:
    """The names of an attribute, or of the modules that are imported and what is from them."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    names = [part for alias in node.names for part in alias.name.split(".")]
    if isinstance(node, ast.Import):
        return names
    module = node.module or ""
    return (
        [] if module.startswith(("selfeng", "web")) or node.level else [*module.split("."), *names]
    )


@cache
def _tracked(pattern: str) -> list[str]:
    """Files in git."""
    listing = subprocess.run(  # noqa: S603 - fixed arguments
        ["git", "ls-files", pattern],  # noqa: S607 - git of this machine
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [name for name in listing.stdout.splitlines() if (ROOT / name).exists()]


def _document(name: str) -> bool:
    return not name.startswith(_NOT_DOCUMENTS)


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _is_long(line: str) -> bool:
    return len(line) > COLUMNS


def main() -> int:
    """Print the counts; returns the exit code."""
    details = counts()
    for name, parts in details.items():
        worst = ", ".join(f"{part} {n}" for part, n in parts.most_common(WORST))
        sys.stdout.write(f"{name} {parts.total()}: {worst}\n")
    for name, places in homonyms().items():
        sys.stdout.write(f"{name}: {', '.join(places)}\n")
    figures = {name: parts.total() for name, parts in details.items()} | measure_turns()
    return report(figures, GOALS)


if __name__ == "__main__":
    sys.exit(main())
