"""What a call shows about its tool: whether a failure is its own, whether two successes differ."""

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from selfeng.core.files import File
from selfeng.core.signature import Parameter, Signature
from selfeng.core.verdict import Execution, Killed, Raised, Returned

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

_OUTPUT = re.compile(r"output|file|path|target|save")
_FILE_NAME = re.compile(r"""(['"])[^'"/\\]+\.[A-Za-z]\w{1,4}\1""")
"""A file's name with an ending, in Python source."""


def own_failure(execution: Raised | Killed) -> str | None:
    """The tool's own failure in a few words; None if it may be the caller's fault."""
    if isinstance(execution, Killed):
        return f"“{execution.reason.rstrip('.')}”"
    return None if execution.type_name in BAD_INPUT else execution.type_name


def promised(
    execution: Execution,
    signature: Signature,
    arguments: Mapping[str, Any],
    input_files: Iterable[File],
) -> Execution:
    """The outcome of a call; a failure where the tool tells of a new file and made none.

    A new file's name is a parameter with a file name as its default, as specifications have it.
    """
    if not isinstance(execution, Returned) or execution.files or execution.refused_files:
        return execution
    names = [
        str(arguments.get(p.name) or default)
        for p in signature.parameters
        if (default := _default_file(p))
    ]
    input_names = {file.name for file in input_files}
    for name in names:
        if name not in input_names and name in execution.text:
            problem = f"the call returned {execution.text[:200]!r}, but made no file {name!r}"
            return Raised(type_name="FileNotMade", message=problem, stdout=execution.stdout)
    return execution


def _default_file(parameter: Parameter) -> str:
    """The file that is written unless another is named, such as `plot.png`; "" if there is none."""
    default = parameter.default or ""
    if not _OUTPUT.search(parameter.name) or not _FILE_NAME.fullmatch(default):
        return ""
    return str(ast.literal_eval(default))


def call_digest(arguments: Mapping[str, Any], files: Iterable[File]) -> str:
    """A sha256 that differs between calls with different arguments or files."""
    content = [arguments, sorted((file.name, file.reference().sha256) for file in files)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
