"""Failures between client and server, described so that a person knows the remedy, and never with
the key.
"""

import json
import logging
import socket
import traceback

import pytest

from selfeng.core.errors import ModelError, ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import Event, ModelAskedAgain
from selfeng.core.prompt import FunctionCall, FunctionSchema
from selfeng.core.turn import Budget
from selfeng.llm_client import LLMClient
from selfeng_offline.completion import Completion, Flawed
from selfeng_offline.wire import Rejection
from tests.llm.desk import KEY, Desk

CALL = '{"name": "f", "arguments": {}}'
AT_ONCE = {"retry-after-ms": "1"}
BUSY = Rejection(429, "Rate limit reached.", headers=AT_ONCE)
BROKEN = Rejection(503, "Overloaded.", headers=AT_ONCE)


async def failing(desk: Desk) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await desk.collect()
    return caught.value


@pytest.mark.parametrize("trouble", [BUSY, BROKEN])
async def test_passing_trouble_is_tried_again(desk: Desk, trouble: Rejection) -> None:
    events: list[Event] = []
    desk.budget = Budget(on_thought=events.append)
    desk.play(trouble, trouble, Completion(content="fine"))
    assert await desk.collect() == ["fine"]
    assert desk.budget.usage.calls == 1
    assert events == [ModelAskedAgain(attempt=n, prompt="decide") for n in (2, 3)]


async def test_trouble_stands_until_a_call_gets_a_reply(desk: Desk) -> None:
    client = desk.client
    desk.play(BROKEN, BROKEN, BROKEN)
    await failing(desk)
    assert "keeps answering 503" in str(client.trouble)
    desk.play(Completion(content="fine"))
    await desk.collect()
    assert client.trouble is None


async def test_a_connection_that_drops_before_the_reply_is_tried_again(desk: Desk) -> None:
    lost = Flawed(content="lost", stop_after=0)
    desk.play(lost, Completion(function="f"))
    assert await desk.choose(
        FunctionSchema(name="f", description="", parameters={})
    ) == FunctionCall(name="f", arguments={})
    assert desk.budget.usage.calls == 1


@pytest.mark.parametrize(
    ("trouble", "cause", "message", "remedy"),
    [
        (
            BUSY,
            "overloaded",
            "{} keeps answering 429, too many requests: Rate limit reached.",
            "OPENAI_MAX_RETRIES",
        ),
        (BROKEN, "failing", "{} keeps answering 503: Overloaded.", "OPENAI_BASE_URL"),
        (
            Rejection(429, "You exceeded your quota.", code="insufficient_quota", headers=AT_ONCE),
            "no_quota",
            "the account behind OPENAI_API_KEY has no quota left at {}",
            "billing",
        ),
        (
            Rejection(401, f"Incorrect API key provided: {KEY}"),
            "no_access",
            "{} refused the API key (401)",
            "OPENAI_API_KEY",
        ),
        (
            Rejection(403, f"The key {KEY} may not, nor sk-abc***wxyz"),
            "no_access",
            "{} refused access with this API key (403): The key (key) may not, nor (key)",
            "OPENAI_API_KEY",
        ),
        (
            Rejection(404, "Not Found"),
            "unknown_model",
            "{} does not know the model offline (404): Not Found",
            "OPENAI_MODEL",
        ),
        (
            Rejection(400, "Bad messages."),
            "rejected",
            "{} does not take the request (400): Bad messages.",
            "OPENAI_MODEL",
        ),
        (
            Rejection(418, "I'm a teapot."),
            "failing",
            "{} answers 418: I'm a teapot.",
            "OPENAI_BASE_URL",
        ),
        (
            Rejection(400, "Filtered.", code="content_filter"),
            "declined",
            "the content filter of {} declined the request",
            "word",
        ),
        (
            Rejection(400, "8192 tokens at most.", code="context_length_exceeded"),
            "too_long",
            "the prompt is longer than offline takes: 8192 tokens at most.",
            "OPENAI_MODEL",
        ),
    ],
)
async def test_lasting_trouble_is_told_with_what_to_check(
    desk: Desk, trouble: Rejection, cause: str, message: str, remedy: str
) -> None:
    desk.play(*[trouble] * 9)
    error = await failing(desk)
    assert (error.cause, error.message) == (cause, message.format(desk.server.base_url))
    assert remedy in error.remedy


async def test_an_unknown_model_is_named(desk: Desk) -> None:
    desk.use(model="gpt-9")
    error = await failing(desk)
    assert error.message.startswith(f"{desk.server.base_url} does not know the model gpt-9 (404)")
    assert (
        error.remedy == "set OPENAI_MODEL to a model that the server has, and check OPENAI_BASE_URL"
    )


async def test_a_wrong_key_is_named_by_its_variable(desk: Desk) -> None:
    desk.use(api_key="sk-wrong-0123456789")
    error = await failing(desk)
    assert error.message == f"{desk.server.base_url} refused the API key (401)"
    assert error.remedy == "check OPENAI_API_KEY, and that it belongs to OPENAI_BASE_URL"


async def test_a_server_that_is_not_there_is_named(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    desk.use(base_url=url, max_retries=0)
    error = await failing(desk)
    assert error.message == f"{url} can't be reached: All connection attempts failed"
    assert error.remedy == "check that the server runs, the network, and OPENAI_BASE_URL"


async def test_a_server_that_never_answers_times_out(desk: Desk) -> None:
    desk.play(Flawed(content="late", stop_after=0, then="hang"))
    desk.use(timeout=0.2, max_retries=0)
    with pytest.raises(ModelUnavailable) as caught:
        await desk.choose()
    assert caught.value.message == f"{desk.server.base_url} did not answer within 0.2 seconds"


@pytest.mark.parametrize(
    ("content", "kind", "error", "message"),
    [
        (
            "<html>",
            "text/html",
            ModelUnavailable,
            "{} does not answer like an OpenAI-compatible server: its answer is not JSON",
        ),
        (
            '{"error": {"message": "No provider."}}',
            "application/json",
            ModelUnavailable,
            "{} answers with an error: No provider.",
        ),
        (
            '{"choices": []}',
            "application/json",
            ModelReplyInvalid,
            "the reply of offline holds no message",
        ),
        (
            "[]",
            "application/json",
            ModelUnavailable,
            "{} does not answer like an OpenAI-compatible server: its answer is not JSON",
        ),
        (
            '{"choices": [{"finish_reason": "stop"}]}',
            "application/json",
            ModelReplyInvalid,
            "the reply of offline holds no message",
        ),
    ],
)
async def test_answers_that_are_no_completions_are_told_as_such(
    desk: Desk, content: str, kind: str, error: type[ModelError], message: str
) -> None:
    desk.play(Flawed(content=content, served_as=kind))
    with pytest.raises(error) as caught:
        await desk.choose()
    assert caught.value.message == message.format(desk.server.base_url)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 429, 500])
async def test_the_key_appears_in_no_error_and_no_log(
    desk: Desk, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    desk.play(*[Rejection(status, f"The key {KEY} is wrong", headers=AT_ONCE)] * 3)
    error = await failing(desk)
    logging.getLogger("test").error("failed", exc_info=error)
    told = [
        error.message,
        error.remedy,
        repr(error),
        *traceback.format_exception(error),
        caplog.text,
        repr(vars(desk.client)),
    ]
    assert [text for text in told if KEY in text] == []


async def test_credentials_in_the_base_url_are_not_shown() -> None:
    client = LLMClient(model="m", base_url="https://user:secret@example.org/v1/")
    assert client.server == "https://example.org/v1"
    await client.aclose()


async def test_the_models_of_the_server_are_listed(desk: Desk) -> None:
    assert await desk.client.models() == ("offline",)
    desk.use(api_key="sk-wrong-0123456789")
    with pytest.raises(ModelUnavailable) as caught:
        await desk.client.models()
    assert caught.value.message == f"{desk.server.base_url} refused the API key (401)"


async def test_proxies_of_the_environment_are_not_asked_for_loopback(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    desk.use(max_retries=0)
    desk.play(Completion(content="direct"))
    assert await desk.collect() == ["direct"]


async def test_placeholders_for_a_key_are_no_secrets(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    for key in (None, "ollama"):
        desk.use(base_url=url + "/none/ollama", api_key=key, max_retries=0)
        error = await failing(desk)
        assert (
            error.message == f"{url}/none/ollama can't be reached: All connection attempts failed"
        )
        assert error.__cause__ is not None


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": CALL}}]},
        {"choices": [{"message": {"content": CALL}}], "usage": {"total_tokens": 7}},
        {
            "choices": [{"message": {"content": CALL, "tool_calls": None}, "finish_reason": None}],
            "usage": None,
            "error": None,
        },
        {
            "choices": [
                {
                    "message": {
                        "content": [
                            {"type": "text", "text": CALL[:4]},
                            {"type": "text", "text": CALL[4:]},
                        ]
                    }
                }
            ]
        },
    ],
)
async def test_servers_that_leave_out_almost_everything_are_understood(
    desk: Desk, body: object
) -> None:
    desk.play(Flawed(content=json.dumps(body), served_as="application/json"))
    assert await desk.choose(
        FunctionSchema(name="f", description="", parameters={})
    ) == FunctionCall(name="f", arguments={})


async def test_chunks_that_leave_out_almost_everything_are_understood(desk: Desk) -> None:
    chunks = [
        {"choices": None},
        {},
        {"choices": [{}]},
        {"choices": [{"delta": {"content": "fine"}}]},
        {"choices": [{"delta": None}]},
    ]
    events = [*map(json.dumps, chunks), "[DONE]"]
    desk.play(
        Flawed(
            content="".join(f"data: {event}\n\n" for event in events), served_as="text/event-stream"
        )
    )
    assert await desk.collect() == ["fine"]


async def test_a_gateway_that_ends_with_an_error_broke_off(desk: Desk) -> None:
    desk.play(Completion(content="Well", finish_reason="error"))
    assert (await failing(desk)).message == f"{desk.server.base_url} broke off its reply"
