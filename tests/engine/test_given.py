"""What a turn was given: nothing of its request is lost on the way to another process."""

from dataclasses import fields

from selfeng.core.files import File
from selfeng.core.plan import SavedStep
from selfeng.core.prompt import ChatMessage, FunctionCall
from selfeng.core.question import Answer
from selfeng.core.result import Dispute, EarlierResult, ResultReference
from selfeng.core.turn import EarlierFiles, EarlierResults, Request
from selfeng.turns.given import GivenTurn, Past

RESULT = ResultReference(sha256="0" * 64, kind="number", size=1)
EARLIER = EarlierResult(id="r1", turn_id="t", request="", tool="f", begins="1", reference=RESULT)
OF_PARTS = {"plan_step", "results", "delegated", "profiles"}
"""Fields of parts of a turn, which only the process that runs it makes."""


async def test_every_field_of_a_request_comes_back() -> None:
    file, earlier = File(name="a.csv", content=b"a"), File(name="b.csv", content=b"b")
    contents = {one.reference().sha256: one for one in (file, earlier)}

    async def read(reference):
        return contents[reference.sha256]

    async def result(reference):
        raise AssertionError

    past = Past(read, result)
    call = FunctionCall(name="f", arguments={"a": 1})
    given = Request(
        "again",
        (ChatMessage(role="user", content="first"),),
        (file,),
        EarlierFiles((earlier.reference(),), read),
        earlier_results=EarlierResults(
            (EARLIER,),
            result,
        ),
        answers=(Answer(id="x", question="X?", value="1"),),
        rounds=2,
        again="u",
        agent="coder",
        conversation_id="c",
        saved_plan=(SavedStep(request="", tool="f"),),
        keeps="t",
        refactors="f",
        builds=True,
        by_hand=call,
        waiting=call,
        refused=("g",),
        disputes=Dispute(result=EARLIER, complaint="h", expected="1"),
    )
    default = Request("")
    unset = {f.name for f in fields(Request) if getattr(given, f.name) == getattr(default, f.name)}
    assert unset == OF_PARTS
    assert await GivenTurn.of(given).request(past) == given
