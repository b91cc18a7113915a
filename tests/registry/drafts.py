"""Drafts of small tools."""

from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft


def draft(
    name: str, description: str = "", requests: tuple[str, ...] = (), body: str = "return text"
) -> ToolDraft:
    code = f"def {name}(text: str) -> str:\n    {body}\n"
    return ToolDraft(
        name=name,
        description=description or f"Does what {name} says.",
        signature=parse_signature(code, name, {"text": "Any text."}),
        code=code,
        tests=f"from {name} import {name}\n\n\ndef test_{name}() -> None:\n    assert {name}('a') "
        "== 'a'\n",
        example_requests=requests,
        model="gpt-4",
    )


REVERSE = draft(
    "reverse_text", "Reverse a text.", ("reverse the word banana", "spell hello backwards")
)
SHOUT = draft("shout_text", "Turn a text into upper case.", ("shout hello", "write it in capitals"))
COUNT = draft("count_letters", "Count the letters of a text.", ("how many letters has banana",))
REPAIRED = draft(
    "reverse_text",
    "Reverse the characters of a text.",
    ("write anna from its end",),
    "return text[::-1]",
)
