"""Recipe files: a tool with all that is known of it, as one Markdown file.

A `# name`, a block of TOML, then a block for each source file below a heading with the file's name. Markdown, so that pages and
editors show each part in its own colors, and neither part has to be quoted inside another.
"""  # noqa: E501

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HEAD = re.compile(r"\A# (?P<name>\w+)\n\n```toml\n(?P<toml>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^## (?P<name>\S+)\n\n```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class RecipeFile:
    """The parts of one recipe file."""

    name: str
    head: Mapping[str, Any]
    files: Mapping[str, str]
    """Contents by file name, in the order in which they stand there."""

    @property
    def code(self) -> str:
        return self.files[f"{self.name}.py"]

    @property
    def tests(self) -> str:
        return self.files[f"test_{self.name}.py"]


def read_recipes(folder: Path) -> tuple[RecipeFile, ...]:
    """All recipe files of a folder, by name.

    Raises:
        ValueError: a file does not have this form.
    """
    return tuple(_read(path) for path in sorted(folder.glob("*.md")) if path.stem.islower())


def _read(path: Path) -> RecipeFile:
    text = path.read_text(encoding="utf-8")
    if (head := _HEAD.match(text)) is None or head["name"] != path.stem:
        raise ValueError(f"{path} must begin with `# {path.stem}` and a block of TOML")
    files = {found["name"]: found["text"] for found in _FILE.finditer(text, head.end())}
    return RecipeFile(path.stem, tomllib.loads(head["toml"]), files)
