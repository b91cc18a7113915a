"""One run of an agent: what the agent sees of it, and what its caller holds."""

import asyncio
import warnings
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Self, cast

from selfeng_agents.promising_context import PromisingContext, Scope, current_scope
from selfeng_agents.promising_errors import NoActiveContextError
from selfeng_agents.sentinels import DEFAULT, Choice, resolve_choice
from selfeng_agents.sequence import MessageSequence, MessageSequencePromise, MessageType

if TYPE_CHECKING:
    from selfeng_agents.mini_agent import MiniAgent, MiniAgents


class InteractionContext(Scope):
    """An agent's access to the messages that it was sent, and its way to reply."""

    __slots__ = (
        "_awaited",
        "_context",
        "_replies",
        "_unfinished",
        "message_promises",
        "this_agent",
    )

    def __init__(
        self,
        this_agent: "MiniAgent",
        message_promises: MessageSequencePromise,
        replies: MessageSequence,
        context: PromisingContext,
    ) -> None:
        super().__init__()
        self.this_agent = this_agent
        self.message_promises = message_promises
        self._context = context
        self._replies = replies
        self._awaited: list[Awaitable[Any]] | None = None
        self._unfinished: set[AgentCall] | None = None

    @classmethod
    def get_current(cls) -> "InteractionContext":
        """The agent run that this is called in, at any depth. Raises: NoActiveContextError: there
        is none.
        """
        if not isinstance((current := current_scope.get()), InteractionContext):
            raise NoActiveContextError("No agent is running here; call this inside one.")
        return current

    @property
    def messages(self) -> MessageSequencePromise:
        """An alias of `message_promises`."""
        return self.message_promises

    @property
    def miniagents(self) -> "MiniAgents":
        """The context that the agent was called in."""
        return cast("MiniAgents", self._context)

    @property
    def reply_promises(self) -> MessageSequencePromise:
        """The agent's replies, as its caller sees them."""
        return self._replies.sequence_promise

    def get_agent_trace(self) -> list["MiniAgent"]:
        """This agent, its caller, the caller's caller, and so on."""
        trace = []
        scope: Scope | None = self
        while isinstance(scope, InteractionContext):
            trace.append(scope.this_agent)
            scope = scope.parent
        return trace

    def reply(self, messages: MessageType, out_of_order: bool = False) -> Self:
        """Send messages to the caller, frozen as they are now, in order. Raises:
        AppenderClosedError, TypeError.
        """
        self._replies.append(messages, out_of_order)
        return self

    def reply_out_of_order(self, messages: MessageType) -> Self:
        """Send messages as soon as they are there, before earlier ones that are still pending."""
        return self.reply(messages, out_of_order=True)

    def make_sure_to_wait(
        self,
        awaitable: Awaitable[Any],
        start_asap_if_coroutine: Choice = DEFAULT,
        start_soon_if_coroutine: Choice = DEFAULT,
    ) -> None:
        """Keep the agent's replies open until this is done. Its errors are logged. A coroutine
        starts at once by default; `start_soon_if_coroutine` is an alias.
        """
        at_once = resolve_choice(True, start_asap_if_coroutine, start_soon_if_coroutine)
        if at_once and asyncio.iscoroutine(awaitable):
            awaitable = self._context.start_asap(awaitable)
        if self._awaited is None:
            self._awaited = []
        self._awaited.append(awaitable)

    wait_for = make_sure_to_wait

    async def await_now(self, suppress_deadlock_warning: bool = False) -> None:
        """Wait for everything that was passed to `make_sure_to_wait`, as happens anyway when the
        agent ends.
        """
        if self._unfinished and not suppress_deadlock_warning:
            warnings.warn(
                "This agent waits while it has calls that are not finished, and their agents may "
                "wait for more messages; call `finish()`"
                " or `reply_sequence()` on them first, or say `suppress_deadlock_warning=True`.",
                RuntimeWarning,
                stacklevel=2,
            )
        while self._awaited:
            awaited, self._awaited = self._awaited, None
            for outcome in await asyncio.gather(*awaited, return_exceptions=True):
                if isinstance(outcome, Exception):
                    self._context.log_error(
                        f"{self.this_agent.alias} waited for something that failed", outcome
                    )

    def finish_early(self) -> None:
        """End the replies now; the agent keeps running."""
        self._replies.close()

    async def afinish_early(self, make_sure_to_wait: bool = True) -> None:
        """End the replies now; the agent keeps running. First wait for what was passed to
        `make_sure_to_wait`.
        """
        if make_sure_to_wait:
            await self.await_now()
        self.finish_early()

    async def wind_up(self) -> None:
        """Called when the agent is done: finish its calls, and wait for `make_sure_to_wait`."""
        for call in list(self._unfinished or ()):
            call.finish()
        if self._awaited:
            await self.await_now()

    def close(self, error: BaseException | None = None) -> None:
        """End the replies if they have not ended, with an error if there was one."""
        self._replies.close(error)

    def remember(self, call: "AgentCall") -> "set[AgentCall]":
        """Finish the call when this agent ends, at the latest."""
        if self._unfinished is None:
            self._unfinished = set()
        self._unfinished.add(call)
        return self._unfinished


class AgentCall:
    """A call that sends its messages piece by piece; it is finished when its caller ends, at the
    latest.
    """

    def __init__(
        self, agent: "MiniAgent", incoming: MessageSequence, replies: MessageSequencePromise
    ) -> None:
        self.agent = agent
        self._incoming = incoming
        self._replies = replies
        scope = current_scope.get()
        context = PromisingContext.get_current()
        self._kept_by: set[Any] = (
            scope.remember(self) if isinstance(scope, InteractionContext) else context.unfinished
        )
        self._kept_by.add(self)

    def send_message(self, messages: MessageType, out_of_order: bool = False) -> Self:
        """Send messages, frozen as they are now, in order. Raises: AppenderClosedError,
        TypeError.
        """
        self._incoming.append(messages, out_of_order)
        return self

    def send_out_of_order(self, messages: MessageType) -> Self:
        """Send messages that may come before earlier ones that are still pending."""
        return self.send_message(messages, out_of_order=True)

    def reply_sequence(self, finish_call: bool = True) -> MessageSequencePromise:
        """The agent's replies. With `finish_call=False` more can be sent, and the agent may wait
        for it: beware of deadlocks.
        """
        if finish_call:
            self.finish()
        return self._replies

    def finish(self) -> Self:
        """End the messages. The agent's replies are not affected."""
        self._incoming.close()
        self._kept_by.discard(self)
        return self

    close = finish

    @property
    def is_finished(self) -> bool:
        """Whether the messages have ended."""
        return not self._incoming.is_open
