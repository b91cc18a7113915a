"""What a call says of its tool: whether a failure is its own, and whether two successes are
different ones.
"""

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
"""Exceptions by which a tool says that it was given the wrong thing, as it should; Python's own and
what derives from them.
"""


def own_failure(execution: Raised | Killed) -> str | None:
    """The tool's own failure in a few words; None if it may be the caller's."""
    if isinstance(execution, Killed):
        return f"“{execution.reason.rstrip('.')}”"
    return None if execution.type_name in BAD_INPUT else execution.type_name


def call_digest(arguments: Mapping[str, Any], files: Iterable[File]) -> str:
    """sha256 by which calls with other arguments, or other files, are told apart."""
    given = [arguments, sorted((file.name, file.reference().sha256) for file in files)]
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
