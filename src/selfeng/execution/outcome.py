"""What a call shows about its tool: whether a failure is its own, whether two successes differ."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from selfeng.core.files import File
from selfeng.core.verdict import Killed, Raised

BAD_INPUT = frozenset(
    {
        "ValueError",
        "TypeError",
        "FileNotFoundError",
        "JSONDecodeError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
    }
)
"""Exceptions with which a tool rightly rejects its input: Python's own and their subclasses."""


def own_failure(execution: Raised | Killed) -> str | None:
    """The tool's own failure in a few words; None if it may be the caller's fault."""
    if isinstance(execution, Killed):
        return f"“{execution.reason.rstrip('.')}”"
    return None if execution.type_name in BAD_INPUT else execution.type_name


def call_digest(arguments: Mapping[str, Any], files: Iterable[File]) -> str:
    """A sha256 that differs between calls with different arguments or files."""
    given = [arguments, sorted((file.name, file.reference().sha256) for file in files)]
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
