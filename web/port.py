"""The engine as the web server sees it."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from selfeng.core.events import Record
from selfeng.core.files import File, FileLimits
from selfeng.core.lesson import Lesson
from selfeng.core.provenance import ToolVersion
from selfeng.core.question import Answer
from selfeng.core.status import Asked, EngineStatus
from selfeng.core.tool import Tool
from selfeng.projects.desk import ProjectDesk
from selfeng.store.conversation import ConversationSummary

LibraryChange = Callable[[str, str, str], None]
"""Called with a tool's name, what happened to it, and why."""

AsyncMode = Literal["eventlet", "threading"]


class Engine(Protocol):
    """Lives on one asyncio loop; its callbacks are called there."""

    @property
    def file_limits(self) -> FileLimits:
        """How much may come with a request."""
        ...

    @property
    def projects(self) -> ProjectDesk:
        """The projects of all people; as with `ask`, turns there are started last."""
        ...

    async def ask(
        self, owner: str, conversation_id: str | None, request: str, files: Sequence[File] = (), *, answers: Sequence[Answer] = ()
    ) -> Asked:
        """Begin a turn, in a new conversation if there is no id. `answers` are to the questions that the conversation waits for.

        The turn's task must be started last, with nothing awaited after it: then whoever called can subscribe to the
        turn before its first record comes out.

        Raises:
            RequestError: the request is blank or too long, the files are too many or too large, `owner` has no such
                conversation, or an answer does not fit.
        """
        ...

    async def keep(self, owner: str, turn_id: str) -> Asked:
        """Begin a turn that makes one tool of the plan of another, in the same conversation; otherwise as `ask`.

        Raises:
            RequestError: `owner` has no such turn, or its plan can't be kept.
        """
        ...

    async def stop(self, owner: str, turn_id: str) -> bool:
        """Cancel a turn; False if `owner` has no such turn running."""
        ...

    async def conversations(self, owner: str) -> tuple[ConversationSummary, ...]: ...

    async def history(self, owner: str, conversation_id: str, after: int) -> tuple[Record, ...]:
        """The records after a number.

        Raises:
            RequestError: `owner` has no such conversation.
        """
        ...

    async def file(self, owner: str, conversation_id: str, sha256: str, name: str) -> File:
        """A file of a conversation, by its content's hash and its name.

        Raises:
            RequestError: there is none, or `owner` has no such conversation.
        """
        ...

    def subscribe(self, on_records: Callable[[Sequence[Record]], None]) -> Callable[[], None]:
        """Receive all records of everybody; returns what ends that."""
        ...

    async def tools(self) -> tuple[Tool, ...]: ...

    async def tool(self, name: str) -> Tool:
        """Raises: ToolNotFound, ToolModified."""
        ...

    async def examples(self, owner: str, tool: Tool | ToolVersion) -> tuple[str, ...]:
        """The example requests of a tool, without those that somebody else had asked before it was there."""
        ...

    async def used_requests(self, owner: str, name: str) -> tuple[str, ...]:
        """Of what a tool has served and is found by, what `owner` has asked, the newest first."""
        ...

    async def forget_request(self, owner: str, name: str, request: str) -> tuple[str, ...]:
        """Have a tool found no more by a request of `owner` that it has served; those that are left.

        Raises:
            RequestError: there is no such request.
        """
        ...

    async def lessons(self) -> tuple[Lesson, ...]:
        """All, the weightiest first, expired ones last."""
        ...

    async def edit_lesson(self, lesson_id: str, trigger: str, advice: str) -> Lesson:
        """Raises: RequestError: there is no such lesson."""
        ...

    async def remove_lesson(self, lesson_id: str) -> None:
        """Raises: RequestError: there is no such lesson."""
        ...

    async def versions(self, name: str) -> tuple[ToolVersion, ...]:
        """The newest first; also of a tool that was removed. Raises: ToolNotFound."""
        ...

    async def version(self, name: str, number: int) -> ToolVersion:
        """Raises: VersionNotFound."""
        ...

    async def difference(self, name: str, before: int, after: int) -> str:
        """A unified diff of code and tests. Raises: VersionNotFound."""
        ...

    async def rollback(self, name: str, to: int) -> Tool:
        """Raises: VersionNotFound, VersionConflict, ToolNotFound, ToolModified."""
        ...

    async def retire(self, name: str) -> Tool:
        """Raises: ToolNotFound."""
        ...

    async def restore(self, name: str) -> Tool:
        """Raises: ToolNotFound."""
        ...

    async def status(self) -> EngineStatus: ...

    def on_status_change(self, callback: Callable[[], None]) -> None:
        """Call back when what is being set up has changed."""
        ...

    def on_library_change(self, callback: LibraryChange) -> Callable[[], None]: ...

    def on_lessons_change(self, callback: Callable[[], None]) -> Callable[[], None]: ...

    async def aclose(self) -> None:
        """End all turns, keep what they said, and let go of everything."""
        ...
