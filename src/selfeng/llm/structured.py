"""The ladder for a reply of a given type: strict schema, then one forced function, then JSON asked for in words."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from selfeng.core.protocols import ReplyT
from selfeng.llm.exchange import Message, Question, Reply, with_words
from selfeng.llm.json_text import find
from selfeng.llm.ladder import Malformed, NotFollowed, Rung
from selfeng.llm.reply_form import ReplyForm


def rungs_for(reply: type[ReplyT]) -> tuple[Rung[ReplyT], ...]:
    """The ways of asking for a value of the type, best first."""
    form = ReplyForm(reply)
    schema = {"type": "json_schema", "json_schema": {"name": form.name, "strict": True, "schema": form.schema}}
    forced = {"type": "function", "function": {"name": form.name}}
    return (
        _Way(form, {"response_format": schema}),
        _Way(form, {"tools": [form.tool], "tool_choice": forced}),
        _Way(form, {}, _in_words(form)),
    )


@dataclass(frozen=True)
class _Way(Generic[ReplyT]):
    form: ReplyForm[ReplyT]
    options: Mapping[str, Any]
    words: str = ""
    below: int = 1
    lasting: bool = True  # a server that knows these options can't reply otherwise

    def question(self, messages: Sequence[Message], repair: Sequence[Message]) -> Question:
        asked = with_words(messages, self.words) if self.words else messages
        return Question(messages=(*asked, *repair), options=self.options)

    def read(self, reply: Reply) -> ReplyT:
        found = [value for call in reply.calls for value in _arguments(call.arguments)] + find(reply.text)
        if not found and not reply.calls:
            raise NotFollowed("it holds no JSON")
        try:
            return self.form.read(found)
        except ValueError as error:
            raise Malformed(str(error)) from error

    def demand(self, problem: str) -> str:
        schema = json.dumps(self.form.schema, ensure_ascii=False)
        return f"That reply can't be used: {problem}.\n\nReply again in full, as one JSON object that fits this JSON Schema:\n\n{schema}"


def _arguments(arguments: Any) -> list[Any]:
    return find(arguments) if isinstance(arguments, str) else [arguments]


def _in_words(form: ReplyForm[Any]) -> str:
    schema = json.dumps(form.schema, ensure_ascii=False)
    return f"Reply with one JSON object that fits this JSON Schema, and nothing else:\n\n```json\n{schema}\n```"
