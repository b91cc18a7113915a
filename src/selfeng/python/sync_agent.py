"""Agent: the agent for programs without an event loop, and for notebooks, which run another."""

import concurrent.futures.thread  # noqa: F401 - see `Agent.__init__`
import threading
import weakref
from collections.abc import Generator, Iterable, Mapping
from os import PathLike
from typing import Any, Self, TypeVar, overload

from selfeng.core.events import Record
from selfeng.core.tool import Candidate, Tool
from selfeng.core.verdict import Execution
from selfeng.doors.loop_thread import LoopThread
from selfeng.python.async_agent import AsyncAgent, Given
from selfeng.python.reply import Reply
from selfeng.settings import Settings
from selfeng.store.conversation_list import ConversationSummary

T = TypeVar("T")


class Agent:
    """The agent on a folder of its own, see `AsyncAgent`, whose methods these are; every one blocks
    and serves any thread. It opens at its first use, on an event loop in a thread of its own, and
    closes with `close`, at the end of `with`, or with the program.
    """

    def __init__(
        self,
        folder: str | PathLike[str] | None = None,
        *,
        model: str | None = None,
        api_key: str | None = None,
        base_url: str | None = None,
        **settings: Any,
    ) -> None:
        """See `AsyncAgent`. Raises: ConfigurationError: a setting is unknown, or has a value that
        is not allowed.
        """
        self._agent = AsyncAgent(
            folder, model=model, api_key=api_key, base_url=base_url, **settings
        )
        self._thread = LoopThread("agent")
        self._finalizer = weakref.finalize(self, _close, self._agent, self._thread)
        # Before the pools of threads end, whose module was imported earlier; what `atexit` calls
        # comes too late for closing, which needs them.
        threading._register_atexit(self._finalizer)  # type: ignore[attr-defined]

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        """The settings that the agent works with."""
        return self._agent.settings

    def open(self) -> None:
        self._thread.run(self._agent.open())

    def close(self) -> None:
        self._finalizer()

    def ask(
        self,
        request: str = "",
        *,
        conversation: str = "",
        files: Iterable[Given] = (),
        answers: Mapping[str, object] | None = None,
        agent: str = "",
    ) -> Reply:
        return self._thread.run(
            self._agent.ask(
                request, conversation=conversation, files=files, answers=answers, agent=agent
            )
        )

    def stream(
        self,
        request: str = "",
        *,
        conversation: str = "",
        files: Iterable[Given] = (),
        answers: Mapping[str, object] | None = None,
        agent: str = "",
    ) -> Generator[Record, None, None]:
        return self._thread.stream(
            self._agent.stream(
                request, conversation=conversation, files=files, answers=answers, agent=agent
            )
        )

    def build(self, description: str) -> Tool:
        return self._thread.run(self._agent.build(description))

    def tools(self) -> tuple[Tool, ...]:
        return self._thread.run(self._agent.tools())

    def tool(self, name: str) -> Tool:
        return self._thread.run(self._agent.tool(name))

    def search(self, request: str, limit: int = 5) -> tuple[Candidate, ...]:
        return self._thread.run(self._agent.search(request, limit))

    @overload
    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        files: Iterable[Given] = (),
    ) -> Any: ...

    @overload
    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: type[T],
        files: Iterable[Given] = (),
    ) -> T: ...

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        returns: Any = None,
        files: Iterable[Given] = (),
    ) -> Any:
        return self._thread.run(self._agent.call(name, arguments, returns=returns, files=files))

    def execute(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        files: Iterable[Given] = (),
    ) -> Execution:
        return self._thread.run(self._agent.execute(name, arguments, files=files))

    def conversations(self, words: str = "") -> tuple[ConversationSummary, ...]:
        return self._thread.run(self._agent.conversations(words))

    def history(self, conversation: str) -> tuple[Record, ...]:
        return self._thread.run(self._agent.history(conversation))


def _close(agent: AsyncAgent, thread: LoopThread) -> None:
    if not thread.closed:
        thread.run(agent.aclose())
        thread.close()
