"""A ladder of ways to ask the same thing, best first, for servers that don't take or don't follow all of them."""

import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from selfeng.core.errors import ModelReplyInvalid
from selfeng.core.prompt import Prompt
from selfeng.core.turn import Budget
from selfeng.llm.connection import Connection
from selfeng.llm.exchange import Memory, Message, Question, Reply, messages_of
from selfeng.llm.failures import RequestRefused
from selfeng.llm.json_text import parse

ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)

_KEPT = 20_000
"""Characters of a bad reply that are shown to the model again."""
_KEPT_CUT_OFF = 1_000
"""The same of one that was cut off: what may be short is the room for question and reply together."""
_CUT_OFF = "it was cut off by the length limit, so it must be shorter"


class NotFollowed(Exception):
    """The reply shows that the server ignored the way of asking; a plainer way may do."""


class Malformed(Exception):
    """The reply follows the way of asking, with a mistake that the model can repair."""


class Rung(Protocol[ResultT_co]):
    """One way of asking."""

    @property
    def below(self) -> int:
        """How many rungs to go down when a reply did not follow this one."""
        ...

    @property
    def lasting(self) -> bool:
        """Whether one reply that did not follow says that the server never will."""
        ...

    def question(self, messages: Sequence[Message], repair: Sequence[Message]) -> Question:
        """The request for the prompt's `messages`, followed by a repair round if there is one."""
        ...

    def read(self, reply: Reply) -> ResultT_co:
        """Raises: NotFollowed, Malformed."""
        ...

    def demand(self, problem: str) -> str:
        """What the model is told after a reply with that problem."""
        ...


async def ask(connection: Connection, prompt: Prompt, rungs: Sequence[Rung[ResultT]], memory: Memory, budget: Budget) -> ResultT:
    """Ask on the best rung that holds; a reply with a mistake, or cut off, goes back to the model once, to be repaired.

    Raises:
        ModelReplyInvalid: still no usable reply; names what is wrong with the last one.
        ModelUnavailable, ModelRefused, BudgetExceeded: as everywhere.
    """
    position, lasting, repaired = memory.rung, True, False
    repair: tuple[Message, ...] = ()
    while True:
        rung, last = rungs[position], position == len(rungs) - 1
        try:
            question = rung.question(messages_of(prompt), repair).model_copy(update={"prompt": prompt.name})
            reply = await connection.complete(question, budget)
        except RequestRefused:
            if last:
                raise
            lasting = lasting and not repair  # what is refused with a repair round in it may be fine without
            position, repair = position + 1, ()
            continue
        if lasting:
            memory.rung = position  # only now: a prompt that every rung refuses says nothing about the rungs
        if reply.cut_off and repaired:
            raise connection.cut_off()
        try:
            return _whole(reply, rung)
        except NotFollowed as error:
            if not last:
                lasting = lasting and rung.lasting and not repair
                position, repair = min(position + rung.below, len(rungs) - 1), ()
                continue
            problem = str(error)
        except Malformed as error:
            problem = str(error)
        if repaired:
            raise ModelReplyInvalid(
                f"the reply of {connection.server.model} can't be used: {problem}", "try again, or set another OPENAI_MODEL"
            )
        repair, repaired = _returned(reply, rung.demand(problem)), True


def _whole(reply: Reply, rung: Rung[ResultT]) -> ResultT:
    """Raises: NotFollowed, Malformed."""
    if reply.cut_off:
        raise Malformed(_CUT_OFF)  # also where a part of it could be read
    return rung.read(reply)


def _returned(reply: Reply, demand: str) -> tuple[Message, ...]:
    """The bad reply as the model's own, and what is wrong with it."""
    kept = _KEPT_CUT_OFF if reply.cut_off else _KEPT
    if not reply.calls:
        return ({"role": "assistant", "content": reply.text[:kept] or "(an empty reply)"}, {"role": "user", "content": demand})
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": _as_json(call.arguments, kept)}}
        for call in reply.calls
    ]
    results: list[Message] = [{"role": "tool", "tool_call_id": call.id, "content": demand} for call in reply.calls]
    return ({"role": "assistant", "content": reply.text[:kept] or None, "tool_calls": calls}, *results)


def _as_json(arguments: Any, kept: int) -> str:
    """JSON text, because servers that put the call into a chat template parse it."""
    try:
        return json.dumps(parse(arguments) if isinstance(arguments, str) else arguments)
    except ValueError:
        return json.dumps({"not_json": arguments[:kept]})
