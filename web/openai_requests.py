"""Requests of programs that know an OpenAI-compatible server, in the parts that chat completions
and responses share: messages with their texts and files, and which of them are for the model
behind the agent.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from mimetypes import guess_extension
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict
from werkzeug.exceptions import BadRequest

from selfeng.core.files import File, name_problem, shown_name
from selfeng.core.value import Value
from web.error_forms import OpenAIError

AGENT = "selfeng"
"""The name of the agent among the models."""
_JOB = re.compile(r"\s*(?:### Task:|.{0,80}\btitle for (?:the|this) (?:conversation|chat)\b)")
"""How chat programs begin what they ask for themselves: Open WebUI its titles, tags and further
questions, gptme and LibreChat their titles.
"""
_TEXTS = {"text", "input_text", "output_text", "refusal"}
_FILES = "text, image_url or file (input_text, input_image or input_file in a response)"


class SentValue(Value):
    """A part of a request; fields that are unknown here are ignored, as programs send many."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def _address(value: Any) -> Any:
    return value.get("url") if isinstance(value, dict) else value


class _Attached(SentValue):
    filename: str | None = None
    file_data: str | None = None


class SentPart(_Attached):
    """A part of a message, with the fields of either protocol."""

    type: str = "text"
    text: str | None = None
    refusal: str | None = None
    image_url: Annotated[str | None, BeforeValidator(_address)] = None
    file: _Attached | None = None

    @property
    def words(self) -> str:
        return (self.text or self.refusal or "") if self.type in _TEXTS else ""

    def attached(self, number: int) -> File | None:
        """The file that it is, if any; an image gets this number as its name. Raises:
        BadRequest.
        """
        match self.type:
            case kind if kind in _TEXTS:
                return None
            case "image_url" | "input_image":
                return _file(f"image{number}", self.image_url or "")
            case "file" | "input_file":
                file = self.file or self
                return _file(file.filename or "file", file.file_data or "")
            case kind:
                raise BadRequest(f"the agent takes no parts of type {kind[:40]!r}; send {_FILES}")


class SentMessage(SentValue):
    """A message of a conversation; `role` is user, assistant, system, developer, tool or
    function.
    """

    role: str
    content: str | tuple[SentPart, ...] | None = None

    @property
    def parts(self) -> tuple[SentPart, ...]:
        return self.content if isinstance(self.content, tuple) else ()

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.words for part in self.parts if part.words)

    @property
    def is_instruction(self) -> bool:
        return self.role in {"system", "developer"}


def request_in(messages: Sequence[SentMessage]) -> int:
    """Where the request is among the messages: the last one of the user since the last reply. If
    there is none since then, as in gptme, which gives results as system messages, the last one.
    """
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].role == "user":
            return place
        if not messages[place].is_instruction:
            break
    return len(messages) - 1


def files_of(messages: Iterable[SentMessage]) -> tuple[File, ...]:
    """The files that came with messages of the user.

    Raises: BadRequest: one is not in the message itself, or has no name that a file may have.
    """
    parts = [part for message in messages if message.role == "user" for part in message.parts]
    attached = [part.attached(number) for number, part in enumerate(parts, 1)]
    return tuple(file for file in attached if file)


def is_for_model(
    messages: Sequence[SentMessage], *, streamed: bool, demands: bool, form: Any
) -> bool:
    """Whether a request to the agent is offered to the model behind it: one that `demands` a call
    of the program's own tools, has the result of such a call or wants the reply in a `form`; also
    one that ends with a reply to be continued, and a job of a chat program, such as a title.

    Where Open WebUI adds what it has retrieved, a request of a person begins as its jobs do, but is
    streamed.
    """
    user_texts = [message.text for message in messages if message.role == "user"]
    is_job = not streamed and len(user_texts) == 1 and bool(_JOB.match(user_texts[0]))
    has_form = bool(form) and (not isinstance(form, dict) or form.get("type") != "text")
    is_continued = messages[-1].role in {"assistant", "tool", "function"}
    return is_job or demands or has_form or is_continued


def demands_call(tools: Any, choice: Any) -> bool:
    """Whether the model must call one of the program's tools."""
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools")
        choice = (allowed if isinstance(allowed, dict) else choice).get("mode")
    elif isinstance(choice, dict) and choice.get("type") in ("auto", "none"):  # as Anthropic has it
        choice = choice["type"]
    return bool(tools) and choice not in (None, "auto", "none")


def check_count(n: int | None) -> None:
    """Raises: OpenAIError: it is not one reply that is wanted."""
    if n not in (None, 1):
        raise OpenAIError(
            400,
            f"n={n}: the agent gives one reply; leave n out, and ask again for another",
            param="n",
            code="unsupported_value",
        )


def as_text(value: Any) -> str:
    """The value that a tool returned, as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _file(name: str, address: str) -> File:
    """A file from a data URI. Raises: BadRequest."""
    head, comma, data = address.partition(",")
    if not head.startswith("data:") or not comma or not head.endswith(";base64"):
        raise BadRequest(
            f"{shown_name(name)!r} is not in the message; send it as data:<type>;base64,<content>"
        )
    if "." not in name:
        name += guess_extension(head.removeprefix("data:").partition(";")[0]) or ""
    if problem := name_problem(name):
        raise BadRequest(f"{shown_name(name)!r} can't be the name of a file: {problem}")
    with suppress(binascii.Error):
        return File(name=name, content=base64.b64decode(data, validate=True))
    raise BadRequest(f"{shown_name(name)!r} is not valid base64")
