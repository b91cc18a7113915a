"""Messages are persisted once, parts first."""

import pytest

from selfeng_agents import AgentCallNode, AgentReplyNode, Message, MiniAgents, Promise, miniagent


@miniagent(interaction_metadata={"team": "blue"})
async def greeter(ctx, mood="good"):
    ctx.reply(f"a {mood} day")


async def test_a_message_is_persisted_once_after_its_parts():
    kept = []
    inner = Message("inner")
    outer = Message("outer", parts=[inner, inner])

    async def keep(promise, message):
        kept.append(message)

    async with MiniAgents(on_persist_message=keep):
        for message in (outer, outer, inner):
            Promise(prefill_result=message)
        Promise(prefill_result="no message")
    assert kept == [inner, outer]


async def test_messages_that_come_together_can_be_kept_together():
    kept = []
    miniagents = MiniAgents()

    @miniagents.on_persist_messages
    async def keep(messages):
        kept.append(messages)

    inner, other = Message("inner"), Message("other")
    outer = Message("outer", part=inner)
    async with miniagents:
        assert await miniagents.apersist_messages([outer, other]) == [inner, outer, other]
        assert await miniagents.apersist_messages(inner) == []
    assert kept == [[inner, outer, other]]


async def test_what_agents_say_is_persisted_with_a_record_of_the_call():
    kept = []
    miniagents = MiniAgents()

    @miniagents.on_persist_message
    async def keep(_, message):
        kept.append(message)

    async with miniagents:
        await greeter.inquire("hello", mood="fine")
    hello, reply, call, done = kept
    assert [str(hello), str(reply)] == ["hello", "a fine day"]
    assert call == AgentCallNode(messages=[hello], agent_alias="GREETER", team="blue", mood="fine")
    assert done == AgentReplyNode(
        agent_call=call, replies=[reply], agent_alias="GREETER", team="blue"
    )


async def test_a_streamed_message_is_persisted_once_where_errors_are_messages():
    kept = []

    async def keep(messages):
        kept.extend(messages)

    async def tokens(_):
        yield "x"

    @miniagent
    async def agent(ctx):
        ctx.reply(Message.promise(message_token_streamer=tokens))

    async with MiniAgents(errors_as_messages=True, on_persist_messages=keep):
        (message,) = await agent.inquire()
    assert [found for found in kept if type(found) is Message] == [message]


async def test_a_handler_that_fails_is_logged_and_disturbs_nobody(caplog):
    async def fail(_, message):
        raise OSError("disk full")

    async with MiniAgents(on_persist_message=fail):
        assert [str(message) for message in await greeter.inquire()] == ["a good day"]
    assert "disk full" in caplog.text


def test_a_handler_has_to_be_async():
    with pytest.raises(ValueError, match="async"):
        MiniAgents(on_persist_message=print)
