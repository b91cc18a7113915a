"""`/v1/responses`, through the official SDK, which is what its form is checked with."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from tests.llm.wire_server import Served, serving
from tests.web.server_process import ServerProcess
from tests.web.test_openai import AGENT, PIXEL, conversations

EVENT: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)
TOOL: Any = {"type": "function", "name": "f", "parameters": {}, "strict": False}


@pytest.fixture
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.token) as client:
        yield client


def respond(client: openai.OpenAI, input: Any, **more: Any) -> Any:
    return client.responses.create(model=AGENT, input=input, **more)


def events(client: openai.OpenAI, input: Any, **more: Any) -> list[Any]:
    """The events of a stream, each of which is exactly one of the SDK's types."""
    found = list(respond(client, input, stream=True, **more))
    for event in found:
        assert EVENT.validate_python(event.to_dict(), extra="allow").type == event.type
    assert [event.sequence_number for event in found] == list(range(len(found)))
    return found


def test_a_response_comes_whole(client: openai.OpenAI) -> None:
    reply = respond(client, "say hello there", metadata={"a": "b"}, instructions="Be brief.")
    assert Response.model_validate(reply.to_dict()).output_text == "hellothere"
    assert (reply.status, reply.model, reply.object) == ("completed", AGENT, "response")
    assert (reply.metadata, reply.instructions) == ({"a": "b"}, "Be brief.")
    assert reply.usage.input_tokens + reply.usage.output_tokens == reply.usage.total_tokens
    assert reply.created_at <= reply.completed_at


def test_a_response_comes_as_events_in_order(client: openai.OpenAI) -> None:
    found = events(client, "return 3")
    assert [event.type.removeprefix("response.") for event in found] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    reasoning, message = found[-1].response.output
    assert reasoning.summary[0].text == "Running add\nadd returned 3\n"
    assert message.content[0].text == "Done."
    assert [found[8].item, found[14].item] == [reasoning, message]
    assert [found[0].response.status, found[-1].response.status] == ["in_progress", "completed"]


def test_the_stream_helper_of_the_sdk_gathers_the_response(client: openai.OpenAI) -> None:
    with client.responses.stream(model=AGENT, input="say one two") as stream:
        said = [event.delta for event in stream if event.type == "response.output_text.delta"]
        assert "".join(said) == "onetwo"
        assert stream.get_final_response().output_text == "onetwo"


def test_a_header_says_who_answered_and_that_tools_were_ignored(client: openai.OpenAI) -> None:
    raw = client.responses.with_raw_response.create(model=AGENT, input="say it", tools=[TOOL])
    assert raw.headers["selfeng-answered-by"] == "agent"
    assert raw.headers["selfeng-ignored"] == "tools"
    assert raw.parse().output_text == "it"
    with client.responses.with_streaming_response.create(
        model=AGENT, input="say it", stream=True
    ) as streamed:
        assert streamed.headers["selfeng-answered-by"] == "agent"
        assert "selfeng-ignored" not in streamed.headers


def test_a_response_continues_the_one_before(client: openai.OpenAI, server: ServerProcess) -> None:
    first = respond(client, "say first")
    newest = conversations(server)[0]["id"]
    count = len(conversations(server))
    second = respond(client, "say second", previous_response_id=first.id)
    assert second.previous_response_id == first.id
    assert conversations(server)[0]["id"] == newest
    assert len(conversations(server)) == count
    branch = respond(client, "say other", previous_response_id=first.id)
    assert len(conversations(server)) == count
    assert branch.output_text == "other"
    with pytest.raises(openai.BadRequestError, match="gave no response 'resp_none'") as refused:
        respond(client, "say it", previous_response_id="resp_none")
    assert (refused.value.code, refused.value.param) == (
        "previous_response_not_found",
        "previous_response_id",
    )


def test_a_response_continues_the_one_before_after_a_restart(tmp_path: Path) -> None:
    settings = {"ACCESS_TOKEN": "4QmZ8tRk2vXw7LpN9sBd", "FLASK_PORT": "0"}
    first = ""
    for words in ("one", "two"):
        server = ServerProcess(tmp_path, "eventlet", **settings)
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.token) as client:
            previous = {"previous_response_id": first} if first else {}
            reply = respond(client, f"say {words}", **previous)
            assert reply.output_text == words
            if first:
                assert client.responses.retrieve(first).output_text == "one"
            first = first or reply.id
        assert len(conversations(server)) == 1
        assert server.end() == (0, "")


def test_items_of_every_kind_are_read(client: openai.OpenAI, server: ServerProcess) -> None:
    before = respond(client, "say asked").output
    count = len(conversations(server))
    picture = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
    table = f"data:text/csv;base64,{base64.b64encode(b'a,b').decode()}"
    content = [
        {"type": "input_text", "text": "say back"},
        {"type": "input_image", "image_url": picture, "detail": "auto"},
        {"type": "input_file", "filename": "t.csv", "file_data": table},
    ]
    items = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "say asked"},
        *(item.to_dict() for item in before),
        {"type": "item_reference", "id": "msg_1"},
        {"type": "message", "role": "user", "content": content},
    ]
    said = respond(client, items).output_text
    assert len(conversations(server)) == count
    assert f"![back-image2.png]({picture})" in said
    assert "[back-t.csv](" in said
    for part, why in (
        ({"type": "input_audio", "input_audio": {}}, "no parts of type 'input_audio'"),
        ({"type": "input_image", "file_id": "file-1"}, "'image1' is not in the message"),
        ({"type": "input_file", "file_url": "https://example.org"}, "is not in the message"),
    ):
        with pytest.raises(openai.BadRequestError, match=why):
            respond(client, [{"role": "user", "content": [part]}])


def test_a_response_is_retrieved(client: openai.OpenAI) -> None:
    made = respond(client, "return 3")
    found = client.responses.retrieve(made.id)
    assert (found.output, found.usage, found.status) == (made.output, made.usage, "completed")
    with pytest.raises(openai.NotFoundError, match="gave no response 'resp_0'") as unknown:
        client.responses.retrieve("resp_0")
    assert unknown.value.code == "not_found"
    with pytest.raises(openai.BadRequestError, match="leave stream out"):
        client.responses.retrieve(made.id, stream=True)


def test_a_response_in_the_background_is_followed_and_cancelled(client: openai.OpenAI) -> None:
    begun = respond(client, "hold background", background=True)
    assert (begun.status, begun.background, begun.usage) == ("in_progress", True, None)
    assert client.responses.retrieve(begun.id).status == "in_progress"
    respond(client, "release background")
    *_, last = events(client, "say it", background=True)
    assert last.response.output_text == "it"
    held = respond(client, "hold forever", background=True)
    assert client.responses.cancel(held.id).status == "cancelled"


def test_a_failed_turn_is_an_error_or_a_failed_response(client: openai.OpenAI) -> None:
    with pytest.raises(openai.UnprocessableEntityError, match="fail is not in the script"):
        respond(client, "fail")
    *_, last = events(client, "fail")
    assert (last.type, last.response.status) == ("response.failed", "failed")
    assert last.response.error.message == "fail is not in the script"
    assert client.responses.retrieve(last.response.id).error == last.response.error
    respond(client, "connect")
    *_, last = events(client, "lack")
    error = last.response.error
    assert error.type == "consent"
    assert error.param == "selfeng grants allow rate_of api.example.org"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"extra_body": {"n": 2}}, "n=2: the agent gives one reply; leave n out"),
        ({"conversation": "conv_1"}, "continue with previous_response_id"),
        ({"input": []}, "input: Value should have at least 1 item"),
        ({"input": " "}, "the request is blank"),
        ({"model": "gpt-0"}, "no model 'gpt-0'"),
    ],
)
def test_a_request_that_is_refused_says_why(
    client: openai.OpenAI, more: dict[str, Any], why: str
) -> None:
    with pytest.raises(openai.APIStatusError, match=why) as refused:
        client.responses.create(**{"model": AGENT, "input": "say it", **more})
    assert refused.value.status_code in {400, 404}


def test_a_tool_that_is_demanded_goes_to_the_model_and_so_does_what_follows(
    tmp_path: Path,
) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    made = Served({"id": "resp_behind", "object": "response", "output": [call]})
    with serving(lambda _: made) as model:
        settings = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_MODEL": "behind"}
        server = ServerProcess(tmp_path, "eventlet", **settings)
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key=server.token) as client:
            first = respond(client, "say one")
            raw = client.responses.with_raw_response.create(
                model=AGENT,
                input="call it",
                tools=[TOOL],
                tool_choice={"type": "function", "name": "f"},
                previous_response_id=first.id,
            )
            assert raw.headers["selfeng-answered-by"] == "model"
            assert [item.type for item in raw.parse().output] == ["function_call"]
            output = {"type": "function_call_output", "call_id": "c1", "output": "3"}
            respond(client, [output], tools=[TOOL], previous_response_id="resp_behind")
        demanded, continued = (sent.body for sent in model.requests if sent.method == "POST")
        assert (demanded["model"], continued["model"]) == ("behind", "behind")
        assert demanded["input"] == [
            {"role": "user", "content": "say one"},
            {"role": "assistant", "content": "one"},
            {"role": "user", "content": "call it"},
        ]
        assert "previous_response_id" not in demanded
        assert continued["input"] == [output]
        assert continued["previous_response_id"] == "resp_behind"
        assert len(conversations(server)) == 1
        assert server.end() == (0, "")
