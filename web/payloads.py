"""The data of the socket and the REST routes: payloads that are parsed at the edge, and values as
plain JSON.
"""

import json
import math
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from flask.json.provider import DefaultJSONProvider
from pydantic import BaseModel, Field, ValidationError
from socketio.packet import ACK, CONNECT, DISCONNECT, EVENT, Packet  # type: ignore[import-untyped]

from selfeng.core.errors import AgentError, RequestError
from selfeng.core.lesson import Lesson
from selfeng.core.provenance import ToolVersion
from selfeng.core.question import MOST
from selfeng.core.tool import Candidate, Tool
from selfeng.core.value import Value
from selfeng.projects.consent import ApprovalReply
from selfeng.provision.configuration import SettingsInvalid
from selfeng.store.habits import Habits

UNREADABLE = "unreadable"
"""The event that replaces anything from a client that is not a valid event."""

LONGEST_TEXT = 20_000
_DEEPEST = 64
LONGEST_ANSWER = 4_000
MOST_FILES = 100
LONGEST_PATH = 400
MOST_PACKAGES = 20
LAST_SEQ = 2**31 - 1
_NOT_LISTED = {"code", "tests", "digest", "example_requests", "requires"}
"""Fields of a tool that its line in a list omits."""
_IMPORTED = re.compile(
    r"^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import|import[ \t]+(\w+))\b", re.MULTILINE
)
Id = Annotated[str, Field(min_length=1, max_length=64)]
Seq = Annotated[int, Field(ge=0, le=LAST_SEQ, strict=True)]


class Given(Value):
    """The answer to a question of the conversation."""

    id: Id
    value: Annotated[str, Field(max_length=LONGEST_ANSWER)]


class Ask(Value):
    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    conversation_id: Id | None = None
    files: Annotated[tuple[Id, ...], Field(max_length=MOST_FILES)] = ()
    """Ids of uploads."""
    answers: Annotated[tuple[Given, ...], Field(max_length=MOST)] = ()
    again: Id | None = None
    """The turn that is asked for once more; its answers hold."""
    request_id: Id | None = None
    """Given by the page: the same request, sent again, is the turn that it began the first time."""


class Keep(Value):
    turn_id: Id


class Refactor(Value):
    name: Id


class Run(Value):
    """A call of a tool by a person."""

    name: Id
    arguments: dict[str, Any]
    conversation_id: Id | None = None
    files: Annotated[tuple[Id, ...], Field(max_length=MOST_FILES)] = ()
    """Ids of uploads."""


class Stop(Value):
    turn_id: Id


class Subscribe(Value):
    conversation_id: Id
    after: Seq = 0


class BuildRequest(Value):
    """A new project by its `name`, or another build of the one with `project_id`; exactly one of
    the two is given.
    """

    project_id: Id | None = None
    name: Annotated[str, Field(max_length=LONGEST_PATH)] = ""
    goal: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    step: Annotated[bool, Field(strict=True)] = False
    max_steps: int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    max_cost: float | None = None
    packages: Annotated[tuple[str, ...], Field(max_length=MOST_PACKAGES)] = ()

    @property
    def options(self) -> dict[str, Any]:
        """Those of `ProjectOptions`, except the project's name; missing ones have their defaults
        there.
        """
        return self.model_dump(exclude={"project_id", "name"}, exclude_none=True)


class Act(Value):
    """An action on a workspace, by a person."""

    project_id: Id
    action: dict[str, Any]
    """With its name as `action`, and its arguments."""


class Restore(Value):
    project_id: Id
    backup: Annotated[int, Field(ge=1, le=LAST_SEQ, strict=True)]


class Say(Value):
    turn_id: Id
    word: ApprovalReply


class Rollback(Value):
    to: Annotated[int, Field(ge=1, le=LAST_SEQ, strict=True)]
    """Number of a version."""


class NewShare(Value):
    days: Literal[7, 30] | None = None
    """After which the link ends; None: only when it is revoked."""


class SettingsChange(Value):
    """Settings by their names, null to take a choice back; which values are allowed, the settings
    say.
    """

    changes: Annotated[
        dict[
            Annotated[str, Field(max_length=64)],
            Annotated[str, Field(max_length=2_000)] | bool | int | float | None,
        ],
        Field(max_length=64),
    ]


class ModelTest(SettingsChange):
    """A test of the model's server, as it would be with these changes."""

    id: Id
    """Given by the page."""


class Forget(Value):
    request: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]


LONGEST_LESSON = 400
Words = Annotated[str, Field(max_length=LONGEST_LESSON, pattern=r"\S")]


class LessonWords(Value):
    """A lesson in a person's words."""

    trigger: Words
    advice: Words


def parse(payload: type[Value], arguments: tuple[Any, ...]) -> Any:
    """The one argument of a socket event as a value.

    Raises:
        RequestError: it is missing, has another form, or is not the only one.
    """
    if len(arguments) != 1 or not isinstance(arguments[0], dict):
        raise RequestError("the event must carry one object", f"send {_form(payload)}")
    try:
        return payload.model_validate(arguments[0])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))[:80]
        raise RequestError(f"{place}: {first['msg']}", f"send {_form(payload)}") from None


def plain(value: BaseModel) -> dict[str, Any]:
    """The value as JSON data."""
    return value.model_dump(mode="json")


def tool_line(tool: Tool) -> dict[str, Any]:
    """A tool in a list: every field but the large ones, and the modules that its code imports,
    apart from those the packages and tools.
    """
    found = {own or plain for own, plain in _IMPORTED.findall(tool.code)} - {"__future__"}
    return {
        **tool.model_dump(mode="json", exclude=_NOT_LISTED),
        "signature": str(tool.signature),
        "modules": sorted(found & sys.stdlib_module_names),
        "packages": sorted(found - sys.stdlib_module_names),
    }


def found_line(
    text: str, candidate: Candidate, examples: Sequence[str], used_requests: Sequence[str]
) -> dict[str, Any]:
    """A tool that a search found, with the request that has most of its words among those that the
    visitor may see.
    """
    words = set(text.casefold().split())
    nearest = max(
        (*used_requests, *examples),
        key=lambda request: len(words & set(request.casefold().split())),
        default="",
    )
    return {
        **tool_line(candidate.tool),
        "confidence": candidate.confidence,
        "request": nearest,
    }


def lesson_line(lesson: Lesson) -> dict[str, Any]:
    """A lesson in a list; of its evidence only the count, because turns are private to their
    owners.
    """
    return {**plain(lesson), "evidence": len(lesson.evidence)}


def tool_page(
    tool: Tool, examples: Sequence[str], used_requests: Sequence[str], habits: Habits
) -> dict[str, Any]:
    """A tool with the examples, the requests and the habits that the visitor may see."""
    parameters = [{**plain(p), "required": p.required} for p in tool.signature.parameters]
    called = {
        "signature": str(tool.signature),
        "parameters": parameters,
        "returns": tool.signature.returns,
        "schema": tool.signature.json_schema()["properties"],
    }
    return {
        **plain(tool),
        **called,
        "example_requests": list(examples),
        "used_requests": list(used_requests),
        "habits": plain(habits),
    }


def version_line(version: ToolVersion) -> dict[str, Any]:
    """A version in a list: every field but the large ones."""
    made = version.provenance
    tests = [t.outcome for t in made.verdict.tests] if made.verdict else []
    return {
        **version.model_dump(
            mode="json",
            exclude=_NOT_LISTED - {"digest"} | {"name", "description", "signature", "provenance"},
        ),
        "origin": plain(made.origin),
        "why": str(made.origin),
        "tests": {"passed": tests.count("passed"), "total": len(tests)} if made.verdict else None,
        "usage": plain(made.usage) if made.usage else None,
    }


def version_page(version: ToolVersion, examples: Sequence[str]) -> dict[str, Any]:
    """A version with the examples that the visitor may see."""
    made = version.provenance
    prompts = [{"name": p.name, "digest": p.digest} for p in made.prompts]
    verdict = {"verdict": plain(made.verdict) if made.verdict else None, "prompts": prompts}
    fields = version.model_dump(mode="json", exclude={"provenance"})
    return {
        **version_line(version),
        **fields,
        **verdict,
        "signature": str(version.signature),
        "example_requests": list(examples),
    }


def problem(error: Exception) -> dict[str, Any]:
    """An error as people see it; where it is about settings, also by their names."""
    if isinstance(error, SettingsInvalid):
        fields = {name: plain(found) for name, found in error.problems.items()}
        return {"message": error.message, "remedy": error.remedy, "fields": fields}
    if isinstance(error, AgentError):
        return {"message": error.message, "remedy": error.remedy}
    return {
        "message": "something went wrong in the server",
        "remedy": "try again; the server's log says more",
    }


class WireJSON:
    """JSON as browsers parse it (no NaN); invalid or too deeply nested JSON raises ValueError
    everywhere.
    """

    @staticmethod
    def dumps(data: Any, **options: Any) -> str:
        try:
            return json.dumps(data, allow_nan=False, **options)
        except ValueError:
            return json.dumps(_finite(data), allow_nan=False, **options)

    @staticmethod
    def loads(text: str | bytes, **options: Any) -> Any:
        try:
            data = json.loads(text, **options)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        if _is_deep(data):
            raise ValueError("nested too deeply")
        return data


class FlaskJSON(DefaultJSONProvider):
    """The same for the bodies of requests."""

    sort_keys = False

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return WireJSON.loads(s, **kwargs)


class WirePacket(Packet):  # type: ignore[misc]
    """A Socket.IO packet; an invalid one becomes the event `unreadable` instead of an error in a
    library.
    """

    reserved = frozenset({"connect", "disconnect", "connect_error", "*"})
    uses_binary_events = False  # nothing that is sent holds bytes, so they are not looked for

    def __init__(self, *arguments: Any, encoded_packet: Any = None, **options: Any) -> None:
        super().__init__(*arguments, encoded_packet=encoded_packet, **options)
        if (
            encoded_packet is not None and not encoded_packet
        ):  # which the library does not even read
            self.packet_type, self.data = EVENT, [UNREADABLE]

    def decode(self, encoded_packet: Any) -> int:
        try:
            attachments = super().decode(encoded_packet)
            readable = attachments == 0 and self._readable()
        except (ValueError, TypeError, IndexError, KeyError):
            readable = False
        if not readable:
            self.packet_type, self.data = EVENT, [UNREADABLE]
        return 0

    def _readable(self) -> bool:
        if self.packet_type != EVENT:
            return self.packet_type in {CONNECT, DISCONNECT, ACK}
        named = isinstance(self.data, list) and bool(self.data) and isinstance(self.data[0], str)
        return named and self.data[0] not in self.reserved


def _is_deep(data: Any) -> bool:
    level = [data]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _finite(data: Any) -> Any:
    match data:
        case float():
            return data if math.isfinite(data) else None
        case dict():
            return {key: _finite(value) for key, value in data.items()}
        case list() | tuple():
            return [_finite(value) for value in data]
        case _:
            return data


def _form(payload: type[Value]) -> str:
    return "{" + ", ".join(payload.model_fields) + "}"
