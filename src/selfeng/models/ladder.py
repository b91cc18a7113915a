"""A ladder of strategies for the same question, best first, for servers that don't accept or don't
follow all of them.
"""

import json
from collections.abc import Sequence
from typing import Protocol, TypeVar

from selfeng.core.daemon_threads import call_by_size
from selfeng.core.errors import ModelReplyInvalid
from selfeng.core.prompt import Prompt
from selfeng.core.turn import Budget
from selfeng.models.chat import ChatRequest, Memory, Message, ModelReply, messages_of
from selfeng.models.connection import ModelConnection
from selfeng.models.json_text import parse
from selfeng.models.model_failures import RequestRefused

ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)

_KEPT = 20_000
"""Characters of a bad reply that are shown to the model again."""
_KEPT_CUT_OFF = 1_000
"""The same for a reply that was cut off: the room for question and reply together may be short."""
IGNORED = 3
"""Replies in a row that did not follow a strategy, after which the server is not asked so again."""
_CUT_OFF = "it was cut off by the length limit, so it must be shorter"


class NotFollowed(Exception):
    """The reply shows that the server ignored the strategy; a plainer one may work."""


class Malformed(Exception):
    """The reply follows the strategy, with a mistake that the model can repair."""


class Strategy(Protocol[ResultT_co]):
    @property
    def fallback(self) -> int:
        """How many strategies to skip when a reply did not follow this one."""

    @property
    def sticky(self) -> bool:
        """Whether one reply that did not follow it proves that the server never will."""

    def request(self, messages: Sequence[Message], repair: Sequence[Message]) -> ChatRequest:
        """The request for the prompt's `messages`, followed by a repair round if there is one."""

    def read(self, reply: ModelReply) -> ResultT_co:
        """Raises: NotFollowed, Malformed."""

    def demand(self, problem: str) -> str:
        """The instruction to the model after a reply with that problem."""


async def ask(
    connection: ModelConnection,
    prompt: Prompt,
    strategies: Sequence[Strategy[ResultT]],
    memory: Memory,
    budget: Budget,
) -> ResultT:
    """Ask with the best strategy that works; a reply with a mistake, or cut off, goes back to the
    model once, to be repaired.

    Raises:
        ModelReplyInvalid: still no usable reply; names what is wrong with the last one.
        ModelUnavailable, ModelRefused, BudgetExceeded: see `ModelClient`.
    """
    position, sticky, repaired = memory.strategy, True, False
    repair: tuple[Message, ...] = ()
    while True:
        strategy, last = strategies[position], position == len(strategies) - 1
        try:
            request = strategy.request(messages_of(prompt), repair).model_copy(
                update={"prompt": prompt.name, "streamed": prompt.streamed}
            )
            reply = await connection.complete(request, budget)
        except RequestRefused:
            if last:
                raise
            sticky = (
                sticky and not repair
            )  # what is refused with a repair round may be accepted without one
            position, repair = position + 1, ()
            continue
        if sticky:
            # only now: a prompt that every strategy refuses says nothing about the strategies
            memory.strategy = position
        if reply.cut_off and repaired:
            raise connection.cut_off()
        try:
            size = len(reply.text) + sum(len(str(call.arguments)) for call in reply.calls)
            result: ResultT = await call_by_size(size, _read_complete, reply, strategy)
        except NotFollowed as error:
            if not last:
                memory.ignored += not repair
                proved = strategy.sticky and bool(reply.text.strip())
                sticky = sticky and not repair and (proved or memory.ignored >= IGNORED)
                position, repair = min(position + strategy.fallback, len(strategies) - 1), ()
                continue
            problem = str(error)
        except Malformed as error:
            problem = str(error)
        else:
            memory.ignored *= position != memory.strategy
            return result
        if repaired:
            raise ModelReplyInvalid(
                f"the reply of {connection.server.model} can't be used: {problem}",
                "try again, or set another OPENAI_MODEL",
                model=connection.server.model,
            )
        repair, repaired = _returned(reply, strategy.demand(problem)), True


def _read_complete(reply: ModelReply, strategy: Strategy[ResultT]) -> ResultT:
    """Raises: NotFollowed, Malformed."""
    if reply.cut_off:
        raise Malformed(_CUT_OFF)  # even if part of it can be read
    return strategy.read(reply)


def _returned(reply: ModelReply, demand: str) -> tuple[Message, ...]:
    """The bad reply as the model's own, and what is wrong with it."""
    limit = _KEPT_CUT_OFF if reply.cut_off else _KEPT
    if not reply.calls:
        return (
            {"role": "assistant", "content": reply.text[:limit] or "(an empty reply)"},
            {"role": "user", "content": demand},
        )
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": _as_json(call.arguments, limit)},
        }
        for call in reply.calls
    ]
    results: list[Message] = [
        {"role": "tool", "tool_call_id": call.id, "content": demand} for call in reply.calls
    ]
    return (
        {"role": "assistant", "content": reply.text[:limit] or None, "tool_calls": calls},
        *results,
    )


def _as_json(arguments: str, limit: int) -> str:
    """JSON text, because servers that put the call into a chat template parse it."""
    try:
        return json.dumps(parse(arguments))
    except ValueError:
        return json.dumps({"not_json": arguments[:limit]})
