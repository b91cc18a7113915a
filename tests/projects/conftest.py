"""Builds with a scripted model over HTTP, in bubblewrap's containers."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from selfeng.core.composition import FreeTools
from selfeng.core.events import BudgetSpent
from selfeng.core.files import MB, FileLimits
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.llm_client import LLMClient
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.consent import Consent
from selfeng.projects.options import ProjectOptions
from selfeng.projects.state import ProjectStore
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
from selfeng_offline.completion import Author, Completion
from selfeng_offline.server import OfflineServer
from tests.doubles import ListedLibrary
from tests.sandbox.backends import Behind
from tests.script import Script, Step


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sandbox(behind: Callable[[str], Behind]) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(
        timeout=20,
        files=FileLimits(count=1, size=10 * MB),
        executors=PoolSize(1, 1, 2),
        **behind("bubblewrap").options,
    )
    yield sandbox
    await sandbox.aclose()


def call(function: str, /, **arguments: Any) -> Completion:
    """A model's call of a function."""
    return Completion(function=function, arguments=arguments, finish_reason="tool_calls")


DONE = call("finish", summary="It is done.")


@dataclass
class Bench:
    """Where a test builds a project called `demo`."""

    folder: Path
    sandbox: Any
    events: list[Any] = field(default_factory=list)
    script: Script = field(default_factory=Script)
    library: ListedLibrary | None = None

    @property
    def files(self) -> dict[str, str]:
        """The project's files as they are now."""
        return {
            file.path: file.content.decode()
            for file in ProjectStore(self.folder).workspace("demo").files()
        }

    def lay_out(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            ProjectStore(self.folder).workspace("demo").write(path, text.encode())

    async def build(
        self,
        *steps: Step,
        author: Author | None = None,
        consent: Consent | None = None,
        actions: Sequence[Callable[..., Any]] = (),
        on_context: Callable[[Any], object] = lambda context: None,
        **options: Any,
    ) -> Any:
        """The last event of a build in which the model replies with these steps, or as the author
        does; `actions` are the program's own.
        """
        self.script = Script(*steps)
        self.events = []
        with OfflineServer(author or self.script, delay=0) as server:
            model = LLMClient(
                model=server.model, api_key=server.api_key, base_url=server.base_url, max_retries=0
            )
            try:
                tools = self.library and FreeTools(self.library, PinnedSources(self.library).of)
                builder = ProjectBuilder(model, self.sandbox, seconds=20.0, tools=tools)
                chosen = ProjectOptions(
                    **{"project_name": "demo", "goal": "print 42", "project_dir": self.folder}
                    | options
                )
                return await builder.build(
                    chosen, self._hear, consent, actions=actions, on_context=on_context
                )
            finally:
                await model.aclose()

    def _hear(self, event: Any) -> None:
        if not isinstance(event, BudgetSpent):
            self.events.append(event)

    def types(self) -> list[str]:
        """Of the events, without what every build has at its beginning."""
        return [event.type.removeprefix("project_") for event in self.events[1:]]

    def prompts(self) -> list[str]:
        """The prompts of the model, call by call."""
        return [str(request.messages[-1]["content"]) for request in self.script.requests]


@pytest.fixture
def bench(tmp_path: Path, sandbox: SecureSandbox) -> Bench:
    return Bench(tmp_path, sandbox)
