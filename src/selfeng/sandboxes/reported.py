"""Parses what a job reports, field by field. A tool can write these frames itself, so every field
is checked for form and size.

Text that is too long is cut; anything else that is malformed is refused.
"""

import json
import math
from typing import Any, get_args

from selfeng.core.result import LARGEST, ResultReference, canonical, is_deep, reference_to
from selfeng.core.secrets import without_secrets
from selfeng.core.verdict import Raised, Replay, Returned, TestOutcome, TestResult

TEXT = 24_000
"""Characters of a text; slightly more than the worker sends."""
OUTPUT = 80 * 1024
SENTENCE = 2000
_NAME = 200
_TEST = 10_000
"""Characters of a test's name, parameters included."""
_TESTS = 20_000
_SIZE = 2**40
_DIGITS = 4300
"""Digits of an integer: Python's own limit."""
_DEPTH = 64
_LONGEST = 1e6
"""The longest duration, in seconds."""
_OUTCOMES = get_args(TestOutcome)


def printable(text: str) -> str:
    """The text without credentials, and with lone surrogates escaped, since files, sockets and
    databases refuse them.
    """
    return without_secrets(text.encode("utf-8", "backslashreplace").decode())


def text(value: object, limit: int = TEXT) -> str:
    """The start of a text; "" for anything else."""
    if not isinstance(value, str):
        return ""
    clean_text = printable(value[:limit])
    return (
        clean_text
        if len(clean_text) <= limit and len(value) <= limit
        else f"{clean_text[:limit]}..."
    )


def seconds(value: object) -> float | None:
    """A duration in seconds; None if it is implausible."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= _LONGEST else None


def names(value: object) -> tuple[str, ...] | None:
    """The names of tests; None if the list is malformed."""
    if (
        not isinstance(value, list)
        or len(value) > _TESTS
        or not all(isinstance(name, str) and len(name) <= _TEST for name in value)
    ):
        return None
    return tuple(map(printable, value))


def result(fields: Any) -> TestResult | None:
    """A test's result; None if it is malformed."""
    match fields:
        case {"test": str(test), "outcome": str(outcome), "message": str(message)} if (
            outcome in _OUTCOMES and len(test) <= _TEST
        ):
            if (took := seconds(fields.get("seconds"))) is not None:
                return TestResult(
                    test=printable(test), outcome=outcome, seconds=took, message=text(message)
                )
    return None


def replay(fields: Any) -> Replay | None:
    """A report of replays; None if it is malformed."""
    match fields:
        case {
            "tried": int(tried),
            "noticed": int(noticed),
            "refused": list(refused),
            "gaps": list(gaps),
        } if 0 <= noticed <= tried < _TESTS**2:
            return Replay(
                tried=tried,
                noticed=noticed,
                refused=tuple((printable(t), r) for t, r in pairs(refused, _TESTS)),
                gaps=tuple(text(g, SENTENCE) for g in gaps[:_TESTS]),
            )
    return None


def outcome(fields: Any, **frame: Any) -> Returned | Raised | None:
    """The outcome of a call, with the fields of `frame`; None if it is malformed."""
    match fields:
        case {"outcome": "returned", "type_name": str(name), "text": str(value)}:
            data, readable = fields.get("data"), fields.get("readable")
            cut, size = fields.get("truncated", False), fields.get("too_large", 0)
            try:
                exact_data, near = _canonical(data), _canonical(readable)
            except ValueError:
                return None
            if not isinstance(cut, bool):
                return None
            clean_text = text(value)
            if exact_data is near is None and not (cut or size):
                near = canonical(clean_text)
            return Returned(
                type_name=text(name, _NAME),
                text=clean_text,
                data=exact_data,
                readable=near if exact_data is None else None,
                value=_reference(exact_data or near, exact=exact_data is not None),
                too_large=size if type(size) is int and 0 <= size < _SIZE else 0,
                truncated=cut or len(value) > TEXT,
                **frame,
            )
        case {"outcome": "raised", "type_name": str(name), "message": str(message)} if isinstance(
            fields.get("traceback", ""), str
        ):
            return Raised(
                type_name=text(name, _NAME),
                message=text(message),
                traceback=text(fields.get("traceback")),
                **frame,
            )
    return None


def pairs(value: object, limit: int) -> list[tuple[str, str]]:
    """The well-formed pairs of a name and a sentence."""
    items = value[:limit] if isinstance(value, list) else ()
    return [
        (pair[0], text(pair[1], SENTENCE))
        for pair in items
        if isinstance(pair, list) and [type(p) for p in pair] == [str, str]
    ]


def _canonical(source: object) -> str | None:
    """JSON text that everything here and on the page reads alike, without credentials; None of
    None, and where they can't be taken out.

    Raises:
        ValueError: it is no such text.
    """
    if source is None:
        return None
    if not isinstance(source, str) or len(source) > LARGEST:
        raise ValueError("it is no JSON text, or too large")
    original = canonical(plain_json(source))
    if (clean_text := printable(original)) == original:
        return original
    try:
        return canonical(plain_json(clean_text))
    except ValueError:
        return None


def plain_json(source: str | bytes) -> Any:
    """The value of a JSON text. Raises: ValueError: it is not JSON, a key occurs twice, or a number
    or the nesting is beyond what a tool may return.
    """
    try:
        value = json.loads(
            source,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_finite,
            object_pairs_hook=_distinct,
        )
        json.dumps(value, ensure_ascii=False).encode()  # fails for a lone surrogate
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if is_deep(value, _DEPTH):
        raise ValueError("it is nested too deeply")
    return value


def _reference(content: str | None, *, exact: bool) -> ResultReference | None:
    return None if content is None else reference_to(json.loads(content), content, exact=exact)


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError("an integer is too long")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError("a number is not finite")
    return number


def _distinct(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(mapping := dict(members)) < len(members):
        raise ValueError("a key occurs twice")
    return mapping
