"""The context under which agents run, and which has their messages kept."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from selfeng.runtime.agent import MiniAgent
from selfeng.runtime.context import PromisingContext, as_list, check_async
from selfeng.runtime.message import Message
from selfeng.runtime.sequence import MessageType

logger = logging.getLogger(__name__)

PersistMessageHandler = Callable[[Any, Message], Awaitable[None]]
"""Called with a promise and the message it brought, one message at a time."""
PersistMessagesHandler = Callable[[list[Message]], Awaitable[None]]
"""Called with messages that came together."""


class MiniAgents(PromisingContext):
    """An async context manager under which agents run; leaving it waits for all of them. See PromisingContext."""

    def __init__(
        self,
        *,
        stream_llm_tokens_by_default: bool = True,
        on_persist_message: PersistMessageHandler | Iterable[PersistMessageHandler] = (),
        on_persist_messages: PersistMessagesHandler | Iterable[PersistMessagesHandler] = (),
        **options: Any,
    ) -> None:
        """`on_persist_message` and `on_persist_messages` are called once for every message, after the messages inside it.

        The other options are those of PromisingContext.
        """
        super().__init__(**options)
        self.stream_llm_tokens_by_default = stream_llm_tokens_by_default
        self.on_persist_message_handlers = as_list(on_persist_message)
        self.on_persist_messages_handlers = as_list(on_persist_messages)
        self._watch_messages()

    def on_persist_message(self, handler: PersistMessageHandler) -> PersistMessageHandler:
        """Have an async function called with every message, one at a time; a decorator."""
        self.on_persist_message_handlers.append(check_async(handler))
        self._watch_messages()
        return handler

    def on_persist_messages(self, handler: PersistMessagesHandler) -> PersistMessagesHandler:
        """Have an async function called with lists of messages that came together; a decorator."""
        self.on_persist_messages_handlers.append(check_async(handler))
        self._watch_messages()
        return handler

    def run_agent(self, agent: MiniAgent, messages: MessageType | None = None, **kwargs: Any) -> tuple[Message, ...]:
        """Run an agent in a new event loop and this context, and give its replies. Blocks."""

        async def replies() -> tuple[Message, ...]:
            return await agent.inquire(messages, **kwargs)

        return self.run(replies())

    async def apersist_messages(self, messages: Message | Iterable[Message], promise: Any = None) -> list[Message]:
        """Have messages persisted that were not yet, and those inside them first; gives which they were."""
        given = [messages] if isinstance(messages, Message) else list(messages)
        found = [found for message in given for found in (*message.sub_messages(), message) if found.claim_persistence()]
        if found:
            for keep in self.on_persist_messages_handlers:
                await keep(found)
            for keep in self.on_persist_message_handlers:
                for message in found:
                    await keep(promise, message)
        return found

    def _watch_messages(self) -> None:
        """Watch promises from the first handler on; nothing is watched, and nothing waits, as long as nobody asks."""
        wanted = self.on_persist_message_handlers or self.on_persist_messages_handlers
        if wanted and self._persist not in self.on_promise_resolved_handlers:
            self.on_promise_resolved_handlers.insert(0, self._persist)

    async def _persist(self, promise: object, value: object) -> None:
        if isinstance(value, Message):
            try:
                await self.apersist_messages(value, promise)
            except Exception:
                logger.exception("A message could not be persisted")
