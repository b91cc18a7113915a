"""The stream: pieces in order, kept in one list; any number of readers read it from the first
piece.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Generic, Self, TypeVar

Piece = TypeVar("Piece")

_log = logging.getLogger(__name__)


class Failure:
    """An error in its place; every reader that reaches it raises the same object. It is logged if
    no reader does.
    """

    __slots__ = ("_traceback", "error", "seen")

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.seen = False
        self._traceback = error.__traceback__

    def throw(self) -> BaseException:
        """The error to raise, without what earlier readers added to its traceback."""
        self.seen = True
        return self.error.with_traceback(self._traceback)

    def __del__(self) -> None:
        if not self.seen and isinstance(self.error, Exception):
            _log.error("A reply failed and was never read", exc_info=self.error)


class ReplayStream(Generic[Piece]):
    """One list of pieces with an end, which may be an error. Readers wait; the writer never
    does.
    """

    __slots__ = ("_arrivals", "_endings", "_on_demand", "ended", "failure", "pieces")

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.ended = False
        self.failure: Failure | None = None
        self._on_demand: Callable[[], object] | None = None
        self._arrivals: list[asyncio.Future[None]] | None = None
        self._endings: list[asyncio.Future[None]] | None = None

    @classmethod
    def ended_with(cls, pieces: list[Piece]) -> Self:
        """A stream that has ended, with this list of pieces."""
        stream = cls()
        stream.pieces = pieces
        stream.ended = True
        return stream

    def push(self, piece: Piece) -> None:
        """Add a piece. Pieces after the end are dropped."""
        if self.ended:
            return
        self.pieces.append(piece)
        if self._arrivals:
            waiting, self._arrivals = self._arrivals, None
            _wake(waiting)

    def end(self, error: BaseException | None = None) -> None:
        """End the stream; only the first end counts."""
        if self.ended:
            return
        self.ended = True
        self._on_demand = None
        if error is not None:
            self.failure = Failure(error)
        for waiting in (self._arrivals, self._endings):
            if waiting:
                _wake(waiting)
        self._arrivals = self._endings = None

    def on_demand(self, start: Callable[[], object]) -> None:
        """Call `start` once, when a reader needs more than there is, or now if one already does."""
        if self._arrivals or self._endings:
            start()
        else:
            self._on_demand = start

    async def more(self) -> None:
        """Wait for a piece or the end; only for readers that have read everything so far."""
        waiter = asyncio.get_running_loop().create_future()
        if self._arrivals is None:
            self._arrivals = [waiter]
        else:
            self._arrivals.append(waiter)
        self.demand()
        await waiter

    async def until_ended(self) -> None:
        """Wait for the end, with or without an error."""
        while not self.ended:
            waiter = asyncio.get_running_loop().create_future()
            if self._endings is None:
                self._endings = [waiter]
            else:
                self._endings.append(waiter)
            self.demand()
            await waiter

    def demand(self) -> None:
        """Called when a reader needs more than there is."""
        start, self._on_demand = self._on_demand, None
        if start is not None:
            start()


def _wake(waiting: list[asyncio.Future[None]]) -> None:
    for waiter in waiting:
        if not waiter.done():  # a reader that was cancelled
            waiter.set_result(None)


class Reader(AsyncIterator[Piece]):
    """One reader's place in a stream. After an error the reader is at the end."""

    __slots__ = ("_index", "_stream")

    def __init__(self, stream: ReplayStream[Piece]) -> None:
        self._stream = stream
        self._index = 0

    async def __anext__(self) -> Piece:
        stream, index = self._stream, self._index
        while index >= len(stream.pieces):
            if stream.ended:
                failure = stream.failure
                if failure is not None and index == len(stream.pieces):
                    self._index += 1
                    raise failure.throw()
                raise StopAsyncIteration
            await stream.more()
        self._index = index + 1
        return stream.pieces[index]
