"""The first run of a new tool on the person's own file: what it raises there goes back once, with the
line, and becomes a new version or a question.
"""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from selfeng.core.events import Event, QuestionsAsked
from selfeng.core.files import File
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Answer, Question
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.turn import Request
from selfeng.orchestrator import Orchestrator
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
from selfeng.stages.execution.file_profiler import FileProfiler
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine, SynthesisPolicy
from tests.doubles import ListedLibrary, ScriptedModel, fenced, handled, tool
from tests.sandbox.backends import Behind

pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

SPEC = Specification(
    name="sum_column",
    description="Add up a column of a CSV file.",
    parameters=tuple(
        SpecParameter(name=name, annotation="str", default=None, description=name)
        for name in ("path", "column")
    ),
    returns="float",
    returns_description="the sum",
    errors="ValueError for a cell that is not a number",
    user_examples=(),
    examples=(
        SpecExample(call="sum_column(path='a.csv', column='n')  # a.csv: 'n\\n1\\n'", result="1.0"),
    ),
    example_requests=("sum column n of a.csv",),
)
SUITE = """\
import pytest
from sum_column import sum_column


def test_numbers_are_added(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n;x\\n1;a\\n2;b\\n")
    assert sum_column(path=str(path), column="n") == 3.0


def test_other_columns_are_found(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n;x\\n1;5\\n2;6\\n")
    assert sum_column(path=str(path), column="x") == 11.0
"""
STRICT = '''\
import csv


def sum_column(path: str, column: str) -> float:
    """Add up a column."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        return sum(float(row[column]) for row in csv.DictReader(file, delimiter=";"))
'''
WIDER = STRICT.replace(
    "sum(float(row[column])", 'sum(float(row[column].replace(",", "."))'
).replace('delimiter=";")', 'delimiter=";") if row[column] != "k.A."')
SKIPPING = STRICT.replace("column: str)", "column: str, skip: bool = False)").replace(
    'delimiter=";"))', 'delimiter=";") if not skip or row[column].isdecimal())'
)
SKIPPING_SUITE = (
    SUITE.partition("def test_other")[0]
    + """\
def test_text_is_skipped_if_wanted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n;x\\n1;a\\nk.A.;b\\n2;c\\n")
    assert sum_column(path=str(path), column="n", skip=True) == 3.0
    with pytest.raises(ValueError):
        sum_column(path=str(path), column="n")
"""
)
ROWS = [f"{n};x" for n in range(1, 80)]
DIRTY = File(
    name="sales.csv", content="\r\n".join(["n;x", *ROWS[:55], "k.A.;x", *ROWS[55:]]).encode()
)
CALL = FunctionCall(name="sum_column", arguments={"path": "sales.csv", "column": "n"})


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def sandbox(behind: Callable[[str], Behind]) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(
        timeout=20,
        verifiers=PoolSize(1, 1, 2),
        comparers=PoolSize(1, 1, 2),
        executors=PoolSize(1, 1, 2),
        **behind("bubblewrap").options,
    )
    yield sandbox
    await sandbox.aclose()


def orchestrator(
    sandbox: SecureSandbox, model: ScriptedModel, library: ListedLibrary, candidates: int = 1
) -> Orchestrator:
    """With a scripted model, and without mutants."""
    policy = SynthesisPolicy(candidates=candidates, mutation_score=0)
    return Orchestrator(
        library,
        Executor(model, sandbox, library),
        SynthesisEngine(model, sandbox, library, "scripted", policy),
        ResponseSynthesizer(model),
        inspector=FileProfiler(sandbox),
    )


class FirstRun:
    """A turn that builds a tool for a dirty file, with a scripted model in a real sandbox."""

    def __init__(self, sandbox: SecureSandbox, *replies: Any) -> None:
        self.library = ListedLibrary()
        built = SpecificationReply(
            outcome="tool",
            message="",
            specification=SPEC,
            call="sum_column(path='sales.csv', column='n')",
        )
        self.model = ScriptedModel(built, fenced(SUITE), fenced(STRICT), *replies)
        self.orchestrator = orchestrator(sandbox, self.model, self.library)
        self.events: list[Event] = []

    async def run(self) -> Event:
        return await handled(
            self.orchestrator, "Sum column n of sales.csv", self.events.append, files=[DIRTY]
        )

    @property
    def mend_prompt(self) -> str:
        (prompt,) = [p for p in self.model.prompts if p.name == "mend"]
        return prompt.messages[-1].content


async def test_an_error_on_the_persons_file_is_mended_before_the_answer(
    sandbox: SecureSandbox,
) -> None:
    first = FirstRun(sandbox, fenced(WIDER), "It is 3160.")
    last = await first.run()
    assert (last.type, last.answer) == ("turn_finished", "It is 3160.")
    assert (await first.library.get("sum_column")).version == 2
    told = [e for e in first.events if e.type in ("execution_failed", "execution_finished")]
    assert [e.execution.outcome for e in told] == ["raised", "returned"]
    assert told[1].execution.text == "3160.0"
    prompt = first.mend_prompt
    assert "ValueError: could not convert string to float: 'k.A.'" in prompt
    assert "in sum_column" in prompt  # the traceback
    assert "<lines>\nsales.csv, line or row 57: k.A.;x\n</lines>" in prompt
    assert '"odd":["line 57: k.A."]' in prompt
    assert "ValueError for a cell that is not a number" in prompt


async def test_what_only_the_person_knows_is_asked(sandbox: SecureSandbox) -> None:
    ask = "ask: Line 57 holds k.A. What should become of it?\n- Skip such rows\n- Stop there\n"
    first = FirstRun(sandbox, ask)
    last = await first.run()
    assert last.type == "turn_finished"
    (asked,) = [e for e in first.events if isinstance(e, QuestionsAsked)]
    assert asked.questions == (
        Question(
            id="lines",
            question="Line 57 holds k.A. What should become of it?",
            answer="choice",
            options=("Skip such rows", "Stop there"),
        ),
    )
    assert (await first.library.get("sum_column")).version == 1


async def test_a_tool_that_stays_as_it_is_answers_with_the_line(sandbox: SecureSandbox) -> None:
    first = FirstRun(sandbox, "misuse", "Line 57 holds k.A., which is no number.")
    last = await first.run()
    assert last.answer == "Line 57 holds k.A., which is no number."
    assert [p.name for p in first.model.prompts].count("mend") == 1
    answer = first.model.prompts[-1]
    assert (answer.name, '"odd":["line 57: k.A."]' in answer.messages[-1].content) == (
        "answer",
        True,
    )


class LaterRun:
    """A turn in which a tool of the library meets a file of another form."""

    def __init__(self, sandbox: SecureSandbox, choice: FunctionCall, *replies: Any) -> None:
        signature = SPEC.signature()
        known = tool("sum_column", STRICT).model_copy(
            update={"tests": SUITE, "signature": signature}
        )
        self.library, self.model = ListedLibrary(known), ScriptedModel(choice, *replies)
        self.orchestrator = orchestrator(sandbox, self.model, self.library)
        self.events: list[Event] = []

    async def run(self) -> Event:
        return await handled(
            self.orchestrator, "Sum column n of sales.csv", self.events.append, files=[DIRTY]
        )


async def test_a_library_tool_that_meets_another_form_gets_a_next_version(
    sandbox: SecureSandbox,
) -> None:
    later = LaterRun(sandbox, CALL, fenced(WIDER), "It is 3160.")
    last = await later.run()
    assert (last.type, last.answer) == ("turn_finished", "It is 3160.")
    assert (await later.library.get("sum_column")).version == 2
    assert later.model.asked() == ["decide", "mend", "answer"]
    prompt = later.model.prompts[1].messages[-1].content
    assert "<lines>\nsales.csv, line or row 57: k.A.;x\n</lines>" in prompt
    assert "<request>\nSum column n of sales.csv\n</request>" in prompt


async def test_a_library_tool_asks_what_only_the_person_knows(sandbox: SecureSandbox) -> None:
    later = LaterRun(sandbox, CALL, "ask: Line 57 holds k.A. Skip it?\n- Skip it\n- Stop there\n")
    await later.run()
    (asked,) = [e for e in later.events if isinstance(e, QuestionsAsked)]
    assert asked.questions[0].options == ("Skip it", "Stop there")


@pytest.mark.parametrize(
    ("column", "prompts"),
    [("n", ["decide", "mend", "answer"]), ("total", ["decide", "answer"])],
    ids=["the line", "the call"],
)
async def test_a_library_tool_that_refuses_rightly_stays_as_it_is(
    sandbox: SecureSandbox, column: str, prompts: list[str]
) -> None:
    call = CALL.model_copy(update={"arguments": {"path": "sales.csv", "column": column}})
    strict = STRICT.replace(
        "    with open",
        "    if column not in 'nx':\n        raise ValueError('no such column')\n    with open",
    )
    replies = ["misuse"] * ("mend" in prompts)
    later = LaterRun(sandbox, call, *replies, "That can't be summed.")
    later.library.replace(
        (await later.library.get("sum_column")).model_copy(update={"code": strict})
    )
    assert (await later.run()).answer == "That can't be summed."
    assert later.model.asked() == prompts
    assert (await later.library.get("sum_column")).version == 1


async def test_the_answer_becomes_a_parameter_of_the_next_version(sandbox: SecureSandbox) -> None:
    first = FirstRun(
        sandbox, "ask: Line 57 holds k.A. What should become of it?\n- Skip such rows\n- Stop there"
    )
    await first.run()
    skip = SpecParameter(name="skip", annotation="bool", default="False", description="skip text")
    first.model.extend(
        FunctionCall(name="no_tool_fits", arguments={"reason": "it can't skip rows"}),
        SpecificationReply(
            outcome="tool",
            message="",
            specification=SPEC.model_copy(update={"parameters": (*SPEC.parameters, skip)}),
            call="sum_column(path='sales.csv', column='n', skip=True)",
        ),
        fenced(SKIPPING_SUITE),
        fenced(SKIPPING),
        "It is 3160, without line 57.",
    )
    turn = first.orchestrator.begin(
        Request(
            "Sum column n of sales.csv",
            files=(DIRTY,),
            answers=(
                Answer(id="lines", question="What should become of it?", value="Skip such rows"),
            ),
            rounds=1,
        )
    )
    events = [event async for event in turn]
    assert events[-1].answer == "It is 3160, without line 57."
    assert (await first.library.get("sum_column")).version == 2
