"""Every public name of the package `miniagents`, in the version of early programs and in 0.0.33, is
importable here and takes the parameters that it has there.
"""

import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from selfeng_agents import MiniAgent

NAMES: dict[str, dict[str, dict[str, Any]]] = json.loads(
    Path(__file__).with_name("peer_names.json").read_text(encoding="utf-8")
)
"""By version, module and name: the parameters of a function or an agent, the methods of a class
with their parameters, or null for other values.
"""
LEFT_OUT = {
    "ext.integrations.llama_index": "needs the package llama-index-core",
    "Token": "a token is text",
    "TextToken": "a token is text",
    "Message": ("token_class", "non_metadata_fields", "tokens_to_message", "message_to_tokens"),
    "TextMessage": ("token_class", "non_metadata_fields", "tokens_to_message"),
    "Frozen": ("keys", "values"),
}
"""The names that are missing here, as docs/runtime.md says."""
POSITIONAL = {"func", "func_or_class", "function", "key", "message", "piece", "exc_value"}
POSITIONAL |= {"message_or_messages", "log_level_for_errors"}
"""Parameters that have another name here; programs pass them by position."""

MODULES = [
    (version, module)
    for version, modules in NAMES.items()
    for module in modules
    if module not in LEFT_OUT
]


def lacking(wanted: list[str], function: Any) -> set[str]:
    """The parameters that a function would not take."""
    if isinstance(function, MiniAgent):
        function = function.wrapped_func_or_class
    there = inspect.signature(function).parameters
    if any(found.kind is found.VAR_KEYWORD for found in there.values()):
        return set()
    return {name for name in wanted if not name.startswith("*")} - set(there) - POSITIONAL


def missing(name: str, value: Any, wanted: Any) -> list[str]:
    """The parts that a name lacks."""
    match wanted:
        case list():
            return [f"{name}({parameter})" for parameter in lacking(wanted, value)]
        case dict() if isinstance(value, type):
            out = LEFT_OUT.get(name, ())
            return [
                f"{name}.{method}: {parameters}"
                for method, parameters in wanted.items()
                if method not in out and isinstance(out, tuple)
                if not hasattr(value, method) or lacking(parameters, getattr(value, method))
            ]
        case _:
            return []


@pytest.mark.parametrize(("version", "module"), MODULES)
def test_every_public_name_is_here_with_its_parameters(version: str, module: str) -> None:
    there = importlib.import_module(f"miniagents.{module}".rstrip("."))
    wanted = NAMES[version][module]
    assert [name for name in wanted if not hasattr(there, name)] == []
    assert [
        told for name in wanted for told in missing(name, getattr(there, name), wanted[name])
    ] == []
