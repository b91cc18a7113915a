"""Questions and their answers over the turns of a conversation: whole turns through the engine, on
a scripted model.
"""

import pytest

from selfeng.core.errors import RequestError, ResourceNotFound
from selfeng.core.events import Event, QuestionsAsked, Record, TurnStarted
from selfeng.core.files import File
from selfeng.core.question import Answer, Question
from selfeng.core.spec import SpecificationReply
from selfeng.core.status import Asked
from selfeng.engine import Engine
from tests.doubles import ScriptedModel, ScriptedSandbox
from tests.engine.test_lessons import engine_on
from tests.lessons.notebook import Notebook

UNIT = Question(id="unit", question="Which unit?", answer="choice", options=("metre", "foot"))
ASKS = SpecificationReply(
    outcome="question", message="One thing:", specification=None, questions=(UNIT,)
)
TELLS = SpecificationReply(outcome="answer", message="3 foot.", specification=None)
FOOT = (Answer(id="unit", value="foot"),)


async def turn(
    engine: Engine, conversation: str | None, request: str, **options
) -> tuple[Asked, list[Event]]:
    records: list[Record] = []
    end = engine.feed.subscribe(records.extend)
    asked = await engine.ask("me", conversation, request, **options)
    await engine.settle()
    end()
    return asked, [record.event for record in records]


async def test_an_answer_goes_on_from_the_request_that_it_completes(database):
    book, model = Notebook(database), ScriptedModel(ASKS, TELLS)
    async with engine_on(book, model, ScriptedSandbox()) as engine:
        asked, first = await turn(engine, None, "how long is it?")
        assert QuestionsAsked(questions=(UNIT,), intro="One thing:") in first
        with pytest.raises(RequestError, match="unit='mile' is not one of metre, foot"):
            await engine.ask(
                "me", asked.conversation_id, "", answers=(Answer(id="unit", value="mile"),)
            )
        _, second = await turn(engine, asked.conversation_id, "", answers=FOOT)
        with pytest.raises(RequestError, match="there is no open question 'unit'"):
            await engine.ask("me", asked.conversation_id, "", answers=FOOT)
    told = (Answer(id="unit", value="foot", question="Which unit?"),)
    assert (second[0], second[-1].answer) == (
        TurnStarted(request="how long is it?", answers=told),
        "3 foot.",
    )
    shown = model.prompts[1].messages
    assert shown[1].content == "how long is it?"
    assert (
        '<answers>\n{"id":"unit","question":"Which unit?","answer":"foot"}\n</answers>'
        in shown[-1].content
    )


async def test_the_answered_request_is_searched_with_and_learnt_and_remembered(database):
    book, model = Notebook(database), ScriptedModel(ASKS, TELLS, TELLS)
    async with engine_on(book, model, ScriptedSandbox()) as engine:
        asked, _ = await turn(engine, None, "how long is it?")
        said = "Which unit? foot"  # as the page sends it
        _, second = await turn(engine, asked.conversation_id, said, answers=FOOT)
        await turn(engine, asked.conversation_id, "and wide?")
    assert second[0].request == "how long is it?"
    former = [m.content for m in model.prompts[2].messages if m.role == "user"]
    assert former[:2] == ["how long is it?", "how long is it?\nWhich unit? foot"]


async def test_a_turn_that_is_asked_for_again_takes_its_answers_along(database):
    book, model = Notebook(database), ScriptedModel(ASKS, TELLS, TELLS)
    async with engine_on(book, model, ScriptedSandbox()) as engine:
        asked, _ = await turn(engine, None, "how long is it?")
        answered, second = await turn(engine, asked.conversation_id, "", answers=FOOT)
        request = second[0].request
        _, third = await turn(engine, asked.conversation_id, request, again=answered.turn_id)
        with pytest.raises(ResourceNotFound, match="unknown turn"):
            await engine.ask("me", asked.conversation_id, request, again="nobody's")
    sibling = second[0].model_copy(update={"after": asked.turn_id})
    assert (third[0], third[-1].answer) == (sibling, "3 foot.")


async def test_a_branch_knows_nothing_of_its_siblings(database):
    model = ScriptedModel(ASKS, TELLS, TELLS, TELLS, TELLS)
    async with engine_on(Notebook(database), model, ScriptedSandbox()) as engine:
        first, _ = await turn(
            engine, None, "how steep is it?", files=[File(name="first.csv", content=b"1")]
        )
        place = {"after": first.turn_id, "files": [File(name="second.csv", content=b"2")]}
        await turn(engine, first.conversation_id, "I mean how murky", **place)
        _, sibling = await turn(
            engine, first.conversation_id, "", answers=FOOT, after=first.turn_id
        )
        await turn(engine, first.conversation_id, "how lush is it?", after="")
        await turn(engine, first.conversation_id, "and dry?")
        with pytest.raises(ResourceNotFound, match="has no turn 'nowhere'"):
            await engine.ask("me", first.conversation_id, "and?", after="nowhere")
    assert sibling[0].request == "how steep is it?"  # which asked; the newest turn asked nothing
    shown = [str(prompt.messages) for prompt in model.prompts]
    seen = [
        [word in text for word in ("steep", "murky", "lush", "first.csv", "second.csv")]
        for text in shown
    ]
    assert seen[1:] == [
        [True, True, False, True, True],
        [True, False, False, True, False],
        [False, False, True, False, False],
        [False, False, True, False, False],
    ]


async def test_the_third_round_in_a_row_is_refused(database):
    book, model = Notebook(database), ScriptedModel(ASKS, ASKS, ASKS, TELLS)
    async with engine_on(book, model, ScriptedSandbox()) as engine:
        asked, _ = await turn(engine, None, "how long is it?")
        await turn(engine, asked.conversation_id, "", answers=FOOT)
        _, third = await turn(engine, asked.conversation_id, "in feet, as I said")
    assert third[-1].answer == "3 foot."
    assert not any(isinstance(event, QuestionsAsked) for event in third)
    assert "the person was asked 2 times already" in model.prompts[3].messages[-1].content


async def test_only_agents_for_people_can_be_named(database):
    async with engine_on(Notebook(database), ScriptedModel(), ScriptedSandbox()) as engine:
        with pytest.raises(RequestError, match="unknown agent 'toolsmith'"):
            await engine.ask("me", None, "hello", agent="toolsmith")
