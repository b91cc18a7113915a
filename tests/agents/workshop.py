"""The parts of a test of agents: an orchestrator on a model that is scripted over HTTP, a scripted
sandbox, and a store of threads.
"""

from typing import Any
from uuid import uuid4

from selfeng.agents import Delegation, coder, proxy
from selfeng.core.composition import FreeTools
from selfeng.core.events import BudgetSpent, Event, FilesMade, StageEntered
from selfeng.core.files import File
from selfeng.core.prompt import AgentThread
from selfeng.core.turn import Asking, Request
from selfeng.core.verdict import Execution, Returned
from selfeng.durable.doors import DurableThreads
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.llm_client import LLMClient
from selfeng.models.pricing import free
from selfeng.orchestrator import Orchestrator, RequestTurn
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.store.database import open_database
from selfeng.store.threads import Threads
from selfeng.synthesis_engine import SynthesisEngine
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.server import OfflineServer
from tests.doubles import ListedLibrary, ScriptedSandbox
from tests.script import Script


def call(function: str, **arguments: Any) -> Completion:
    return Completion(function=function, arguments=arguments, finish_reason="tool_calls")


def send(recipient: str, message: str) -> Completion:
    return call("SendMessage", recipient=recipient, message=message)


def done(result: str) -> Completion:
    return call("exit", outcome="done", result=result)


def run(code: str) -> Completion:
    return call("run_python", code=code)


def printed(text: str, *files: File, left: tuple[str, ...] = ()) -> Returned:
    """A run of code that came to its end; `left` are the names of all files then."""
    names = ", ".join(f'"{name}"' for name in (*left, *(f.name for f in files)))
    return Returned(type_name="list", text="[]", data=f"[{names}]", stdout=text, files=files)


TITLES = {
    "coder": "write and run code",
    "proxy": "relay messages",
    "decide": "choose a tool",
    "specification": "write the specification",
    "answer": "answer the person",
}


class Hall:
    """The parts that all workshops of a session share: a server whose script is that of the newest,
    and a database.
    """

    def __init__(self, database_url: str) -> None:
        self.server, self.database = (
            OfflineServer(self, delay=0),
            open_database(database_url),
        )
        self.script = Script()

    def complete(self, request: CompletionRequest) -> Completion:
        return self.script.complete(request)


class Workshop:
    """Lives in a test, with a conversation of its own; `prompts` are the steps of the script for
    each prompt.
    """

    def __init__(
        self,
        hall: Hall,
        *outcomes: Execution | Exception,
        library: ListedLibrary | None = None,
        sandbox: ScriptedSandbox | None = None,
        refuses: tuple[str, ...] = (),
        **prompts: Any,
    ) -> None:
        self.script = hall.script = Script(
            titled={TITLES[name]: steps for name, steps in prompts.items()}, refuses=refuses
        )
        self.sandbox, self.conversation = sandbox or ScriptedSandbox(*outcomes), uuid4().hex
        self.threads, library = Threads(hall.database), library or ListedLibrary()
        key, url = hall.server.api_key, hall.server.base_url
        self._model = model = LLMClient(
            model="offline", base_url=url, api_key=key, price=free, max_retries=0
        )
        executor, synthesis = (
            Executor(model, self.sandbox, library),
            SynthesisEngine(model, self.sandbox, library, "scripted"),
        )
        tools = FreeTools(library, PinnedSources(library).of)
        agents = (proxy(model), coder(model, most_steps=5, tools=tools))
        threads = DurableThreads(self.threads)
        self._orchestrator = Orchestrator(
            library,
            executor,
            synthesis,
            ResponseSynthesizer(model),
            delegation=lambda toolsmith: Delegation(self.sandbox, (*agents, toolsmith), threads),
        )
        self.events: list[Event] = []
        self.course: list[StageEntered] = []

    async def __aenter__(self) -> "Workshop":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._model.aclose()

    async def ask(self, request: str, agent: str = "", **options: Any) -> list[Event]:
        """Run one turn; its events without those of the budget and of the stages."""
        events = [event async for event in self.begin(request, agent, **options)]
        self.course = [event for event in events if isinstance(event, StageEntered)]
        self.events = [
            event for event in events if not isinstance(event, BudgetSpent | StageEntered)
        ]
        return self.events

    def begin(self, request: str, agent: str = "", **options: Any) -> RequestTurn:
        return self._orchestrator.begin(
            Request(request, kind=Asking(agent=agent), conversation_id=self.conversation, **options)
        )

    def thread(self, sender: str, agent: str) -> AgentThread:
        return self.threads.open(self.conversation, sender, agent)

    def way(self, within: str = "") -> list[str]:
        """The stages that the turn has come to, or a delegation."""
        return [event.node for event in self.course if event.within == within]

    @property
    def told(self) -> list[str]:
        """The events in a word each, with whom delegations are for and where they belong."""
        return [_word(event) for event in self.events]

    def seen(self, number: int) -> list[str]:
        """The messages of a model call, one by one."""
        return [message["content"] for message in self.script.requests[number].messages]


def _word(event: Any) -> str:
    within = f"{event.within}: " if getattr(event, "within", "") else ""
    state = f" {event.state}" if hasattr(event, "state") else ""
    whom = f" {event.sender} to {event.recipient}" if event.type == "delegation" else ""
    files = (
        f" {', '.join(file.name for file in event.files)}" if isinstance(event, FilesMade) else ""
    )
    return f"{within}{event.type}{whom}{files}{state}"
