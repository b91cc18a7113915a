"""The writing ends of streams."""

import asyncio
import logging
from types import TracebackType
from typing import Generic, Self

from selfeng_agents.promising_context import PromisingContext
from selfeng_agents.promising_errors import AppenderClosedError, AppenderNotOpenError
from selfeng_agents.replay_stream import Piece, Reader, ReplayStream
from selfeng_agents.sentinels import DEFAULT, Choice, resolve_choice

logger = logging.getLogger(__name__)


def being_cancelled(error: BaseException) -> bool:
    """Whether the error is the cancellation of the current task, and not one that it read."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


class Appender:
    """Takes pieces inside `with`, and none afterwards."""

    __slots__ = ("_capture_errors", "is_open", "was_open")

    def __init__(self, capture_errors: bool) -> None:
        """With `capture_errors`, an error of the `with` block goes to the readers instead of
        propagating.
        """
        self._capture_errors = capture_errors
        self.was_open = False
        self.is_open = False

    def open(self) -> Self:
        """Open it; `with` does this and also closes it, whatever happens. Raises:
        AppenderClosedError.
        """
        if self.was_open and not self.is_open:
            raise AppenderClosedError(
                f"A {type(self).__name__} that was closed can't be opened again."
            )
        self.was_open = self.is_open = True
        return self

    def close(self, error: BaseException | None = None) -> bool:
        """Close it; returns whether the error goes to the readers. Closing again does nothing."""
        late = not self.is_open and self.was_open
        captured = (
            error is not None
            and self._capture_errors
            and not (late and isinstance(error, AppenderClosedError))
        )
        if not late:
            self.was_open, self.is_open = True, False
            self._end(error if captured else None)
        elif self._capture_errors and isinstance(error, Exception):
            logger.error(
                "An error came after the %s was closed, and has no reader",
                type(self).__name__,
                exc_info=error,
            )
        return captured

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return self.close(error) and isinstance(error, Exception)  # a cancellation also propagates

    def _check_open(self) -> None:
        if self.is_open:
            return
        name = type(self).__name__
        if self.was_open:
            raise AppenderClosedError(f"The {name} is closed; nothing can be appended.")
        raise AppenderNotOpenError(
            f"The {name} is not open; append inside `with` it, or call `open()` before and "
            "`close()` after."
        )

    def _end(self, error: BaseException | None) -> None:
        raise NotImplementedError


class StreamAppender(Appender, Generic[Piece]):
    """The writing end of a stream; pass it to a StreamedPromise as its streamer. It never makes the
    writer wait.
    """

    __slots__ = ("stream",)

    def __init__(self, capture_errors: Choice = DEFAULT) -> None:
        """By default the context decides whether errors go to the readers."""
        context = PromisingContext.find_current()
        super().__init__(
            resolve_choice(
                context is not None and context.appenders_capture_errors_by_default, capture_errors
            )
        )
        self.stream: ReplayStream[Piece] = ReplayStream()

    def append(self, piece: Piece | BaseException) -> Self:
        """Add a piece; an exception ends the stream at its place. Raises: AppenderNotOpenError,
        AppenderClosedError.
        """
        if not self.is_open:
            self._check_open()
        if isinstance(piece, BaseException):
            self.stream.end(piece)
        else:
            self.stream.push(piece)
        return self

    def _end(self, error: BaseException | None) -> None:
        self.stream.end(error)

    def __aiter__(self) -> Reader[Piece]:
        return Reader(self.stream)
