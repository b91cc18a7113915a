"""A tool: one verified Python function with its tests, and what the library knows about it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Literal, Self

from selfeng.core.http import Exchange, NetworkAccess
from selfeng.core.package_lock import Package, PackageLock
from selfeng.core.signature import Signature
from selfeng.core.value import Value
from selfeng.core.verdict import USUAL, CallLimits, SandboxJob

Standing = Literal["provisional", "trusted", "suspect", "retired"]
"""provisional: new, under observation; trusted: it has served several different calls; suspect:
a service that it asks answers otherwise than recorded; retired: searches no longer offer it.
"""


class Requirement(Value):
    """A tool of the library that another tool imports, pinned to one version."""

    name: str
    version: int


Need = NetworkAccess | Package | CallLimits
"""A requirement of a tool that takes a person's consent."""


def needs_of(
    network: Sequence[NetworkAccess], lock: PackageLock | None, limits: CallLimits
) -> tuple[Need, ...]:
    return (*network, *(lock.packages if lock else ()), *((limits,) if limits != USUAL else ()))


class Grant(Value):
    """A person's consent that a version of a tool has something that it needs."""

    tool: str
    version: int
    need: Need
    owner: str
    at: datetime
    """UTC."""


class Imported(Value):
    """Where a tool of another library came from."""

    how: Literal["imported"] = "imported"
    file: str
    signer: str = ""
    """Fingerprint of the key that signed it; "" if it was not signed."""
    signer_name: str = ""
    """The name of the key, if it was trusted when the tool was imported."""
    requests: tuple[str, ...] = ()
    """Its example requests, until it has served: then they are those of the tool, and the search
    uses them.
    """

    def __str__(self) -> str:
        signed = self.signer and f", signed by {self.signer_name or 'an unknown key'}"
        return f"imported from {self.file}{signed or ', not signed'}"


class ToolDraft(Value):
    """A verified function that is ready for registration."""

    name: str
    description: str
    signature: Signature
    code: str
    """Python source of `tools/<name>.py`."""
    tests: str
    """Python source of `tools/test_<name>.py`; imports the function from the module `<name>`."""
    example_requests: tuple[str, ...] = ()
    """Requests, as people would phrase them, that this tool answers; the search uses them."""
    model: str = ""
    """Model that wrote it; "" for a tool written by hand."""
    requires: tuple[Requirement, ...] = ()
    """Every tool of the library that the code imports, directly or through other tools; one version
    of each.
    """
    imported: Imported | None = None
    """None for a tool that was made here."""
    witnesses: tuple[str, ...] = ()
    """Sources of other candidates that passed the gate, which run concurrently with the tool and
    whose results are compared with its own; never part of an export.
    """
    network: tuple[NetworkAccess, ...] = ()
    """The hosts that the code sends requests to. A call needs a person's grant for each."""
    exchanges: tuple[Exchange, ...] = ()
    """The exchanges recorded with these hosts; the answers of later calls are compared with them.
    """
    lock: PackageLock | None = None
    """The packages that the code imports beyond those of the sandbox, and what they need."""
    limits: CallLimits = CallLimits()
    """The limits of a call."""

    @property
    def needs(self) -> tuple[Need, ...]:
        """The needs of a call that take a person's grant."""
        return needs_of(self.network, self.lock, self.limits)

    @property
    def replays(self) -> tuple[Exchange, ...]:
        """The exchanges that tests replay: those of probes."""
        return tuple(exchange for exchange in self.exchanges if not exchange.from_call)

    @property
    def witness_modules(self) -> dict[str, str]:
        """The sources of the witnesses by the names under which a call imports them."""
        return {f"{self.name}_witness_{n}": code for n, code in enumerate(self.witnesses)}

    def job(self, code: str | None = None, tests: str = "", **more: Any) -> SandboxJob:
        """A run of it, or of other `code` in its place, with its packages; hosts answer as
        recorded. `more` are fields of the job.
        """
        code = self.code if code is None else code
        return SandboxJob(
            self.name, code, tests, **{"exchanges": self.replays, "lock": self.lock} | more
        )

    def for_calls(self, calls: Iterable[Mapping[str, Any]]) -> Self:
        """The tool with the hosts that calls with these arguments need."""
        needs = (a.at(call.get(a.argument)) for call in calls for a in self.network)
        return self.model_copy(update={"network": tuple(dict.fromkeys(chain(*needs)))})

    def draft(self) -> "ToolDraft":
        """Only what is needed to register the same again."""
        return ToolDraft(**{field: getattr(self, field) for field in ToolDraft.model_fields})


class Tool(ToolDraft):
    """A tool of the library."""

    created_at: datetime
    """UTC."""
    digest: str
    """sha256 of the verified code and tests, see `source_digest`."""
    uses: int = 0
    """Successful executions."""
    version: int = 1
    """Counts from 1; a repair, an edit or a rollback makes the next one."""
    standing: Standing = "provisional"
    merged_into: str = ""
    """retired: the tool that searches find in its place; "" for none."""
    frozen: bool = False
    """Whether only a person changes it, and no automatic repair."""


class Candidate(Value):
    """A tool that a search found."""

    tool: Tool
    similarity: float
    """Cosine between request and tool, -1..1."""
    confidence: float
    """Calibrated probability that the tool fits, 0..1; compared with SIMILARITY_THRESHOLD."""
