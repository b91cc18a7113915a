"""Pictures in whole turns: what the model is shown, after which consent, and what is said where it
sees none.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import sqlalchemy as sa

from selfeng.core.events import ConsentDecided, Executing, QuestionsAsked
from selfeng.core.files import File, FileReference
from selfeng.core.http import NetworkAccess
from selfeng.core.pictures import Sight
from selfeng.core.prompt import FunctionCall
from selfeng.core.spec import SpecificationReply
from selfeng.core.turn import Request
from selfeng.engine import Engine
from tests.doubles import ScriptedModel, ScriptedNetwork, ScriptedSandbox, returned
from tests.engine.test_lessons import engine_on
from tests.engine.test_mending import KEPT
from tests.engine.test_network_tools import of, say
from tests.engine.test_questions import turn
from tests.lessons.notebook import Notebook

RECEIPT = File(name="receipt.jpg", content=b"\xff\xd8\xffreceipt")
SCAN = File(name="scan.pdf", content=b"%PDF-1.7")
TABLE = File(name="a.csv", content=b"a;b\n1;2\n")
PROFILES = {
    "receipt.jpg": {"kind": "picture", "size": "600 x 800 pixels"},
    "scan.pdf": {"kind": "PDF", "pages": 2, "pages_without_text": ["page 1", "page 2"]},
    "a.csv": {"kind": "table"},
}
SHOWN = {"receipt.jpg": ("data:receipt",), "scan.pdf": ("data:page1", "data:page2")}
NEAR = Sight(model="llava")
FAR = Sight(model="gpt", needs=(NetworkAccess(host="api.example.org", methods=("POST",)),))
BLIND = Sight(model="phi", problem="it read 'no' where the picture shows 83")
ADD = FunctionCall(name="add_numbers", arguments={"a": 12})
NONE = FunctionCall(name="no_tool_fits", arguments={"reason": "It asks what it shows."})
TOTAL = SpecificationReply(outcome="answer", message="It is 12 €.", specification=None)
IMPOSSIBLE = SpecificationReply(
    outcome="impossible", message="I could not look at it.", specification=None
)


class Eyes:
    """An `Inspector` of these files, which notes what it drew."""

    def __init__(self) -> None:
        self.drawn: list[str] = []

    async def inspect(
        self, reference: FileReference, read: Callable[[FileReference], Awaitable[File]]
    ) -> str:
        return json.dumps(PROFILES[reference.name])

    async def pictures(self, file: File) -> tuple[str, ...]:
        self.drawn.append(file.name)
        return SHOWN[file.name]

    async def lines_about(self, file: File, message: str) -> str:
        return ""


def seeing(sight: Sight, *replies: object) -> ScriptedModel:
    model = ScriptedModel(*replies)  # type: ignore[arg-type]
    model.eyes = sight
    return model


@asynccontextmanager
async def engine_with(
    database: sa.Engine, model: ScriptedModel, eyes: Eyes, *values: str
) -> AsyncIterator[Engine]:
    sandbox, pages = ScriptedSandbox(*map(returned, values)), ScriptedNetwork()
    book = Notebook(database)
    async with engine_on(book, model, sandbox, pages=pages, inspector=eyes) as engine:
        engine.model_parts.current.executor._library.replace(KEPT)
        yield engine


def shown(model: ScriptedModel) -> list[tuple[str, tuple[str, ...]]]:
    """The prompts, each with the pictures of its last message; no other has any."""
    assert not any(m.pictures for prompt in model.prompts for m in prompt.messages[:-1])
    return [(prompt.name, prompt.messages[-1].pictures) for prompt in model.prompts]


async def test_what_a_picture_shows_is_passed_to_a_tool(database: sa.Engine) -> None:
    model, eyes = seeing(NEAR, ADD, "It is 13."), Eyes()
    async with engine_with(database, model, eyes, "13") as engine:
        files = (TABLE, RECEIPT, SCAN)
        _, events = await turn(engine, None, "the total plus 1", files=files)
    pictures = ("data:receipt", "data:page1", "data:page2")
    assert shown(model) == [("decide", pictures), ("answer", ())]
    prompt = "\n".join(m.content for m in model.prompts[0].messages)
    assert '"name":"receipt.jpg","size":10,"profile":{"shown":[1]' in prompt
    assert '"shown":[2,3]' in prompt
    assert "The files whose profile has `shown` are the pictures" in prompt
    assert of(Executing, events)[0].arguments == '{"a": 12}'
    assert events[-1].answer == "It is 13."


async def test_a_question_about_a_picture_is_answered_by_the_model_that_sees_it(
    database: sa.Engine,
) -> None:
    model, eyes = seeing(NEAR, NONE, TOTAL, NONE, TOTAL), Eyes()
    async with engine_with(database, model, eyes) as engine:
        begun, first = await turn(engine, None, "2 plus what it costs", files=(RECEIPT,))
        await turn(engine, begun.conversation_id, "2 plus that, and in dollars?")
    pictures = ("data:receipt",)
    assert shown(model) == [("decide", pictures), ("specification", pictures)] * 2
    assert first[-1].answer == "It is 12 €."


async def test_a_model_elsewhere_sees_a_picture_after_consent_only(database: sa.Engine) -> None:
    model, eyes = seeing(FAR, ADD, "It is 13.", ADD, "It is 13."), Eyes()
    async with engine_with(database, model, eyes, "13", "13") as engine:
        begun, first = await turn(engine, None, "2 plus the total", files=(TABLE, RECEIPT))
        assert (model.prompts, eyes.drawn) == ([], [])
        second = await say(engine, begun.conversation_id, first, "always")
        (grant,) = await engine.network.grants()
        _, third = await turn(engine, None, "2 plus the total", files=(SCAN,))
        assert await engine.network.revoke(grant.tool) == 1
        _, last = await turn(engine, None, "2 plus the total", files=(SCAN,))
    (asked,) = of(QuestionsAsked, first)
    assert (asked.questions[0].question, asked.questions[0].options, asked.code) == (
        "May I show 'receipt.jpg' to the model gpt at api.example.org?",
        ("once", "always", "no"),
        "pictures",
    )
    assert of(ConsentDecided, second) == [
        ConsentDecided(tool="pictures", server="api.example.org", decision="always")
    ]
    assert second[-1].answer == "It is 13."
    assert (grant.tool, grant.need, grant.owner) == ("pictures of me", FAR.needs[0], "me")
    assert of(QuestionsAsked, third) == []
    assert [pictures for _, pictures in shown(model)][::2] == [
        ("data:receipt",),
        ("data:page1", "data:page2"),
    ]
    assert of(QuestionsAsked, last)


@pytest.mark.parametrize("decision", ["once", "no"])
async def test_consent_is_for_the_files_that_were_named(database: sa.Engine, decision: str) -> None:
    model, eyes = seeing(FAR, ADD, "It is 13.", NONE, IMPOSSIBLE), Eyes()
    async with engine_with(database, model, eyes, "13") as engine:
        begun, first = await turn(engine, None, "2 plus the total", files=(RECEIPT,))
        await say(engine, begun.conversation_id, first, decision)
        _, third = await turn(engine, begun.conversation_id, "and the tip?")
        _, asked = await turn(engine, begun.conversation_id, "of this?", files=(SCAN,))
    sees = decision == "once"
    assert [pictures for _, pictures in shown(model)] == [("data:receipt",) * sees, (), (), ()]
    assert eyes.drawn == ["receipt.jpg"] * sees
    listed = model.prompts[0].messages[-1].content
    assert ('"unseen":"consent for api.example.org was refused"' in listed) == (not sees)
    later = model.prompts[2].messages[-1].content
    assert '"unseen":"the consent was for an earlier request; attach it again"' in later
    assert third[-1].answer == IMPOSSIBLE.message
    assert "'scan.pdf'" in of(QuestionsAsked, asked)[0].questions[0].question
    assert "receipt" not in of(QuestionsAsked, asked)[0].questions[0].question


async def test_where_the_model_sees_nothing_the_answer_says_so(database: sa.Engine) -> None:
    model, eyes = seeing(BLIND, NONE, IMPOSSIBLE), Eyes()
    async with engine_with(database, model, eyes) as engine:
        _, events = await turn(engine, None, "what does it show?", files=(TABLE, RECEIPT))
    assert (shown(model), eyes.drawn) == ([("decide", ()), ("specification", ())], [])
    assert "A request that needs it is `impossible`" in model.prompts[1].messages[0].content
    assert events[-1].answer == (
        "I could not look at it.\n\nI have not seen receipt.jpg: the model phi sees no pictures "
        "(it read 'no' where the picture shows 83); another one, by the settings or OPENAI_MODEL, "
        "may."
    )


async def test_other_files_ask_no_model_whether_it_sees(database: sa.Engine) -> None:
    class Asked(ScriptedModel):
        async def sight(self, budget: object) -> Sight:
            raise AssertionError

    async with engine_with(database, Asked(ADD, "It is 13."), Eyes(), "13") as engine:
        _, events = await turn(engine, None, "12 plus 1", files=(TABLE,))
    assert events[-1].answer == "It is 13."


def test_stored_requests_hold_no_pictures() -> None:
    assert "data:" not in Request("what is it?", pictures=("data:receipt",)).as_json()
