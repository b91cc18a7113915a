"""Local model servers with the habits that their issue trackers report, over HTTP: each case is one
server.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from selfeng.core.errors import ModelError, ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import ThoughtAloud, merge
from selfeng.core.turn import Budget
from selfeng_offline.completion import Completion, CompletionRequest, Flawed, WireCall
from selfeng_offline.wire import Rejection
from tests.llm.desk import Desk
from tests.llm.test_choice import CALL, WRITTEN, choose, kinds
from tests.llm.test_structured import GOOD, PLAN, Plan

THOUGHT = 'Is it {"outcome": "answer"}? No, a tool.'
HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}"


def message(finish: str | None = "stop", **fields: Any) -> Flawed:
    body = {"choices": [{"message": {"role": "assistant", **fields}, "finish_reason": finish}]}
    return Flawed(content=json.dumps(body), served_as="application/json")


def stream(*deltas: dict[str, str]) -> Flawed:
    chunks = [json.dumps({"choices": [{"delta": delta}]}) for delta in deltas]
    events = "".join(f"data: {data}\n\n" for data in [*chunks, "[DONE]"])
    return Flawed(content=events, served_as="text/event-stream")


def pieces(text: str, size: int) -> Flawed:
    return stream(*({"content": text[n : n + size]} for n in range(0, len(text), size)))


def listen(desk: Desk) -> list[ThoughtAloud]:
    heard: list[ThoughtAloud] = []

    def hear(thought: ThoughtAloud) -> None:
        both = merge(heard[-1], thought) if heard else None
        heard[-1:] = [both] if isinstance(both, ThoughtAloud) else [*heard[-1:], thought]

    desk.budget = Budget(on_thought=hear)
    return heard


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "thinking"])
@pytest.mark.parametrize("content", [None, "", "\n"])
async def test_a_reply_that_a_server_takes_for_a_thought_is_read(
    desk: Desk, field: str, content: str | None
) -> None:
    desk.play(*[message(content=content, **{field: GOOD})] * 2)
    assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    assert ["response_format" in body for body in desk.bodies] == [True, True]


async def test_a_call_that_a_server_takes_for_a_thought_is_read(desk: Desk) -> None:
    thought = f"A percentage.\n<tool_call>\n{WRITTEN}\n</tool_call>"
    desk.play(message(content="", reasoning_content=thought, tool_calls=[]))
    assert await choose(desk) == CALL
    assert len(desk.bodies) == 1


async def test_streamed_code_that_a_server_takes_for_a_thought_is_read(desk: Desk) -> None:
    code = "```python\nprint(45)\n```"
    desk.play(stream({"reasoning_content": code[:9]}, {"reasoning_content": code[9:]}))
    assert await desk.collect() == [code]


async def test_an_empty_reply_says_nothing_about_the_server(desk: Desk) -> None:
    desk.play(message(content=""), Completion(content=GOOD), Completion(content=GOOD))
    assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    assert "response_format" in desk.bodies[-1]


@pytest.mark.parametrize(
    "form",
    [
        "<think>{}</think>{}",
        "<think>\n{}\n</think>\n\n{}",
        "{}\n</think>\n\n{}",
        "<thinking>{}</thinking>\n{}",
        "<reasoning>{}</reasoning>{}",
        "[THINK]{}[/THINK]{}",
        "◁think▷{}◁/think▷{}",
        "<seed:think>{}</seed:think>{}",
        HARMONY + "<|return|>",
    ],
)
@pytest.mark.parametrize(
    ("reply", "read", "result"), [(GOOD, lambda desk: desk.structured(Plan), PLAN), (WRITTEN, choose, CALL)]
)  # fmt: skip
async def test_what_is_thought_before_a_reply_is_no_part_of_it(
    desk: Desk, form: str, reply: str, read: Callable[..., Any], result: Any
) -> None:
    heard = listen(desk)
    desk.play(Completion(content=form.format(THOUGHT, reply)))
    assert await read(desk) == result
    assert len(desk.bodies) == 1
    assert [thought.text.strip() for thought in heard] == [THOUGHT]
    assert heard[0].prompt == "decide"


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize(
    "form",
    [
        "<think>{}</think>{}",
        " \n<thinking>\n{}\n</thinking>\n\n{}",
        "[THINK]{}[/THINK]{}",
        HARMONY + "<|return|>",
        "{}</think>\n{}",
    ],
)
async def test_a_streamed_answer_has_no_thoughts_in_it(desk: Desk, form: str, size: int) -> None:
    heard = listen(desk)
    desk.use(unopened=True)
    answer = "It is **45**, as <b> and [1] say.\n"
    desk.play(*[pieces(form.format("Fifteen percent...", answer), size)] * 2)
    for _ in range(2):
        assert "".join(await desk.collect()) == answer
    assert [thought.text.strip() for thought in heard] == ["Fifteen percent..."] * 2
    assert heard[0].call != heard[1].call


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
@pytest.mark.parametrize(
    "thought",
    [
        "One <think>two</think> three",
        "A\n<think>\nb\n<think>c</think></think>\nd",
        "No <think> tag",
    ],
)
async def test_thoughts_within_thoughts_are_no_part_of_an_answer(
    desk: Desk, thought: str, size: int
) -> None:
    heard = listen(desk)
    desk.play(pieces(f"<think>\n{thought}\n</think>\n\nIt is 45.", size))
    assert "".join(await desk.collect()) == "It is 45."
    assert [said.text.strip() for said in heard] == [thought]


async def test_an_answer_without_thoughts_streams_from_the_second_on(desk: Desk) -> None:
    desk.use(unopened=True)
    desk.play(*[pieces("It is 45.", 3)] * 2)
    assert await desk.collect() == ["It is 45."]
    assert await desk.collect() == ["It ", "is ", "45."]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_thoughts_in_their_own_field_are_told_while_the_answer_streams(
    desk: Desk, field: str
) -> None:
    heard = listen(desk)
    desk.use(unopened=True)
    desk.play(stream({field: "Let me "}, {field: "see."}, {"content": "It "}, {"content": "is."}))
    assert await desk.collect() == ["It ", "is."]
    assert [thought.text for thought in heard] == ["Let me see."]


async def test_thoughts_are_told_up_to_a_bound(desk: Desk) -> None:
    heard = listen(desk)
    desk.play(stream(*[{"reasoning": "x" * 1_000}] * 50, {"content": "Yes."}))
    assert await desk.collect() == ["Yes."]
    assert len(heard[0].text) <= 8_001


async def test_a_model_that_only_thinks_is_told_as_such(desk: Desk) -> None:
    desk.play(pieces("<think>Hm. Hm. Hm.", 4))
    with pytest.raises(ModelReplyInvalid) as caught:
        await desk.collect()
    assert caught.value.message == "offline only thought aloud and replied nothing"


@pytest.mark.parametrize(
    "answer",
    [
        "Write `<think>` before and `</think>` after.",
        "```xml\n<think>\nhm\n</think>\n```\n",
        "a < b, c[0] and x <",
    ],
)
async def test_tags_that_an_answer_speaks_of_stay(desk: Desk, answer: str) -> None:
    desk.use(unopened=True)
    desk.play(*[pieces(answer, 2)] * 2)
    for _ in range(2):
        assert "".join(await desk.collect()) == answer


@pytest.mark.parametrize(
    "reply",
    [
        GOOD.replace("]", ",]"),
        GOOD.replace('"', "'").replace("null", "None"),
        GOOD[:-1] + " // two parts\n}",
        GOOD.replace('"name"', "name"),
        GOOD.replace("null", "None"),
        '{"plan": ' + GOOD,
        f"Sure!\n```json\n{GOOD[:-1]},}}\n```\nShall I go on?",
        GOOD.replace('"', "“", 1).replace('"', "”", 1),
        GOOD.replace('"', "”"),
    ],
)
async def test_usual_slips_of_json_cost_no_further_call(desk: Desk, reply: str) -> None:
    desk.play(Completion(content=reply))
    assert await desk.structured(Plan) == PLAN
    assert len(desk.bodies) == 1


async def test_slips_in_the_arguments_of_a_call_cost_no_further_call(desk: Desk) -> None:
    slipped = WireCall(name=CALL.name, arguments="{'percent': 15, 'of': 300,}")
    desk.play(Flawed(calls=(slipped,)))
    assert await choose(desk) == CALL
    assert len(desk.bodies) == 1


async def test_a_mended_reply_must_still_fit_the_schema(desk: Desk) -> None:
    desk.play(Completion(content="{'outcome': 'tool', 'count': 2,}"), Completion(content=GOOD))
    assert await desk.structured(Plan) == PLAN
    assert len(desk.bodies) == 2


@pytest.mark.parametrize("finish", ["length", None])
async def test_a_reply_that_was_cut_off_is_not_mended(desk: Desk, finish: str | None) -> None:
    reply = GOOD.replace('"tool"', "'tool'")
    content = reply if finish else reply[:-1]
    desk.play(message(finish, content=content), Completion(content=GOOD))
    assert await desk.structured(Plan) == PLAN
    assert len(desk.bodies) == 2


@pytest.mark.parametrize(
    "content",
    [
        f"[TOOL_CALLS][{WRITTEN}]",
        f"[TOOL_CALLS]{CALL.name}[ARGS]{json.dumps(CALL.arguments)}",
        f"<|python_tag|>{WRITTEN}",
        f"<function={CALL.name}>{json.dumps(CALL.arguments)}</function>",
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{CALL.name}\n```json\n"
        f"{json.dumps(CALL.arguments)}\n```<｜tool▁call▁end｜>",
        f"<|channel|>commentary to=functions.{CALL.name} <|constrain|>json<|message|>"
        f"{json.dumps(CALL.arguments)}<|call|>",
        f"functions.{CALL.name}:0{json.dumps(CALL.arguments)}",
        json.dumps([{"tool_name": CALL.name, "parameters": CALL.arguments}]),
        WRITTEN.replace('"', "'"),
        f"<tool_call>\n<function={CALL.name}>\n<parameter=percent>\n15\n</parameter>\n"
        "<parameter=of>\n300\n</parameter>\n</function>\n</tool_call>",
        f"<tool_call>{CALL.name}\n<arg_key>percent</arg_key>\n<arg_value>15</arg_value>\n"
        "<arg_key>of</arg_key>\n<arg_value>300</arg_value>\n</tool_call>",
        f"<|python_start|>[{CALL.name}(percent=15, of=300)]<|python_end|>",
        f"{CALL.name}(percent=15, of=300)",
        f"```tool_code\nprint({CALL.name}(percent=15, of=300))\n```",
        f"I call it:\n\n```python\n{CALL.name}(percent=15, of=300)\n```\nDone.",
        json.dumps({"action": CALL.name, "action_input": CALL.arguments}),
    ],
)
async def test_calls_that_a_server_leaves_in_the_text_are_understood(
    desk: Desk, content: str
) -> None:
    desk.play(Completion(content=content))
    assert await choose(desk) == CALL
    assert len(desk.bodies) == 1


async def test_a_tagged_call_without_arguments_has_none(desk: Desk) -> None:
    desk.play(Completion(content="<tool_call>\n<function=no_tool_fits>\n</function>\n</tool_call>"))
    assert (await choose(desk)).name == "no_tool_fits"


@pytest.mark.parametrize(
    "text", ["I would use calculate_percentage here.", "print(calculate_percentage)", "f(x=y)"]
)
async def test_a_function_that_is_only_named_is_not_called(desk: Desk, text: str) -> None:
    desk.play(Completion(content=text), Completion(content=WRITTEN))
    assert await choose(desk) == CALL
    assert len(desk.bodies) == 2


async def test_a_server_that_ignores_the_demand_for_a_call_is_not_asked_so_a_fourth_time(
    desk: Desk,
) -> None:
    def reply(request: CompletionRequest) -> Completion:
        return Completion(content="That is 45." if request.tools else WRITTEN)

    desk.play(*[reply] * 9)
    assert [await choose(desk) for _ in range(5)] == [CALL] * 5
    assert kinds(desk) == ["required", "words"] * 3 + ["words"] * 2


async def test_a_server_that_follows_in_between_is_asked_as_before(desk: Desk) -> None:
    called = Completion(function=CALL.name, arguments=CALL.arguments)
    prose = [Completion(content="That is 45."), Completion(content=WRITTEN)]
    desk.play(*prose, *prose, called, *prose, called)
    assert [await choose(desk) for _ in range(5)] == [CALL] * 5
    assert kinds(desk)[-1] == "required"


async def test_a_server_that_takes_no_object_as_tool_choice_is_asked_in_its_words(
    desk: Desk,
) -> None:
    """LM Studio: supported are none, auto and required."""

    def reply(request: CompletionRequest) -> Completion:
        if not isinstance(request.body.get("tool_choice", ""), str):
            raise Rejection(400, "Invalid tool_choice type: 'object'.")
        return Completion(function="Plan", arguments=PLAN.model_dump(mode="json"))

    desk.play(reply, reply, refuses=["response_format"])
    assert [await desk.structured(Plan), await desk.structured(Plan)] == [PLAN, PLAN]
    assert len(desk.bodies) == 3
    assert desk.bodies[-1]["tool_choice"] == "required"


NAMES = ("num_ctx", "--ctx-size", "--max-model-len", "Context Length in LM Studio")


@pytest.mark.parametrize("ask", [lambda desk: desk.collect(), lambda desk: desk.structured(Plan)])
async def test_a_reply_that_the_server_cuts_off_names_what_to_raise(
    desk: Desk, ask: Callable[[Desk], Any]
) -> None:
    desk.play(*[Completion(content='{"outcome"', finish_reason="length")] * 2)
    with pytest.raises(ModelReplyInvalid) as caught:
        await ask(desk)
    assert [name for name in (*NAMES, "max_tokens") if name not in caught.value.remedy] == []


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "This model's maximum context length is 4096 tokens. However, you requested 5000."),
        (400, "The number of tokens to keep from the initial prompt is greater than the context "
              "length. Try to load the model with a larger context length"),
        (500, "the input length exceeds the context length"),
        (400, "Input is too long for requested model."),
        (400, "The decoder prompt (length 9000) is longer than the maximum model length of 4096."),
        (400, "Trying to keep the first 9012 tokens when context the overflows. However, the model "
              "is loaded with context length of only 4096 tokens"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed"),
        (413, "Request too large for model `llama` on tokens per minute (TPM): Limit 6000"),
        (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ask", [lambda desk: desk.collect(), choose])
async def test_a_prompt_that_does_not_fit_is_told_at_once_with_what_to_raise(
    desk: Desk, status: int, said: str, ask: Callable[[Desk], Any]
) -> None:
    desk.use(max_retries=0)
    desk.play(*[Rejection(status, said)] * 3)
    with pytest.raises(ModelUnavailable) as caught:
        await ask(desk)
    assert caught.value.message.startswith("the prompt is longer than offline takes: ")
    assert [name for name in NAMES if name not in caught.value.remedy] == []
    assert len(desk.bodies) == 1


async def test_a_stream_that_ends_with_the_context_is_told_so(desk: Desk) -> None:
    error = json.dumps({"error": {"message": "Reached context length of 4096 tokens."}})
    chunk = json.dumps({"choices": [{"delta": {"content": "one"}}]})
    events = f"data: {chunk}\n\ndata: {error}\n\n"
    desk.play(Flawed(content=events, served_as="text/event-stream"))
    with pytest.raises(ModelError) as caught:
        await desk.collect()
    assert "num_ctx" in caught.value.remedy


async def test_an_error_in_a_single_text_is_told(desk: Desk) -> None:
    """LM Studio: `{"error": "…"}`."""
    rejection = Rejection(400, "")
    vars(rejection)["body"] = {"error": "Model unloaded."}
    desk.play(*[rejection] * 9)
    with pytest.raises(ModelError) as caught:
        await desk.collect()
    assert "Model unloaded." in caught.value.message


async def test_a_schema_that_no_grammar_can_be_made_of_is_asked_for_in_words(desk: Desk) -> None:
    """llama.cpp: status 500."""

    def reply(request: CompletionRequest) -> Completion:
        if request.body.get("tools"):
            raise Rejection(500, "Failed to initialize samplers: failed to parse grammar")
        return Completion(content=WRITTEN)

    desk.play(*[reply] * 3)
    assert await choose(desk) == CALL
    assert kinds(desk) == ["required", "auto", "words"]
