"""The prompts, one file per model call, and how they are rendered; `blocks/` holds what several
include.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from selfeng.core.packages import package_uses
from selfeng.core.prompt import ChatMessage, Prompt
from selfeng.core.visible import visible

FOLDER = Path(__file__).parent
_SEPARATOR = "\n---user---\n"
_INCLUDE = re.compile(r'{% include "(.+)" %}')
_TAG = re.compile(r"^<(/?)([a-z]+)>$", re.MULTILINE)


def render(template: str, history: tuple[ChatMessage, ...] = (), /, **variables: Any) -> Prompt:
    """The prompt of `<template>.md`: its system part, the conversation so far, its user part.

    Every template can name the sandbox's `packages`, with what they are for, and their `modules`.

    Raises:
        jinja2.UndefinedError: the template uses a variable that was not given.
    """
    visible_variables = {
        name: visible(value) if value and isinstance(value, str) else value
        for name, value in variables.items()
    }
    parts, tags = _parts(template)
    mark = _mark(tags, [value for value in visible_variables.values() if isinstance(value, str)])
    system, user = (part.render(**visible_variables, mark=mark).strip() for part in parts)
    past = (ChatMessage(role=m.role, content=visible(m.content)) for m in history)
    messages = (
        ChatMessage(role="system", content=system),
        *past,
        ChatMessage(role="user", content=user),
    )
    return Prompt(name=template, messages=messages)


def _mark(tags: frozenset[str], values: list[str]) -> str:
    """The suffix of the tags around each value, so that none of them can pretend to end there; ""
    where none tries.

    A value that held the mark would have to hold a digest of itself.
    """
    if not any(
        f"<{slash}{tag}" in value.lower() for value in values for tag in tags for slash in ("", "/")
    ):
        return ""
    return "-" + hashlib.sha256("\0".join(values).encode("utf-8", "replace")).hexdigest()[:12]


@cache
def _parts(template: str) -> tuple[tuple[Template, Template], frozenset[str]]:
    """The system and the user part, split before rendering, as a request may hold the separator
    too; and the tags around values.
    """
    # Prompts are plain text for a model; escaping would change what the model reads.
    environment = Environment(
        loader=FunctionLoader(_marked),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["packages"] = package_uses()
    environment.globals["modules"] = re.sub(r"`| \(.*?\)", "", package_uses())
    name = f"{template}.md"
    system, user = _marked(name).split(_SEPARATOR)
    sources = [_source(name), *map(_source, _INCLUDE.findall(_source(name)))]
    tags = frozenset(tag for source in sources for _, tag in _TAG.findall(source))
    return (environment.from_string(system), environment.from_string(user)), tags


def _source(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _marked(name: str) -> str:
    """The source of a template with the mark in its tags."""
    return _TAG.sub(r"<\1\2{{ mark }}>", _source(name))


def json_lines(items: Iterable[Mapping[str, Any]]) -> str:
    """One line of JSON for each item, as data that can't end its section; "" without items."""
    texts = (json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in items)
    return "\n".join(text.replace("<", "\\u003c") for text in texts)
