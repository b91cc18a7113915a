"""The agent for OpenAI's chat completions, against a real server."""

import pytest

from selfeng_agents import Message, MiniAgents
from selfeng_agents.models import (
    AssistantMessage,
    OpenAIMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    openai_agent,
)
from selfeng_offline.completion import Completion
from selfeng_offline.server import OfflineServer
from tests.script import Script

WEATHER = ToolCall(id="call-1", name="weather", arguments='{"city": "Oslo"}')
TIME = ToolCall(id="call-2", name="time", arguments="{}")


def chunk(delta=None, finish=None, **fields):
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {
        "id": "c-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m-2026",
        "choices": choices,
        **fields,
    }


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
STREAM = [
    chunk({"content": ""}),
    chunk({"content": "I AM"}),
    chunk({"content": " ONLINE"}),
    chunk({}, "stop"),
    chunk(usage=USAGE),
    "[DONE]",
]
WHOLE = {
    **{"id": "c-1", "object": "chat.completion", "created": 1, "model": "m-2026", "usage": USAGE},
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "I AM ONLINE"},
        }
    ],
}


@pytest.fixture
def agent(openai_client):
    return openai_agent.fork(model="m", async_client=openai_client)


@pytest.mark.parametrize("start_asap", [True, False])
@pytest.mark.parametrize("stream", [True, False])
async def test_the_reply_is_a_message_with_its_text_and_what_the_server_says_of_it(
    agent, wire, stream, start_asap
):
    wire.replies.append(STREAM if stream else WHOLE)
    async with MiniAgents(start_everything_asap_by_default=start_asap):
        replies = agent.inquire("Are you there?", system="Be short.", stream=stream, temperature=0)
        (promise,) = [promise async for promise in replies]
        assert promise.known_beforehand.as_kwargs() == {
            "role": "assistant",
            "agent_alias": "OPENAI_AGENT",
            "model": "m",
        }
        assert [token async for token in promise] == (
            ["I AM", " ONLINE"] if stream else ["I AM ONLINE"]
        )
        message = await promise
    assert isinstance(message, OpenAIMessage)
    assert (message.text, message.role, message.id, message.choices[0].finish_reason) == (
        "I AM ONLINE",
        "assistant",
        "c-1",
        "stop",
    )
    assert message.usage.total_tokens == 5
    assert message.tool_calls == ()
    assert wire.asked == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "Are you there?"},
            ],
            "stream": stream,
            "temperature": 0,
        }
    ]


async def test_the_context_may_want_whole_replies(agent, wire):
    wire.replies.append(WHOLE)
    async with MiniAgents(stream_llm_tokens_by_default=False):
        await agent.inquire("x")
    assert not wire.asked[0]["stream"]


async def test_tool_calls_that_come_in_pieces_are_put_together(agent, wire):
    wire.replies.append(
        [
            chunk(
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "call-1",
                            "type": "function",
                            "function": {"name": "weather"},
                        }
                    ],
                }
            ),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]}),
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": 1,
                            "id": "call-2",
                            "function": {"name": "time", "arguments": "{}"},
                        }
                    ]
                }
            ),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '"Oslo"}'}}]}),
            chunk({}, "tool_calls"),
            "[DONE]",
        ]
    )
    async with MiniAgents():
        (message,) = await agent.inquire(
            "Weather and time?", tools=[{"type": "function", "function": {"name": "weather"}}]
        )
    assert (message.text, message.tool_calls) == ("", (WEATHER, TIME))


async def test_tool_calls_of_a_whole_reply_are_the_same(agent, wire):
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in (WEATHER, TIME)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    wire.replies.append(
        {**WHOLE, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    )
    async with MiniAgents():
        (message,) = await agent.inquire("Weather and time?", stream=False)
    assert (message.text, message.tool_calls) == ("", (WEATHER, TIME))


async def test_messages_of_every_role_are_sent_as_the_server_takes_them(agent, wire):
    wire.replies.append(STREAM)
    parts = [{"type": "text", "text": "What is this?"}]
    async with MiniAgents():
        await agent.inquire(
            [
                SystemMessage(text="Be kind."),
                UserMessage(content=parts),
                AssistantMessage(text="", tool_calls=[WEATHER]),
                ToolMessage(text="rain", tool_call_id="call-1"),
                {"role": "user", "content": "And?"},
                Message("no role"),
            ]
        )
    function = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    assert wire.asked[0]["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": parts},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call-1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "rain", "tool_call_id": "call-1"},
        {"role": "user", "content": "And?"},
        {"role": "user", "content": "no role"},
    ]


async def test_fields_of_the_reply_can_be_given_beforehand(agent, wire):
    wire.replies.append(STREAM)
    async with MiniAgents():
        (message,) = await agent.inquire("x", response_metadata={"no_history": True})
    assert message.no_history is True


async def test_a_failure_of_the_server_is_raised_where_the_message_is_read(agent, wire):
    from openai import InternalServerError

    wire.replies.append(500)
    async with MiniAgents():
        (promise,) = [promise async for promise in agent.inquire("x")]
        with pytest.raises(InternalServerError):
            await promise


async def test_a_reply_without_a_choice_says_what_came(agent, wire):
    wire.replies.append({**WHOLE, "choices": []})
    async with MiniAgents():
        with pytest.raises(RuntimeError, match="c-1"):
            await agent.inquire("x", stream=False)


async def test_several_replies_at_once_are_refused(agent):
    async with MiniAgents():
        with pytest.raises(ValueError, match="several times"):
            await agent.inquire("x", n=2)


async def test_without_a_client_one_is_made_from_the_environment_and_closed_with_the_context(
    monkeypatch,
):
    script = Script(Completion(content="one"), Completion(content="two"))
    with OfflineServer(script, api_key="local-key", delay=0) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "local-key")
        async with MiniAgents():
            replies = [await openai_agent.inquire("x", model="offline") for _ in range(2)]
    assert [str(message) for (message,) in replies] == ["one", "two"]


async def test_without_a_model_the_environment_names_it(openai_client, wire, monkeypatch):
    wire.replies.append(STREAM)
    async with MiniAgents():
        with pytest.raises(ValueError, match="or set OPENAI_MODEL"):
            await openai_agent.inquire("x")
        monkeypatch.setenv("OPENAI_MODEL", "m-2")
        await openai_agent.inquire("x", async_client=openai_client)
    assert wire.asked[0]["model"] == "m-2"
