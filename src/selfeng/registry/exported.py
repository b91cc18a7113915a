"""Exported tools: one JSON object a line, to carry tools from one library to another."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from selfeng.core.errors import RequestError
from selfeng.core.files import MB
from selfeng.core.signature import SignatureError, parse_signature
from selfeng.core.tool import Tool, ToolDraft

LARGEST = 8 * MB
"""Bytes of a file of tools."""


def with_imported(tools: Sequence[Tool], names: Iterable[str]) -> tuple[Tool, ...]:
    """The named tools with those that they import, each after the ones that it imports."""
    wanted = set(names)
    needed = {pin.name for tool in tools if tool.name in wanted for pin in tool.requires}
    found = [tool for tool in tools if tool.name in wanted | needed]
    return tuple(sorted(found, key=lambda tool: (len(tool.requires), tool.name)))


def exported(tools: Iterable[Tool]) -> str:
    """The text of a file with these tools."""
    lines = [json.dumps(t.draft().model_dump(mode="json"), ensure_ascii=False) for t in tools]
    return "".join(f"{line}\n" for line in lines)


def read_exported(path: Path) -> tuple[ToolDraft, ...]:
    """The tools of a file, as somebody's words: nothing is run, and signatures are read from the
    code.

    Raises:
        RequestError: the file can't be read, is larger than `LARGEST`, or a line is not a tool.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise RequestError(f"{path} is larger than {LARGEST // MB} MB", "export fewer tools")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(
            f"{path} can't be read: {error}", "name a file that `selfeng export` wrote"
        ) from error
    return tuple(_draft(number, line) for number, line in enumerate(lines, 1) if line.strip())


def _draft(number: int, line: str) -> ToolDraft:
    try:
        draft = ToolDraft.model_validate_json(line)
        described = {p.name: p.description for p in draft.signature.parameters}
        signature = parse_signature(draft.code, draft.name, described)
    except (ValidationError, SignatureError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise RequestError(
            f"line {number} is not an exported tool: {reason}",
            "use a file that `selfeng export` wrote",
        ) from error
    return draft.model_copy(update={"signature": signature, "requires": ()})
