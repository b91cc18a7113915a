"""Servers that refuse a part of what is sent, each in words of its own: every way of asking works,
and what was found out once costs no further request.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from selfeng.core.errors import ModelUnavailable
from selfeng.core.events import Limits
from selfeng.core.prompt import ChatMessage, Prompt
from selfeng.core.turn import Budget
from tests.llm.desk import Desk
from tests.llm.test_choice import CALL, NONE, PERCENTAGE
from tests.llm.test_structured import GOOD, PLAN, Plan
from tests.llm.wire_server import Sent, Served, events, serving

Body = Mapping[str, Any]
Habit = Callable[[Body], bool]
"""Whether the server refuses the body."""

TALK = Prompt(
    name="decide",
    messages=(
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(role="assistant", content="Hello."),
        ChatMessage(role="user", content="One."),
        ChatMessage(role="user", content="Two."),
        ChatMessage(role="assistant", content="Three."),
        ChatMessage(role="assistant", content="Four."),
        ChatMessage(role="user", content="Five?"),
    ),
)


def completion(message: Body, finish: str = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def answered(body: Body) -> Served:
    """The reply of a server without faults."""
    if body.get("stream"):
        return events({"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]})
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    arguments = GOOD if "Plan" in names else json.dumps(CALL.arguments)
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if names:
        function = {"name": names[0], "arguments": arguments}
        message["tool_calls"] = [{"id": "1", "type": "function", "function": function}]
    else:
        asked = str(body["messages"][-1]["content"])
        written = json.dumps({"name": CALL.name, "arguments": CALL.arguments})
        wants_plan = "response_format" in body or "JSON Schema" in asked
        message["content"] = GOOD if wants_plan else written if "The functions" in asked else "fine"
    return Served(completion(message))


def refusing(habits: Sequence[Habit], refusal: Served) -> Callable[[Sent], Served]:
    def answer(sent: Sent) -> Served:
        if sent.path != "/v1/chat/completions":
            return Served({"error": "not found"}, 404)
        refused = any(habit(sent.body) for habit in habits)
        return refusal if refused else answered(sent.body)

    return answer


def roles(body: Body) -> list[str]:
    return [message["role"] for message in body["messages"]]


def has_system(body: Body) -> bool:
    return "system" in roles(body)


def does_not_alternate(body: Body) -> bool:
    said = [role for role in roles(body) if role != "system"]
    turns = [role for role in said if role != "tool"]
    return said[0] != "user" or any(one == two for one, two in pairwise(turns))


def ends_with_assistant(body: Body) -> bool:
    return roles(body)[-1] == "assistant"


def strict(body: Body) -> bool:
    return '"strict"' in json.dumps(body)


def field(name: str) -> Habit:
    return lambda body: name in body


def said(text: str, status: int = 400, **fields: Any) -> Served:
    return Served({"error": {"message": text, "type": "invalid_request_error", **fields}}, status)


def fastapi(*place: Any, text: str = "Extra inputs are not permitted") -> Served:
    detail = {"type": "extra_forbidden", "loc": ["body", *place], "msg": text, "input": "system"}
    return Served({"detail": [detail]}, 422)


def mistral(*place: Any) -> Served:
    fields = {"object": "error", "type": "invalid_request_error", "param": None, "code": None}
    return Served({**fields, "message": fastapi(*place).content}, 422)


UNKNOWN = [
    said("Ungültige Anfrage."),
    said("リクエストが正しくありません", 422),
    Served("bad request", 400, "text/plain"),
    Served({"fehler": {"nummer": 17}}, 400),
    Served({"ok": False, "reason": "unsupported"}, 501),
    Served("", 422),
]
CASES: list[tuple[Sequence[Habit], Served]] = [
    *[
        ([has_system], refusal)
        for refusal in (
            said("System role not supported"),
            said(
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                param="messages[0].role",
                code="unsupported_value",
            ),
            said("Only user and assistant roles are supported!", 500),
            said("Error rendering prompt with jinja template: System role not supported"),
            said("Conversation roles must alternate user/assistant/user/assistant/..."),
            Served({"error": "rôle « system » inconnu"}, 400),
            fastapi("messages", 0, "role", text="Input should be 'user' or 'assistant'"),
            *UNKNOWN,
        )
    ],
    *[
        ([does_not_alternate, ends_with_assistant], refusal)
        for refusal in (
            said("Conversation roles must alternate user/assistant/user/assistant/..."),
            said("Jinja Exception: After the optional system message, conversation roles must "
                 "alternate user/assistant/user/assistant/...", 500),
            said("messages: roles must alternate between \"user\" and \"assistant\", but found "
                 "multiple \"user\" roles in a row"),
            said("Expected last role User or Tool (or Assistant with prefix True) for serving"),
            said("First message must be from the user", 422),
            *UNKNOWN,
        )
    ],
    *[
        ([field("stream_options")], refusal)
        for refusal in (
            said("Unrecognized request argument supplied: stream_options"),
            mistral("stream_options"),
            fastapi("stream_options", "include_usage"),
            said("Unbekanntes Feld „stream_options“.", 422),
            *UNKNOWN,
        )
    ],
    *[([field("stream")], refusal) for refusal in (said("Streaming is not supported."), *UNKNOWN)],
    *[
        ([strict], refusal)
        for refusal in (fastapi("tools", 0, "function", "strict"), said("strict: unknown field"))
    ],
    *[
        ([field("tools"), field("response_format")], refusal)
        for refusal in (said("No endpoints found that support tool use", 404), *UNKNOWN)
    ],
    ([has_system, does_not_alternate, field("stream_options")], UNKNOWN[0]),
    ([has_system, field("tools"), field("response_format")], UNKNOWN[1]),
    ([has_system, field("stream"), field("response_format")], said("role 'system', stream")),
]  # fmt: skip


@pytest.mark.parametrize(("habits", "refusal"), CASES)
async def test_every_way_of_asking_works_and_is_refused_no_second_time(
    desk: Desk, habits: Sequence[Habit], refusal: Served
) -> None:
    with serving(refusing(habits, refusal)) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        counts = []
        for _ in range(2):
            before = len(server.requests)
            pieces = [piece async for piece in desk.client.stream(TALK, desk.budget)]
            assert pieces == ["fine"]
            assert await desk.client.structured(TALK, Plan, desk.budget) == PLAN
            assert await desk.client.choose(TALK, (PERCENTAGE, NONE), desk.budget) == CALL
            counts.append(len(server.requests) - before)
    assert counts[0] <= 30
    assert counts[1] == 3
    assert desk.budget.usage.calls == 6


async def test_a_refusal_that_nothing_helps_against_ends_and_is_shown(desk: Desk) -> None:
    refusal = said("Computer says no.")
    with serving(refusing([lambda _: True], refusal)) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        counts = []
        for _ in range(2):
            before = len(server.requests)
            with pytest.raises(ModelUnavailable, match="Computer says no"):
                await desk.client.structured(TALK, Plan, desk.budget)
            counts.append(len(server.requests) - before)
    assert counts[0] <= 40
    assert counts[1] == 4


@pytest.mark.parametrize(
    ("refused", "taken", "refusal"),
    [
        (
            "max_tokens",
            "max_completion_tokens",
            said("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        ),
        ("max_tokens", "max_completion_tokens", said("max_tokens ist unbekannt")),
        ("max_tokens", "max_completion_tokens", UNKNOWN[1]),
        ("max_tokens", None, mistral("max_tokens")),
    ],
)
async def test_the_length_limit_has_the_name_that_the_server_knows(
    desk: Desk, refused: str, taken: str | None, refusal: Served
) -> None:
    desk.budget = Budget(Limits(tokens=3000))
    habits = [field(refused)] if taken else [field(refused), field("max_completion_tokens")]
    with serving(refusing(habits, refusal)) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        for _ in range(2):
            assert await desk.client.structured(TALK, Plan, desk.budget) == PLAN
    assert "system" in roles(server.bodies[-1])
    assert [
        name for name in ("max_tokens", "max_completion_tokens") if name in server.bodies[-1]
    ] == ([taken] if taken else [])


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "Tool call id was call_abc-123 but must be a-z, A-Z, 0-9, with a length of 9."),
        (422, "tool_call_id: String should match pattern"),
        (400, "ungültig"),
    ],
)
async def test_ids_of_calls_have_nine_letters_where_a_server_wants_that(
    desk: Desk, status: int, text: str
) -> None:
    def has_long_id(body: Body) -> bool:
        ids = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
        return any(len(id) != 9 or not id.isalnum() for id in ids)

    def answer(sent: Sent) -> Served:
        if has_long_id(sent.body):
            return said(text, status)
        if len(sent.body["messages"]) > len(TALK.messages):
            return answered(sent.body)
        function = {"name": "no_such_tool", "arguments": "{}"}
        call = {"id": "call_abc-123", "type": "function", "function": function}
        return Served(completion({"role": "assistant", "tool_calls": [call]}))

    with serving(answer) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        assert await desk.client.choose(TALK, (PERCENTAGE, NONE), desk.budget) == CALL
    assistant, tool = server.bodies[-1]["messages"][-2:]
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"]


async def test_what_the_model_wrote_when_groq_refused_it_is_read(desk: Desk) -> None:
    generated = f"<function={CALL.name}>{json.dumps(CALL.arguments)}</function>"
    words = "Failed to call a function. Please adjust your prompt. See 'failed_generation'."
    refusal = said(words, code="tool_use_failed", failed_generation=generated)
    with serving(lambda _: refusal) as server:
        desk.use(base_url=f"{server.url}/openai/v1")
        for streamed in (False, True):
            prompt = TALK.model_copy(update={"streamed": streamed})
            assert await desk.client.choose(prompt, (PERCENTAGE, NONE), desk.budget) == CALL
    assert len(server.requests) == 2
    assert desk.budget.usage.calls == 2


async def test_usage_and_errors_in_groqs_own_field_are_read(desk: Desk) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    end = {
        "choices": [{"delta": {}, "finish_reason": "stop"}],
        "x_groq": {"id": "r", "usage": usage},
    }
    piece = {"choices": [{"delta": {"content": "fine"}}], "x_groq": {"id": "r"}}
    failed = {"choices": [], "x_groq": {"id": "r", "error": "over capacity"}}
    served = iter([events(piece, end), events(piece, failed)])
    with serving(lambda _: next(served)) as server:
        desk.use(base_url=f"{server.url}/openai/v1")
        assert [piece async for piece in desk.client.stream(TALK, desk.budget)] == ["fine"]
        assert (desk.budget.usage.input_tokens, desk.budget.usage.output_tokens) == (11, 5)
        with pytest.raises(ModelUnavailable, match="broke off its reply: over capacity"):
            await desk.collect()


PROCESSING = ": OPENROUTER PROCESSING\n\n"
PROVIDER = {
    "code": 502,
    "message": "Provider returned error",
    "metadata": {"provider_name": "P", "raw": '{"message": "the engine is gone"}'},
}


async def test_comments_and_errors_of_openrouter_in_a_stream(desk: Desk) -> None:
    piece = {"choices": [{"delta": {"content": "fine"}}]}
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    broken = {"error": PROVIDER, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]}
    inside = {"choices": [{"delta": {}, "finish_reason": "error", "error": PROVIDER}]}
    served = iter(
        [
            events(PROCESSING, PROCESSING, piece, PROCESSING, end),
            events(piece, PROCESSING, broken),
            events(piece, inside),
            events(PROCESSING, broken),
        ]
    )
    with serving(lambda _: next(served)) as server:
        desk.use(base_url=f"{server.url}/api/v1", max_retries=0)
        assert await desk.collect() == ["fine"]
        for words in ("broke off its reply: Provider", "broke off its reply: Provider", "502"):
            with pytest.raises(ModelUnavailable, match=words):
                await desk.collect()


async def test_an_error_in_a_200_has_its_own_status(desk: Desk) -> None:
    busy = Served(
        {"error": {"code": 429, "message": "Rate limited upstream"}},
        headers={"retry-after-ms": "1"},
    )
    refusal = Served({"error": {"code": 400, "message": "Provider returned error",
                                "metadata": {"raw": "roles must alternate"}}})  # fmt: skip

    def answer(sent: Sent) -> Served:
        if len(server.requests) == 1:
            return busy
        return refusal if does_not_alternate(sent.body) else answered(sent.body)

    with serving(answer) as server:
        desk.use(base_url=f"{server.url}/api/v1", max_retries=1)
        assert await desk.client.structured(TALK, Plan, desk.budget) == PLAN
        assert len(server.requests) == 3
    with serving(lambda _: Served({"error": PROVIDER})) as server:
        desk.use(base_url=f"{server.url}/api/v1", max_retries=0)
        with pytest.raises(
            ModelUnavailable, match=r"502: Provider returned error: .*engine is gone"
        ):
            await desk.client.structured(TALK, Plan, desk.budget)


@pytest.mark.parametrize(
    "error", [{"code": 400}, {"code": "400"}, {"type": "invalid_request_error"}]
)
async def test_a_refusal_as_the_first_event_is_adapted_to(desk: Desk, error: Body) -> None:
    refusal = events({"error": {"message": "System role not supported", **error}})
    with serving(refusing([has_system], refusal)) as server:
        desk.use(base_url=f"{server.url}/v1")
        assert await desk.collect() == ["fine"]
    assert len(server.requests) == 2


async def test_a_whole_reply_to_a_request_for_a_stream_is_taken(desk: Desk) -> None:
    message = {"role": "assistant", "content": "fine", "reasoning_content": "Hm."}
    with serving(lambda _: Served(completion(message))) as server:
        desk.use(base_url=f"{server.url}/v1")
        assert await desk.collect() == ["fine"]


@pytest.mark.parametrize(
    ("asked", "habits", "refusal", "taken"),
    [
        ({"parallel_tool_calls": False}, [field("parallel_tool_calls")],
         said("Unsupported parameter: parallel_tool_calls"), {}),
        ({"seed": 7, "temperature": 0}, [field("seed"), field("temperature")],
         said("seed, temperature: Unbekannte Felder"), {}),
        ({"messages": [{"role": "developer", "content": "Be brief."},
                       {"role": "user", "content": "Hi"}]},
         [lambda body: "developer" in roles(body)],
         said("developer is not one of ['system', 'assistant', 'user', 'tool'] - 'messages.0.role'"),
         {"messages": [{"role": "system", "content": "Be brief."},
                       {"role": "user", "content": "Hi"}]}),
        ({"messages": [{"role": "system", "content": "Be brief."},
                       {"role": "user", "content": [{"type": "text", "text": "Hi"}]}]},
         [has_system], said("System role not supported"),
         {"messages": [{"role": "user", "content": [{"type": "text", "text": "Be brief."},
                                                    {"type": "text", "text": "Hi"}]}]}),
        ({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "He"}]},
         [ends_with_assistant],
         said("Expected last role User or Tool (or Assistant with prefix True) for serving"), {}),
    ],
)  # fmt: skip
async def test_requests_of_programs_are_adapted_where_a_refusal_names_what_to(
    desk: Desk, asked: Body, habits: Sequence[Habit], refusal: Served, taken: Body
) -> None:
    def answer(sent: Sent) -> Served:
        last = sent.body["messages"][-1]
        refused = any(habit(sent.body) for habit in habits) and not last.get("prefix")
        return refusal if refused else answered(sent.body)

    body = {"messages": [{"role": "user", "content": "Hi"}], **asked}
    with serving(answer) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        head, *_ = [piece async for piece in desk.client.forward(body, desk.budget)]
        assert head == (200, "application/json")
    if taken:
        assert server.bodies[-1] == {"model": "offline", **taken}


@pytest.mark.parametrize("name", ["n", "tools", "response_format"])
async def test_what_a_program_asks_for_is_not_left_out(desk: Desk, name: str) -> None:
    with serving(refusing([field(name)], said(f"{name} is not supported"))) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        body = {"messages": [{"role": "user", "content": "Hi"}], name: 2}
        with pytest.raises(ModelUnavailable, match=f"{name} is not supported"):
            _ = [piece async for piece in desk.client.forward(body, desk.budget)]
    assert len(server.requests) == 1
