"""Reply: what a turn came to, for the program that asked."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from selfeng.core.errors import AgentError, FailureCause, FailureKind
from selfeng.core.events import Outcome, TurnFailed, TurnFinished
from selfeng.core.files import File
from selfeng.core.question import Question
from selfeng.core.stage_event import Usage
from selfeng.core.value import Value
from selfeng.core.verdict import Execution, Killed, Raised
from selfeng.doors.local_files import write_files
from selfeng.doors.turn_story import TurnStory


class Reply(Value):
    """The result of a turn; `str()` of it is its text."""

    text: str
    """The answer, Markdown; the questions, or why the request was declined or not done."""
    outcome: Outcome
    conversation: str
    """Id of the conversation, to continue it."""
    turn: str
    tool: str | None = None
    """The tool that was run, if any."""
    value: Any = None
    """The value that the tool returned, as plain JSON data; of several calls, the last one's."""
    files: tuple[File, ...] = ()
    """Files that were made, the newest of each name."""
    questions: tuple[Question, ...] = ()
    """outcome `asked`: what is missing; `ask` takes the answers."""
    new_tools: tuple[str, ...] = ()
    """Names of the tools that the turn built or revised."""
    kind: FailureKind | None = None
    """outcome `failed`: what gave up; None where the work itself failed in the end."""
    cause: FailureCause = ""
    """Within a kind, what went wrong."""
    remedy: str = ""
    """outcome `failed`: what to do."""
    usage: Usage = Usage()
    """The tokens and cost of the turn's model calls."""
    seconds: float = 0.0

    def __str__(self) -> str:
        return self.text

    def save(self, folder: str | Path = ".") -> tuple[Path, ...]:
        """Write the files into a folder, each under a free name; returns the paths.

        Raises: RequestError: the folder can't be written to.
        """
        return tuple(write_files(self.files, Path(folder)))


def reply_of(story: TurnStory, files: Sequence[File]) -> Reply:
    """The reply that the records of a turn amount to, and the files that it made."""
    last = story.last
    ending = last if isinstance(last, TurnFinished | TurnFailed) else None
    return Reply(
        text=story.text,
        outcome=story.outcome or Outcome.STOPPED,
        conversation=story.conversation,
        turn=story.turn,
        tool=last.tool if isinstance(last, TurnFinished) else None,
        value=json.loads(story.result.content) if story.result else None,
        files=tuple(files),
        questions=story.questions,
        new_tools=tuple(story.new_tools),
        kind=last.kind if isinstance(last, TurnFailed) else None,
        cause=last.cause if isinstance(last, TurnFailed) else "",
        remedy=ending.remedy if ending else "",
        usage=story.usage,
        seconds=story.seconds,
    )


class RequestFailed(AgentError):
    """A turn failed or was stopped; `reply` has what it came to."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.text, reply.remedy)
        self.reply = reply


class ToolFailed(AgentError):
    """A tool that was called by name raised an exception, or the sandbox ended it; `execution` has
    its traceback, output and files.
    """

    def __init__(self, name: str, execution: Raised | Killed) -> None:
        match execution:
            case Raised(type_name=kind, message=message):
                super().__init__(f"{name} raised {kind}: {message}")
            case Killed(reason=reason):
                super().__init__(f"the sandbox ended {name}. {reason}")
        self.execution: Execution = execution
