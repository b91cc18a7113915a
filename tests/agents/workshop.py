"""What a test of agents works with: an orchestrator on a model that is scripted over HTTP, a scripted sandbox, and a store of threads."""

from pathlib import Path
from typing import Any

from src.agents import Delegation, coder, proxy
from src.core.events import BudgetSpent, Event, FilesMade
from src.core.files import File
from src.core.verdict import Execution, Returned
from src.executor import Executor
from src.llm.pricing import free
from src.llm_client import LLMClient
from src.offline.completion import Completion
from src.offline.script import Script
from src.offline.server import OfflineServer
from src.orchestrator import Orchestrator
from src.response_synthesizer import ResponseSynthesizer
from src.store.database import open_database
from src.store.threads import Threads
from src.synthesis_engine import SynthesisEngine
from tests.doubles import ListedLibrary, ScriptedSandbox


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


class Workshop:
    """Lives in a test; `prompts` are the steps of the script for each prompt."""

    def __init__(self, folder: Path, *outcomes: Execution | Exception, library: ListedLibrary | None = None, **prompts: Any) -> None:
        self.script = Script(titled={TITLES[name]: steps for name, steps in prompts.items()})
        self.sandbox = ScriptedSandbox(*outcomes)
        self._server = OfflineServer(self.script, delay=0)
        self._database = open_database(f"sqlite:///{folder}/agents.db")
        self.threads, self._library = Threads(self._database), library or ListedLibrary()
        self.events: list[Event] = []

    async def __aenter__(self) -> "Workshop":
        self._server.start()
        self._model = LLMClient(model="offline", base_url=self._server.base_url, api_key=self._server.api_key, price=free, max_retries=0)
        executor = Executor(self._model, self.sandbox, self._library)
        synthesis = SynthesisEngine(self._model, self.sandbox, self._library, "scripted")
        delegation = Delegation(self.sandbox, (proxy(self._model), coder(self._model)), self.threads)
        self._orchestrator = Orchestrator(self._library, executor, synthesis, ResponseSynthesizer(self._model), delegation=delegation)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._model.aclose()
        self._server.stop()
        self._database.dispose()

    async def ask(self, request: str, agent: str = "", conversation: str = "c1", **options: Any) -> list[Event]:
        """Run one turn; its events without those of the budget."""
        running = self._orchestrator.begin(request, agent=agent, conversation_id=conversation, **options)
        self.events = [event async for event in running if not isinstance(event, BudgetSpent)]
        return self.events

    @property
    def told(self) -> list[str]:
        """The events in a word each, with whom delegations are for and where they belong."""
        return [_word(event) for event in self.events]

    def seen(self, number: int) -> list[str]:
        """What a model call was shown, message by message."""
        return [message["content"] for message in self.script.requests[number].messages]


def _word(event: Any) -> str:
    within = f"{event.within}: " if getattr(event, "within", "") else ""
    state = f" {event.state}" if hasattr(event, "state") else ""
    whom = f" {event.sender} to {event.recipient}" if event.type == "delegation" else ""
    files = f" {', '.join(file.name for file in event.files)}" if isinstance(event, FilesMade) else ""
    return f"{within}{event.type}{whom}{files}{state}"
