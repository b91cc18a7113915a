"""The prompts, one file per model call, and how they are rendered."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from src.core.packages import sandbox_packages
from src.core.prompt import ChatMessage, Prompt

FOLDER = Path(__file__).parent
_SEPARATOR = "\n---user---\n"


def render(template: str, history: tuple[ChatMessage, ...] = (), /, **variables: Any) -> Prompt:
    """The prompt of `<template>.md`: its system part, the conversation so far, its user part.

    Every template can name the sandbox's `packages`.

    Raises:
        jinja2.UndefinedError: the template uses a variable that was not given.
    """
    system, user = (part.render(**variables).strip() for part in _parts(template))
    messages = (ChatMessage(role="system", content=system), *history, ChatMessage(role="user", content=user))
    return Prompt(name=template, messages=messages)


@cache
def _parts(template: str) -> tuple[Template, Template]:
    """The system and the user part; split before rendering, as a request may hold the separator too."""
    # Prompts are plain text for a model; escaping would change what the model reads.
    environment = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)  # noqa: S701
    environment.globals["packages"] = ", ".join(f"`{name}`" for name in sandbox_packages())
    system, user = (FOLDER / f"{template}.md").read_text(encoding="utf-8").split(_SEPARATOR)
    return environment.from_string(system), environment.from_string(user)
