"""The seams: what the packages of the engine know of each other."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from selfeng.core.events import ToolStandingChanged
from selfeng.core.files import File
from selfeng.core.http import Exchange, Network, NetworkAccess
from selfeng.core.package_lock import PackageLock
from selfeng.core.pictures import Sight
from selfeng.core.prompt import FunctionCall, FunctionSchema, Prompt
from selfeng.core.provenance import Provenance, ToolVersion
from selfeng.core.server_tool import ServerCandidate, ServerTool
from selfeng.core.tool import Candidate, Need, Tool, ToolDraft
from selfeng.core.turn import Budget
from selfeng.core.verdict import (
    CallLimits,
    Execution,
    SandboxJob,
    SandboxStatus,
    TestResult,
    Verdict,
    Version,
)

ReplyT = TypeVar("ReplyT", bound=BaseModel)


class ModelClient(Protocol):
    """A chat model. Every call checks the budget first and charges it afterwards, even when it
    fails.

    Raises (each method): ModelUnavailable, ModelRefused, ModelReplyInvalid, BudgetExceeded.
    """

    def stream(self, prompt: Prompt, budget: Budget) -> AsyncGenerator[str, None]:
        """The reply as text, piece by piece. A reply cut off by the length limit raises
        ModelReplyInvalid at its end.
        """

    async def structured(self, prompt: Prompt, reply: type[ReplyT], budget: Budget) -> ReplyT:
        """The reply as a value of the given type."""

    async def choose(
        self, prompt: Prompt, functions: Sequence[FunctionSchema], budget: Budget
    ) -> FunctionCall:
        """The one function that the model calls, always one of `functions`."""

    async def sight(self, budget: Budget) -> Sight:
        """Whether the model sees the pictures of a prompt, which is found out once."""


class Embedder(Protocol):
    """Turns text into unit vectors. Blocking: call it in a thread."""

    @property
    def id(self) -> str:
        """Names model and weights; vectors with different ids are never compared."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of length 1."""


class ToolLibrary(Protocol):
    """The tools that exist."""

    async def search(self, request: str, limit: int = 8) -> tuple[Candidate, ...]:
        """The tools nearest to a request, best first; never retired ones."""

    async def tools(self) -> tuple[Tool, ...]:
        """All tools by name, retired ones too."""

    async def get(self, name: str) -> Tool:
        """The newest version, retired or not. Raises: ToolNotFound, ToolModified."""

    async def check_name(self, name: str) -> None:
        """Raises: ToolNameInvalid, ToolExists."""

    async def check(self, draft: ToolDraft) -> None:
        """Raises: ToolExists, or another LibraryError if the draft can't be registered."""

    async def add(
        self,
        draft: ToolDraft,
        provenance: Provenance | None = None,
        requests: Sequence[str] = (),
    ) -> Tool:
        """Register files, record, vector and version, or nothing. `requests` find the tool, too,
        but do not become example requests, which others see. Raises: ToolNameInvalid, ToolExists.
        """

    async def prepare(self, draft: ToolDraft, requests: Sequence[str] = ()) -> None:
        """Do ahead what `add` of a draft with the same words will need; changes nothing."""

    async def revise(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Tool:
        """Make the next version of the tool of that name, which begins provisional; or change
        nothing.

        Raises: ToolNotFound, ToolModified, VersionConflict (version `based_on` is not the newest).
        """

    async def version(self, name: str, number: int) -> ToolVersion:
        """The tool at a version, which never changes, even after the tool's removal. Raises:
        VersionNotFound.
        """

    async def remove(self, name: str) -> None:
        """Raises: ToolNotFound."""

    async def record_use(
        self, name: str, version: int, call: str, key: str = ""
    ) -> ToolStandingChanged | None:
        """Count a success of that version; `call` is the digest of its arguments. Here and below,
        what has a `key` counts once. Raises: ToolNotFound.
        """

    async def record_failure(
        self, name: str, version: int, problem: str, key: str = ""
    ) -> ToolStandingChanged | None:
        """Count a failure that is the tool's own fault; `problem` describes it in a few words.
        Raises: ToolNotFound.
        """

    async def record_change(
        self, name: str, version: int, problem: str, key: str = ""
    ) -> ToolStandingChanged | None:
        """Suspect a version, as a service that it asks answers otherwise than recorded; `problem`
        says how. Raises: ToolNotFound.
        """

    async def record_request(self, name: str, version: int, request: str) -> None:
        """Add a request that the tool served to those that find it; no error if the tool is gone or
        has changed.

        Raises: EmbedderUnavailable.
        """

    async def forget_request(self, name: str, request: str) -> bool:
        """Remove a request that the tool served; False if it is not found by that. Raises:
        EmbedderUnavailable.
        """


class ServerTools(Protocol):
    """The tools of other MCP servers. Their texts are data, never instructions."""

    async def search(self, request: str, limit: int = 8) -> tuple[ServerCandidate, ...]:
        """The tools nearest to a request, best first. A server that does not answer delays it by
        seconds at most, and only until its tools are known.
        """

    async def get(self, name: str) -> ServerTool | None:
        """The tool of this name, as its server last described it; None if there is none."""

    async def allowed(self, tool: ServerTool) -> bool:
        """Whether a person always allows exactly this tool."""

    async def allow(self, tool: ServerTool) -> None:
        """Always allow this tool; with one that only reads, all of its server that only read."""

    async def call(
        self,
        tool: ServerTool,
        arguments: Mapping[str, Any],
        on_progress: Callable[[float, float | None, str], None] = lambda progress, total, words: (
            None
        ),
    ) -> Execution:
        """Call a tool once, whatever was consented to. Every failure is a value: of the tool, of
        its server, and that the server describes it otherwise by now.
        """


class ToolNetwork(Protocol):
    """The hosts that tools of the library use, and the person's consent to all that they need."""

    async def ungranted(self, tool: Tool | Sight) -> tuple[Need, ...]:
        """The needs of a tool that the person has not granted."""

    async def grant(self, tool: Tool | Sight, needs: Sequence[Need]) -> None:
        """Grant a tool these of its needs, until the person revokes them."""

    async def check_limits(self, limits: CallLimits) -> None:
        """Raises: RequestError: a call gets less on this machine, even with consent."""

    async def lock(self, requirements: Sequence[str]) -> PackageLock:
        """Choose versions of packages, and look up what a person should know of them. Raises:
        RequestError: none fit.
        """

    async def probe(self, accesses: Sequence[NetworkAccess], url: str) -> Exchange:
        """GET a URL within the accesses. Raises: NetworkRefused."""

    async def execute(
        self,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File],
        accesses: Sequence[NetworkAccess],
    ) -> Execution:
        """Call as `Sandbox.execute`, with a network of these accesses; the outcome has what was
        exchanged.
        """


class Sandbox(Protocol):
    """Runs generated code where it can do no harm. Cancelling a call ends its container.

    Raises (verify, verify_versions and execute): SandboxUnavailable, SandboxFailed; never because
    of what the code does.
    """

    async def status(self) -> SandboxStatus: ...

    async def verify(self, job: SandboxJob, on_test: Callable[[TestResult], None]) -> Verdict:
        """Run the suite. `on_test` is called on the event loop, once per finished test, as it
        finishes.
        """

    async def verify_versions(
        self, job: SandboxJob, versions: Sequence[Version], timeout: float | None = None
    ) -> tuple[Verdict, ...]:
        """Run the suite against versions of the tool; a verdict for each, in order.

        Versions that are `apart` run in their own containers, each with another hash seed. A run
        ends at its first test that does not pass, unless the version is to be run `whole`; its
        verdict has the tests up to there, in the order in which they ran. `timeout` is the seconds
        of processor time of one run.
        """

    async def install(self, lock: PackageLock) -> None:
        """Install the packages of a lock for jobs that have it."""

    async def execute(
        self,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        network: Network | None = None,
    ) -> Execution:
        """Call the function of the module's name once, with plain JSON `arguments` by name.

        The tool's current folder contains the `files` and nothing else; what it leaves there comes
        back with the outcome. Its requests go to the `network`, else to the job's exchanges. A call
        that has sent some runs again only on a network that is repeatable.

        Raises:
            RequestError: there are too many files, or too large ones.
        """
