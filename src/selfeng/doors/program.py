"""The door of synchronous programs: the engine on an event loop in a thread of its own."""

import json
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from selfeng.core.errors import RequestError
from selfeng.core.events import Event, TurnFailed, TurnFinished, TurnStopped
from selfeng.core.files import File
from selfeng.core.owner import LOCAL
from selfeng.core.tool import Tool
from selfeng.core.verdict import Execution
from selfeng.doors.loop_thread import LoopThread
from selfeng.engine import Engine

log = logging.getLogger(__name__)

T = TypeVar("T")


class Program:
    """Turns, tools and calls for a program; every method blocks, and serves any thread. Turns are
    kept with the conversations of the command line.
    """

    def __init__(self, engine: Engine, thread: LoopThread) -> None:
        self._engine, self._thread, self._open = engine, thread, True

    def process_request(
        self,
        user_prompt: str,
        callback: Callable[[Event], object] | None = None,
        files: Sequence[File] = (),
        *,
        agent: str = "",
        conversation: str = "",
    ) -> TurnFinished | TurnFailed | TurnStopped:
        """Run one turn and return its last event.

        `callback` is called with every event, on the engine's thread; what it raises is logged. The
        `contents` of a `FilesMade` are the files that the tool made. `agent` gets the request
        directly. `conversation` is continued, or begun: any name of the program's own, or the id of
        one of the command line. Without one, the turn has a conversation of its own.

        Raises:
            RequestError: as `Engine.ask`, or the door is closed.
        """
        return self._run(
            self._turn(user_prompt, callback or _ignore, tuple(files), agent, conversation)
        )

    def value(self, turn: str = "") -> Any:
        """The value that the tool of a turn returned, whole; of the newest turn that has one,
        without an id.

        Raises: RequestError: there is none, or the door is closed.
        """
        return json.loads(self._run(self._engine.result_of_turn(LOCAL, turn)).content)

    def tools(self) -> tuple[Tool, ...]:
        """All tools of the library, by name. Raises: RequestError: the door is closed."""
        return self._run(self._engine.library.tools())

    def call(
        self, name: str, arguments: Mapping[str, Any] | None = None, files: Sequence[File] = ()
    ) -> Execution:
        """Call a tool by name, without the model; what it raises is a value.

        Raises:
            ToolNotFound, ToolModified, SandboxError
            RequestError: the arguments don't fit its signature, the files are too many or too
                large, or the door is closed.
        """
        return self._run(self._engine.call(LOCAL, name, arguments or {}, files))

    def close(self) -> None:
        """From now on every method raises; `open_orchestrator` closes the engine itself."""
        self._open = False

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if not self._open:
            work.close()
            raise RequestError(
                "this orchestrator is closed", "use it within `with open_orchestrator()`"
            )
        return self._thread.run(work)

    async def _turn(
        self,
        request: str,
        callback: Callable[[Event], object],
        files: Sequence[File],
        agent: str,
        conversation: str,
    ) -> TurnFinished | TurnFailed | TurnStopped:
        known = await self._engine.named(LOCAL, conversation) if conversation else None
        begun = self._engine.ask(LOCAL, known, request, files, agent=agent)
        async with aclosing(self._engine.turn(LOCAL, begun)) as records:
            async for record in records:
                _tell(callback, record.event)
                if isinstance(record.event, TurnFinished | TurnFailed | TurnStopped):
                    return record.event
        raise RequestError("the engine was closed while the turn ran", "ask again")


def _tell(callback: Callable[[Event], object], event: Event) -> None:
    try:
        callback(event)
    except Exception:  # the program's own code: its errors must not end the turn
        log.exception("the callback failed on %s", event.type)


def _ignore(event: Event) -> None:
    """Without a callback nobody is told."""
