"""The model client names the prompt of every call, so that the offline model need not know its
wording.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from selfeng.core.functions import NO_TOOL_FITS
from selfeng.core.prompt import ChatMessage, Prompt
from selfeng.core.spec import SpecificationReply
from selfeng.core.turn import Budget
from selfeng.llm_client import LLMClient
from selfeng.models.pricing import free
from selfeng_offline.completion import Completion
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.cookbook.small_talk import KNOWLEDGE
from selfeng_offline.server import OfflineServer
from tests.script import Script

Serve = Callable[..., tuple[Script, LLMClient]]
FITTING = Completion(
    content=SpecificationReply(
        outcome="answer", message="Hi.", specification=None
    ).model_dump_json()
)


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts a server with a script, and a client of it."""
    servers, clients = list[OfflineServer](), list[LLMClient]()

    def start(*steps: Any, **options: Any) -> tuple[Script, LLMClient]:
        script = Script(*steps, **options)
        servers.append(OfflineServer(script, delay=0))
        servers[-1].start()
        clients.append(
            LLMClient(
                model="offline",
                base_url=servers[-1].base_url,
                api_key=servers[-1].api_key,
                price=free,
            )
        )
        return script, clients[-1]

    yield start
    for client in clients:
        await client.aclose()
    for server in servers:
        server.stop()


def prompt(name: str) -> Prompt:
    return Prompt(
        name=name,
        messages=(
            ChatMessage(role="system", content="Be brief."),
            ChatMessage(role="user", content="Hello"),
        ),
    )


def names(script: Script) -> list[str]:
    return [request.prompt for request in script.requests]


async def test_streams_name_their_prompt_also_where_they_are_opened_again(serve: Serve) -> None:
    script, client = serve(Completion(content="Good day."), refuses=["stream_options"])
    assert (
        "".join([piece async for piece in client.stream(prompt("answer"), Budget())]) == "Good day."
    )
    assert names(script) == ["answer", "answer"]


async def test_structured_calls_name_their_prompt_on_every_rung_and_in_a_repair_round(
    serve: Serve,
) -> None:
    script, client = serve(Completion(content="{}"), FITTING, refuses=["response_format", "tools"])
    await client.structured(prompt("specification"), SpecificationReply, Budget())
    assert names(script) == ["specification"] * 5


async def test_choices_name_their_prompt_on_every_rung_and_in_a_repair_round(serve: Serve) -> None:
    unknown, known = (
        Completion(function="fly", arguments={}),
        Completion(function="no_tool_fits", arguments={"reason": "None."}),
    )
    script, client = serve(unknown, known, refuses=["tool_choice=required"])
    await client.choose(prompt("decide"), (NO_TOOL_FITS,), Budget())
    assert names(script) == ["decide"] * 3


async def test_the_body_of_a_request_names_no_prompt(serve: Serve) -> None:
    script, client = serve(FITTING)
    await client.structured(prompt("specification"), SpecificationReply, Budget())
    assert "prompt" not in script.requests[0].body


async def test_other_clients_of_the_offline_model_get_small_talk() -> None:
    from openai import AsyncOpenAI

    with OfflineServer(Cookbook(), delay=0) as server:
        async with AsyncOpenAI(base_url=server.base_url, api_key=server.api_key) as client:
            asked: Any = [
                {"role": "system", "content": "# Task: choose a tool"},
                {"role": "user", "content": "Reverse 'a'"},
            ]
            reply = await client.chat.completions.create(model="offline", messages=asked)
    assert reply.choices[0].message.content == KNOWLEDGE
