"""Paths within a workspace: relative, of plain names, so that none can lead elsewhere."""

from typing import Annotated

from pydantic import AfterValidator

from selfeng.core.files import name_problem, shown_name
from selfeng.core.value import Value

CACHES = frozenset({"__pycache__", "node_modules", "venv"})
"""Folders that are no part of a workspace, as hidden ones aren't."""
DEEPEST = 8
LONGEST = 400
"""Characters."""


class WorkspaceLimits(Value):
    """How much a workspace may hold."""

    files: int = 200
    size: int = 5 * 1024 * 1024
    """Bytes of all files together."""


def path_problem(path: str) -> str | None:
    """Why a file of a workspace can't have this path."""
    parts = path.split("/")
    if path.startswith("/"):
        return "it is absolute"
    if len(parts) > DEEPEST or len(path) > LONGEST:
        return f"it is longer than {LONGEST} characters, or deeper than {DEEPEST} folders"
    if any(part == ".." for part in parts):
        return "it leads out of the workspace"
    if folder := next((part for part in parts[:-1] if part in CACHES), None):
        return f"{folder} is a folder for what can be made anew"
    return next((problem for part in parts if (problem := name_problem(part))), None)


def checked(path: str) -> str:
    """The path. Raises: ValueError: it can't be one."""
    if problem := path_problem(path):
        raise ValueError(f"{shown_name(path)!r} can't be a path in the workspace: {problem}; name it as in `tests/test_main.py`")
    return path


WorkspacePath = Annotated[str, AfterValidator(checked)]
