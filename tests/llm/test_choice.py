"""The choice of a function: each rung of the ladder, and the repair round."""

import json
from typing import Any

import pytest

from selfeng.core.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable
from selfeng.core.prompt import FunctionCall, FunctionSchema
from selfeng.models.chat import CallPiece, ReceivedCalls
from selfeng_offline.completion import Completion, Flawed, WireCall
from selfeng_offline.wire import Rejection
from tests.llm.desk import PROMPT, WIRE_PROMPT, Desk

PERCENTAGE = FunctionSchema(
    name="calculate_percentage",
    description="Calculate a percentage of a number.",
    parameters={
        "type": "object",
        "properties": {"percent": {"type": "number"}, "of": {"type": "number"}},
        "required": ["percent", "of"],
    },
)
NONE = FunctionSchema(
    name="no_tool_fits",
    description="No tool fits.",
    parameters={"type": "object", "properties": {}},
)
ARGUMENTS = {"percent": 15, "of": 300}
CALL = FunctionCall(name="calculate_percentage", arguments=ARGUMENTS)
GOOD = Completion(function="calculate_percentage", arguments=ARGUMENTS)
WRITTEN = json.dumps({"name": "calculate_percentage", "arguments": ARGUMENTS})
TOOLS = [{"type": "function", "function": function.model_dump()} for function in (PERCENTAGE, NONE)]


def called(*calls: tuple[str, Any]) -> Flawed:
    return Flawed(
        calls=tuple(WireCall(name=name, arguments=arguments) for name, arguments in calls)
    )


async def choose(desk: Desk) -> FunctionCall:
    return await desk.choose(PERCENTAGE, NONE)


def kinds(desk: Desk) -> list[str]:
    return [body.get("tool_choice", "words") for body in desk.bodies]


async def test_a_call_is_demanded_first(desk: Desk) -> None:
    desk.play(GOOD)
    assert await choose(desk) == CALL
    assert desk.bodies == [
        {"model": "offline", "messages": WIRE_PROMPT, "tools": TOOLS, "tool_choice": "required"}
    ]


async def test_a_server_that_cannot_demand_a_call_is_asked_without_from_then_on(desk: Desk) -> None:
    desk.play(GOOD, GOOD, refuses=["tool_choice=required"])
    assert [await choose(desk), await choose(desk)] == [CALL, CALL]
    assert kinds(desk) == ["required", "auto", "auto"]


async def test_a_server_without_tools_is_asked_in_words_from_then_on(desk: Desk) -> None:
    desk.play(Completion(content=WRITTEN), Completion(content=WRITTEN), refuses=["tools"])
    assert [await choose(desk), await choose(desk)] == [CALL, CALL]
    assert kinds(desk) == ["required", "auto", "words", "words"]
    question = desk.bodies[2]["messages"][1]["content"]
    assert question == (
        "What is 15 percent of 300?\n\nThe functions, one a line:\n\n"
        f"{json.dumps(PERCENTAGE.model_dump())}\n{json.dumps(NONE.model_dump())}\n\n"
        'Call exactly one: reply with one JSON object {"name": "<name of the function>", '
        '"arguments": {…}} and nothing else.'
    )
    assert set(desk.bodies[2]) == {"model", "messages"}


async def test_a_model_that_answers_in_prose_is_asked_in_words_this_once(desk: Desk) -> None:
    desk.play(Completion(content="That would be 45."), Completion(content=WRITTEN), GOOD)
    assert [await choose(desk), await choose(desk)] == [CALL, CALL]
    assert kinds(desk) == ["required", "words", "required"]


@pytest.mark.parametrize("arguments", [None, "", "  ", "{}", {}])
async def test_a_call_without_arguments_has_none(desk: Desk, arguments: Any) -> None:
    desk.play(called(("no_tool_fits", arguments)))
    assert await choose(desk) == FunctionCall(name="no_tool_fits", arguments={})


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(called(("calculate_percentage", ARGUMENTS)), id="arguments as an object"),
        pytest.param(
            called(("calculate_percentage", json.dumps(json.dumps(ARGUMENTS)))), id="JSON in JSON"
        ),
        pytest.param(
            called(("functions.calculate_percentage", json.dumps(ARGUMENTS))), id="prefixed name"
        ),
        pytest.param(
            called(*[("calculate_percentage", json.dumps(ARGUMENTS))] * 2), id="the same call twice"
        ),
        pytest.param(Completion(content=f"<tool_call>\n{WRITTEN}\n</tool_call>"), id="written out"),
        pytest.param(Completion(content=f"I call:\n```json\n[{WRITTEN}]\n```"), id="list of one"),
        pytest.param(Completion(content=json.dumps({"function": CALL.model_dump()})), id="nested"),
        pytest.param(
            Completion(
                content=json.dumps(
                    {"tool_calls": [{"type": "function", "function": CALL.model_dump()}]}
                )
            ),
            id="as on the wire",
        ),
        pytest.param(
            Completion(content=json.dumps({"function": CALL.name, "parameters": ARGUMENTS})),
            id="other words",
        ),
        pytest.param(
            Completion(content=json.dumps({CALL.name: ARGUMENTS})), id="by its name alone"
        ),
    ],
)
async def test_a_call_that_is_clear_despite_its_form_is_understood_at_once(
    desk: Desk, reply: Completion
) -> None:
    desk.play(reply)
    assert await choose(desk) == CALL
    assert len(desk.bodies) == 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (called(("percentage", "{}")), "unknown function 'percentage'"),
        (
            called(("calculate_percentage", '{"percent": 15,')),
            "its arguments are not valid JSON (*",
        ),
        (called(("calculate_percentage", "[15, 300]")), "its arguments are not a JSON object"),
        (
            called(("calculate_percentage", "{}"), ("no_tool_fits", "{}")),
            "it calls 2 functions (calculate_percentage, no_tool_fits) instead of one",
        ),
    ],
)
async def test_a_bad_call_goes_back_once_with_what_is_wrong(
    desk: Desk, reply: Flawed, problem: str
) -> None:
    desk.play(reply, GOOD)
    assert await choose(desk) == CALL
    assistant, *results = desk.bodies[1]["messages"][2:]
    assert [call["function"]["name"] for call in assistant["tool_calls"]] == [
        call.name for call in reply.calls
    ]
    start = f"That call can't be used: {problem.rstrip('*')}"
    for number, result in enumerate(results):
        assert (result["role"], result["tool_call_id"]) == ("tool", f"call_{number}")
        assert result["content"].startswith(start)
        assert result["content"].endswith(
            "Call exactly one of these functions: calculate_percentage, no_tool_fits."
        )
    assert len(results) == len(reply.calls)
    assert kinds(desk) == ["required", "required"]


@pytest.mark.parametrize(
    "reply",
    [
        called(*[("calculate_percentage", json.dumps({"percent": n, "of": 9})) for n in (1, 2)]),
        Completion(
            content=json.dumps(
                [
                    {"name": "calculate_percentage", "arguments": {"percent": n, "of": 9}}
                    for n in (1, 2)
                ]
            )
        ),
    ],
)
async def test_several_calls_of_a_function_that_can_be_repeated_are_understood(
    desk: Desk, reply: Completion
) -> None:
    desk.play(reply)
    repeatable = PERCENTAGE.model_copy(update={"repeatable": True})
    assert await desk.choose(repeatable, NONE) == FunctionCall(
        name="calculate_percentage",
        arguments={"percent": 1, "of": 9},
        further=({"percent": 2, "of": 9},),
    )


async def test_a_second_bad_call_ends_it_and_names_what_is_wrong(desk: Desk) -> None:
    desk.play(called(("a", "{}")), called(("b", "{}")))
    with pytest.raises(ModelReplyInvalid) as caught:
        await choose(desk)
    assert caught.value.message == "the reply of offline can't be used: unknown function 'b'"
    assert desk.budget.usage.calls == 2


async def test_a_written_call_is_repaired_in_words(desk: Desk) -> None:
    desk.play(
        Completion(content='{"name": "percentage", "arguments": {}}'),
        Completion(content=WRITTEN),
        refuses=["tools"],
    )
    assert await choose(desk) == CALL
    demand = (
        "That reply can't be used: unknown function 'percentage'. "
        'Reply with {"name": …, "arguments": {…}} and nothing else; name is one of '
        "calculate_percentage, no_tool_fits."
    )
    assert desk.bodies[3]["messages"][2:] == [
        {"role": "assistant", "content": '{"name": "percentage", "arguments": {}}'},
        {"role": "user", "content": demand},
    ]


async def test_prose_to_the_last_ends_it(desk: Desk) -> None:
    desk.play(*[Completion(content="It is 45.")] * 3)
    with pytest.raises(ModelReplyInvalid) as caught:
        await choose(desk)
    assert caught.value.message == "the reply of offline can't be used: it calls no function"
    assert desk.script.unused == 0


async def test_there_is_one_repair_round_whatever_the_rung(desk: Desk) -> None:
    desk.play(
        called(("a", "{}")), Completion(content="Sorry!"), Completion(content='{"name": "b"}'), GOOD
    )
    with pytest.raises(ModelReplyInvalid) as caught:
        await choose(desk)
    assert caught.value.message == "the reply of offline can't be used: unknown function 'b'"
    assert kinds(desk) == ["required", "required", "words"]
    assert desk.bodies[2]["messages"][0] == WIRE_PROMPT[0]
    assert len(desk.bodies[2]["messages"]) == 2


async def test_a_repair_round_that_a_server_refuses_spoils_no_rung(desk: Desk) -> None:
    desk.play(called(("a", "{}")), Rejection(400, "role 'tool' is unknown"), GOOD, GOOD)
    assert [await choose(desk), await choose(desk)] == [CALL, CALL]
    assert kinds(desk) == ["required", "required", "auto", "required"]


async def test_a_call_that_was_cut_off_is_asked_for_once_more_and_shorter(desk: Desk) -> None:
    desk.play(
        Flawed(
            calls=(WireCall(name="calculate_percentage", arguments='{"per'),),
            finish_reason="length",
        ),
        GOOD,
    )
    assert await choose(desk) == CALL
    assistant, tool = desk.bodies[1]["messages"][2:]
    assert assistant["tool_calls"][0]["function"] == {
        "name": "calculate_percentage",
        "arguments": '{"not_json": "{\\"per"}',
    }
    assert tool["content"].startswith(
        "That call can't be used: it was cut off by the length limit, so it must be shorter. Call "
        "exactly one"
    )


async def test_a_refused_call_is_not_repaired(desk: Desk) -> None:
    desk.play(Flawed(refusal="I won't."))
    with pytest.raises(ModelRefused):
        await choose(desk)
    assert len(desk.bodies) == 1


AGENT = PROMPT.model_copy(update={"streamed": True})
LONG = {"percent": 15, "of": "x" * 200}


async def chosen_in_pieces(desk: Desk) -> FunctionCall:
    return await desk.client.choose(AGENT, (PERCENTAGE, NONE), desk.budget)


async def test_an_agents_call_comes_in_pieces_and_is_read_as_one(desk: Desk) -> None:
    desk.play(Completion(function="calculate_percentage", arguments=LONG))
    assert (await chosen_in_pieces(desk)).arguments == LONG
    assert [body["stream"] for body in desk.bodies] == [True]
    assert desk.budget.usage.output_tokens > 50, "as the server reports it"


async def test_a_server_that_streams_no_calls_is_asked_for_whole_ones_from_then_on(
    desk: Desk,
) -> None:
    desk.play(GOOD, GOOD, refuses=["stream"])
    assert [await chosen_in_pieces(desk), await chosen_in_pieces(desk)] == [CALL, CALL]
    assert ["stream" in body for body in desk.bodies] == [True, False, False]


async def test_a_streamed_call_without_function_calling_is_read_from_the_text(desk: Desk) -> None:
    desk.play(Completion(content=WRITTEN))
    assert await chosen_in_pieces(desk) == CALL


async def test_a_streamed_call_that_is_cut_off_goes_back_once(desk: Desk) -> None:
    cut = Flawed(calls=(WireCall(name="calculate_percentage", arguments='{"per'),))
    desk.play(cut.model_copy(update={"finish_reason": "length"}), GOOD)
    assert await chosen_in_pieces(desk) == CALL
    assert "shorter" in desk.bodies[1]["messages"][-1]["content"]


async def test_a_stream_of_calls_that_breaks_off_is_no_reply(desk: Desk) -> None:
    desk.play(Flawed(calls=called(("calculate_percentage", "{}")).calls, stop_after=2))
    with pytest.raises(ModelUnavailable):
        await chosen_in_pieces(desk)


def test_pieces_of_calls_without_an_index_belong_to_the_call_that_began() -> None:
    calls = ReceivedCalls()
    calls.take([CallPiece(None, "a", "one", '{"x')])
    calls.take([CallPiece(None, "", "", '": 1}'), CallPiece(None, "b", "two", {"y": 2})])
    assert [(call.id, call.name, call.arguments) for call in calls.calls] == [
        ("a", "one", '{"x": 1}'),
        ("b", "two", '{"y": 2}'),
    ]
