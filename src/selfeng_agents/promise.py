"""The promise: a value that comes later and once, whole or piece by piece."""

import asyncio
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
)
from typing import Any, Generic, TypeVar

from selfeng_agents.promising_context import PromisingContext
from selfeng_agents.promising_errors import FunctionNotProvidedError
from selfeng_agents.replay_stream import Failure, Reader, ReplayStream
from selfeng_agents.sentinels import DEFAULT, NO_VALUE, Choice, Sentinel, resolve_choice
from selfeng_agents.streams import StreamAppender

T = TypeVar("T")
Piece = TypeVar("Piece")
Whole = TypeVar("Whole")

Streamer = Callable[[Any], AsyncIterable[Piece]] | AsyncIterable[Piece]


class Promise(Generic[T]):
    """A value that comes later and once: every awaiter gets the same object, or the same exception.

    Cancelling an awaiter does not cancel the promise.
    """

    __slots__ = ("__weakref__", "_context", "_failure", "_resolver", "_result", "_task")

    def __init__(
        self,
        *,
        resolver: Callable[[Any], Awaitable[T]] | None = None,
        prefill_result: T | Sentinel = NO_VALUE,
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
    ) -> None:
        """`resolver` is called once, with this promise: at the next task switch, or with
        `start_asap=False` when first awaited.

        `start_soon` is an alias of `start_asap`.

        Raises:
            ValueError: both a resolver and a result are given.
            NoActiveContextError: nothing is running under a context.
        """
        if resolver is not None and prefill_result is not NO_VALUE:
            raise ValueError("Give a promise a resolver or a result, not both.")
        self._prepare(PromisingContext.get_current(), resolver)
        if not isinstance(prefill_result, Sentinel) or prefill_result is not NO_VALUE:
            self._settle(prefill_result)
        elif resolver is not None and resolve_choice(
            self._context.start_everything_asap_by_default, start_asap, start_soon
        ):
            self._start()

    def _prepare(
        self, context: PromisingContext, resolver: Callable[[Any], Awaitable[T]] | None = None
    ) -> None:
        self._context = context
        self._resolver = resolver
        self._result: Any = NO_VALUE
        self._failure: Failure | None = None
        self._task: asyncio.Task[None] | None = None

    async def aresolve(self) -> T:
        """The value; the same as awaiting the promise."""
        return await self

    def __await__(self) -> Generator[Any, None, T]:
        if self._result is NO_VALUE and self._failure is None:
            yield from self._bring_about().__await__()
        if self._failure is not None:
            raise self._failure.throw()
        result: T = self._result
        return result

    @property
    def failure(self) -> Failure | None:
        """The error, if there was one."""
        return self._failure

    @property
    def _is_settled(self) -> bool:
        return self._result is not NO_VALUE or self._failure is not None

    async def _bring_about(self) -> None:
        """Resolve; runs for each awaiter that comes before the end."""
        task = self._task or self._start()
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as cancellation:
            if not task.cancelled():
                raise  # the awaiter was cancelled
            self._settle(error=cancellation)

    def _start(self) -> asyncio.Task[None]:
        self._task = self._context.start(self._run())
        return self._task

    async def _run(self) -> None:
        try:
            if self._resolver is None:
                raise FunctionNotProvidedError(
                    f"A {type(self).__name__} needs a resolver or a result."
                )
            self._settle(await self._resolver(self))
        except BaseException as error:  # noqa: BLE001  awaiting the promise raises it
            self._settle(error=error)

    def _settle(self, result: Any = NO_VALUE, error: BaseException | None = None) -> None:
        if self._is_settled:
            return
        self._result = result
        if error is not None:
            self._failure = self._failure_of(error)
        self._resolver = None
        if self._context.is_observed:
            self._context.tell(self, result if error is None else error)

    def _failure_of(self, error: BaseException) -> Failure:
        return Failure(error)


class StreamedPromise(Promise[Whole], Generic[Piece, Whole]):
    """A promise of a value that comes in pieces: iterate over it for the pieces, any number of
    times, or await it for the whole.
    """

    __slots__ = ("_stream",)

    def __init__(
        self,
        *,
        streamer: Streamer[Piece] | None = None,
        prefill_pieces: Iterable[Piece] | Sentinel = NO_VALUE,
        resolver: Callable[[Any], Awaitable[Whole]] | None = None,
        prefill_result: Whole | Sentinel = NO_VALUE,
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
    ) -> None:
        """`streamer` is a StreamAppender, another StreamedPromise, or a function that gets this
        promise and yields the pieces.

        With `start_asap=False` such a function is asked for a piece only when a reader wants one.
        Without a resolver the whole is the tuple of the pieces.

        Raises:
            ValueError: both a streamer and pieces are given, or both a resolver and a result.
            NoActiveContextError: nothing is running under a context.
        """
        if streamer is not None and not isinstance(prefill_pieces, Sentinel):
            raise ValueError("Give a promise a streamer or its pieces, not both.")
        if resolver is not None and prefill_result is not NO_VALUE:
            raise ValueError("Give a promise a resolver or a result, not both.")
        context = PromisingContext.get_current()
        self._prepare(context, resolver or _all_pieces)
        eager = resolve_choice(context.start_everything_asap_by_default, start_asap, start_soon)
        self._stream: ReplayStream[Piece] | None = (
            ReplayStream.ended_with(list(prefill_pieces))
            if not isinstance(prefill_pieces, Sentinel)
            else self._stream_from(streamer, eager)
        )
        if prefill_result is not NO_VALUE:
            self._settle(prefill_result)
        elif eager and (resolver is not None or context.is_observed):
            self._start()

    @property
    def stream(self) -> ReplayStream[Piece]:
        """The stream that all readers share."""
        if self._stream is None:
            self._stream = ReplayStream.ended_with(list(self._pieces_of_the_whole()))
        return self._stream

    def __aiter__(self) -> AsyncIterator[Piece]:
        return Reader(self.stream)

    def _failure_of(self, error: BaseException) -> Failure:
        failure = self.stream.failure
        return failure if failure is not None and failure.error is error else Failure(error)

    def _pieces_of_the_whole(self) -> Iterable[Piece]:
        """The pieces that a promise streams if it got its value without pieces."""
        return ()

    def _stream_from(
        self,
        streamer: Callable[[Any], AsyncIterable[Piece]] | AsyncIterable[Piece] | None,
        eager: bool,
    ) -> ReplayStream[Piece]:
        """The streamer's own stream if it has one; otherwise a new one and its filling task."""
        if isinstance(streamer, StreamAppender):
            return streamer.stream
        if isinstance(streamer, StreamedPromise):
            if eager:
                streamer.stream.demand()
            return streamer.stream
        stream: ReplayStream[Piece] = ReplayStream()
        if streamer is None:
            stream.end(
                FunctionNotProvidedError(f"A {type(self).__name__} needs a streamer or its pieces.")
            )
        elif eager:
            self._context.start(self._fill(stream, streamer, eager), stream)
        else:
            stream.on_demand(
                lambda: self._context.start(self._fill(stream, streamer, eager), stream)
            )
        return stream

    async def _fill(
        self, stream: ReplayStream[Piece], streamer: Streamer[Piece], eager: bool
    ) -> None:
        try:
            async for piece in _pieces_of(streamer(self) if callable(streamer) else streamer):
                stream.push(piece)
                if not eager:
                    await self._until_wanted(stream)
        except BaseException as error:
            stream.end(error)
            if isinstance(error, asyncio.CancelledError):
                raise
        else:
            stream.end()

    async def _until_wanted(self, stream: ReplayStream[Piece]) -> None:
        demand = asyncio.get_running_loop().create_future()
        stream.on_demand(lambda: demand.set_result(None))
        if not demand.done():
            with self._context.idle():
                await demand


async def _all_pieces(promise: StreamedPromise[Any, Any]) -> Any:
    return tuple([piece async for piece in promise])


def _pieces_of(source: Any) -> AsyncIterable[Any]:
    if isinstance(source, AsyncIterable):
        return source
    if isinstance(source, Coroutine):
        source.close()
    raise TypeError(
        f"A streamer gives an async iterator, such as an async generator, not {source!r}."
    )
