"""Elicitation: the questions of a turn as a form that another program shows to its person."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import mcp_types as types

from selfeng.core.question import Question
from selfeng.doors.call_results import said

ANSWERS = "answers"
"""The name of the one request for input."""
_TYPES = {"number": "number", "yes_no": "boolean"}


class Form(NamedTuple):
    """The open questions of a conversation."""

    conversation: str
    message: str
    schema: dict[str, Any]
    """JSON Schema of an object with an answer for each question, as elicitation allows it."""

    @property
    def request(self) -> types.ElicitRequest:
        params = types.ElicitRequestFormParams(message=self.message, requested_schema=self.schema)
        return types.ElicitRequest(params=params)


def form_of(result: types.CallToolResult) -> Form | None:
    """The form for what a turn asks; None if it asks nothing."""
    told = result.structured_content or {}
    if told.get("outcome") != "asked" or not told.get("questions"):
        return None
    questions = [Question.model_validate(question) for question in told["questions"]]
    schema = {
        "type": "object",
        "properties": {question.id: _field(question) for question in questions},
        "required": [question.id for question in questions],
    }
    return Form(told["conversation"], told["answer"], schema)


def filled_in(result: object) -> dict[str, Any] | None:
    """What the person filled in; None if they declined."""
    if not isinstance(result, types.ElicitResult) or result.action != "accept":
        return None
    return dict(result.content or {})


def continued(conversation: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `ask` that go on with the answers."""
    return {"request": "", "conversation": conversation, "answers": dict(answers)}


def unanswered(conversation: str) -> types.CallToolResult:
    """What the program is told whose person declined to answer."""
    text = (
        "The person gave no answer. To answer, call `ask` with conversation "
        f"{conversation!r} and answers."
    )
    return said(text, {"conversation": conversation, "outcome": "asked"})


def _field(question: Question) -> dict[str, Any]:
    more = {"enum": list(question.options)} if question.answer == "choice" else {}
    about = {"description": question.why} if question.why else {}
    kind = _TYPES.get(question.answer, "string")
    return {"type": kind, "title": question.question, **about, **more}
