"""The prompts, one file per model call, and how they are rendered."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from src.core.prompt import ChatMessage, Prompt

FOLDER = Path(__file__).parent
_SEPARATOR = "\n---user---\n"


def render(template: str, history: tuple[ChatMessage, ...] = (), /, **variables: Any) -> Prompt:
    """The prompt of `<template>.md`: its system part, the conversation so far, its user part.

    Raises:
        jinja2.UndefinedError: the template uses a variable that was not given.
    """
    system, user = _environment().get_template(f"{template}.md").render(**variables).split(_SEPARATOR)
    messages = (ChatMessage(role="system", content=system.strip()), *history, ChatMessage(role="user", content=user.strip()))
    return Prompt(name=template, messages=messages)


@cache
def _environment() -> Environment:
    # Prompts are plain text for a model; escaping would change what the model reads.
    loader = FileSystemLoader(FOLDER)
    return Environment(loader=loader, undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True)  # noqa: S701
