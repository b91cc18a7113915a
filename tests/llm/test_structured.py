"""Replies as values of a type: each rung of the ladder, and the repair round."""

import json
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest

from selfeng.core.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import SynthesisStep
from selfeng.core.spec import SpecificationReply
from selfeng.core.turn import Budget, Turn
from selfeng.core.value import Value
from selfeng.synthesis.steps import Steps
from selfeng_offline.completion import Completion, Flawed, WireCall
from selfeng_offline.wire import Rejection
from tests.llm.desk import PROMPT, WIRE_PROMPT, Desk


class Part(Value):
    name: str
    default: str | None


class Plan(Value):
    outcome: Literal["tool", "answer"]
    parts: tuple[Part, ...]
    count: int


PLAN = Plan(
    outcome="tool", parts=(Part(name="a", default=None), Part(name="b", default="1")), count=2
)
GOOD = PLAN.model_dump_json()
SCHEMA: dict[str, Any] = {
    "$defs": {
        "Part": {
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string"},
                "default": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["name", "default"],
            "type": "object",
        }
    },
    "additionalProperties": False,
    "properties": {
        "outcome": {"enum": ["tool", "answer"], "type": "string"},
        "parts": {"items": {"$ref": "#/$defs/Part"}, "type": "array"},
        "count": {"type": "integer"},
    },
    "required": ["outcome", "parts", "count"],
    "type": "object",
}
STRICT = {"type": "json_schema", "json_schema": {"name": "Plan", "strict": True, "schema": SCHEMA}}
TOOL = {
    "type": "function",
    "function": {
        "name": "Plan",
        "strict": True,
        "parameters": SCHEMA,
        "description": "Reply with one Plan.",
    },
}
REQUIRED = {"tools": [TOOL], "tool_choice": "required"}
FORCED = {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "Plan"}}}
IN_WORDS = [
    WIRE_PROMPT[0],
    {
        "role": "user",
        "content": "What is 15 percent of 300?\n\nReply with one JSON object that fits this JSON "
        "Schema, and nothing else:\n\n"
        f"```json\n{json.dumps(SCHEMA)}\n```",
    },
]


async def test_a_strict_schema_is_asked_for_first(desk: Desk) -> None:
    desk.play(Completion(content=GOOD))
    assert await desk.structured(Plan) == PLAN
    assert desk.bodies == [{"model": "offline", "messages": WIRE_PROMPT, "response_format": STRICT}]


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_a_server_that_refuses_schemas_is_asked_for_a_forced_call_from_then_on(
    desk: Desk, status: int
) -> None:
    called = Completion(function="Plan", arguments=PLAN.model_dump(mode="json"))
    desk.play(Rejection(status, "response_format is not supported"), called, called)
    assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    asked = {"model": "offline", "messages": WIRE_PROMPT}
    assert desk.bodies == [
        {**asked, "response_format": STRICT},
        {**asked, **REQUIRED},
        {**asked, **REQUIRED},
    ]


async def test_a_server_that_takes_only_the_function_itself_is_asked_for_that_from_then_on(
    desk: Desk,
) -> None:
    called = Completion(function="Plan", arguments=PLAN.model_dump(mode="json"))
    desk.play(called, called, refuses=["response_format", "tool_choice=required"])
    assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    asked = {"model": "offline", "messages": WIRE_PROMPT}
    assert desk.bodies[2:] == [{**asked, **FORCED}] * 2


async def test_a_server_that_refuses_tools_too_is_asked_in_words_from_then_on(desk: Desk) -> None:
    desk.play(
        Completion(content=GOOD), Completion(content=GOOD), refuses=["response_format", "tools"]
    )
    assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    *refused, first, second = desk.bodies
    assert [sorted(body) for body in refused] == [
        ["messages", "model", "response_format"],
        *[["messages", "model", "tool_choice", "tools"]] * 2,
    ]
    assert first == second == {"model": "offline", "messages": IN_WORDS}
    assert desk.budget.usage.calls == 2


async def test_llama_cpp_refuses_tools_with_500(desk: Desk) -> None:
    refusal = Rejection(500, "tools param requires --jinja flag", headers={"retry-after-ms": "1"})
    desk.use(max_retries=1)
    desk.play(Rejection(400, "no response_format"), refusal, refusal, Completion(content=GOOD))
    assert await desk.structured(Plan) == PLAN


async def test_a_server_that_ignores_the_schema_is_asked_differently_from_then_on(
    desk: Desk,
) -> None:
    desk.play(
        *[Completion(content="Sure, I would build a tool for that.")] * 2,
        Completion(content=GOOD),
        Completion(content=GOOD),
    )
    assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    kinds = [
        "response_format" if "response_format" in body else "tools" if "tools" in body else "words"
        for body in desk.bodies
    ]
    assert kinds == ["response_format", "tools", "words", "words"]


async def test_a_prompt_that_every_rung_refuses_spoils_no_rung(desk: Desk) -> None:
    desk.play(*[Rejection(400, "messages[0] is bad")] * 99)
    with pytest.raises(ModelUnavailable) as caught:
        await desk.structured(Plan)
    assert (
        caught.value.message
        == f"{desk.client.server} does not take the request (400): messages[0] is bad"
    )
    assert desk.budget.usage.calls == 0
    desk.play(Completion(content=GOOD))
    assert await desk.structured(Plan) == PLAN
    assert desk.bodies[-1]["response_format"] == STRICT


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(f"```json\n{GOOD}\n```", id="fenced"),
        pytest.param(
            f"Here is the plan {{as asked}}:\n\n{GOOD}\n\nShall I go on [y/n]?", id="amid prose"
        ),
        pytest.param(f"I looked at {{}} and [1].\n```\n{GOOD}\n```\n", id="after other JSON"),
        pytest.param(f'<think>Maybe {{"outcome": "answer"}}?</think>{GOOD}', id="after thinking"),
        pytest.param(json.dumps({"plan": json.loads(GOOD)}), id="wrapped"),
        pytest.param(
            json.dumps({"specification reply": {"plan": json.loads(GOOD)}}), id="wrapped twice"
        ),
        pytest.param(f"[{GOOD}]", id="list of one"),
        pytest.param(
            json.dumps({"name": "Plan", "arguments": json.loads(GOOD)}), id="written as a call"
        ),
        pytest.param(json.dumps(GOOD), id="JSON in JSON"),
        pytest.param(
            json.dumps({**json.loads(GOOD), "notes": "I added b."}), id="an unknown field"
        ),
        pytest.param(
            '{"outcome": "tool", "parts": [{"name": "a"}, {"name": "b", "default": "1"}], '
            '"count": 2}',
            id="a null left out",
        ),
    ],
)
async def test_a_reply_that_is_clear_despite_its_form_is_understood_at_once(
    desk: Desk, content: str
) -> None:
    desk.play(Completion(content=content))
    assert await desk.structured(Plan) == PLAN
    assert len(desk.bodies) == 1


@pytest.mark.parametrize(
    "call",
    [WireCall(name="plan", arguments=GOOD), WireCall(name="Plan", arguments=json.loads(GOOD))],
)
async def test_a_forced_call_is_understood_by_its_arguments(desk: Desk, call: WireCall) -> None:
    desk.play(Flawed(calls=(call,)), refuses=["response_format"])
    assert await desk.structured(Plan) == PLAN


async def test_an_invalid_reply_goes_back_once_with_what_is_wrong(desk: Desk) -> None:
    bad = '{"outcome": "maybe", "parts": [], "count": "many"}'
    desk.play(Completion(content=bad), Completion(content=GOOD))
    assert await desk.structured(Plan) == PLAN
    problem = (
        "outcome: Input should be 'tool' or 'answer'; count: Input should be a valid "
        "integer, unable to parse string as an integer"
    )
    demand = (
        f"That reply can't be used: {problem}.\n\nReply again in full, as one JSON object "
        "that fits this JSON Schema:\n\n"
    )
    assert desk.bodies[1] == {
        "model": "offline",
        "messages": [
            *WIRE_PROMPT,
            {"role": "assistant", "content": bad},
            {"role": "user", "content": demand + json.dumps(SCHEMA)},
        ],
        "response_format": STRICT,
    }
    assert desk.budget.usage.calls == 2


async def test_an_invalid_call_goes_back_as_a_call(desk: Desk) -> None:
    broken = Flawed(calls=(WireCall(name="Plan", arguments='{"count": 2, '),))
    desk.play(
        broken, Flawed(calls=(WireCall(name="Plan", arguments=GOOD),)), refuses=["response_format"]
    )
    assert await desk.structured(Plan) == PLAN
    assistant, tool = desk.bodies[2]["messages"][2:]
    call = {
        "id": "call_0",
        "type": "function",
        "function": {"name": "Plan", "arguments": '{"not_json": "{\\"count\\": 2, "}'},
    }
    assert assistant == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert (tool["role"], tool["tool_call_id"]) == ("tool", "call_0")


async def test_a_second_invalid_reply_ends_it_and_names_what_is_wrong(desk: Desk) -> None:
    desk.play(Completion(content="{}"), Completion(content='{"outcome": "tool", "parts": []}'))
    with pytest.raises(ModelReplyInvalid) as caught:
        await desk.structured(Plan)
    assert caught.value.message == "the reply of offline can't be used: count: Field required"
    assert desk.budget.usage.calls == 2


async def test_prose_on_every_rung_ends_it(desk: Desk) -> None:
    desk.play(*[Completion(content="I'd rather talk.")] * 4)
    with pytest.raises(ModelReplyInvalid) as caught:
        await desk.structured(Plan)
    assert caught.value.message == "the reply of offline can't be used: it holds no JSON"
    assert desk.script.unused == 0


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Flawed(refusal="I won't."), "offline declined: I won't."),
        (
            Completion(content=GOOD, finish_reason="content_filter"),
            "a content filter cut off the reply of offline",
        ),
    ],
)
async def test_refused_and_filtered_replies_are_not_repaired(
    desk: Desk, reply: Completion, message: str
) -> None:
    desk.play(reply)
    with pytest.raises(ModelRefused) as caught:
        await desk.structured(Plan)
    assert str(caught.value) == message
    assert desk.budget.usage.calls == 1


@pytest.mark.parametrize(
    ("content", "shown"),
    [(GOOD[:20], GOOD[:20]), (GOOD, GOOD), ("", "(an empty reply)"), ("x" * 5000, "x" * 1000)],
)
async def test_a_reply_that_was_cut_off_is_asked_for_once_more_and_shorter(
    desk: Desk, content: str, shown: str
) -> None:
    desk.play(Completion(content=content, finish_reason="length"), Completion(content=GOOD))
    assert await desk.structured(Plan) == PLAN
    problem = "it was cut off by the length limit, so it must be shorter"
    demand = (
        f"That reply can't be used: {problem}.\n\nReply again in full, as one JSON object "
        "that fits this JSON Schema:\n\n"
    )
    assert desk.bodies[1] == {
        "model": "offline",
        "messages": [
            *WIRE_PROMPT,
            {"role": "assistant", "content": shown},
            {"role": "user", "content": demand + json.dumps(SCHEMA)},
        ],
        "response_format": STRICT,
    }
    assert desk.budget.usage.calls == 2


@pytest.mark.parametrize(
    "first", [Completion(content="{}"), Completion(content='{"outcome"', finish_reason="length")]
)
async def test_a_repair_round_that_is_cut_off_ends_it(desk: Desk, first: Completion) -> None:
    desk.play(first, Completion(content=GOOD, finish_reason="length"))
    with pytest.raises(ModelReplyInvalid) as caught:
        await desk.structured(Plan)
    assert caught.value.message == "the reply of offline was cut off by its length limit"
    assert caught.value.remedy.startswith("ask for less at once, or raise the server's limit")
    assert desk.budget.usage.calls == 2


async def test_the_specification_has_a_schema_that_strict_mode_takes(desk: Desk) -> None:
    reply = SpecificationReply(outcome="answer", message="Hello!", specification=None)
    desk.play(Completion(content='{"outcome": "answer", "message": "Hello!"}'))
    assert await desk.structured(SpecificationReply) == reply
    objects = list(_objects(desk.bodies[0]["response_format"]["json_schema"]["schema"]))
    assert len(objects) == 9
    for schema in objects:
        assert not any("default" in part for part in schema["properties"].values())
        assert (schema["additionalProperties"], schema["required"]) == (
            False,
            list(schema["properties"]),
        )


def _objects(schema: Any) -> Any:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from _objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _objects(inner)


@pytest.mark.parametrize("refuses", [(), ("response_format",)])
async def test_an_answer_in_a_structured_reply_is_shown_as_it_is_written(
    desk: Desk, refuses: tuple[str, ...]
) -> None:
    text = "The **mean** is \u201cmiddle\u201d:\n\n$x$ and 5 \\ 2."
    reply = SpecificationReply(outcome="answer", message=text, specification=None)
    content = reply.model_dump_json()
    call = WireCall(name="SpecificationReply", arguments=content)
    said = Flawed(calls=(call,)) if refuses else Completion(content=content)
    desk.play(said, refuses=list(refuses))
    events: list[SynthesisStep] = []
    steps = Steps(cast(Turn, SimpleNamespace(emit=events.append)))
    with steps.step("specify", "specification") as current:
        budget = Budget(on_text=current.tell_answer, parent=desk.budget)
        prompt = PROMPT.model_copy(update={"streamed": True})
        assert await desk.client.structured(prompt, SpecificationReply, budget) == reply
    pieces = [event.text for event in events if event.state == "streaming"]
    assert "".join(pieces) == text
    assert len(pieces) > 3
