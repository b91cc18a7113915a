"""The budget of a turn: checked before every call, charged after it, and the end of its seconds
ends a call.
"""

import asyncio
import json

import pytest

from selfeng.core.errors import BudgetExceeded, ModelUnavailable
from selfeng.core.events import Limits, Usage
from selfeng.core.prompt import FunctionCall, FunctionSchema
from selfeng.core.turn import Budget
from selfeng.core.value import Value
from selfeng.models.pricing import Tokens
from selfeng_offline.completion import Completion, CompletionRequest, Flawed
from selfeng_offline.provider import OfflineProvider
from selfeng_offline.server import OfflineServer
from selfeng_offline.wire import Rejection
from tests.llm.desk import Desk

ADD = FunctionSchema(
    name="add", description="Add.", parameters={"type": "object", "properties": {}}
)
CALL = Completion(function="add")
AT_ONCE = {"retry-after-ms": "1"}


class Word(Value):
    word: str


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (Limits(calls=0), "the turn has used up its budget of 0 model calls"),
        (Limits(tokens=0), "the turn has used up its budget of 0 tokens"),
        (Limits(seconds=0), "the turn has used up its budget of 0 seconds"),
        (Limits(cost=0.0), "the turn has used up its budget of 0 US dollars"),
    ],
)
async def test_no_request_is_sent_once_a_limit_is_used_up(
    desk: Desk, limits: Limits, message: str
) -> None:
    desk.budget = Budget(limits)
    for call in (desk.collect(), desk.structured(Word), desk.choose(ADD)):
        with pytest.raises(BudgetExceeded) as caught:
            await call
        assert caught.value.message == message
    assert (desk.bodies, desk.budget.usage) == ([], Usage())


async def test_a_repair_round_is_a_call_of_its_own(desk: Desk) -> None:
    desk.budget = Budget(Limits(calls=1))
    desk.play(Completion(content="{}"), Completion(content='{"word": "late"}'))
    with pytest.raises(BudgetExceeded):
        await desk.structured(Word)
    assert (len(desk.bodies), desk.budget.usage.calls) == (1, 1)


@pytest.mark.parametrize("after", [0, 2])
async def test_the_end_of_the_turns_seconds_ends_a_stream(desk: Desk, after: int) -> None:
    desk.budget = Budget(Limits(seconds=1.2))
    desk.play(Flawed(content="one two three", stop_after=after, then="hang"))
    with pytest.raises(BudgetExceeded) as caught:
        await desk.collect()
    assert caught.value.message == "the turn has used up its budget of 1.2 seconds"
    assert caught.value.remedy == "ask for less, or raise TURN_MAX_SECONDS"
    assert await desk.client_left()
    assert desk.budget.usage == Usage(
        calls=1, input_tokens=30, output_tokens=1 if after else 0, cost=0.0
    )


async def test_the_end_of_the_turns_seconds_ends_a_call_and_its_retries(desk: Desk) -> None:
    desk.budget = Budget(Limits(seconds=0.2))
    desk.play(Rejection(429, "Later.", headers={"retry-after": "60"}))
    with pytest.raises(BudgetExceeded):
        await desk.choose(ADD)
    assert len(desk.bodies) == 1


async def test_a_reader_is_not_interrupted_but_gets_no_more_once_the_seconds_are_over(
    desk: Desk,
) -> None:
    desk.budget = Budget(Limits(seconds=0.2))
    desk.play(Completion(content="one two"))
    pieces = desk.client.stream(*desk.asked)
    assert await anext(pieces) == "one"
    await asyncio.sleep(desk.budget.seconds_left)
    with pytest.raises(BudgetExceeded):
        await anext(pieces)


async def test_a_cancelled_call_is_charged_by_its_question(desk: Desk) -> None:
    arrived, loop = asyncio.Event(), asyncio.get_running_loop()

    def late(_request: CompletionRequest) -> Completion:
        loop.call_soon_threadsafe(arrived.set)
        return Flawed(content="late", stop_after=0, then="hang")

    desk.play(late)
    call = asyncio.create_task(desk.choose(ADD))
    await arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await desk.client_left()
    assert desk.budget.usage == Usage(calls=1, input_tokens=54, output_tokens=0, cost=0.0)


async def test_a_failed_call_counts_as_a_call_without_tokens(desk: Desk) -> None:
    desk.play(*[Rejection(500, "Broken.", headers=AT_ONCE)] * 3)
    with pytest.raises(ModelUnavailable):
        await desk.choose(ADD)
    assert desk.budget.usage == Usage(calls=1, input_tokens=0, output_tokens=0, cost=0.0)


async def test_the_estimate_counts_tools_and_arguments(desk: Desk) -> None:
    desk.play(Flawed(function="add", arguments={"a": 1}, usage=False))
    assert await desk.choose(ADD) == FunctionCall(name="add", arguments={"a": 1})
    assert desk.budget.usage == Usage(calls=1, input_tokens=54, output_tokens=3, cost=0.0)


async def test_the_offline_model_uses_no_tokens(desk: Desk) -> None:
    desk.use(
        provider=lambda server, max_retries: OfflineProvider(
            OfflineServer(desk, delay=0), server, max_retries
        )
    )
    desk.play(CALL)
    await desk.choose(ADD)
    assert desk.budget.usage == Usage(calls=1, input_tokens=0, output_tokens=0, cost=0.0)


async def test_the_price_is_asked_with_what_was_used(desk: Desk) -> None:
    asked: list[tuple[str, str, Tokens]] = []

    def price(model: str, base_url: str, tokens: Tokens) -> float:
        asked.append((model, base_url, tokens))
        return 0.25

    desk.use(price=price)
    desk.play(CALL, CALL)
    await desk.choose(ADD)
    await desk.choose(ADD)
    assert asked == [("offline", desk.server.base_url, Tokens(input=29, output=2))] * 2
    assert desk.budget.usage == Usage(calls=2, input_tokens=58, output_tokens=4, cost=0.5)


async def test_an_unknown_price_leaves_the_cost_unknown(desk: Desk) -> None:
    desk.use(price=lambda *_: None)
    desk.play(CALL)
    await desk.choose(ADD)
    assert desk.budget.usage.cost is None


ENDLESS = Flawed(content=" word" * 80, stop_after=70, then="hang")


@pytest.mark.parametrize(
    ("limits", "message", "remedy"),
    [
        (
            Limits(tokens=50),
            "the turn has used up its budget of 50 tokens",
            "ask for less, or raise TURN_MAX_TOKENS",
        ),
        (
            Limits(cost=0.25),
            "the turn has used up its budget of 0.25 US dollars",
            "ask for less, or raise TURN_MAX_COST",
        ),
    ],
)
async def test_a_stream_is_left_as_soon_as_it_passes_a_limit(
    desk: Desk, limits: Limits, message: str, remedy: str
) -> None:
    desk.budget = Budget(limits)
    desk.use(price=lambda _model, _url, tokens: (tokens.input + tokens.output) / 200)
    desk.play(ENDLESS)
    pieces: list[str] = []
    with pytest.raises(BudgetExceeded) as caught:
        await desk.collect_into(pieces)
    assert (caught.value.message, caught.value.remedy) == (message, remedy)
    assert (
        "".join(pieces) == "word" + " word" * 15
    )  # 30 tokens were asked; 80 characters are 20 more
    assert await desk.client_left()
    assert desk.budget.usage == Usage(calls=1, input_tokens=30, output_tokens=22, cost=0.26)


async def test_what_the_turn_used_before_counts_against_a_stream(desk: Desk) -> None:
    desk.budget = Budget(Limits(tokens=50))
    desk.budget.charge(8, 2, 0.0)
    desk.play(ENDLESS)
    pieces: list[str] = []
    with pytest.raises(BudgetExceeded):
        await desk.collect_into(pieces)
    assert "".join(pieces) == "word" + " word" * 7


async def test_a_stream_that_uses_a_limit_up_exactly_is_whole(desk: Desk) -> None:
    desk.budget = Budget(Limits(tokens=50))
    desk.play(Flawed(content=" word" * 16, usage=False))
    assert "".join(await desk.collect()) == "word" + " word" * 15


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_endless_thinking_aloud_passes_a_limit_too(desk: Desk, field: str) -> None:
    desk.budget = Budget(Limits(tokens=50))
    thought = json.dumps({"choices": [{"delta": {field: " word"}}]})
    desk.play(Flawed(content=f"data: {thought}\n\n" * 20, served_as="text/event-stream"))
    with pytest.raises(BudgetExceeded):
        await desk.collect()
    assert desk.budget.usage == Usage(calls=1, input_tokens=30, output_tokens=22, cost=0.0)


async def test_a_count_that_a_server_reports_at_the_start_does_not_hide_what_follows(
    desk: Desk,
) -> None:
    desk.budget = Budget(Limits(tokens=50))
    chunk = {"choices": [{"delta": {"content": " word"}}]}
    first = {**chunk, "usage": {"prompt_tokens": 29, "completion_tokens": 1, "total_tokens": 30}}
    content = "".join(f"data: {json.dumps(data)}\n\n" for data in (first, *[chunk] * 20))
    desk.play(Flawed(content=content, served_as="text/event-stream"))
    with pytest.raises(BudgetExceeded):
        await desk.collect()
    assert desk.budget.usage == Usage(calls=1, input_tokens=29, output_tokens=23, cost=0.0)


ENOUGH, FEW = Limits(tokens=4096 + 54), Limits(tokens=4000)
"""The question takes 54 tokens by the estimate, with which the reply to the first may still have
4096.
"""


@pytest.mark.parametrize(("limits", "cap"), [(ENOUGH, None), (FEW, 4000 - 54)])
async def test_a_whole_reply_is_capped_where_little_is_left(
    desk: Desk, limits: Limits, cap: int | None
) -> None:
    desk.budget = Budget(limits)
    desk.play(CALL)
    await desk.choose(ADD)
    assert desk.bodies[0].get("max_tokens") == cap


async def test_a_whole_reply_that_the_cap_ends_ends_the_turn(desk: Desk) -> None:
    desk.budget = Budget(FEW)
    desk.play(Completion(content='{"word": "la', finish_reason="length"))
    with pytest.raises(BudgetExceeded) as caught:
        await desk.structured(Word)
    assert caught.value.message == "the turn has used up its budget of 4000 tokens"
    assert desk.budget.usage.calls == 1


async def test_a_server_that_refuses_the_cap_is_asked_without_from_then_on(desk: Desk) -> None:
    desk.budget = Budget(FEW)
    desk.play(CALL, CALL, refuses=["max_tokens"])
    for _ in range(2):
        assert (await desk.choose(ADD)).name == "add"
    assert ["max_tokens" in body for body in desk.bodies] == [True, False, False]
    assert desk.budget.usage.calls == 2
