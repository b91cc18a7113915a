"""Agents are functions that get messages and reply with messages."""

import asyncio
import gc
import weakref

import pytest

from selfeng_agents import InteractionContext, Message, MiniAgents, miniagent
from selfeng_agents.promising_errors import AppenderClosedError, NoActiveContextError
from tests.runtime.reading import read_texts, texts

BOTH_STARTS = pytest.mark.parametrize("start_asap", [True, False])


@miniagent
async def echo(ctx: InteractionContext, prefix: str = "you said ") -> None:
    """Says what it hears."""
    async for promise in ctx.message_promises:
        ctx.reply(f"{prefix}{await promise}")


@miniagent
class Counter:
    """Counts to a number."""

    def __init__(self, ctx: InteractionContext, to: int = 2) -> None:
        self.ctx = ctx
        self.to = to

    async def __call__(self) -> None:
        self.ctx.reply(str(number) for number in range(self.to))


@BOTH_STARTS
@pytest.mark.parametrize("call", [echo.inquire, echo.trigger])
async def test_an_agent_replies_to_its_messages(call, start_asap):
    async with MiniAgents():
        assert await texts(call(["a", Message("b")], start_asap=start_asap)) == [
            "you said a",
            "you said b",
        ]
        assert await call() == ()


async def test_a_class_is_an_agent_too():
    async with MiniAgents():
        assert await texts(Counter.inquire(to=3)) == ["0", "1", "2"]


def test_what_is_not_async_is_no_agent():
    class Sync:
        def __call__(self):
            """Not async."""

    for unfit in (lambda ctx: None, Sync, 7):
        with pytest.raises(ValueError, match="async"):
            miniagent(unfit)


async def test_an_agent_starts_at_the_next_task_switch_or_when_it_is_read():
    begun = []

    @miniagent
    async def agent(ctx, name):
        begun.append(name)

    async with MiniAgents():
        agent.inquire(name="eager")
        lazy = agent.inquire(name="lazy", start_soon=False)
        assert begun == []
        await asyncio.sleep(0)
        assert begun == ["eager"]
        await lazy
    assert begun == ["eager", "lazy"]


async def test_a_context_may_start_nothing_by_itself():
    begun = []

    @miniagent
    async def agent(ctx, name):
        begun.append(name)

    async with MiniAgents(start_everything_soon_by_default=False):
        agent.inquire(name="not read")
        agent.inquire(name="wanted", start_asap=True)
        agent.kick_off(name="kicked off")
    assert begun == ["wanted", "kicked off"]


async def test_forks_preset_arguments_and_calls_win_over_them():
    async with MiniAgents():
        polite = echo.fork(prefix="you kindly said ")
        assert await texts(polite.inquire("a")) == ["you kindly said a"]
        assert await texts(polite.fork(prefix="ahem: ").inquire("a")) == ["ahem: a"]
        assert await texts(polite.inquire("a", prefix="")) == ["a"]
        assert await texts(echo.inquire("a")) == ["you said a"]


def test_alias_and_description_come_from_the_function_or_from_whoever_makes_the_agent():
    named = echo.fork(alias="PARROT", description="Repeats.")
    assert [(agent.alias, agent.description) for agent in (echo, Counter, named, named.fork())] == [
        ("ECHO", "Says what it hears."),
        ("COUNTER", "Counts to a number."),
        *[("PARROT", "Repeats.")] * 2,
    ]

    @miniagent(alias="X", description="I am {AGENT_ALIAS}.")
    async def other(ctx): ...

    class HTTPFetcher:
        async def __call__(self): ...

    assert (other.alias, other.description) == ("X", "I am X.")
    assert miniagent(HTTPFetcher).alias == "HTTP_FETCHER"


async def test_a_call_outside_a_context_says_what_to_do():
    with pytest.raises(NoActiveContextError, match="async with MiniAgents"):
        echo.inquire("a")
    with pytest.raises(NoActiveContextError, match="inside one"):
        InteractionContext.get_current()


def test_a_call_before_a_loop_runs_begins_where_its_replies_are_read():
    later, unread = echo.inquire("a"), echo.inquire("b")

    async def main():
        return [await texts(later), await texts(echo.inquire(later))]

    said = "you said a"
    assert MiniAgents().run(main()) == [[said], [f"you said {said}"]]
    assert list(map(str, MiniAgents().run(echo.inquire("c")))) == ["you said c"]
    with pytest.raises(NoActiveContextError, match="async with MiniAgents"):
        asyncio.run(texts(unread))
    with pytest.warns(RuntimeWarning, match="did not run: pass the call to"):
        echo.inquire("d")
    with pytest.raises(NoActiveContextError, match="async with MiniAgents"):
        echo.kick_off("e")


def test_run_makes_a_loop_and_may_be_called_again():
    async def main():
        return await texts(echo.inquire("a"))

    miniagents = MiniAgents()
    assert [miniagents.run(main()), miniagents.run(main())] == [["you said a"]] * 2
    assert [str(message) for message in miniagents.run_agent(echo, "b")] == ["you said b"]


async def test_contexts_follow_each_other_and_nest():
    async with MiniAgents() as outer:
        async with MiniAgents() as inner:
            assert MiniAgents.get_current() is inner
            assert await texts(echo.inquire("a")) == ["you said a"]
        assert MiniAgents.get_current() is outer
        assert await texts(echo.inquire("b")) == ["you said b"]
    async with MiniAgents():
        assert await texts(echo.inquire("c")) == ["you said c"]


async def test_a_context_is_not_entered_twice_at_once():
    async with MiniAgents() as context:
        with pytest.raises(RuntimeError, match="active already"):
            context.activate()


async def test_leaving_a_context_waits_for_what_it_started():
    done = []

    @miniagent
    async def agent(ctx, depth):
        await asyncio.sleep(0)
        if depth:
            agent.inquire(depth=depth - 1)
        done.append(depth)

    async with MiniAgents():
        agent.inquire(depth=2)
    assert done == [2, 1, 0]


async def test_agents_that_wait_at_the_same_time_take_the_time_of_the_longest():
    order = []

    @miniagent
    async def waiter(ctx, name, gate, opens):
        order.append(f"{name} begins")
        opens.set()
        await gate.wait()
        order.append(f"{name} ends")

    async with MiniAgents():
        a, b = asyncio.Event(), asyncio.Event()
        await asyncio.gather(
            waiter.inquire(name="a", gate=b, opens=a), waiter.inquire(name="b", gate=a, opens=b)
        )
    assert order == ["a begins", "b begins", "b ends", "a ends"]


@BOTH_STARTS
async def test_an_error_is_raised_where_the_reply_is_read(start_asap):
    @miniagent
    async def failing(ctx):
        ctx.reply("before")
        raise ValueError("broken")

    @miniagent
    async def relaying(ctx):
        ctx.reply(["relayed", failing.inquire(), "lost"])

    async with MiniAgents(start_everything_asap_by_default=start_asap):
        read = []
        with pytest.raises(ValueError, match="broken"):
            await read_texts(relaying.inquire(), read)
        assert read == ["relayed", "before"]
        assert await texts(relaying.inquire(errors_as_messages=True)) == [
            "relayed",
            "before",
            "ValueError: broken",
            "lost",
        ]


async def test_a_keyboard_interrupt_in_an_agent_reaches_whoever_reads_it():
    @miniagent
    async def interrupted(ctx):
        raise KeyboardInterrupt

    async with MiniAgents():
        with pytest.raises(KeyboardInterrupt):
            await interrupted.inquire()


async def test_replies_out_of_order_pass_those_that_are_not_there():
    @miniagent
    async def slow(ctx, gate):
        await gate.wait()
        ctx.reply("slow")

    @miniagent
    async def agent(ctx):
        gate = asyncio.Event()
        ctx.reply(["1", slow.inquire(gate=gate), "2"]).reply_out_of_order("quick")
        gate.set()

    async with MiniAgents():
        assert await texts(agent.inquire()) == ["1", "quick", "slow", "2"]


@pytest.mark.parametrize("asynchronously", [True, False])
async def test_an_agent_can_end_its_replies_early(asynchronously):
    go_on, done = asyncio.Event(), []

    @miniagent
    async def agent(ctx):
        ctx.reply("reply")
        if asynchronously:
            await ctx.afinish_early()
        else:
            ctx.finish_early()
        with pytest.raises(AppenderClosedError):
            ctx.reply("too late")
        await go_on.wait()
        done.append("work")

    async with MiniAgents():
        assert await texts(agent.inquire()) == ["reply"]
        assert done == []
        go_on.set()
    assert done == ["work"]


async def test_replies_do_not_end_before_what_the_agent_makes_sure_to_wait_for():
    done = []

    async def work(name):
        await asyncio.sleep(0)
        done.append(name)

    @miniagent
    async def agent(ctx):
        ctx.make_sure_to_wait(work("first"))
        await ctx.await_now()
        assert done == ["first"]
        ctx.make_sure_to_wait(work("second"))

    async with MiniAgents():
        await agent.inquire()
        assert done == ["first", "second"]


async def test_a_failure_of_what_is_waited_for_is_logged(caplog):
    async def fail():
        raise ValueError("aside")

    @miniagent
    async def agent(ctx):
        ctx.make_sure_to_wait(fail())
        ctx.reply("fine")

    async with MiniAgents():
        assert await texts(agent.inquire()) == ["fine"]
    assert [record.exc_info[1].args for record in caplog.records] == [("aside",)]


async def test_what_goes_wrong_after_the_replies_have_ended_is_logged(caplog):
    @miniagent
    async def agent(ctx):
        ctx.finish_early()
        ctx.reply("too late")

    async with MiniAgents():
        assert await agent.inquire() == ()
    assert [record.exc_info[0] for record in caplog.records] == [AppenderClosedError]


async def test_a_call_that_is_over_leaves_nothing_for_the_garbage_collector():
    contexts = []

    @miniagent
    async def agent(ctx):
        contexts.append(weakref.ref(ctx))
        ctx.reply([ctx.message_promises, echo.inquire("b")])

    gc.disable()
    try:
        async with MiniAgents():
            assert await texts(agent.inquire("a")) == ["a", "you said b"]
        assert [context() for context in contexts] == [None]
    finally:
        gc.enable()


async def test_an_agent_knows_who_called_it():
    traces = []

    @miniagent
    async def inner(ctx):
        assert InteractionContext.get_current() is ctx
        traces.append([agent.alias for agent in ctx.get_agent_trace()])

    @miniagent
    async def outer(ctx):
        await inner.inquire()
        ctx.reply(inner.inquire(start_asap=False))

    async with MiniAgents():
        await outer.inquire()
    assert traces == [["INNER", "OUTER"]] * 2


@pytest.mark.parametrize("initiate", [echo.initiate_inquiry, echo.initiate_call])
async def test_messages_can_be_sent_piece_by_piece_and_answered_in_between(initiate):
    async with MiniAgents():
        call = initiate(prefix="")
        replies = aiter(call.reply_sequence(finish_call=False))
        for text in ("a", "b"):
            call.send_message(text)
            assert str(await (await anext(replies))) == text
        assert not call.is_finished
        assert await texts(call.send_out_of_order("c").reply_sequence()) == ["a", "b", "c"]
        assert call.is_finished
        with pytest.raises(AppenderClosedError):
            call.send_message("d")


async def test_a_call_is_finished_when_its_caller_ends():
    @miniagent
    async def caller(ctx):
        ctx.reply(
            echo.initiate_inquiry(prefix="").send_message("sent").reply_sequence(finish_call=False)
        )

    async with MiniAgents():
        assert await texts(caller.inquire()) == ["sent"]
        echo.initiate_inquiry().send_message("left open")


async def test_waiting_with_an_unfinished_call_is_warned_of():
    @miniagent
    async def caller(ctx):
        call = echo.initiate_inquiry()
        with pytest.warns(RuntimeWarning, match="finish"):
            await ctx.await_now()
        await ctx.await_now(suppress_deadlock_warning=True)
        call.finish()
        await ctx.await_now()

    async with MiniAgents():
        await caller.inquire()


class Sleepers:
    """A caller and two below it that would wait for ever."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.cancelled: list[str] = []

        @miniagent
        async def sleeper(ctx, name, below=0):
            if below:
                sleeper.inquire(name=f"{name}'s", below=below - 1)
            else:
                self.begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.append(name)
                raise

        self.agent = sleeper


async def test_cancelling_a_call_cancels_everything_below_it_and_nothing_else():
    sleepers = Sleepers()
    async with MiniAgents():
        other = echo.initiate_inquiry(prefix="")
        replies = sleepers.agent.inquire(name="x", below=2)
        await sleepers.begun.wait()
        replies.cancel()
        with pytest.raises(asyncio.CancelledError):
            await replies
        assert await texts(other.send_message("still here").reply_sequence()) == ["still here"]
    assert sorted(sleepers.cancelled) == ["x", "x's", "x's's"]


async def test_an_agent_cancelled_before_it_began_ends_its_replies():
    async with MiniAgents():
        replies = echo.inquire("a")
        replies.cancel()
        with pytest.raises(asyncio.CancelledError):
            await replies


async def test_cancelling_what_runs_in_a_context_cancels_everything_in_it():
    sleepers = Sleepers()

    async def turn():
        async with MiniAgents():
            await sleepers.agent.inquire(name="x", below=1)

    task = asyncio.ensure_future(turn())
    await sleepers.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(sleepers.cancelled) == ["x", "x's"]


async def test_cancelling_a_context_that_only_waits_cancels_everything_in_it():
    sleepers = Sleepers()

    async def turn():
        async with MiniAgents():
            sleepers.agent.inquire(name="x")

    task = asyncio.ensure_future(turn())
    await sleepers.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sleepers.cancelled == ["x"]
