"""The agent for Anthropic's models, against a real server."""

import pytest

from selfeng_agents import MiniAgents
from selfeng_agents.models import (
    AnthropicMessage,
    AssistantMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    anthropic_agent,
)

WEATHER = ToolCall(id="toolu-1", name="weather", arguments='{"city": "Oslo"}')
MESSAGE = {
    **{
        "id": "msg-1",
        "type": "message",
        "role": "assistant",
        "model": "m-2026",
        "stop_reason": None,
        "stop_sequence": None,
    },
    "content": [],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}


def whole(stop_reason="end_turn", *content):
    return {
        **MESSAGE,
        "content": list(content),
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }


def streamed(stop_reason="end_turn", *blocks):
    """Each block is what it is at the start, and the deltas that follow."""
    events = [{"type": "message_start", "message": MESSAGE}, {"type": "ping"}]
    for index, (block, *deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas
        ]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    return [
        *events,
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]


TEXT = {"type": "text", "text": ""}
ONLINE = [TEXT, {"type": "text_delta", "text": "I AM"}, {"type": "text_delta", "text": " ONLINE"}]
CALL = {"type": "tool_use", "id": "toolu-1", "name": "weather", "input": {"city": "Oslo"}}
CALL_IN_PIECES = [
    {**CALL, "input": {}},
    {"type": "input_json_delta", "partial_json": '{"city": '},
    {"type": "input_json_delta", "partial_json": '"Oslo"}'},
]


@pytest.fixture
def agent(anthropic_client):
    return anthropic_agent.fork(model="m", async_client=anthropic_client)


@pytest.mark.parametrize("start_asap", [True, False])
@pytest.mark.parametrize("stream", [True, False])
async def test_the_reply_is_a_message_with_its_text_and_what_the_server_says_of_it(
    agent, wire, stream, start_asap
):
    wire.replies.append(
        streamed("end_turn", ONLINE)
        if stream
        else whole("end_turn", {"type": "text", "text": "I AM ONLINE"})
    )
    async with MiniAgents(start_everything_asap_by_default=start_asap):
        replies = agent.inquire(
            "Are you there?", system="Be short.", stream=stream, temperature=0, max_tokens=20
        )
        (promise,) = [promise async for promise in replies]
        assert promise.known_beforehand.as_kwargs() == {
            "role": "assistant",
            "agent_alias": "ANTHROPIC_AGENT",
            "model": "m",
        }
        assert [token async for token in promise] == (
            ["I AM", " ONLINE"] if stream else ["I AM ONLINE"]
        )
        message = await promise
    assert isinstance(message, AnthropicMessage)
    assert (message.text, message.role, message.id, message.stop_reason) == (
        "I AM ONLINE",
        "assistant",
        "msg-1",
        "end_turn",
    )
    assert (message.usage.output_tokens, message.tool_calls) == (2, ())
    (asked,) = wire.asked
    assert asked.pop("stream", False) is stream
    assert asked == {
        **{"model": "m", "max_tokens": 20, "system": "Be short.", "temperature": 0},
        "messages": [{"role": "user", "content": "Are you there?"}],
    }


@pytest.mark.parametrize("stream", [True, False])
async def test_tool_calls_come_with_the_text_before_them(agent, wire, stream):
    said = {"type": "text", "text": "Let me see."}
    pieces = [TEXT, {"type": "text_delta", "text": "Let me see."}]
    wire.replies.append(
        streamed("tool_use", pieces, CALL_IN_PIECES) if stream else whole("tool_use", said, CALL)
    )
    async with MiniAgents():
        (message,) = await agent.inquire(
            "Weather?",
            stream=stream,
            tools=[{"name": "weather", "input_schema": {"type": "object"}}],
        )
    assert (message.text, message.tool_calls, message.stop_reason) == (
        "Let me see.",
        (WEATHER,),
        "tool_use",
    )


async def test_system_messages_go_to_the_prompt_and_roles_take_turns(agent, wire):
    wire.replies.append(streamed("end_turn", ONLINE))
    async with MiniAgents():
        await agent.inquire(
            [
                AssistantMessage(text="Hello."),
                SystemMessage(text="Be kind."),
                UserMessage(text="Weather?"),
                UserMessage(text="Please."),
                AssistantMessage(text="", tool_calls=[WEATHER]),
                ToolMessage(text="rain", tool_call_id="toolu-1"),
                UserMessage(text="So?"),
            ],
            system="Be short.",
        )
    (asked,) = wire.asked
    assert asked["system"] == "Be short.\n\nBe kind."
    assert asked["messages"] == [
        {"role": "user", "content": "/start"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Weather?\n\nPlease."},
        {"role": "assistant", "content": [CALL]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu-1", "content": "rain"},
                {"type": "text", "text": "So?"},
            ],
        },
    ]


async def test_a_failure_of_the_server_is_raised_where_the_message_is_read(agent, wire):
    from anthropic import InternalServerError

    wire.replies.append(500)
    async with MiniAgents():
        (promise,) = [promise async for promise in agent.inquire("x")]
        with pytest.raises(InternalServerError):
            await promise


async def test_without_a_client_one_is_made_from_the_environment(wire, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "local")
    wire.replies.append(whole("end_turn", {"type": "text", "text": "hi"}))
    async with MiniAgents():
        (message,) = await anthropic_agent.inquire("x", model="m", stream=False)
    assert str(message) == "hi"
