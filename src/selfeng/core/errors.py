"""Every error the engine raises on purpose.

AgentError
├── ConfigurationError      a setting has a value that is not allowed
├── RequestError            the caller sent something unusable (blank, too long, wrong form)
│   ├── ResourceNotFound    the caller has no such conversation, turn, file, project or lesson
│   ├── ResourceBusy        another action is using the project
│   └── LimitReached        too many turns are waiting
├── ModelError
│   ├── ModelUnavailable    no connection, timeout, 5xx or 429 after the retries
│   ├── ModelRefused        the model declined or its answer was filtered
│   └── ModelReplyInvalid   the reply is malformed, even after the repair round
├── BudgetExceeded          the turn or build has used up its calls, tokens, seconds or money
│   └── MonthSpent          the month's money is used up, by all turns together
├── SandboxError            the sandbox is broken; never the fault of the code that ran in it
│   ├── SandboxUnavailable  no engine answers, or the image is missing
│   └── SandboxFailed       the engine or the worker broke in the middle of a job
├── LibraryError
│   ├── ToolNameInvalid     the name cannot be a tool's name
│   ├── ToolExists          a tool of that name is registered
│   ├── ToolNotFound        no tool of that name is registered
│   ├── ToolModified        the tool's files differ from what was verified
│   ├── VersionNotFound     the tool has no version of that number
│   ├── VersionConflict     the new version is based on an old one, or equals the newest
│   └── FileInTheWay        another file exists where the tool's would go
├── DatabaseUnavailable     the database can't be opened, or works no longer
├── EmbedderUnavailable     the embedding model is not set up or damaged, or its server fails
├── NotConsented            a call needs a person's consent, which can't be asked for there
├── NetworkRefused          a tool's request is not granted, forbidden, or not answered
├── WorkspaceError          an action on a workspace failed: its arguments, its file or its size
├── ProjectGivenUp          the model judges that a project's goal can't be met
├── GraphError              a state graph lacks what it is asked for
│   ├── NodeUnknown         no node has that name; lists the nodes
│   └── SymbolUnknown       the current node has no transition for the symbol; lists its symbols
├── PlanFailed              a step of a plan failed; names it, why, and what was reached
├── AgentGaveUp             an agent reports that it failed, and why
├── StillUnclear            the question limit is reached, and something is still missing
└── SynthesisFailed         a step of a synthesis gave up; names the step and why
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from selfeng.core.consent_question import ConsentAsked
    from selfeng.core.http import NetworkAccess
    from selfeng.core.tool import Need

FailureKind = Literal["task", "budget", "model", "sandbox", "library", "request", "internal"]
"""The kind of a failure. task: the work itself, in a working environment; budget: a limit was
reached; request: the caller sent what can't be used; the others: that part is broken.
"""
FailureCause = Literal[
    "", "unreachable", "slow", "interrupted", "failing", "overloaded", "no_access", "no_quota",
    "unknown_model", "no_model_server", "rejected", "too_long", "declined", "unusable", "calls",
    "tokens", "seconds", "cost", "month", "steps", "missing", "busy", "full", "name", "too_large",
    "running", "unfinished", "settings", "conflict", "modified", "exists", "frozen", "in_the_way",
    "said", "consent", "database", "embedder", "setting", "silent", "unsaved", "limits",
    "folder",
]  # fmt: skip
"""Within a kind, what went wrong; "" for whatever else. said: the message is the model's own words
for the person.
"""
CAUSES: Mapping[FailureKind, tuple[FailureCause, ...]] = {
    "task": ("said", "frozen"),
    "budget": ("calls", "tokens", "seconds", "cost", "month", "steps"),
    "model": (
        "unreachable", "slow", "interrupted", "failing", "overloaded", "no_access", "no_quota",
        "unknown_model", "no_model_server", "rejected", "too_long", "declined", "unusable",
    ),
    "sandbox": ("missing",),
    "library": (
        "name", "exists", "missing", "modified", "frozen", "conflict", "in_the_way", "unfinished",
    ),
    "request": (
        "missing", "busy", "full", "name", "too_large", "running", "unfinished", "settings",
        "conflict", "modified", "limits", "folder",
    ),
    "internal": (
        "interrupted", "database", "embedder", "setting", "silent", "unsaved", "consent",
    ),
}  # fmt: skip
"""The causes of each kind, in addition to "". The page has a sentence for each
(web/static/locales).
"""


class AgentError(Exception):
    """Base of all errors above. `str(error)` names the value that is wrong; `remedy` says what to
    do, "" if nothing.
    """

    kind: ClassVar[FailureKind] = "internal"
    cause: FailureCause = ""

    def __init__(
        self,
        message: str,
        remedy: str = "",
        where: str = "",
        *,
        cause: FailureCause = "",
        **values: str | float,
    ) -> None:
        """`cause`: by default that of the class; `values`: names and numbers in the message, by
        their places in the page's sentence for the cause.
        """
        super().__init__(message)
        self.message, self.remedy = message, remedy
        self.values: Mapping[str, Any] = values
        self.cause = cause or type(self).cause
        self.where = where
        """The stage of the turn that gave up, once one is known; see `stage`."""

    @property
    def event_fields(self) -> Mapping[str, Any]:
        """The error's fields in the last event of a turn or build."""
        return {
            "message": self.message,
            "remedy": self.remedy,
            "kind": self.kind,
            "cause": self.cause,
            "values": self.values,
        }


class ConfigurationError(AgentError):
    """A setting has a value that is not allowed; names variable, value and what is allowed."""

    cause = "setting"


class RequestError(AgentError):
    """The caller sent something unusable."""

    kind = "request"


class ResourceNotFound(RequestError):
    """The caller has no conversation, turn, file, project or lesson of that name. The message never
    says whether another caller has one.
    """

    cause = "missing"


class ResourceBusy(RequestError):
    """Another action is using the project."""

    cause = "busy"


class LimitReached(RequestError):
    """Too many turns are waiting already."""

    cause = "full"


class ModelError(AgentError):
    """Base of everything that goes wrong between us and the model."""

    kind: ClassVar[FailureKind] = "model"


class ModelUnavailable(ModelError):
    """The model's server does not answer, answers too late, or keeps answering 429 or 5xx."""

    cause: FailureCause = "unreachable"


class ModelRefused(ModelError):
    """The model declined, or a filter cut its answer."""

    cause = "declined"


class ModelReplyInvalid(ModelError):
    """The reply does not have the required form, and the repair round did not help."""

    cause = "unusable"


class BudgetExceeded(AgentError):
    """The turn, or the build, has used up one of its limits."""

    kind = "budget"


class MonthSpent(BudgetExceeded):
    """The turns of this month have cost what MONTH_MAX_COST allows."""

    cause = "month"


class SandboxError(AgentError):
    """The sandbox is broken. Never raised because of what the sandboxed code did."""

    kind = "sandbox"


class SandboxUnavailable(SandboxError):
    """There is no engine, or no image, to run code with."""

    cause = "missing"


class SandboxFailed(SandboxError):
    """The engine or the worker broke in the middle of a job."""


class LibraryError(AgentError):
    """Base of what the tool library refuses to do."""

    kind = "library"


class ToolNameInvalid(LibraryError):
    """The name cannot be a tool's name."""

    cause = "name"


class ToolExists(LibraryError):
    """A tool of that name is registered already."""

    cause = "exists"


class ToolNotFound(LibraryError):
    """No tool of that name is registered."""

    cause = "missing"


class ToolModified(LibraryError):
    """The tool's files differ from what was verified."""

    cause = "modified"


class VersionNotFound(LibraryError):
    """The tool has no version of that number."""

    cause = "missing"


class VersionConflict(LibraryError):
    """A new version is based on one that is no longer the newest, or is identical to the newest."""

    cause = "conflict"


class FileInTheWay(LibraryError):
    """A file with other content exists where a tool's file would go, and belongs to no tool."""

    cause = "in_the_way"


class DatabaseUnavailable(AgentError):
    """The database can't be opened, or works no longer: it is locked, full, damaged or away."""

    cause = "database"


class EmbedderUnavailable(AgentError):
    """The embedding model is not set up, its weights are damaged, or its server does not give
    vectors.
    """

    cause = "embedder"


class NotConsented(AgentError):
    """A call reaches what is outside the sandbox, and no person has allowed that."""

    cause = "consent"
    asks: "ConsentAsked | None" = None
    """The question to ask the person before a second try."""
    needs: "tuple[Need, ...]" = ()
    """The needs of the library's tool that lack consent."""


class NetworkRefused(AgentError):
    """A tool's request was not sent, or not answered. The message names host and reason, and is
    what the tool's code sees.
    """

    kind = "task"
    lacks: "NetworkAccess | None" = None
    """The host that a redirect led to, if a person can allow it."""


class WorkspaceError(AgentError):
    """An action on a workspace can't be done; the message goes to the caller, most often a
    model.
    """

    kind = "task"


class ProjectGivenUp(AgentError):
    """The model judges that the goal of a project can't be met; the message says why."""

    kind = "task"
    cause = "said"


class GraphError(AgentError):
    """A state graph lacks what it is asked for."""


class NodeUnknown(GraphError):
    """The graph has no node of that name."""


class SymbolUnknown(GraphError):
    """The current node has no transition for the symbol."""


class PlanFailed(AgentError):
    """A step of a plan failed, and with it the plan, for the reason that is its `__cause__`."""

    @property
    def event_fields(self) -> Mapping[str, Any]:
        if not isinstance((reason := self.__cause__), AgentError):
            return super().event_fields
        of_reason = {"kind": reason.kind, "cause": reason.cause, "values": reason.values}
        return {**super().event_fields, **of_reason}


class AgentGaveUp(AgentError):
    """An agent reports that it failed; `where` names it."""

    kind = "task"
    cause = "said"


class StillUnclear(AgentError):
    """The person was asked as often as allowed, and something is still missing."""

    kind = "task"


class SynthesisFailed(AgentError):
    """A step of a synthesis gave up; `where` names it."""

    kind = "task"


class Diverged(Exception):
    """A turn that was resumed in another process took a different path than before. Not an
    `AgentError`: no stage may take it for a failure of the work.
    """


class TakenOver(Exception):
    """Another process runs this turn now; here it ends without a trace. As `Diverged`."""


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Mark errors raised inside with the stage they come from; the innermost stage wins."""
    try:
        yield
    except AgentError as error:
        error.where = error.where or name
        raise
