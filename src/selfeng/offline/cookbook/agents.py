"""Agents of the offline model: a proxy that relays to the coder, and a coder that writes the scripts it knows."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from selfeng.offline.completion import Completion
from selfeng.offline.cookbook.projects import recipe_for
from selfeng.offline.cookbook.scripts import script_for

_MESSAGE = re.compile(r"<message(-[0-9a-f]+)?>\n(?P<message>.*)\n</message(?(1)\1)>", re.DOTALL)
_UNKNOWN = (
    "I am the built-in offline model, and know only a few scripts: one that prints a text, some squares, a multiplication table, or "
    "fizzbuzz, such as “Write a script squares.py that prints the first 5 squares and run it”."
)


def relayed(messages: Sequence[Mapping[str, Any]]) -> Completion:
    """The proxy's next call: the message goes to the coder, and what comes back to the person."""
    message, results = _exchange(messages)
    if not results:
        recipient = "builder" if recipe_for(message) and not script_for(message) else "coder"
        return _call("SendMessage", recipient=recipient, message=message)
    reply = results[-1]
    done = reply.get("outcome") == "done"
    return _ended("done" if done else "failed", str(reply.get("text") or reply.get("error") or "There was no reply."))


def coded(messages: Sequence[Mapping[str, Any]]) -> Completion:
    """The coder's next call: it writes the script to a file, runs that as a person would, and reports what it printed."""
    message, results = _exchange(messages)
    script = script_for(message)
    if script is None:
        return _ended("failed", _UNKNOWN)
    if failed := next((result for result in results if result.get("outcome") != "ended"), None):
        return _ended("failed", f"`{script.name}` did not work: {failed.get('error', 'for no known reason')}")
    match len(results):
        case 0:
            return _call("run_python", code=f"from pathlib import Path\n\nPath({script.name!r}).write_text({script.source!r})\n")
        case 1:
            return _call("run_python", code=f'import runpy\n\nrunpy.run_path({script.name!r}, run_name="__main__")\n')
        case _:
            return _ended("done", f"I wrote `{script.name}` and ran it. It prints:\n\n```\n{results[-1]['printed'].rstrip()}\n```")


def _exchange(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The newest message, and the results of the calls since."""
    message, results = "", list[dict[str, Any]]()
    for text in (str(m.get("content") or "") for m in messages if m.get("role") == "user"):
        if found := _MESSAGE.search(text):
            message, results = found["message"], []
        elif text.startswith("{"):
            results.append(json.loads(text))
    return message, results


def _call(function: str, **arguments: Any) -> Completion:
    return Completion(function=function, arguments=arguments, finish_reason="tool_calls")


def _ended(outcome: str, result: str) -> Completion:
    return _call("exit", outcome=outcome, result=result)
