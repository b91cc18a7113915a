"""A request as a prompt shows it: its files, answers and results as one line of JSON each, which
can't end its section; and lessons.
"""

import codecs
from collections.abc import Iterable
from typing import Any

from selfeng.core.files import File
from selfeng.core.lesson import LessonHint
from selfeng.core.plan import StepResult
from selfeng.core.turn import Request
from selfeng.core.visible import one_line
from selfeng.core.words import shortened
from selfeng.prompts import json_lines

_RESULT = 2000
"""Characters of a result that are shown; a reference passes all of it."""
_HEAD = 500
"""Bytes of a text file that are shown."""
_LINES = 5
_LESSON = 400
"""Characters of a lesson's trigger, and of its advice, that are shown."""


def shown(request: Request, lessons: Iterable[LessonHint]) -> dict[str, str]:
    """The request with all that came with it; each part is "" where there is none."""
    return {
        "request": request.text,
        "files": listed(request),
        "answers": answers(request),
        "results": results(request),
        "lessons": lessons_shown(lessons),
    }


def listed(request: Request) -> str:
    """One line for each file that came with the request, or before it."""
    earlier = [
        {"name": r.name, "size": r.size, "from": "earlier in the conversation"}
        for r in request.earlier.references
    ]
    return json_lines([*(_described(file) for file in request.files), *earlier])


def described(files: Iterable[File]) -> str:
    """One line for each file."""
    return json_lines(_described(file) for file in files)


def answers(request: Request) -> str:
    """One line for each answer of the person."""
    return json_lines(
        {"id": answer.id, "question": answer.question, "answer": answer.value}
        for answer in request.answers
    )


def results(request: Request) -> str:
    """One line for each result of a step that this one needs."""
    return json_lines(
        _result(r) | ({} if r.data is not None else {"reference": False}) for r in request.results
    )


def all_results(results: Iterable[StepResult]) -> str:
    """The same for the answer, which can't refer to them and so must not know their ids."""
    return json_lines(
        {key: value for key, value in _result(result).items() if key != "id"} for result in results
    )


def saved_plan(request: Request) -> str:
    """One line for each step of the plan of which one tool is to be made."""
    return json_lines({"request": step.request, "tool": step.tool} for step in request.saved_plan)


def lessons_shown(lessons: Iterable[LessonHint]) -> str:
    """One line for each."""
    return "\n".join(
        f"- {one_line(hint.trigger)[:_LESSON]}: {one_line(hint.advice)[:_LESSON]}"
        for hint in lessons
    )


def _result(result: StepResult) -> dict[str, Any]:
    return {"id": result.id, "request": result.request, "value": shortened(result.text, _RESULT)}


def _described(file: File) -> dict[str, Any]:
    head = _head(file.content)
    return {"name": file.name, "size": len(file.content)} | (
        {"begins": head} if head is not None else {}
    )


def _head(content: bytes) -> str | None:
    """The first lines, if this is a text; a character that is cut off at the end is left out."""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(
            content[:_HEAD], len(content) <= _HEAD
        )
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else "".join(text.splitlines(keepends=True)[:_LINES])
