"""Every package that the product imports is declared by name, with bounds on both sides."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSIDE = {"src/sandbox_worker"}
"""Runs where the sandbox's own packages are installed."""
OURS = {
    "_typeshed",
    "src",
    "autocoder",
    "config",
    "miniagents",
    "seed_tools",
    "selfeng",
    "selfeng_agents",
    "selfeng_offline",
    "readcells",
    "sandbox_worker",
    "web",
}
UNBOUNDED = {"cryptography", "pytest", "rich"}
"""Packages whose next version has not broken their callers for years."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
REQUIREMENTS = [*PROJECT["dependencies"], *EXTRAS]


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def _imports(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules = {
        n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module and not n.level
    }
    return {name.partition(".")[0] for name in names | modules}


def test_what_is_imported_is_declared() -> None:
    paths = [*ROOT.glob("src/**/*.py"), *ROOT.glob("web/**/*.py")]
    imported = {
        module: path.relative_to(ROOT).as_posix()
        for path in paths
        if not any(path.is_relative_to(ROOT / folder) for folder in INSIDE)
        for module in _imports(path) - OURS - sys.stdlib_module_names
    }
    distributions = packages_distributions()
    declared = set(map(_name, REQUIREMENTS))
    undeclared = {
        module: path
        for module, path in imported.items()
        if not declared & {_name(d) for d in distributions.get(module, [module])}
    }
    assert undeclared == {}


def test_dependencies_of_the_wheel_are_ranges() -> None:
    pinned = [line for line in REQUIREMENTS if "==" in line.partition(";")[0]]
    open_ended = [
        _name(line)
        for line in REQUIREMENTS
        if ">=" not in line or "<" not in line.partition(";")[0]
    ]
    assert (pinned, set(open_ended)) == ([], UNBOUNDED)
