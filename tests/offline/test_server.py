"""The offline server, talked to in plain HTTP."""

import asyncio
import http.client
import json
import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from selfeng_offline.completion import Completion, CompletionRequest, Flawed
from selfeng_offline.server import OfflineServer
from selfeng_offline.wire import Rejection
from tests.script import Script, ScriptExhausted

HELLO = [
    {"role": "system", "content": "# Task: answer the person\n\nBe brief."},
    {"role": "user", "content": "Hello"},
]


class Stage:
    """Gives the one server of this module another author for each test."""

    def __init__(self) -> None:
        self.author = Script()

    def complete(self, request: CompletionRequest) -> Completion:
        return self.author.complete(request)


STAGE = Stage()


@pytest.fixture(scope="module")
def server() -> Iterator[OfflineServer]:
    with OfflineServer(STAGE, delay=0) as running:
        yield running


def play(*steps: Any, **options: Any) -> Script:
    STAGE.author = Script(*steps, **options)
    return STAGE.author


def send(
    server: OfflineServer,
    body: object = None,
    *,
    path: str = "/v1/chat/completions",
    key: str | None = None,
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(
        "127.0.0.1", int(server.base_url.split(":")[2].split("/")[0]), timeout=5
    )
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    connection.request(
        "GET" if body is None else "POST",
        path,
        data,
        {"Authorization": f"Bearer {key or server.api_key}"},
    )
    response = connection.getresponse()
    try:
        return response.status, response.read()
    finally:
        connection.close()


def ask(server: OfflineServer, **fields: Any) -> dict[str, Any]:
    status, body = send(server, {"model": "offline", "messages": HELLO, **fields})
    assert status == 200, body
    reply = json.loads(body)
    assert reply.pop("id").startswith("chatcmpl-")
    assert isinstance(reply.pop("created"), int)
    return dict(reply)


def events(server: OfflineServer, **fields: Any) -> list[dict[str, Any]]:
    status, body = send(server, {"model": "offline", "messages": HELLO, "stream": True, **fields})
    assert status == 200, body
    *data, end, rest = body.decode().split("\n\n")
    assert (end, rest) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in data]
    assert {(chunk["object"], chunk["model"], chunk["id"]) for chunk in chunks} == {
        ("chat.completion.chunk", "offline", chunks[0]["id"])
    }
    return chunks


def error(server: OfflineServer, body: object, **options: Any) -> tuple[int, Any]:
    status, text = send(server, body, **options)
    return status, json.loads(text)["error"]


def test_a_text_reply_has_the_official_form(server: OfflineServer) -> None:
    play(Completion(content="Good day."))
    assert ask(server) == {
        "object": "chat.completion",
        "model": "offline",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Good day.", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 28, "completion_tokens": 3, "total_tokens": 31},
    }


def test_a_function_call_has_the_official_form(server: OfflineServer) -> None:
    play(Completion(function="add", arguments={"a": 1}))
    call = {
        "id": "call_0",
        "type": "function",
        "function": {"name": "add", "arguments": '{"a": 1}'},
    }
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    assert ask(server, tools=[{"type": "function", "function": {"name": "add"}}])["choices"] == [
        choice
    ]


def test_text_streams_word_by_word_and_loses_no_whitespace(server: OfflineServer) -> None:
    text = "def f():\n    return  1\n"
    play(Completion(content=text))
    choices = [chunk["choices"][0] for chunk in events(server)]
    assert [choice["delta"] for choice in choices] == [
        {"role": "assistant", "content": ""},
        {"content": "def"},
        {"content": " f():"},
        {"content": "\n    return"},
        {"content": "  1"},
        {"content": "\n"},
        {},
    ]
    assert [choice["finish_reason"] for choice in choices] == [None] * 6 + ["stop"]


def test_usage_comes_in_a_last_chunk_of_its_own_only_where_it_was_asked_for(
    server: OfflineServer,
) -> None:
    play(Completion(content="Hi"), Completion(content="Hi"))
    *chunks, last = events(server, stream_options={"include_usage": True})
    assert [chunk["usage"] for chunk in chunks] == [None] * 3
    assert (last["choices"], last["usage"]) == (
        [],
        {"prompt_tokens": 28, "completion_tokens": 1, "total_tokens": 29},
    )
    assert [chunk.get("usage", "absent") for chunk in events(server)] == ["absent"] * 3


def test_a_function_call_streams_its_arguments_in_pieces(server: OfflineServer) -> None:
    play(Completion(function="add", arguments={"numbers": [1, 2, 3]}))
    deltas = [chunk["choices"][0]["delta"] for chunk in events(server)]
    calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert calls == [
        {
            "index": 0,
            "id": "call_0",
            "type": "function",
            "function": {"name": "add", "arguments": ""},
        },
        {"index": 0, "function": {"arguments": '{"numbers": [1, '}},
        {"index": 0, "function": {"arguments": "2, 3]}"}},
    ]


def test_the_models_are_listed(server: OfflineServer) -> None:
    status, body = send(server, path="/v1/models")
    assert (status, json.loads(body)) == (
        200,
        {
            "object": "list",
            "data": [{"id": "offline", "object": "model", "created": 0, "owned_by": "offline"}],
        },
    )


def test_the_author_sees_the_whole_request(server: OfflineServer) -> None:
    script = play(Completion(content="{}"))
    form = {"type": "json_schema", "json_schema": {"name": "A", "schema": {}}}
    tool = {"type": "function", "function": {"name": "add"}}
    ask(server, response_format=form, tools=[tool], tool_choice="auto")
    (seen,) = script.requests
    assert (seen.model, seen.messages, seen.tools, seen.response_format, seen.stream) == (
        "offline",
        HELLO,
        [tool],
        form,
        False,
    )
    assert seen.body["tool_choice"] == "auto"


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        (b"{", None, "The body of the request is not a JSON object."),
        (b"[1]", None, "The body of the request is not a JSON object."),
        (b"null", None, "The body of the request is not a JSON object."),
        (b"\xff", None, "The body of the request is not a JSON object."),
        (b"[" * 100_000, None, "The body of the request is not a JSON object."),
        ({"model": "offline"}, "messages", "messages: Field required"),
        (
            {"model": "offline", "messages": "hello"},
            "messages",
            "messages: 'str' instances are not allowed as a Sequence value",
        ),
        ({"model": "offline", "messages": []}, "messages", "messages: there are none"),
        ({"messages": HELLO}, "model", "model: Field required"),
    ],
)
def test_bad_requests_get_an_error_in_the_official_form(
    server: OfflineServer, body: object, param: str | None, message: str
) -> None:
    assert error(server, body) == (
        400,
        {"message": message, "type": "invalid_request_error", "param": param, "code": None},
    )


def test_an_unknown_model_is_named(server: OfflineServer) -> None:
    assert error(server, {"model": "gpt-9", "messages": HELLO}) == (
        404,
        {
            "message": "The model 'gpt-9' does not exist; this server has 'offline'.",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        },
    )


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [("/v1/nothing", None, 404), ("/v1/chat/completions", None, 405), ("/v1/models", {}, 405)],
)
def test_other_paths_and_methods_get_an_error_in_the_official_form(
    server: OfflineServer, path: str, body: object, status: int
) -> None:
    message = {404: "Not Found", 405: "Method Not Allowed"}[status]
    assert error(server, body, path=path) == (
        status,
        {"message": message, "type": "invalid_request_error", "param": None, "code": None},
    )


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models"])
def test_only_who_has_the_key_gets_in(server: OfflineServer, path: str) -> None:
    body = {"model": "offline", "messages": HELLO} if "chat" in path else None
    status, told = error(server, body, path=path, key="sk-guess")
    assert (status, told["code"]) == (401, "invalid_api_key")


def test_each_server_has_another_key() -> None:
    assert OfflineServer(Script()).api_key != OfflineServer(Script()).api_key


def test_only_loopback_is_bound(server: OfflineServer) -> None:
    port = int(server.base_url.split(":")[2].split("/")[0])
    with socket.socket() as outside, pytest.raises(ConnectionRefusedError):
        outside.connect(("127.0.0.2", port))  # accepted by a server that listens on all addresses


def test_an_author_that_fails_is_answered_with_500_and_logged(
    server: OfflineServer, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_request: CompletionRequest) -> Completion:
        raise KeyError("no recipe")

    play(broken)
    status, told = error(server, {"model": "offline", "messages": HELLO})
    assert (status, told["message"]) == (500, "KeyError: 'no recipe'")
    assert [(record.name, record.message) for record in caplog.records] == [
        ("selfeng_offline.server", "the author of the offline model failed")
    ]


def test_a_client_that_leaves_is_noticed_without_a_word_in_the_log(
    server: OfflineServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.left.clear()
    play(Flawed(content="one two three", stop_after=2, then="hang"))
    connection = http.client.HTTPConnection(
        "127.0.0.1", int(server.base_url.split(":")[2].split("/")[0]), timeout=5
    )
    body = json.dumps({"model": "offline", "messages": HELLO, "stream": True})
    connection.request(
        "POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {server.api_key}"}
    )
    response = connection.getresponse()
    assert b"one" in response.readline() + response.readline() + response.readline()
    response.close()
    connection.close()
    assert server.left.wait(5)
    assert [
        record for record in caplog.records if record.name.startswith(("uvicorn", "selfeng"))
    ] == []


def test_stopping_cuts_off_a_reply_and_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    server = OfflineServer(Script(Flawed(content="one two", stop_after=1, then="hang")), delay=0)
    server.start()
    connection = http.client.HTTPConnection(
        "127.0.0.1", int(server.base_url.split(":")[2].split("/")[0]), timeout=5
    )
    body = json.dumps({"model": "offline", "messages": HELLO, "stream": True})
    connection.request(
        "POST", "/v1/chat/completions", body, {"Authorization": f"Bearer {server.api_key}"}
    )
    response = connection.getresponse()
    server.stop()
    with pytest.raises(http.client.IncompleteRead):
        response.read()
    connection.close()
    assert set(threading.enumerate()) == before


def test_a_stopped_server_can_start_again_where_it_was() -> None:
    server = OfflineServer(Script(Completion(content="again")), delay=0)
    with server:
        url = server.base_url
        with pytest.raises(RuntimeError, match="runs already"):
            server.start()
    server.stop()
    with server:
        assert server.base_url == url
        assert ask(server)["choices"][0]["message"]["content"] == "again"


def test_a_server_may_be_started_within_a_running_event_loop() -> None:
    async def main() -> str:
        with OfflineServer(Script(Completion(content="fine")), delay=0) as server:
            reply = await asyncio.to_thread(ask, server)
            return str(reply["choices"][0]["message"]["content"])

    assert asyncio.run(main()) == "fine"


def test_a_script_replies_by_title_first_and_in_order_within_one(server: OfflineServer) -> None:
    script = play(
        Completion(content="other"),
        titled={
            "answer the person": [
                Completion(content="first"),
                lambda request: Completion(content=str(len(request.messages))),
            ]
        },
    )
    untitled = [{"role": "user", "content": "Hello"}]
    replies = [
        ask(server, messages=messages)["choices"][0]["message"]["content"]
        for messages in (HELLO, untitled, HELLO)
    ]
    assert (replies, script.unused) == (["first", "other", "2"], 0)


def test_a_single_titled_step_serves_again_and_again(server: OfflineServer) -> None:
    play(titled={"answer the person": Completion(content="same")})
    assert [ask(server)["choices"][0]["message"]["content"] for _ in range(3)] == ["same"] * 3


def test_a_script_that_has_run_out_says_for_which_request(
    server: OfflineServer, caplog: pytest.LogCaptureFixture
) -> None:
    play()
    status, told = error(server, {"model": "offline", "messages": HELLO})
    assert (status, told["message"]) == (
        500,
        "ScriptExhausted: the script has no step left for request 1, titled 'answer the person'",
    )
    assert caplog.records[0].exc_info is not None
    assert caplog.records[0].exc_info[0] is ScriptExhausted


def test_a_script_can_answer_with_an_http_error(server: OfflineServer) -> None:
    play(
        Rejection(
            429,
            "Slow down.",
            type="rate_limit",
            code="rate_limit_exceeded",
            headers={"retry-after-ms": "1"},
        )
    )
    assert error(server, {"model": "offline", "messages": HELLO}) == (
        429,
        {
            "message": "Slow down.",
            "type": "rate_limit",
            "param": None,
            "code": "rate_limit_exceeded",
        },
    )


@pytest.mark.parametrize(
    ("refuses", "refused"),
    [
        ("tool_choice", True),
        ("tool_choice=required", True),
        ("tool_choice=auto", False),
        ("n", False),
    ],
)
def test_a_script_can_refuse_fields_of_a_request(
    server: OfflineServer, refuses: str, refused: bool
) -> None:
    play(Completion(content="fine"), refuses=[refuses])
    status, _ = send(server, {"model": "offline", "messages": HELLO, "tool_choice": "required"})
    assert status == (400 if refused else 200)
