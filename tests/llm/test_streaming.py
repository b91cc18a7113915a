"""Text that streams, from servers with all their habits."""

import asyncio

import pytest

from selfeng.core.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import Usage
from selfeng_offline.completion import Completion, Flawed
from tests.llm.desk import PROMPT, WIRE_PROMPT, Desk

ASKED = 30
"""Tokens of the prompt by the client's estimate."""


async def test_pieces_arrive_as_the_server_sends_them(desk: Desk) -> None:
    desk.play(Completion(content="def f():\n    return 1\n"))
    assert await desk.collect() == ["def", " f():", "\n    return", " 1", "\n"]
    assert desk.bodies == [
        {
            "model": "offline",
            "messages": WIRE_PROMPT,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


async def test_the_usage_that_the_server_reports_is_charged(desk: Desk) -> None:
    desk.play(Completion(content="forty five"))
    await desk.collect()
    assert desk.budget.usage == Usage(calls=1, input_tokens=29, output_tokens=3, cost=0.0)


async def test_usage_is_estimated_where_the_server_reports_none(desk: Desk) -> None:
    desk.play(Flawed(content="forty-five is it", usage=False))
    await desk.collect()
    assert desk.budget.usage == Usage(calls=1, input_tokens=ASKED, output_tokens=4, cost=0.0)


@pytest.mark.parametrize(
    "habit", [{"role": False}, {"empty_chunk": True}, {"finish_reason": ""}, {"usage": False}]
)
async def test_unusual_chunks_change_nothing(desk: Desk, habit: dict[str, object]) -> None:
    desk.play(Flawed(content="forty five", **habit))
    assert await desk.collect() == ["forty", " five"]


async def test_a_server_that_refuses_the_wish_for_usage_is_asked_without_from_then_on(
    desk: Desk,
) -> None:
    desk.play(Completion(content="one"), Completion(content="two"), refuses=["stream_options"])
    assert await desk.collect() == ["one"]
    assert await desk.collect() == ["two"]
    assert ["stream_options" in body for body in desk.bodies] == [True, False, False]
    assert desk.budget.usage.calls == 2


async def test_a_reply_cut_off_by_the_length_limit_is_invalid_at_its_end(desk: Desk) -> None:
    desk.play(Completion(content="def f(", finish_reason="length"))
    pieces: list[str] = []
    with pytest.raises(ModelReplyInvalid) as caught:
        await desk.collect_into(pieces)
    assert caught.value.message == "the reply of offline was cut off by its length limit"
    assert pieces == ["def", " f("]
    assert desk.budget.usage.calls == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Flawed(refusal="I can't help with that."), "offline declined: I can't help with that."),
        (
            Flawed(content="Well", finish_reason="content_filter"),
            "a content filter cut off the reply of offline",
        ),
    ],
)
async def test_a_refusal_is_told_as_such(desk: Desk, reply: Completion, message: str) -> None:
    desk.play(reply)
    with pytest.raises(ModelRefused) as caught:
        await desk.collect()
    assert caught.value.message == message


@pytest.mark.parametrize(
    "reply",
    [Completion(content=""), Completion(content=" \n "), Flawed(content="", finish_reason="")],
)
async def test_an_empty_reply_is_invalid(desk: Desk, reply: Completion) -> None:
    desk.play(reply)
    with pytest.raises(ModelReplyInvalid) as caught:
        await desk.collect()
    assert caught.value.message == "the reply of offline is empty"


@pytest.mark.parametrize(
    ("then", "message"),
    [
        ("drop", "the reply of {} broke off: peer closed"),
        ("error", "{} broke off its reply: The engine is overloaded."),
    ],
)
async def test_a_stream_that_breaks_off_is_told_and_charged(
    desk: Desk, then: str, message: str
) -> None:
    desk.play(Flawed(content="one two three four", stop_after=3, then=then))
    pieces: list[str] = []
    with pytest.raises(ModelUnavailable) as caught:
        await desk.collect_into(pieces)
    assert caught.value.message.startswith(message.format(desk.client.server))
    assert pieces == ["one", " two"]
    assert desk.budget.usage == Usage(calls=1, input_tokens=ASKED, output_tokens=2, cost=0.0)


async def test_silence_between_two_pieces_times_out(desk: Desk) -> None:
    desk.play(Flawed(content="one two", stop_after=2, then="hang"))
    desk.use(timeout=0.2, max_retries=0)
    with pytest.raises(ModelUnavailable) as caught:
        await desk.collect()
    assert caught.value.message == f"{desk.server.base_url} did not continue within 0.2 seconds"
    assert caught.value.remedy == "try again, use a faster model, or raise OPENAI_TIMEOUT"


async def test_leaving_the_stream_early_closes_the_connection_and_charges(desk: Desk) -> None:
    desk.play(Flawed(content="one two three", stop_after=3, then="hang"))
    pieces = desk.client.stream(PROMPT, desk.budget)
    assert await anext(pieces) == "one"
    await pieces.aclose()
    assert await desk.client_left()
    assert desk.budget.usage == Usage(calls=1, input_tokens=ASKED, output_tokens=1, cost=0.0)


async def test_cancelling_the_reader_closes_the_connection_and_charges(desk: Desk) -> None:
    desk.play(Flawed(content="one two three", stop_after=3, then="hang"))
    arrived = asyncio.Event()

    async def read() -> None:
        async for piece in desk.client.stream(PROMPT, desk.budget):
            if piece == " two":
                arrived.set()

    reader = asyncio.create_task(read())
    await arrived.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert await desk.client_left()
    assert desk.budget.usage == Usage(calls=1, input_tokens=ASKED, output_tokens=2, cost=0.0)


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
async def test_a_server_that_does_not_stream_is_no_model(desk: Desk, kind: str) -> None:
    desk.play(Flawed(content="<html>", served_as=kind))
    with pytest.raises(ModelUnavailable) as caught:
        await desk.collect()
    problem = f"its answer is {kind}, not an event stream"
    assert (
        caught.value.message
        == f"{desk.client.server} does not answer like an OpenAI-compatible server: {problem}"
    )
    assert caught.value.remedy == "check OPENAI_BASE_URL; it usually ends in /v1"


async def test_events_that_are_not_json_break_the_reply_off(desk: Desk) -> None:
    desk.play(Flawed(content="data: nonsense\n\n", served_as="text/event-stream"))
    with pytest.raises(ModelUnavailable) as caught:
        await desk.collect()
    assert caught.value.message.startswith(
        f"the reply of {desk.client.server} broke off: Expecting value"
    )


def _events(*data: object) -> Flawed:
    return Flawed(
        content="".join(f"data: {item}\n\n" for item in data), served_as="text/event-stream"
    )


PIECE = '{"choices": [{"delta": {"content": "one"}}]}'
FINISHED = '{"choices": [{"delta": {}, "finish_reason": "stop"}]}'


@pytest.mark.parametrize("end", ["[DONE]", FINISHED])
async def test_a_finish_reason_or_an_end_mark_completes_a_reply(desk: Desk, end: str) -> None:
    desk.play(_events(PIECE, end))
    assert await desk.collect() == ["one"]


@pytest.mark.parametrize(("sent", "pieces", "usage"), [([PIECE], ["one"], Usage(calls=1, input_tokens=ASKED, output_tokens=1, cost=0.0)),
                                                       ([], [], Usage(calls=1, cost=0.0))])  # fmt: skip
async def test_a_stream_that_just_ends_broke_off(
    desk: Desk, sent: list[str], pieces: list[str], usage: Usage
) -> None:
    desk.play(_events(*sent))
    arrived: list[str] = []
    with pytest.raises(ModelUnavailable) as caught:
        await desk.collect_into(arrived)
    assert (
        caught.value.message
        == f"the reply of {desk.client.server} broke off: it ended without an end mark"
    )
    assert caught.value.remedy == "try again"
    assert (arrived, desk.budget.usage) == (pieces, usage)
