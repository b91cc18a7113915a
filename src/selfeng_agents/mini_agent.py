"""The agent: an async function, or a class, that gets messages and replies with messages; and the
context that agents run in.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, overload

from selfeng_agents.frozen import Frozen, freezable
from selfeng_agents.interaction import AgentCall, InteractionContext
from selfeng_agents.message import Message
from selfeng_agents.promise import Promise
from selfeng_agents.promising_context import (
    PromisingContext,
    as_list,
    check_async,
    current_scope,
    is_async,
)
from selfeng_agents.sentinels import DEFAULT, Choice, resolve_choice
from selfeng_agents.sequence import (
    DeferredReplies,
    MessageSequence,
    MessageSequencePromise,
    MessageType,
)
from selfeng_agents.streams import being_cancelled

Body = Callable[..., Any]
"""`async def agent(ctx, **kwargs)`, or a class that is created with `ctx=` and the arguments, and
has an async `__call__`.
"""
PersistMessageHandler = Callable[[Any, Message], Awaitable[None]]
"""Called with a promise and its message, one message at a time."""
PersistMessagesHandler = Callable[[list[Message]], Awaitable[None]]
"""Called with messages that came together."""


class MiniAgent:
    """An agent that can be called. Create one with the decorator `miniagent`, and variants of it
    with `fork`.
    """

    def __init__(
        self,
        func_or_class: Body,
        *,
        alias: str | None = None,
        description: str | None = None,
        normalize_func_or_class_name: bool = True,
        uppercase_func_name: bool = True,
        normalize_spaces_in_docstring: bool = True,
        await_reply_persistence: Choice = DEFAULT,
        interaction_metadata: Frozen | dict[str, Any] | None = None,
        non_freezable_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """`uppercase_func_name` is an alias of `normalize_func_or_class_name`. With
        `await_reply_persistence` the agent ends only when its replies are persisted.

        Raises:
            ValueError: it is not async.
        """
        if not is_async(func_or_class):
            raise ValueError(
                "An agent is an async function, or a class with an async `__call__`, not "
                f"{func_or_class!r}."
            )
        name = getattr(func_or_class, "__name__", type(func_or_class).__name__)
        normalized = normalize_func_or_class_name and uppercase_func_name
        self.alias: str = alias or (_as_alias(name) if normalized else name)
        text = (func_or_class.__doc__ if description is None else description) or ""
        self.description = (
            " ".join(text.split()) if normalize_spaces_in_docstring else text
        ).replace("{AGENT_ALIAS}", self.alias) or None
        self.interaction_metadata = Frozen(**dict(interaction_metadata or {}))
        self.wrapped_func_or_class = func_or_class
        self.__name__ = self.alias
        self.__doc__ = self.description
        self.await_reply_persistence = await_reply_persistence
        self._kwargs = {**kwargs, **(non_freezable_kwargs or {})}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.alias}>"

    def inquire(
        self,
        messages: MessageType | None = None,
        *,
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
        errors_as_messages: Choice = DEFAULT,
        **kwargs: Any,
    ) -> MessageSequencePromise:
        """The agent's replies to the messages, promised at once.

        The agent starts at the next task switch, or with `start_asap=False` when its replies are
        read; `start_soon` is an alias. An error in the agent is raised where its replies are read,
        or becomes one of them with `errors_as_messages`. The keyword arguments are the agent's.

        Where no event loop runs, as in `MiniAgents().run(agent.inquire(...))`, the call begins when
        its replies are read in a context.

        Raises:
            NoActiveContextError: the event loop runs nothing under `async with MiniAgents():`.
        """
        if PromisingContext.find_current() is None and not _loop_runs():
            return DeferredReplies(
                partial(
                    self.inquire,
                    messages,
                    start_asap=start_asap,
                    start_soon=start_soon,
                    errors_as_messages=errors_as_messages,
                    **kwargs,
                )
            )
        incoming = MessageSequence.turn_into_sequence_promise(messages)
        return self._begin(incoming, kwargs, start_asap, start_soon, errors_as_messages)

    trigger = inquire

    def kick_off(self, messages: MessageType | None = None, **kwargs: Any) -> None:
        """Start the agent, whatever the context's default, and ignore its replies. Raises:
        NoActiveContextError.
        """
        PromisingContext.get_current()
        self.inquire(messages, start_asap=True, **kwargs)

    def initiate_inquiry(
        self,
        *,
        start_asap: Choice = DEFAULT,
        start_soon: Choice = DEFAULT,
        errors_as_messages: Choice = DEFAULT,
        **kwargs: Any,
    ) -> AgentCall:
        """Call the agent and send the messages piece by piece; see `inquire`."""
        incoming = MessageSequence(errors_as_messages=False, start_asap=False).open()
        return AgentCall(
            self,
            incoming,
            self._begin(
                incoming.sequence_promise, kwargs, start_asap, start_soon, errors_as_messages
            ),
        )

    initiate_call = initiate_inquiry

    def fork(
        self,
        alias: str | None = None,
        description: str | None = None,
        *,
        interaction_metadata: Frozen | dict[str, Any] | None = None,
        non_freezable_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> "MiniAgent":
        """The same agent with arguments preset; arguments of a call, or of a fork of the fork,
        override them.
        """
        return MiniAgent(
            self.wrapped_func_or_class,
            alias=alias or self.alias,
            description=self.description or "" if description is None else description,
            normalize_spaces_in_docstring=False,
            await_reply_persistence=self.await_reply_persistence,
            interaction_metadata={
                **self.interaction_metadata.as_kwargs(),
                **dict(interaction_metadata or {}),
            },
            **{**self._kwargs, **kwargs, **(non_freezable_kwargs or {})},
        )

    def _begin(
        self,
        incoming: MessageSequencePromise,
        kwargs: dict[str, Any],
        start_asap: Choice,
        start_soon: Choice,
        errors_as_messages: Choice,
    ) -> MessageSequencePromise:
        context = PromisingContext.get_current()
        replies = MessageSequence(
            appender_capture_errors=True,
            errors_as_messages=errors_as_messages,
            start_asap=start_asap,
            start_soon=start_soon,
        ).open()
        ctx = InteractionContext(self, incoming, replies, context)
        replies.sequence_promise.written_by(ctx)
        replies.begin(lambda: context.start(self._run(ctx, kwargs), replies.stream, ctx))
        return replies.sequence_promise

    async def _run(self, ctx: InteractionContext, kwargs: dict[str, Any]) -> None:
        current_scope.set(ctx)
        body = self.wrapped_func_or_class
        try:
            try:
                if isinstance(body, type):
                    await body(ctx=ctx, **{**self._kwargs, **kwargs})()
                else:
                    await body(ctx, **{**self._kwargs, **kwargs})
            finally:
                await ctx.wind_up()
        except BaseException as error:
            ctx.close(error)
            if being_cancelled(error):
                raise
        else:
            ctx.close()
            context = ctx.miniagents
            if resolve_choice(
                getattr(context, "await_reply_persistence_before_agent_finish", False),
                self.await_reply_persistence,
            ):
                with suppress(Exception):  # whoever reads the replies gets it
                    await context.apersist_messages(await ctx.reply_promises)
            if context.is_observed:
                context.start(self._record(ctx, kwargs))

    async def _record(self, ctx: InteractionContext, kwargs: dict[str, Any]) -> None:
        """Record the call and its replies as messages; a call that failed leaves no record."""
        about = {"agent_alias": self.alias, **self.interaction_metadata.as_kwargs()}
        with suppress(Exception):
            call = AgentCallNode(
                messages=await ctx.message_promises, **{**about, **freezable(kwargs)}
            )
            reply = AgentReplyNode(agent_call=call, replies=await ctx.reply_promises, **about)
            Promise(prefill_result=call)
            Promise(prefill_result=reply)


@overload
def miniagent(func_or_class: Body, **options: Any) -> MiniAgent: ...


@overload
def miniagent(func_or_class: None = None, **options: Any) -> Callable[[Body], MiniAgent]: ...


def miniagent(
    func_or_class: Body | None = None, **options: Any
) -> MiniAgent | Callable[[Body], MiniAgent]:
    """Make an agent of an async function or a class; a decorator, with or without the options of
    `MiniAgent`.
    """
    if func_or_class is None:
        return lambda body: MiniAgent(body, **options)
    return MiniAgent(func_or_class, **options)


class AgentInteractionNode(Message):
    """A record of what an agent did."""

    agent_alias: str


class AgentCallNode(AgentInteractionNode):
    """The messages and arguments of a call."""

    messages: tuple[Message, ...]


class AgentReplyNode(AgentInteractionNode):
    """The replies to a call."""

    agent_call: AgentCallNode
    replies: tuple[Message, ...]


class MiniAgents(PromisingContext):
    """An async context manager that agents run in; leaving it waits for all of them. See
    PromisingContext.
    """

    def __init__(
        self,
        *,
        stream_llm_tokens_by_default: bool = True,
        llm_logger_agent: MiniAgent | bool = False,
        await_reply_persistence_before_agent_finish: bool = False,
        log_reduced_tracebacks: bool = True,
        on_persist_message: PersistMessageHandler | Iterable[PersistMessageHandler] = (),
        on_persist_messages: PersistMessagesHandler | Iterable[PersistMessagesHandler] = (),
        **options: Any,
    ) -> None:
        """`on_persist_message` and `on_persist_messages` are called once for every message, after
        the messages inside it.

        `llm_logger_agent` gets the prompt and the reply of each call of a model; True is
        `markdown_llm_logger_agent`. `log_reduced_tracebacks` is for a log formatter. The other
        options are those of PromisingContext.
        """
        super().__init__(**options)
        self.stream_llm_tokens_by_default = stream_llm_tokens_by_default
        self.llm_logger_agent = llm_logger_agent
        self.await_reply_persistence_before_agent_finish = (
            await_reply_persistence_before_agent_finish
        )
        self.log_reduced_tracebacks = log_reduced_tracebacks
        self.on_persist_message_handlers = as_list(on_persist_message)
        self.on_persist_messages_handlers = as_list(on_persist_messages)
        self._watch_messages()

    def on_persist_message(self, handler: PersistMessageHandler) -> PersistMessageHandler:
        """Call an async function with every message, one at a time; a decorator."""
        self.on_persist_message_handlers.append(check_async(handler))
        self._watch_messages()
        return handler

    def on_persist_messages(self, handler: PersistMessagesHandler) -> PersistMessagesHandler:
        """Call an async function with lists of messages that came together; a decorator."""
        self.on_persist_messages_handlers.append(check_async(handler))
        self._watch_messages()
        return handler

    def run_agent(
        self, agent: MiniAgent, messages: MessageType | None = None, **kwargs: Any
    ) -> tuple[Message, ...]:
        """Run an agent in a new event loop and this context, and return its replies. Blocks."""

        async def replies() -> tuple[Message, ...]:
            return await agent.inquire(messages, **kwargs)

        return self.run(replies())

    async def apersist_messages(
        self,
        messages: Message | Iterable[Message],
        promise: Any = None,
        *,
        extend_with_sub_messages: bool = True,
        parallelise_handlers: bool = False,
        raise_on_error: bool = True,
    ) -> list[Message]:
        """Persist the messages that were not persisted yet, inner ones first; returns them.

        The handlers run one after another, or all at once. Without `raise_on_error` an error of a
        handler is logged.
        """
        all_messages = [messages] if isinstance(messages, Message) else list(messages)
        new_messages = [
            candidate
            for message in all_messages
            for candidate in (
                *(message.sub_messages() if extend_with_sub_messages else ()),
                message,
            )
            if candidate.claim_persistence()
        ]
        calls: list[Callable[[], Awaitable[object]]] = [
            partial(keep, new_messages)
            for keep in self.on_persist_messages_handlers
            if new_messages
        ]
        calls += [
            partial(keep, promise, message)
            for keep in self.on_persist_message_handlers
            for message in new_messages
        ]
        if not raise_on_error:
            calls = [partial(self._persisted, call) for call in calls]
        if parallelise_handlers:
            await asyncio.gather(*(call() for call in calls))
        else:
            for call in calls:
                await call()
        return new_messages

    def _watch_messages(self) -> None:
        """Watch promises from the first handler on; without handlers, nothing is watched."""
        handlers = self.on_persist_message_handlers or self.on_persist_messages_handlers
        if handlers and self._persist not in self.on_promise_resolved_handlers:
            self.on_promise_resolved_handlers.insert(0, self._persist)

    async def _persist(self, promise: object, value: object) -> None:
        if isinstance(value, Message):
            await self._persisted(partial(self.apersist_messages, value, promise))

    async def _persisted(self, call: Callable[[], Awaitable[object]]) -> None:
        try:
            await call()
        except Exception as error:  # noqa: BLE001  it is unread
            self.log_error("A message could not be persisted", error)


def _as_alias(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).upper()


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
