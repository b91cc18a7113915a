"""Calls of agents and their results, as their prompts show them: one JSON object a message, so that
no data can end where it stands.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any

from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.value import Value
from selfeng.core.visible import visible

_LONGEST = 48_000
"""Characters of a thread that a model is shown, in addition to its system prompt."""


class Recipient(Value):
    """An agent that messages can be sent to."""

    name: str
    description: str


def recipients(agents: Sequence[Recipient]) -> str:
    """One line for each; "" if there is none."""
    return "\n".join(f"- `{agent.name}`: {agent.description}" for agent in agents)


def called(call: FunctionCall) -> str:
    """A call as the model's own message."""
    return json.dumps(call.model_dump(), ensure_ascii=False)


def read_call(content: str) -> FunctionCall | None:
    """The call that a model's own message is; None if it is something else."""
    with suppress(ValueError):
        return FunctionCall.model_validate_json(content)
    return None


def is_result(content: str, function: str) -> bool:
    """Whether a message says what came of a call of the function."""
    return content.startswith(result(function, {})[:-1])


def result(function: str, outcome: Mapping[str, Any]) -> str:
    """The result of a call, as a message."""
    return visible(json.dumps({"result_of": function, **outcome}, ensure_ascii=False))


def within_limits(thread: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """The system prompt and the newest messages that a model can be shown, the first of them from
    the sender; the last always.
    """
    system, *messages = thread
    sizes = accumulate(len(message.content) for message in reversed(messages))
    newest_messages = messages[len(messages) - max(1, sum(size <= _LONGEST for size in sizes)) :]
    while newest_messages[0].role != "user" and len(newest_messages) > 1:
        newest_messages = newest_messages[1:]
    return (system, *newest_messages)
