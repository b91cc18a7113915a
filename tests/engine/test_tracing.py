"""A turn as spans, by the names of OpenTelemetry's conventions for GenAI."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

from selfeng.core.tool import Tool
from selfeng.core.turn import HandCall, Request
from selfeng.core.verdict import Raised
from selfeng.llm_client import LLMClient
from selfeng.seeds import load_seeds
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.doubles import ListedLibrary, ScriptedModel, ScriptedSandbox, returned, tool
from tests.engine.test_calls_by_hand import CALL
from tests.engine.test_orchestrator import Turns

PROGRAM = """
from selfeng.core.tracing import configure_tracing, flush_spans, invoke_agent
configure_tracing()
with invoke_agent("c1"):
    pass
flush_spans()
"""
PERCENTAGE = next(seed for seed in load_seeds() if seed.name == "calculate_percentage")


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """Where a program that has set up the SDK itself gets the spans."""
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    yield kept
    provider.shutdown()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> InMemorySpanExporter:
    exporter.clear()
    return exporter


def by_name(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


async def test_a_turn_invokes_the_agent_chats_and_executes_a_tool(spans, tmp_path):
    library = ListedLibrary(Tool(**dict(PERCENTAGE), created_at=datetime.now(UTC), digest="0" * 64))
    with OfflineServer(Cookbook(), delay=0) as server:
        model = LLMClient(model=server.model, api_key=server.api_key, base_url=server.base_url)
        turns = Turns(model, ScriptedSandbox(returned("45.0")), library)
        request = Request("What is 15 percent of 300?", conversation_id="c1")
        last = [event async for event in turns.orchestrator.begin(request)][-1]
        await model.aclose()
    assert (last.type, last.tool) == ("turn_finished", "calculate_percentage")
    agent, chat, executed = (
        by_name(spans)[name]
        for name in (
            "invoke_agent selfeng",
            f"chat {server.model}",
            "execute_tool calculate_percentage",
        )
    )
    assert agent.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "selfeng",
        "gen_ai.conversation.id": "c1",
    }
    assert chat.kind == SpanKind.CLIENT
    assert {
        **chat.attributes,
        "gen_ai.usage.input_tokens": chat.attributes["gen_ai.usage.input_tokens"] > 0,
        "gen_ai.usage.output_tokens": chat.attributes["gen_ai.usage.output_tokens"] > 0,
    } == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": server.model,
        "gen_ai.prompt.name": "answer",
        "server.address": "127.0.0.1",
        "server.port": urlsplit(server.base_url).port,
        "gen_ai.usage.input_tokens": True,
        "gen_ai.usage.output_tokens": True,
    }
    assert executed.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "calculate_percentage",
        "gen_ai.tool.type": "function",
    }
    assert chat.parent == executed.parent == agent.context
    assert agent.parent is None


async def test_a_tool_that_fails_is_told_and_nothing_that_people_say(spans):
    raised = Raised(type_name="KeyError", message="secret")
    turns = Turns(ScriptedModel(), ScriptedSandbox(raised), ListedLibrary(tool()))
    request = Request("Run a secret", kind=HandCall(call=CALL))
    assert [event async for event in turns.orchestrator.begin(request)]
    executed = by_name(spans)["execute_tool add_numbers"]
    assert (executed.attributes["error.type"], executed.status.is_ok) == ("KeyError", False)
    assert not any("secret" in span.to_json() for span in spans.get_finished_spans())


def program(exporter: str) -> subprocess.CompletedProcess[str]:
    """A program with one turn and this exporter in its environment."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "OTEL_TRACES_EXPORTER": exporter},
        capture_output=True,
        text=True,
        check=False,
    )


def test_spans_go_where_the_environment_says_and_nowhere_without():
    ended = program("console")
    assert (ended.returncode, ended.stderr) == (0, "")
    span = json.loads(ended.stdout)
    assert span["name"] == "invoke_agent selfeng"
    assert span["resource"]["attributes"]["service.name"] == "selfeng"
    assert program("none").stdout == ""


def test_an_exporter_that_is_not_there_is_named():
    told = program("zipkins").stderr
    assert "OTEL_TRACES_EXPORTER=zipkins: there is no such exporter" in told
