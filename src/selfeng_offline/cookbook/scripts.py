"""Scripts that the offline model knows, and its agents: a proxy that relays to the coder, and a
coder that writes them.
"""

import json
import re
from typing import Any, NamedTuple

from selfeng_offline.completion import Completion
from selfeng_offline.cookbook.matching import in_english, is_german
from selfeng_offline.cookbook.project_recipes import project_for
from selfeng_offline.cookbook.read_prompt import ReadPrompt, sections_of

_VERB = r"(?:please\s+)?(?:(?:can|could) you\s+)?(?:write|make|create)(?: me)?"
_FILE = r"(?:(?:called|named)\s+)?(?P<file>[\w-]+\.py)"
_SCRIPT = r"a\s+(?:small\s+|short\s+|little\s+)?(?:python\s+)?(?:script|program)"
_RUN = r"(?:,?\s+(?:and\s+)?(?:then\s+)?(?:run|execute|try)\s+it)?"
_WHOLE = rf"{_VERB}\s+(?:{_SCRIPT}(?:\s+{_FILE})?|{_FILE.replace('P<file>', 'P<bare>')})\s*,?\s+(?:that|which)\s+%s{_RUN}[.!?\s]*"  # noqa: E501
_KNOWN = {
    r"(?:prints|says|shows)\s+['\"“‘](?P<text>[^'\"”’]+)['\"”’]": "print({text!r})\n",
    r"(?:prints|lists|shows)\s+the\s+(?:first\s+)?(?P<count>\d{1,3})\s+squares": (
        "for number in range(1, {count} + 1):\n    print(number, number * number)\n"
    ),
    r"(?:prints|shows)\s+the\s+(?:multiplication|times)\s+table\s+of\s+(?P<factor>\d{1,3})": (
        "for number in range(1, 11):\n    print({factor}, 'x', number, '=', {factor} * number)\n"
    ),
    r"(?:prints|plays)\s+fizz\s?buzz\s+(?:up\s+)?to\s+(?P<limit>\d{1,3})": (
        'for number in range(1, {limit} + 1):\n    print("Fizz" * (number % 3 == 0) + "Buzz" * '
        "(number % 5 == 0) or number)\n"
    ),
}
"""The sources of scripts, by patterns of their tasks."""
_UNKNOWN = (
    "I am the built-in offline model, and know only a few scripts: one that prints a text, some "
    "squares, a multiplication table, or "
    "fizzbuzz, such as “Write a script squares.py that prints the first 5 squares and run it”."
)


class KnownScript(NamedTuple):
    """A file with a small program."""

    name: str
    source: str


def script_for(request: str) -> KnownScript | None:
    """The script that a request asks for; None if it asks for no known one."""
    for does, source in _KNOWN.items():
        words = in_english(request).strip()
        if match := re.fullmatch(_WHOLE % does, words, re.IGNORECASE | re.DOTALL):
            return KnownScript(
                match["file"] or match["bare"] or "script.py", source.format_map(match.groupdict())
            )
    return None


def relay(prompt: ReadPrompt) -> Completion:
    """The proxy's next call: the message goes to the coder or the builder, and the reply to the
    person.
    """
    message, results = _exchange(prompt)
    if not results:
        recipient = "builder" if project_for(message) and not script_for(message) else "coder"
        return _call("SendMessage", recipient=recipient, message=message)
    reply = results[-1]
    succeeded = reply.get("outcome") == "done"
    return _call_exit(
        "done" if succeeded else "failed",
        str(reply.get("text") or reply.get("error") or "There was no reply."),
    )


def code(prompt: ReadPrompt) -> Completion:
    """The coder's next call: it writes the script to a file, runs that as a person would, and
    reports the output.
    """
    message, results = _exchange(prompt)
    if (script := script_for(message)) is None:
        return _call_exit("failed", _UNKNOWN)
    if failed := next((result for result in results if "error" in result), None):
        return _call_exit(
            "failed", f"`{script.name}` did not work: {failed.get('error', 'for no known reason')}"
        )
    match len(results):
        case 0:
            return _call("create_file", name=script.name, content=script.source)
        case 1:
            return _call("run_file", name=script.name, arguments=[])
        case _:
            intro = (
                f"`{script.name}` ist geschrieben und ausgeführt. Die Ausgabe:"
                if is_german(message)
                else f"I wrote `{script.name}` and ran it. It prints:"
            )
            return _call_exit("done", f"{intro}\n\n```\n{results[-1]['printed'].rstrip()}\n```")


def _exchange(prompt: ReadPrompt) -> tuple[str, list[dict[str, Any]]]:
    """The newest message, and the results of the calls since."""
    message, results = "", list[dict[str, Any]]()
    for text in prompt.said:
        if section := sections_of(text).get("message"):
            message, results = section, []
        elif text.startswith("{"):
            results.append(json.loads(text))
    return message, results


def _call(function: str, **arguments: Any) -> Completion:
    return Completion(function=function, arguments=arguments, finish_reason="tool_calls")


def _call_exit(outcome: str, result: str) -> Completion:
    return _call("exit", outcome=outcome, result=result)
