"""The state of the engine's parts, for people."""

from typing import Literal

from selfeng.core.errors import FailureCause
from selfeng.core.files import FileLimits
from selfeng.core.value import Value
from selfeng.core.verdict import SandboxStatus

Part = Literal["search", "sandbox", "tools"]
"""The parts that a start sets up: the embedding model, the place where code runs, the seed tools.
"""
PARTS: dict[Part, str] = {
    "search": "the semantic search",
    "sandbox": "the sandbox",
    "tools": "the seed tools",
}
"""Their names for people."""


class PartStatus(Value):
    """A part that is not ready."""

    part: Part
    state: Literal["waiting", "working", "failed"]
    """waiting: for another part; failed: it is retried from time to time."""
    detail: str = ""
    """One sentence: what is being done, or why it failed and what to do."""
    done: int = 0
    total: int = 0
    """0 if the progress is unknown."""


LocalServerKind = Literal["ollama", "lmstudio", "llamacpp", "vllm", "jan", "other"]
_SERVERS: dict[LocalServerKind, str] = {
    "ollama": "Ollama",
    "lmstudio": "LM Studio",
    "llamacpp": "llama.cpp",
    "vllm": "vLLM",
    "jan": "Jan",
    "other": "A model server",
}


class LocalServer(Value):
    """A model server that runs on this machine and needs no key."""

    kind: LocalServerKind
    address: str
    """Its base URL."""
    models: tuple[str, ...]
    """At least one, in the server's order."""

    def __str__(self) -> str:
        return (
            f"{_SERVERS[self.kind]} runs on this machine: set OPENAI_BASE_URL={self.address} and "
            f"OPENAI_MODEL={self.models[0]} to use it."
        )


class ModelStatus(Value):
    name: str
    offline: bool
    """Whether the built-in offline model is in use."""
    server: str = ""
    """Its address, without credentials; "" for the offline model."""
    answers: bool = False
    """Whether the server has answered, and answers still as far as is known."""
    trouble: str = ""
    """Why it gave no reply the last time, one sentence; "" if it did, or was not asked."""
    cause: FailureCause = ""
    """The cause of the trouble."""
    local_servers: tuple[LocalServer, ...] = ()
    """The servers that can be chosen instead of the offline model with one change of the settings.
    """

    def __str__(self) -> str:
        if self.offline:
            offline = (
                "Built-in offline model: it knows a cookbook of small tools. OPENAI_API_KEY or "
                "OPENAI_BASE_URL gives a full one."
            )
            return "\n".join((offline, *map(str, self.local_servers)))
        return f"{self.name} at {self.server}"


class LibraryStatus(Value):
    tools: int
    search: Literal["behind", "ready", "elsewhere", "away", "absent", "broken"]
    """The state of the index; without it, the search is exact."""
    detail: str


class WorkerStatus(Value):
    """A process that runs the turns of others, on PostgreSQL."""

    machine: str
    unready: str = ""
    """Why it takes none yet; "" if it does."""


class EngineStatus(Value):
    model: ModelStatus
    sandbox: SandboxStatus
    library: LibraryStatus
    files: FileLimits = FileLimits()
    """How much may come with a request."""
    unready: tuple[PartStatus, ...] = ()
    """The parts that are still being set up; requests that need them wait."""
    workers: tuple[WorkerStatus, ...] = ()
    """The processes that run requests, where they share a PostgreSQL; this one among them."""


class Asked(Value):
    """A request that has become a turn."""

    conversation_id: str
    turn_id: str


class EngineLoad(Value):
    """How much there is to do."""

    running: int
    """Turns of this process."""
    queued: int
    """Turns that wait, in all processes that share the database."""
    containers: int
    """Of the sandbox, ready for a job."""
