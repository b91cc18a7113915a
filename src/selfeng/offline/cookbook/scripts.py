"""Scripts that the offline model can write, run and hand over: for the work of agents, which is no tool's."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_VERB = r"(?:please\s+)?(?:(?:can|could) you\s+)?(?:write|make|create)(?: me)?"
_FILE = r"(?:(?:called|named)\s+)?(?P<file>[\w-]+\.py)"
_SCRIPT = r"a\s+(?:small\s+|short\s+|little\s+)?(?:python\s+)?(?:script|program)"
_RUN = r"(?:,?\s+(?:and\s+)?(?:then\s+)?(?:run|execute|try)\s+it)?"
_WHOLE = rf"{_VERB}\s+(?:{_SCRIPT}(?:\s+{_FILE})?|{_FILE.replace('P<file>', 'P<bare>')})\s*,?\s+(?:that|which)\s+%s{_RUN}[.!?\s]*"


@dataclass(frozen=True)
class Script:
    """A file with a small program."""

    name: str
    source: str


def script_for(request: str) -> Script | None:
    """The script that a request asks for, None if it asks for none that is known."""
    for wording, write in _KNOWN:
        if found := re.fullmatch(_WHOLE % wording, request.strip(), re.IGNORECASE | re.DOTALL):
            return Script(found["file"] or found["bare"] or "script.py", write(found))
    return None


def _says(found: re.Match[str]) -> str:
    return f"print({found['text']!r})\n"


def _squares(found: re.Match[str]) -> str:
    return f"for number in range(1, {found['count']} + 1):\n    print(number, number * number)\n"


def _table(found: re.Match[str]) -> str:
    return f"for number in range(1, 11):\n    print({found['factor']}, 'x', number, '=', {found['factor']} * number)\n"


def _fizz_buzz(found: re.Match[str]) -> str:
    return f'for number in range(1, {found["limit"]} + 1):\n    print("Fizz" * (number % 3 == 0) + "Buzz" * (number % 5 == 0) or number)\n'


_KNOWN: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"(?:prints|says|shows)\s+['\"“‘](?P<text>[^'\"”’]+)['\"”’]", _says),
    (r"(?:prints|lists|shows)\s+the\s+(?:first\s+)?(?P<count>\d{1,3})\s+squares", _squares),
    (r"(?:prints|shows)\s+the\s+(?:multiplication|times)\s+table\s+of\s+(?P<factor>\d{1,3})", _table),
    (r"(?:prints|plays)\s+fizz\s?buzz\s+(?:up\s+)?to\s+(?P<limit>\d{1,3})", _fizz_buzz),
)
