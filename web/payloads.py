"""The data of the socket and the REST routes: payloads that are parsed at the edge, and values as
plain JSON.
"""

import json
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from flask.json.provider import DefaultJSONProvider
from pydantic import BaseModel, Field, SecretStr, ValidationError
from socketio.packet import ACK, CONNECT, DISCONNECT, EVENT, Packet  # type: ignore[import-untyped]

from selfeng.core.errors import AgentError, NotConsented, RequestError
from selfeng.core.events import LAST_SEQ
from selfeng.core.question import MOST, AnswerValue
from selfeng.core.result import ResultFormat, TaughtRow, ToolEdit, is_deep
from selfeng.core.schedule import SchedulePlan
from selfeng.core.value import Value, first_problem
from selfeng.library.exchange.tool_export import ExportForm
from selfeng.projects.consent import ApprovalReply
from selfeng.provision.configuration import SettingsInvalid
from selfeng.servers.vault import LONGEST as LONGEST_SECRET
from selfeng.stages.execution.programs import LONGEST as LONGEST_PROGRAM
from selfeng.stages.library_health import STALE_DAYS
from selfeng.store.conversation_list import ModelName

UNREADABLE = "unreadable"
"""The event that replaces anything from a client that is not a valid event."""

LONGEST_TEXT = 20_000
LONGEST_COMPLAINT = 9_000
_DEEPEST = 64
MOST_FILES = 100
LONGEST_PATH = 400
LONGEST_ADDRESS = 2_000
MOST_PACKAGES = 20
Id = Annotated[str, Field(min_length=1, max_length=64)]
TurnPlace = Annotated[str, Field(max_length=64)] | None
VersionNumber = Annotated[int, Field(ge=1, le=LAST_SEQ)]
Seq = Annotated[int, Field(ge=0, le=LAST_SEQ, strict=True)]


class Ask(Value):
    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    conversation_id: Id | None = None
    files: Annotated[tuple[Id, ...], Field(max_length=MOST_FILES)] = ()
    """Ids of uploads."""
    answers: Annotated[Mapping[str, AnswerValue], Field(max_length=MOST)] = {}
    """To the open questions of the conversation, by their ids."""
    again: Id | None = None
    """The turn that is asked for once more; its answers hold."""
    after: TurnPlace = None
    """The turn that this one follows, "" for none: the first of another branch, if a turn follows
    it already. By default the one before the turn `again`, or the newest of the conversation.
    """
    model: ModelName = ""
    """That of the conversation from now on; "" leaves it."""
    temporary: Annotated[bool, Field(strict=True)] = False
    """A new conversation is in no list, teaches nothing, and is removed after a day."""
    timezone: Annotated[str, Field(max_length=80)] = ""
    """The person's, as IANA names it; "" for the server's."""
    request_id: Id | None = None
    """Given by the page: the same request, sent again, is the turn that it began the first time."""


class Keep(Value):
    turn_id: Id


class Fork(Value):
    turn_id: Id
    """The last turn that the new conversation has."""


class WrongAnswer(Value):
    """The fault of an answer."""

    complaint: Annotated[str, Field(max_length=LONGEST_COMPLAINT)] = ""
    """In words."""
    value: Annotated[str, Field(max_length=LONGEST_COMPLAINT)] = ""
    """The right value, as JSON or a text."""


class Wrong(WrongAnswer):
    turn_id: Id


class Refactor(Value):
    name: Id


class Run(Value):
    """A call of a tool by a person."""

    name: Id
    arguments: dict[str, Any]
    conversation_id: Id | None = None
    after: TurnPlace = None
    temporary: Annotated[bool, Field(strict=True)] = False
    files: Annotated[tuple[Id, ...], Field(max_length=MOST_FILES)] = ()
    """Ids of uploads."""


class Stop(Value):
    turn_id: Id


class Subscribe(Value):
    conversation_id: Id
    after: Seq = 0
    turns: Annotated[int, Field(ge=0, le=1000)] = 0
    """Without `after`: how many of the newest turns; 0: all."""


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


class CallRequest(Value):
    """A call of a tool, without the model."""

    arguments: Mapping[str, Any] = {}
    """By name, as its input schema says."""
    files: Annotated[tuple[Id, ...], Field(max_length=MOST_FILES)] = ()
    """Ids of uploads."""


class ProgramRequest(CallRequest):
    """A program that imports tools, and its call."""

    code: Annotated[str, Field(min_length=1, max_length=LONGEST_PROGRAM)]
    """Python source that defines `def program(...)`."""


class NewSchedule(SchedulePlan):
    """A call of a tool at set times."""

    files: Annotated[tuple[Id, ...], Field(max_length=MOST_FILES)] = ()
    """Ids of uploads."""


class ScheduleFilter(Value):
    tool: str = ""
    """Only those of this tool."""


class ToolSearch(Value):
    q: str = ""
    """The text to search for."""


class HealthQuery(Value):
    days: Annotated[int, Field(ge=0, le=36_500)] = STALE_DAYS
    """After which an unused tool is stale."""


class MergedTool(Value):
    into: Id
    """The tool that stays."""


class VersionPair(Value):
    from_: VersionNumber = Field(alias="from")
    to: VersionNumber


class Rollback(Value):
    to: Annotated[VersionNumber, Field(strict=True)]
    """Number of a version."""


class ConversationSearch(Value):
    q: str = ""
    """Words of the title, requests or answers."""
    limit: Annotated[int, Field(ge=1)] | None = None


class RecordsAfter(Value):
    after: Annotated[int, Field(ge=0, le=LAST_SEQ)] = 0
    """Number of a record."""
    before: Annotated[int, Field(ge=0, le=LAST_SEQ)] = LAST_SEQ
    """Number of a record."""
    turns: Annotated[int, Field(ge=0, le=1000)] = 0
    """How many of the newest turns; 0: all."""


class ExportAs(Value):
    form: ExportForm = Field("bundle", alias="as")


class BundleCheck(Value):
    installs: bool = False
    """Whether packages that tools need may be installed for the check."""


class UpdateCheck(BundleCheck):
    name: str = ""
    """The subscription; empty: all."""


class NewSubscription(Value):
    place: Annotated[str, Field(min_length=1, max_length=2000)]
    """`https://…/index.json`, or `git+https://…` of a repository."""
    name: str = ""
    """By default of the place."""


class ProposalAccept(Value):
    anyway: bool = False
    """Also an update that fails your own tests or recorded calls."""


class BundleImport(BundleCheck):
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """sha256 of the file, as its check returned it."""
    file: Annotated[str, Field(min_length=1, max_length=255)] = "bundle.zip"
    """Its name, which the tools keep."""
    only: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    """Names of tools, separated by commas; empty: all."""


class UploadName(Value):
    name: str = ""


class ResultAs(Value):
    format: ResultFormat | None = None
    """csv, json or text for a download, none for the JSON itself."""


class FileAs(Value):
    download: str | None = None
    """Anything: as a download also if it is a picture."""


class NewShare(Value):
    days: Literal[7, 30] | None = None
    """After which the link ends; None: only when it is revoked."""


class SecretValue(Value):
    """The value of a secret."""

    value: Annotated[SecretStr, Field(max_length=LONGEST_SECRET)]


class AuthorizationRequest(Value):
    """Where a person allows this program to use a service, by OAuth's device flow."""

    device_url: Annotated[str, Field(max_length=LONGEST_ADDRESS)]
    """Where it gives a code."""
    token_url: Annotated[str, Field(max_length=LONGEST_ADDRESS)]
    """Where it gives tokens."""
    client_id: Annotated[str, Field(min_length=1, max_length=LONGEST_SECRET)]
    """The service's name for this program."""
    client_secret: Annotated[SecretStr, Field(max_length=LONGEST_SECRET)] = SecretStr("")
    scope: Annotated[str, Field(max_length=LONGEST_SECRET)] = ""
    """The permitted use of the token."""


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


class EditedTool(ToolEdit):
    """A tool as you edit it; `proposed`: a proposal of that name."""

    proposed: bool = False


class TaughtRows(Value):
    rows: Annotated[tuple[TaughtRow, ...], Field(min_length=1, max_length=100)]


class Forget(Value):
    request: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]


LONGEST_LESSON = 400
Words = Annotated[str, Field(max_length=LONGEST_LESSON, pattern=r"\S")]


class LessonWords(Value):
    """A lesson in a person's words."""

    trigger: Words
    advice: Words


class NeedNamed(Value):
    """A host, package or limit that the tool in the path needs."""

    need: str = ""
    """"" for all."""


class ServerToolNamed(Value):
    """A tool of the server in the path."""

    tool: str = ""
    """The tool's name on the server; "" for all."""


def parse(payload: type[Value], arguments: tuple[Any, ...]) -> Any:
    """The one argument of a socket event as a value.

    Raises:
        RequestError: it is missing, has another form, or is not the only one.
    """
    if len(arguments) != 1 or not isinstance(arguments[0], dict):
        raise RequestError("the event must carry one object", form_of(payload))
    try:
        return payload.model_validate(arguments[0])
    except ValidationError as error:
        raise RequestError(first_problem(error, "the event"), form_of(payload)) from None


def plain(value: BaseModel) -> dict[str, Any]:
    """The value as JSON data."""
    return value.model_dump(mode="json", by_alias=True)


def problem(error: Exception) -> dict[str, Any]:
    """An error in words for programs, and as codes and values, of which the page makes its own;
    where it is about settings, also by their names.
    """
    if not isinstance(error, AgentError):
        remedy = "try again; the server's log says more"
        return problem(AgentError("something went wrong in the server", remedy))
    if isinstance(error, SettingsInvalid):
        fields = {name: plain(issue) for name, issue in error.problems.items()}
        return {**error.event_fields, "fields": fields}
    if isinstance(error, NotConsented):
        return {**error.event_fields, "needs": [plain(need) for need in error.needs]}
    return dict(error.event_fields)


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
        if is_deep(data, _DEEPEST):
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
        has_name = isinstance(self.data, list) and bool(self.data) and isinstance(self.data[0], str)
        return has_name and self.data[0] not in self.reserved


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


def form_of(payload: type[BaseModel]) -> str:
    """The remedy for a payload that can't be read: its fields."""
    names = (field.alias or name for name, field in payload.model_fields.items())
    return f"send {{{', '.join(names)}}}"
