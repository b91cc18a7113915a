"""Servers that are asked by the Responses API: everything that the product uses works over it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from selfeng.core.errors import ModelError, ModelRefused, ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import Limits, Usage
from selfeng.core.turn import Budget
from selfeng.models.pricing import listed_price
from tests.llm.desk import WIRE_PROMPT, Desk
from tests.llm.test_choice import CALL, NONE, PERCENTAGE
from tests.llm.test_habits import TALK, completion, roles
from tests.llm.test_local_servers import listen
from tests.llm.test_structured import GOOD, PLAN, SCHEMA, Plan
from tests.llm.wire_server import Answer, Sent, Served, events, serving

USAGE = {
    "input_tokens": 30,
    "output_tokens": 7,
    "total_tokens": 37,
    "input_tokens_details": {"cached_tokens": 10},
}
TEXT = {"type": "message", "content": [{"type": "output_text", "text": "It is 45."}]}
THOUGHT = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
INVOCATION = {
    "type": "function_call",
    "call_id": "call_1",
    "name": CALL.name,
    "arguments": json.dumps(CALL.arguments),
}


def response(*output: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "r", "object": "response", "status": "completed", "output": list(output),
            "usage": USAGE, **fields}  # fmt: skip


def ended(*output: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    whole = response(*output, **fields)
    return {"type": f"response.{whole['status']}", "response": whole}


def written(text: str, kind: str = "response.output_text.delta") -> dict[str, Any]:
    return {"type": kind, "output_index": 1, "content_index": 0, "delta": text}


def only(answer: Answer) -> Answer:
    """A server that has no other API."""
    return lambda sent: (
        answer(sent) if sent.path == "/v1/responses" else Served({"error": "no such path"}, 404)
    )


def answered(sent: Sent) -> Served:
    """The reply of a server without faults."""
    body = sent.body
    if body.get("stream"):
        return events(written("It is "), written("45."), ended(TEXT), end="")
    if "text" in body:
        return Served(response({**TEXT, "content": [{"type": "output_text", "text": GOOD}]}))
    return Served(response(THOUGHT, INVOCATION) if "tools" in body else response(TEXT))


async def test_text_values_and_choices_come_by_responses(desk: Desk) -> None:
    with serving(answered) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses")
        assert await desk.collect() == ["It is ", "45."]
        assert await desk.structured(Plan) == PLAN
        assert await desk.choose(PERCENTAGE, NONE) == CALL
        assert desk.budget.usage == Usage(calls=3, input_tokens=90, output_tokens=21, cost=0.0)
    asked = {"store": False, "model": "offline", "input": WIRE_PROMPT}
    tools = [
        {"type": "function", **function.model_dump(), "strict": False}
        for function in (PERCENTAGE, NONE)
    ]
    form = {"type": "json_schema", "name": "Plan", "strict": True, "schema": SCHEMA}
    assert server.bodies == [
        {**asked, "stream": True},
        {**asked, "text": {"format": form}},
        {**asked, "tools": tools, "tool_choice": "required"},
    ]
    assert {sent.path for sent in server.requests} == {"/v1/responses"}


@pytest.mark.parametrize(
    "refusal",
    [
        Served({"error": {"message": "Not Found"}}, 404),
        Served("404 page not found", 404, "text/plain"),
        Served({"detail": "Method Not Allowed"}, 405),
        Served({"error": {"message": "This model is only supported in v1/responses and not in "
                          "v1/chat/completions.", "param": "model"}}, 404),
        Served({"error": {"message": "Modell nur per /v1/responses verfügbar"}}, 400),
    ],
)  # fmt: skip
async def test_a_server_without_chat_completions_is_asked_by_responses_from_then_on(
    desk: Desk, refusal: Served
) -> None:
    def answer(sent: Sent) -> Served:
        return answered(sent) if sent.path == "/v1/responses" else refusal

    with serving(answer) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        assert await desk.choose(PERCENTAGE, NONE) == CALL
        assert await desk.collect() == ["It is ", "45."]
        assert await desk.structured(Plan) == PLAN
    paths = [sent.path for sent in server.requests]
    assert paths == ["/v1/chat/completions"] + ["/v1/responses"] * 3


@pytest.mark.parametrize("status", [404, 405])
async def test_a_server_without_responses_is_asked_by_chat_from_then_on(
    desk: Desk, status: int
) -> None:
    def answer(sent: Sent) -> Served:
        if sent.path.endswith("/responses"):
            return Served({"error": {"message": "Resource not found", "code": str(status)}}, status)
        return Served(completion({"role": "assistant", "content": GOOD}))

    with serving(answer) as server:
        desk.use(base_url=f"{server.url}/openai/v1?api-version=preview", max_retries=0)
        assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    paths = [sent.path.rpartition("/v1")[2] for sent in server.requests]
    assert paths == ["/responses"] + ["/chat/completions"] * 2


@pytest.mark.parametrize("api", ["auto", "chat", "responses"])
async def test_a_server_with_neither_is_reported(desk: Desk, api: str) -> None:
    with serving(lambda _: Served({"error": {"message": "Not Found"}}, 404)) as server:
        desk.use(base_url=f"{server.url}/v1", api=api, max_retries=0)
        with pytest.raises(ModelUnavailable, match="404"):
            await desk.collect()
        first = len(server.requests)
        with pytest.raises(ModelUnavailable, match="404"):
            await desk.collect()
    assert (first, len(server.requests)) == ((2, 3) if api == "auto" else (1, 2))


async def test_thoughts_calls_and_usage_are_read_from_the_stream(desk: Desk) -> None:
    heard = listen(desk)
    added = {"type": "response.output_item.added", "output_index": 1,
             "item": {**INVOCATION, "arguments": ""}}  # fmt: skip
    arguments = INVOCATION["arguments"]
    kind = "response.function_call_arguments.delta"
    sent = events(
        {"type": "response.created", "response": {"status": "in_progress"}},
        written("One. ", "response.reasoning_summary_text.delta"),
        {"type": "response.reasoning_summary_part.added", "summary_index": 1},
        written("Two.", "response.reasoning_text.delta"),
        added,
        written(arguments[:7], kind),
        written(arguments[7:], kind),
        {**added, "type": "response.output_item.done", "item": INVOCATION},
        ended(INVOCATION),
        end="",
    )
    with serving(lambda _: sent) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses")
        prompt = TALK.model_copy(update={"streamed": True})
        assert await desk.client.choose(prompt, (PERCENTAGE, NONE), desk.budget) == CALL
    assert [thought.text for thought in heard] == ["One. \n\nTwo."]
    assert desk.budget.usage == Usage(calls=1, input_tokens=30, output_tokens=7, cost=0.0)


@pytest.mark.parametrize(
    "sent",
    [
        [ended(INVOCATION)],
        [{"type": "response.output_item.done", "output_index": 0, "item": INVOCATION},
         ended(INVOCATION)],
        [{"type": "response.output_item.added", "output_index": 0,
          "item": {**INVOCATION, "arguments": ""}},
         {"type": "response.output_item.done", "output_index": 0, "item": INVOCATION}, ended()],
    ],
)  # fmt: skip
async def test_servers_that_stream_no_pieces_of_a_call_are_understood(
    desk: Desk, sent: list[Any]
) -> None:
    with serving(lambda _: events(*sent, end="")) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses")
        prompt = TALK.model_copy(update={"streamed": True})
        assert await desk.client.choose(prompt, (PERCENTAGE, NONE), desk.budget) == CALL
    assert len(server.requests) == 1


async def test_text_that_comes_only_at_the_end_is_read(desk: Desk) -> None:
    with serving(lambda _: events(ended(THOUGHT, TEXT), end="")) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses")
        assert await desk.collect() == ["It is 45."]


FAILED = {"code": "server_error", "message": "The engine is gone."}
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
FILTERED = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
DECLINED = {"type": "message", "content": [{"type": "refusal", "refusal": "I won't."}]}


@pytest.mark.parametrize(
    ("sent", "error", "message"),
    [
        ([ended(TEXT, **CUT)], ModelReplyInvalid, "was cut off by its length limit"),
        ([ended(TEXT, **FILTERED)], ModelRefused, "a content filter cut off"),
        ([ended(status="failed", error=FAILED)], ModelUnavailable, "The engine is gone"),
        ([written("It"), {"type": "error", **FAILED}], ModelUnavailable, "The engine is gone"),
        ([written("It"), {"type": "error", "error": FAILED}], ModelUnavailable, "engine is gone"),
        ([written("I won't.", "response.refusal.delta"), ended(DECLINED)], ModelRefused, "declined"),
        ([ended(DECLINED)], ModelRefused, "declined: I won't."),
        ([ended()], ModelReplyInvalid, "is empty"),
        ([written("It is ")], ModelUnavailable, "it ended without an end mark"),
    ],
)  # fmt: skip
async def test_ends_of_a_stream_mean_what_they_mean_in_chat(
    desk: Desk, sent: list[Any], error: type[ModelError], message: str
) -> None:
    with serving(lambda _: events(*sent, end="")) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses", max_retries=0)
        with pytest.raises(error, match=message):
            await desk.collect()


@pytest.mark.parametrize(
    ("served", "error", "message"),
    [
        (response(status="failed", error=FAILED), ModelUnavailable, "engine is gone"),
        (response(DECLINED), ModelRefused, "declined: I won't."),
        (response(TEXT, **FILTERED), ModelRefused, "a content filter cut off"),
    ],
)
async def test_ends_of_a_whole_response_mean_what_they_mean_in_chat(
    desk: Desk, served: Any, error: type[ModelError], message: str
) -> None:
    with serving(lambda _: Served(served)) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses", max_retries=0)
        with pytest.raises(error, match=message):
            await desk.structured(Plan)


async def test_a_call_that_is_wrong_goes_back_with_its_result(desk: Desk) -> None:
    wrong = {**INVOCATION, "name": "no_such_tool", "arguments": "{}"}
    served = iter([Served(response(wrong)), Served(response(INVOCATION))])
    with serving(lambda _: next(served)) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses")
        assert await desk.choose(PERCENTAGE, NONE) == CALL
    call, result = server.bodies[1]["input"][2:]
    assert call == wrong
    assert (result["type"], result["call_id"]) == ("function_call_output", "call_1")


@pytest.mark.parametrize(
    ("habit", "refusal"),
    [
        (lambda body: "text" in body, "Unsupported parameter: 'text.format' json_schema"),
        (lambda body: "store" in body, "Unknown parameter: 'store'."),
        (lambda body: "system" in [item.get("role") for item in body["input"]], "Nur Nutzer!"),
        (lambda body: "max_output_tokens" in body, "max_output_tokens: extra fields"),
    ],
)
async def test_refusals_are_adapted_to_as_in_chat(
    desk: Desk, habit: Callable[[Any], bool], refusal: str
) -> None:
    def answer(sent: Sent) -> Served:
        return Served({"error": {"message": refusal}}, 400) if habit(sent.body) else plan(sent)

    def plan(sent: Sent) -> Served:
        call = {**INVOCATION, "name": "Plan", "arguments": GOOD}
        return Served(response(call)) if "tools" in sent.body else answered(sent)

    desk.budget = Budget(Limits(tokens=3000))
    with serving(only(answer)) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    assert not habit(server.bodies[-1])
    assert len(server.requests) <= 6


async def test_a_field_that_stays_refused_is_left_out_once(desk: Desk) -> None:
    refusal = Served({"error": {"message": "store: unknown field"}}, 400)
    with serving(lambda _: refusal) as server:
        desk.use(base_url=f"{server.url}/v1", api="responses", max_retries=0)
        with pytest.raises(ModelUnavailable, match="store"):
            await desk.collect()
    assert ["store" in body for body in server.bodies[:2]] == [True, False]
    assert len(server.requests) <= 12


async def test_the_price_counts_what_was_cached(desk: Desk) -> None:
    with serving(answered) as server:
        desk.use(
            base_url=f"{server.url}/v1",
            api="responses",
            model="gpt-4o",
            price=lambda model, _, tokens: listed_price(model, "https://api.openai.com/v1", tokens),
        )
        await desk.collect()
    assert desk.budget.usage.cost == pytest.approx((20 * 2.5 + 10 * 1.25 + 7 * 10) / 1e6)


async def test_what_the_server_can_do_names_the_api(desk: Desk) -> None:
    with serving(only(answered)) as server:
        desk.use(base_url=f"{server.url}/v1", max_retries=0)
        abilities = [ability async for ability in desk.client.abilities(desk.budget)]
    works = {(ability.purpose, ability.way): ability.works for ability in abilities}
    assert works[("text", "stream")]
    assert "adapted to it: the Responses API" in abilities[1].detail
    assert roles({"messages": server.bodies[-2]["input"]}) == ["system", "user"]
    assert not works[("sight", "pictures")]
