"""The tools that the engine always offers to agents of other programs, by their arguments; without
MCP, which takes a second to import.
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, WithJsonSchema, model_validator

from selfeng.core.files import File, FileName
from selfeng.core.question import AnswerValue
from selfeng.core.schedule import SchedulePlan
from selfeng.core.value import Value
from selfeng.engine import LONGEST_REQUEST
from selfeng.stages.execution.programs import LONGEST as LONGEST_PROGRAM
from selfeng.stages.library_health import STALE_DAYS

_LONGEST_COMPLAINT = 9_000


class GivenFile(Value):
    """A file within a call."""

    name: FileName
    text: str | None = None
    data: str | None = None
    """base64, for content that is not text."""

    @model_validator(mode="after")
    def _has_one_content(self) -> Self:
        if (self.text is None) == (self.data is None):
            raise ValueError(f"the file {self.name} needs text or data, and one of them only")
        self.file()
        return self

    def file(self) -> File:
        """Raises: ValueError: the data is not base64."""
        if self.text is not None:
            return File(name=self.name, content=self.text.encode(errors="surrogatepass"))
        return File(name=self.name, content=b64decode(self.data or "", validate=True))


_FILE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "A plain name, such as sales.csv."},
        "text": {"type": "string", "description": "The content, if it is text."},
        "data": {"type": "string", "description": "Else the content in base64."},
    },
    "required": ["name"],
    "additionalProperties": False,
}
GivenFiles = Annotated[
    tuple[GivenFile, ...], WithJsonSchema({"type": "array", "items": _FILE, "default": []})
]


class AskCall(Value):
    """Ask the agent for anything that code can work out. It uses a tool of its library, or builds,
    tests and keeps a new one, which takes up to a few minutes.
    """

    request: Annotated[str, Field(max_length=LONGEST_REQUEST)] = Field(
        description="What you need, in words and with all values. Blank with answers."
    )
    conversation: str = Field(
        "", description="Id of an earlier result, to continue that conversation."
    )
    answers: dict[str, AnswerValue] = Field(
        {}, description="Answers to the open questions of the conversation, by their ids."
    )
    files: GivenFiles = Field((), description="Files that the request is about.")


class WrongCall(Value):
    """Say that an answer of `ask` is wrong. The tool that gave it is corrected, with a test for the
    fault, and the right answer comes back, unless the data show that it was right.
    """

    turn: Annotated[str, Field(min_length=1)] = Field(description="Id of the wrong result's turn.")
    complaint: Annotated[str, Field(max_length=_LONGEST_COMPLAINT)] = Field(
        "", description="What is wrong, in words."
    )
    value: Annotated[str, Field(max_length=_LONGEST_COMPLAINT)] = Field(
        "", description="The right value, as JSON or a text."
    )


class FindCall(Value):
    """Find the tools of the library that fit a request best, with their input schemas."""

    request: Annotated[str, Field(min_length=1, max_length=LONGEST_REQUEST)] = Field(
        description="What the tool should do, in words."
    )


class RunCall(Value):
    """Run a tool of the library in the sandbox, without a model."""

    name: str = Field(description="Name of the tool, as find_tools gives it.")
    arguments: dict[str, Any] = Field({}, description="What its input schema asks for.")
    files: GivenFiles = Field((), description="Files that the arguments name.")


class ProgramCall(Value):
    """Run a program that combines tools of the library, in one call of the sandbox, without a
    model: values pass from tool to tool. It defines `def program(...)`, and imports each tool by
    the line that find_tools gives.
    """

    code: Annotated[str, Field(min_length=1, max_length=LONGEST_PROGRAM)] = Field(
        description="Python source."
    )
    arguments: dict[str, Any] = Field({}, description="The arguments of `program`, by name.")
    files: GivenFiles = Field((), description="Files for its current folder.")


class GrantsCall(Value):
    """List the hosts, packages and limits that the person allows tools of the library."""

    tool: str = Field("", description="Name of a tool, with what it still lacks; all by default.")


class AllowCall(Value):
    """Ask the person to allow a tool what it needs, also in later versions. They consent in a
    form of this client; without forms, the error says where.
    """

    tool: str = Field(description="Name of the tool.")
    need: str = Field("", description="A host, a package or `limits`; all by default.")


class RevokeCall(Value):
    """Have the person asked again before a tool has something, or anything, that it needs."""

    tool: str = Field(description="Name of the tool.")
    need: str = Field("", description="A host, a package or `limits`; all grants by default.")


class HealthCall(Value):
    """List the tools of the library that do the same as another, have weak tests, or are slow,
    suspect or unused. Nothing changes; a person may merge or retire them.
    """

    days: int = Field(STALE_DAYS, description="Days after which an unused tool is stale.", ge=0)


class AddScheduleCall(SchedulePlan):
    """Have a tool of the library called at set times, without a model, as long as a server runs.
    `cron` has minute, hour, day, month and weekday, such as `0 8 * * mon`; `timezone` is such as
    Europe/Berlin. The runs are turns of the conversation that the result names.
    """

    files: GivenFiles = Field((), description="Files that the arguments name.")


class ListSchedulesCall(Value):
    """List your schedules, when they are due, and what their last runs came to. A run that fails,
    or needs consent, pauses its schedule.
    """


class RunScheduleCall(Value):
    """Run a schedule once, now, also a paused one."""

    name: str = Field(description="Name or id of the schedule.")


class PauseScheduleCall(Value):
    """Begin no more runs of a schedule, or begin them again."""

    name: str = Field(description="Name or id of the schedule.")
    resume: bool = Field(False, description="Begin them again, from the next time on.")


FIXED: Mapping[str, type[Value]] = {
    "ask": AskCall,
    "answer_is_wrong": WrongCall,
    "find_tools": FindCall,
    "run_tool": RunCall,
    "run_program": ProgramCall,
    "list_grants": GrantsCall,
    "allow_need": AllowCall,
    "revoke_grant": RevokeCall,
    "library_health": HealthCall,
    "list_schedules": ListSchedulesCall,
    "add_schedule": AddScheduleCall,
    "run_schedule": RunScheduleCall,
    "pause_schedule": PauseScheduleCall,
}
"""The arguments of the tools that are always there, by name."""
AT_ONCE = (
    *(FindCall, ProgramCall, GrantsCall, AllowCall, RevokeCall, HealthCall),
    *(ListSchedulesCall, AddScheduleCall, PauseScheduleCall),
)
"""Those that begin no turn."""
