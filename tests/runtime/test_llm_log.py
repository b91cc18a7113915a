"""The log of the calls of models: a Markdown file for each, or what an agent makes of it."""

import pytest

from selfeng_agents import MiniAgents, miniagent
from selfeng_agents.models import (
    AssistantMessage,
    SystemMessage,
    anthropic_agent,
    openai_agent,
    openai_embedding_agent,
)
from tests.runtime.test_anthropic_agent import whole
from tests.runtime.test_openai_agent import STREAM, WHOLE


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """The texts of the log files so far."""
    monkeypatch.chdir(tmp_path)
    return lambda: [path.read_text() for path in sorted((tmp_path / "llm_logs").glob("*.md"))]


@miniagent
async def caller(ctx, model):
    ctx.reply(model.inquire(ctx.message_promises))


async def test_a_log_has_the_callers_the_parameters_the_prompt_and_the_reply(
    logs, wire, openai_client
):
    wire.replies.append(STREAM)
    model = openai_agent.fork(
        model="m/1", async_client=openai_client, system="Be short.", temperature=0.5
    )
    async with MiniAgents(llm_logger_agent=True):
        await caller.inquire("Are you there?", model=model)
    (log,) = logs()
    assert log.startswith("OPENAI_AGENT <- CALLER\n\n```json\n")
    assert ('"agent_alias": "OPENAI_AGENT"' in log, '"temperature": 0.5' in log) == (True, True)
    rule = "=" * 40
    said = f"\nsystem\n{rule}\nBe short.\n\nuser\n{rule}\nAre you there?\n"
    assert f"{said}\nassistant / m/1\n{rule}\nI AM ONLINE\n" in log
    assert '"finish_reason": "stop"' in log


async def test_what_failed_is_in_the_log(logs, wire, openai_client):
    wire.replies.append(500)
    model = openai_agent.fork(model="m", async_client=openai_client, llm_logger_agent=True)
    async with MiniAgents(errors_as_messages=True):
        await model.inquire("x")
    (log,) = logs()
    assert "InternalServerError" in log


async def test_a_call_without_a_log_leaves_none(logs, wire, openai_client):
    wire.replies += [WHOLE, WHOLE]
    model = openai_agent.fork(model="m", async_client=openai_client, stream=False)
    async with MiniAgents():
        await model.inquire("x")
    async with MiniAgents(llm_logger_agent=True):
        await model.inquire("x", llm_logger_agent=False)
    assert logs() == []


async def test_an_agent_gets_what_would_be_logged(wire, anthropic_client):
    heard = []

    @miniagent
    async def log(ctx, request_metadata, show_response_metadata):
        heard.append((request_metadata["model"], [str(m) for m in await ctx.message_promises]))

    wire.replies.append(whole("end_turn", {"type": "text", "text": "Yes."}))
    model = anthropic_agent.fork(model="m", async_client=anthropic_client, stream=False)
    async with MiniAgents(llm_logger_agent=log):
        (reply,) = await model.inquire(
            [SystemMessage(text="Be short."), "x"],
            response_message_class=AssistantMessage,
            reply_metadata={"no_history": True},
        )
    assert heard == [("m", ["Be short.", "x", "Yes."])]
    assert (type(reply), reply.no_history) == (AssistantMessage, True)


@pytest.mark.parametrize(("batch", "texts"), [(False, ["one\n\ntwo"]), (True, ["one", "two"])])
async def test_texts_become_embeddings(logs, wire, openai_client, batch, texts):
    data = [
        {"object": "embedding", "index": at, "embedding": [0.5, at]} for at in range(len(texts))
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    wire.replies.append({"object": "list", "model": "e", "data": data, "usage": usage})
    embed = openai_embedding_agent.fork(model="e", async_client=openai_client, batch_mode=batch)
    async with MiniAgents(llm_logger_agent=True):
        found = await embed.inquire(["one", "two"], encoding_format="float")
    assert wire.asked[0]["input"] == texts
    assert [message.embedding for message in found] == [(0.5, at) for at in range(len(texts))]
    assert all(text in logs()[0] for text in texts)
