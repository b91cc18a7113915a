"""What the offline model learns from the record of a turn: which tests a first implementation failed, if a repair passed them."""

import re
from typing import Any

_SPECIFIED = re.compile(r"^specification, attempt \d+, finished: .*? -> .*?: (?P<description>.+)$", re.MULTILINE)
_FAILED = re.compile(r"^verification, attempt \d+, failed: \d+ of \d+ tests? failed: (?P<tests>.+)$", re.MULTILINE)
_PASSED = re.compile(r"^verification, attempt \d+, finished", re.MULTILINE)


def lessons_of(record: str) -> list[dict[str, Any]]:
    """One lesson or none, as the prompt's reply has it."""
    specified, failed = _SPECIFIED.search(record), _FAILED.search(record)
    if not specified or not failed or not _PASSED.search(record, failed.end()):
        return []
    does = specified["description"].rstrip(".")
    cases = ", ".join(name.removeprefix("test_").replace("_", " ") for name in failed["tests"].split(", "))
    advice = f"Go through these cases before you reply, as an earlier module failed them: {cases}."
    return [{"agent": "implementation", "trigger": f"a function to {does[:1].lower()}{does[1:]}", "advice": advice, "known": None}]
