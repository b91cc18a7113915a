"""The rules for tool names: a name becomes a function, a module and two files."""

import builtins
import functools
import keyword
import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path

from selfeng.core.errors import ToolNameInvalid
from selfeng.core.packages import sandbox_modules, sandbox_packages
from selfeng.core.server_tool import SEPARATOR

MAX_LENGTH = 50
_FORM = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_OURS = frozenset({"selfeng", "web", "config", "tools", "tests", "benchmarks", "seed_tools"})
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
)


def check_form(name: str, reserved: Callable[[], Collection[str]] = frozenset) -> None:
    """Refuse a name that no library can accept. `reserved` gives those that models know for
    other functions.

    Only lower case is allowed, because some file systems can't distinguish names that differ in
    case.

    Raises:
        ToolNameInvalid: names the value and what to do.
    """
    if problem := _problem(name, reserved):
        raise ToolNameInvalid(
            f"a tool can't be named {name[: MAX_LENGTH + 10]!r}: {problem}", _remedy(name)
        )


def _problem(name: str, reserved: Callable[[], Collection[str]]) -> str:
    checks = (
        (not _FORM.fullmatch(name), "it is not made of a-z, 0-9 and _, beginning with a letter"),
        (len(name) > MAX_LENGTH, f"it is longer than {MAX_LENGTH} characters"),
        (
            name.startswith("test_") or name.endswith("_test") or name == "conftest",
            "pytest would take its file for tests",
        ),
        (keyword.iskeyword(name) or keyword.issoftkeyword(name), "it is a keyword of Python"),
        (hasattr(builtins, name), "it is a builtin of Python"),
        (name in sys.stdlib_module_names, "it is a module of Python's standard library"),
        (name in sandbox_packages(), "it is a package that the sandbox offers"),
        (name in sandbox_modules(), "it is a module of the sandbox"),
        (name in _OURS, "it is a module of this project"),
        (name in reserved(), "models know another function of that name"),
        (
            SEPARATOR in name,
            f"{SEPARATOR} separates the name of a server from the name of its tool",
        ),
        (name in _DEVICES, "Windows has a device of that name"),
        (name in _installed(), "it is an installed module"),
    )
    return next((problem for wrong, problem in checks if wrong), "")


def _remedy(name: str) -> str:
    if _FORM.fullmatch(name) and len(name) <= MAX_LENGTH:
        return "choose a more specific name, such as a verb with its object: `reverse_string`"
    return (
        f"choose a name in snake_case of at most {MAX_LENGTH} ASCII characters, such as "
        "`reverse_string`"
    )


@functools.cache
def _installed() -> frozenset[str]:
    """Top-level modules where packages are installed, by the names of their files and folders."""
    folders = [
        Path(folder)
        for folder in sys.path
        if Path(folder).name in {"site-packages", "dist-packages"}
    ]
    folders.append(Path(__file__).parents[2])  # in a checkout, `src`
    return frozenset(
        path.name.partition(".")[0].lower()
        for folder in folders
        if folder.is_dir()
        for path in folder.iterdir()
    )
