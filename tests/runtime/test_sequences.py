"""Any value that is sent arrives as one flat sequence of messages."""

import asyncio

import pytest

from selfeng_agents import (
    ErrorMessage,
    Message,
    MessageSequence,
    MessageTokenAppender,
    MiniAgents,
    PromisingContext,
)
from tests.runtime.reading import read_texts, texts

BOTH_STARTS = pytest.mark.parametrize("start_asap", [True, False])


async def later(*messages):
    for message in messages:
        await asyncio.sleep(0)
        yield message


@BOTH_STARTS
async def test_nesting_of_every_kind_flattens_in_order(start_asap):
    async with MiniAgents(start_everything_asap_by_default=start_asap):
        with MessageSequence() as inner:
            inner.append("inner 1")
        with MessageSequence() as outer:
            outer.append("text")
            outer.append({"text": "dict", "n": 1})
            outer.append([Message("message"), ("tuple", iter(["generator"]))])
            outer.append(Message("promise").as_promise)
            outer.append(later("async 1", ["async 2", inner.sequence_promise]))
            outer.append("last")
        assert await texts(outer.sequence_promise) == [
            *(
                "text",
                "dict",
                "message",
                "tuple",
                "generator",
                "promise",
                "async 1",
                "async 2",
                "inner 1",
                "last",
            )
        ]
        assert (await outer.sequence_promise)[1] == Message("dict", n=1)


async def test_what_is_already_there_is_passed_on_without_a_task():
    async with PromisingContext() as context:
        with MessageSequence() as inner:
            inner.append(["a", "b"])
        with MessageSequence() as outer:
            outer.append([inner.sequence_promise, "c"])
        assert outer.stream.ended
        assert context._tasks == {}
        assert await texts(outer.sequence_promise) == ["a", "b", "c"]


async def test_what_is_sent_is_frozen_as_it_was_then():
    async with MiniAgents():
        fields, several = {"text": "before"}, ["one"]
        with MessageSequence() as sequence:
            sequence.append([fields, several])
            fields["text"] = "after"
            several.append("two")
        assert await texts(sequence.sequence_promise) == ["before", "one"]


@pytest.mark.parametrize("unfit", [None, 7, object(), ["fine", b"bytes"]])
async def test_what_is_no_message_is_refused_whole(unfit):
    async with MiniAgents():
        with MessageSequence() as sequence, pytest.raises(TypeError, match="can be sent"):
            sequence.append(unfit)
        assert await sequence.sequence_promise == ()


@BOTH_STARTS
async def test_an_error_comes_at_its_place(start_asap):
    async with MiniAgents():
        with MessageSequence(start_asap=start_asap) as inner:
            inner.append(["1", ValueError("broken"), "lost"])
        with MessageSequence(start_asap=start_asap) as outer:
            outer.append(["0", later(inner.sequence_promise), "lost"])
        read = []
        with pytest.raises(ValueError, match="broken"):
            await read_texts(outer.sequence_promise, read)
        assert read == ["0", "1"]
        with pytest.raises(ValueError, match="broken"):
            await outer.sequence_promise


async def test_errors_can_be_messages_in_their_places():
    async with MiniAgents(errors_as_messages=True):
        with MessageSequence(appender_capture_errors=True) as sequence:
            sequence.append(["1", ValueError("in it"), "2", later("3")])
            raise KeyError("at the end")
        assert await sequence.sequence_promise == (
            Message("1"),
            ErrorMessage(text="ValueError: in it"),
            Message("2"),
            Message("3"),
            ErrorMessage(text="KeyError: 'at the end'"),
        )


async def test_an_error_among_the_tokens_keeps_those_before_it():
    async with MiniAgents(errors_as_messages=True):
        with MessageSequence() as sequence, MessageTokenAppender(capture_errors=True) as tokens:
            sequence.append(Message.promise(message_token_streamer=tokens))
            tokens.append("half a ").append("sentence")
            raise ValueError("cut")
        (promise,) = [promise async for promise in sequence.sequence_promise]
        assert [token async for token in promise] == ["half a ", "sentence", "\nValueError: cut"]
        assert await promise == ErrorMessage(text="half a sentence\nValueError: cut")


async def test_messages_that_were_read_before_are_the_same_where_errors_are_messages():
    async with MiniAgents(errors_as_messages=True):
        message = Message("whole", n=1)
        assert [str(token) async for token in message.as_promise] == ["whole"]
        (again,) = await MessageSequence.turn_into_sequence_promise([later(message)])
        assert again is message


async def test_error_messages_can_have_tracebacks():
    async with MiniAgents(errors_as_messages=True, error_tracebacks_in_messages=True):
        (message,) = await MessageSequence.turn_into_sequence_promise(_failing())
    assert "in fail" in str(message)
    assert str(message).endswith("ValueError: deep\n")


def _failing():
    async def fail():
        raise ValueError("deep")
        yield

    with MessageSequence() as sequence:
        sequence.append(fail())
    return sequence.sequence_promise


async def test_out_of_order_messages_pass_what_is_not_there_yet():
    go_on = asyncio.Event()

    async def slow():
        await go_on.wait()
        yield "slow"

    async with MiniAgents():
        with MessageSequence() as sequence:
            sequence.append(["first", slow(), "after slow"])
            sequence.append("quick", out_of_order=True)
            sequence.inject_out_of_order(later("soon"))
        reader = aiter(sequence.sequence_promise)
        assert [str(await (await anext(reader))) for _ in range(3)] == ["first", "quick", "soon"]
        go_on.set()
        assert await texts(sequence.sequence_promise) == [
            "first",
            "quick",
            "soon",
            "slow",
            "after slow",
        ]


async def test_a_lazy_sequence_starts_nothing_until_it_is_read():
    begun = []

    async def source():
        begun.append("begun")
        yield "x"

    async with MiniAgents():
        with MessageSequence(start_asap=False) as sequence:
            sequence.append(source())
            sequence.append(source(), out_of_order=True)
        await asyncio.sleep(0)
        assert begun == []
        assert await texts(sequence.sequence_promise) == ["x", "x"]


async def test_a_sequence_as_one_message_keeps_the_originals():
    async with MiniAgents():
        sequence = MessageSequence.turn_into_sequence_promise(["a", Message("b", role="user")])
        assert await sequence.as_single_promise() == Message(
            "a\n\nb", role="user", original_messages=[Message("a"), Message("b", role="user")]
        )
