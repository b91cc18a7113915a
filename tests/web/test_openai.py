"""The OpenAI-compatible routes, through the official SDK."""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
import requests
from openai.types.chat import ChatCompletionMessageParam

from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.web.server_process import ServerProcess
from web.openai_requests import AGENT

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.token) as client:
        yield client


def user(text: str) -> ChatCompletionMessageParam:
    return {"role": "user", "content": text}


def chat(client: openai.OpenAI, *messages: Any, model: str = AGENT, **more: Any) -> Any:
    return client.chat.completions.create(model=model, messages=list(messages), **more)


def conversations(server: ServerProcess) -> list[dict[str, Any]]:
    with server.program() as program:
        found: list[dict[str, Any]] = program.get(f"{server.url}/api/v1/conversations").json()[
            "conversations"
        ]
        return found


def in_front_of(model: OfflineServer, folder: Path) -> ServerProcess:
    """A server whose model is that one."""
    settings = {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": model.api_key,
        "OPENAI_MODEL": model.model,
    }
    return ServerProcess(folder, "eventlet", **settings)


def test_the_agent_and_the_model_behind_it_are_listed(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names[0] == AGENT
    assert len(names) == 2
    assert client.models.retrieve(names[1]).id == names[1]
    with pytest.raises(openai.NotFoundError, match="no model 'gpt-0'"):
        chat(client, user("say hello"), model="gpt-0")


def test_an_answer_comes_whole_with_what_was_done_and_spent(client: openai.OpenAI) -> None:
    reply = chat(client, {"role": "system", "content": "Be brief."}, user("say hello there"))
    choice = reply.choices[0]
    assert (choice.message.role, choice.message.content) == ("assistant", "hellothere")
    assert choice.finish_reason == "stop"
    usage = reply.usage
    assert usage.prompt_tokens + usage.completion_tokens == usage.total_tokens


def test_an_answer_comes_in_pieces(client: openai.OpenAI) -> None:
    options = {"include_usage": True}
    chunks = []
    for chunk in chat(client, user("hold pieces"), stream=True, stream_options=options):
        if chunk.choices and chunk.choices[0].delta.content == "one":
            chat(client, user("release pieces"))
        chunks.append(chunk)
    said = [c.choices[0].delta.content for c in chunks if c.choices]
    assert list(filter(None, said)) == ["one", "two"]
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert [c.usage is not None for c in chunks] == [False] * (len(chunks) - 1) + [True]
    assert len({chunk.id for chunk in chunks}) == 1


def test_without_options_the_last_piece_tells_what_was_spent(client: openai.OpenAI) -> None:
    *_, last = chat(client, user("say one"), stream=True)
    assert last.usage.total_tokens == last.usage.prompt_tokens + last.usage.completion_tokens


def test_steps_are_shown_as_reasoning(client: openai.OpenAI) -> None:
    reply = chat(client, user("return 3"))
    assert "add returned 3" in reply.choices[0].message.reasoning_content


def test_what_was_said_before_finds_the_conversation_again(
    client: openai.OpenAI, server: ServerProcess
) -> None:
    first = user("say a first thing of this conversation")
    answer = chat(client, first).choices[0].message.content
    before = conversations(server)
    chat(client, first, {"role": "assistant", "content": answer}, user("say a second"))
    after = conversations(server)
    assert [c["id"] for c in after] == [c["id"] for c in before]
    reply = chat(client, first, {"role": "assistant", "content": "it was cut"}, user("say other"))
    assert len(conversations(server)) == len(after)  # it is a branch of the same one
    assert reply.choices[0].message.content == "other"


def test_a_request_that_is_refused_says_why(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="the request is blank"):
        chat(client, user(" "))
    with pytest.raises(openai.RateLimitError, match="the queue is full"):
        chat(client.with_options(max_retries=0), user("too many"))
    for n in (2, 0):
        with pytest.raises(openai.BadRequestError, match=f"n={n}: .* leave n out") as refused:
            chat(client, user("say it"), n=n)
        assert refused.value.param == "n"
    assert chat(client, user("say it"), n=1).choices[0].message.content == "it"
    sound = {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}
    with pytest.raises(openai.BadRequestError, match="no parts of type 'input_audio'; send text"):
        chat(client, {"role": "user", "content": [sound]})
    with pytest.raises(openai.AuthenticationError, match="access token"):
        chat(client.with_options(api_key="wrong"), user("say it"))


def test_a_failed_turn_is_an_error_and_is_not_tried_again(
    client: openai.OpenAI, server: ServerProcess
) -> None:
    before = len(conversations(server))
    with pytest.raises(openai.UnprocessableEntityError):
        chat(client, user("fail"))
    with pytest.raises(openai.APIError):
        list(chat(client, user("fail"), stream=True))
    assert len(conversations(server)) == before + 2


def test_a_turn_that_lacks_consent_says_to_what(client: openai.OpenAI) -> None:
    chat(client, user("connect"))
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        chat(client, user("lack"))
    command = "selfeng grants allow rate_of api.example.org"
    assert refused.value.code == "consent"
    assert refused.value.body["values"] == {
        "name": "rate_of",
        "needs": "api.example.org",
        "command": command,
    }


def test_pictures_and_files_go_in_and_come_back(
    client: openai.OpenAI, server: ServerProcess
) -> None:
    picture = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
    table = f"data:text/csv;base64,{base64.b64encode(b'a,b').decode()}"
    content = [
        {"type": "text", "text": "say back"},
        {"type": "image_url", "image_url": {"url": picture}},
        {"type": "file", "file": {"filename": "t.csv", "file_data": table}},
    ]
    said = chat(client, {"role": "user", "content": content}).choices[0].message.content
    assert f"![back-image2.png]({picture})" in said
    address = said.rpartition("[back-t.csv](")[2].removesuffix(")")
    with server.program() as program:
        assert program.get(address).content == b"a,b"
    content[1] = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    with pytest.raises(openai.BadRequestError, match="'image2' is not in the message"):
        chat(client, {"role": "user", "content": content})


def test_who_leaves_stops_the_turn(client: openai.OpenAI, server: ServerProcess) -> None:
    with chat(client, user("flood 100000"), stream=True) as stream:
        next(chunk for chunk in stream if chunk.choices[0].delta.content)
    newest = conversations(server)[0]["id"]
    with server.program() as program:
        while True:
            path = f"{server.url}/api/v1/conversations/{newest}/records"
            types = {r["event"]["type"] for r in program.get(path).json()["records"]}
            if "turn_stopped" in types:
                break
            assert "turn_finished" not in types
            time.sleep(0.05)


def test_an_unknown_path_or_method_is_not_an_unknown_model(server: ServerProcess) -> None:
    with server.program() as program:
        for method, path, status, code in (
            ("POST", "/v1/completions", 404, "not_found"),
            ("POST", "/v1/embeddings", 404, "not_found"),
            ("POST", "/v1/v1/chat/completions", 404, "not_found"),
            ("GET", "/v1", 404, "not_found"),
            ("GET", "/v1/chat/completions", 405, "method_not_allowed"),
            ("DELETE", "/v1/responses/resp_0", 405, "method_not_allowed"),
            ("GET", "/v1/models/gpt-0", 404, "model_not_found"),
        ):
            reply = program.request(method, f"{server.url}{path}", timeout=10)
            error = reply.json()["error"]
            assert (reply.status_code, error["code"]) == (status, code), path
            assert error["type"] == "invalid_request_error"
            assert ("POST /v1/responses" in error["message"]) == (code != "model_not_found")


TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}
FUNCTION = {"name": "f", "parameters": {}}
CALLED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "3"}]}


@pytest.mark.parametrize(
    ("said", "more", "answer", "ignored"),
    [
        ([user("say it")], {"tools": [TOOL]}, "it", "tools"),
        ([user("say it")], {"tools": [TOOL], "tool_choice": "auto"}, "it", "tools"),
        ([user("say it")], {"tools": [TOOL], "tool_choice": "none"}, "it", "tools"),
        ([user("say it")], {"functions": [FUNCTION]}, "it", "functions"),
        ([user("say it")], {"tools": [], "response_format": {"type": "text"}}, "it", None),
        ([user("say it")], {"tool_choice": "required"}, "it", None),
        (
            [user("say it")],
            {
                "tools": [TOOL],
                "tool_choice": {
                    "type": "allowed_tools",
                    "allowed_tools": {"mode": "auto", "tools": [TOOL]},
                },
            },
            "it",
            "tools",
        ),
        ([{"role": "developer", "content": "Be brief."}, user("say it")], {}, "it", None),
        ([user("say it"), {"role": "system", "content": "Be brief."}], {}, "it", None),
        ([{"role": "system", "content": "say it"}], {}, "it", None),
        (
            [
                user("a"),
                {"role": "assistant", "content": "b"},
                {"role": "system", "content": "say x"},
            ],
            {},
            "xTheconversationbeforethisrequest:user:aassistant:b",
            None,
        ),
        (
            [user("a"), CALLED, RESULT, {"role": "assistant", "content": ""}, user("say x")],
            {"tools": [TOOL]},
            "xTheconversationbeforethisrequest:user:atool:3",
            "tools",
        ),
    ],
)
def test_the_agent_answers_whatever_a_program_sends_along(
    client: openai.OpenAI, said: list[Any], more: dict[str, Any], answer: str, ignored: str | None
) -> None:
    raw = client.chat.completions.with_raw_response.create(model=AGENT, messages=said, **more)
    assert raw.parse().choices[0].message.content == answer
    assert raw.headers["selfeng-answered-by"] == "agent"
    assert raw.headers.get("selfeng-ignored") == ignored


def test_files_of_earlier_messages_are_not_lost_in_a_new_conversation(
    client: openai.OpenAI,
) -> None:
    table = f"data:text/csv;base64,{base64.b64encode(b'a,b').decode()}"
    file = {"type": "file", "file": {"filename": "t.csv", "file_data": table}}
    before = {"role": "user", "content": [{"type": "text", "text": "with another model"}, file]}
    said = chat(client, before, {"role": "assistant", "content": "ok"}, user("say back"))
    assert "[back-t.csv](" in said.choices[0].message.content


def test_the_model_behind_gets_what_the_agent_does_not_do(tmp_path: Path) -> None:
    demanded: list[dict[str, Any]] = [
        {"tools": [TOOL], "tool_choice": "required"},
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "f"}}},
        {
            "tools": [TOOL],
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "required", "tools": [TOOL]},
            },
        },
        {"functions": [FUNCTION], "function_call": {"name": "f"}},
        {"response_format": {"type": "json_object"}},
    ]
    title = "Provide a concise, 5-word-or-less title for the conversation"
    with OfflineServer(Cookbook(), delay=0) as model:
        server = in_front_of(model, tmp_path)
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.token) as client:
            assert [listed.id for listed in client.models.list()] == [AGENT, model.model]
            for name, said, more in (
                (model.model, [user("Hello")], {"n": 2, "tools": [TOOL]}),
                (AGENT, [user("### Task:\nGenerate a title")], {}),
                (AGENT, [user(title)], {}),
                (AGENT, [user("Hello"), CALLED, RESULT], {"tools": [TOOL]}),
                (AGENT, [user("Hello"), {"role": "assistant", "content": "Well, "}], {}),
                *((AGENT, [user("Hello")], more) for more in demanded),
            ):
                raw = client.chat.completions.with_raw_response.create(
                    model=name, messages=said, **more
                )
                assert raw.headers["selfeng-answered-by"] == "model"
                reply = raw.parse()
                assert reply.model == model.model
                assert reply.choices[0].message.content
            *_, last = chat(client, user("Hello"), model=model.model, stream=True)
            assert last.choices[0].finish_reason == "stop"
        assert conversations(server) == []
        with server.program() as program:
            (month,) = program.get(f"{server.url}/api/v1/spending").json()["months"]
        assert (month["turns"], month["tokens"] > 100) == (0, True)
        assert server.end() == (0, "")


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b'{"model": 1}', b'{"model": "selfeng"}'])
def test_what_is_no_request_is_refused(server: ServerProcess, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {server.token}"}
    reply = requests.post(
        f"{server.url}/v1/chat/completions", data=body, headers=headers, timeout=10
    )
    assert reply.status_code == 400
    assert set(json.loads(reply.text)["error"]) == {"message", "type", "param", "code"}
