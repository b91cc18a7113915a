"""Promises resolve once, streams replay."""

import asyncio
import gc

import pytest

from selfeng_agents import MiniAgents, Promise, StreamAppender, StreamedPromise
from selfeng_agents.promising_errors import (
    AppenderClosedError,
    AppenderNotOpenError,
    FunctionNotProvidedError,
    NoActiveContextError,
)
from tests.runtime.reading import read

BOTH_STARTS = pytest.mark.parametrize("start_asap", [True, False])


async def numbers(_):
    for number in (1, 2, 3):
        yield number


async def two_and_an_error(_):
    yield 1
    yield 2
    raise ValueError("after two")


@BOTH_STARTS
async def test_every_awaiter_gets_the_same_instance_from_one_resolution(start_asap):
    calls = []

    async def resolver(promise):
        calls.append(promise)
        await asyncio.sleep(0)
        return object()

    async with MiniAgents():
        promise = Promise(resolver=resolver, start_asap=start_asap)
        first, second = await asyncio.gather(promise, promise.aresolve())
        assert first is second is await promise
    assert calls == [promise]


@BOTH_STARTS
async def test_every_awaiter_gets_the_same_exception_object(start_asap):
    async def resolver(_):
        raise ValueError("no")

    async with MiniAgents():
        promise = Promise(resolver=resolver, start_asap=start_asap)
        errors = [await outcome(promise), await outcome(promise)]
    assert str(errors[0]) == "no"
    assert errors[0] is errors[1]


async def outcome(promise):
    with pytest.raises(ValueError) as caught:
        await promise
    return caught.value


async def test_rereading_an_error_does_not_lengthen_its_traceback():
    async with MiniAgents():
        promise = StreamedPromise(streamer=two_and_an_error)
        lengths = {len(traceback_of(await outcome(promise))) for _ in range(3)}
    assert len(lengths) == 1


def traceback_of(error):
    here, frames = error.__traceback__, []
    while here is not None:
        frames.append(here)
        here = here.tb_next
    return frames


async def test_a_promise_given_its_result_has_it_even_if_that_is_none():
    async with MiniAgents():
        assert await Promise(prefill_result=None) is None


async def test_a_lazy_promise_is_not_resolved_until_somebody_awaits_it():
    calls = []

    async def resolver(_):
        calls.append("resolved")

    async with MiniAgents():
        promise = Promise(resolver=resolver, start_asap=False)
        await asyncio.sleep(0)
        assert calls == []
        await promise
    assert calls == ["resolved"]


async def test_start_soon_is_another_name_of_start_asap():
    calls = []

    async def resolver(_):
        calls.append("resolved")

    async with MiniAgents():
        Promise(resolver=resolver, start_soon=False)
    assert calls == []


async def test_cancelling_an_awaiter_does_not_cancel_the_promise():
    go_on = asyncio.Event()

    async def resolver(_):
        await go_on.wait()
        return "value"

    async with MiniAgents():
        promise = Promise(resolver=resolver)
        awaiter = asyncio.ensure_future(promise.aresolve())
        await asyncio.sleep(0)
        awaiter.cancel()
        await asyncio.gather(awaiter, return_exceptions=True)
        go_on.set()
        assert await promise == "value"


async def test_a_promise_without_resolver_and_result_says_so():
    async with MiniAgents():
        with pytest.raises(FunctionNotProvidedError, match="needs a resolver"):
            await Promise()


async def test_resolver_and_result_together_are_refused():
    async with MiniAgents():
        with pytest.raises(ValueError, match="not both"):
            Promise(resolver=numbers, prefill_result=1)
        with pytest.raises(ValueError, match="not both"):
            StreamedPromise(streamer=numbers, prefill_pieces=[1])


def test_a_promise_outside_a_context_says_what_to_do():
    with pytest.raises(NoActiveContextError, match="async with MiniAgents"):
        Promise(prefill_result=1)


@BOTH_STARTS
async def test_every_reader_gets_all_pieces_from_one_run_of_the_streamer(start_asap):
    runs = []

    async def streamer(promise):
        runs.append(promise)
        async for number in numbers(promise):
            await asyncio.sleep(0)
            yield number

    async with MiniAgents():
        promise = StreamedPromise(streamer=streamer, start_asap=start_asap)
        together = [[], []]
        await asyncio.gather(*[read(promise, pieces) for pieces in together])
        assert [*together, [piece async for piece in promise]] == [[1, 2, 3]] * 3
        assert await promise == (1, 2, 3)
    assert runs == [promise]


@BOTH_STARTS
async def test_an_error_comes_at_its_place_for_every_reader_and_then_the_end(start_asap):
    async with MiniAgents():
        promise = StreamedPromise(streamer=two_and_an_error, start_asap=start_asap)
        for _ in range(2):
            pieces = []
            reader = aiter(promise)
            with pytest.raises(ValueError, match="after two"):
                await read(reader, pieces)
            assert pieces == [1, 2]
            with pytest.raises(StopAsyncIteration):
                await anext(reader)
        await outcome(promise)


@BOTH_STARTS
async def test_a_keyboard_interrupt_in_a_streamer_reaches_every_reader_and_hangs_none(start_asap):
    async def interrupted(_):
        yield 1
        raise KeyboardInterrupt

    async with MiniAgents():
        promise = StreamedPromise(streamer=interrupted, start_asap=start_asap)
        for _ in range(2):
            pieces = []
            with pytest.raises(KeyboardInterrupt):
                await read(promise, pieces)
            assert pieces == [1]
        with pytest.raises(KeyboardInterrupt):
            await promise


async def test_a_lazy_stream_is_asked_for_one_piece_at_a_time():
    made = []

    async def endless(_):
        while True:
            made.append(len(made))
            yield made[-1]

    async with MiniAgents():
        reader = aiter(StreamedPromise(streamer=endless, start_asap=False))
        await asyncio.sleep(0)
        assert made == []
        assert [await anext(reader), await anext(reader)] == [0, 1]
        assert made == [0, 1]


@BOTH_STARTS
@pytest.mark.parametrize(
    "broken", [lambda _: [1, 2], lambda _: asyncio.sleep(0)], ids=["list", "coroutine"]
)
async def test_a_streamer_that_gives_no_async_iterator_is_an_error_for_the_reader(
    broken, start_asap
):
    async with MiniAgents():
        with pytest.raises(TypeError, match="async iterator"):
            await StreamedPromise(streamer=broken, start_asap=start_asap)


async def test_a_promise_can_stream_another_promise():
    async with MiniAgents():
        source = StreamedPromise(streamer=numbers, start_asap=False)

        async def total(promise):
            return sum([piece async for piece in promise])

        assert await StreamedPromise(streamer=source, resolver=total) == 6


async def test_what_is_appended_before_and_after_the_reader_comes_is_read():
    async with MiniAgents():
        with StreamAppender() as appender:
            appender.append(1)
            promise = StreamedPromise(streamer=appender)
            pieces = []
            reader = asyncio.ensure_future(read(promise, pieces))
            await asyncio.sleep(0)
            appender.append(2).append(3)
        await reader
        assert pieces == [1, 2, 3]


async def test_an_appender_takes_nothing_before_it_is_open_and_after_it_is_closed():
    appender = StreamAppender()
    with pytest.raises(AppenderNotOpenError, match="with"):
        appender.append(1)
    with appender:
        appender.append(1)
    with pytest.raises(AppenderClosedError):
        appender.append(2)
    with pytest.raises(AppenderClosedError):
        appender.open()


async def test_an_error_in_an_appenders_block_goes_up_or_to_the_readers():
    async with MiniAgents():
        up, captured = StreamAppender(capture_errors=False), StreamAppender(capture_errors=True)
        with pytest.raises(ValueError, match="broken"):
            append_and_fail(up)
        append_and_fail(captured)
        assert await StreamedPromise(streamer=up) == (1,)
        pieces = []
        with pytest.raises(ValueError, match="broken"):
            await read(StreamedPromise(streamer=captured), pieces)
        assert pieces == [1]


async def test_an_exception_that_is_appended_comes_at_its_place():
    async with MiniAgents():
        with StreamAppender() as appender:
            appender.append(1).append(ValueError("broken")).append("lost")
        pieces = []
        with pytest.raises(ValueError, match="broken"):
            await read(StreamedPromise(streamer=appender), pieces)
        assert pieces == [1]


def append_and_fail(appender):
    with appender:
        appender.append(1)
        raise ValueError("broken")


async def test_an_error_that_nobody_reads_is_logged_once_and_one_that_is_read_is_not(caplog):
    async with MiniAgents():
        StreamedPromise(streamer=two_and_an_error)
        await outcome(StreamedPromise(streamer=two_and_an_error))
    gc.collect()
    assert [record.exc_info[1].args for record in caplog.records] == [("after two",)]


async def test_handlers_hear_of_every_promise_here_and_in_contexts_inside():
    heard = []

    async def hear(_, value):
        heard.append(value)

    async with MiniAgents(on_promise_resolved=hear):
        Promise(prefill_result=1)
        async with MiniAgents():
            Promise(prefill_result=2)
    assert heard == [1, 2]
