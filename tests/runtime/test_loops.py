"""Chains and loops of agents."""

import pytest

from selfeng_agents import (
    AWAIT,
    CLEAR,
    EndOfLoop,
    Message,
    MiniAgents,
    achain,
    achain_loop,
    adialog_loop,
    miniagent,
)


@miniagent
async def shout(ctx):
    async for promise in ctx.message_promises:
        ctx.reply(str(await promise).upper())


@miniagent
async def count(ctx, heard, until, error=EndOfLoop):
    heard.append([str(message) for message in await ctx.message_promises])
    if len(heard) == until:
        raise error
    ctx.reply([ctx.message_promises, str(len(heard))])


async def test_each_agent_of_a_chain_gets_what_the_one_before_replied():
    async with MiniAgents():
        replies = await achain(
            [shout, None, lambda messages: shout.inquire(["and", messages])], "a"
        )
        assert await replies == (Message("AND"), Message("A"))
        assert await achain([shout, AWAIT, CLEAR], "a") is None
        with pytest.raises(ValueError, match="AWAIT, CLEAR and None"):
            await achain([7])


async def test_a_loop_goes_on_until_an_agent_ends_it():
    heard = []
    async with MiniAgents():
        last = await achain_loop([count.fork(heard=heard, until=3), AWAIT, shout], "a")
        assert [str(message) for message in await last] == ["A", "1", "2"]
    assert heard == [["a"], ["A", "1"], ["A", "1", "2"]]


async def test_a_cleared_loop_begins_each_round_without_messages():
    heard = []
    async with MiniAgents():
        await achain_loop([count.fork(heard=heard, until=3), AWAIT, CLEAR], "a")
    assert heard == [["a"], [], []]


@pytest.mark.parametrize("links", [[shout], [AWAIT], [shout, CLEAR]])
async def test_a_loop_that_would_never_run_anything_is_refused_with_the_reason(links):
    async with MiniAgents():
        with pytest.raises(ValueError, match="none would run"):
            await achain_loop(links)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
async def test_any_other_error_ends_a_loop_and_is_raised(error):
    async with MiniAgents():
        with pytest.raises(error):
            await achain_loop([count.fork(heard=[], until=2, error=error), AWAIT])


@pytest.mark.parametrize("error", [EndOfLoop, KeyboardInterrupt])
async def test_a_dialog_ends_when_its_person_ends_or_interrupts_it(error):
    heard = []
    async with MiniAgents():
        await adialog_loop(count.fork(heard=heard, until=2, error=error), shout)
    assert heard == [[], ["1"]]


async def test_a_loop_outside_a_context_runs_in_one_of_its_own():
    heard = []
    await achain_loop([count.fork(heard=heard, until=2), AWAIT], "a")
    assert heard == [["a"], ["a", "1"]]
