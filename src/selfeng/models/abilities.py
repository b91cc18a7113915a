"""The abilities of a model server, found out by asking it once in each way."""

import time
from collections.abc import AsyncIterator, Sequence
from itertools import takewhile
from typing import Any, Literal

from selfeng.core.errors import ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import ThoughtAloud
from selfeng.core.prompt import ChatMessage, FunctionSchema, Prompt
from selfeng.core.turn import Budget
from selfeng.core.value import Value
from selfeng.core.visible import one_line
from selfeng.core.words import count
from selfeng.models import function_choice, reply_form
from selfeng.models.chat import ChatRequest, messages_of
from selfeng.models.connection import ModelConnection
from selfeng.models.ladder import IGNORED, Malformed, NotFollowed, Strategy
from selfeng.models.model_failures import RequestRefused

Purpose = Literal["server", "text", "value", "choice", "sight"]
Way = Literal["models", "stream", "schema", "required", "named", "auto", "words", "pictures"]

_NEEDED: dict[Purpose, str] = {"text": "text", "value": "values", "choice": "choices"}
_WAYS: dict[Way, str] = {
    "models": "models",
    "stream": "in a stream",
    "schema": "by a strict schema",
    "required": 'by tool_choice "required"',
    "named": "by tool_choice with the function",
    "auto": 'by tool_choice "auto"',
    "words": "in words",
    "pictures": "pictures",
}


class Ability(Value):
    """One thing that a server can do, or can't."""

    purpose: Purpose
    way: Way
    works: bool
    wasted: bool = False
    """Whether the server takes the request and ignores what it asks for, which costs a call."""
    detail: str = ""

    def __str__(self) -> str:
        suffix = f": {self.detail}" if self.detail else ""
        what = f"{_NEEDED.get(self.purpose, '')} {_WAYS[self.way]}".strip()
        return f"{'yes' if self.works else 'no':4}{what}{suffix}"


class Suitability(Value):
    """Whether a server's abilities suffice for turns."""

    missing: tuple[Purpose, ...] = ()
    """The purposes that it serves in no way, so that it can't be used."""
    wasted: int = 0
    """Calls that are ignored until the process knows its ways."""

    @property
    def usable(self) -> bool:
        return not self.missing

    def __str__(self) -> str:
        if self.missing:
            lacks = " and no ".join(_NEEDED[purpose] for purpose in self.missing)
            return f"This model can't be used: it gives no {lacks}."
        further = f"What the server ignores costs {count(self.wasted, 'further call')} until it is"
        return f"{_COST} {further} known." if self.wasted else _COST


class Total(Value):
    """The reply that is asked for as a value."""

    sentence: str
    total: int


_PROMPT = Prompt(
    name="check",
    messages=(
        ChatMessage(role="system", content="Answer the question in one short sentence."),
        ChatMessage(role="user", content="What are 2 and 3 together?"),
    ),
)
_NUMBER = "83"
_PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAOAAAABwAQAAAAAvMEEPAAAB1klEQVR42u2WQW7bMBREHyUh1iKAtcwuOkJvIN/MRE"
    "/So/AIOYKWWWqRhVowmi5oUbK+3DQFiqKABQiUOfyf5PwZ0k7cfgru4B38n0G5EwCuWVDNT08pSQMudy0gcJYUoDPg"
    "ROoFng04Asc05jD35QWN6Z2AaFY7IB8hcvaTWW0o1TtpcBqcSRseeRIMD9SyJDRUQF9T4begbynw0KzGL1+JvNDido"
    "l385iwAdMiQp5uE+mZEX+znv5vyER/HOmuQ3PVz+lVblZV+Sit5sZv0/pOExepmWLTc5HH5Eza00BMvdHO2b7xmn6M"
    "hQGbd75VALxUZp8XUUvTovgc+QB8AfhKa9I6n+URDCj/C4Z+ZAHupH0FXmbbbMHeiTF9vpmt+KP6MlXMGfPSaUy9gy"
    "FenKhSzR6NkSZ8MhJ7RnLMDnLGK3HFje+3kcVihdOndDtWSSpXFF1F3uT2N+zwvf4HZ3z8dGQdgdAmKpobkdNu2mkh"
    "PuzPeSq05m8GK12c7deH2EVLkbMiEp2mfGCQr5VOIxLPilhpHtU7yR9WF8AiaidKKSBfGjCkq6jfvZFaoIYmNZt9Pi"
    "Vn17PBr05CFaDcWNsfABcod27eMe09Zgokd/8jegc/Bn8C33S+5uOtM48AAAAASUVORK5CYII="
)
"""A PNG of the number: a server may take a picture and not show it to the model."""
_LOOK = Prompt(
    name="check",
    messages=(
        ChatMessage(
            role="user",
            content="Which number does the picture show? Reply with its digits only.",
            pictures=(f"data:image/png;base64,{_PICTURE}",),
        ),
    ),
)
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
_ADD = FunctionSchema(name="add", description="Add two numbers.", parameters=_PARAMETERS)
_MULTIPLY = _ADD.model_copy(update={"name": "multiply", "description": "Multiply two numbers."})
_COST = "A request that a tool serves takes 2 model calls, one that needs a new tool 4 to 6."
"""As docs/turns.md counts them."""
_VALUES: tuple[Way, ...] = ("schema", "required", "named", "words")
_CHOICES: tuple[Way, ...] = ("required", "auto", "words")


async def abilities(connection: ModelConnection, budget: Budget) -> AsyncIterator[Ability]:
    """The server's abilities, one after the other: nine model calls at most.

    Raises:
        ModelUnavailable, ModelRefused, BudgetExceeded: see `ModelClient`.
    """
    yield await _listed(connection)
    yield await _streamed(connection, budget)
    for way, strategy in zip(_VALUES, reply_form.strategies_for(Total), strict=True):
        yield await _tried(connection, budget, "value", way, strategy)
    ways = function_choice.strategies_for((_ADD, _MULTIPLY))
    for way, choosing in zip(_CHOICES, ways, strict=True):
        yield await _tried(connection, budget, "choice", way, choosing)
    yield await sight(connection, budget)


async def sight(connection: ModelConnection, budget: Budget) -> Ability:
    """Whether the model sees pictures: one call. Raises: as `abilities`."""
    request = ChatRequest(messages=messages_of(_LOOK), prompt=_LOOK.name)
    try:
        text = (await connection.complete(request, budget)).text
    except (RequestRefused, ModelReplyInvalid) as error:
        return Ability(purpose="sight", way="pictures", works=False, detail=error.message)
    wrong = f"it read {one_line(text[:60])!r} where the picture shows {_NUMBER}"
    works = _NUMBER in text
    return Ability(
        purpose="sight", way="pictures", works=works, wasted=not works, detail=wrong * (not works)
    )


def suitability(all_abilities: Sequence[Ability]) -> Suitability:
    """Whether a server with these abilities can be used, and what turns take with it."""
    able = {ability.purpose for ability in all_abilities if ability.works}
    return Suitability(
        missing=tuple(purpose for purpose in _NEEDED if purpose not in able),
        wasted=_wasted(all_abilities, "value", 2) + IGNORED * _wasted(all_abilities, "choice", 1),
    )


def _wasted(all_abilities: Sequence[Ability], purpose: Purpose, most: int) -> int:
    """How many of the first `most` ways are asked for and ignored before one works."""
    ways = [ability for ability in all_abilities if ability.purpose == purpose][:most]
    return sum(way.wasted for way in takewhile(lambda way: not way.works, ways))


async def _listed(connection: ModelConnection) -> Ability:
    try:
        models = {model.id: model for model in await connection.provider.models()}
    except ModelUnavailable as error:
        return Ability(purpose="server", way="models", works=False, detail=error.message)
    is_listed = connection.server.model in models
    nearest = models.get(connection.server.model) or next(iter(models.values()), None)
    length = nearest and nearest.context_length
    length_text = (
        f"context length {length:,} tokens" if length else "it does not tell its context length"
    )
    missing = "" if is_listed else f"it does not list {connection.server.model}; "
    return Ability(
        purpose="server", way="models", works=is_listed, detail=f"{missing}{length_text}"
    )


async def _streamed(connection: ModelConnection, budget: Budget) -> Ability:
    news, pieces, start = list[object](), list[float](), time.monotonic()
    stream_budget = Budget(on_thought=news.append, parent=budget)
    try:
        async for _ in connection.stream(
            ChatRequest(messages=messages_of(_PROMPT), prompt=_PROMPT.name), stream_budget
        ):
            pieces.append(time.monotonic() - start)
    except ModelReplyInvalid as error:
        return Ability(purpose="text", way="stream", works=False, detail=error.message)
    usage = "reports usage" if connection.reports_usage else "reports no usage, which is estimated"
    first = f"{count(len(pieces), 'piece')}, the first after {pieces[0]:.1f} s"
    thinks = any(isinstance(event, ThoughtAloud) for event in news)
    aloud = "; it thinks aloud, which is kept apart" if thinks else ""
    habits = (
        f"; adapted to it: {', '.join(connection.provider.habits)}"
        if connection.provider.habits
        else ""
    )
    detail = f"{first}; it {usage}{aloud}{habits}"
    return Ability(purpose="text", way="stream", works=True, detail=detail)


async def _tried(
    connection: ModelConnection, budget: Budget, purpose: Purpose, way: Way, strategy: Strategy[Any]
) -> Ability:
    request = strategy.request(messages_of(_PROMPT), ())
    problem, wasted = "", False
    try:
        reply = await connection.complete(request.model_copy(update={"prompt": "check"}), budget)
        if reply.cut_off:
            raise connection.cut_off()
        strategy.read(reply)
    except RequestRefused as error:
        problem = error.message
    except (NotFollowed, Malformed) as error:
        problem, wasted = f"the reply does not follow: {error}", True
    except ModelReplyInvalid as error:
        problem, wasted = error.message, True
    return Ability(purpose=purpose, way=way, works=not problem, wasted=wasted, detail=problem)
