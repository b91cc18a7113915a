"""The seed tools: functions written by hand, with their tests, that a new library starts with."""

import tomllib
from pathlib import Path

from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft

FOLDER = Path(__file__).parent
"""Holds `<name>.py` and `test_<name>.py` of each seed, and `seeds.toml` with what people and the search need to know."""


def load_seeds() -> tuple[ToolDraft, ...]:
    """All seed tools, in the order of `seeds.toml`.

    Raises:
        SignatureError: the code of a seed does not define the function it is named after.
    """
    entries = tomllib.loads((FOLDER / "seeds.toml").read_text(encoding="utf-8"))
    return tuple(_draft(name, entry["description"], tuple(entry["requests"]), entry["parameters"]) for name, entry in entries.items())


def _draft(name: str, description: str, requests: tuple[str, ...], parameters: dict[str, str]) -> ToolDraft:
    code = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    return ToolDraft(
        name=name,
        description=description,
        signature=parse_signature(code, name, parameters),
        code=code,
        tests=(FOLDER / f"test_{name}.py").read_text(encoding="utf-8"),
        example_requests=requests,
    )
