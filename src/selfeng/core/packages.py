"""Packages: which ones the sandbox offers in addition to the standard library, and how to install
them.

Imports nothing but the standard library: set-up runs it before anything is installed.
"""

import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from pathlib import Path
from typing import Any

from selfeng.core.errors import ConfigurationError
from selfeng.core.network import main
from selfeng.core.places import FILES, READER_FILE

LIST = FILES / "docker" / "requirements.in"
"""The one list of the sandbox's packages."""
SANDBOX_LOCK = FILES / "docker" / "requirements.txt"
"""Their exact versions with hashes, and of all that they need."""
LOCAL = "install selfeng with its extra, as in `pip install 'selfeng[local]'`"
"""How to get the packages that run on this machine what a server could do."""
_LINE = re.compile(
    r"(?P<package>[A-Za-z][\w.-]*)==\S+(?:\s+#\s*(?:(?P<tests>tests only)|"
    r"(?:import (?P<module>\w+)(?:: |$))?(?P<use>.*)))?\s*",
    re.ASCII,
)
_PIP = (
    "--disable-pip-version-check",
    "--no-input",
    "--progress-bar",
    "off",
    "--no-warn-script-location",
)


WORKER_PACKAGE = "sandbox_worker"
"""The package that runs code and tests in the sandbox."""
READER = "readcells"
"""The module that reads cells; the sandbox has it, exported tools carry its source."""


def with_reader(modules: Mapping[str, str], *sources: str) -> dict[str, str]:
    """The modules by name, with the reader's source where they or the sources name it."""
    used = READER in " ".join((*sources, *modules.values()))
    return {**modules, READER: _reader_source()} if used else dict(modules)


@cache
def _reader_source() -> str:
    return READER_FILE.read_text(encoding="utf-8")


@cache
def sandbox_modules() -> frozenset[str]:
    """Names of all top-level modules in the sandbox, offered or not."""
    ours = {"pytest", "_pytest", WORKER_PACKAGE, READER}
    return sys.stdlib_module_names | {*sandbox_packages(), *ours}


@cache
def sandbox_packages() -> tuple[str, ...]:
    """Names of the top-level modules that a tool may import, sorted."""
    return tuple(sorted(sandbox_requirements()))


@cache
def sandbox_requirements() -> dict[str, str]:
    """The line of each of these modules in a requirements.txt."""
    return {module: line for module, (line, _) in _listed().items()}


@cache
def package_uses() -> str:
    """The modules for prompts: each with its use, where the list has it."""
    uses = ((f"`{m}`", use and f" ({use})") for m, (_, use) in sorted(_listed().items()))
    return ", ".join(map("".join, uses))


def _listed() -> dict[str, tuple[str, str]]:
    """The line and the use of each module that a tool may import."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    matches = [m for line in lines if (m := _LINE.fullmatch(line)) and not m["tests"]]
    return {m["module"] or m["package"]: (m.group().strip(), m["use"] or "") for m in matches}


def lacking(*modules: str) -> tuple[str, ...]:
    """Those of these top-level modules that are not installed."""
    return tuple(module for module in modules if importlib.util.find_spec(module) is None)


def provided(group: str, name: str, variable: str, usual: Iterable[str]) -> Any:
    """The entry point of this name that an installed package provides in the group; `variable` is
    the setting that asks for it, and `usual` are its other values. A checkout need not be
    installed.

    Raises:
        ConfigurationError: no package does; names those that do.
    """
    points = {point.name: point for point in (*_declared(group), *entry_points(group=group))}
    if name not in points:
        raise ConfigurationError(
            f"{variable}={name!r} is unknown, and no installed package provides it",
            f"choose among {', '.join((*usual, *points))}, or install the package that provides it",
        )
    return points[name].load()


def _declared(group: str) -> list[EntryPoint]:
    """The entry points of this checkout; none of an installed package, which has installed them."""
    path = FILES / "pyproject.toml"
    text = path.read_text(encoding="utf-8") if path.exists() else "project.entry-points = {}"
    declared = tomllib.loads(text)["project"]["entry-points"].get(group, {})
    return [EntryPoint(name, value, group) for name, value in declared.items()]


def install_command(*arguments: str) -> list[str]:
    """The command that installs wheels only, never source: pip if it has installed this program, so
    that its settings name the index; else uv, or pip where uv is not installed yet.

    `arguments` are options that both know, such as `--target`, `--no-deps`, `--require-hashes` and
    `-r`.
    """
    by = [sys.executable, "-m", "pip", "install", *_PIP]
    if not (_installer() == "pip" and importlib.util.find_spec("pip")):
        with suppress(ImportError, FileNotFoundError):
            from uv import find_uv_bin

            by = [
                find_uv_bin(),
                "pip",
                "install",
                "--python",
                sys.executable,
                "--no-progress",
                "--link-mode",
                "copy",
            ]
    return [*by, "--only-binary", ":all:", *arguments]


def fetch_command(requirements: Path, target: Path) -> list[str]:
    """The command that puts the packages that a file pins into a folder, without what they need."""
    options = ("--no-deps", "--require-hashes", "-r", str(requirements))
    return install_command("--target", str(target), *options)


def _installer() -> str:
    """The installer of this program's packages, by their own account; "" if there is none."""
    try:
        return (distribution("pydantic").read_text("INSTALLER") or "").strip()
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":  # `python -m selfeng.core.packages ARGUMENTS` installs
    sys.exit(main(install_command(*sys.argv[1:])))
