"""The message sequence: all that is sent, however nested, as one flat stream of promises."""

import warnings
import weakref
from collections import deque
from collections.abc import AsyncIterable, Callable, Iterable, Iterator
from typing import Any, Self, Union, cast

from pydantic import BaseModel

from selfeng_agents.error_message import ErrorMessage, ForgivingPromise
from selfeng_agents.message import Message, MessagePromise
from selfeng_agents.promise import StreamedPromise
from selfeng_agents.promising_context import PromisingContext, Scope
from selfeng_agents.replay_stream import Failure, ReplayStream
from selfeng_agents.sentinels import DEFAULT, Choice, resolve_choice
from selfeng_agents.streams import Appender, being_cancelled

MessageType = Union[  # noqa: UP007  a name in quotes can't stand beside |
    str,
    dict[str, Any],
    BaseModel,
    MessagePromise,
    BaseException,
    Iterable["MessageType"],
    AsyncIterable["MessageType"],
]
"""Values that can be sent: texts, dicts, messages and promises of them, sequences, exceptions, and
iterables and async iterables of these.
"""

Leaf = MessagePromise | BaseException | AsyncIterable[Any]
"""An item after flattening: a message, an error in its place, or something to wait for."""


class MessageSequencePromise(StreamedPromise[MessagePromise, tuple[Message, ...]]):
    """Iterate over it for the promises of the messages, as they come; await it for all the
    messages.
    """

    __slots__ = ("_scope",)

    def __init__(
        self,
        stream: ReplayStream[MessagePromise],
        context: PromisingContext,
        observed: bool = False,
    ) -> None:
        self._prepare(context)
        self._stream = stream
        self._scope: weakref.ref[Scope] | None = None
        if observed and context.is_observed:
            context.start(self._bring_about())

    async def aresolve_messages(self) -> tuple[Message, ...]:
        """The same as awaiting the sequence."""
        return await self

    def as_single_promise(self, **options: Any) -> MessagePromise:
        """All the messages as one; see `join_messages`."""
        from selfeng_agents.message_text import join_messages

        return join_messages(self, **{"start_asap": False, **options})

    as_single_text_promise = as_single_promise

    def written_by(self, scope: Scope) -> None:
        """Set what `cancel` cancels, for as long as it or anything below it runs."""
        self._scope = weakref.ref(scope)

    def cancel(self) -> None:
        """Cancel the agent that writes this sequence, and every agent and task that was started
        below it.
        """
        scope = self._scope() if self._scope is not None else None
        if scope is not None:
            self._context.cancel(scope)

    async def _bring_about(self) -> None:
        await self.stream.until_ended()
        if self._is_settled:
            return
        try:
            if self.stream.failure is not None:
                raise self.stream.failure.error
            messages = tuple([await promise for promise in self.stream.pieces])
        except BaseException as error:
            if being_cancelled(error):
                raise
            self._settle(error=error)
        else:
            self._settle(messages)

    def _failure_of(self, error: BaseException) -> Failure:
        """The failure of the sequence or of the message that caused the error, so that reading one
        counts as reading the other.
        """
        failures = [self.stream.failure, *(promise.failure for promise in self.stream.pieces)]
        return next(
            (failure for failure in failures if failure is not None and failure.error is error),
            None,
        ) or Failure(error)


class DeferredReplies(MessageSequencePromise):
    """The replies to a call that is made before an event loop runs: the call begins in the context
    in which they are first read. Replies that are never read cause a RuntimeWarning.
    """

    __slots__ = ("_call", "_has_begun")

    def __init__(self, call: Callable[[], MessageSequencePromise]) -> None:
        self._call, self._has_begun = call, False
        self._prepare(cast(PromisingContext, None))  # known when the call begins
        self._stream = self._scope = None

    @property
    def stream(self) -> ReplayStream[MessagePromise]:
        """Raises: NoActiveContextError."""
        if self._stream is None:
            self._has_begun = True
            replies = self._call()
            self._context, self._scope = replies._context, replies._scope
            self._stream = replies.stream
        return self._stream

    def __del__(self) -> None:
        if not self._has_begun:
            message = (
                "An agent was called, and did not run: pass the call to `MiniAgents().run(...)`."
            )
            warnings.warn(message, RuntimeWarning, stacklevel=2)


class MessageSequence(Appender):
    """The writing end of a sequence. Appended items are frozen at once, and come in order, as soon
    as its parts are there.

    Items appended out of order come as soon as they are there. An error ends the sequence, unless
    errors are wanted as messages.
    """

    __slots__ = (
        "_asleep",
        "_backlog",
        "_context",
        "_eager",
        "_loose",
        "_safe",
        "sequence_promise",
        "stream",
    )

    def __init__(
        self,
        *,
        appender_capture_errors: Choice = DEFAULT,
        errors_as_messages: Choice = DEFAULT,
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
    ) -> None:
        self._context = context = PromisingContext.get_current()
        super().__init__(
            resolve_choice(context.appenders_capture_errors_by_default, appender_capture_errors)
        )
        self._eager = resolve_choice(
            context.start_everything_asap_by_default, start_asap, start_soon
        )
        self._safe = resolve_choice(context.errors_as_messages, errors_as_messages)
        self._backlog: deque[Leaf] | None = None
        """The items that wait until the first of them ends; None if nothing is waiting."""
        self._loose = 0
        """How many out-of-order parts have not ended."""
        self._asleep: list[Callable[[], object]] | None = None if self._eager else []
        """The functions that start when the first reader comes; None afterwards."""
        self.stream: ReplayStream[MessagePromise] = ReplayStream()
        self.sequence_promise = MessageSequencePromise(self.stream, context, observed=self._eager)

    @classmethod
    def turn_into_sequence_promise(cls, messages: MessageType | None) -> MessageSequencePromise:
        """Anything that can be sent, as a sequence; a sequence is returned unchanged, and None is
        an empty one.
        """
        if isinstance(messages, MessageSequencePromise):
            return messages
        context = PromisingContext.get_current()
        if type(messages) is str:
            return MessageSequencePromise(
                ReplayStream.ended_with([MessagePromise.of_text(messages, context)]), context
            )
        leaves = [] if messages is None else list(_leaves(messages))
        if all(isinstance(leaf, MessagePromise) for leaf in leaves):
            return MessageSequencePromise(
                ReplayStream.ended_with(cast(list[MessagePromise], leaves)), context
            )
        sequence = cls(errors_as_messages=False, start_asap=False)
        with sequence:
            sequence.append(leaves)
        return sequence.sequence_promise

    @classmethod
    def forgiving(cls, messages: MessageType) -> MessageSequencePromise:
        """Anything that can be sent, with its errors as messages."""
        with cls(errors_as_messages=True, start_asap=True) as sequence:
            sequence.append(messages)
        return sequence.sequence_promise

    @classmethod
    async def aresolve_messages(cls, messages: MessageType | None) -> tuple[Message, ...]:
        """Anything that can be sent, as messages."""
        return await cls.turn_into_sequence_promise(messages)

    @property
    def message_appender(self) -> Self:
        """The sequence itself, which is its own appender."""
        return self

    def append(self, messages: MessageType, out_of_order: bool = False) -> Self:
        """Raises: AppenderNotOpenError, AppenderClosedError, TypeError: it can't be sent."""
        if not self.is_open:
            self._check_open()
        if type(messages) is str and (out_of_order or self._backlog is None):
            self.stream.push(MessagePromise.of_text(messages, self._context))
            return self
        for leaf in list(_leaves(messages)):
            if out_of_order or self._backlog is None:
                self._take(leaf, out_of_order)
            else:
                self._backlog.append(leaf)
        return self

    def inject_out_of_order(self, messages: MessageType) -> Self:
        """The same as `append(messages, out_of_order=True)`."""
        return self.append(messages, out_of_order=True)

    def begin(self, start: Callable[[], object]) -> None:
        """Call `start` now, or when the first reader comes if nothing is to start by itself."""
        if self._asleep is None:
            start()
        else:
            self._asleep.append(start)
            self.stream.on_demand(self._wake)

    def _wake(self) -> None:
        asleep, self._asleep = self._asleep or [], None
        for start in asleep:
            start()

    def _take(self, leaf: Leaf, out_of_order: bool) -> None:
        """Add what is complete; for the rest start a task, which everything after it waits for,
        unless it is out of order.
        """
        if not _is_pending(leaf):
            self._put(leaf)
        elif out_of_order:
            self._loose += 1
            self.begin(lambda: self._context.start(self._follow_loose(leaf), self.stream))
        else:
            self._backlog = deque([leaf])
            self.begin(lambda: self._context.start(self._work_off(), self.stream))

    def _put(self, leaf: Leaf) -> None:
        if isinstance(leaf, MessagePromise):
            self.stream.push(ForgivingPromise.forgiving(leaf) if self._safe else leaf)
        elif isinstance(leaf, MessageSequencePromise):
            for promise in leaf.stream.pieces:
                self._put(promise)
            if leaf.stream.failure is not None:
                self._put(leaf.stream.failure.throw())
        elif isinstance(leaf, BaseException):
            if self._safe and isinstance(leaf, Exception):
                self.stream.push(ErrorMessage.from_error(leaf, self._context).as_promise)
            else:
                self.stream.end(leaf)

    async def _work_off(self) -> None:
        backlog = self._backlog
        while backlog and not self.stream.ended:
            await self._follow(backlog[0])
            backlog.popleft()
        self._backlog = None
        self._end_when_done()

    async def _follow_loose(self, leaf: Leaf) -> None:
        await self._follow(leaf)
        self._loose -= 1
        self._end_when_done()

    async def _follow(self, leaf: Leaf) -> None:
        if not _is_pending(leaf):
            self._put(leaf)
            return
        try:
            async for messages in cast(AsyncIterable[Any], leaf):
                for part in _leaves(messages):
                    await self._follow(part)
        except BaseException as error:
            if being_cancelled(error):
                raise
            self._put(error)

    def _end(self, error: BaseException | None) -> None:
        if error is not None:
            if self._backlog is None:
                self._put(error)
            else:
                self._backlog.append(error)
        self._end_when_done()

    def _end_when_done(self) -> None:
        if not self.is_open and self._backlog is None and not self._loose:
            self.stream.end()


def _leaves(messages: MessageType) -> Iterator[Leaf]:
    """Messages flattened and frozen, in order, as far as possible without waiting."""
    if isinstance(messages, MessagePromise | BaseException):
        yield messages
    elif isinstance(messages, Message):
        yield messages.as_promise
    elif isinstance(messages, str):
        yield MessagePromise.of_text(messages, PromisingContext.get_current())
    elif isinstance(messages, BaseModel | dict):
        yield Message(**dict(messages)).as_promise
    elif isinstance(messages, Iterable):
        for part in messages:
            yield from _leaves(part)
    elif isinstance(messages, AsyncIterable):
        yield messages
    else:
        raise TypeError(
            "Only text, dicts, messages, promises, exceptions and iterables of them can be sent, "
            f"not {messages!r}."
        )


def _is_pending(leaf: Leaf) -> bool:
    """Whether its content is only known after waiting."""
    if isinstance(leaf, MessageSequencePromise):
        return not leaf.stream.ended
    return not isinstance(leaf, MessagePromise | BaseException)
